//! The rules: what a command becomes, given how the session stands.
//!
//! Invariant: pure and total. The same session and command give the same answer, and a rejected command leaves no
//! trace. What must happen outside (starting an agent, sending it words) follows from the committed events, never from
//! here.

mod reports;

use std::collections::BTreeSet;

use crate::command::{Command, FirstPrompt, NewSession, TurnSummary, WhenBusy};
use crate::limits::{
    MAX_AGENT_TITLE_CHARS, MAX_CHOSEN_OPTIONS, MAX_ENV_HINT_CHARS, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_INTENT_CHARS,
    MAX_NAME_CHARS, MAX_PATH_BYTES, MAX_PROMPT_BYTES, MAX_QUEUED_BYTES, MAX_QUEUED_PROMPTS, MAX_REMEMBERED,
    MAX_TAG_CHARS, MAX_TAGS,
};
use crate::work::{click, fork};
use crate::{
    AgentState, Answerer, AppletToShow, Author, ContextError, ContextWish, Filing, FilingWish, Image, InteractionId,
    MAX_SUMMARY_CHARS, Marker, OpenRequest, Outcome, OutputId, PermissionAnswer, Request, Session, SessionEvent,
    SetOutcome, Stop, Turn, first_line, is_applet_line, one_line,
};
use reports::agent_reported;

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
    #[error(
        "a prompt takes at most {count} pictures with {bytes} bytes of Base64 in all, each a PNG, JPEG, GIF or WebP",
        count = MAX_IMAGES,
        bytes = MAX_IMAGE_BYTES
    )]
    ImagesInvalid,
    #[error("the agent is not there to be asked; resume the session first")]
    AgentNotReady,
    #[error("the agent does not want anybody to sign in")]
    NotSignedOut,
    #[error("{0} does not wait for an answer; it was answered or withdrawn")]
    RequestNotOpen(Request),
    #[error("the agent offers no such answer; choose one of: {offered}")]
    NoSuchOption { offered: String },
    #[error(transparent)]
    Context(#[from] ContextError),
    #[error(
        "nothing to remember: the agent asks for fields to be filled in, or does not tell all that it will use, so the \
         same could not be known again; answer without remembering"
    )]
    NothingToRemember,
    #[error("{max} answers are remembered, which is the most; forget one first", max = MAX_REMEMBERED)]
    RememberedFull,
    #[error("the session was imported and is read-only here; resume it with an agent, which then takes it over")]
    Imported,
    #[error("the session was not imported, or an agent has taken it over since")]
    NotImported,
    #[error("a later turn, {by}, offers a step of the same work; take that one")]
    NextSuperseded { by: Turn },
    #[error(
        "the block does not say which piece of work (`metaContext`) it belongs to, so it leads nowhere; ask the agent to offer it again"
    )]
    NextIncomplete,
    #[error("there is no turn {turn}; the newest is {newest}")]
    NoSuchTurn { turn: Turn, newest: Turn },
    #[error("{turn} is still running; fork from the turn before it, or wait for its end")]
    ForkOfRunningTurn { turn: Turn },
    #[error("the name of a piece of work is one line of 1 to {max} characters", max = MAX_NAME_CHARS)]
    WorkNameInvalid,
    #[error("another piece of work of this project has that name; choose another, or rename that one first")]
    WorkNameTaken,
    #[error("a tag is 1 to {max} letters, digits or any of - _ . /, without spaces", max = MAX_TAG_CHARS)]
    TagInvalid,
    #[error("the session would have {tags} tags, at most {max} are kept; take some away first", max = MAX_TAGS)]
    TooManyTags { tags: usize },
    #[error("its agent waits for an answer; answer it or stop the turn, then archive the session")]
    RequestsOpen,
    #[error("the output's path, command, type or hash is none that a tool of ours gives")]
    OutputInvalid,
    #[error("a directory is an absolute path of at most {max} bytes", max = MAX_PATH_BYTES)]
    DirectoryInvalid,
}

