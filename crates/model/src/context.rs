//! What a session is about: what somebody marked (sets), and what its tools really did (facts).
//!
//! Invariant: a [`Context`] is a function of its stream's entries, and [`Context::apply`] the only thing that changes it.
//! Rules and files are looked at once, when a result arrives; a fold never looks again, so the context is the same after
//! every replay whatever the rules and the files have become.

mod facts;
mod prove;
mod resume;
mod sets;

use crate::{Entry, SessionEvent};

pub use facts::{DECLARED_FACTS, Evidence, Fact, FactList, FactShape, Facts, FileStamp, ProvedFact};
pub(crate) use prove::is_move;
pub use prove::{CallEnd, absolute_path, call_end, exit_code, named_files, prove, script_of, succeeded, tool_intent};
pub use resume::{FileState, format_context_for_resume, item as as_item};
pub use sets::{
    ContextError, ContextWish, Mark, Marker, SetChange, SetMode, SetOutcome, Sets, merge_context_set, replace_context,
};

/// What a session is about, as of some entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// What somebody marked.
    pub sets: Sets,
    /// What successful results proved.
    pub facts: Facts,
}

/// What an entry changed in a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextNews {
    /// This set.
    Set(String),
    /// Some facts.
    Facts,
}

impl Context {
    /// Folds in the next entry; returns what it changed, if it belongs here.
    pub fn apply(&mut self, entry: Entry<&SessionEvent>) -> Option<ContextNews> {
        match entry.event {
            SessionEvent::ContextSet { set, items, by } => {
                self.sets.put(set, items, *by);
                Some(ContextNews::Set(set.clone()))
            }
            SessionEvent::FactProved { turn, tool, entry, facts } => {
                let evidence = Evidence { turn: *turn, tool: *tool, entry: *entry };
                for fact in facts {
                    self.facts.put(fact, evidence);
                }
                Some(ContextNews::Facts)
            }
            _ => None,
        }
    }
}
