//! What a turn was about, told with its end: its line in the contents, and the session's title.

use model::{Command, Event, Session, SummaryMaker, Topics, Turn, decide};

use super::LiveSession;
use crate::{SubmitError, navigation};

/// The summaries of one write.
pub(super) struct Summaries(Vec<Line>);

struct Line {
    turn: Turn,
    summary: String,
    by: SummaryMaker,
    /// Its turn ends with the same write.
    is_new: bool,
}

impl Summaries {
    pub(super) fn of(events: &[Event]) -> Self {
        let ends = |turn: Turn| events.iter().any(|event| is_end(event) && event.turn() == Some(turn));
        let lines = events.iter().filter_map(|event| match event {
            Event::SummarySet { turn, summary, by, .. } => {
                Some(Line { turn: *turn, summary: summary.clone(), by: *by, is_new: ends(*turn) })
            }
            _ => None,
        });
        Self(lines.collect())
    }
}

impl LiveSession {
    /// A turn that ends gets its line in the contents, and the session its title, with the same write.
    pub(super) fn sum_up(&self, mut session: Session, mut events: Vec<Event>) -> Result<Vec<Event>, SubmitError> {
        let Some(at) = events.iter().position(is_end) else { return Ok(events) };
        let Some(turn) = events[at].turn() else { return Ok(events) };
        let digest = self.digest.after(&events[..=at]);
        let Some(summary) = digest.as_ref().unwrap_or(&self.digest).summary(turn) else { return Ok(events) };
        let running = self.session.as_ref().and_then(|session| session.row.running);
        let interaction_id = running.filter(|running| running.turn == turn).map(|running| running.interaction_id);
        let made = self.shared.summaries.titles();
        let none = Topics::default();
        let topics = self.topics.as_ref().unwrap_or(&none);
        let title = navigation::title(&session.row, topics, &summary, interaction_id, made);
        for command in [Command::Summarise(vec![summary])].into_iter().chain(title) {
            for event in decide(Some(&session), command)? {
                let entry = model::Entry { seq: session.head.next(), at: self.shared.clock.now(), event };
                session.apply(&entry);
                events.push(entry.event);
            }
        }
        Ok(events)
    }

    /// Takes in what was written: what the newest turns are about, and what a model may say better.
    pub(super) fn follow_summaries(&mut self, summaries: Summaries) {
        for Line { turn, summary, by, is_new } in summaries.0 {
            match &mut self.topics {
                Some(topics) if is_new => topics.push(&summary),
                // An earlier turn is told otherwise: they are read again.
                Some(_) | None => self.topics = None,
            }
            if by == SummaryMaker::Extract {
                self.shared.summaries.wish(self.id, turn);
            }
        }
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::TurnEnded { .. })
}
