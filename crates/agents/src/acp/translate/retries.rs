//! A request to the model that failed and is made again, where an agent tells of it.
//!
//! The protocol has no word for it. Codex tells it beside a `session_info_update`, and was seen to make requests for half
//! a minute meanwhile. Copilot says it in its answer; Claude, Gemini, Kimi, opencode and Qwen say nothing, so that of
//! them the session says that nothing comes (`session/watch.rs`).

use model::{Notice, Severity};
use serde_json::Value;

use super::{MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, cut_chars, plain_line};

/// So many of one turn are told.
const MAX_TOLD: usize = 20;

/// What one turn has told of it.
#[derive(Debug, Default)]
pub(super) struct Retries {
    told: usize,
    last: Option<Notice>,
}

impl Retries {
    /// What an update says of a request that is made again; nothing, if it says nothing new.
    pub(super) fn hear(&mut self, update: &Value) -> Option<Notice> {
        let error = update.get("_meta")?.get("codex")?.get("error")?;
        if error.get("willRetry")? != true {
            return None;
        }
        let text = |key: &str| error.get(key).and_then(Value::as_str).map(|text| plain_line(text, MAX_TITLE_CHARS));
        let title = match text("message") {
            Some(message) => format!("The model did not answer, and the agent tries again: {message}"),
            None => "The model did not answer, and the agent tries again".to_owned(),
        };
        let description = text("additionalDetails").map(|details| cut_chars(details, MAX_DESCRIPTION_CHARS));
        let notice = Notice { severity: Severity::Info, title: cut_chars(title, MAX_TITLE_CHARS), description };
        if self.told == MAX_TOLD || self.last.as_ref() == Some(&notice) {
            return None;
        }
        self.told += 1;
        self.last = Some(notice.clone());
        Some(notice)
    }
}
