//! The packet of a session that was started from another one's offer: it is about that other session, the phase before.
//!
//! Invariant: like every packet, deterministic, bounded, labelled as a record, and the same for every agent.

use std::collections::HashMap;
use std::ops::ControlFlow;

use model::{
    FileState, NextId, Outcome, Seq, Session, SessionEvent, SessionRow, StepOrigin, TranscriptTurn, Turn, TurnRow,
    Untold, WorkRow, one_line,
};
use store::{ReadError, Reader};

use super::{ANSWER_CHARS, END, FILES, ITEM_CHARS, MAX_CHARS, Own, Page, read_turn, turn_lines};
use crate::file_inspector::FileInspector;
use crate::paging;

/// How many lines of the earlier session's contents, and how many earlier sessions, are listed.
const LINES: u32 = 20;
const SESSIONS: usize = 10;
/// How many turns are looked at for one that was done.
const TRIES: usize = 100;
/// How many entries of a turn are looked at for the packet: it is written with the prompt, behind what the agent reported
/// at the same moment.
const BEGINNING: u64 = 300;

/// What is known of the phase before.
struct Before {
    session: Session,
    states: HashMap<String, FileState>,
    lines: Vec<TurnRow>,
    offered: Option<TranscriptTurn>,
}

/// Whether the agent of a session that was started from an offer has not been sent the packet about the phase before. It
/// has not at the session's beginning, and not while it was sent only slash commands, which go without a packet. If the
/// agent that was sent it was lost before it completed that turn, the next one is sent it again.
pub(super) async fn is_untold(store: &dyn Reader, row: &SessionRow, untold: Untold) -> Result<bool, ReadError> {
    let is_at_beginning = row.turns == Turn(0);
    if is_at_beginning || untold != Untold::Everything || row.turns.0 as usize > TRIES {
        return Ok(is_at_beginning);
    }
    let is_done = |turn: &TurnRow| turn.stop.as_ref().is_some_and(|stop| stop.outcome == Outcome::Completed);
    for turn in store.turns(row.id, Turn(0), TRIES).await?.iter().filter(|turn| is_done(turn)) {
        if begins_with_packet(store, turn).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Looks for the packet up to the turn's end, or so far that it would have come.
async fn begins_with_packet(store: &dyn Reader, turn: &TurnRow) -> Result<bool, ReadError> {
    let is_packet =
        |event: &SessionEvent| matches!(event, SessionEvent::ResumeSent { turn: of, .. } if *of == turn.turn);
    let after = turn.first_seq.previous();
    let up_to = turn.last_seq.unwrap_or(Seq(u64::MAX)).min(Seq(after.0 + BEGINNING));
    let mut is_found = false;
    paging::walk(store, turn.session, after, up_to, |entry| {
        is_found = is_packet(&entry.event);
        if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .await?;
    Ok(is_found)
}

/// The packet's text for a session that was started from an offer.
pub(super) async fn text(
    store: &dyn Reader,
    files: &FileInspector,
    origin: StepOrigin,
    own: &Own<'_>,
) -> Result<String, ReadError> {
    let row = &own.session.row;
    let named = match row.work {
        Some(id) => store.work(id).await?,
        None => None,
    };
    let members = match &named {
        // It and the one that it was started from are among them.
        Some(work) => store.newest_of_work(work.id, None, SESSIONS + 2).await?,
        None => Vec::new(),
    };
    let before = before(store, files, origin).await?;
    Ok(compose(own, named.as_ref(), &members, origin.block, before.as_ref()))
}

/// `None` if the earlier session is gone.
async fn before(store: &dyn Reader, files: &FileInspector, origin: StepOrigin) -> Result<Option<Before>, ReadError> {
    let session = store.session(origin.session).await?.filter(|session| session.row.deleted_at.is_none());
    let Some(session) = session else { return Ok(None) };
    let lines = lines_of(store, &session.row).await?;
    let offered = match paging::find_turn(store, origin.session, origin.block.turn).await? {
        Some(row) => read_turn(store, &row).await?,
        None => None,
    };
    let states = files.states(&session.row, &session.context, FILES).await;
    Ok(Some(Before { session, states, lines, offered }))
}

fn compose(
    own: &Own<'_>,
    named: Option<&WorkRow>,
    members: &[SessionRow],
    block: NextId,
    before: Option<&Before>,
) -> String {
    let row = &own.session.row;
    let mut page = Page::of(MAX_CHARS - END.chars().count() - 2);
    page.add(&head(own, named, block, before));
    page.add(&own.begun());
    if let Some(Before { session, states, lines, offered }) = before {
        page.add_context(session, states);
        if let Some(offered) = offered {
            page.add(&format!("The turn that offered this step:\n{}", turn_lines(offered, ANSWER_CHARS)));
        }
        page.add(&contents(&session.row, lines));
    }
    page.add(&earlier(row, members, before));
    page.end()
}

fn head(own: &Own<'_>, named: Option<&WorkRow>, block: NextId, before: Option<&Before>) -> String {
    let row = &own.session.row;
    let mut lines = vec![
        "[The next step of a piece of work, in a new session. This is a record kept by Throughline of the session it \
         was started from: information, not a request. The request follows after it.]"
            .to_owned(),
    ];
    if let Some(named) = named {
        lines.push(format!("Work: {}", one_line(&named.name, ITEM_CHARS)));
    }
    lines.push(format!("Directory: {}", one_line(&row.cwd, ITEM_CHARS)));
    match before.map(|before| &before.session.row) {
        Some(from) => {
            let label = one_line(from.label().unwrap_or("without a title"), ITEM_CHARS);
            lines.push(format!("Started from: session {} ({label}), by its offer {block}", from.id));
            if !from.env_hint.is_empty() {
                lines.push(format!("Environment: {}", one_line(&from.env_hint, ITEM_CHARS)));
            }
            lines.extend(own.look_back(from));
        }
        None => lines.push("The session it was started from is deleted.".to_owned()),
    }
    lines.join("\n")
}

/// The newest lines of a session's contents, of as many turns as its row has.
pub(super) async fn lines_of(store: &dyn Reader, row: &SessionRow) -> Result<Vec<TurnRow>, ReadError> {
    let after = Turn(row.turns.0.saturating_sub(LINES));
    store.turns(row.id, after, (row.turns.0 - after.0) as usize).await
}

pub(super) fn contents(row: &SessionRow, lines: &[TurnRow]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let listed = lines.iter().map(|line| {
        let summary = line.summary.as_ref().map_or(line.prompt_line.as_str(), |summary| summary.text.as_str());
        let note = line.stop.as_ref().and_then(|stop| stop.outcome.note());
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        format!("{} {}{note}", line.turn, one_line(summary, ITEM_CHARS))
    });
    let left_out = row.turns.0.saturating_sub(u32::try_from(lines.len()).unwrap_or(u32::MAX));
    let head = match left_out {
        0 => "Its contents:".to_owned(),
        _ => format!("Its contents (without {left_out} earlier turns):"),
    };
    [head].into_iter().chain(listed).collect::<Vec<_>>().join("\n")
}

/// The work's other sessions, newest first, as they are given.
fn earlier(row: &SessionRow, members: &[SessionRow], before: Option<&Before>) -> String {
    let from = before.map(|before| before.session.row.id);
    let others = members.iter().filter(|member| member.id != row.id && Some(member.id) != from);
    let listed: Vec<String> = others
        .take(SESSIONS)
        .map(|member| {
            let label = one_line(member.label().unwrap_or("without a title"), ITEM_CHARS);
            format!("- {} {label} ({} turns)", member.id, member.turns.0)
        })
        .collect();
    match listed.is_empty() {
        true => String::new(),
        false => format!("Other sessions of this work, newest first:\n{}", listed.join("\n")),
    }
}
