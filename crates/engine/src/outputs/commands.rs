//! The commands that are to be shown: those that wait for the person, that run, and the last ones that ended.
//!
//! Invariant: so many at once, for a session and for the server. A command belongs to the turn in which it was asked for; the
//! session's task cancels it when that turn is cancelled or over.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{OutputId, OutputRow, SessionId, Turn};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::OutputError;
use super::printed::{Piece, Printed};

/// How many commands of one session may wait and run at once.
pub(crate) const SESSION_COMMANDS: usize = 4;
/// How many of all sessions: each may hold as much as is kept of a command.
pub(crate) const ALL_COMMANDS: usize = 16;
/// How many of a session that have ended are remembered, so that it can be said how.
const ENDED_KEPT: usize = 32;

/// How a command stands.
#[derive(Debug, Clone)]
pub enum CommandState {
    /// The person has not answered yet.
    Waiting,
    /// It was allowed.
    Running,
    /// Nothing more will happen.
    Ended(CommandEnd),
}

/// What became of a command.
#[derive(Debug, Clone)]
pub enum CommandEnd {
    /// It ran, and what it printed is kept.
    Shown(Box<OutputRow>),
    /// The person, or a rule, said no; it did not run.
    Refused,
    /// Its turn was cancelled or ended before it was stored, or nobody could be asked.
    Cancelled,
    /// It could not be started or stored.
    Failed(Arc<OutputError>),
}

/// A piece of what a running command prints, for those who follow its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPreview {
    /// In which turn.
    pub turn: Turn,
    /// The output that it will be stored as.
    pub output: OutputId,
    /// The command.
    pub command: Arc<str>,
    /// How many bytes came before this piece.
    pub offset: u64,
    /// The piece.
    pub text: String,
}

/// A command that is to be shown.
pub(crate) struct ShownCommand {
    pub(crate) id: OutputId,
    pub(crate) session: SessionId,
    pub(crate) turn: Turn,
    pub(crate) command: Arc<str>,
    /// Where it runs; an absolute path.
    pub(crate) cwd: String,
    pub(crate) cancelled: CancellationToken,
    state: watch::Sender<CommandState>,
    printed: Mutex<Printed>,
}

impl fmt::Debug for ShownCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownCommand").field("id", &self.id).field("session", &self.session).finish_non_exhaustive()
    }
}

impl ShownCommand {
    pub(crate) fn state(&self) -> CommandState {
        self.state.borrow().clone()
    }

    pub(crate) fn set_state(&self, state: CommandState) {
        self.state.send_replace(state);
    }

    fn has_ended(&self) -> bool {
        matches!(*self.state.borrow(), CommandState::Ended(_))
    }

    /// Waits until nothing more will happen.
    pub(crate) async fn ended(&self) {
        // The sender is in `self`, so the channel is open.
        drop(self.state.subscribe().wait_for(|state| matches!(state, CommandState::Ended(_))).await);
    }

