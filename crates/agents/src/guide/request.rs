//! The requests that the guide understands, and how they are parsed from a prompt. Pure: the same text is the same
//! request.
//!
//! The commands are listed once, in [`COMMANDS`]; the client's command list and the guide's own help are made from
//! it.

use agent_client_protocol::v1::schema::ContentBlock;

use super::pipeline::Phase;
use super::tour::Stop;

/// A word that begins a request.
pub(super) struct GuideCommand {
    pub(super) name: &'static str,
    /// What follows the word; nothing has to where it is empty.
    pub(super) hint: &'static str,
    pub(super) description: &'static str,
}

impl GuideCommand {
    /// The word with what follows it.
    pub(super) fn usage(&self) -> String {
        format!("{} {}", self.name, self.hint).trim_end().to_owned()
    }
}

pub(super) const COMMANDS: [GuideCommand; 20] = [
    GuideCommand { name: "say", hint: "TEXT", description: "answers with the text, word by word" },
    GuideCommand { name: "think", hint: "TEXT", description: "thinks the text aloud, then answers" },
    GuideCommand { name: "read", hint: "FILE", description: "shows the first lines of a file" },
    GuideCommand {
        name: "write",
        hint: "FILE TEXT",
        description: "puts the text into a file of this session's directory",
    },
    GuideCommand { name: "show", hint: "FILE", description: "shows a file beside the conversation, where it stays" },
    GuideCommand { name: "image", hint: "FILE", description: "shows a picture in the same way" },
    GuideCommand {
        name: "display",
        hint: "COMMAND",
        description: "asks you, then shows what the command prints beside the conversation, where it stays",
    },
    GuideCommand { name: "embed", hint: "ADDRESS", description: "shows a card of a video, music or a post" },
    GuideCommand {
        name: "applet",
        hint: "counter, another SLUG, or FILE",
        description: "shows an applet beside the conversation: a counter, one of yours, or an editor with the file",
    },
    GuideCommand { name: "run", hint: "COMMAND", description: "asks you, then runs the command in a shell" },
    GuideCommand { name: "fail", hint: "TEXT", description: "shows a step that fails" },
    GuideCommand { name: "plan", hint: "A; B; C", description: "makes a plan and completes it step by step" },
    GuideCommand { name: "slow", hint: "SECONDS", description: "takes its time" },
    GuideCommand { name: "long", hint: "NUMBER", description: "streams that many words" },
    GuideCommand {
        name: "spend",
        hint: "INPUT OUTPUT [DOLLARS]",
        description: "reports that it used so many tokens, and what they cost",
    },
    GuideCommand {
        name: "tool",
        hint: "NAME {\"key\": \"value\"}",
        description: "calls a tool of a connected MCP server",
    },
    GuideCommand {
        name: "next",
        hint: "LABEL | COMMAND | WORK",
        description: "offers to go on in another session of that work",
    },
    GuideCommand {
        name: "pipeline",
        hint: "NAME",
        description: "begins a piece of work that goes through six sessions",
    },
    GuideCommand { name: "phase", hint: "PHASE NAME", description: "shows one phase of it, from research to build" },
    GuideCommand { name: "tour", hint: "", description: "shows you around, one press a stop" },
];

const MAX_WORDS: u32 = 10_000;
const MAX_SECONDS: u32 = 3_600;
const MAX_STEPS: usize = 20;
const MAX_TOKENS: u64 = 1_000_000_000;
/// The slug of the applet that opens files.
const TEXT_EDITOR: &str = "text-editor";
/// The longest name of a work.
const MAX_NAME_CHARS: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    Say(String),
    Think(String),
    Read(String),
    Write {
        file: String,
        text: String,
    },
    Run(String),
    Fail(String),
    Plan(Vec<String>),
    Slow {
        seconds: u32,
    },
    Long {
        words: u32,
    },
    /// What a model would say that it used; the guide has none.
    Spend {
        input: u64,
        output: u64,
        /// In millionths of a dollar.
        micros: Option<u64>,
    },
    /// The arguments are still text: whether they are JSON is part of the answer.
    Tool {
        name: String,
        arguments: String,
    },
    Next {
        label: String,
        command: String,
        context: String,
    },
    Pipeline {
        name: String,
    },
    Phase {
        phase: Phase,
        name: String,
    },
    Tour(Stop),
    /// The word is known, but its arguments are wrong.
    Misused(&'static str),
    Help,
}

