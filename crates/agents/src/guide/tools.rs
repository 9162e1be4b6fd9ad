//! `tool`: calls a tool of the MCP servers that the session was given.
//!
//! Servers are connected on first use, so that a session begins at once and one that calls no tool starts no program.
//!
//! Invariant: any server can answer with the text of a marker, and only our own is believed that it showed something. What
//! others say is passed on, and nothing follows from it.

use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ContentBlock, ImageContent, ToolCallContent, ToolCallUpdateFields, ToolKind};
use model::{OutputId, OutputMarker};
use rmcp::model::{CallToolResult, ContentBlock as Part, JsonObject};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::mcp::{Connection, name as server_name};
use super::session::{GuideSession, lock};
use super::turn::{Turn, text_content};
use crate::{MAX_COMMAND_LIMIT, OWN_SHOW_SERVER};

/// The time limit for connecting, listing and calling together.
const LIMIT: Duration = Duration::from_secs(60);
const SHOWN_BYTES: usize = 64 * 1024;
const MAX_NAMED_CHARS: usize = 80;
/// How much of what a tool says of its failure is repeated.
const MAX_FAILURE_CHARS: usize = 300;
/// How often a command is looked at that waits for the person, or runs.
const LOOKED_AT_EVERY: Duration = Duration::from_secs(1);
/// How long it is looked at: the guide does not know what a command may take here, so it is the longest that can be set, and
/// some time for the person to answer.
const LOOKED_AT_FOR: Duration = MAX_COMMAND_LIMIT.saturating_add(Duration::from_secs(600));

/// The open connections, by the server's index in the session.
#[derive(Default)]
pub(super) struct Toolbox(Vec<(usize, Connection)>);

pub(super) async fn call(turn: &Turn, tool: &str, arguments: &str) -> Result<(), Error> {
    let parsed = parse(arguments);
    let input = parsed.as_ref().map_or_else(|_| Value::from(arguments), |arguments| Value::from(arguments.clone()));
    let call = turn.call(tool, |call| call.kind(ToolKind::Other).name(tool.to_owned()).raw_input(input))?;
    let answer = match parsed {
        Ok(arguments) => use_to_the_end(&turn.session, tool, arguments).await,
        Err(why) => Err(why),
    };
    match answer {
        Ok(ToolAnswer { result, .. }) if result.is_error == Some(true) => {
            call.fail_with(fields(&result))?;
            turn.say(&failure(&result)).await
        }
        Ok(answer) => {
            call.complete(fields(&answer.result))?;
            match answer.standing() {
                Standing::Shown => turn.say(&format!("I showed you {}.", shown_name(arguments))).await,
                Standing::Unfinished(_) => turn.say("The command has not ended.").await,
                Standing::Unknown => turn.say("That is what the tool answered.").await,
            }
        }
        Err(why) => {
            call.fail(&why)?;
            turn.say("The tool was not called.").await
        }
    }
}

/// Which of the session's servers a tool is looked for at.
#[derive(Clone, Copy)]
enum Offering {
    Any,
    /// By its index in the session.
    This(usize),
}

/// What a tool answered, and which server's it is.
struct ToolAnswer {
    /// The server's index in the session.
    place: usize,
    /// It is the server that came with the session.
    is_our_show_server: bool,
    result: CallToolResult,
}

/// What an answer says of an output.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// The person sees it.
    Shown,
    /// Its command waits for the person, or runs.
    Unfinished(OutputId),
    /// It does not say, or is not believed.
    Unknown,
}

impl ToolAnswer {
    fn standing(&self) -> Standing {
        let Some(Part::Text(text)) = self.result.content.first().filter(|_| self.is_our_show_server) else {
            return Standing::Unknown;
        };
        match OutputMarker::at_start(&text.text) {
            Some((_, rest)) if rest.starts_with(" The person sees ") => Standing::Shown,
            Some((OutputMarker(output), rest)) if rest.starts_with(" Waiting:") || rest.starts_with(" Running:") => {
                Standing::Unfinished(output)
            }
            _ => Standing::Unknown,
        }
    }
}

/// Calls a tool. One that shows a command answers before the command has ended, if the person takes their time; then its server
/// is asked again and again how the command stands.
async fn use_to_the_end(session: &GuideSession, tool: &str, arguments: JsonObject) -> Result<ToolAnswer, String> {
    let first = use_in_time(session, Offering::Any, tool, arguments).await?;
    let same_server = Offering::This(first.place);
    let look = |output: OutputId| {
        let arguments = JsonObject::from_iter([("id".to_owned(), output.to_string().into())]);
        use_in_time(session, same_server, "retrieve_output", arguments)
    };
    until_ended(first, look).await
}