    pub(crate) fn printed(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a follower gets that has been sent everything up to an offset, or nothing at all yet, and where it then is.
    /// Nothing, unless the command runs: before, it may never, and after, it is stored.
    pub(crate) fn preview(&self, sent: Option<u64>) -> Option<(OutputPreview, u64)> {
        if !matches!(*self.state.borrow(), CommandState::Running) {
            return None;
        }
        let piece = self.printed().piece(sent.unwrap_or(0));
        // That it runs is worth saying before it prints anything.
        let begun = Piece { offset: 0, text: String::new(), end: 0 };
        let Piece { offset, text, end } = piece.or_else(|| sent.is_none().then_some(begun))?;
        let (turn, output, command) = (self.turn, self.id, Arc::clone(&self.command));
        Some((OutputPreview { turn, output, command, offset, text }, end))
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Commands(Mutex<HashMap<SessionId, Vec<Arc<ShownCommand>>>>);

/// What a command is about before it has a place among the others.
pub(crate) struct NewCommand {
    pub(crate) id: OutputId,
    pub(crate) session: SessionId,
    pub(crate) turn: Turn,
    pub(crate) command: String,
    pub(crate) cwd: String,
    /// How many bytes are kept of what it prints.
    pub(crate) max_bytes: usize,
}

impl Commands {
    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<Arc<ShownCommand>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for a command.
    pub(crate) fn begin(&self, new: NewCommand) -> Result<Arc<ShownCommand>, OutputError> {
        let mut sessions = self.all();
        let active = |commands: &Vec<Arc<ShownCommand>>| commands.iter().filter(|command| !command.has_ended()).count();
        let of_session = sessions.get(&new.session).map_or(0, active);
        if of_session >= SESSION_COMMANDS {
            return Err(OutputError::TooManyCommands { max: SESSION_COMMANDS, of: "this session" });
        }
        if sessions.values().map(active).sum::<usize>() >= ALL_COMMANDS {
            return Err(OutputError::TooManyCommands { max: ALL_COMMANDS, of: "all sessions" });
        }
        let NewCommand { id, session, turn, command, cwd, max_bytes } = new;
        let command = Arc::new(ShownCommand {
            id,
            session,
            turn,
            command: command.into(),
            cwd,
            cancelled: CancellationToken::new(),
            state: watch::Sender::new(CommandState::Waiting),
            printed: Mutex::new(Printed::new(max_bytes)),
        });
        let commands = sessions.entry(session).or_default();
        let surplus = (commands.len() - of_session).saturating_sub(ENDED_KEPT);
        let mut seen = 0;
        commands.retain(|command| {
            seen += usize::from(command.has_ended());
            !command.has_ended() || seen > surplus
        });
        commands.push(Arc::clone(&command));
        Ok(command)
    }

    pub(crate) fn find(&self, session: SessionId, id: OutputId) -> Option<Arc<ShownCommand>> {
        self.all().get(&session)?.iter().find(|command| command.id == id).cloned()
    }

    /// Those of a session that have not ended.
    pub(crate) fn active(&self, session: SessionId) -> Vec<Arc<ShownCommand>> {
        let sessions = self.all();
        let commands = sessions.get(&session).into_iter().flatten();
        commands.filter(|command| !command.has_ended()).cloned().collect()
    }

    /// Cancels those of a session that do not belong to the turn that goes on, if one does; how many have yet to end.
    pub(crate) fn cancel(&self, session: SessionId, goes_on: Option<Turn>) -> usize {
        let active = self.active(session).into_iter().filter(|command| Some(command.turn) != goes_on);
        active.inspect(|command| command.cancelled.cancel()).count()
    }

    /// Waits no longer for those of a session that have not ended; they were cancelled before.
    pub(crate) fn abandon(&self, session: SessionId) {
        for command in self.active(session) {
            tracing::warn!(%session, output = %command.id, "a command did not end with its turn");
        }
        if let Some(commands) = self.all().get_mut(&session) {
            commands.retain(|command| command.has_ended());
        }
    }

    /// The session has no task any more: nobody asks how they ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.cancel(session, None);
        self.all().remove(&session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(session: u8, id: u8) -> NewCommand {
        let (session, id) = (SessionId::from_bytes([session; 16]), OutputId::from_bytes([id; 16]));
        let (command, cwd) = ("make".to_owned(), "/".to_owned());
        NewCommand { id, session, turn: Turn(1), command, cwd, max_bytes: 100 }
    }

    #[test]
    fn so_many_at_once_and_one_more_when_one_has_ended() {
        let commands = Commands::default();
        let first = commands.begin(new(1, 0)).unwrap();
        for id in 1..4 {
            commands.begin(new(1, id)).unwrap();
        }
        assert!(matches!(commands.begin(new(1, 9)), Err(OutputError::TooManyCommands { max: SESSION_COMMANDS, .. })));
        first.set_state(CommandState::Ended(CommandEnd::Refused));
        commands.begin(new(1, 9)).unwrap();
        for session in 2..5 {
            for id in 0..4 {
                commands.begin(new(session, id)).unwrap();
            }
        }
        assert!(matches!(commands.begin(new(9, 9)), Err(OutputError::TooManyCommands { max: ALL_COMMANDS, .. })));
        commands.forget(first.session);
        commands.begin(new(9, 9)).unwrap();
    }

    #[test]
    fn the_last_that_ended_are_remembered() {
        let commands = Commands::default();
        for id in 0..60 {
            commands.begin(new(1, id)).unwrap().set_state(CommandState::Ended(CommandEnd::Cancelled));
        }
        let session = SessionId::from_bytes([1; 16]);
        let known = (0..60).filter(|id| commands.find(session, OutputId::from_bytes([*id; 16])).is_some()).count();
        assert_eq!(known, ENDED_KEPT + 1);
        assert!(commands.find(session, OutputId::from_bytes([59; 16])).is_some());
        assert!(commands.find(SessionId::from_bytes([2; 16]), OutputId::from_bytes([59; 16])).is_none());
    }

    #[test]
    fn a_turn_that_goes_on_keeps_its_commands() {
        let commands = Commands::default();
        let command = commands.begin(new(1, 1)).unwrap();
        assert_eq!(commands.cancel(command.session, Some(Turn(1))), 0);
        assert!(!command.cancelled.is_cancelled());
        assert_eq!(commands.cancel(command.session, Some(Turn(2))), 1);
        assert!(command.cancelled.is_cancelled());
    }

    #[test]
    fn a_follower_hears_that_it_runs_then_what_it_prints_and_nothing_once_it_ended() {
        let commands = Commands::default();
        let command = commands.begin(new(1, 1)).unwrap();
        assert_eq!(command.preview(None), None);
        command.set_state(CommandState::Running);
        let (first, sent) = command.preview(None).unwrap();
        assert_eq!((first.offset, first.text.as_str(), sent), (0, "", 0));
        assert_eq!(command.preview(Some(0)), None);
        assert!(command.printed().push(b"hi\n"));
        let (piece, sent) = command.preview(Some(0)).unwrap();
        assert_eq!((piece.text.as_str(), sent), ("hi\n", 3));
        command.set_state(CommandState::Ended(CommandEnd::Cancelled));
        assert_eq!(command.preview(None), None);
    }
}
