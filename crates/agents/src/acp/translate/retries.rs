//! Notices about requests to the model that failed and are retried, where an agent reports them.
//!
//! The protocol has no message for it. Codex reports it beside a `session_info_update`, and was seen to retry for
//! half a minute. Copilot says it in its answer. Claude, Gemini, Kimi, opencode and Qwen say nothing; for them the
//! session reports the silence (`session/watch.rs`).

use model::{Notice, Severity};
use serde_json::Value;

use super::{MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, cut_chars, plain_line};

/// How many retries of one turn are reported.
const MAX_REPORTED: usize = 20;

/// The retries that one turn has reported.
#[derive(Debug, Default)]
pub(super) struct Retries {
    reported: usize,
    last: Option<Notice>,
}

impl Retries {
    /// The notice about a retry, if the update has one that differs from the last.
    pub(super) fn notice(&mut self, update: &Value) -> Option<Notice> {
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
        if self.reported == MAX_REPORTED || self.last.as_ref() == Some(&notice) {
            return None;
        }
        self.reported += 1;
        self.last = Some(notice.clone());
        Some(notice)
    }
}
