//! Which words are blocks, and where they stand.

mod markdown;

use proptest::prelude::*;

use super::*;
use crate::{Card, MAX_BLOCK_BYTES};

const TURN: Turn = Turn(7);
const GO: &str = r#"{"label":"Go","command":"/go","metaContext":"loom"}"#;

fn scan<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<SessionEvent> {
    let mut scanner = BlockScanner::default();
    let mut events: Vec<SessionEvent> = pieces.into_iter().flat_map(|piece| scanner.read(TURN, 0, piece)).collect();
    events.extend(scanner.end());
    events
}

/// Number, sort and words of what was told, in its order.
fn told(text: &str) -> Vec<(u32, &'static str, String)> {
    let events = scan([text]);
    let shown = events.iter().map(|event| match event {
        SessionEvent::NextOffered { nth, span, .. } => (*nth, "next", cut(text, *span)),
        SessionEvent::BlockShown { nth, span, card: Card::UseCase { .. }, .. } => (*nth, "usecase", cut(text, *span)),
        SessionEvent::BlockShown { nth, span, card: Card::EventModel { .. }, .. } => {
            (*nth, "eventmodel", cut(text, *span))
        }
        SessionEvent::BlockShown { nth, span, card: Card::Tasks { .. }, .. } => (*nth, "tasks", cut(text, *span)),
        other => panic!("{other:?}"),
    });
    shown.collect()
}

fn cut(text: &str, span: Span) -> String {
    text.chars().skip(span.start as usize).take((span.end - span.start) as usize).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let words: Vec<String> = told(text).into_iter().map(|(_, _, words)| words).collect();
    assert_eq!(words, expected, "{text}");
}

/// `text` with the body of a next block for each `{}`.
fn with_bodies(text: &str) -> String {
    text.replace("{}", GO)
}

#[track_caller]
fn check_blocks(text: &str, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|words| with_bodies(words)).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(&with_bodies(text), &expected);
}

#[test]
fn a_fence_of_ours_is_a_block() {
    for (text, block) in [
        ("```throughline:next\n{}\n```\n", "```throughline:next\n{}\n```"),
        ("a\n```conclave:next\n{}\n```\nb", "```conclave:next\n{}\n```"),
        ("~~~throughline:next\n{}\n~~~", "~~~throughline:next\n{}\n~~~"),
        ("```` Throughline:NEXT now\n{}\n`````", "```` Throughline:NEXT now\n{}\n`````"),
        ("  ```throughline:next\n  {}\n  ```  \nb", "  ```throughline:next\n  {}\n  ```"),
        ("\t```throughline:next\n\t{}\n\t\t\t```", "\t```throughline:next\n\t{}\n\t\t\t```"),
        ("- ```throughline:next\n  {}\n  ```", "```throughline:next\n  {}\n  ```"),
        ("12) a\n\n        ```throughline:next\n  {}\n```", "        ```throughline:next\n  {}\n```"),
        ("a\r\n```throughline:next\r\n{}\r\n```\r\nb", "```throughline:next\r\n{}\r\n```"),
        ("ä🧵\n```throughline:next\n\n{}\n\n```\nä", "```throughline:next\n\n{}\n\n```"),
    ] {
        check_blocks(text, &[block]);
    }
}

#[test]
fn a_fence_that_is_glued_to_words_is_one() {
    for (text, block) in [
        ("done:```throughline:next\n{}\n```", "```throughline:next\n{}\n```"),
        ("see `a` and ```b```, done: ~~~throughline:next\n{}\n~~~", "~~~throughline:next\n{}\n~~~"),
        ("it\\`s done:```throughline:next\n{}\n```", "```throughline:next\n{}\n```"),
        ("-```throughline:next\n{}\n```", "```throughline:next\n{}\n```"),
        ("```throughline:next\n{}```\nb", "```throughline:next\n{}```"),
        ("```throughline:next\n{} ``` \nb", "```throughline:next\n{} ```"),
    ] {
        check_blocks(text, &[block]);
    }
    check("```throughline:tasks\n[{\"id\":\"}```\"}]```", &["```throughline:tasks\n[{\"id\":\"}```\"}]```"]);
}