/// Looks at a command until it has ended, or for as long as any could take.
async fn until_ended<L>(first: ToolAnswer, look: impl Fn(OutputId) -> L) -> Result<ToolAnswer, String>
where
    L: Future<Output = Result<ToolAnswer, String>>,
{
    let begun = Instant::now();
    let mut answer = first;
    while let Standing::Unfinished(output) = answer.standing()
        && begun.elapsed() < LOOKED_AT_FOR
    {
        sleep(LOOKED_AT_EVERY).await;
        answer = look(output).await?;
    }
    Ok(answer)
}

/// What was shown, by the first text among the arguments: a file, a command, an address or the name of an applet.
fn shown_name(arguments: &str) -> String {
    let arguments = parse(arguments).unwrap_or_default();
    let first = arguments.values().find_map(Value::as_str).map(str::to_owned);
    let name: String = first.unwrap_or_default().chars().take(MAX_NAMED_CHARS).filter(|c| *c != '`').collect();
    format!("`{}`", name.split_whitespace().collect::<Vec<_>>().join(" "))
}

async fn use_in_time(
    session: &GuideSession,
    offering: Offering,
    tool: &str,
    arguments: JsonObject,
) -> Result<ToolAnswer, String> {
    let called = timeout(LIMIT, use_tool(session, offering, tool, arguments)).await;
    called.unwrap_or_else(|_| Err(format!("No answer came within {} s.", LIMIT.as_secs())))
}

/// Empty text means no arguments; otherwise it must be a JSON object.
fn parse(arguments: &str) -> Result<JsonObject, String> {
    if arguments.is_empty() {
        return Ok(JsonObject::new());
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("The arguments of a tool are a JSON object, like {\"key\": \"value\"}.".to_owned()),
        Err(why) => Err(format!("The arguments are not JSON: {why}.")),
    }
}

/// Takes the connections out while they are used; if the turn is cancelled meanwhile, they end with it.
async fn use_tool(
    session: &GuideSession,
    offering: Offering,
    tool: &str,
    arguments: JsonObject,
) -> Result<ToolAnswer, String> {
    let mut toolbox = std::mem::take(&mut *lock(&session.toolbox));
    let answer = toolbox.call(session, offering, tool, arguments).await;
    *lock(&session.toolbox) = toolbox;
    answer
}

