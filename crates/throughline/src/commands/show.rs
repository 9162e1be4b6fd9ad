//! `throughline show`: prints a session's transcript, folded from its entries.

use std::collections::HashSet;

use anyhow::Result;
use model::{
    Aside, Entry, ForkOrigin, ForkedInto, HandOver, Item, Origin, OutputRemoval, SessionId, Shown, StepOrigin,
    Transcript, TranscriptTurn, Turn,
};
use server::wire::{EntryPage, Session, SessionUsage};

use crate::block_text::Steps;
use crate::cli;
use crate::client::Client;
use crate::commands::list::{NO_TITLE, tail};
use crate::commands::seen::mark_seen;
use crate::commands::{next, outputs, usage};
use crate::data_dir::DataDir;
use crate::pager;
use crate::paging::PageCursor;
use crate::style::Style;
use crate::terminal::{self, safe, safe_json};
use crate::transcript_text::{permission_lines, turn_lines};

pub(super) async fn run(data: &DataDir, show: &cli::Show) -> Result<()> {
    let client = Client::connect(data).await?;
    let session = client.find_session(&show.session).await?;
    let mut transcript = Transcript::default();
    // A call is shown with its turn.
    let turn = show.turn.as_ref().map(|turn| turn.split('.').next().unwrap_or(turn));
    let only = turn.map(|turn| format!("&fromTurn={turn}&toTurn={turn}")).unwrap_or_default();
    let mut cursor = PageCursor::default();
    let read = loop {
        let path = format!("/sessions/{}/entries?limit=1000{only}{}", session.row.id, cursor.parameter("&after"));
        let page = client.get::<EntryPage>(&path).await;
        let page = match page {
            Ok(page) => page,
            Err(err) => break Err(err),
        };
        for entry in &page.entries {
            print_or_fold(entry, show.json, &mut transcript)?;
        }
        match cursor.advance(page.next_cursor) {
            Ok(true) => (),
            Ok(false) => break Ok(()),
            Err(err) => break Err(err),
        }
    };
    let offers = |turn: &TranscriptTurn| turn.blocks.iter().any(|block| matches!(block.shown, Shown::Next(_)));
    if turn.is_some() && !show.json {
        mark_removed(&client, session.row.id, &mut transcript).await;
    }
    let steps = match transcript.turns.iter().any(offers) {
        true => next::steps(&client, session.row.id).await.unwrap_or_default(),
        false => Vec::new(),
    };
    // A damaged session has none.
    let used: Option<SessionUsage> = client.get(&format!("/sessions/{}/usage?limit=1", session.row.id)).await.ok();
    // Before it is printed: a pager may show it for long, and without a server nobody else can work meanwhile.
    if read.is_ok() && session.row.unobserved && turn.is_none_or(|turn| is_newest(turn, session.row.turns)) {
        mark_seen(&client, session.row.id, show.json).await;
    }
    client.close().await;
    // If the rest is damaged, what could be read is shown before the error.
    if !show.json && (read.is_ok() || !transcript.turns.is_empty()) {
        print(&session, used.as_ref(), &transcript, &steps.into_iter().collect(), read.is_ok())?;
    }
    read
}

/// Marks outputs that were removed after the turns that were read: the entries that say so were not read with them, and such an
/// output is not listed any more.
async fn mark_removed(client: &Client, session: SessionId, transcript: &mut Transcript) {
    let shown = transcript.turns.iter_mut().flat_map(|turn| &mut turn.items).filter_map(|item| match item {
        Item::Output { output, removed: removed @ None } => Some((output.id, removed)),
        _ => None,
    });
    let mut shown = shown.peekable();
    if shown.peek().is_none() {
        return;
    }
    // Without the list nothing is known to be removed.
    let Ok(kept) = outputs::kept_outputs(client, session).await else { return };
    let kept: HashSet<_> = kept.iter().map(|listed| listed.output.id).collect();
    // For which reason makes no difference to what is printed.
    shown.filter(|(id, _)| !kept.contains(id)).for_each(|(_, removed)| *removed = Some(OutputRemoval::Removed));
}