#[test]
fn other_words_are_none() {
    for text in [
        // Not closed, or not by what closes it.
        "```throughline:next\n{}\n",
        "```throughline:next\n{}\n``",
        "````throughline:next\n{}\n```",
        "````throughline:next\n{}\n``` ",
        "```throughline:next\n{}\n~~~",
        "```throughline:next\n{}\n``` b",
        "```throughline:next\n{} b```",
        // A body with signs in it that close nothing.
        "```throughline:next\n{}\n``\n```",
        "```throughline:next\n{}\n`` \n```",
        "```throughline:next\n{}``\n```",
        "```throughline:next\n{}\n``` b\n```",
        // Not opened.
        "``throughline:next\n{}\n``",
        "throughline:next\n{}\n```",
        "```\n{}\n```",
        "```json\n{}\n```",
        "```throughline:nextone\n{}\n```",
        "```throughline:next:throughline\n{}\n```",
        "```throughline\n{}\n```",
        "```json throughline:next\n{}\n```",
        // In a line's own code, in a table, in a quotation, escaped.
        "write ```throughline:next``` there\n{}\n```",
        "write `:```throughline:next`\n{}\n```",
        "write `~~~throughline:next`\n{}\n~~~",
        "```throughline:next {} ```",
        "| a | b ```throughline:next\n{}\n```",
        "a | b ```throughline:next | c\n{}\n```",
        "> ```throughline:next\n> {}\n> ```",
        "> done:```throughline:next\n{}\n```",
        "\\```throughline:next\n{}\n```",
        // Inside another fence.
        "```\n```throughline:next\n{}\n```",
        "```json\nsee:```throughline:next\n{}\n```",
        "````markdown\n```throughline:next\n{}\n```\n````",
        "~~~\n```throughline:next\n{}\n```\n~~~",
        "1. ````\n   ```throughline:next\n   {}\n   ```",
        "> ````\n> ```throughline:next\n> {}\n> ```",
    ] {
        check_blocks(text, &[]);
    }
}

#[test]
fn a_fence_ends_where_it_ends() {
    let block = "```throughline:next\n{}\n```";
    for before in [
        "```js\na\n```\n",
        "- ```js\n  a\n  ```\n",
        "````markdown\n```throughline:next\n{}\n```\n````\n",
        "~~~\n```\n~~~\n",
        "```throughline:next\nnothing\n```\n",
        "```throughline:next\nnothing```\n```\n",
        "```throughline:next``` is its name\n",
        "a ```js`` b\n",
        "> ```\n> a\n",
        "> ```\n> a\n> ```\n",
        "> ```\n\n",
        "```list\n    ```\n```\n",
        "* * *\n",
        "~~gone~~ ~~~ b\n",
    ] {
        check_blocks(&format!("{before}{block}"), &[block]);
    }
    // A quotation's fence ends with it, also where the line that ends it is indented.
    check_blocks(&format!("> ```\n  {block}"), &[&format!("  {block}")]);
}

