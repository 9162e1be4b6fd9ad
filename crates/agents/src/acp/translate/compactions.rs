//! Compactions: the agent made room in its context window. Reported when it is done.

use agent_client_protocol::schema::MaybeUndefined;
use agent_client_protocol::v1::schema::{
    CompactionId, CompactionStatus, CompactionSummaryChunk, CompactionUpdate, ContentBlock,
};
use model::{AgentReport, Notice, Severity};

use super::MAX_DESCRIPTION_CHARS;
use super::content::MAX_KEPT_BYTES;
use super::text::{cut_chars, start_of};

/// The compaction that is running or was reported last: agents compact one at a time.
#[derive(Debug, Default)]
pub(super) struct Compactions {
    latest: Option<Compaction>,
}

#[derive(Debug)]
struct Compaction {
    id: CompactionId,
    summary: String,
    is_told: bool,
}

impl Compactions {
    pub(super) fn chunk(&mut self, chunk: CompactionSummaryChunk) {
        if let ContentBlock::Text(words) = chunk.content {
            let compaction = self.of(chunk.compaction_id);
            let room = MAX_KEPT_BYTES.saturating_sub(compaction.summary.len());
            compaction.summary.push_str(start_of(&words.text, room));
        }
    }

    pub(super) fn update(&mut self, update: CompactionUpdate) -> Vec<AgentReport> {
        let compaction = self.of(update.compaction_id);
        if let MaybeUndefined::Value(blocks) = update.summary {
            let texts = blocks.into_iter().filter_map(|block| match block {
                ContentBlock::Text(words) => Some(words.text),
                _ => None,
            });
            let whole = texts.collect::<Vec<_>>().join("\n\n");
            start_of(&whole, MAX_KEPT_BYTES).clone_into(&mut compaction.summary);
        }
        match update.status {
            CompactionStatus::Completed if !compaction.is_told => {
                compaction.is_told = true;
                let summary = Some(compaction.summary.clone()).filter(|summary| !summary.is_empty());
                vec![AgentReport::Compacted { summary }]
            }
            CompactionStatus::Failed if !compaction.is_told => {
                compaction.is_told = true;
                let description = match update.error {
                    MaybeUndefined::Value(error) => Some(cut_chars(error, MAX_DESCRIPTION_CHARS)),
                    MaybeUndefined::Null | MaybeUndefined::Undefined => None,
                };
                let title = "The agent could not make room in its window".to_owned();
                vec![AgentReport::Noticed(Notice { severity: Severity::Warning, title, description })]
            }
            _ => Vec::new(),
        }
    }

    fn of(&mut self, id: CompactionId) -> &mut Compaction {
        let is_other = self.latest.as_ref().is_some_and(|latest| latest.id != id);
        if is_other {
            self.latest = None;
        }
        self.latest.get_or_insert_with(|| Compaction { id, summary: String::new(), is_told: false })
    }
}
