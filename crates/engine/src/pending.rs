//! Gathers the reports of an agent that are not appended yet, in the order in which they came.
//!
//! Invariant: words of one place that follow each other are one report, so that a thousand tokens are one entry; nothing
//! is put ahead of what came before it.

use std::time::Duration;

use model::{AgentReport, WordsOf};
use tokio::time::Instant;

/// Words are written down when this much has come …
const CHECKPOINT_BYTES: usize = 4 << 10;
/// … or when this long has passed since the first piece.
const CHECKPOINT_AFTER: Duration = Duration::from_secs(1);
/// So much of all that was reported is written down before more is listened to.
const ENOUGH_BYTES: usize = 1 << 20;
/// Words are shown ahead of the log as long as no more than this waits.
const PREVIEWED_BYTES: usize = 16 << 10;

/// Reports that wait for the log.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    reports: Vec<AgentReport>,
    /// Of the words.
    bytes: usize,
    /// Of everything.
    all_bytes: usize,
    since: Option<Instant>,
}

impl Pending {
    pub(crate) fn reports(&self) -> &[AgentReport] {
        &self.reports
    }

    /// When they are to be written down at the latest.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + CHECKPOINT_AFTER)
    }

    /// There are enough words for an entry.
    pub(crate) fn is_worth_writing(&self) -> bool {
        self.bytes >= CHECKPOINT_BYTES
    }

    /// There is so much that nothing more is taken in before it is written.
    pub(crate) fn is_full(&self) -> bool {
        self.all_bytes >= ENOUGH_BYTES
    }

    /// Whether these words may be shown before they are durable. Long ones are durable at once, and are read from the
    /// log; what follows them is not shown without them.
    pub(crate) fn may_preview(&self, text: &str) -> bool {
        self.bytes + text.len() <= PREVIEWED_BYTES
    }

    pub(crate) fn push(&mut self, report: AgentReport) {
        self.since.get_or_insert_with(Instant::now);
        self.all_bytes += report.about_bytes();
        self.bytes += words_of(&report).map_or(0, |(_, _, text)| text.len());
        if let Some(last) = self.reports.last_mut()
            && let Some((of, number, text)) = words_of(&report)
            && words_of(last).is_some_and(|(open, open_number, _)| (open, open_number) == (of, number))
        {
            add(last, text);
            return;
        }
        self.reports.push(report);
    }
}

/// What words a report brings, and where they belong.
pub(crate) fn words_of(report: &AgentReport) -> Option<(WordsOf, u32, &str)> {
    match report {
        AgentReport::Text { block, text } => Some((WordsOf::Text, *block, text)),
        AgentReport::Thought { block, text } => Some((WordsOf::Thought, *block, text)),
        AgentReport::ToolText { tool, text } => Some((WordsOf::Tool, *tool, text)),
        _ => None,
    }
}

fn add(report: &mut AgentReport, more: &str) {
    if let AgentReport::Text { text, .. } | AgentReport::Thought { text, .. } | AgentReport::ToolText { text, .. } =
        report
    {
        text.push_str(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(block: u32, text: &str) -> AgentReport {
        AgentReport::Text { block, text: text.to_owned() }
    }

    #[tokio::test]
    async fn words_of_one_place_join_and_the_order_stays() {
        let mut pending = Pending::default();
        let thought = AgentReport::Thought { block: 0, text: "hm".to_owned() };
        for report in
            [text(0, "a"), text(0, "b"), text(1, "c"), thought.clone(), text(1, "d"), AgentReport::Gone, text(1, "e")]
        {
            pending.push(report);
        }
        let expected = [text(0, "ab"), text(1, "c"), thought, text(1, "d"), AgentReport::Gone, text(1, "e")];
        assert_eq!(pending.reports(), expected);
    }

    #[tokio::test]
    async fn it_is_full_by_its_words() {
        let mut pending = Pending::default();
        assert_eq!((pending.is_worth_writing(), pending.due()), (false, None));
        pending.push(text(0, &"x".repeat(CHECKPOINT_BYTES)));
        assert!(pending.is_worth_writing() && pending.due().is_some());
    }

    #[tokio::test]
    async fn what_waits_and_what_is_shown_ahead_is_bounded_by_bytes() {
        let mut pending = Pending::default();
        assert!(pending.may_preview("words") && !pending.may_preview(&"x".repeat(PREVIEWED_BYTES + 1)));
        pending.push(text(0, &"x".repeat(PREVIEWED_BYTES)));
        assert!(!pending.may_preview("after words that were not shown"));
        let output = Some(serde_json::json!("x".repeat(ENOUGH_BYTES)));
        let change = model::ToolChange { output, ..model::ToolChange::default() };
        assert!(!pending.is_full());
        pending.push(AgentReport::ToolChanged { tool: 1, change });
        assert!(pending.is_full());
    }
}