/// What `command` does to a session that stands like this; `None` if there is none yet.
pub fn decide(session: Option<&Session>, command: Command) -> Result<Vec<SessionEvent>, Rejection> {
    let Some(session) = session else {
        return match command {
            Command::Create(new) => create(new),
            _ => Err(Rejection::NoSuchSession),
        };
    };
    if session.row.deleted_at.is_some() {
        return match command {
            Command::Restore => Ok(vec![SessionEvent::SessionRestored {}]),
            // What the agent still says, and the server's own end, are not the person's wishes: nothing to refuse,
            // nothing to keep.
            Command::Agent(_) | Command::Withdraw { .. } | Command::Interrupt { .. } => Ok(Vec::new()),
            _ => Err(Rejection::SessionDeleted),
        };
    }
    match command {
        Command::Create(_) => Err(Rejection::SessionExists),
        Command::Change { name, env_hint, context, filing } => {
            let mut events = change(session, name, env_hint, filing)?;
            if let Some(wish) = context {
                events.extend(set_context(session, &wish, Marker::Person)?);
            }
            Ok(events)
        }
        Command::Start => match session.row.agent_state {
            // What it was to be sent was taken back meanwhile.
            AgentState::Stopped if session.queue.is_empty() => Ok(Vec::new()),
            AgentState::Starting | AgentState::Stopped if session.row.turns == Turn(0) => {
                Ok(vec![agent_state(AgentState::Starting, None)])
            }
            _ => Ok(Vec::new()),
        },
        Command::Click { offer, work, session, by } => click(&offer, work, session, by),
        Command::Fork { turn, session: begun, by } => fork(session, turn, begun, by),
        Command::SendPrompt { interaction_id, text, images, when_busy, by } => {
            send_prompt(session, Prompt { interaction_id, text, images, by }, when_busy)
        }
        Command::ChangePrompt { interaction_id, text, by } => {
            let old = session.find_queued(interaction_id).ok_or(Rejection::PromptNotQueued)?;
            check_prompt(&text, &old.images)?;
            check_queued_bytes(session, text.len().saturating_sub(old.text.len()))?;
            Ok(vec![SessionEvent::PromptChanged { interaction_id, text, by }])
        }
        Command::RemovePrompt { interaction_id } => {
            session.find_queued(interaction_id).ok_or(Rejection::PromptNotQueued)?;
            Ok(vec![SessionEvent::PromptRemoved { interaction_id }])
        }
        Command::Cancel => cancel(session),
        Command::Answer { request, answer } => answer_request(session, request, answer),
        Command::Withdraw { request } => Ok(withdraw_requests(session, |open| open.request == request)),
        Command::Resume { agent } => resume(session, agent),
        Command::SendPacket { text } => match session.row.running {
            Some(running) => Ok(vec![SessionEvent::ResumeSent { turn: running.turn, text }]),
            None => Err(Rejection::NoTurnRunning),
        },
        Command::SetOption { option, value } => match session.row.agent_state {
            AgentState::Ready | AgentState::Unresponsive => Ok(choose_option(session, option, value)),
            _ => Err(Rejection::AgentNotReady),
        },
        Command::SignIn { .. } => match session.row.agent_state {
            AgentState::SignedOut => Ok(Vec::new()),
            _ => Err(Rejection::NotSignedOut),
        },
        Command::MoveTo { cwd } => {
            check_directory(&cwd)?;
            Ok(vec![SessionEvent::SessionChanged {
                name: None,
                env_hint: None,
                agent: None,
                cwd: Some(cwd),
                intent: None,
                filing: Filing::default(),
            }])
        }
        Command::SetContext { wish, by } => set_context(session, &wish, by),
        Command::Prove { tool, facts } => match session.row.running {
            Some(running) if !facts.is_empty() => {
                Ok(vec![SessionEvent::FactProved { turn: running.turn, tool, entry: session.head, facts }])
            }
            Some(_) | None => Ok(Vec::new()),
        },
        Command::StoreOutput(output) => {
            output.check()?;
            let running = session.row.running.ok_or(Rejection::NoTurnRunning)?;
            Ok(vec![SessionEvent::OutputStored { turn: running.turn, output: *output }])
        }
        Command::ShowApplet { output, applet } => {
            output.check()?;
            applet.check()?;
            let turn = session.row.running.ok_or(Rejection::NoTurnRunning)?.turn;
            let AppletToShow { output: id, slug, title, params } = applet;
            let shown = SessionEvent::AppletShown { turn, output: id, slug, title, params };
            Ok(vec![SessionEvent::OutputStored { turn, output: *output }, shown])
        }
        Command::SaveApplet { slug, name } => match session.row.running {
            Some(running) if is_applet_line(&name) => {
                Ok(vec![SessionEvent::AppletSaved { turn: running.turn, slug, name }])
            }
            Some(_) => Err(Rejection::OutputInvalid),
            None => Err(Rejection::NoTurnRunning),
        },
        Command::RemoveOutputs { ids, reason, by } => {
            // Named twice, it is removed once.
            let ids: BTreeSet<OutputId> = ids.into_iter().collect();
            Ok(ids.into_iter().map(|id| SessionEvent::OutputRemoved { id, reason, by: by.clone() }).collect())
        }
        Command::SetIntent { intent } => {
            let intent = one_line(&intent, MAX_INTENT_CHARS);
            if intent == session.row.intent {
                return Ok(Vec::new());
            }
            Ok(vec![SessionEvent::SessionChanged {
                name: None,
                env_hint: None,
                agent: None,
                cwd: None,
                intent: Some(intent),
                filing: Filing::default(),
            }])
        }
        Command::Summarise(summaries) => Ok(summarise(session, summaries)),
        Command::SetTitle { title, by, turn, interaction_id } => {
            let title = first_line(&title, MAX_AGENT_TITLE_CHARS);
            if title.is_empty() || title == session.row.title {
                return Ok(Vec::new());
            }
            Ok(vec![SessionEvent::TitleSet { title, by, turn, interaction_id }])
        }
        Command::ImportPrompt { interaction_id, text, images, by } => {
            let is_imported = session.row.turns == Turn(0) || session.row.is_imported();
            match session.row.running {
                Some(_) => Err(Rejection::TurnRunning),
                None if is_imported => {
                    Ok(start_turn(session.row.turns.next(), Prompt { interaction_id, text, images, by }))
                }
                None => Err(Rejection::NotImported),
            }
        }
        Command::Import { tool, source, mark } => match session.row.running {
            Some(_) => Err(Rejection::TurnRunning),
            None => {
                let mut events = vec![SessionEvent::SessionImported { tool, source, mark }];
                // Nobody has to look at what was done elsewhere.
                events.extend(session.row.unobserved().then_some(SessionEvent::SessionObserved {}));
                Ok(events)
            }
        },
        Command::Observe if session.row.unobserved() => Ok(vec![SessionEvent::SessionObserved {}]),
        Command::Observe => Ok(Vec::new()),
        Command::Delete => match session.row.running {
            Some(_) => Err(Rejection::TurnRunning),
            None => {
                let mut events = withdraw_requests(session, |_| true);
                events.push(SessionEvent::SessionDeleted {});
                Ok(events)
            }
        },
        Command::Restore => Err(Rejection::SessionNotDeleted),
        Command::Agent(report) => Ok(agent_reported(session, report)),
        Command::Interrupt { reason } => Ok(interrupt(session, reason)),
    }
}

