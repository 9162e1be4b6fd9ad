//! Checks that each call of a session's own tools that was allowed without asking anybody reaches the MCP mount.
//!
//! Invariant: an agent's word that it calls one of our tools is believed only as long as every such call arrives. Each that
//! is allowed is expected; if one has not arrived when its turn ends, the person gets a notice, and this agent is believed no more.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use agents::OwnCall;
use model::{AgentReport, Notice, SessionId, Severity};
use serde_json::{Map, Value};

/// How many of one turn are expected at a time; whoever makes more asks the person.
const MAX_EXPECTED: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct OwnCalls(Mutex<HashMap<SessionId, Standing>>);

#[derive(Debug, Default)]
struct Standing {
    expected: Vec<OwnCall>,
    /// One did not arrive.
    is_distrusted: bool,
}

impl OwnCalls {
    fn with<T>(&self, session: SessionId, change: impl FnOnce(&mut Standing) -> T) -> T {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let standing = sessions.entry(session).or_default();
        let changed = change(standing);
        if standing.expected.is_empty() && !standing.is_distrusted {
            sessions.remove(&session);
        }
        changed
    }

    /// The agent of this session is another one, or none.
    pub(crate) fn begin_anew(&self, session: SessionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
    }

    /// Expects a call that is about to be allowed; says no if its agent is not to be believed.
    pub(crate) fn expect(&self, session: SessionId, call: OwnCall) -> bool {
        self.with(session, |standing| {
            let is_taken = !standing.is_distrusted && standing.expected.len() < MAX_EXPECTED;
            if is_taken {
                standing.expected.push(call);
            }
            is_taken
        })
    }

    /// A call has arrived.
    pub(crate) fn arrived(&self, session: SessionId, tool: &str, input: &Map<String, Value>) {
        self.with(session, |standing| {
            let equal = standing.expected.iter().position(|call| call.tool == tool && call.input == *input);
            if let Some(at) = equal {
                standing.expected.swap_remove(at);
            }
        });
    }

    /// Ends a turn; returns a notice of the calls that did not arrive, if they had to.
    pub(crate) fn end_turn(&self, session: SessionId, had_to_arrive: bool) -> Option<AgentReport> {
        let missing = self.with(session, |standing| {
            let missing = std::mem::take(&mut standing.expected);
            standing.is_distrusted |= had_to_arrive && !missing.is_empty();
            missing
        });
        let mut tools: Vec<_> = missing.into_iter().map(|call| call.tool).collect();
        tools.sort();
        tools.dedup();
        (had_to_arrive && !tools.is_empty()).then(|| {
            let title = format!("The agent was allowed to call {}, and no such call arrived", tools.join(", "));
            let description = "It asked in the name of this session's own tools, about which you are not asked. What it did \
                               instead is not known: look at this turn. It is believed no more, and you are asked from now on."
                .to_owned();
            AgentReport::Noticed(Notice { severity: Severity::Warning, title, description: Some(description) })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, items: &[&str]) -> OwnCall {
        OwnCall { tool: tool.to_owned(), input: Map::from_iter([("items".to_owned(), json!(items))]) }
    }

    #[test]
    fn who_does_not_call_what_was_allowed_is_told_of_and_believed_no_more() {
        let (session, calls) = (SessionId::from_bytes([1; 16]), OwnCalls::default());
        let mark = || call("mark", &["a"]);
        assert!(calls.expect(session, mark()) && calls.expect(session, mark()));
        calls.arrived(session, "mark", &mark().input);
        calls.arrived(session, "mark", &call("mark", &["b"]).input);
        calls.arrived(session, "look", &mark().input);
        assert!(!calls.0.lock().unwrap().is_empty());
        calls.arrived(session, "mark", &mark().input);
        assert_eq!(calls.end_turn(session, true), None);

        // A turn that was cut off proves nothing.
        assert!(calls.expect(session, mark()));
        assert_eq!(calls.end_turn(session, false), None);
        assert!(calls.0.lock().unwrap().is_empty());

        assert!(calls.expect(session, mark()));
        let Some(AgentReport::Noticed(notice)) = calls.end_turn(session, true) else { panic!("nothing is told") };
        assert!(notice.title.contains("mark"), "{notice:?}");
        assert!(!calls.expect(session, mark()));
        calls.begin_anew(session);
        assert!(calls.expect(session, mark()));
    }

    #[test]
    fn what_is_expected_is_bounded() {
        let (session, calls) = (SessionId::from_bytes([1; 16]), OwnCalls::default());
        let taken = (0..MAX_EXPECTED + 5).filter(|_| calls.expect(session, call("look", &[]))).count();
        assert_eq!(taken, MAX_EXPECTED);
    }
}
