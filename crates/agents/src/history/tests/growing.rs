//! A transcript that grows is emitted as if it had been there at once.

use proptest::prelude::*;

use super::*;

const LINES: [&str; 5] = [
    "8bb9c8c8-24e5-4ce6-8887-1bfd4b07b72f",
    "9bf7a1e5-6ce6-452b-a8f6-5a3bacacc4ed",
    "01a1dfc0-f0ed-74c2-b2e8-61960323327d",
    "01a1df90-f63e-7fe0-bef3-a46f7c3fe702",
    "bcd70fdf-21e9-4aa7-83b9-686209859ef0",
];

/// The transcript when it had so many bytes.
fn early(found: &FoundConversation, folder: &Path, bytes: usize) -> FoundConversation {
    let whole = fs::read(&found.path).unwrap();
    let path = folder.join("sessions").join(found.path.file_name().unwrap());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, &whole[..bytes.min(whole.len())]).unwrap();
    // Codex has its titles in an index beside the sessions.
    let index = fixtures().join("codex/session_index.jsonl");
    fs::copy(index, folder.join("session_index.jsonl")).unwrap();
    FoundConversation { path, ..found.clone() }
}

/// Reads it in so many pieces.
fn in_pieces(id: &str, mut cuts: Vec<usize>) -> Vec<HistoryItem> {
    cuts.sort_unstable();
    let (whole, folder) = (fixture(id), tempfile::tempdir().unwrap());
    let (mut items, mut bookmark) = (Vec::new(), None);
    for bytes in cuts {
        let (piece, reading) = all_of(&early(&whole, folder.path(), bytes), bookmark.as_ref(), LastTurn::Wait);
        items.extend(piece);
        bookmark = Some(Bookmark::from_kept(reading.bookmark.as_str().to_owned()));
    }
    items.extend(all_of(&early(&whole, folder.path(), usize::MAX), bookmark.as_ref(), LastTurn::Emit).0);
    items
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_pieces_is_the_same_as_at_once(file in 0..LINES.len(), cuts in prop::collection::vec(0..64_000_usize, 1..4)) {
        let at_once = in_pieces(LINES[file], Vec::new());
        prop_assert!(at_once.len() > 20);
        prop_assert_eq!(in_pieces(LINES[file], cuts), at_once);
    }
}

#[test]
fn nothing_is_told_again_when_nothing_came() {
    for id in LINES {
        let found = fixture(id);
        let (_, first) = all_of(&found, None, LastTurn::Emit);
        let (items, second) = all_of(&found, Some(&first.bookmark), LastTurn::Emit);
        assert_eq!((items, second.bookmark), (Vec::new(), first.bookmark), "{id}");
    }
}

#[test]
fn a_reading_that_is_broken_off_goes_on_at_the_next_turn() {
    let found = fixture(LINES[0]);
    let (all, _) = all_of(&found, None, LastTurn::Emit);
    for limit in 1..=all.len() {
        let (mut kept, mut turn) = (Vec::new(), Vec::new());
        let mut sink = |items: HistoryItem| {
            turn.push(items);
            if matches!(turn.last(), Some(HistoryItem::TurnEnd { .. })) {
                kept.append(&mut turn);
            }
            if kept.len() + turn.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let reading = read(&found, None, LastTurn::Emit, &HistoryLimits::default(), &mut sink).unwrap();
        kept.extend(all_of(&found, Some(&reading.bookmark), LastTurn::Emit).0);
        assert_eq!(kept, all, "broken off after {limit}");
    }
}

#[test]
fn a_last_turn_waits_or_is_told_as_it_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let ends = |content: &str, last_turn| {
        let (items, reading) = all_of(&transcript(folder.path(), content.as_bytes()), None, last_turn);
        let ends = items.iter().filter_map(|items| match items {
            HistoryItem::TurnEnd { stop, .. } => Some(stop.outcome),
            _ => None,
        });
        (ends.collect::<Vec<_>>(), reading.is_open)
    };
    use model::Outcome::{Completed, Interrupted};
    let ended = user(1, "one") + &assistant(2, "done");
    assert_eq!(ends(&ended, LastTurn::Wait), (vec![], true));
    assert_eq!(ends(&ended, LastTurn::IfEnded), (vec![Completed], false));
    let open = ended + &user(3, "two");
    assert_eq!(ends(&open, LastTurn::Wait), (vec![Completed], true));
    assert_eq!(ends(&open, LastTurn::IfEnded), (vec![Completed], true));
    assert_eq!(ends(&open, LastTurn::Emit), (vec![Completed, Interrupted], false));
}

