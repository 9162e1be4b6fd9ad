//! What the index promises: found after a commit, hidden at once, narrowed, counted, ranked.

use std::fs;
use std::time::{Duration, Instant};

use model::{Seq, Timestamp};

use super::*;
use crate::pieces::{CallOutcome, PieceRole};
use crate::query::Query;

mod code;
mod damage;
mod expunge;
mod rebuild;

fn session(number: u8) -> SessionId {
    SessionId::from_bytes([number; 16])
}

fn piece(of: u8, turn: u32, text: &str) -> Piece {
    Piece {
        session: session(of),
        turn: Turn(turn),
        role: PieceRole::Answer,
        number: 0,
        first_seq: Seq(1),
        last_seq: Seq(2),
        at: Timestamp::from_millis(1_000),
        text: text.to_owned(),
        tool: None,
        files: Vec::new(),
        outcome: None,
        exit: None,
    }
}

fn about() -> SessionAttributes {
    SessionAttributes { project: "/home/ada/engine-room".to_owned(), agent: "Guide".to_owned() }
}

fn incarnation() -> Incarnation {
    Incarnation::from_bits(7)
}

fn open(dir: &Path) -> Opened {
    Index::open(dir, incarnation(), Trust::Opened).unwrap()
}

fn wanted() -> Wanted {
    Wanted {
        within: Within::Everything,
        limit: 20,
        now: Timestamp::from_millis(2_000),
        deadline: Instant::now() + Duration::from_secs(60),
    }
}

/// The turns that have every word, as `session.turn`, best first.
fn found(index: &Index, typed: &str) -> Vec<String> {
    found_with(index, &Query::parse(typed), &wanted())
}

fn found_with(index: &Index, query: &Query, wanted: &Wanted) -> Vec<String> {
    let hits = index.search(query, wanted).unwrap().hits;
    let whole = hits.iter().filter(|hit| hit.whole);
    whole.map(|hit| format!("{}.{}", hit.session.as_bytes()[0], hit.turn.0)).collect()
}

fn filled(dir: &Path, pieces: &[Piece]) -> Index {
    let index = open(dir).index;
    for piece in pieces {
        index.add(piece, &about()).unwrap();
    }
    index.commit(Position(1)).unwrap();
    index
}

#[test]
fn a_piece_is_found_after_the_commit_and_the_place_is_kept_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let Opened { index, state, .. } = open(dir.path());
    assert_eq!((state, index.position()), (State::Fresh, None));
    index.add(&piece(1, 1, "the quick brown fox"), &about()).unwrap();
    assert_eq!(found(&index, "fox"), Vec::<String>::new());
    index.commit(Position(41)).unwrap();
    assert_eq!(found(&index, "fox"), ["1.1"]);
    drop(index);
    let Opened { index, state, .. } = open(dir.path());
    assert_eq!((state, index.position()), (State::Resumed(Position(41)), Some(Position(41))));
    assert_eq!(found(&index, "quick fox "), ["1.1"]);
}

#[test]
fn a_place_without_news_is_written_when_the_writer_rests() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "fox")]);
    index.commit(Position(9)).unwrap();
    assert_eq!(index.position(), Some(Position(1)));
    index.rest().unwrap();
    assert_eq!(index.position(), Some(Position(9)));
    assert_eq!(found(&index, "fox"), ["1.1"]);
    drop(index);
    assert_eq!(open(dir.path()).state, State::Resumed(Position(9)));
}

#[test]
fn a_place_far_on_is_written_without_news() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path(), &[piece(1, 1, "fox")]));
    let index = open(dir.path()).index;
    index.commit(Position(900)).unwrap();
    assert_eq!(index.position(), Some(Position(1)));
    index.commit(Position(1_100)).unwrap();
    drop(index);
    let Opened { index, state, .. } = open(dir.path());
    assert_eq!(state, State::Resumed(Position(1_100)));
    assert_eq!(found(&index, "fox"), ["1.1"]);
}

#[test]
fn what_was_removed_is_hidden_at_once_and_gone_after_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "fox"), piece(1, 2, "fox"), piece(2, 1, "fox"), piece(3, 1, "fox")]);
    index.remove_session(session(2)).unwrap();
    index.remove_turn(session(1), Turn(1)).unwrap();
    let expected = ["1.2", "3.1"];
    assert_eq!(found(&index, "fox"), expected);
    assert_eq!(index.search(&Query::parse("fox "), &wanted()).unwrap().total, Count::Exactly(2));
    index.commit(Position(2)).unwrap();
    assert_eq!(found(&index, "fox"), expected);
    // What comes back is found again.
    index.remove_session(session(3)).unwrap();
    index.add(&piece(3, 1, "fox"), &about()).unwrap();
    index.commit(Position(3)).unwrap();
    assert_eq!(found(&index, "fox"), expected);
}