/// The person's own text: the last text of the prompt. Texts before it may be context that the client added.
pub(super) fn own_text(prompt: &[ContentBlock]) -> &str {
    let text = prompt.iter().rev().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.trim()),
        _ => None,
    });
    text.unwrap_or_default()
}

pub(super) fn parse(text: &str) -> Request {
    let text = text.trim();
    let text = text.strip_prefix('/').unwrap_or(text);
    let (first, rest) = split_word(text);
    let Some(word) = COMMANDS.iter().find(|word| word.name.eq_ignore_ascii_case(first)) else {
        return Request::Help;
    };
    request(word.name, rest).unwrap_or(Request::Misused(word.name))
}

/// Shows something with a tool of the session's own that takes one argument.
fn showing(tool: &str, argument: &str, value: &str) -> Request {
    Request::Tool { name: tool.to_owned(), arguments: serde_json::json!({ argument: value }).to_string() }
}

/// Shows an applet by its slug, or the editor with a file. A file whose name could be a slug stands in quotes.
fn applet(rest: &str) -> Option<Request> {
    if let Ok(slug) = rest.to_lowercase().parse::<model::AppletSlug>() {
        return Some(showing("load_applet", "slug", slug.as_str()));
    }
    let arguments = serde_json::json!({ "slug": TEXT_EDITOR, "params": { "path": unquoted(rest)? } });
    Some(Request::Tool { name: "load_applet".to_owned(), arguments: arguments.to_string() })
}

/// `rest` is what follows the word, trimmed.
fn request(word: &str, rest: &str) -> Option<Request> {
    let given = || (!rest.is_empty()).then(|| rest.to_owned());
    let number = |most: u32| rest.parse::<u32>().ok().map(|number| number.min(most));
    match word {
        "say" => given().map(Request::Say),
        "think" => given().map(Request::Think),
        "read" => Some(Request::Read(unquoted(rest)?.to_owned())),
        "show" => Some(showing("render_file_contents", "path", unquoted(rest)?)),
        "image" => Some(showing("display_image", "path", unquoted(rest)?)),
        "embed" => Some(showing("embed_media", "url", unquoted(rest)?)),
        "applet" => Some(applet(rest)?),
        "display" => given().map(|command| Request::Tool {
            name: "run_and_display".to_owned(),
            arguments: serde_json::json!({ "command": command }).to_string(),
        }),
        "write" => {
            let (file, text) = split_file(rest)?;
            Some(Request::Write { file: file.to_owned(), text: text.to_owned() })
        }
        "run" => given().map(Request::Run),
        "fail" => given().map(Request::Fail),
        "plan" => {
            let steps = rest.split(';').map(str::trim).filter(|step| !step.is_empty());
            let steps: Vec<_> = steps.take(MAX_STEPS).map(str::to_owned).collect();
            (!steps.is_empty()).then_some(Request::Plan(steps))
        }
        "slow" => Some(Request::Slow { seconds: number(MAX_SECONDS)? }),
        "long" => Some(Request::Long { words: number(MAX_WORDS)? }),
        "spend" => {
            let mut words = rest.split_whitespace();
            let tokens = |word: &str| word.parse::<u64>().ok().map(|count| count.min(MAX_TOKENS));
            let (input, output) = (tokens(words.next()?)?, tokens(words.next()?)?);
            let micros = match words.next() {
                Some(dollars) => Some(micros(dollars)?),
                None => None,
            };
            words.next().is_none().then_some(Request::Spend { input, output, micros })
        }
        "tool" => {
            let (name, arguments) = split_word(rest);
            (!name.is_empty()).then(|| Request::Tool { name: name.to_owned(), arguments: arguments.to_owned() })
        }
        "next" => {
            // The first and the last bar separate, so that a command may have bars of its own.
            let (label, rest) = rest.split_once('|')?;
            let (command, context) = rest.rsplit_once('|')?;
            let [label, command, context] = [label, command, context].map(|part| part.trim().to_owned());
            (!label.is_empty() && !command.is_empty()).then_some(Request::Next { label, command, context })
        }
        "pipeline" => Some(Request::Pipeline { name: work(rest)? }),
        "phase" => {
            let (phase, name) = split_word(rest);
            Some(Request::Phase { phase: Phase::find(phase)?, name: work(name)? })
        }
        "tour" => Stop::find(rest).map(Request::Tour),
        _ => None,
    }
}

