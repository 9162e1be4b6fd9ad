//! Finds the changes of rows that an entry makes.
//!
//! Invariant: the folds here are the only makers of [`RowChange`]s. A store applies them in the transaction that appends the
//! entry, and a rebuild runs the same function over the log, so the tables can never say what the log does not.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{
    AppletGrantsRow, AppletName, BodyRef, BodyRow, Clicked, Context, Entry, Event, Extent, Fact, FactShape,
    InteractionId, MAX_BODY_BYTES, Mark, NextId, NextRow, OutputId, OutputRow, ProvedFact, QueuedPrompt, RememberedId,
    RememberedRow, Seq, ServerEvent, Session, SessionEvent, SessionId, SessionRow, Stop, StreamId, Summary, Tally,
    Timestamp, TitleRow, TokenId, TokenRow, Turn, UsageRow, WorkEvent, WorkId, WorkRow, first_line, usage::usage_rows,
};

const PROMPT_LINE_CHARS: usize = 100;

/// One change of one row; each is one statement in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the rows they change")]
pub enum RowChange {
    /// `before` is the row as the entries before this one left it; `None` if they left none.
    PutSession {
        before: Option<Arc<SessionRow>>,
        row: Arc<SessionRow>,
    },
    StartTurn(TurnRow),
    EndTurn {
        session: SessionId,
        turn: Turn,
        stop: Stop,
        ended_at: Timestamp,
        last_seq: Seq,
        /// What it was about, if that was found out in the same part.
        summary: Option<Summary>,
        extent: Option<Extent>,
    },
    PutPrompt {
        session: SessionId,
        prompt: QueuedPrompt,
    },
    RemovePrompt {
        session: SessionId,
        interaction_id: InteractionId,
    },
    PutSet {
        session: SessionId,
        set: String,
        marks: Vec<Mark>,
    },
    PutFact {
        session: SessionId,
        name: String,
        shape: FactShape,
        fact: ProvedFact,
    },
    RemoveFact {
        session: SessionId,
        name: String,
        value: String,
    },
    /// The context changed here; what it was as of a turn is found by these.
    NoteContext {
        session: SessionId,
        seq: Seq,
    },
    /// The newest [`crate::MAX_TITLES`] stay: each takes the place of the one so many before it.
    PutTitle(TitleRow),
    /// An agent is in this conversation of its own with the session, from now on; those before stay.
    PutAttachment {
        session: SessionId,
        agent: String,
        agent_session: String,
    },
    PutSummary {
        session: SessionId,
        turn: Turn,
        summary: Summary,
        extent: Option<Extent>,
    },
    PutUsage(UsageRow),
    PutTally {
        session: SessionId,
        tally: Box<Tally>,
    },
    RemoveUsage {
        session: SessionId,
        turn: Turn,
        nth: u32,
    },
    PutOutput(Box<OutputRow>),
    /// An entry names this body.
    PutBody(BodyRow),
    RemoveOutput {
        session: SessionId,
        id: OutputId,
    },
    PutNext(NextRow),
    ClickNext {
        session: SessionId,
        id: NextId,
        clicked: Clicked,
    },
    PutWork(WorkRow),
    /// The name leads to it from now on; the ones it had still do.
    NameWork {
        project: String,
        name: String,
        id: WorkId,
    },
    RenameWork {
        id: WorkId,
        name: String,
    },
    TouchWork {
        id: WorkId,
        added_at: Timestamp,
    },
    RemoveWork {
        id: WorkId,
    },
    /// No name leads to it any more.
    ForgetWorkNames {
        id: WorkId,
    },
    PutToken(TokenRow),
    RemoveToken {
        id: TokenId,
    },
    PutRemembered(RememberedRow),
    RemoveRemembered {
        id: RememberedId,
    },
    PutGrants(AppletGrantsRow),
    RemoveGrants {
        applet: AppletName,
    },
}

