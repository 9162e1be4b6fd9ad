//! Why a turn ended as it did, in words for people. The page has the same list: `web/src/state/words.ts`.

use std::borrow::Cow;

use crate::terminal::safe;

/// Every reason that is a code and not a sentence: those of our own rules, then those of the agents' protocol.
const REASONS: &[(&str, &str)] = &[
    ("server_restart", "the server ended while this turn ran"),
    ("server_shutdown", "the server was shut down while this turn ran"),
    ("internal_error", "the server met a fault of its own while this turn ran; its log tells of it"),
    ("agent_gone", "the agent ended while this turn ran"),
    ("handed_over", "the session was handed over to another agent while this turn ran"),
    ("signed_out", "the agent wants you to sign in first; then send the prompt again"),
    ("max_tokens", "the agent reached the most words it may write in one answer"),
    ("max_turn_requests", "the agent reached the most steps it may take in one turn"),
    ("refusal", "the agent declined to go on"),
];

/// The reason as a suffix of the outcome: nothing, or a colon and the words.
pub(crate) fn reason_suffix(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {}", reason_text(reason))).unwrap_or_default()
}

fn reason_text(reason: &str) -> Cow<'_, str> {
    match REASONS.iter().find(|(word, _)| *word == reason) {
        Some((_, reason_text)) => Cow::Borrowed(reason_text),
        // The agent's own words.
        None => Cow::Owned(safe(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both lists have the same reasons, except those that only the page has.
    #[test]
    fn the_page_knows_the_same_reasons() {
        let page = include_str!("../../../web/src/state/words.ts");
        let (_, list) = page.split_once("const REASON_WORDS = new Map([").unwrap();
        let (list, _) = list.split_once("]);").unwrap();
        let named = list.lines().filter_map(|line| line.trim().strip_prefix("[\"")?.split_once('"'));
        let named: Vec<&str> = named.map(|(reason, _)| reason).collect();
        assert_eq!(named, REASONS.iter().map(|(reason, _)| *reason).collect::<Vec<_>>());
    }

    #[test]
    fn a_reason_is_told_in_words() {
        assert_eq!(reason_suffix(Some("server_shutdown")), ": the server was shut down while this turn ran");
        assert_eq!(reason_suffix(Some("out of\u{1b} credit")), ": out of␛ credit");
        assert_eq!(reason_suffix(None), "");
    }
}