#[test]
fn blocks_are_numbered_by_their_sort() {
    let card = |sort: &str, body: &str| format!("```throughline:{sort}\n{body}\n```\n");
    let text = [
        card("next", GO),
        card("usecase", r#"{"id":"UC-1"}"#),
        card("next", "{}"),
        card("eventmodel", r#"{"slice":"weave"}"#),
        card("next", GO),
        card("tasks", r#"[{"id":1}]"#),
    ];
    let numbers: Vec<_> = told(&text.concat()).into_iter().map(|(nth, sort, _)| (nth, sort)).collect();
    assert_eq!(numbers, [(1, "next"), (1, "usecase"), (2, "eventmodel"), (2, "next"), (3, "tasks")]);
}

#[test]
fn the_first_blocks_of_a_turn_are_told() {
    let block = format!("```throughline:next\n{GO}\n```\n```throughline:tasks\n[{{\"id\":1}}]\n```\n");
    let told = told(&block.repeat(500));
    assert_eq!(told.len(), MAX_BLOCKS as usize);
    assert_eq!(told.last().map(|(nth, sort, _)| (*nth, *sort)), Some((MAX_BLOCKS / 2, "tasks")));
}

#[test]
fn a_body_that_is_too_long_stays_code() {
    let block = |bytes: usize| {
        let space = " ".repeat(bytes - GO.len());
        format!("```throughline:next\n{space}{GO}\n  \r\n{}`````  \n", " ".repeat(100))
    };
    assert_eq!(told(&block(MAX_BLOCK_BYTES)).len(), 1);
    assert_eq!(told(&block(MAX_BLOCK_BYTES + 1)).len(), 0);
    let both = block(MAX_BLOCK_BYTES * 20) + &block(100);
    let spans: Vec<_> = told(&both);
    assert_eq!(spans.len(), 1, "what comes behind is read");
    assert_eq!(spans[0].0, 1);
}

#[test]
fn a_long_command_stays_code() {
    for (chars, count) in [(1_000_000, 0), (40_000, 0), (32_000, 1)] {
        let command = "x".repeat(chars);
        let body = format!(r#"{{"label":"Go","command":"{command}","metaContext":"loom"}}"#);
        assert_eq!(told(&format!("```throughline:next\n{body}\n```")).len(), count, "{chars}");
    }
}

#[test]
fn a_text_ends_with_the_next_and_a_turn_with_its_own() {
    let mut scanner = BlockScanner::default();
    let open = format!("```throughline:next\n{GO}\n");
    let places = |events: Vec<SessionEvent>| -> Vec<(u32, u32, u32)> {
        let places = events.into_iter().map(|event| match event {
            SessionEvent::NextOffered { turn, nth, span, .. } => (turn.0, nth, span.block),
            other => panic!("{other:?}"),
        });
        places.collect()
    };
    assert_eq!(places(scanner.read(Turn(1), 0, &format!("{open}```"))), [], "more signs may come");
    assert_eq!(places(scanner.read(Turn(1), 2, &open)), [(1, 1, 0)], "the next text ends it");
    assert_eq!(places(scanner.read(Turn(1), 3, "```\n")), [], "and what was open is open no more");
    assert_eq!(places(scanner.read(Turn(1), 4, &format!("{open}``"))), []);
    assert_eq!(places(scanner.read(Turn(1), 2, &format!("{open}```\n"))), [], "too late");
    assert_eq!(places(scanner.read(Turn(1), 4, "`\n")), [(1, 2, 4)]);
    assert_eq!(places(scanner.read(Turn(1), 5, &format!("{open}```"))), []);
    assert_eq!(places(scanner.read(Turn(2), 0, &format!("{open}```"))), [(1, 3, 5)], "the next turn ends it");
    assert_eq!(places(scanner.end()), [(2, 1, 0)]);
    assert_eq!(places(scanner.end()), []);
    assert_eq!(places(scanner.read(Turn(2), 0, &format!("\n{open}```\n"))), [], "its text is over");
    assert_eq!(places(scanner.read(Turn(2), 1, &format!("{open}```\n"))), [(2, 2, 1)]);
}

#[test]
fn words_without_blocks() {
    for (text, expected) in [
        ("a\n```throughline:next\n{}\n```\nb", "a\n\nb"),
        ("done:```throughline:next\nnonsense\n```\nb ```conclave:tasks\n[]```", "done:\nb "),
        ("a\n  ```throughline:next\n{", "a\n"),
        ("a ```throughline:next", "a "),
        ("a ```throughline:ne", "a ```throughline:ne"),
        ("```js\na\n```", "```js\na\n```"),
        ("> ```throughline:next\n> a", "> ```throughline:next\n> a"),
    ] {
        assert_eq!(without_blocks(text), expected, "{text}");
    }
}

/// Each would take minutes if a piece was read more than once, and much memory if all of it was kept.
#[test]
fn much_of_anything_is_read_once() {
    let open = "```throughline:next\n";
    for (start, filling, bytes) in [
        ("", "`", 2 << 20),
        ("", "````\n```throughline:next\n", 2 << 20),
        (open, "{", 2 << 20),
        ("", "~", 200_000),
        ("", "```throughline:next\n", 200_000),
        ("", "a ```throughline:next ", 200_000),
        ("", "- ", 200_000),
        ("", "1", 200_000),
        (open, "`", 200_000),
        (open, "}```x", 200_000),
        (open, "}`` ", 200_000),
        (open, " ", 200_000),
        (open, "\n", 200_000),
    ] {
        let mut scanner = BlockScanner::default();
        assert_eq!(scanner.read(TURN, 0, start), []);
        let piece = filling.repeat(10);
        for _ in 0..bytes / piece.len() {
            assert_eq!(scanner.read(TURN, 0, &piece), []);
        }
        assert!(format!("{scanner:?}").len() < 2 * MAX_BLOCK_BYTES + 1_000, "{filling} is kept");
        assert_eq!(scanner.end(), []);
    }
}

/// Texts of what matters here: signs, names, bodies, space.
fn any_words() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just("```"), 2 => Just("`"), 2 => Just("~~~"), 4 => Just("\n"), 1 => Just("\r\n"), 1 => Just(" "),
        1 => Just("- "), 1 => Just("> "), 1 => Just("|"), 1 => Just("\\"), 1 => Just("}"), 1 => Just("ä🧵"), 1 => Just("words"),
        4 => Just("throughline:next\n"), 2 => Just("conclave:tasks"), 1 => Just("js\n"), 3 => Just(GO),
        2 => Just("[{\"id\":1}]"),
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

/// Texts in which several blocks stand among anything.
fn any_text() -> impl Strategy<Value = String> {
    let block = Just(format!("\n```throughline:next\n{GO}\n```\n"));
    let part = prop_oneof![2 => any_words(), 1 => any::<String>(), 2 => block];
    proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn cuts_do_not_matter(text in any_text(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let whole = scan([text.as_str()]);
        prop_assert_eq!(&scan(cuts.windows(2).map(|cut| &text[cut[0]..cut[1]])), &whole);
        let every: Vec<String> = text.chars().map(String::from).collect();
        prop_assert_eq!(&scan(every.iter().map(String::as_str)), &whole);
    }

    #[test]
    fn a_span_goes_from_fence_to_fence(text in any_text()) {
        let (mut behind, mut in_blocks) = (0, 0);
        for event in scan([text.as_str()]) {
            let (SessionEvent::NextOffered { span, .. } | SessionEvent::BlockShown { span, .. }) = event else { panic!("{event:?}") };
            prop_assert!(behind <= span.start && span.start < span.end);
            behind = span.end;
            in_blocks += (span.end - span.start) as usize;
            let words = cut(&text, span);
            let sign = words.trim_start().chars().next();
            prop_assert!(matches!(sign, Some('`' | '~')), "{}", words);
            prop_assert!(words.trim_start().starts_with(&String::from_iter([sign.unwrap(); 3])), "{}", words);
            prop_assert!(words.ends_with(&String::from_iter([sign.unwrap(); 3])), "{}", words);
            // Alone it is the same block.
            prop_assert_eq!(scan([words.as_str()]).len(), 1);
        }
        prop_assert!(without_blocks(&text).chars().count() + in_blocks <= text.chars().count());
    }
}

/// The page folds the same file: what it shows stands where the scanner found it.
#[test]
fn the_fixture_tells_what_the_scanner_finds() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts/next-blocks.json");
    let fixture: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let entries: Vec<crate::Entry> = serde_json::from_value(fixture["entries"].clone()).unwrap();
    let mut scanner = BlockScanner::default();
    let (mut told, mut found) = (Vec::new(), Vec::new());
    for crate::Entry { event, .. } in entries {
        match event {
            SessionEvent::TextPart { turn, block, text } => found.extend(scanner.read(turn, block, &text)),
            SessionEvent::TurnEnded { .. } => found.extend(scanner.end()),
            SessionEvent::NextOffered { .. } | SessionEvent::BlockShown { .. } => told.push(event),
            _ => (),
        }
    }
    assert_eq!(told.len(), 7);
    assert_eq!(told, found);
}