fn set_context(session: &Session, wish: &ContextWish, by: Marker) -> Result<Vec<SessionEvent>, Rejection> {
    let sets = &session.context.sets;
    let changes = wish.decide(sets)?.into_iter().filter(|change| change.outcome != SetOutcome::Unchanged);
    let mut changed: Vec<(String, Vec<String>)> = changes.map(|change| (change.set, change.items)).collect();
    let named = if by == Marker::Person { wish.named() } else { Vec::new() };
    for (set, named) in named {
        let marks = sets.marks(set);
        let is_confirmed = |item: &String| {
            named.contains(item) && marks.iter().any(|mark| mark.item == *item && mark.by != Marker::Person)
        };
        let at = changed.iter().position(|(changed, _)| changed == set);
        let items = at.map_or_else(|| sets.items(set), |at| changed[at].1.clone());
        // A mark keeps its first marker, so what the person confirms is taken out and put in again as theirs.
        if items.iter().any(is_confirmed) {
            let others = items.iter().filter(|item| !is_confirmed(item)).cloned().collect();
            match at {
                Some(at) => changed.insert(at, (set.to_owned(), others)),
                None => changed.extend([(set.to_owned(), others), (set.to_owned(), items)]),
            }
        }
    }
    Ok(changed.into_iter().map(|(set, items)| SessionEvent::ContextSet { set, items, by }).collect())
}

