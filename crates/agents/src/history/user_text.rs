//! Decides which text in a user message is the person's own, and which the tool added.

use model::is_tools_own;

const COMPACTED: &str = "This session is being continued from a previous conversation";
const INTERRUPTED: &str = "[Request interrupted by user";

/// What a text in a user message is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UserText<'a> {
    /// The person wrote it.
    Own(&'a str),
    /// A command of the tool that the person called, with its arguments.
    Command(String),
    /// The person stopped the turn.
    Interrupted,
    /// The tool's summary of the turns before.
    Summary(&'a str),
    /// The output of a command that the tool itself ran, which no agent answers.
    CommandOutput,
    /// The tool's own text.
    Tools,
}

pub(super) fn classify(text: &str) -> UserText<'_> {
    let text = text.trim();
    if text.starts_with("<local-command-") {
        UserText::CommandOutput
    } else if text.starts_with("<command-name>") || text.starts_with("<command-message>") {
        command(text).map_or(UserText::Tools, UserText::Command)
    } else if text.starts_with(INTERRUPTED) {
        UserText::Interrupted
    } else if text.starts_with(COMPACTED) {
        UserText::Summary(text)
    } else if text.is_empty() || is_tools_own(text) {
        UserText::Tools
    } else {
        UserText::Own(text)
    }
}

fn command(text: &str) -> Option<String> {
    let inside = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim())
    };
    let (name, given) = (inside("command-name")?, inside("command-args").unwrap_or_default());
    Some(format!("{name} {given}").trim_end().to_owned()).filter(|command| !command.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_words_are_told_from_a_tools() {
        assert_eq!(classify(" why is <b>this</b> bold? \n"), UserText::Own("why is <b>this</b> bold?"));
        assert_eq!(classify("<div>fix this</div>"), UserText::Own("<div>fix this</div>"));
        assert_eq!(classify("<system-reminder>be brief</system-reminder>"), UserText::Tools);
        assert_eq!(classify("\n<environment_context>\n"), UserText::Tools);
        assert_eq!(classify("[Request interrupted by user for tool use]"), UserText::Interrupted);
        assert_eq!(classify("  "), UserText::Tools);
    }

    /// The exact texts that agents have in their records.
    #[test]
    fn what_an_agent_was_told_here_is_nobodys_words() {
        for about in ["the earlier turns of this session", "the work that this session goes on with"] {
            let label = format!("[Context from Throughline about {about}. It is a record, not a request.]");
            assert_eq!(classify(&format!("{label}\n\n[Session resumed.]")), UserText::Tools, "{label}");
            assert_eq!(
                classify(&format!("what does {label} mean?")),
                UserText::Own(&format!("what does {label} mean?"))
            );
        }
    }

    #[test]
    fn a_command_is_told_as_it_was_typed() {
        let text = "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n\
                    <command-args>the last commit</command-args>";
        assert_eq!(classify(text), UserText::Command("/review the last commit".to_owned()));
        assert_eq!(classify("<command-name>/clear</command-name>"), UserText::Command("/clear".to_owned()));
        assert_eq!(classify("<command-name>/clear"), UserText::Tools);
    }
}
