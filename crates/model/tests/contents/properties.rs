//! What holds for any text.

use model::{
    MAX_SUMMARY_CHARS, MAX_TITLE_CHARS, Turn, TurnLine, clean_summary, clean_title, extract_summary, summary_request,
    title_request, topic_title,
};
use proptest::prelude::*;

/// Lines of all the kinds that are told apart, and anything between.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "\\PC{0,60}",
        2 => ".{0,30}",
        2 => "[a-z ]{0,150}",
        1 => Just("```".to_owned()),
        1 => Just("Traceback (most recent call last):".to_owned()),
        1 => Just("thread 'main' panicked at src/main.rs:1:2:".to_owned()),
        1 => Just("diff --git a/x b/x".to_owned()),
        1 => Just("<system-reminder>".to_owned()),
        1 => "(please|hi,|sure!|I'll|ok so|请) [a-z]{0,8}",
        1 => "[*_~`#>\\[\\]()!@/<:. -]{0,40}",
        1 => "https?://[a-z@:/?#.]{0,30}",
        1 => "[\u{1b}\u{202e}\u{200b}\u{7}\\[\\]0-9;mKx ]{0,20}",
        1 => "[登录页面修复。，的了]{0,80}",
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

fn is_plain(line: &str, max_chars: usize) -> Result<(), TestCaseError> {
    prop_assert!(!line.is_empty());
    prop_assert!(line.chars().count() <= max_chars, "{line:?}");
    prop_assert!(!line.chars().any(is_hidden), "{line:?}");
    prop_assert_eq!(line.trim(), line);
    Ok(())
}

proptest! {
    #[test]
    fn a_summary_is_one_plain_line(prompt in text(), response in text()) {
        let summary = extract_summary(&prompt, &response);
        is_plain(&summary, MAX_SUMMARY_CHARS)?;
        prop_assert_eq!(extract_summary(&prompt, &response), summary);
    }

    #[test]
    fn an_answer_is_one_plain_line_or_nothing(answer in text()) {
        if let Some(summary) = clean_summary(&answer) {
            is_plain(&summary, MAX_SUMMARY_CHARS)?;
        }
        if let Some(title) = clean_title(&answer) {
            is_plain(&title, MAX_TITLE_CHARS)?;
        }
    }

    #[test]
    fn a_title_is_one_plain_line_or_nothing(current in prop::option::of(text()), summaries in prop::collection::vec(text(), 0..8)) {
        let turns: Vec<TurnLine> =
            (1..).zip(summaries).map(|(turn, summary)| TurnLine { turn: Turn(turn), summary }).collect();
        let title = topic_title(current.as_deref(), &turns);
        if let Some(title) = &title {
            is_plain(title, MAX_TITLE_CHARS)?;
            prop_assert_ne!(Some(title.as_str()), current.as_deref());
        }
        let mut reversed = turns.clone();
        reversed.reverse();
        prop_assert_eq!(topic_title(current.as_deref(), &reversed), title);
    }

    /// Nothing that was said can pass for the words around it.
    #[test]
    fn a_record_stays_in_its_lines(prompt in text(), response in text(), current in text()) {
        let request = summary_request(&prompt, &response);
        let own: Vec<&str> = request.user.lines().filter(|line| !line.starts_with("| ")).collect();
        prop_assert_eq!(own, ["Request:", "", "Answer:", "", "The line for the table of contents:"]);
        prop_assert!(request.user.chars().count() <= 2 * 500 * 3 + 100);
        let turns = [TurnLine { turn: Turn(7), summary: prompt }];
        let request = title_request(Some(&current), &turns);
        prop_assert_eq!(request.user.lines().count(), 6);
        prop_assert!(!request.user.chars().any(|c| is_hidden(c) && c != '\n'));
    }
}

/// A text of a megabyte costs no more than its bounded part: what lies in its middle is not seen.
#[test]
fn a_megabyte_is_not_read_to_its_middle() {
    for filler in [
        "a",
        " ",
        "*",
        "`",
        "[](",
        "<b",
        "\u{1b}[",
        "a. ",
        "| x |\n",
        "word ",
        "@a/",
        "修",
        "```\n",
        "\"a\": 1,\n",
        "please ",
    ] {
        let long = filler.repeat(1024 * 1024 / filler.len());
        for text in [long.clone(), format!("{long}\nmiddle\n{long}")] {
            let summary = extract_summary(&text, &text);
            assert!(summary.chars().count() <= MAX_SUMMARY_CHARS && !summary.contains("middle"));
            assert!(clean_summary(&text).is_none_or(|line| line.chars().count() <= MAX_SUMMARY_CHARS));
            assert!(clean_title(&text).is_none_or(|line| line.chars().count() <= MAX_TITLE_CHARS));
            let turns = [TurnLine { turn: Turn(1), summary: text.clone() }];
            assert!(topic_title(None, &turns).is_none_or(|title| title.chars().count() <= MAX_TITLE_CHARS));
            assert!(summary_request(&text, &text).user.chars().count() < 5_000);
        }
    }
}
