//! Results of a part: one line of JSON per event, in a file, so that they survive the death of the part's process.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A test starts. If it is the last line, the process died in this test.
    Started(String),
    /// Test passed.
    Passed(String),
    /// Test skipped: name, reason.
    Skipped(String, String),
    /// Test failed: name, message.
    Failed(String, String),
    /// A fact about the machine.
    Fact(String),
    /// A measurement.
    Compared(Comparison),
}

/// Two times of the same run and the goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the measurement.
    pub name: String,
    /// Baseline.
    pub without: Time,
    /// Time under test.
    pub with: Time,
    /// Goal.
    pub goal: Goal,
}

/// A time in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Time {
    /// Not measured.
    None,
    /// Measured seconds.
    Seconds(f64),
    /// Killed after this many seconds.
    MoreThan(f64),
}

/// A goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// No goal.
    #[serde(rename = "nothing")]
    None,
    /// At most this multiple of the baseline.
    Ratio(f64),
    /// At most this many seconds more than the baseline.
    Plus(f64),
    /// At most this many seconds.
    AtMost(f64),
}

impl Comparison {
    /// `with` as a multiple of `without`.
    pub fn ratio(&self) -> Option<f64> {
        match (self.without, self.with) {
            (Time::Seconds(without), Time::Seconds(with)) if without > 0.0 => Some(with / without),
            _ => None,
        }
    }

    /// Whether the goal is reached. None without a goal or a baseline that it needs.
    pub fn reached(&self) -> Option<bool> {
        let Time::Seconds(with) = self.with else {
            return (self.goal != Goal::None).then_some(false);
        };
        let without = match self.without {
            Time::Seconds(without) => Some(without),
            _ => None,
        };
        match self.goal {
            Goal::None => None,
            Goal::Ratio(most) => Some(self.ratio()? <= most),
            Goal::Plus(more) => Some(with - without? <= more),
            Goal::AtMost(most) => Some(with <= most),
        }
    }
}

/// The file to which a part appends its events.
pub struct Results(File);

impl Results {
    /// Opens the file; creates it if missing.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self(file.with_context(|| format!("cannot write {}", path.display()))?))
    }

    /// Appends an event to the file and prints it to the log.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn add(&mut self, line: &Line) -> Result<()> {
        match line {
            Line::Started(_) => {}
            Line::Passed(name) => println!("passed   {name}"),
            Line::Skipped(name, reason) => println!("skipped  {name}: {reason}"),
            Line::Failed(name, text) => println!("FAILED   {name}\n{text}"),
            Line::Fact(text) => println!("{text}"),
            Line::Compared(compared) => println!("measured {compared:?}"),
        }
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        Ok(self.0.write_all(text.as_bytes())?)
    }
}

/// Reads the events of a file. Ignores a truncated last line.
pub fn read(path: &Path) -> Vec<Line> {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(without: Time, with: f64, goal: Goal) -> Comparison {
        Comparison {
            name: "x".into(),
            without,
            with: Time::Seconds(with),
            goal,
        }
    }

    #[test]
    fn goals_compare_with_the_baseline() {
        let one = Time::Seconds(1.0);
        assert_eq!(compared(one, 1.01, Goal::Ratio(1.02)).reached(), Some(true));
        assert_eq!(compared(one, 1.03, Goal::Ratio(1.02)).reached(), Some(false));
        assert_eq!(compared(one, 1.5, Goal::Plus(0.4)).reached(), Some(false));
        assert_eq!(compared(one, 1.5, Goal::Plus(0.6)).reached(), Some(true));
        assert_eq!(
            compared(Time::MoreThan(9.0), 0.1, Goal::AtMost(0.2)).reached(),
            Some(true)
        );
        assert_eq!(compared(Time::MoreThan(9.0), 0.1, Goal::Ratio(1.0)).reached(), None);
        assert_eq!(compared(one, 9.0, Goal::None).reached(), None);
        let never = Comparison {
            with: Time::MoreThan(9.0),
            ..compared(one, 0.0, Goal::AtMost(0.1))
        };
        assert_eq!(never.reached(), Some(false));
    }

    #[test]
    fn a_truncated_line_is_ignored() -> Result<()> {
        let path = std::env::temp_dir().join(format!("vkabort-results-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let lines = [
            Line::Passed("a".into()),
            Line::Skipped("b".into(), "c\nd".into()),
            Line::Compared(compared(Time::None, 2.5, Goal::Plus(1.0))),
        ];
        let mut results = Results::open(&path)?;
        lines.iter().try_for_each(|line| results.add(line))?;
        results.0.write_all(b"{\"passed\":\"e")?;
        assert_eq!(read(&path), lines);
        Ok(std::fs::remove_file(path)?)
    }
}