/// Codex before it told of each answer by itself: how much all answers used, again and again.
#[test]
fn older_counts_of_codex_are_counted_once() {
    let line = |second: u32, kind: &str, payload: serde_json::Value| {
        let timestamp = format!("2026-01-02T03:04:{second:02}.000Z");
        serde_json::json!({ "timestamp": timestamp, "type": kind, "payload": payload }).to_string() + "\n"
    };
    let count = |second: u32, all: u64, last: u64| {
        let usage = |total: u64| serde_json::json!({ "input_tokens": total - 1, "cached_input_tokens": 2, "output_tokens": 1, "total_tokens": total });
        let info = serde_json::json!({ "total_token_usage": usage(all), "last_token_usage": usage(last) });
        line(second, "event_msg", serde_json::json!({ "type": "token_count", "info": info }))
    };
    let message = |second: u32, role: &str, text: &str| {
        let content = serde_json::json!([{ "type": "input_text", "text": text }]);
        line(second, "response_item", serde_json::json!({ "type": "message", "role": role, "content": content }))
    };
    let model = |second: u32| line(second, "turn_context", serde_json::json!({ "model": "gpt-5" }));
    let first =
        [model(1), message(1, "user", "one"), message(2, "assistant", "done"), count(2, 10, 10), count(3, 10, 10)];
    let second =
        [model(4), message(5, "user", "two"), count(5, 10, 10), message(6, "assistant", "a"), count(6, 30, 20)];
    let third = [message(7, "assistant", "b"), count(7, 70, 40), count(8, 70, 40)];
    let folder = tempfile::tempdir().unwrap();
    let found = FoundConversation { tool: Tool::Codex, ..transcript(folder.path(), first.concat().as_bytes()) };
    let used = |items: &[HistoryItem]| -> Vec<(u64, Option<String>)> {
        let reports = items.iter().filter_map(|item| match item {
            HistoryItem::Report { report: model::AgentReport::Usage(usage), .. } => usage.turn.clone(),
            _ => None,
        });
        reports.flat_map(|turn| turn.models).map(|used| (used.tokens.total(), used.model)).collect()
    };
    let of_gpt = |tokens: &[u64]| tokens.iter().map(|count| (*count, Some("gpt-5".to_owned()))).collect::<Vec<_>>();
    let (items, reading) = all_of(&found, None, LastTurn::Emit);
    assert_eq!(used(&items), of_gpt(&[10]));
    fs::write(&found.path, [&first[..], &second, &third].concat().concat()).unwrap();
    assert_eq!(used(&all_of(&found, Some(&reading.bookmark), LastTurn::Emit).0), of_gpt(&[60]), "after the bookmark");
    assert_eq!(used(&all_of(&found, None, LastTurn::Emit).0), of_gpt(&[10, 60]), "at once");
}

/// A line for each block of an answer, each with the count so far.
#[test]
fn an_answer_in_several_lines_counts_once() {
    let block = |second: u32, id: &str, output: u32| {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-01-02T03:04:{second:02}.000Z","message":{{"id":"{id}","role":"assistant","model":"m","content":[{{"type":"text","text":"a"}}],"usage":{{"input_tokens":10,"cache_read_input_tokens":100,"output_tokens":{output}}}}}}}"#
        ) + "\n"
    };
    let folder = tempfile::tempdir().unwrap();
    let lines = [user(1, "go"), block(2, "one", 1), block(3, "one", 5), block(4, "two", 7), assistant(5, "done")];
    let (items, _) = all_of(&transcript(folder.path(), lines.concat().as_bytes()), None, LastTurn::Emit);
    let tokens = items.iter().find_map(|item| match item {
        HistoryItem::Report { report: model::AgentReport::Usage(usage), .. } => {
            Some(usage.turn.as_ref()?.models[0].tokens)
        }
        _ => None,
    });
    let expected = model::UsedTokens { input: 20, output: 12, cached_read: 200, ..model::UsedTokens::default() };
    assert_eq!(tokens, Some(expected));
}
