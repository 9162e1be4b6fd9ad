//! The rules: what a command becomes, given how the session stands.
//!
//! Invariant: pure and total. The same session and command give the same answer, and a rejected command leaves no
//! trace. What must happen outside (starting an agent, sending it words) follows from the committed events, never from
//! here.

use crate::command::{AgentReport, Command, NewSession, WhenBusy};
use crate::limits::{
    MAX_ENV_HINT_CHARS, MAX_NAME_CHARS, MAX_PATH_BYTES, MAX_PROMPT_BYTES, MAX_QUEUED_BYTES, MAX_QUEUED_PROMPTS,
};
use crate::{AgentState, Event, InteractionId, Outcome, Session, Stop, Turn};

/// Why a command is refused. Each says what would make it pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Rejection {
    #[error("the session exists already")]
    SessionExists,
    #[error("there is no such session")]
    NoSuchSession,
    #[error("the session was deleted; restore it first")]
    SessionDeleted,
    #[error("the session is not deleted")]
    SessionNotDeleted,
    #[error("a turn is running; wait for its end or stop it")]
    TurnRunning,
    #[error("prompts are waiting; send yours to wait with them, or remove them first")]
    PromptsWaiting,
    #[error("no turn is running")]
    NoTurnRunning,
    #[error("the prompt is not waiting in the queue; it may have been sent or removed")]
    PromptNotQueued,
    #[error("the prompt is empty")]
    PromptEmpty,
    #[error("the prompt has {bytes} bytes, at most {max} are taken", max = MAX_PROMPT_BYTES)]
    PromptTooLong { bytes: usize },
    #[error(
        "at most {prompts} prompts with {bytes} bytes in all may wait; let some be answered, or remove one",
        prompts = MAX_QUEUED_PROMPTS,
        bytes = MAX_QUEUED_BYTES
    )]
    QueueFull,
    #[error("a name is one line of at most {max} characters, without control characters", max = MAX_NAME_CHARS)]
    NameInvalid,
    #[error("an environment hint has at most {max} characters and no control characters but line ends", max = MAX_ENV_HINT_CHARS)]
    EnvHintInvalid,
    #[error("a directory is an absolute path of at most {max} bytes", max = MAX_PATH_BYTES)]
    DirectoryInvalid,
}

/// What `command` does to a session that stands like this; `None` if there is none yet.
pub fn decide(session: Option<&Session>, command: Command) -> Result<Vec<Event>, Rejection> {
    let Some(session) = session else {
        return match command {
            Command::Create(new) => create(new),
            _ => Err(Rejection::NoSuchSession),
        };
    };
    if session.row.deleted_at.is_some() {
        return match command {
            Command::Restore => Ok(vec![Event::SessionRestored {}]),
            // What the agent still says, and the server's own end, are not the person's wishes: nothing to refuse,
            // nothing to keep.
            Command::Agent(_) | Command::Interrupt { .. } => Ok(Vec::new()),
            _ => Err(Rejection::SessionDeleted),
        };
    }
    match command {
        Command::Create(_) => Err(Rejection::SessionExists),
        Command::Change { name, env_hint } => change(session, name, env_hint),
        Command::SendPrompt { interaction_id, text, when_busy } => {
            send_prompt(session, interaction_id, text, when_busy)
        }
        Command::ChangePrompt { interaction_id, text } => {
            check_prompt(&text)?;
            let old = session.find_queued(interaction_id).ok_or(Rejection::PromptNotQueued)?;
            check_queued_bytes(session, text.len().saturating_sub(old.text.len()))?;
            Ok(vec![Event::PromptChanged { interaction_id, text }])
        }
        Command::RemovePrompt { interaction_id } => {
            session.find_queued(interaction_id).ok_or(Rejection::PromptNotQueued)?;
            Ok(vec![Event::PromptRemoved { interaction_id }])
        }
        Command::Cancel => match session.row.running {
            Some(_) => Ok(Vec::new()),
            None => Err(Rejection::NoTurnRunning),
        },
        Command::Observe if session.row.unobserved() => Ok(vec![Event::SessionObserved {}]),
        Command::Observe => Ok(Vec::new()),
        Command::Delete => match session.row.running {
            Some(_) => Err(Rejection::TurnRunning),
            None => Ok(vec![Event::SessionDeleted {}]),
        },
        Command::Restore => Err(Rejection::SessionNotDeleted),
        Command::Agent(report) => Ok(agent_reported(session, report)),
        Command::Interrupt { reason } => Ok(interrupt(session, reason)),
    }
}

fn create(new: NewSession) -> Result<Vec<Event>, Rejection> {
    let NewSession { agent, cwd, project, name } = new;
    check_name(&name)?;
    for path in [&cwd, &project] {
        if !path.starts_with('/') || path.len() > MAX_PATH_BYTES || path.contains('\0') {
            return Err(Rejection::DirectoryInvalid);
        }
    }
    Ok(vec![
        Event::SessionCreated { agent, cwd, project, name },
        Event::AgentStateChanged { state: AgentState::Starting, reason: None },
    ])
}

