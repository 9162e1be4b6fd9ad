//! What answers of the model used, as Codex tells it.
//!
//! Invariant: an answer counts once. Newer versions tell of each answer by its id; older ones only how much all of them
//! used, and that more than once.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use model::{TokenCount, UsedTokens};
use serde::Deserialize;

use super::{Record, TurnContext};
use crate::history::bookmark::RecordPosition;
use crate::history::builder::{Counted, TurnBuilder};
use crate::history::json::as_a;

#[derive(Deserialize)]
pub(super) struct TokenInfo {
    total_token_usage: Option<TokenUsage>,
    last_token_usage: Option<TokenUsage>,
    pub(super) model_context_window: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct TokenUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    cached_input_tokens: Option<u64>,
    cache_write_input_tokens: Option<u64>,
    reasoning_output_tokens: Option<u64>,
    total_tokens: u64,
}

impl From<TokenUsage> for UsedTokens {
    fn from(usage: TokenUsage) -> Self {
        Self::from(TokenCount {
            total: usage.total_tokens,
            input: usage.input_tokens,
            output: usage.output_tokens,
            thought: usage.reasoning_output_tokens,
            cached_read: usage.cached_input_tokens,
            cached_write: usage.cache_write_input_tokens,
        })
    }
}

/// How far before a bookmark the model of its turn is looked for.
const LOOKED_BACK_BYTES: u64 = 1 << 20;

/// What one answer of the model used, in records of newer versions.
#[derive(Deserialize)]
pub(super) struct AnswerUsage<'a> {
    #[serde(borrow)]
    pub(super) response_id: Option<Cow<'a, str>>,
    pub(super) usage: TokenUsage,
}

/// What is known while a record is read, beside its turns.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) is_subagents: bool,
    pub(super) model: Option<String>,
    /// Each answer has a count of its own; the others repeat it.
    pub(super) has_answer_usage: bool,
    /// All tokens so far, as last told of. They are told of again where nothing new was used.
    total: Option<u64>,
}

impl TokenInfo {
    /// How many tokens the window held.
    pub(super) fn used(&self) -> u64 {
        self.last_token_usage.map_or(0, |usage| usage.total_tokens)
    }
}

impl Progress {
    /// Where a reading begins.
    pub(super) fn at(path: &Path, position: &RecordPosition) -> Self {
        Self { model: model_before(path, position), ..Self::default() }
    }

    pub(super) fn count(&self, key: Option<&str>, usage: TokenUsage, builder: &mut TurnBuilder<'_>) {
        builder.count(key, Counted { model: self.model.clone(), tokens: usage.into(), cost: 0.0 });
    }

    /// Counts the last answer by how all tokens have grown. The first count of a reading may repeat what was there before,
    /// unless the agent has answered since.
    pub(super) fn count_growth(&mut self, info: &TokenInfo, builder: &mut TurnBuilder<'_>) {
        let Some(last) = info.last_token_usage.filter(|_| !self.has_answer_usage) else { return };
        let total = info.total_token_usage.map(|usage| usage.total_tokens);
        let before = std::mem::replace(&mut self.total, total);
        let has_grown = match (before, total) {
            (Some(before), Some(total)) => before != total,
            (None, _) | (_, None) => builder.is_answered(),
        };
        if has_grown {
            self.count(None, last, builder);
        }
    }
}

/// The model as of a bookmark: a turn's own is named before its prompt, where the turn before it ends.
fn model_before(path: &Path, position: &RecordPosition) -> Option<String> {
    let RecordPosition::Byte { offset, .. } = position else { return None };
    let from = offset.saturating_sub(LOOKED_BACK_BYTES);
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut before = Vec::new();
    file.take(offset - from).read_to_end(&mut before).ok()?;
    let records =
        before.rsplit(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Record<'_>>(line).ok());
    let mut contexts = records.filter(|record| record.kind == "turn_context");
    contexts.find_map(|record| as_a::<TurnContext<'_>>(record.payload)?.model.map(Cow::into_owned))
}
