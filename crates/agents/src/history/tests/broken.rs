//! Torn, huge, foreign and rewritten files.

use super::*;

fn prompts(items: &[HistoryItem]) -> Vec<&str> {
    let prompts = items.iter().filter_map(|items| match items {
        HistoryItem::Prompt { text, .. } => Some(text.as_str()),
        _ => None,
    });
    prompts.collect()
}

fn skipped(reading: &Reading) -> Vec<(&str, u64)> {
    reading.skipped.iter().map(|skipped| (skipped.what, skipped.count)).collect()
}

#[test]
fn a_torn_line_waits_for_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (user(1, "one") + &assistant(2, "done"), user(3, "two"));
    let torn = first.clone() + &second[..second.len() - 5];
    let (items, reading) = all_of(&transcript(folder.path(), torn.as_bytes()), None, LastTurn::Wait);
    assert_eq!((items, reading.is_open), (vec![], true));
    let whole = first + &second + &user(4, "three");
    let (items, _) = all_of(&transcript(folder.path(), whole.as_bytes()), Some(&reading.bookmark), LastTurn::Wait);
    assert_eq!(prompts(&items), ["one", "two"]);
}

#[test]
fn what_is_torn_for_ever_is_left_out_and_what_only_misses_its_end_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (user(1, "one"), user(3, "two"));
    let without_end = first.clone() + second.trim_end();
    let (items, _) = all_of(&transcript(folder.path(), without_end.as_bytes()), None, LastTurn::Emit);
    assert_eq!(prompts(&items), ["one", "two"]);
    let torn = first + &second[..second.len() - 5];
    let (items, reading) = all_of(&transcript(folder.path(), torn.as_bytes()), None, LastTurn::Emit);
    assert_eq!(prompts(&items), ["one"]);
    assert_eq!(skipped(&reading), [("a torn record", 1)]);
}

#[test]
fn a_line_that_is_too_long_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let limits = HistoryLimits { record_bytes: 4 << 10, ..HistoryLimits::default() };
    for length in [(4 << 10) - 200, 5 << 10, 900 << 10] {
        let content = user(1, "one") + &user(2, &"x".repeat(length)) + &user(3, "three") + &user(4, "four");
        let found = transcript(folder.path(), content.as_bytes());
        let mut items = Vec::new();
        let mut sink = |next| {
            items.push(next);
            ControlFlow::Continue(())
        };
        let reading = read(&found, None, LastTurn::Wait, &limits, &mut sink).unwrap();
        let fits = length < 4 << 10;
        assert_eq!(prompts(&items).len(), if fits { 3 } else { 2 });
        assert_eq!(skipped(&reading), if fits { vec![] } else { vec![("a record that is too long", 1)] });
        // The bookmark after it is valid.
        assert_eq!(all_of(&found, Some(&reading.bookmark), LastTurn::Emit).1.turns, 1);
    }
}

#[test]
fn a_file_of_something_else_tells_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\n\xff\xfe\n{}\n[]\nnull\n{\"type\":7}\n";
    let (items, reading) = all_of(&transcript(folder.path(), png), None, LastTurn::Emit);
    assert_eq!(items, []);
    assert_eq!(skipped(&reading), [("not a record", 8)]);
    assert_eq!(all_of(&transcript(folder.path(), b""), None, LastTurn::Emit).0, []);
}

#[test]
fn a_conversation_without_a_prompt_tells_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let content =
        user(1, "<command-name>/clear</command-name>") + &user(2, "<local-command-stdout></local-command-stdout>");
    let (items, reading) = all_of(&transcript(folder.path(), content.as_bytes()), None, LastTurn::Emit);
    assert_eq!(items, []);
    // Once a prompt is added, the conversation is emitted from its start.
    let content = content + &user(3, "hello");
    let (items, _) = all_of(&transcript(folder.path(), content.as_bytes()), Some(&reading.bookmark), LastTurn::Emit);
    assert!(matches!(items[0], HistoryItem::Session(_)));
    assert_eq!(prompts(&items), ["hello"]);
}

#[test]
fn a_command_is_a_prompt_if_the_agent_answers_it() {
    let folder = tempfile::tempdir().unwrap();
    let content =
        user(1, "<command-name>/review</command-name><command-args>it</command-args>") + &assistant(2, "fine");
    let (items, _) = all_of(&transcript(folder.path(), content.as_bytes()), None, LastTurn::Emit);
    assert_eq!(prompts(&items), ["/review it"]);
}

#[test]
fn a_file_that_was_rewritten_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let content = user(1, "one") + &assistant(2, "done") + &user(3, "two");
    let found = transcript(folder.path(), content.as_bytes());
    let (_, reading) = all_of(&found, None, LastTurn::Wait);
    let again = |content: &str, bookmark: &Bookmark| {
        let found = transcript(folder.path(), content.as_bytes());
        read(&found, Some(bookmark), LastTurn::Wait, &HistoryLimits::default(), &mut |_| ControlFlow::Continue(()))
            .map(drop)
    };
    assert!(again(&content, &reading.bookmark).is_ok());
    let other = content.replace("done", "gone");
    assert!(matches!(again(&other, &reading.bookmark), Err(HistoryError::Rewritten)));
    assert!(matches!(again(&user(1, "one"), &reading.bookmark), Err(HistoryError::Rewritten)));
    let foreign = Bookmark::from_kept("no bookmark".to_owned());
    assert!(matches!(again(&content, &foreign), Err(HistoryError::ForeignBookmark)));
}

#[test]
fn a_turn_that_is_too_large_keeps_its_words_and_drops_what_tools_show() {
    let folder = tempfile::tempdir().unwrap();
    let call = |n: u32| {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-01-02T03:04:05.000Z","message":{{"content":[{{"type":"tool_use","id":"c{n}","name":"Read","input":{{}}}}]}}}}"#
        ) + "\n"
            + &format!(
                r#"{{"type":"user","timestamp":"2026-01-02T03:04:05.000Z","message":{{"content":[{{"type":"tool_result","tool_use_id":"c{n}","content":"{}"}}]}}}}"#,
                "x".repeat(3_000)
            )
            + "\n"
    };
    let content = user(1, "one") + &call(1) + &call(2) + &call(3) + &assistant(6, "done");
    let limits = HistoryLimits { turn_bytes: 9_000, ..HistoryLimits::default() };
    let mut omitted = 0;
    let mut sink = |items: HistoryItem| {
        omitted += u32::from(format!("{items:?}").contains("Omitted"));
        ControlFlow::Continue(())
    };
    let found = transcript(folder.path(), content.as_bytes());
    let reading = read(&found, None, LastTurn::Emit, &limits, &mut sink).unwrap();
    assert_eq!((omitted, skipped(&reading)), (1, vec![]));
}