impl Toolbox {
    /// Calls the tool on the first of the servers that are meant and have it.
    async fn call(
        &mut self,
        session: &GuideSession,
        offering: Offering,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<ToolAnswer, String> {
        self.0.retain(|(_, connection)| connection.is_open());
        let mut known = Vec::new();
        let mut troubles = Vec::new();
        let is_meant = |place: usize| match offering {
            Offering::Any => true,
            Offering::This(only) => place == only,
        };
        for (place, server) in session.servers.iter().enumerate().filter(|(place, _)| is_meant(*place)) {
            let trouble = |why: &dyn std::fmt::Display| format!("Server {}: {why}.", server_name(server));
            if !self.0.iter().any(|(other, _)| *other == place) {
                match Connection::open(server, &session.cwd).await {
                    Ok(connection) => self.0.push((place, connection)),
                    Err(why) => troubles.push(trouble(&why)),
                }
            }
            let Some((_, connection)) = self.0.iter().find(|(other, _)| *other == place) else { continue };
            match connection.tools().await {
                Ok(tools) if tools.iter().any(|offered| offered.name == tool) => {
                    let result = connection.call(tool, arguments).await.map_err(|why| trouble(&why))?;
                    let is_our_show_server = server_name(server) == OWN_SHOW_SERVER;
                    return Ok(ToolAnswer { place, is_our_show_server, result });
                }
                Ok(tools) => known.extend(tools.into_iter().map(|tool| tool.name.into_owned())),
                Err(why) => troubles.push(trouble(&why)),
            }
        }
        Err(unknown(tool, &known, troubles))
    }
}

fn unknown(tool: &str, known: &[String], troubles: Vec<String>) -> String {
    let known = match known {
        [] if troubles.is_empty() => {
            "A session has tools while a server runs: start one with `throughline serve`, and ask again.".to_owned()
        }
        [] => "None is known.".to_owned(),
        known => format!("Known are: {}.", known.join(", ")),
    };
    let mut sentences = vec![format!("There is no tool {tool}."), known];
    sentences.extend(troubles);
    sentences.join(" ")
}

/// Why a tool failed, in its own words as far as one line holds them: of many such turns the contents show which is which.
fn failure(result: &CallToolResult) -> String {
    let said = result.content.iter().find_map(|part| part.as_text());
    match said.map(|said| model::one_line(&said.text, MAX_FAILURE_CHARS)).filter(|said| !said.is_empty()) {
        Some(said) => format!("The tool failed: {said}"),
        None => "The tool failed and did not say why.".to_owned(),
    }
}

fn fields(result: &CallToolResult) -> ToolCallUpdateFields {
    let fields = ToolCallUpdateFields::new().content(result.content.iter().map(content).collect::<Vec<_>>());
    match &result.structured_content {
        Some(value) => fields.raw_output(value.clone()),
        None => fields,
    }
}

fn content(part: &Part) -> ToolCallContent {
    match part {
        Part::Text(text) => text_content(&text.text[..text.text.floor_char_boundary(SHOWN_BYTES)]),
        Part::Image(image) => ContentBlock::Image(ImageContent::new(&*image.data, &*image.mime_type)).into(),
        Part::Audio(audio) => text_content(&format!("Audio ({}).", audio.mime_type)),
        Part::Resource(_) => text_content("An embedded resource."),
        Part::ResourceLink(link) => text_content(&format!("A resource: {}", link.uri)),
        _ => text_content("Something that the guide does not know."),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;

    use super::*;

    #[test]
    fn arguments_are_a_json_object_or_nothing() {
        assert_eq!(parse("").unwrap(), JsonObject::new());
        assert_eq!(parse("{}").unwrap(), JsonObject::new());
        assert_eq!(parse("{\"a\": 1}").unwrap()["a"], 1);
        assert_eq!(parse("[1]").unwrap_err(), "The arguments of a tool are a JSON object, like {\"key\": \"value\"}.");
        let why = parse("{\"a\":").unwrap_err();
        assert!(why.starts_with("The arguments are not JSON: EOF"), "{why}");
    }

    const MARKER: &str = "[output:out_0123456789abcdef0123456789abcdef]";

    fn said(is_our_show_server: bool, text: &str) -> ToolAnswer {
        ToolAnswer { place: 0, is_our_show_server, result: CallToolResult::success(vec![Part::text(text)]) }
    }

    #[test]
    fn only_our_own_server_is_believed_about_outputs() {
        let (OutputMarker(output), _) = OutputMarker::at_start(MARKER).unwrap();
        for (words, expected) in [
            (" Waiting: for you", Standing::Unfinished(output)),
            (" Running: since then", Standing::Unfinished(output)),
            (" The person sees a", Standing::Shown),
            (" Refused: no", Standing::Unknown),
            ("Waiting: for you", Standing::Unknown),
            ("", Standing::Unknown),
        ] {
            let text = format!("{MARKER}{words}");
            assert_eq!(said(true, &text).standing(), expected, "{words}");
            assert_eq!(said(false, &text).standing(), Standing::Unknown, "{words}");
        }
        for text in ["[output:out_1] Waiting: for you", "[output:x] The person sees a", "Waiting: for you", ""] {
            assert_eq!(said(true, text).standing(), Standing::Unknown, "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_is_looked_at_until_it_ends_and_never_without_end() {
        let looks = Cell::new(0);
        let look = |_| {
            looks.set(looks.get() + 1);
            let word = if looks.get() < 3 { "Running:" } else { "The person sees" };
            ready(Ok(said(true, &format!("{MARKER} {word} it"))))
        };
        let answer = until_ended(said(true, &format!("{MARKER} Waiting: for you")), look).await.unwrap();
        assert_eq!((answer.standing(), looks.get()), (Standing::Shown, 3));

        let looks = Cell::new(0);
        let look = |_| {
            looks.set(looks.get() + 1);
            ready(Ok(said(true, &format!("{MARKER} Running: for ever"))))
        };
        let answer = until_ended(said(true, &format!("{MARKER} Waiting: for you")), look).await.unwrap();
        assert!(matches!(answer.standing(), Standing::Unfinished(_)));
        assert_eq!(looks.get(), LOOKED_AT_FOR.as_secs());
    }

    #[test]
    fn an_unknown_tool_is_told_with_those_there_are() {
        assert!(
            unknown("x", &[], Vec::new()).starts_with("There is no tool x. A session has tools while a server runs")
        );
        assert_eq!(
            unknown("x", &["a".to_owned(), "b".to_owned()], vec!["Server s: gone.".to_owned()]),
            "There is no tool x. Known are: a, b. Server s: gone."
        );
    }
}