/// Whether `t7` or `7` is the newest turn: whoever reads an older one has not seen what came last.
fn is_newest(turn: &str, newest: Turn) -> bool {
    turn.trim_start_matches('t').parse() == Ok(newest.0)
}

fn print_or_fold(entry: &Entry, json: bool, transcript: &mut Transcript) -> Result<()> {
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string(entry)?))?);
    }
    transcript.apply(entry);
    Ok(())
}

fn print(
    session: &Session,
    used: Option<&SessionUsage>,
    transcript: &Transcript,
    steps: &Steps,
    whole: bool,
) -> Result<()> {
    let title = session.row.title.as_deref().unwrap_or(NO_TITLE);
    let about = safe(&format!("{} in {}", session.row.agent, session.row.cwd));
    let mut lines = vec![Style::Bold.paint(&safe(title)), Style::Dim.paint(&about)];
    lines.extend(place(session).map(|line| safe(&line)));
    if let Some(usage) = used {
        let is_known = usage.total.total_tokens > 0 || !usage.total.cost.is_empty();
        lines.extend(is_known.then(|| Style::Dim.paint(&usage::in_words(&usage.total))));
        lines.extend(usage.warning.as_ref().map(|warning| usage::warned("This session", warning)));
    }
    let short = tail(session.row.id);
    lines.extend(between(transcript, Turn(0), &short));
    for turn in &transcript.turns {
        lines.extend(turn_lines(turn, whole, steps, &short));
        lines.extend(between(transcript, turn.turn, &short));
    }
    for aside in transcript.asides.iter().filter(|aside| aside.permission.answer.is_none()) {
        lines.extend(aside_lines(aside, &short));
    }
    lines.extend(session.queue.iter().map(|prompt| format!("\nwaits  {}", indent(&prompt.text))));
    Ok(pager::print(&lines)?)
}

/// The work that the session belongs to, and the session that it was started from.
fn place(session: &Session) -> Option<String> {
    let work = session.meta_context.as_ref().map(|work| format!("part of {}", work.name));
    let from = session.row.from.map(|from| match from {
        Origin::Step(StepOrigin { session, block }) => format!("started from {block} of session {}", tail(session)),
        Origin::Fork(ForkOrigin { session, turn: Turn(0) }) => {
            format!("forked from the beginning of session {}", tail(session))
        }
        Origin::Fork(ForkOrigin { session, turn }) => format!("forked from {turn} of session {}", tail(session)),
    });
    let words: Vec<String> = work.into_iter().chain(from).collect();
    Some(words.join(", ")).filter(|words| !words.is_empty())
}

/// What happened between a turn and the next; what still waits comes at the end.
fn between(transcript: &Transcript, after: Turn, session: &str) -> Vec<String> {
    let answered = |aside: &&Aside| aside.after == after && aside.permission.answer.is_some();
    let asides = transcript.asides.iter().filter(answered).flat_map(|aside| aside_lines(aside, session));
    let hand_overs = transcript.hand_overs.iter().filter(|over| over.after == after);
    let handed =
        |HandOver { from, to, .. }: &HandOver| format!("\n-- handed over from {} to {} --", safe(from), safe(to));
    let forks = transcript.forks.iter().filter(|fork| fork.after == after);
    let forked = |ForkedInto { turn, session, .. }: &ForkedInto| match turn {
        Turn(0) => format!("\n-- forked from the beginning into session {} --", tail(*session)),
        turn => format!("\n-- forked from {turn} into session {} --", tail(*session)),
    };
    asides.chain(hand_overs.map(handed)).chain(forks.map(forked)).collect()
}

fn aside_lines(aside: &Aside, session: &str) -> Vec<String> {
    [String::new()].into_iter().chain(permission_lines(&aside.permission, session)).collect()
}

fn indent(text: &str) -> String {
    safe(text.trim_end()).replace('\n', "\n  ")
}