/// Turns that have not ended have nothing to be summed up.
fn summarise(session: &Session, summaries: Vec<TurnSummary>) -> Vec<SessionEvent> {
    let running = session.row.running.map(|running| running.turn);
    let ended = |turn: Turn| turn > Turn(0) && turn <= session.row.turns && Some(turn) != running;
    let summaries = summaries.into_iter().filter(|summary| ended(summary.turn));
    summaries
        .map(|TurnSummary { turn, summary, by, extent }| {
            let summary = one_line(&summary, MAX_SUMMARY_CHARS);
            SessionEvent::SummarySet { turn, summary, by, extent }
        })
        .collect()
}

fn create(new: NewSession) -> Result<Vec<SessionEvent>, Rejection> {
    let NewSession { agent, cwd, project, name, work, from, first, options } = new;
    check_name(&name)?;
    options.iter().flat_map(|(option, value)| [option, value]).try_for_each(|text| check_name(text))?;
    check_directory(&cwd)?;
    check_directory(&project)?;
    let mut events = vec![SessionEvent::SessionCreated { agent, cwd, project, name, work, from, options }];
    match first {
        // Its agent is started once this is durable, by whoever began it or, after a crash, by the next run.
        Some(FirstPrompt { interaction_id, text, images, by }) => {
            check_prompt(&text, &images)?;
            events.push(SessionEvent::PromptQueued { interaction_id, text, images, by });
        }
        None => events.push(agent_state(AgentState::Starting, None)),
    }
    Ok(events)
}

fn agent_state(state: AgentState, reason: Option<String>) -> SessionEvent {
    SessionEvent::AgentStateChanged { state, reason, attached: None, methods: Vec::new(), remind: false }
}

/// A choice that is new is noted, unless it is none that an agent could have offered.
fn choose_option(session: &Session, option: String, value: String) -> Vec<SessionEvent> {
    let chosen = &session.row.options;
    let is_room = chosen.len() < MAX_CHOSEN_OPTIONS || chosen.contains_key(&option);
    let is_named = check_name(&option).is_ok() && check_name(&value).is_ok();
    if chosen.get(&option) == Some(&value) || !is_room || !is_named {
        return Vec::new();
    }
    vec![SessionEvent::AgentOptionChosen { option, value }]
}

fn change(
    session: &Session,
    name: Option<String>,
    env_hint: Option<String>,
    filing: FilingWish,
) -> Result<Vec<SessionEvent>, Rejection> {
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
    let filing = filing.decide(&session.row)?;
    if name.is_none() && env_hint.is_none() && filing.is_empty() {
        return Ok(Vec::new());
    }
    // Whoever puts it out of sight has seen it: nothing unseen stays where nobody looks.
    let is_seen = filing.archived == Some(true) && session.row.unobserved();
    let changed = SessionEvent::SessionChanged { name, env_hint, agent: None, cwd: None, intent: None, filing };
    Ok(std::iter::once(changed).chain(is_seen.then_some(SessionEvent::SessionObserved {})).collect())
}

/// What is sent to the agent.
struct Prompt {
    interaction_id: InteractionId,
    text: String,
    images: Vec<Image>,
    by: Author,
}