fn change(session: &Session, name: Option<String>, env_hint: Option<String>) -> Result<Vec<Event>, Rejection> {
    if let Some(name) = &name {
        check_name(name)?;
    }
    if let Some(hint) = &env_hint
        && (hint.chars().count() > MAX_ENV_HINT_CHARS || hint.chars().any(|c| c.is_control() && c != '\n' && c != '\t'))
    {
        return Err(Rejection::EnvHintInvalid);
    }
    let name = name.filter(|name| *name != session.row.name);
    let env_hint = env_hint.filter(|hint| *hint != session.row.env_hint);
    if name.is_none() && env_hint.is_none() {
        return Ok(Vec::new());
    }
    Ok(vec![Event::SessionChanged { name, env_hint }])
}

fn send_prompt(
    session: &Session,
    interaction_id: InteractionId,
    text: String,
    when_busy: WhenBusy,
) -> Result<Vec<Event>, Rejection> {
    check_prompt(&text)?;
    let busy = session.row.running.is_some() || !session.queue.is_empty();
    if busy && when_busy == WhenBusy::Reject {
        let running = session.row.running.is_some();
        return Err(if running { Rejection::TurnRunning } else { Rejection::PromptsWaiting });
    }
    match session.row.agent_state {
        AgentState::Ready if !busy => return Ok(start_turn(session.row.turns.next(), interaction_id, text)),
        AgentState::Ready | AgentState::Starting | AgentState::Stopped | AgentState::Failed => (),
    }
    if session.queue.len() >= MAX_QUEUED_PROMPTS {
        return Err(Rejection::QueueFull);
    }
    check_queued_bytes(session, text.len())?;
    let mut events = vec![Event::PromptQueued { interaction_id, text }];
    match session.row.agent_state {
        AgentState::Stopped | AgentState::Failed => {
            events.push(Event::AgentStateChanged { state: AgentState::Starting, reason: None });
        }
        // Left over from an interruption: what waits goes first, then this.
        AgentState::Ready if session.row.running.is_none() => {
            let first = session.queue.first().expect("an idle session that is busy has a queue");
            events.extend(start_turn(session.row.turns.next(), first.interaction_id, first.text.clone()));
        }
        AgentState::Ready | AgentState::Starting => (),
    }
    Ok(events)
}

fn agent_reported(session: &Session, report: AgentReport) -> Vec<Event> {
    let running = session.row.running;
    match report {
        AgentReport::Ready => {
            let mut events = vec![Event::AgentStateChanged { state: AgentState::Ready, reason: None }];
            if running.is_none() {
                events.extend(start_next(session));
            }
            events
        }
        // What comes after a turn's end belongs to no turn.
        AgentReport::Text { block, text } => match running {
            Some(running) if !text.is_empty() => vec![Event::TextPart { turn: running.turn, block, text }],
            Some(_) | None => Vec::new(),
        },
        AgentReport::Stopped(stop) => match running {
            Some(running) => {
                let mut events = vec![Event::TurnEnded { turn: running.turn, stop }];
                events.extend(start_next(session));
                events
            }
            None => Vec::new(),
        },
        AgentReport::Gone => interrupt(session, "agent_gone".to_owned()),
        AgentReport::Failed { reason } => {
            let mut events = Vec::new();
            if let Some(running) = running {
                let stop = Stop { outcome: Outcome::Failed, reason: Some(reason.clone()) };
                events.push(Event::TurnEnded { turn: running.turn, stop });
            }
            events.push(Event::AgentStateChanged { state: AgentState::Failed, reason: Some(reason) });
            events
        }
    }
}

fn interrupt(session: &Session, reason: String) -> Vec<Event> {
    let mut events = Vec::new();
    if let Some(running) = session.row.running {
        let stop = Stop { outcome: Outcome::Interrupted, reason: Some(reason.clone()) };
        events.push(Event::TurnEnded { turn: running.turn, stop });
    }
    match session.row.agent_state {
        AgentState::Starting | AgentState::Ready => {
            events.push(Event::AgentStateChanged { state: AgentState::Stopped, reason: Some(reason) });
        }
        AgentState::Stopped | AgentState::Failed => (),
    }
    events
}

fn start_next(session: &Session) -> Vec<Event> {
    match session.queue.first() {
        Some(first) => start_turn(session.row.turns.next(), first.interaction_id, first.text.clone()),
        None => Vec::new(),
    }
}

fn start_turn(turn: Turn, interaction_id: InteractionId, text: String) -> Vec<Event> {
    vec![Event::TurnStarted { turn, interaction_id }, Event::PromptSent { interaction_id, text }]
}

/// A queue that is sent whole to every follower has to stay small.
fn check_queued_bytes(session: &Session, added: usize) -> Result<(), Rejection> {
    let waiting: usize = session.queue.iter().map(|prompt| prompt.text.len()).sum();
    if waiting + added > MAX_QUEUED_BYTES { Err(Rejection::QueueFull) } else { Ok(()) }
}

/// Whether `name` will do as the name of a session or of an agent.
pub fn check_name(name: &str) -> Result<(), Rejection> {
    if name.chars().count() > MAX_NAME_CHARS || name.chars().any(char::is_control) {
        return Err(Rejection::NameInvalid);
    }
    Ok(())
}

fn check_prompt(text: &str) -> Result<(), Rejection> {
    if text.trim().is_empty() {
        return Err(Rejection::PromptEmpty);
    }
    if text.len() > MAX_PROMPT_BYTES {
        return Err(Rejection::PromptTooLong { bytes: text.len() });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
