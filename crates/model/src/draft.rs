//! Commands become a session's next entries.
//!
//! A draft begins with the session as it is stored. Each command is decided, its words are scanned for blocks, and its
//! entries are numbered and folded, once. A draft that was appended takes the place of the one before it; one that was
//! not is dropped, and nothing has changed.

use crate::{
    BlockScanner, Command, Digest, Entry, Event, InteractionId, Part, Rejection, Seq, Session, SessionId, StreamId,
    Timestamp, TitleMaker, Topics, Turn, TurnSummary, decide,
};

/// A session, with the entries that are to be appended to it.
#[derive(Debug, Clone)]
pub struct Draft {
    part: Part,
    /// About how long the part is.
    bytes: usize,
    session: Option<Session>,
    blocks: Blocks,
    digest: Digest,
    topics: Option<Topics>,
    ended: Vec<Ended>,
}

#[derive(Debug, Clone)]
enum Blocks {
    Found(BlockScanner),
    /// They are told by a copy, beside the words.
    Told,
}

/// A turn that ended in this draft and has no summary yet.
#[derive(Debug, Clone)]
struct Ended {
    summary: TurnSummary,
    interaction_id: Option<InteractionId>,
}

/// Who makes titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Titles {
    /// They follow from the words of the summaries.
    ByTerms,
    /// A model is asked, later.
    ByModel,
}

impl Draft {
    /// A draft of a session as it is stored; `None` is one that does not exist yet.
    pub fn new(id: SessionId, session: Option<Session>) -> Self {
        let after = session.as_ref().map_or(Seq::START, |session| session.head);
        Self {
            part: Part::empty(StreamId::Session(id), after),
            bytes: 0,
            session,
            blocks: Blocks::Found(BlockScanner::default()),
            digest: Digest::default(),
            topics: None,
            ended: Vec::new(),
        }
    }

    /// A draft of a new session whose blocks are told with [`Draft::push`] and not looked for.
    pub fn of_copy(id: SessionId) -> Self {
        Self { blocks: Blocks::Told, ..Self::new(id, None) }
    }

    /// The session as it stands with the draft's entries.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// The entries that are to be appended.
    pub fn entries(&self) -> &[Entry] {
        &self.part.entries
    }

    /// About how many bytes they have.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds what a command becomes. One that is refused adds nothing.
    pub fn apply(&mut self, command: Command, at: Timestamp) -> Result<(), Rejection> {
        for event in decide(self.session.as_ref(), command)? {
            let events = match &mut self.blocks {
                Blocks::Found(scanner) => scanner.around(event),
                Blocks::Told => vec![event],
            };
            events.into_iter().for_each(|event| self.push(event, at));
        }
        Ok(())
    }

    /// Adds an event as it is.
    pub fn push(&mut self, event: Event, at: Timestamp) {
        self.digest.apply(&event);
        match &event {
            Event::TurnEnded { turn, .. } => self.ended.extend(self.ended_turn(*turn)),
            // A turn is summed up anew: what the newest ones are about has to be found out again.
            Event::SummarySet { .. } => self.topics = None,
            _ => (),
        }
        self.bytes += event.about_bytes();
        self.session = self.part.push(self.session.take(), event, at);
    }

    fn ended_turn(&self, turn: Turn) -> Option<Ended> {
        let running = self.session.as_ref().and_then(|session| session.row.running);
        let interaction_id = running.filter(|running| running.turn == turn).map(|running| running.interaction_id);
        Some(Ended { summary: self.digest.summary(turn)?, interaction_id })
    }

    /// Adds the summaries of the turns that have ended in this draft, and the session's title after them.
    pub fn sum_up(&mut self, titles: Titles, at: Timestamp) -> Result<(), Rejection> {
        for Ended { summary, interaction_id } in std::mem::take(&mut self.ended) {
            let turn = summary.turn;
            // Without the turns before it, nobody knows whether the topic has changed.
            let mut topics = self.topics.take().or_else(|| (turn == Turn(1)).then(Topics::default));
            if let Some(topics) = &mut topics {
                topics.push(&summary.summary);
            }
            self.apply(Command::Summarise(vec![summary]), at)?;
            let known = topics.as_ref().filter(|_| titles == Titles::ByTerms);
            let current = self.session.as_ref().map(|session| session.row.title.as_str());
            let title = known.and_then(|topics| topics.title(current.filter(|title| !title.is_empty())));
            if let Some(title) = title {
                let by = TitleMaker::Terms;
                self.apply(Command::SetTitle { title, by, turn: Some(turn), interaction_id }, at)?;
            }
            self.topics = topics;
        }
        Ok(())
    }

    /// Whether it is known what the newest turns are about, which a title needs.
    pub fn knows_topics(&self) -> bool {
        self.topics.is_some()
    }

    /// What the newest turns are about.
    pub fn set_topics(&mut self, topics: Topics) {
        self.topics = Some(topics);
    }

    /// Takes the entries out, to be appended; the draft goes on after them.
    pub fn take(&mut self) -> Part {
        let after = self.part.entries.last().map_or(self.part.after, |entry| entry.seq);
        self.bytes = 0;
        // A turn that was not summed up with its own end is caught up on later.
        self.ended.clear();
        let next = Part::empty(self.part.stream, after);
        std::mem::replace(&mut self.part, next)
    }

    /// The session as it is stored after somebody else wrote to it.
    pub fn reload(&mut self, session: Option<Session>) {
        let after = session.as_ref().map_or(Seq::START, |session| session.head);
        self.part = Part::empty(self.part.stream, after);
        self.bytes = 0;
        self.ended.clear();
        self.topics = None;
        self.session = session;
    }
}
