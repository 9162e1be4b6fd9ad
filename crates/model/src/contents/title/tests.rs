//! When a title changes, and into what.

use super::*;
use crate::Turn;

fn lines(summaries: &[&str]) -> Vec<TurnLine> {
    (1..).zip(summaries).map(|(turn, summary)| TurnLine { turn: Turn(turn), summary: (*summary).to_owned() }).collect()
}

/// The title after each turn.
fn titles(summaries: &[&str]) -> Vec<String> {
    let turns = lines(summaries);
    let mut title: Option<String> = None;
    let mut titles = Vec::new();
    for end in 1..=turns.len() {
        if let Some(new) = topic_title(title.as_deref(), &turns[..end]) {
            title = Some(new);
        }
        titles.push(title.clone().unwrap_or_default());
    }
    titles
}

#[test]
fn the_first_turn_with_a_topic_gives_the_title() {
    assert_eq!(
        topic_title(None, &lines(&["hello", "How do I set up nginx with TLS?"])).as_deref(),
        Some("Set up nginx with TLS")
    );
    assert_eq!(
        topic_title(Some(" "), &lines(&["Add a cache to the parser."])).as_deref(),
        Some("Add a cache to the parser")
    );
    assert_eq!(topic_title(None, &lines(&["ok", EMPTY_SUMMARY])), None);
    assert_eq!(topic_title(None, &[]), None);
}

#[test]
fn turns_that_are_taken_in_one_by_one_give_the_same_title() {
    let summaries: Vec<String> = (1..=30).map(|turn| format!("Add a cache{turn} to the parser{turn}.")).collect();
    let turns = lines(&summaries.iter().map(String::as_str).collect::<Vec<_>>());
    let mut topics = Topics::default();
    for end in 1..=turns.len() {
        topics.push(&turns[end - 1].summary);
        assert_eq!(topics.title(None), topic_title(None, &turns[..end]), "{end}");
    }
    assert_eq!(topics.title(None).as_deref(), Some("Add a cache11 to the parser11"));
}

#[test]
fn a_new_topic_renames_once_it_lasts() {
    let seen = titles(&[
        "Implement user authentication with OAuth",
        "Test the OAuth flow",
        "Store the authentication token",
        "Set up an MCP server for screenshots",
        "Add a screenshot tool to the MCP server",
        "Screenshots of MCP are black on Wayland",
    ]);
    assert_eq!(seen[4], "Implement user authentication with OAuth");
    assert_eq!(seen[5], "Set up an MCP server for screenshots");
}

#[test]
fn a_stray_question_renames_nothing() {
    let seen = titles(&[
        "Implement user authentication with OAuth",
        "Test the OAuth flow",
        "What is a good name for a cat?",
        "Give me three more names of cats",
        "Store the OAuth token",
        "go on",
        "yes",
    ]);
    assert!(seen.iter().all(|title| title == &seen[0]), "{seen:?}");
}
