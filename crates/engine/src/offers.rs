//! What the log last said that an agent offers, so that one that is there again and offers the same writes nothing.
//!
//! Invariant: what is not known to be in the log is written. The log is looked at from its end and only so far, so that
//! an attach costs the same whatever came before.

use model::{AgentCommand, AgentOption, AgentReport, Event, Seq, Session, StreamId};
use store::Store;

/// How many of the newest entries are looked at.
const ENTRIES: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Offers {
    options: Option<Vec<AgentOption>>,
    commands: Option<Vec<AgentCommand>>,
}

impl Offers {
    /// What a session's log says near its end; nothing, if it can not be read.
    pub(crate) async fn of(store: &dyn Store, session: &Session) -> Self {
        let after = Seq(session.head.0.saturating_sub(ENTRIES as u64));
        let newest = store.read(StreamId::Session(session.row.id), after, ENTRIES).await.unwrap_or_default();
        let mut offers = Self::default();
        for entry in newest {
            match entry.event {
                Event::AgentOptionsChanged { options } => offers.options = Some(options),
                Event::AgentCommandsChanged { commands } => offers.commands = Some(commands),
                // Another agent has its own.
                Event::SessionChanged { agent: Some(_), .. } => offers = Self::default(),
                _ => (),
            }
        }
        offers
    }

    /// Takes in what the agent says; whether it says nothing new.
    pub(crate) fn hear(&mut self, report: &AgentReport) -> bool {
        match report {
            AgentReport::Options(options) => self.options.replace(options.clone()).as_ref() == Some(options),
            AgentReport::Commands(commands) => self.commands.replace(commands.clone()).as_ref() == Some(commands),
            _ => false,
        }
    }
}