/// A turn in the contents; its words are in the log between `first_seq` and `last_seq`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// The session it belongs to.
    pub session: SessionId,
    /// Its number.
    pub turn: Turn,
    /// Its prompt's id.
    pub interaction_id: InteractionId,
    /// The prompt's first line.
    pub prompt_line: String,
    /// How it ended; `None` while it runs.
    pub stop: Option<Stop>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Its first entry.
    pub first_seq: Seq,
    /// Its last entry, but for summaries.
    pub last_seq: Option<Seq>,
    /// What it was about, once that is known.
    pub summary: Option<Summary>,
    /// How much there is of it, once it has ended.
    pub extent: Option<Extent>,
}

impl TurnRow {
    /// It has ended.
    pub fn end(&mut self, stop: Stop, ended_at: Timestamp, last_seq: Seq) {
        (self.stop, self.ended_at, self.last_seq) = (Some(stop), Some(ended_at), Some(last_seq));
    }

    /// It has a summary. A later one may say nothing of how much there is of the turn; then what was said before stays.
    pub fn summarise(&mut self, summary: Summary, extent: Option<Extent>) {
        (self.summary, self.extent) = (Some(summary), extent.or(self.extent));
    }
}

/// Folds an entry of any stream: the session after it, if it is of one, and what changes in the tables.
pub fn fold(stream: StreamId, before: Option<Session>, entry: &Entry<Event>) -> (Option<Session>, Vec<RowChange>) {
    let Entry { seq, at, ref event } = *entry;
    match (stream, event) {
        (StreamId::Session(id), Event::Session(event)) => fold_session(id, before, Entry { seq, at, event }),
        (StreamId::Work, Event::Work(event)) => (None, fold_work(Entry { seq, at, event })),
        (StreamId::Server, Event::Server(event)) => (None, fold_server(Entry { seq, at, event })),
        // An event is decoded as one of its stream's.
        (StreamId::Session(_) | StreamId::Work | StreamId::Server, _) => (before, Vec::new()),
    }
}

/// Folds an entry of a session onto what was `before` it.
pub fn fold_session(
    id: SessionId,
    before: Option<Session>,
    entry: Entry<&SessionEvent>,
) -> (Option<Session>, Vec<RowChange>) {
    let Some(mut session) = before else {
        let session = Session::begin(id, entry);
        let put = |session: &Session| RowChange::PutSession { before: None, row: Arc::new(session.row.clone()) };
        let rows = session.iter().map(put).collect();
        return (session, rows);
    };
    let (row_before, context_before) = (session.row.clone(), Arc::clone(&session.context));
    let usage_before = session.usage.clone();
    session.apply(entry);
    let mut rows = session_rows(&row_before, &context_before, &session, entry);
    rows.extend(body_rows(id, entry));
    rows.extend(usage_rows(&row_before, &usage_before, &session.usage, entry));
    if session.usage != usage_before {
        rows.push(RowChange::PutTally { session: id, tally: Box::new(session.usage.clone()) });
    }
    if session.row != row_before {
        let (before, row) = (Some(Arc::new(row_before)), Arc::new(session.row.clone()));
        rows.push(RowChange::PutSession { before, row });
    }
    (Some(session), rows)
}

fn body_rows(session: SessionId, entry: Entry<&SessionEvent>) -> Vec<RowChange> {
    let row = |body: &BodyRef| {
        Some(RowChange::PutBody(BodyRow {
            session,
            hash: body.sha256?,
            named_seq: entry.seq,
            bytes: body.bytes.min(MAX_BODY_BYTES),
        }))
    };
    entry.event.bodies().into_iter().filter_map(row).collect()
}

