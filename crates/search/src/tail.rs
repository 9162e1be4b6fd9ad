//! What was said since the last commit, found by the scanner and put among what the index found.

use std::collections::HashMap;

use model::{SessionId, Turn};

use crate::index::{Count, Hit, Hits, Wanted, weight};
use crate::pieces::{Piece, SessionAttributes};
use crate::query::Query;
use crate::scan::Scanner;

/// Adds the pieces of `tail` that have what is wanted to what the index found. A turn that both know is told once.
pub fn search_tail<'a>(
    found: Hits,
    query: &Query,
    wanted: &Wanted,
    tail: impl IntoIterator<Item = (&'a Piece, &'a SessionAttributes)>,
) -> Hits {
    let scanner = Scanner::new(query);
    let best = found.hits.first().map_or(1.0, |hit| hit.score);
    let mut fresh: HashMap<(SessionId, Turn), Hit> = HashMap::new();
    for (piece, about) in tail {
        if !wanted.within.includes(&about.project)
            || (query.is_blank() && query.filters.is_empty())
            || scanner.find_in(piece, about).is_none()
        {
            continue;
        }
        // What is found by the scanner has every word and is new: it belongs beside the best.
        let score = best * weight(piece.role, piece.at.as_millis(), wanted.now);
        let hit = Hit {
            session: piece.session,
            turn: piece.turn,
            role: piece.role,
            number: piece.number,
            first_seq: piece.first_seq,
            last_seq: piece.last_seq,
            at: piece.at,
            score,
            whole: true,
        };
        let known = fresh.entry((piece.session, piece.turn)).or_insert_with(|| hit.clone());
        if hit.score > known.score {
            *known = hit;
        }
    }
    let Hits { mut hits, total, truncated } = found;
    let mut more = 0;
    for hit in fresh.into_values() {
        match hits.iter_mut().find(|known| known.session == hit.session && known.turn == hit.turn) {
            Some(known) if known.score >= hit.score => (),
            Some(known) => *known = hit,
            None => {
                more += 1;
                hits.push(hit);
            }
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)));
    hits.truncate(wanted.limit);
    let total = match total {
        Count::Exactly(count) => Count::Exactly(count + more),
        Count::AtLeast(count) => Count::AtLeast(count),
    };
    Hits { hits, total, truncated }
}
