//! What ranking is worth: sessions written by hand, among many that merely use the same words, and what people type
//! when they look for one of their turns.

mod corpus;

use std::time::{Duration, Instant};

use model::{Incarnation, Position, SessionId, Timestamp, Turn};
use search::{Index, Query, Wanted, Within};

use corpus::Corpus;

#[test]
fn what_people_look_for_is_among_the_first_five() {
    let corpus = Corpus::read();
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path(), Incarnation::from_bits(1), search::Trust::Opened).unwrap().index;
    for (number, (piece, about)) in corpus.pieces.iter().enumerate() {
        index.add(piece, about).unwrap();
        // As it comes about: in several commits.
        if number % 200 == 199 {
            index.commit(Position(number as u64)).unwrap();
        }
    }
    index.commit(Position(corpus.pieces.len() as u64)).unwrap();

    let turns = corpus.turns();
    assert!(turns >= 400 && corpus.labels.len() >= 100, "{turns} turns, {} queries", corpus.labels.len());
    let mut found_in_five = 0;
    let mut reciprocal = 0.0;
    let mut missed = Vec::new();
    for (typed, session, turn) in &corpus.labels {
        match place(&index, typed, *session, *turn) {
            Some(place) => {
                found_in_five += usize::from(place <= 5);
                reciprocal += 1.0 / place as f64;
                if place > 1 {
                    missed.push(format!("{place:2} {typed}"));
                }
            }
            None => missed.push(format!(" - {typed}")),
        }
    }
    let count = corpus.labels.len() as f64;
    let (recall, rank) = (f64::from(found_in_five as u32) / count, reciprocal / count);
    println!("{turns} turns, {count} queries: recall@5 {recall:.3}, MRR {rank:.3}");
    missed.iter().for_each(|line| println!("{line}"));
    assert!(recall >= 0.97, "recall@5 {recall:.3}");
    assert!(rank >= 0.90, "MRR {rank:.3}");
}

/// At which place the turn is, from 1; a title stands for no turn.
fn place(index: &Index, typed: &str, session: SessionId, turn: Turn) -> Option<usize> {
    let wanted = Wanted {
        within: Within::Everything,
        limit: 10,
        now: Timestamp::from_millis(corpus::NOW_MS),
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let hits = index.search(&Query::parse(typed), &wanted).expect("a sound index").hits;
    hits.iter().position(|hit| hit.session == session && hit.turn == turn).map(|at| at + 1)
}