fn session_rows(
    before: &SessionRow,
    context_before: &Context,
    after: &Session,
    entry: Entry<&SessionEvent>,
) -> Vec<RowChange> {
    let session = before.id;
    match entry.event {
        SessionEvent::PromptSent { interaction_id, text, .. } => {
            let remove = RowChange::RemovePrompt { session, interaction_id: *interaction_id };
            let start = before.running.map(|running| {
                RowChange::StartTurn(TurnRow {
                    session,
                    turn: running.turn,
                    interaction_id: *interaction_id,
                    prompt_line: first_line(text, PROMPT_LINE_CHARS),
                    stop: None,
                    started_at: running.started_at,
                    ended_at: None,
                    first_seq: running.first_seq,
                    last_seq: None,
                    summary: None,
                    extent: None,
                })
            });
            start.into_iter().chain([remove]).collect()
        }
        SessionEvent::TurnEnded { turn, stop } => {
            let (turn, stop, ended_at, last_seq) = (*turn, stop.clone(), entry.at, entry.seq);
            vec![RowChange::EndTurn { session, turn, stop, ended_at, last_seq, summary: None, extent: None }]
        }
        SessionEvent::PromptQueued { interaction_id, .. } | SessionEvent::PromptChanged { interaction_id, .. } => after
            .find_queued(*interaction_id)
            .map(|prompt| RowChange::PutPrompt { session, prompt: prompt.clone() })
            .into_iter()
            .collect(),
        SessionEvent::PromptRemoved { interaction_id } => {
            vec![RowChange::RemovePrompt { session, interaction_id: *interaction_id }]
        }
        SessionEvent::ContextSet { set, .. } => {
            let marks = after.context.sets.marks(set).to_vec();
            let put = RowChange::PutSet { session, set: set.clone(), marks };
            vec![put, RowChange::NoteContext { session, seq: entry.seq }]
        }
        SessionEvent::FactProved { facts, .. } => fact_rows(context_before, after, facts, entry.seq),
        SessionEvent::TitleSet { title, by, turn, interaction_id } => vec![RowChange::PutTitle(TitleRow {
            session,
            nth: after.row.titles,
            title: title.clone(),
            by: *by,
            turn: *turn,
            interaction_id: *interaction_id,
            changed_at: entry.at,
        })],
        SessionEvent::SummarySet { turn, summary, by, extent } => vec![RowChange::PutSummary {
            session,
            turn: *turn,
            summary: Summary { text: summary.clone(), by: *by, made_at: entry.at },
            extent: *extent,
        }],
        SessionEvent::AgentStateChanged { attached: Some(attached), .. } => {
            let (agent, agent_session) = (before.agent.clone(), attached.agent_session.clone());
            vec![RowChange::PutAttachment { session, agent, agent_session }]
        }
        SessionEvent::NextOffered { turn, nth, span: _, next } => vec![RowChange::PutNext(NextRow {
            session,
            id: NextId { turn: *turn, nth: *nth },
            next: next.clone(),
            offered_at: entry.at,
            clicked: None,
        })],
        SessionEvent::OutputStored { turn, output } => vec![RowChange::PutOutput(Box::new(OutputRow {
            session,
            id: output.id,
            stored_seq: entry.seq,
            turn: *turn,
            stored_at: entry.at,
            bytes: output.bytes,
            output: output.clone(),
        }))],
        SessionEvent::OutputRemoved { id, .. } => vec![RowChange::RemoveOutput { session, id: *id }],
        SessionEvent::NextClicked { turn, nth, work, session: begun, by: _ } => vec![RowChange::ClickNext {
            session,
            id: NextId { turn: *turn, nth: *nth },
            clicked: Clicked { work: *work, session: *begun, at: entry.at },
        }],
        SessionEvent::SessionCreated { .. }
        | SessionEvent::SessionChanged { .. }
        | SessionEvent::SessionObserved {}
        | SessionEvent::SessionDeleted {}
        | SessionEvent::SessionRestored {}
        | SessionEvent::SessionForked { .. }
        | SessionEvent::AgentStateChanged { attached: None, .. }
        | SessionEvent::TurnStarted { .. }
        | SessionEvent::TextPart { .. }
        | SessionEvent::ThoughtPart { .. }
        | SessionEvent::ToolStarted { .. }
        | SessionEvent::ToolChanged { .. }
        | SessionEvent::ToolPart { .. }
        | SessionEvent::ToolEnded { .. }
        | SessionEvent::PlanChanged { .. }
        | SessionEvent::PermissionAsked { .. }
        | SessionEvent::PermissionAnswered { .. }
        // Its rows are found beside these.
        | SessionEvent::UsageReported { .. }
        | SessionEvent::CompactionSeen { .. }
        | SessionEvent::SessionImported { .. }
        | SessionEvent::BlockShown { .. }
        | SessionEvent::ResumeSent { .. }
        | SessionEvent::AppletShown { .. }
        | SessionEvent::AppletSaved { .. }
        | SessionEvent::AgentOptionsChanged { .. }
        | SessionEvent::AgentOptionChosen { .. }
        | SessionEvent::AgentCommandsChanged { .. }
        | SessionEvent::AgentRaw { .. }
        | SessionEvent::AgentNoticed { .. } => Vec::new(),
    }
}