#[test]
fn a_turn_is_told_once_by_its_best_piece() {
    let dir = tempfile::tempdir().unwrap();
    let prompt = Piece { role: PieceRole::Prompt, number: 5, ..piece(1, 1, "deploy the fox") };
    let index =
        filled(dir.path(), &[piece(1, 1, "deploy the fox"), prompt, piece(1, 1, "a fox among many other words")]);
    let hits = index.search(&Query::parse("fox "), &wanted()).unwrap();
    assert_eq!(hits.hits.len(), 1);
    assert_eq!((hits.hits[0].role, hits.hits[0].number), (PieceRole::Prompt, 5));
    assert_eq!(hits.total, Count::Exactly(1));
}

#[test]
fn of_equal_pieces_the_newest_comes_first() {
    let dir = tempfile::tempdir().unwrap();
    let day = 24 * 3_600 * 1_000;
    let at = |turn: u32, days: i64| Piece { at: Timestamp::from_millis(days * day), ..piece(1, turn, "fox") };
    let index = filled(dir.path(), &[at(1, 10), at(2, 90), at(3, 50)]);
    let now = Wanted { now: Timestamp::from_millis(100 * day), ..wanted() };
    assert_eq!(found_with(&index, &Query::parse("fox "), &now), ["1.2", "1.3", "1.1"]);
}

#[test]
fn filters_narrow_and_alone_they_list_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let call = |turn: u32, tool: &str, outcome: CallOutcome, exit: i32, file: &str| Piece {
        role: PieceRole::Tool,
        tool: Some(tool.to_owned()),
        outcome: Some(outcome),
        exit: Some(exit),
        files: vec![file.to_owned()],
        at: Timestamp::from_millis(i64::from(turn) * 86_400_000),
        ..piece(1, turn, "cargo test")
    };
    let pieces = [
        call(1, "bash execute", CallOutcome::Ok, 0, "/w/src/event_log.rs"),
        call(2, "bash execute", CallOutcome::Fail, 101, "/w/src/main.rs"),
        call(3, "edit_file edit", CallOutcome::Ok, 0, "/w/docs/main.md"),
    ];
    let index = filled(dir.path(), &pieces);
    for (typed, expected) in [
        ("outcome:fail ", vec!["1.2"]),
        ("cargo outcome:ok ", vec!["1.3", "1.1"]),
        ("exit:101 ", vec!["1.2"]),
        ("tool:bash ", vec!["1.2", "1.1"]),
        ("-tool:bash ", vec!["1.3"]),
        ("tool:bash tool:edit ", vec!["1.3", "1.2", "1.1"]),
        ("file:event_log ", vec!["1.1"]),
        ("file:src/main.rs ", vec!["1.2"]),
        ("file:main -file:docs ", vec!["1.2"]),
        ("project:engine-room exit:0 ", vec!["1.3", "1.1"]),
        ("project:kitchen exit:0 ", vec![]),
        ("agent:guide exit:101 ", vec!["1.2"]),
        ("session:0101 exit:101 ", vec!["1.2"]),
        ("session:02 exit:101 ", vec![]),
        ("role:tool ", vec!["1.3", "1.2", "1.1"]),
        ("role:prompt ", vec![]),
        ("after:1970-01-03 ", vec!["1.3", "1.2"]),
        ("after:1970-01-03 before:1970-01-04 ", vec!["1.2"]),
        ("cargo -test ", vec![]),
        ("-cargo ", vec![]),
        ("-nothing ", vec!["1.3", "1.2", "1.1"]),
        ("", vec![]),
        ("-> ", vec![]),
    ] {
        assert_eq!(found(&index, typed), expected, "{typed}");
        // The scanner lets the same pieces through.
        let query = Query::parse(typed);
        let scanner = crate::Scanner::new(&query);
        let mut scanned: Vec<String> = pieces
            .iter()
            .filter(|piece| scanner.find_in(piece, &about()).is_some())
            .map(|piece| format!("1.{}", piece.turn.0))
            .collect();
        scanned.reverse();
        if !typed.trim().is_empty() {
            assert_eq!(scanned, expected, "{typed}");
        }
    }
}

