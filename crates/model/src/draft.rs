//! Turns commands into a session's next entries.
//!
//! A draft begins with the session as it is stored. Each command is decided, its words are scanned for blocks, and its
//! entries are numbered and folded, once. A draft that was appended takes the place of the one before it; one that was
//! not is dropped, and nothing has changed.

use std::collections::HashSet;

use crate::{
    BlockScanner, BodyHash, BodyLoss, Command, Digest, Entry, FoundBody, InteractionId, NewBody, Part, Rejection, Seq,
    Session, SessionEvent, SessionId, Timestamp, TitleMaker, Topics, Turn, TurnSummary, decide,
};

/// A session, with the entries that are to be appended to it.
#[derive(Debug, Clone)]
pub struct Draft {
    part: Part<SessionEvent>,
    /// About how long the part is.
    bytes: usize,
    session: Option<Session>,
    blocks: Blocks,
    digest: Digest,
    topics: Option<Topics>,
    to_summarise: Vec<EndedTurn>,
    /// Longer texts and pictures are cut out of the entries.
    cut_over: usize,
    bodies: Vec<NewBody>,
}

#[derive(Debug, Clone)]
enum Blocks {
    /// The words are scanned for them.
    Scan(BlockScanner),
    /// The caller adds their events itself: a copy lists them beside the words.
    Given,
}

