//! Which sessions an agent's own conversations belong to, by every id that a session's agents ever had.
//!
//! Invariant: the log decides, not the row, which only knows the agent of today: a session that was handed over, or whose
//! agent began anew, still has the conversations before that.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Event, SessionId, StreamId};

/// How the stored form of each event begins that is looked at.
pub(crate) const BEGINNINGS: [&str; 3] =
    [r#"{"type":"session.created""#, r#"{"type":"session.changed""#, r#"{"type":"agent.state_changed""#];

/// Folds the events of all streams; those of one stream come in order.
pub(crate) struct Attachments<'a> {
    agent: &'a str,
    ids: HashSet<&'a str>,
    /// Sessions that this agent has at the moment.
    of_agent: HashMap<SessionId, bool>,
    found: BTreeSet<(SessionId, String)>,
}

impl<'a> Attachments<'a> {
    pub(crate) fn new(agent: &'a str, ids: &'a [String]) -> Self {
        let ids = ids.iter().map(String::as_str).collect();
        Self { agent, ids, of_agent: HashMap::new(), found: BTreeSet::new() }
    }

    pub(crate) fn apply(&mut self, stream: StreamId, event: &Event) {
        let StreamId::Session(session) = stream else { return };
        match event {
            Event::SessionCreated { agent, .. } | Event::SessionChanged { agent: Some(agent), .. } => {
                self.of_agent.insert(session, agent == self.agent);
            }
            Event::AgentStateChanged { attached: Some(attached), .. } => {
                let is_ours = self.of_agent.get(&session).copied().unwrap_or_default();
                if is_ours && self.ids.contains(attached.agent_session.as_str()) {
                    self.found.insert((session, attached.agent_session.clone()));
                }
            }
            _ => (),
        }
    }

    /// In the order of the sessions' ids.
    pub(crate) fn finish(self) -> Vec<(String, SessionId)> {
        self.found.into_iter().map(|(session, theirs)| (theirs, session)).collect()
    }
}