/// Dollars, in millionths.
fn micros(dollars: &str) -> Option<u64> {
    let (units, rest) = dollars.split_once('.').unwrap_or((dollars, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if units.is_empty() || units.len() > 4 || rest.len() > 6 || !is_number(units) || !is_number(rest) {
        return None;
    }
    format!("{units}{rest:0<6}").parse().ok()
}

/// The name of a work: one line, not too long.
fn work(name: &str) -> Option<String> {
    let fits = (1..=MAX_NAME_CHARS).contains(&name.chars().count()) && !name.contains(char::is_control);
    fits.then(|| name.to_owned())
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// A file name, in quotes where it has spaces, and the text after the one space that follows it.
fn split_file(text: &str) -> Option<(&str, &str)> {
    let (file, text) = match text.strip_prefix('"') {
        Some(quoted) => {
            let (file, text) = quoted.split_once('"')?;
            (file, text.strip_prefix(char::is_whitespace)?)
        }
        None => text.split_once(char::is_whitespace)?,
    };
    (!file.is_empty()).then_some((file, text))
}

fn unquoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    (!inner.is_empty()).then_some(inner)
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{ImageContent, ResourceLink, TextContent};

    use super::*;

    fn check(table: &[(&str, Request)]) {
        for (text, expected) in table {
            assert_eq!(parse(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn words_and_what_follows_them() {
        let owned = str::to_owned;
        let write = |file: &str, text: &str| Request::Write { file: owned(file), text: owned(text) };
        let tool = |name: &str, arguments: &str| Request::Tool { name: owned(name), arguments: owned(arguments) };
        let editor = |path: &str| {
            let arguments = serde_json::json!({ "slug": "text-editor", "params": { "path": path } });
            tool("load_applet", &arguments.to_string())
        };
        let phase = |phase, name: &str| Request::Phase { phase, name: owned(name) };
        let next = |label: &str, command: &str, context: &str| Request::Next {
            label: owned(label),
            command: owned(command),
            context: owned(context),
        };
        check(&[
            ("say hello", Request::Say(owned("hello"))),
            ("  say   hello  there \n", Request::Say(owned("hello  there"))),
            ("/say hello", Request::Say(owned("hello"))),
            ("Say Hello", Request::Say(owned("Hello"))),
            ("say\nline one\nline two", Request::Say(owned("line one\nline two"))),
            ("think about it", Request::Think(owned("about it"))),
            ("read src/lib.rs", Request::Read(owned("src/lib.rs"))),
            ("read my notes.txt", Request::Read(owned("my notes.txt"))),
            ("read \"my notes.txt\"", Request::Read(owned("my notes.txt"))),
            ("write a.txt one two", write("a.txt", "one two")),
            ("write a.txt\n  indented\n", write("a.txt", "  indented")),
            ("write \"my notes.txt\" one", write("my notes.txt", "one")),
            ("write \"a.txt\"  two spaces", write("a.txt", " two spaces")),
            ("run ls -l | wc", Request::Run(owned("ls -l | wc"))),
            ("display make -j2 | tail", tool("run_and_display", r#"{"command":"make -j2 | tail"}"#)),
            ("display", Request::Misused("display")),
            ("applet counter", tool("load_applet", r#"{"slug":"counter"}"#)),
            ("/applet Counter", tool("load_applet", r#"{"slug":"counter"}"#)),
            ("applet my-board", tool("load_applet", r#"{"slug":"my-board"}"#)),
            ("applet my notes.txt", editor("my notes.txt")),
            ("applet notes.md", editor("notes.md")),
            ("applet \"counter\"", editor("counter")),
            ("applet", Request::Misused("applet")),
            ("fail on purpose", Request::Fail(owned("on purpose"))),
            ("plan one; two ;; three;", Request::Plan(vec![owned("one"), owned("two"), owned("three")])),
            ("plan rest", Request::Plan(vec![owned("rest")])),
            ("slow 5", Request::Slow { seconds: 5 }),
            ("slow 99999", Request::Slow { seconds: 3_600 }),
            ("long 200", Request::Long { words: 200 }),
            ("long 0", Request::Long { words: 0 }),
            ("long 4000000000", Request::Long { words: 10_000 }),
            ("spend 1200 300", Request::Spend { input: 1_200, output: 300, micros: None }),
            ("spend 1 2 0.25", Request::Spend { input: 1, output: 2, micros: Some(250_000) }),
            ("spend 9999999999 0 12", Request::Spend { input: 1_000_000_000, output: 0, micros: Some(12_000_000) }),
            ("tool lookup {\"a\": 1}", tool("lookup", "{\"a\": 1}")),
            ("tool lookup", tool("lookup", "")),
            ("tool lookup not json", tool("lookup", "not json")),
            ("next Go on | say on | work", next("Go on", "say on", "work")),
            ("next a|b|c", next("a", "b", "c")),
            ("next a | b | ", next("a", "b", "")),
            ("next Count | run ls | sort | wc -l | work", next("Count", "run ls | sort | wc -l", "work")),
            ("next a || b || c", next("a", "| b |", "c")),
            ("next a | say one\nsay | two | c", next("a", "say one\nsay | two", "c")),
            ("pipeline loom", Request::Pipeline { name: owned("loom") }),
            ("/pipeline the new loom", Request::Pipeline { name: owned("the new loom") }),
            ("tour", Request::Tour(Stop::Contents)),
            ("/tour  Edit", Request::Tour(Stop::Edit)),
            ("phase research loom", phase(Phase::Research, "loom")),
            ("Phase BUILD the new loom", phase(Phase::Build, "the new loom")),
        ]);
    }

    #[test]
    fn a_word_without_what_it_takes_is_misused() {
        for text in ["spend", "spend 1", "spend a b", "spend 1 2 much", "spend 1 2 -1", "spend 1 2 3 4"] {
            assert_eq!(parse(text), Request::Misused("spend"), "{text:?}");
        }
        for text in ["say", "say ", "/say", "think", "run", "fail", "read", "read \"\"", "write", "write a.txt"] {
            let word = text.trim_start_matches('/').split(' ').next().unwrap();
            assert!(matches!(parse(text), Request::Misused(name) if name == word), "{text:?}");
        }
        for text in ["tour somewhere", "tour edit end"] {
            assert_eq!(parse(text), Request::Misused("tour"), "{text:?}");
        }
        for text in ["write \"a.txt", "write \"a\"b c", "plan", "plan ;;", "slow", "slow down", "slow -1", "slow 1.5"] {
            assert!(matches!(parse(text), Request::Misused(_)), "{text:?}");
        }
        let long = format!("pipeline {}", "é".repeat(201));
        for text in ["pipeline", "pipeline a\nb", &long, "phase", "phase plan", "phase loom plan", "phase  plan\n"] {
            assert!(matches!(parse(text), Request::Misused(_)), "{text:?}");
        }
        for text in ["long", "long story", "long 4294967296", "tool", "next", "next a | b", "next | b | c"] {
            assert!(matches!(parse(text), Request::Misused(_)), "{text:?}");
        }
    }

    #[test]
    fn anything_else_is_answered_with_help() {
        for text in ["", " ", "/", "//say hello", "hello", "sayhello", "what can you do?", "saying things", "/help"] {
            assert_eq!(parse(text), Request::Help, "{text:?}");
        }
    }

    #[test]
    fn every_listed_word_is_understood() {
        for word in &COMMANDS {
            let example = match word.hint {
                "SECONDS" | "NUMBER" => format!("{} 1", word.name),
                "PHASE NAME" => format!("{} plan loom", word.name),
                "INPUT OUTPUT [DOLLARS]" => format!("{} 1 2 0.5", word.name),
                hint => format!("{} {hint}", word.name),
            };
            assert!(!matches!(parse(&example), Request::Misused(_) | Request::Help), "{example:?}");
        }
    }

    #[test]
    fn the_persons_own_words_are_the_last_text() {
        let text = |text: &str| ContentBlock::Text(TextContent::new(text));
        let image = || ContentBlock::Image(ImageContent::new("", "image/png"));
        let link = || ContentBlock::ResourceLink(ResourceLink::new("a.txt", "file:///a.txt"));
        for (prompt, expected) in [
            (vec![], ""),
            (vec![image()], ""),
            (vec![text("say hello")], "say hello"),
            (vec![text("# Context\nsay packet"), text("say mine")], "say mine"),
            (vec![text("say mine"), image(), link()], "say mine"),
        ] {
            assert_eq!(own_text(&prompt), expected);
        }
    }
}