fn send_prompt(session: &Session, prompt: Prompt, when_busy: WhenBusy) -> Result<Vec<SessionEvent>, Rejection> {
    if session.row.is_imported() {
        return Err(Rejection::Imported);
    }
    check_prompt(&prompt.text, &prompt.images)?;
    let busy = session.row.running.is_some() || !session.queue.is_empty();
    if busy && when_busy == WhenBusy::Reject {
        let running = session.row.running.is_some();
        return Err(if running { Rejection::TurnRunning } else { Rejection::PromptsWaiting });
    }
    if session.row.agent_state == AgentState::Ready && !busy {
        return Ok(start_turn(session.row.turns.next(), prompt));
    }
    if session.queue.len() >= MAX_QUEUED_PROMPTS {
        return Err(Rejection::QueueFull);
    }
    check_queued_bytes(session, prompt.text.len())?;
    let waiting: usize = session.queue.iter().map(|queued| image_bytes(&queued.images)).sum();
    if waiting + image_bytes(&prompt.images) > MAX_IMAGE_BYTES {
        return Err(Rejection::QueueFull);
    }
    let Prompt { interaction_id, text, images, by } = prompt;
    let mut events = vec![SessionEvent::PromptQueued { interaction_id, text, images, by }];
    match session.row.agent_state {
        // Whoever writes again after a failure or a sign-in wants it tried again.
        AgentState::Stopped | AgentState::Failed | AgentState::SignedOut => events.extend(start_again(session)),
        // Left over from an interruption: what waits goes first, then this.
        AgentState::Ready if session.row.running.is_none() => events.extend(start_next(session)),
        AgentState::Ready | AgentState::Starting | AgentState::Unresponsive => (),
    }
    Ok(events)
}

fn answer_request(
    session: &Session,
    request: Request,
    answer: PermissionAnswer,
) -> Result<Vec<SessionEvent>, Rejection> {
    let open = session.row.open_requests.iter().find(|open| open.request == request);
    let Some(open) = open else { return Err(Rejection::RequestNotOpen(request)) };
    let offered = |id: &str| open.options.iter().find(|option| option.id == id);
    let Some(option) = answer.option.as_deref().and_then(offered) else {
        let ids: Vec<&str> = open.options.iter().map(|option| option.id.as_str()).collect();
        return Err(Rejection::NoSuchOption { offered: ids.join(", ") });
    };
    if answer.remembered.is_some() && open.memorable.is_none() {
        return Err(Rejection::NothingToRemember);
    }
    let answer = PermissionAnswer { kind: Some(option.kind), ..answer };
    let turn = open.turn(session.row.running.map(|running| running.turn));
    Ok(vec![SessionEvent::PermissionAnswered { turn, request, answer }])
}

fn cancel(session: &Session) -> Result<Vec<SessionEvent>, Rejection> {
    let mut events = withdraw_requests(session, |_| true);
    if session.row.running.is_none() {
        // What the session was begun with is on its way, although its agent is not there yet.
        let first = session.beginning_prompt().map(|prompt| prompt.interaction_id);
        events.extend(first.map(|interaction_id| SessionEvent::PromptRemoved { interaction_id }));
        if events.is_empty() {
            return Err(Rejection::NoTurnRunning);
        }
    }
    Ok(events)
}

fn resume(session: &Session, agent: Option<String>) -> Result<Vec<SessionEvent>, Rejection> {
    if session.row.running.is_some() {
        return Err(Rejection::TurnRunning);
    }
    let mut events = Vec::new();
    let other = match agent {
        // Its own tool takes it over like any other agent: the turns that follow are appended here.
        agent if session.row.is_imported() => Some(agent.unwrap_or_else(|| session.row.agent.clone())),
        agent => agent.filter(|agent| *agent != session.row.agent),
    };
    if let Some(agent) = other {
        events = interrupt(session, "handed_over".to_owned());
        events.push(SessionEvent::SessionChanged {
            name: None,
            env_hint: None,
            agent: Some(agent),
            cwd: None,
            intent: None,
            filing: Filing::default(),
        });
        events.push(agent_state(AgentState::Starting, None));
        return Ok(events);
    }
    match session.row.agent_state {
        AgentState::Starting | AgentState::Ready | AgentState::Unresponsive => (),
        AgentState::Stopped | AgentState::Failed | AgentState::SignedOut => events.extend(start_again(session)),
    }
    Ok(events)
}

