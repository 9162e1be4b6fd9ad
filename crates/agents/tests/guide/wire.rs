//! Updates of the protocol as lines of text.

use agent_client_protocol::v1::schema::{
    ContentBlock, PlanEntryStatus, SessionUpdate, ToolCallContent, ToolCallStatus, ToolCallUpdateFields,
};

pub(crate) fn line(update: &SessionUpdate) -> String {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => format!("> {}", text(&chunk.content)),
        SessionUpdate::AgentThoughtChunk(chunk) => format!("~ {}", text(&chunk.content)),
        SessionUpdate::ToolCall(call) => {
            let mut line = format!("call {} ({:?}) {}", call.title, call.kind, status(call.status));
            for location in &call.locations {
                line += &format!(" at {}", location.path.display());
            }
            if let Some(input) = &call.raw_input {
                line += &format!(" input {input}");
            }
            line
        }
        SessionUpdate::ToolCallUpdate(update) => changed(&update.fields),
        SessionUpdate::Plan(plan) => {
            let entries = plan.entries.iter().map(|entry| match entry.status {
                PlanEntryStatus::Completed => format!("[x] {}", entry.content),
                PlanEntryStatus::InProgress => format!("[>] {}", entry.content),
                _ => format!("[ ] {}", entry.content),
            });
            format!("plan {}", entries.collect::<Vec<_>>().join(" "))
        }
        SessionUpdate::AvailableCommandsUpdate(update) => {
            let names: Vec<_> = update.available_commands.iter().map(|command| command.name.as_str()).collect();
            format!("commands {}", names.join(" "))
        }
        SessionUpdate::SessionInfoUpdate(update) => format!("title {}", update.title.value().unwrap()),
        SessionUpdate::UsageUpdate(update) => format!("usage {} of {}", update.used, update.size),
        other => format!("{other:?}"),
    }
}

fn changed(fields: &ToolCallUpdateFields) -> String {
    let mut line = fields.status.map_or_else(|| "running".to_owned(), status);
    for content in fields.content.iter().flatten() {
        line += &match content {
            // On one line, so that an update can be told from the next.
            ToolCallContent::Content(content) => format!(": {}", text(&content.content).replace('\n', "\\n")),
            ToolCallContent::Diff(diff) => {
                format!(" {} {:?} -> {:?}", diff.path.display(), diff.old_text, diff.new_text)
            }
            other => format!("{other:?}"),
        };
    }
    if let Some(output) = &fields.raw_output {
        line += &format!(" output {output}");
    }
    line
}

fn status(status: ToolCallStatus) -> String {
    format!("{status:?}").to_lowercase()
}

fn text(content: &ContentBlock) -> &str {
    match content {
        ContentBlock::Text(text) => &text.text,
        other => panic!("{other:?}"),
    }
}
