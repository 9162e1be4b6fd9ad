//! A search over all sessions: the index and the tail find turns, the log gives the words around what was found.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{Seq, SessionEvent, SessionRow, Timestamp, Turn, TurnRow};
use search::{Count, Hit, Hits, Piece, PieceRole, Pieces, Query, Snippet, Wanted, Within, search_tail, snippet};
use store::ReadError;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::{Engine, QueryError, Shared, paging};

/// How long a search may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How long it waits for what was written just before it.
const FRESH_LIMIT: Duration = Duration::from_millis(250);
/// How many characters are shown around what was found.
const SNIPPET_CHARS: usize = 180;
/// How far down the list one can go.
const MAX_DEPTH: usize = 1_000;
/// How many titles may give way to their turns.
const TITLE_ROOM: usize = 20;
/// How many turns are looked at for an exact text.
const EXACT_CANDIDATES: usize = 1_000;
/// How many entries are read for the words of one piece.
const PIECE_ENTRIES: u64 = 2_000;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct SearchParams {
    /// As it was typed.
    pub words: String,
    /// As it stands, also inside words.
    pub exact: bool,
    /// Where.
    pub within: Within,
    /// How many are left out from the top.
    pub skip: usize,
    /// How many at most.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct SearchAnswer {
    /// How many turns match.
    pub total: Count,
    /// Best first.
    pub turns: Vec<FoundTurn>,
    /// There are more.
    pub more: bool,
    /// What was not understood, and how it was taken.
    pub notes: Vec<String>,
    /// How much of the log has been folded into the index, if not all has.
    pub behind: Option<(u64, u64)>,
}

/// A turn in which it was found.
#[derive(Debug, Clone)]
pub struct FoundTurn {
    /// The session.
    pub session: SessionRow,
    /// The turn; none if it is the session's title.
    pub turn: Option<TurnRow>,
    /// In what of it.
    pub role: PieceRole,
    /// The call's number, if it is a tool's.
    pub number: u32,
    /// When it was said.
    pub at: Timestamp,
    /// The words around it.
    pub snippet: Snippet,
}

impl Engine {
    /// Searches all sessions. A query is never wrong: the notes say what was not understood.
    pub async fn search(&self, wish: SearchParams) -> Result<SearchAnswer, QueryError> {
        let mut query = if wish.exact { Query::exact(&wish.words) } else { Query::parse(&wish.words) };
        self.shared.find_works(&mut query, &wish.within).await?;
        self.shared.find_tags(&mut query).await?;
        let finding = &self.shared.finding;
        finding.index().await?;
        let behind = self.shared.wait_until_folded().await;
        let now = self.shared.clock.now();
        let mut notes = query.notes.clone();
        notes.extend(finding.set_aside.warning());
        if wish.skip >= MAX_DEPTH {
            notes.push("nobody goes further down than this; more words bring it up".to_owned());
            return Ok(SearchAnswer {
                total: Count::AtLeast(MAX_DEPTH),
                turns: Vec::new(),
                more: false,
                notes,
                behind,
            });
        }
        let (skip, end) = (wish.skip, wish.skip + wish.limit);
        let deadline = Instant::now() + LIMIT;
        // What may hold an exact text is looked at until there is enough of it.
        let limit = if wish.exact { EXACT_CANDIDATES } else { end + 1 + TITLE_ROOM };
        let wanted = Wanted { within: wish.within, limit, now, deadline };
        let Hits { mut hits, total, truncated } = self.shared.hits(&query, &wanted).await?;
        let titles = leave_titles_to_their_turns(&mut hits);
        let total = match total {
            Count::Exactly(total) => Count::Exactly(total.saturating_sub(titles)),
            total @ Count::AtLeast(_) => total,
        };
        if hits.first().is_some_and(|hit| !hit.whole) {
            notes.push("no turn has all of these words; these have the most of them".to_owned());
        }
        let (mut turns, mut is_fenced) = (Vec::new(), false);
        let mut if_readable = |found| match found {
            Err(QueryError::Read(ReadError::Fenced(_))) => {
                is_fenced = true;
                Ok(None)
            }
            found => found,
        };
        let (mut more, mut total, mut late) = (hits.len() > end, total, truncated);
        if wish.exact {
            let candidates = hits.len();
            for (looked, hit) in hits.into_iter().enumerate() {
                late |= Instant::now() > deadline;
                if turns.len() > end || late {
                    break;
                }
                turns.extend(if_readable(self.shared.found(hit, &query).await)?);
                total = if looked + 1 < candidates { Count::AtLeast(turns.len()) } else { Count::Exactly(turns.len()) };
            }
            more = turns.len() > end;
            turns = turns.into_iter().skip(skip).take(wish.limit).collect();
        } else {
            for hit in hits.into_iter().skip(skip).take(wish.limit) {
                turns.extend(if_readable(self.shared.found(hit, &query).await)?);
            }
        }
        if is_fenced {
            notes.push("some of it is in a session that can not be read to its end, and is left out".to_owned());
        }
        if late {
            notes.push("not everything could be looked through in time; more words make it quicker".to_owned());
        }
        Ok(SearchAnswer { total, turns, more, notes, behind })
    }
}

