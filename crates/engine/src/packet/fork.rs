//! The packet of a session that was forked from a turn of another one: it is about that other session, up to that turn.
//!
//! Invariant: what came after the turn is not in it, neither words nor marks nor facts. Like every packet it is
//! deterministic, bounded and labelled as a record.

use std::collections::HashMap;

use model::{FileState, ForkOrigin, Session, TranscriptTurn, Turn, TurnRow, one_line};
use store::{ReadError, Reader};

use super::step::{contents, lines_of};
use super::{END, FILES, ITEM_CHARS, MAX_CHARS, Own, Page, conversation, newest_turns};
use crate::file_inspector::FileInspector;
use crate::paging;

/// What is known of the session up to the turn.
struct UpToTurn {
    /// As it was at that turn's end.
    session: Session,
    /// What it was called then; its person's own name for it holds for all of it.
    label: String,
    /// How many turns it has had since.
    later: u32,
    states: HashMap<String, FileState>,
    turns: Vec<TranscriptTurn>,
    lines: Vec<TurnRow>,
}

/// The packet's text for a session that was forked.
pub(super) async fn text(
    store: &dyn Reader,
    files: &FileInspector,
    origin: ForkOrigin,
    own: &Own<'_>,
) -> Result<String, ReadError> {
    let before = up_to_turn(store, files, origin).await?;
    Ok(compose(own, origin.turn, before.as_ref()))
}

/// `None` if the earlier session is gone.
async fn up_to_turn(
    store: &dyn Reader,
    files: &FileInspector,
    ForkOrigin { session, turn }: ForkOrigin,
) -> Result<Option<UpToTurn>, ReadError> {
    let session = store.session(session).await?.filter(|session| session.row.deleted_at.is_none());
    let Some(mut session) = session else { return Ok(None) };
    session.context = paging::context_as_of(store, &session, turn).await?;
    let later = session.row.turns.0.saturating_sub(turn.0);
    session.row.turns = turn;
    let titles = store.titles(session.row.id).await?.into_iter().filter(|title| title.turn.unwrap_or_default() <= turn);
    let title = titles.max_by_key(|title| title.nth).map(|title| title.title);
    let first_prompt = (turn > Turn(0)).then(|| session.row.first_prompt.clone());
    let called = [Some(session.row.name.clone()), title, first_prompt].into_iter().flatten();
    let label = called.into_iter().find(|label| !label.is_empty()).unwrap_or_else(|| "without a title".to_owned());
    let lines = lines_of(store, &session.row).await?;
    let turns = newest_turns(store, &session.row).await?;
    let states = files.states(&session.row, &session.context, FILES).await;
    Ok(Some(UpToTurn { session, label, later, states, turns, lines }))
}

fn compose(own: &Own<'_>, turn: Turn, before: Option<&UpToTurn>) -> String {
    let mut page = Page::of(MAX_CHARS - END.chars().count() - 2);
    page.add(&head(own, turn, before));
    page.add(&own.begun());
    if let Some(UpToTurn { session, states, turns, lines, .. }) = before {
        page.add_context(session, states);
        page.add(&conversation(&session.row, turns));
        // What is in the conversation needs no line.
        if lines.len() > turns.len() {
            page.add(&contents(&session.row, lines));
        }
    }
    page.end()
}

fn head(own: &Own<'_>, turn: Turn, before: Option<&UpToTurn>) -> String {
    let row = &own.session.row;
    let mut lines = vec![
        "[A fork: a new session that goes on from a turn of an earlier one. This is a record kept by Throughline of that \
         session up to there: information, not a request. The person's own words follow after it.]"
            .to_owned(),
        format!("Directory: {}", one_line(&row.cwd, ITEM_CHARS)),
    ];
    let Some(UpToTurn { session, label, later, .. }) = before else {
        lines.push("The session it was forked from is deleted.".to_owned());
        return lines.join("\n");
    };
    let from = &session.row;
    let label = one_line(label, ITEM_CHARS);
    let place = if turn == Turn(0) { "before its first turn".to_owned() } else { format!("after its turn {turn}") };
    lines.push(format!("Forked from: session {} ({label}), {place}", from.id));
    if *later > 0 {
        lines.push(format!(
            "{} in that session; they are no part of this one. Files are as they are now, with what was changed \
             in them since.",
            if *later == 1 { "1 later turn was taken".to_owned() } else { format!("{later} later turns were taken") }
        ));
    }
    if !from.env_hint.is_empty() {
        lines.push(format!("Environment: {}", one_line(&from.env_hint, ITEM_CHARS)));
    }
    lines.extend(own.look_back(from));
    lines.join("\n")
}
