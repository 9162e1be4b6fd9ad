//! Which files a tool call makes: those that are not there when the agent names them first.
//!
//! Invariant: a path is looked at once for each call, as soon as a message names it and never after the call's end, because by
//! then the tool has made it. What lies outside the session's directory or is protected is not looked at.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use model::{AgentReport, ToolChange, ToolContent, ToolKind, absolute_path, named_files};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Session;
use super::files::Presence;

/// How many paths of one call are looked at.
const MAX_PATHS: usize = 64;
/// A disk that takes longer tells nothing: what the agent does is not held up for it.
const LOOK_LIMIT: Duration = Duration::from_secs(1);

/// The calls of the running turn that have not ended.
#[derive(Debug, Default)]
pub(super) struct NewFiles {
    calls: HashMap<u32, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    kind: ToolKind,
    files: BTreeMap<String, Presence>,
}

impl Session {
    /// Adds to what is reported of a call which of its files are new.
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

impl Seen {
    fn absent(&self) -> Vec<String> {
        self.files.iter().filter(|(_, presence)| **presence == Presence::Absent).map(|(path, _)| path.clone()).collect()
    }

    /// Of a file that was not there some agents say that it was empty.
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

/// Whether a call of this kind may make a file that it names.
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
