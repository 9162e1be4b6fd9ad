//! A search inside one session: its entries are looked through, no index is needed.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use model::{Entry, Seq, Session, SessionEvent, SessionId, Timestamp, Turn, TurnRow};
use search::{Piece, Pieces, Query, Scanner, SessionAttributes, Snippet, snippet};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::{Engine, QueryError, Within, paging};

/// How long it may take.
const LIMIT: Duration = Duration::from_secs(5);
/// How many entries are read at a time.
const PAGE: usize = 1_000;
/// How many pages are read ahead of the one that is looked through.
const PAGES_WAITING: usize = 1;
/// How much of a turn is looked at as one text; a longer one, piece by piece.
const TURN_BYTES: usize = 4 << 20;
/// How many bytes of bodies are read ahead.
const BODIES_AT_ONCE: u64 = 4 << 20;
const SNIPPET_CHARS: usize = 180;

/// What was found in a session.
#[derive(Debug, Clone)]
pub struct FoundInside {
    /// The session.
    pub session: Session,
    /// The turns that match, oldest first, each with the words around what was found.
    pub turns: Vec<(TurnRow, Snippet)>,
    /// How many match in all, as far as it was looked through.
    pub total: usize,
    /// What was not understood, and how it was taken.
    pub notes: Vec<String>,
}

impl Engine {
    /// Looks through a session for words, a turn at a time: its prompt, what the agent said and did, its summary.
    pub async fn search_session(
        &self,
        id: SessionId,
        words: &str,
        exact: bool,
        limit: usize,
    ) -> Result<FoundInside, QueryError> {
        let session = self.session(id).await?;
        let mut query = if exact { Query::exact(words) } else { Query::parse(words) };
        self.shared.find_works(&mut query, &Within::Project(session.row.project.clone())).await?;
        self.shared.find_tags(&mut query).await?;
        let mut notes = query.notes.clone();
        let about = SessionAttributes { project: session.row.project.clone(), agent: session.row.agent.clone() };
        let (now, deadline) = (self.shared.clock.now(), Instant::now() + LIMIT);
        let (pages, received) = mpsc::channel(PAGES_WAITING);
        // It ends with the last page, and so with whoever reads them.
        let scanning = spawn_blocking(move || look_through(id, &query, about, received, now, deadline, limit));
        let mut after = Seq::START;
        loop {
            let page = self.shared.store.read_session(id, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            if self.send_whole(id, page, &pages).await.is_err() {
                break;
            }
        }
        drop(pages);
        let looked = scanning.await.map_err(|_| QueryError::Search("looking through the session broke off".to_owned()));
        let ScanResult { found, matching, is_late } = looked?;
        if is_late {
            notes.push("the session was not looked through to its end; more words make it quicker".to_owned());
        }
        let mut turns = Vec::with_capacity(found.len());
        for (turn, snippet) in found {
            turns.extend(paging::find_turn(&*self.shared.store, id, turn).await?.map(|row| (row, snippet)));
        }
        Ok(FoundInside { session, turns, total: matching, notes })
    }
}

impl Engine {
    /// Sends entries with their bodies, some at a time.
    async fn send_whole(&self, id: SessionId, page: Vec<Entry>, to: &mpsc::Sender<Vec<Entry>>) -> Result<(), Gone> {
        let (mut whole, mut bytes) = (Vec::new(), 0);
        for entry in page {
            bytes += entry.event.bodies().iter().map(|body| body.bytes).sum::<u64>();
            whole.push(self.shared.whole_entry(id, entry).await);
            if bytes > BODIES_AT_ONCE {
                to.send(std::mem::take(&mut whole)).await.map_err(|_| Gone)?;
                bytes = 0;
            }
        }
        to.send(whole).await.map_err(|_| Gone)
    }
}

/// Whoever looks through the pages has had enough.
struct Gone;

struct ScanResult {
    found: Vec<(Turn, Snippet)>,
    matching: usize,
    /// The time was over before the session was.
    is_late: bool,
}

/// Looks through pages as they come; it blocks.
fn look_through(
    id: SessionId,
    query: &Query,
    about: SessionAttributes,
    mut pages: mpsc::Receiver<Vec<Entry>>,
    now: Timestamp,
    deadline: Instant,
    limit: usize,
) -> ScanResult {
    let mut scan = TurnScan { query, scanner: Scanner::new(query), about, turn: Text::default() };
    let mut found: Vec<(Turn, Snippet)> = Vec::new();
    let mut matching = HashSet::new();
    let mut pieces = Pieces::new(id);
    let mut summaries: Vec<Piece> = Vec::new();
    let mut is_late = false;
    while let Some(page) = pages.blocking_recv() {
        for entry in &page {
            let ended = pieces.apply(entry);
            // A model's line comes after its turn, which is over by then: it is looked at apart.
            let own = |piece: &Piece| piece.turn > Turn(0) && piece.role != search::PieceRole::Summary;
            ended.into_iter().filter(own).for_each(|piece| scan.add(&piece));
            summaries.extend(summary(id, entry));
            if matches!(entry.event, SessionEvent::TurnEnded { .. }) {
                scan.finish(&mut found, &mut matching, limit);
            }
        }
        if Instant::now() > deadline {
            is_late = true;
            break;
        }
    }
    pieces.open(now).into_iter().for_each(|piece| scan.add(&piece));
    scan.finish(&mut found, &mut matching, limit);
    for piece in summaries {
        if !matching.contains(&piece.turn) && scan.scanner.find_in(&piece, &scan.about).is_some() {
            matching.insert(piece.turn);
            found.push((piece.turn, snippet(&piece.text, query, SNIPPET_CHARS)));
        }
    }
    found.sort_by_key(|(turn, _)| *turn);
    found.truncate(limit);
    ScanResult { found, matching: matching.len(), is_late }
}

/// A turn's summary is looked at too, whoever wrote it.
fn summary(session: SessionId, entry: &Entry) -> Option<Piece> {
    let SessionEvent::SummarySet { turn, summary, .. } = &entry.event else { return None };
    let (tool, files, outcome, exit) = (None, Vec::new(), None, None);
    let (first_seq, last_seq, at) = (entry.seq, entry.seq, entry.at);
    let (turn, text, role) = (*turn, summary.clone(), search::PieceRole::Summary);
    Some(Piece { session, turn, role, number: 0, first_seq, last_seq, at, text, tool, files, outcome, exit })
}

/// Gathers one turn at a time and looks for the words in it.
struct TurnScan<'a> {
    query: &'a Query,
    scanner: Scanner<'a>,
    about: SessionAttributes,
    turn: Text,
}

