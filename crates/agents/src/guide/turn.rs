//! One prompt being answered: everything that the guide sends to the client goes through here.
//!
//! Invariant: a tool call that was begun is ended, also when the turn is cancelled in between.

use std::sync::{Arc, Mutex};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Cost, Plan, PromptResponse, SessionInfoUpdate, SessionNotification, SessionUpdate,
    StopReason, TextContent, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, Usage, UsageUpdate,
};
use agent_client_protocol::{Client, Error};
use serde_json::Value;
use tokio::time::sleep;

use super::session::{GuideSession, lock};
use super::tour::LAST_STOP;

/// The context size in `usage_update`. The guide has no context; this is a number to draw a bar with.
const CONTEXT_SIZE: u64 = 100_000;
const CHARACTERS_PER_TOKEN: u64 = 4;
const TITLE_CHARACTERS: usize = 60;

/// Which file operations the client offers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientFiles {
    pub(super) read: bool,
    pub(super) write: bool,
}

pub(super) struct Turn {
    pub(super) client: ConnectionTo<Client>,
    pub(super) session: Arc<GuideSession>,
    pub(super) client_files: ClientFiles,
    open_call: Mutex<Option<ToolCallId>>,
    /// What it was told to report as used.
    spent: Mutex<Option<(u64, u64)>>,
}

impl Turn {
    pub(super) fn new(client: ConnectionTo<Client>, session: Arc<GuideSession>, client_files: ClientFiles) -> Self {
        Self { client, session, client_files, open_call: Mutex::default(), spent: Mutex::default() }
    }

    /// Streams the text word by word, as a model would.
    pub(super) async fn say(&self, text: &str) -> Result<(), Error> {
        self.stream(text, SessionUpdate::AgentMessageChunk).await
    }

    pub(super) async fn think(&self, text: &str) -> Result<(), Error> {
        self.stream(text, SessionUpdate::AgentThoughtChunk).await
    }

    async fn stream(&self, text: &str, update: fn(ContentChunk) -> SessionUpdate) -> Result<(), Error> {
        for (number, word) in text.split_inclusive(char::is_whitespace).enumerate() {
            if number > 0 {
                self.pause(1).await;
            }
            self.session.count(characters(word));
            self.send(update(ContentChunk::new(block(word))))?;
        }
        Ok(())
    }

    /// Sends the text in one piece.
    pub(super) fn say_at_once(&self, text: &str) -> Result<(), Error> {
        self.session.count(characters(text));
        self.send(SessionUpdate::AgentMessageChunk(ContentChunk::new(block(text))))
    }

    /// Waits as long as that many words take.
    pub(super) async fn pause(&self, words: u32) {
        sleep(self.session.pace().pause() * words).await;
    }

    pub(super) fn show_plan(&self, plan: Plan) -> Result<(), Error> {
        self.send(SessionUpdate::Plan(plan))
    }

    /// Begins a tool call; `describe` adds its details.
    pub(super) fn call(
        &self,
        title: &str,
        describe: impl FnOnce(ToolCall) -> ToolCall,
    ) -> Result<ToolCallInProgress<'_>, Error> {
        let id = self.session.next_call();
        let call = ToolCall::new(id.clone(), title).status(ToolCallStatus::InProgress);
        self.send(SessionUpdate::ToolCall(describe(call)))?;
        *lock(&self.open_call) = Some(id.clone());
        Ok(ToolCallInProgress { turn: self, id })
    }

    /// Notes what is to be reported as used; the cost is that of the session so far, in millionths of a dollar.
    pub(super) fn spend(&self, input: u64, output: u64, micros: u64) {
        *lock(&self.spent) = Some((input, output));
        self.session.spend(micros);
    }

    /// The answer to the prompt, with what the turn is said to have used.
    pub(super) fn response(&self, stop: StopReason) -> PromptResponse {
        let spent = *lock(&self.spent);
        PromptResponse::new(stop).usage(spent.map(|(input, output)| Usage::new(input + output, input, output)))
    }

    /// Sends the usage and the title at the end of a turn, however it ended.
    pub(super) fn finish(&self, prompt: &str) -> Result<(), Error> {
        let open = lock(&self.open_call).take();
        if let Some(id) = open {
            ToolCallInProgress { turn: self, id }.fail("Cancelled.")?;
        }
        if self.session.wants_title() {
            self.send(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title(prompt))))?;
        }
        let used = self.session.count(characters(prompt)) / CHARACTERS_PER_TOKEN;
        let micros = self.session.spend(0);
        let cost = (micros > 0).then(|| Cost::new(dollars(micros), "USD"));
        self.send(SessionUpdate::UsageUpdate(UsageUpdate::new(used, CONTEXT_SIZE).cost(cost)))
    }

    fn send(&self, update: SessionUpdate) -> Result<(), Error> {
        self.client.send_notification(SessionNotification::new(self.session.id.clone(), update))
    }
}

/// A tool call that has begun. It ends as completed or failed; one that is dropped before fails at the turn's end.
pub(super) struct ToolCallInProgress<'turn> {
    turn: &'turn Turn,
    pub(super) id: ToolCallId,
}

impl ToolCallInProgress<'_> {
    pub(super) fn change(&self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        self.turn.send(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(self.id.clone(), fields)))
    }

    pub(super) fn complete(self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        self.end(fields.status(ToolCallStatus::Completed))
    }

    pub(super) fn fail(self, why: &str) -> Result<(), Error> {
        self.fail_with(ToolCallUpdateFields::new().content(vec![text_content(why)]))
    }

    pub(super) fn fail_with(self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        self.end(fields.status(ToolCallStatus::Failed))
    }

    fn end(self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        lock(&self.turn.open_call).take();
        self.change(fields)
    }
}

pub(super) fn block(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

pub(super) fn text_content(text: &str) -> ToolCallContent {
    block(text).into()
}

/// The fields of a tool call that shows this text and this value.
pub(super) fn shown(text: &str, raw: Value) -> ToolCallUpdateFields {
    ToolCallUpdateFields::new().content(vec![text_content(text)]).raw_output(raw)
}

pub(super) fn dollars(micros: u64) -> f64 {
    let micros = micros as f64;
    micros / 1e6
}

fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}

/// The prompt's first line, cut at a word. The last stop of the tour is in a session of its own, and a button sent its
/// prompt: nobody chose those words.
fn title(prompt: &str) -> String {
    let line = prompt.lines().next().unwrap_or_default().trim();
    if line.eq_ignore_ascii_case(LAST_STOP) {
        return "The last stop of the tour".to_owned();
    }
    if line.is_empty() {
        return "A talk with the guide".to_owned();
    }
    let Some((end, _)) = line.char_indices().nth(TITLE_CHARACTERS) else { return line.to_owned() };
    let cut = line[..end].rfind(char::is_whitespace).unwrap_or(end);
    format!("{}…", line[..cut].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_cut_at_a_word() {
        for (prompt, expected) in [
            ("say hello", "say hello"),
            ("say hello\nand more", "say hello"),
            ("", "A talk with the guide"),
            ("tour end", "The last stop of the tour"),
            (
                "say one two three four five six seven eight nine ten eleven",
                "say one two three four five six seven eight nine ten eleven",
            ),
            (
                "say one two three four five six seven eight nine ten eleven 12",
                "say one two three four five six seven eight nine ten eleven…",
            ),
            (&"é".repeat(70), &format!("{}…", "é".repeat(60))),
        ] {
            assert_eq!(title(prompt), expected);
        }
    }
}