/// Drops the hits on titles of sessions that have a hit on a turn as well, and moves the best of these turns up to where the
/// title was. Returns how many hits were dropped.
fn leave_titles_to_their_turns(hits: &mut Vec<Hit>) -> usize {
    let before = hits.len();
    let mut at = 0;
    while at < hits.len() {
        let session = hits[at].session;
        let is_title = hits[at].turn == Turn(0);
        match hits.iter().position(|hit| hit.session == session && hit.turn > Turn(0)) {
            Some(turn) if is_title && turn > at => {
                let best = hits.remove(turn);
                hits[at] = best;
            }
            Some(_) if is_title => {
                hits.remove(at);
                continue;
            }
            Some(_) | None => (),
        }
        at += 1;
    }
    before - hits.len()
}

impl Shared {
    /// What index and tail have. An index that can not be read is opened again, and asked once more.
    async fn hits(&self, query: &Query, wanted: &Wanted) -> Result<Hits, QueryError> {
        for is_last in [false, true] {
            // The tail first: a piece that moves into the index meanwhile is then found in both, and shown once.
            let tail = self.finding.tail_pieces(wanted.now);
            let index = match self.finding.index_now() {
                Some(index) => index,
                None => self.finding.index().await?,
            };
            let (asked, wanted, searched) = (query.clone(), wanted.clone(), Arc::clone(&index));
            let hits = spawn_blocking(move || {
                let hits = searched.search(&asked, &wanted)?;
                Ok(search_tail(hits, &asked, &wanted, tail.iter().map(|waiting| (&waiting.piece, &*waiting.about))))
            });
            match hits.await.unwrap_or(Err(search::SearchError::Unwritten)) {
                Ok(hits) => return Ok(hits),
                Err(err) => {
                    tracing::warn!(error = %err, "the search index could not be read");
                    self.finding.distrust(&index);
                    if is_last {
                        return Err(QueryError::Search(err.to_string()));
                    }
                }
            }
        }
        Err(QueryError::SearchNotReady)
    }

    /// Waits a moment for what was written before, so that it is found; how far the fold has come, if not so far.
    async fn wait_until_folded(&self) -> Option<(u64, u64)> {
        let target = self.store.last_position();
        let mut folded = self.finding.folded.subscribe();
        if *folded.borrow() < target {
            self.finding.hurry.notify_one();
        }
        // The wait has a limit however far behind the index is; the answer then says what it lacks.
        let fresh = timeout(FRESH_LIMIT, folded.wait_for(|position| *position >= target)).await.is_ok();
        let reached = *self.finding.folded.borrow();
        (!fresh && reached < target).then_some((reached.0, target.0))
    }

    /// What was found, in its session; nothing if that is gone since, or if the text is not there after all.
    async fn found(&self, hit: Hit, query: &Query) -> Result<Option<FoundTurn>, QueryError> {
        let session = self.store.session(hit.session).await?;
        if session.is_none() {
            // The session was purged, and a crash came before the index removed it.
            self.finding.note_purged(hit.session);
        }
        let Some(session) = session.filter(|session| session.row.deleted_at.is_none()) else { return Ok(None) };
        let turn = paging::find_turn(&*self.store, hit.session, hit.turn).await?;
        let text = self.piece(&hit).await?.map(|piece| piece.text).unwrap_or_default();
        if query.mode == search::Mode::Exact && query.matches(&text).is_none() {
            return Ok(None);
        }
        let snippet = snippet(&text, query, SNIPPET_CHARS);
        let Hit { role, number, at, .. } = hit;
        Ok(Some(FoundTurn { session: session.row, turn, role, number, at, snippet }))
    }

    /// A piece's words again, from the log.
    async fn piece(&self, hit: &Hit) -> Result<Option<Piece>, QueryError> {
        let mut pieces = match hit.turn {
            Turn(0) => Pieces::new(hit.session),
            turn => Pieces::within(hit.session, turn),
        };
        // Only the piece itself is kept, and until it comes the first that may stand for it: what else was said between
        // its entries may be far longer.
        let mut found: Option<Piece> = None;
        let is_same = |piece: &Piece| piece.role == hit.role && piece.number == hit.number;
        let mut look = |ended: Vec<Piece>| {
            for piece in ended.into_iter().filter(|piece| piece.role == hit.role) {
                if found.is_none() || (is_same(&piece) && !found.as_ref().is_some_and(is_same)) {
                    found = Some(piece);
                }
            }
        };
        let after = hit.first_seq.previous();
        let last = hit.last_seq.min(Seq(after.0 + PIECE_ENTRIES));
        let of_call = |event: &SessionEvent| hit.role == PieceRole::Tool && event.tool() == Some(hit.number);
        paging::walk_whole(self, hit.session, after, last, of_call, |entry| {
            look(pieces.apply(&entry));
            ControlFlow::Continue(())
        })
        .await?;
        look(pieces.open(hit.at));
        Ok(found)
    }
}
