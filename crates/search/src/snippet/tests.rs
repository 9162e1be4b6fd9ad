//! What is shown.

use proptest::prelude::*;

use super::*;

/// With the found words in brackets.
fn shown(text: &str, typed: &str, max_chars: usize) -> String {
    let snippet = snippet(text, &Query::parse(typed), max_chars);
    let mut out = String::new();
    for (at, c) in snippet.text.chars().enumerate() {
        if snippet.highlights.iter().any(|found| found.start == at) {
            out.push('[');
        }
        out.push(c);
        if snippet.highlights.iter().any(|found| found.end == at + 1) {
            out.push(']');
        }
    }
    out
}

#[test]
fn the_best_window_is_shown_on_one_line_with_its_words_marked() {
    let text = "The error came first.\n\nThen nothing for a long while, really a very long while indeed.\n\
                \tLater the socket\u{202e} error ECONNREFUSED was raised by the pool, twice in a row.";
    assert_eq!(shown(text, "socket error ", 60), "…Later the [socket] [error] ECONNREFUSED was raised by the…");
    assert_eq!(shown(text, "absent ", 30), "The error came first. Then…");
    assert_eq!(shown("parseHttpResponse", "http response", 40), "parse[HttpResponse]");
    assert_eq!(shown("ä ö ü検索 x", "検索", 40), "ä ö ü[検索] x");
    assert_eq!(shown("", "x", 40), "");
}

#[test]
fn a_very_long_word_is_cut_where_it_must_be() {
    let text = format!("{} needle {}", "x".repeat(500), "y".repeat(500));
    let found = shown(&text, "needle ", 40);
    assert!(found.contains("[needle]"), "{found}");
    assert!(found.starts_with('…') && found.ends_with('…'), "{found}");
}

proptest! {
    #[test]
    fn it_is_short_clean_and_marks_what_it_says(text in any::<String>(), typed in any::<String>(), max in 8_usize..200) {
        let snippet = snippet(&text, &Query::parse(&typed), max);
        let length = snippet.text.chars().count();
        prop_assert!(length <= max, "{} > {max}", length);
        prop_assert!(!snippet.text.chars().any(|c| c.is_control() || is_invisible(c)));
        let mut last = 0;
        for found in snippet.highlights {
            prop_assert!(last <= found.start && found.start < found.end && found.end <= length);
            last = found.end;
        }
    }
}
