//! Compares the blocks that the scanner finds with those that a parser of whole documents finds.
//!
//! The texts are well-formed: what the scanner reads otherwise on purpose, such as a fence behind words, is in the tests beside
//! this one.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{FenceReader, Found, Sort};

/// Where blocks of ours stand, in characters, without the space around them.
type Places = Vec<(Sort, usize, usize)>;

fn found_by_scanner(text: &str) -> Places {
    let mut reader = FenceReader::default();
    let mut found: Vec<Found> = text.chars().filter_map(|c| reader.read(c)).collect();
    found.extend(reader.end());
    let chars: Vec<char> = text.chars().collect();
    let place = |found: Found| {
        let (start, end) = (found.start as usize, found.end as usize);
        let indent = chars[start..end].iter().take_while(|c| c.is_whitespace()).count();
        (found.sort, start + indent, end)
    };
    found.into_iter().map(place).collect()
}

fn found_by_parser(text: &str) -> Places {
    let mut quotes = 0;
    let mut places = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if quotes == 0 => {
                let words = text[range.clone()].trim_end();
                let sort = info.split_whitespace().next().and_then(Sort::named);
                places.extend(sort.filter(|_| is_closed(words)).map(|sort| {
                    let start = text[..range.start].chars().count();
                    (sort, start, start + words.chars().count())
                }));
            }
            _ => {}
        }
    }
    places
}

/// A parser ends a fence with its document or its list, too; a block has to be closed.
fn is_closed(words: &str) -> bool {
    let sign = words.chars().next().unwrap_or_default();
    let length = words.len() - words.trim_start_matches(sign).len();
    let last = words.lines().skip(1).last().unwrap_or_default().trim();
    last.len() >= length && last.trim_start_matches(sign).is_empty()
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ ]{0,3}(```|````|~~~)( ?throughline:next| conclave:TASKS now|throughline:usecase|js|throughline)?[ ]{0,2}",
        1 => "[ ]{0,3}(`{1,5}|~{1,5})",
        2 => Just("{\"id\": \"ä🧵\"},".to_owned()),
        1 => "(> ?)?(a|# b|c `d` e|```f```|\\* \\* \\*|\\\\```throughline:next|)",
        1 => "> ?(```|~~~)(throughline:next|js)?",
    ]
}

/// A fence that is closed: an item of a list must hold it whole.
fn closed_fence() -> impl Strategy<Value = Vec<String>> {
    let fence = (
        "(```|````|~~~)",
        "(throughline:next|conclave:tasks|js|)",
        prop::collection::vec("(\\{\"a\": 1\\}|b|``|~~|)", 0..4),
    );
    fence.prop_map(|(signs, info, body)| [vec![format!("{signs}{info}")], body, vec![signs]].concat())
}

/// An item of a list.
fn item() -> impl Strategy<Value = String> {
    let item = ("(-|\\*|1\\.|12\\)) ", prop::collection::vec(closed_fence(), 0..3));
    item.prop_map(|(mark, fences)| {
        let inside = format!("\n{}", " ".repeat(mark.len()));
        format!("{mark}a{inside}{}\n", fences.concat().join(&inside))
    })
}

proptest! {
    #[test]
    fn the_scanner_finds_what_a_parser_finds(lines in prop::collection::vec(line(), 0..16), end in "\n?") {
        let text = lines.join("\n") + &end;
        prop_assert_eq!(found_by_scanner(&text), found_by_parser(&text), "{}", text);
    }

    #[test]
    fn it_does_so_in_lists(items in prop::collection::vec(prop_oneof![3 => item(), 1 => "(b\n)?\n"], 0..6)) {
        let text = items.concat();
        prop_assert_eq!(found_by_scanner(&text), found_by_parser(&text), "{}", text);
    }
}

#[test]
fn it_does_so_in_documents_that_people_wrote() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<PathBuf> = ["skills", "docs"].map(|name| root.join(name)).into();
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path).unwrap();
                let places = found_by_scanner(&text);
                assert_eq!(places, found_by_parser(&text), "{}", path.display());
                found += places.len();
            }
        }
    }
    assert!(found >= 4, "{found} blocks");
}
