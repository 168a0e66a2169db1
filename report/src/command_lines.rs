//! The lines about the commands that can have run an invocation.

use crate::commands::{CommandReport, QueueProgress};
use crate::phrases::{list, queues};
use crate::rows::Lines;

/// `command: vkCmdDispatch(8, 8, 1), the 12th of command buffer "frame"`; a line for each if there are several.
pub(crate) fn commands(commands: &[CommandReport], count: u64, shared: &[String]) -> Option<Lines> {
    match commands {
        [] => None,
        [only] if count <= 1 => Some(format!("command: {}", phrase(only)).into()),
        several => {
            let mut lines = vec![format!("one of {} commands:", count)];
            lines.extend(several.iter().map(|command| {
                let own = command.labels.get(shared.len()..).unwrap_or_default();
                with_labels(command, own)
            }));
            let more = count.saturating_sub(several.len() as u64);
            lines.extend((more > 0).then(|| format!("... {more} more")));
            Some(Lines(lines))
        }
    }
}

/// `labels: shadows > cull`. wgpu's labels may have no name; they are not shown.
pub(crate) fn labels(shared: &[String]) -> Option<String> {
    let named: Vec<&str> = shared
        .iter()
        .map(String::as_str)
        .filter(|name| !name.is_empty())
        .collect();
    (!named.is_empty()).then(|| format!("labels: {}", named.join(" > ")))
}

/// `vkCmdDispatch(8, 8, 1), the 12th of command buffer "frame" (labels: cull)`.
fn with_labels(command: &CommandReport, own: &[String]) -> String {
    match labels(own) {
        None => phrase(command),
        Some(labels) => format!("{} ({labels})", phrase(command)),
    }
}

impl QueueProgress {
    /// `queue "compute": between vkCmdDispatch(8, 8, 1), the 2nd of command buffer "frame", which had ended, and vkCmdDraw(3, 1, 0, 0),
    /// the 3rd of command buffer "frame" (labels: cube), which had begun`.
    pub(crate) fn text(&self) -> String {
        let place = |command: &CommandReport| with_labels(command, &command.labels);
        let queue = queues(std::slice::from_ref(&self.queue)).unwrap_or_default();
        let begun = place(&self.begun);
        match &self.ended {
            Some(ended) if *ended == self.begun => format!("{queue}: behind {begun}, which had ended"),
            Some(ended) => format!(
                "{queue}: between {}, which had ended, and {begun}, which had begun",
                place(ended)
            ),
            None => format!("{queue}: before the end of {begun}, which had begun"),
        }
    }
}

/// `vkCmdDispatch(8, 8, 1), the 12th of command buffer "frame"`.
fn phrase(command: &CommandReport) -> String {
    let arguments: Vec<String> = command
        .arguments
        .iter()
        .map(|argument| match command.has_other_arguments {
            true => format!("{} {}", argument.name, argument.value),
            false => argument.value.to_string(),
        })
        .collect();
    let named: Vec<String> = command
        .command_buffers
        .iter()
        .rev()
        .map(|name| match name.is_empty() {
            true => "a command buffer without a name".to_owned(),
            false => list("command buffer", std::slice::from_ref(name)).unwrap_or_default(),
        })
        .collect();
    let (name, arguments, number) = (&command.command, arguments.join(", "), ordinal(command.number));
    match named.is_empty() {
        true => format!("{name}({arguments}), the {number} of its command buffer"),
        false => format!("{name}({arguments}), the {number} of {}", named.join(" in ")),
    }
}

/// `1st`, `2nd`, `11th`.
fn ordinal(number: u64) -> String {
    let suffix = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(number: u64, buffers: &[&str], labels: &[&str]) -> CommandReport {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        CommandReport {
            command: "vkCmdDispatchIndirect".into(),
            arguments: Vec::new(),
            has_other_arguments: true,
            number,
            command_buffers: texts(buffers),
            labels: texts(labels),
        }
    }

    #[test]
    fn one_command_is_named_and_several_are_counted() {
        let shared = ["shadows".to_owned()];
        let text =
            |found: &[CommandReport], count| commands(found, count, &shared).map_or_else(Vec::new, |lines| lines.0);
        assert_eq!(text(&[], 0), [""; 0]);
        let first = command(12, &["frame"], &["shadows", "cull"]);
        assert_eq!(
            text(std::slice::from_ref(&first), 1),
            ["command: vkCmdDispatchIndirect(), the 12th of command buffer \"frame\""]
        );
        assert_eq!(
            text(&[first, command(1, &["", "pass"], &["shadows"])], 3),
            [
                "one of 3 commands:",
                "vkCmdDispatchIndirect(), the 12th of command buffer \"frame\" (labels: cull)",
                "vkCmdDispatchIndirect(), the 1st of command buffer \"pass\" in a command buffer without a name",
                "... 1 more",
            ]
        );
        assert_eq!(labels(&shared).as_deref(), Some("labels: shadows"));
        assert_eq!(labels(&[]), None);
        assert_eq!(labels(&[String::new()]), None);
        assert_eq!(
            labels(&[String::new(), "cull".to_owned()]).as_deref(),
            Some("labels: cull")
        );
    }

    #[test]
    fn the_progress_of_a_queue_is_between_two_commands() {
        let mut progress = QueueProgress {
            queue: "compute".into(),
            ended: Some(command(2, &["frame"], &[])),
            begun: command(3, &["frame"], &["shadows", "cull"]),
        };
        let begun = "vkCmdDispatchIndirect(), the 3rd of command buffer \"frame\" (labels: shadows > cull)";
        let ended = "vkCmdDispatchIndirect(), the 2nd of command buffer \"frame\"";
        assert_eq!(
            progress.text(),
            format!("queue \"compute\": between {ended}, which had ended, and {begun}, which had begun")
        );
        progress.ended = None;
        let text = format!("queue \"compute\": before the end of {begun}, which had begun");
        assert_eq!(progress.text(), text);
        progress.ended = Some(progress.begun.clone());
        assert_eq!(
            progress.text(),
            format!("queue \"compute\": behind {begun}, which had ended")
        );
    }

    #[test]
    fn ordinals() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal);
        let expected = [
            "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
        ];
        assert_eq!(ordinals, expected);
    }
}
