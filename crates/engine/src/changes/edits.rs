//! Finds what a session's calls did to files, from the entries that changed its context.
//!
//! Invariant: the cost grows with the edits that are looked at, which are bounded, and not with what was said around
//! them: each call is read back from its end to its start. What the bounds leave out is said.

use std::collections::HashSet;
use std::ops::ControlFlow;

use model::{
    BodyOf, BodyRef, Entry, Fact, FileEdit, Seq, SessionEvent, SessionId, ToolCall, Turn, changed_status, file_edits,
    json_bytes, possible_move,
};
use store::{EntryOrder, ReadError};

use crate::{ENTRIES_AT_ONCE, Shared, paging};

/// The newest results that are looked at.
const MAX_RESULTS: usize = 2_000;
/// How much of calls is read at once, all together.
const MAX_CALL_BYTES: usize = 32 << 20;
/// How far back a call's start is looked for: from a few entries, a few times further each time.
const FIRST_SPAN: u64 = 16;
const SPAN_GROWTH: u64 = 8;
const MAX_SPAN: u64 = 8_192;

/// The edits of some turns.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Oldest first.
    pub(super) edits: Vec<FileEdit>,
    /// There were earlier ones.
    pub(super) earlier_left_out: bool,
}

/// A result that changed files.
struct ProvedEdit {
    turn: Turn,
    tool: u32,
    ended: Seq,
    facts: Vec<Fact>,
}

/// Which edits, and how much of them.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// All files, with their texts.
    Texts,
    /// Of all files that they changed, and no texts.
    Names,
    /// Of one file, wherever it was and is, with its texts.
    Of(&'a str),
}

/// Reads the edits after one entry and up to another.
pub(super) async fn read(
    shared: &Shared,
    id: SessionId,
    cwd: &str,
    (after, up_to): (Seq, Seq),
    wanted: Wanted<'_>,
) -> Result<Edits, ReadError> {
    let (mut results, earlier_left_out) = results(shared, id, after, up_to).await?;
    if let Wanted::Of(path) = wanted {
        let paths = paths_of_file(path, &results);
        results.retain(|result| result.facts.iter().any(|fact| paths.contains(&fact.value)));
    }
    let mut edits = Vec::new();
    let mut room = MAX_CALL_BYTES;
    // The newest first: what is left out for want of room is the oldest.
    for ProvedEdit { turn, tool, ended, facts } in results {
        let call = match wanted {
            Wanted::Names => None,
            Wanted::Texts | Wanted::Of(_) if room == 0 => None,
            Wanted::Texts | Wanted::Of(_) => call(shared, id, turn, tool, ended, &mut room).await?,
        };
        edits.extend(file_edits(turn, call.as_ref(), &facts, cwd).into_iter().rev());
    }
    edits.reverse();
    Ok(Edits { edits, earlier_left_out })
}

/// All paths that a file may have had: which calls moved it is known once they are read.
fn paths_of_file(path: &str, results: &[ProvedEdit]) -> HashSet<String> {
    let moves: Vec<_> = results.iter().filter_map(|result| possible_move(&result.facts)).collect();
    let mut paths = HashSet::from([path.to_owned()]);
    loop {
        let known = paths.len();
        for (from, to) in &moves {
            if paths.contains(&from.value) || paths.contains(&to.value) {
                paths.extend([from.value.clone(), to.value.clone()]);
            }
        }
        if paths.len() == known {
            return paths;
        }
    }
}

/// The newest results that changed files, newest first, and whether there are earlier ones.
async fn results(
    shared: &Shared,
    id: SessionId,
    after: Seq,
    mut up_to: Seq,
) -> Result<(Vec<ProvedEdit>, bool), ReadError> {
    let mut results = Vec::new();
    let mut room = MAX_RESULTS;
    while room > 0 {
        let limit = room.min(ENTRIES_AT_ONCE);
        let page = shared.store.context_entries(id, after, up_to, EntryOrder::NewestFirst, limit).await?;
        let Some(oldest) = page.last() else { return Ok((results, false)) };
        up_to = oldest.seq.previous();
        room = room.saturating_sub(page.len());
        for Entry { event, .. } in page {
            let SessionEvent::FactProved { turn, tool, entry, facts } = event else { continue };
            if facts.iter().any(|fact| changed_status(&fact.name).is_some()) {
                results.push(ProvedEdit { turn, tool, ended: entry, facts });
            }
        }
    }
    let earlier = shared.store.context_entries(id, after, up_to, EntryOrder::NewestFirst, 1).await?;
    Ok((results, !earlier.is_empty()))
}

/// A call as it was when it ended; `None` if it began too far back or is too large.
async fn call(
    shared: &Shared,
    id: SessionId,
    turn: Turn,
    tool: u32,
    ended: Seq,
    room: &mut usize,
) -> Result<Option<ToolCall>, ReadError> {
    let mut span = FIRST_SPAN;
    loop {
        let after = Seq(ended.0.saturating_sub(span));
        let mut found: Option<ToolCall> = None;
        let mut began = after == Seq::START;
        let mut bytes = 0;
        paging::walk(&*shared.store, id, after, ended, |entry| {
            match &entry.event {
                SessionEvent::TurnStarted { turn: started, .. } if *started == turn => began = true,
                SessionEvent::ToolStarted { turn: of, tool: number, call_id, change }
                    if (*of, *number) == (turn, tool) =>
                {
                    began = true;
                    bytes += json_bytes(&entry.event);
                    found = Some(ToolCall::begin(tool, call_id.clone(), change));
                }
                SessionEvent::ToolChanged { turn: of, tool: number, change }
                | SessionEvent::ToolEnded { turn: of, tool: number, change }
                    if (*of, *number) == (turn, tool) =>
                {
                    bytes += json_bytes(&entry.event);
                    if let Some(call) = &mut found {
                        call.change(change);
                    }
                }
                _ => (),
            }
            if bytes > *room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .await?;
        if bytes > *room {
            *room = 0;
            return Ok(None);
        }
        if began || span >= MAX_SPAN {
            *room -= bytes;
            if let Some(call) = &mut found {
                let is_text = |body: &BodyRef| matches!(body.of, BodyOf::OldText | BodyOf::NewText | BodyOf::Input);
                let beside: u64 = call.bodies.iter().filter(|body| is_text(body)).map(|body| body.bytes).sum();
                let Some(left) = usize::try_from(beside).ok().and_then(|beside| room.checked_sub(beside)) else {
                    *room = 0;
                    return Ok(None);
                };
                *room = left;
                // Half of a text would be compared as if it were the whole.
                if !shared.restore_call(id, call, is_text).await {
                    return Ok(None);
                }
            }
            return Ok(found);
        }
        span *= SPAN_GROWTH;
    }
}