#[test]
fn only_the_wanted_project_is_searched() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path()).index;
    for (of, project) in [(1, "/a"), (2, "/a"), (3, "/b")] {
        let about = SessionAttributes { project: project.to_owned(), agent: "guide".to_owned() };
        index.add(&piece(of, 1, "fox"), &about).unwrap();
    }
    index.commit(Position(1)).unwrap();
    let found_in = |within: Within| found_with(&index, &Query::parse("fox"), &Wanted { within, ..wanted() });
    assert_eq!(found_in(Within::Project("/a".to_owned())), ["1.1", "2.1"]);
    assert_eq!(found_in(Within::Project("/".to_owned())), Vec::<String>::new());
}

#[test]
fn counts_end_at_a_thousand() {
    let dir = tempfile::tempdir().unwrap();
    let pieces: Vec<Piece> =
        (1..=1_500).map(|turn| piece(1, turn, if turn <= 700 { "fox hen" } else { "fox" })).collect();
    let index = filled(dir.path(), &pieces);
    let total = |typed: &str| index.search(&Query::parse(typed), &wanted()).unwrap().total;
    assert_eq!(total("fox "), Count::AtLeast(1_000));
    assert_eq!(total("hen "), Count::Exactly(700));
    assert_eq!(total("dog "), Count::Exactly(0));
}

#[test]
fn a_deadline_that_has_passed_gives_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "fox")]);
    let late = Wanted { deadline: Instant::now(), ..wanted() };
    for query in [Query::parse("fox "), Query::parse("role:answer "), Query::exact("fo")] {
        assert!(index.search(&query, &late).unwrap().truncated, "{query}");
    }
}

#[test]
fn words_in_several_pieces_of_a_turn_find_the_turn() {
    let dir = tempfile::tempdir().unwrap();
    let asked = Piece { role: PieceRole::Prompt, ..piece(1, 1, "why is the login page slow") };
    let answered = piece(1, 1, "an index was missing on accounts");
    let other = piece(1, 2, "the login button is blue");
    let index = filled(dir.path(), &[asked, answered, other]);
    assert_eq!(found(&index, "login missing index "), ["1.1"]);
    let hits = index.search(&Query::parse("login missing zebra "), &wanted()).unwrap().hits;
    assert_eq!((hits[0].turn, hits[0].whole), (Turn(1), false));
}

#[test]
fn an_exact_text_is_found_inside_words() {
    let dir = tempfile::tempdir().unwrap();
    let texts =
        ["connect ECONNREFUSED 127.0.0.1:5432", "see event_log.rs:412", "nothing here", "a_b_c.x(y) (.*) [a-z]+"];
    let pieces: Vec<Piece> = (1..).zip(texts).map(|(turn, text)| piece(1, turn, text)).collect();
    let index = filled(dir.path(), &pieces);
    for (text, expected) in [
        ("CONNREF", vec!["1.1"]),
        ("connref", vec!["1.1"]),
        ("_log.rs:4", vec!["1.2"]),
        ("og.rs", vec!["1.2"]),
        ("0.0.1:54", vec!["1.1"]),
        ("a-z", vec!["1.4"]),
        ("(a+)+$", vec!["1.4"]),
        // Signs alone are no words: whoever asked looks for them in the newest pieces.
        (".*", vec!["1.1", "1.2", "1.3", "1.4"]),
        ("", vec![]),
    ] {
        assert_eq!(found_with(&index, &Query::exact(text), &wanted()), expected, "{text}");
    }
}

#[test]
fn the_tail_is_put_among_what_the_index_found() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "fox one"), piece(1, 2, "fox two")]);
    let tail = [piece(1, 2, "fox three"), piece(2, 1, "a fox"), piece(2, 2, "no match")];
    let query = Query::parse("fox ");
    let found = index.search(&query, &wanted()).unwrap();
    let about = about();
    let hits = crate::search_tail(found, &query, &wanted(), tail.iter().map(|piece| (piece, &about)));
    let mut turns: Vec<String> =
        hits.hits.iter().map(|hit| format!("{}.{}", hit.session.as_bytes()[0], hit.turn.0)).collect();
    turns.sort();
    assert_eq!(turns, ["1.1", "1.2", "2.1"]);
    assert_eq!(hits.total, Count::Exactly(3));
}
