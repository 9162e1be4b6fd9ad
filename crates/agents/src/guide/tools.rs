//! `tool`: calls a tool of the MCP servers that the session was given.
//!
//! Servers are connected on first use, so that a session begins at once and one that calls no tool starts no program.

use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ContentBlock, ImageContent, ToolCallContent, ToolCallUpdateFields, ToolKind};
use rmcp::model::{CallToolResult, ContentBlock as Part, JsonObject};
use serde_json::Value;
use tokio::time::timeout;

use super::mcp::{Connection, name as server_name};
use super::session::{GuideSession, lock};
use super::turn::{Turn, text_content};

/// The time limit for connecting, listing and calling together.
const LIMIT: Duration = Duration::from_secs(60);
const SHOWN_BYTES: usize = 64 * 1024;

/// The open connections, by the server's index in the session.
#[derive(Default)]
pub(super) struct Toolbox(Vec<(usize, Connection)>);

pub(super) async fn call(turn: &Turn, tool: &str, arguments: &str) -> Result<(), Error> {
    let parsed = parse(arguments);
    let input = parsed.as_ref().map_or_else(|_| Value::from(arguments), |arguments| Value::from(arguments.clone()));
    let call = turn.call(tool, |call| call.kind(ToolKind::Other).name(tool.to_owned()).raw_input(input))?;
    let result = match parsed {
        Ok(arguments) => match timeout(LIMIT, use_tool(&turn.session, tool, arguments)).await {
            Ok(result) => result,
            Err(_) => Err(format!("No answer came within {} s.", LIMIT.as_secs())),
        },
        Err(why) => Err(why),
    };
    match result {
        Ok(result) if result.is_error != Some(true) => {
            call.complete(fields(&result))?;
            turn.say("That is what the tool answered.").await
        }
        Ok(result) => {
            call.fail_with(fields(&result))?;
            turn.say("The tool says that it failed.").await
        }
        Err(why) => {
            call.fail(&why)?;
            turn.say("The tool was not called.").await
        }
    }
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
async fn use_tool(session: &GuideSession, tool: &str, arguments: JsonObject) -> Result<CallToolResult, String> {
    let mut toolbox = std::mem::take(&mut *lock(&session.toolbox));
    let result = toolbox.call(session, tool, arguments).await;
    *lock(&session.toolbox) = toolbox;
    result
}

impl Toolbox {
    /// Calls the tool on the first server that has it.
    async fn call(
        &mut self,
        session: &GuideSession,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResult, String> {
        self.0.retain(|(_, connection)| connection.is_open());
        let mut known = Vec::new();
        let mut troubles = Vec::new();
        for (place, server) in session.servers.iter().enumerate() {
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
                    return connection.call(tool, arguments).await.map_err(|why| trouble(&why));
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
        [] => "None is known.".to_owned(),
        known => format!("Known are: {}.", known.join(", ")),
    };
    let mut sentences = vec![format!("There is no tool {tool}."), known];
    sentences.extend(troubles);
    sentences.join(" ")
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

    #[test]
    fn an_unknown_tool_is_told_with_those_there_are() {
        assert_eq!(unknown("x", &[], Vec::new()), "There is no tool x. None is known.");
        assert_eq!(
            unknown("x", &["a".to_owned(), "b".to_owned()], vec!["Server s: gone.".to_owned()]),
            "There is no tool x. Known are: a, b. Server s: gone."
        );
    }
}
