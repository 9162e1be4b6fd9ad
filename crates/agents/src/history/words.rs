//! Which words of a record are the person's, and which a tool put into the person's mouth.

use model::is_tools_own;

const COMPACTED: &str = "This session is being continued from a previous conversation";
const INTERRUPTED: &str = "[Request interrupted by user";

/// What words in a person's name are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Words<'a> {
    /// What the person wrote.
    Own(&'a str),
    /// A command of the tool that the person called, with what was given to it.
    Command(String),
    /// The person stopped the turn.
    Interrupted,
    /// What the tool made of the turns before.
    Summary(&'a str),
    /// What a command printed that the tool itself ran, so that no agent answers it.
    CommandOutput,
    /// The tool's own.
    Tools,
}

pub(super) fn of(text: &str) -> Words<'_> {
    let text = text.trim();
    if text.starts_with("<local-command-") {
        Words::CommandOutput
    } else if text.starts_with("<command-name>") || text.starts_with("<command-message>") {
        command(text).map_or(Words::Tools, Words::Command)
    } else if text.starts_with(INTERRUPTED) {
        Words::Interrupted
    } else if text.starts_with(COMPACTED) {
        Words::Summary(text)
    } else if text.is_empty() || is_tools_own(text) {
        Words::Tools
    } else {
        Words::Own(text)
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
        assert_eq!(of(" why is <b>this</b> bold? \n"), Words::Own("why is <b>this</b> bold?"));
        assert_eq!(of("<div>fix this</div>"), Words::Own("<div>fix this</div>"));
        assert_eq!(of("<system-reminder>be brief</system-reminder>"), Words::Tools);
        assert_eq!(of("\n<environment_context>\n"), Words::Tools);
        assert_eq!(of("[Request interrupted by user for tool use]"), Words::Interrupted);
        assert_eq!(of("  "), Words::Tools);
    }

    /// Word for word, as agents have them in their records since.
    #[test]
    fn what_an_agent_was_told_here_is_nobodys_words() {
        for about in ["the earlier turns of this session", "the work that this session goes on with"] {
            let label = format!("[Context from Throughline about {about}. It is a record, not a request.]");
            assert_eq!(of(&format!("{label}\n\n[Session resumed.]")), Words::Tools, "{label}");
            assert_eq!(of(&format!("what does {label} mean?")), Words::Own(&format!("what does {label} mean?")));
        }
    }

    #[test]
    fn a_command_is_told_as_it_was_typed() {
        let text = "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n\
                    <command-args>the last commit</command-args>";
        assert_eq!(of(text), Words::Command("/review the last commit".to_owned()));
        assert_eq!(of("<command-name>/clear</command-name>"), Words::Command("/clear".to_owned()));
        assert_eq!(of("<command-name>/clear"), Words::Tools);
    }
}