/// The turn that is being gathered.
#[derive(Default)]
struct Text {
    turn: Turn,
    text: String,
    /// A piece that matched by itself.
    found: Option<Snippet>,
}

impl TurnScan<'_> {
    fn add(&mut self, piece: &Piece) {
        if !self.query.admits(piece, &self.about) {
            return;
        }
        self.turn.turn = piece.turn;
        if self.turn.found.is_none() && self.scanner.find_in(piece, &self.about).is_some() {
            self.turn.found = Some(snippet(&piece.text, self.query, SNIPPET_CHARS));
        }
        if self.turn.text.len() + piece.text.len() <= TURN_BYTES {
            self.turn.text.push_str(&piece.text);
            self.turn.text.push('\n');
        }
    }

    /// The turn is over: it matches if a piece of it does, or if it does as a whole.
    fn finish(&mut self, found: &mut Vec<(Turn, Snippet)>, matching: &mut HashSet<Turn>, limit: usize) {
        let Text { turn, text, found: piece } = std::mem::take(&mut self.turn);
        if turn == Turn(0) {
            return;
        }
        let whole = || self.scanner.find(&text).map(|_| snippet(&text, self.query, SNIPPET_CHARS));
        if let Some(snippet) = piece.or_else(whole) {
            matching.insert(turn);
            if found.len() < limit {
                found.push((turn, snippet));
            }
        }
    }
}