/// Another process of the agent knows nothing of what this one asked.
fn start_again(session: &Session) -> Vec<SessionEvent> {
    let mut events = withdraw_requests(session, |_| true);
    events.push(agent_state(AgentState::Starting, None));
    events
}

/// Nobody will answer what is open of these.
fn withdraw_requests(session: &Session, which: impl Fn(&OpenRequest) -> bool) -> Vec<SessionEvent> {
    let running = session.row.running.map(|running| running.turn);
    let withdrawn = PermissionAnswer { option: None, kind: None, fields: None, by: Answerer::Nobody, remembered: None };
    let open = session.row.open_requests.iter().filter(|open| which(open));
    open.map(|open| SessionEvent::PermissionAnswered {
        turn: open.turn(running),
        request: open.request,
        answer: withdrawn.clone(),
    })
    .collect()
}

fn interrupt(session: &Session, reason: String) -> Vec<SessionEvent> {
    let mut events = withdraw_requests(session, |_| true);
    if let Some(running) = session.row.running {
        let stop = Stop { outcome: Outcome::Interrupted, reason: Some(reason.clone()) };
        events.push(SessionEvent::TurnEnded { turn: running.turn, stop });
    }
    match session.row.agent_state {
        AgentState::Starting | AgentState::Ready | AgentState::Unresponsive => {
            events.push(agent_state(AgentState::Stopped, Some(reason)));
        }
        AgentState::Stopped | AgentState::Failed | AgentState::SignedOut => (),
    }
    events
}

fn start_next(session: &Session) -> Vec<SessionEvent> {
    match session.queue.first() {
        Some(first) => start_turn(
            session.row.turns.next(),
            Prompt {
                interaction_id: first.interaction_id,
                text: first.text.clone(),
                images: first.images.clone(),
                by: first.by.clone(),
            },
        ),
        None => Vec::new(),
    }
}

fn start_turn(turn: Turn, prompt: Prompt) -> Vec<SessionEvent> {
    let Prompt { interaction_id, text, images, by } = prompt;
    vec![
        SessionEvent::TurnStarted { turn, interaction_id },
        SessionEvent::PromptSent { interaction_id, text, images, by },
    ]
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

/// Whether a prompt will do, by whichever door it comes. A picture says something without words, too.
fn check_prompt(text: &str, images: &[Image]) -> Result<(), Rejection> {
    if text.trim().is_empty() && images.is_empty() {
        return Err(Rejection::PromptEmpty);
    }
    if text.len() > MAX_PROMPT_BYTES {
        return Err(Rejection::PromptTooLong { bytes: text.len() });
    }
    check_images(images)
}

fn check_images(images: &[Image]) -> Result<(), Rejection> {
    const KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let is_base64 = |data: &str| {
        !data.is_empty() && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
    };
    let fits = images.len() <= MAX_IMAGES && image_bytes(images) <= MAX_IMAGE_BYTES;
    // One that is kept beside the log was looked at when it came.
    let is_picture = |image: &Image| image.body.is_some() || is_base64(&image.data);
    if fits && images.iter().all(|image| KINDS.contains(&image.mime_type.as_str()) && is_picture(image)) {
        return Ok(());
    }
    Err(Rejection::ImagesInvalid)
}

fn image_bytes(images: &[Image]) -> usize {
    images.iter().map(Image::base64_bytes).sum()
}

/// Whether a session could have been begun with these names and directories: one that comes from elsewhere may say anything.
pub fn is_sound_session(names: [&str; 2], directories: [&str; 2]) -> bool {
    names.iter().all(|name| check_name(name).is_ok()) && directories.iter().all(|path| check_directory(path).is_ok())
}

fn check_directory(path: &str) -> Result<(), Rejection> {
    if !path.starts_with('/') || path.len() > MAX_PATH_BYTES || path.contains('\0') {
        return Err(Rejection::DirectoryInvalid);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