/// Folds an entry of the server's stream.
pub fn fold_server(entry: Entry<&ServerEvent>) -> Vec<RowChange> {
    match entry.event {
        ServerEvent::TokenIssued { token_id, kind, name, session_id, secret_hash, proof_hash } => {
            vec![RowChange::PutToken(TokenRow {
                id: *token_id,
                kind: *kind,
                name: name.clone(),
                session: *session_id,
                secret_hash: secret_hash.clone(),
                proof_hash: proof_hash.clone(),
                issued_at: entry.at,
            })]
        }
        ServerEvent::TokenRevoked { token_id } => vec![RowChange::RemoveToken { id: *token_id }],
        ServerEvent::PermissionRemembered { id, project, cwd, agent, kind, subject, digest, decision, by } => {
            vec![RowChange::PutRemembered(RememberedRow {
                id: *id,
                project: project.clone(),
                cwd: cwd.clone(),
                agent: agent.clone(),
                kind: *kind,
                subject: subject.clone(),
                digest: digest.clone(),
                decision: *decision,
                by: by.clone(),
                remembered_at: entry.at,
            })]
        }
        ServerEvent::PermissionForgotten { id } => vec![RowChange::RemoveRemembered { id: *id }],
        ServerEvent::AppletGranted { applet, grants, .. } if grants.is_empty() => {
            vec![RowChange::RemoveGrants { applet: applet.clone() }]
        }
        ServerEvent::AppletGranted { applet, hash, grants, by } => vec![RowChange::PutGrants(AppletGrantsRow {
            applet: applet.clone(),
            hash: hash.clone(),
            grants: grants.clone(),
            by: by.clone(),
            granted_at: entry.at,
        })],
        ServerEvent::AppletStateSet { .. } => Vec::new(),
    }
}

/// Folds an entry of the stream of the pieces of work.
pub fn fold_work(entry: Entry<&WorkEvent>) -> Vec<RowChange> {
    let lead = |id: WorkId, project: &str, name: &str| RowChange::NameWork {
        project: project.to_owned(),
        name: name.to_owned(),
        id,
    };
    match entry.event {
        WorkEvent::WorkCreated { work, project, name } => {
            let row = WorkRow {
                id: *work,
                project: project.clone(),
                name: name.clone(),
                created_at: entry.at,
                added_at: entry.at,
            };
            vec![RowChange::PutWork(row), lead(*work, project, name)]
        }
        WorkEvent::WorkRenamed { work, project, name } => {
            vec![RowChange::RenameWork { id: *work, name: name.clone() }, lead(*work, project, name)]
        }
        WorkEvent::WorkSessionAdded { work, session: _ } => {
            vec![RowChange::TouchWork { id: *work, added_at: entry.at }]
        }
        WorkEvent::WorkDeleted { work } => {
            vec![RowChange::RemoveWork { id: *work }, RowChange::ForgetWorkNames { id: *work }]
        }
    }
}

/// The values that an entry proved as they are now, and those that they pushed out.
fn fact_rows(before: &Context, after: &Session, facts: &[Fact], seq: Seq) -> Vec<RowChange> {
    let session = after.row.id;
    let names: BTreeSet<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
    let mut rows = Vec::new();
    for name in names {
        let Some(list) = after.context.facts.find(name) else { continue };
        let old = before.facts.find(name).map_or(&[][..], |list| &list.newest);
        let gone = old.iter().filter(|old| !list.newest.iter().any(|fact| fact.value == old.value));
        rows.extend(gone.map(|old| RowChange::RemoveFact { session, name: name.to_owned(), value: old.value.clone() }));
        let put = list.newest.iter().filter(|fact| !old.contains(fact)).cloned();
        rows.extend(put.map(|fact| RowChange::PutFact { session, name: name.to_owned(), shape: list.shape, fact }));
    }
    rows.push(RowChange::NoteContext { session, seq });
    rows
}