/// A turn that ended in this draft and has no summary yet.
#[derive(Debug, Clone)]
struct EndedTurn {
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
            part: Part::begin_session(id, after),
            bytes: 0,
            session,
            blocks: Blocks::Scan(BlockScanner::default()),
            digest: Digest::default(),
            topics: None,
            to_summarise: Vec::new(),
            cut_over: usize::MAX,
            bodies: Vec::new(),
        }
    }

    /// The same draft, whose entries hold only heads of what is longer than `over` bytes. Whoever appends them stores
    /// [`Self::bodies`] first.
    pub fn cutting(self, over: usize) -> Self {
        Self { cut_over: over, ..self }
    }

    /// A draft of a new session whose blocks are added with [`Draft::push`] and not scanned for.
    pub fn of_copy(id: SessionId) -> Self {
        Self { blocks: Blocks::Given, ..Self::new(id, None) }
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

    /// The bodies that the entries name and that are to be stored before them.
    pub fn bodies(&self) -> &[NewBody] {
        &self.bodies
    }

    /// About how many bytes entries and bodies have.
    pub fn held_bytes(&self) -> usize {
        self.bytes + self.bodies.iter().map(|body| body.bytes.len()).sum::<usize>()
    }

    /// Some of the bodies could not be stored: the entries say so.
    pub fn unkeep(&mut self, lost: &HashSet<BodyHash>) {
        self.part.unkeep_own(lost, &self.bodies);
        for prompt in self.session.iter_mut().flat_map(|session| &mut session.queue) {
            prompt.images.iter_mut().for_each(|image| image.unkeep(lost, &self.bodies));
        }
    }

    /// One of its events with its bodies, as it came.
    pub fn whole(&self, event: &SessionEvent) -> SessionEvent {
        let mut event = event.clone();
        event.restore(&|wanted| match self.bodies.iter().find(|body| Some(body.hash) == wanted.sha256) {
            Some(body) => FoundBody::Whole(body.bytes.to_vec()),
            None => FoundBody::Lost(BodyLoss::NotKept),
        });
        event
    }

    /// Adds what a command becomes. One that is refused adds nothing.
    pub fn apply(&mut self, command: Command, at: Timestamp) -> Result<(), Rejection> {
        for event in decide(self.session.as_ref(), command)? {
            let events = match &mut self.blocks {
                Blocks::Scan(scanner) => scanner.around(event),
                Blocks::Given => vec![event],
            };
            events.into_iter().for_each(|event| self.push(event, at));
        }
        Ok(())
    }

    /// Adds an event as it is.
    pub fn push(&mut self, mut event: SessionEvent, at: Timestamp) {
        for body in event.cut(self.cut_over) {
            if self.bodies.iter().all(|known| known.hash != body.hash) {
                self.bodies.push(body);
            }
        }
        self.digest.apply(&event);
        match &event {
            SessionEvent::TurnEnded { turn, .. } => self.to_summarise.extend(self.ended_turn(*turn)),
            // A turn is summed up anew: what the newest ones are about has to be found out again.
            SessionEvent::SummarySet { .. } => self.topics = None,
            _ => (),
        }
        self.bytes += event.about_bytes();
        self.session = self.part.push(self.session.take(), event, at);
    }

    fn ended_turn(&self, turn: Turn) -> Option<EndedTurn> {
        let running = self.session.as_ref().and_then(|session| session.row.running);
        let interaction_id = running.filter(|running| running.turn == turn).map(|running| running.interaction_id);
        Some(EndedTurn { summary: self.digest.summary(turn)?, interaction_id })
    }

    /// Adds the summaries of the turns that have ended in this draft, and the session's title after them.
    pub fn sum_up(&mut self, titles: Titles, at: Timestamp) -> Result<(), Rejection> {
        let ended = std::mem::take(&mut self.to_summarise);
        // A session that was deleted in the same draft takes no summary; it is caught up on if it is restored.
        if self.session.as_ref().is_none_or(|session| session.row.deleted_at.is_some()) {
            return Ok(());
        }
        for EndedTurn { summary, interaction_id } in ended {
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
        self.bytes = 0;
        self.bodies.clear();
        // A turn that was not summed up with its own end is caught up on later.
        self.to_summarise.clear();
        let next = self.part.begin_after(self.part.head());
        std::mem::replace(&mut self.part, next).into_any()
    }

    /// The session as it is stored after somebody else wrote to it.
    pub fn reload(&mut self, session: Option<Session>) {
        let after = session.as_ref().map_or(Seq::START, |session| session.head);
        self.part = self.part.begin_after(after);
        self.bytes = 0;
        self.bodies.clear();
        self.to_summarise.clear();
        self.topics = None;
        self.session = session;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentReport, Author, NewSession, Outcome, Stop, SummaryMaker, WhenBusy};

    fn at(n: i64) -> Timestamp {
        Timestamp::from_millis(n)
    }

    fn prompt(n: u8, text: &str) -> Command {
        let interaction_id = InteractionId::from_bytes([n; 16]);
        Command::SendPrompt {
            interaction_id,
            text: text.to_owned(),
            images: Vec::new(),
            when_busy: WhenBusy::Queue,
            by: Author::default(),
        }
    }

    fn stopped() -> Command {
        Command::Agent(AgentReport::Stopped(Stop { outcome: Outcome::Completed, reason: None }))
    }

    /// A session whose agent is there, with nothing left to be appended.
    fn begun() -> Draft {
        let mut draft = Draft::new(SessionId::from_bytes([1; 16]), None);
        let new = NewSession { agent: "guide".into(), cwd: "/w".into(), project: "/w".into(), ..NewSession::default() };
        draft.apply(Command::Create(new), at(1)).unwrap();
        draft.apply(Command::Agent(AgentReport::Ready { attached: None }), at(1)).unwrap();
        draft.take();
        draft
    }

    fn summaries(draft: &Draft) -> Vec<u32> {
        let turn = |entry: &Entry| match entry.event {
            SessionEvent::SummarySet { turn, by: SummaryMaker::Extract, .. } => Some(turn.0),
            _ => None,
        };
        draft.entries().iter().filter_map(turn).collect()
    }

    #[test]
    fn what_it_folds_is_what_the_log_folds() {
        let stored = begun();
        let mut draft = stored.clone();
        draft.apply(prompt(1, "hello"), at(2)).unwrap();
        draft.apply(Command::Agent(AgentReport::Text { block: 0, text: "hi".to_owned() }), at(3)).unwrap();
        let after = draft.session().cloned();
        let part = draft.take();
        let mut session = stored.session().cloned().unwrap();
        for entry in part.entries {
            session.apply(entry.into_session().unwrap().borrowed());
        }
        assert_eq!(Some(&session), after.as_ref());
        assert_eq!(part.after, stored.session().unwrap().head);
        // It goes on where the part ended.
        draft.apply(Command::Observe, at(4)).unwrap();
        draft
            .apply(
                Command::Change {
                    name: Some("n".to_owned()),
                    env_hint: None,
                    context: None,
                    filing: crate::FilingWish::default(),
                },
                at(4),
            )
            .unwrap();
        assert_eq!(draft.entries()[0].seq, session.head.next());
    }

    #[test]
    fn a_refused_command_adds_nothing() {
        let mut draft = begun();
        let before = draft.session().cloned();
        draft.apply(Command::Restore, at(2)).unwrap_err();
        assert_eq!((draft.entries().len(), draft.bytes(), draft.session()), (0, 0, before.as_ref()));
    }

    #[test]
    fn each_turn_that_ends_in_it_is_summed_up_once() {
        let mut draft = begun();
        draft.apply(prompt(1, "Mend the pump"), at(2)).unwrap();
        draft.apply(prompt(2, "Paint the pump"), at(2)).unwrap();
        draft.apply(stopped(), at(3)).unwrap();
        draft.apply(Command::Interrupt { reason: "server_restart".to_owned() }, at(4)).unwrap();
        draft.sum_up(Titles::ByModel, at(5)).unwrap();
        assert_eq!(summaries(&draft), [1, 2]);
        draft.sum_up(Titles::ByModel, at(5)).unwrap();
        assert_eq!(summaries(&draft), [1, 2]);
    }

    /// What ended a turn may wait to be written when the person deletes the session.
    #[test]
    fn a_turn_may_end_in_the_draft_that_deletes_its_session() {
        let mut draft = begun();
        draft.apply(prompt(1, "Mend the pump"), at(2)).unwrap();
        draft.apply(stopped(), at(3)).unwrap();
        draft.apply(Command::Delete, at(4)).unwrap();
        draft.sum_up(Titles::ByTerms, at(4)).unwrap();
        assert!(draft.session().unwrap().row.deleted_at.is_some());
        assert_eq!(summaries(&draft), [0; 0]);
    }

    #[test]
    fn a_turn_whose_beginning_it_did_not_see_is_left_to_be_caught_up_on() {
        let mut draft = begun();
        draft.apply(prompt(1, "Mend the pump"), at(2)).unwrap();
        let id = draft.session().unwrap().row.id;
        let mut later = Draft::new(id, draft.session().cloned());
        later.apply(stopped(), at(3)).unwrap();
        later.sum_up(Titles::ByTerms, at(3)).unwrap();
        assert_eq!(summaries(&later), [0; 0]);
    }
}
