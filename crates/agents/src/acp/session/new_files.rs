//! Finds out which files a tool call creates: those that do not exist when the agent first names them.
//!
//! Invariant: a path is checked once for each call, as soon as a message names it, and never after the call's end,
//! because the tool has created it by then. Paths outside of the session's directory and protected ones are not
//! checked.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use model::{AgentReport, ToolChange, ToolContent, ToolKind, absolute_path, named_files};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::AcpSession;
use super::files::Presence;

/// How many paths of one call are checked.
const MAX_PATHS: usize = 64;
/// A disk that takes longer is not waited for: the agent's reports must not be held up.
const LOOK_LIMIT: Duration = Duration::from_secs(1);

/// The unfinished calls of the running turn.
#[derive(Debug, Default)]
pub(super) struct NewFiles {
    calls: HashMap<u32, CallPaths>,
}

#[derive(Debug, Default)]
struct CallPaths {
    kind: ToolKind,
    files: BTreeMap<String, Presence>,
}

impl AcpSession {
    /// Adds to the report of a call which of its files are new.
    pub(super) async fn look_for_new_files(&mut self, report: &mut AgentReport) {
        let (tool, change) = match report {
            AgentReport::ToolStarted { tool, change, .. } | AgentReport::ToolChanged { tool, change } => {
                (*tool, change)
            }
            _ => return,
        };
        let seen = self.new_files.calls.entry(tool).or_default();
        seen.kind = change.kind.unwrap_or(seen.kind);
        let is_end = change.status.is_some_and(model::ToolStatus::is_final);
        if !is_end && may_write(seen.kind) {
            let cwd = self.start.cwd.to_string_lossy();
            let mut named = named_files(change, &cwd);
            named.retain(|path| !seen.files.contains_key(path));
            named.truncate(MAX_PATHS.saturating_sub(seen.files.len()));
            if !named.is_empty() {
                let files = self.files.clone();
                let looked = timeout(LOOK_LIMIT, spawn_blocking(move || files.presence(named))).await;
                let looked = looked.ok().and_then(Result::ok).unwrap_or_default();
                let is_any_new = looked.iter().any(|(_, presence)| *presence == Presence::Absent);
                seen.files.extend(looked);
                change.new_files = is_any_new.then(|| seen.absent());
            }
        }
        seen.mend_diffs(change, &self.start.cwd.to_string_lossy());
        if is_end {
            self.new_files.calls.remove(&tool);
        }
    }

    pub(super) fn forget_new_files(&mut self) {
        self.new_files = NewFiles::default();
    }
}

impl CallPaths {
    fn absent(&self) -> Vec<String> {
        self.files.iter().filter(|(_, presence)| **presence == Presence::Absent).map(|(path, _)| path.clone()).collect()
    }

    /// Some agents say of a file that did not exist that it was empty; removes that empty old text.
    fn mend_diffs(&self, change: &mut ToolChange, cwd: &str) {
        for content in change.content.iter_mut().flatten() {
            if let ToolContent::Diff { path, old_text, .. } = content
                && absolute_path(path, cwd).and_then(|path| self.files.get(&path)) != Some(&Presence::There)
            {
                old_text.take_if(|text| text.is_empty());
            }
        }
    }
}

/// Whether a call of this kind may create a file that it names.
fn may_write(kind: ToolKind) -> bool {
    match kind {
        ToolKind::Edit | ToolKind::Move | ToolKind::Other => true,
        ToolKind::Read
        | ToolKind::Delete
        | ToolKind::Search
        | ToolKind::Execute
        | ToolKind::Think
        | ToolKind::Fetch
        | ToolKind::SwitchMode => false,
    }
}
