//! What a part says about itself: a line of JSON for each thing, in a file, so that nothing is lost when the part's
//! process dies.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// Something begins: if nothing follows, the process died in it.
    Started(String),
    /// It held.
    Passed(String),
    /// It does not apply, for this reason.
    Skipped(String, String),
    /// It failed, like this.
    Failed(String, String),
    /// Something about the machine.
    Fact(String),
    /// Something was measured.
    Compared(Comparison),
}

/// Two times of the same run, and what is to be reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What was measured.
    pub name: String,
    /// Seconds without what it costs, if that can be had.
    pub without: Time,
    /// Seconds with it.
    pub with: Time,
    /// What is to be reached.
    pub reach: Reach,
}

/// A time in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Time {
    /// Not measured.
    None,
    /// So much.
    Seconds(f64),
    /// It was not over then.
    MoreThan(f64),
}

/// A goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// None: the numbers speak.
    Nothing,
    /// So many times the time without.
    Ratio(f64),
    /// So many seconds more.
    Plus(f64),
    /// So many seconds in all.
    AtMost(f64),
}

impl Comparison {
    /// The one time as a multiple of the other.
    pub fn ratio(&self) -> Option<f64> {
        match (self.without, self.with) {
            (Time::Seconds(without), Time::Seconds(with)) if without > 0.0 => Some(with / without),
            _ => None,
        }
    }

    /// Whether the goal is reached; `None` without a goal, or without a time to compare with.
    pub fn reached(&self) -> Option<bool> {
        let Time::Seconds(with) = self.with else {
            return (self.reach != Reach::Nothing).then_some(false);
        };
        let without = match self.without {
            Time::Seconds(without) => Some(without),
            _ => None,
        };
        match self.reach {
            Reach::Nothing => None,
            Reach::Ratio(most) => Some(self.ratio()? <= most),
            Reach::Plus(more) => Some(with - without? <= more),
            Reach::AtMost(most) => Some(with <= most),
        }
    }
}

/// The file that a part writes its lines into.
pub struct Results(File);

impl Results {
    /// Opens the file, and makes it if it is not there.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self(file.with_context(|| format!("cannot write {}", path.display()))?))
    }

    /// Adds a line, and says it in the log.
    ///
    /// # Errors
    ///
    /// It cannot be written.
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

/// The lines of a file. The last one may be cut off.
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

    fn compared(without: Time, with: f64, reach: Reach) -> Comparison {
        Comparison {
            name: "x".into(),
            without,
            with: Time::Seconds(with),
            reach,
        }
    }

    #[test]
    fn goals_are_reached_or_not() {
        let one = Time::Seconds(1.0);
        assert_eq!(compared(one, 1.01, Reach::Ratio(1.02)).reached(), Some(true));
        assert_eq!(compared(one, 1.03, Reach::Ratio(1.02)).reached(), Some(false));
        assert_eq!(compared(one, 1.5, Reach::Plus(0.4)).reached(), Some(false));
        assert_eq!(compared(one, 1.5, Reach::Plus(0.6)).reached(), Some(true));
        assert_eq!(
            compared(Time::MoreThan(9.0), 0.1, Reach::AtMost(0.2)).reached(),
            Some(true)
        );
        assert_eq!(compared(Time::MoreThan(9.0), 0.1, Reach::Ratio(1.0)).reached(), None);
        assert_eq!(compared(one, 9.0, Reach::Nothing).reached(), None);
        let never = Comparison {
            with: Time::MoreThan(9.0),
            ..compared(one, 0.0, Reach::AtMost(0.1))
        };
        assert_eq!(never.reached(), Some(false));
    }

    #[test]
    fn a_line_that_is_cut_off_is_left_out() -> Result<()> {
        let path = std::env::temp_dir().join(format!("vkabort-results-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let lines = [
            Line::Passed("a".into()),
            Line::Skipped("b".into(), "c\nd".into()),
            Line::Compared(compared(Time::None, 2.5, Reach::Plus(1.0))),
        ];
        let mut results = Results::open(&path)?;
        lines.iter().try_for_each(|line| results.add(line))?;
        results.0.write_all(b"{\"passed\":\"e")?;
        assert_eq!(read(&path), lines);
        Ok(std::fs::remove_file(path)?)
    }
}
