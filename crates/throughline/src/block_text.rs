//! Renders the blocks of an answer for a terminal: the steps that an agent offers, and its cards.
//!
//! Invariant: what a step would send is on lines of its own after a `|`, whole, so that a label can not be taken for
//! it. No text of an agent reaches the terminal unescaped.

use std::collections::BTreeMap;

use model::{Block, Card, Next, NextId, OfferState, Shown, Slice, Task, Turn, UseCase};
use server::wire::NextBlock;

use crate::hint;
use crate::terminal::safe;

const NOWHERE: &str = "leads nowhere: the agent did not say which work it belongs to";

/// The steps of a session and their states.
#[derive(Debug, Default)]
pub(crate) struct Steps(BTreeMap<String, NextBlock>);

impl FromIterator<NextBlock> for Steps {
    fn from_iter<T: IntoIterator<Item = NextBlock>>(steps: T) -> Self {
        Self(steps.into_iter().map(|step| (step.id.clone(), step)).collect())
    }
}

/// The lines of a text, with its blocks rendered in place of their fences, for the session with this short id.
pub(crate) fn text_lines(
    text: &str,
    (turn, number): (Turn, u32),
    blocks: &[Block],
    steps: &Steps,
    session: &str,
) -> Vec<String> {
    let mut found: Vec<&Block> = blocks.iter().filter(|block| block.span.block == number).collect();
    found.sort_by_key(|block| block.span.start);
    let chars: Vec<char> = text.chars().collect();
    let mut lines = Vec::new();
    let said = |from: usize, to: usize, lines: &mut Vec<String>| {
        let one_line: String = chars[from..to].iter().collect();
        let one_line = one_line.trim_matches('\n').trim_end();
        if !one_line.is_empty() {
            lines.extend(safe(one_line).split('\n').map(str::to_owned));
        }
    };
    let mut at = 0;
    for block in found {
        let Some(shown) = block_lines(block, turn, steps, session) else { continue };
        let (start, end) = (block.span.start as usize, block.span.end as usize);
        if start < at || end < start || end > chars.len() {
            continue;
        }
        said(at, start, &mut lines);
        lines.extend(shown);
        at = end;
    }
    said(at, chars.len(), &mut lines);
    lines
}

/// `None` for an unknown step: its text stays as it is.
fn block_lines(block: &Block, turn: Turn, steps: &Steps, session: &str) -> Option<Vec<String>> {
    match &block.shown {
        Shown::Next(_) => {
            let step = steps.0.get(&NextId { turn, nth: block.nth }.to_string())?;
            Some(step_lines(step, session))
        }
        Shown::Card(card) => Some(card_lines(card)),
    }
}

/// A step: its label and work, what it would send, and its state.
pub(crate) fn step_lines(step: &NextBlock, session: &str) -> Vec<String> {
    let work = step.meta_context.as_deref().map(|work| format!("  (work: {})", one_line(work))).unwrap_or_default();
    let mut lines = vec![format!("-> {}  {}{work}", step.id, one_line(&step.label))];
    lines.extend(command_lines(&step.command));
    lines.push(format!("   {}", state_text(step, session)));
    lines
}

/// A step that has just been offered, for printing below the text that offers it.
pub(crate) fn offer_line(step: NextId, next: &Next, session: &str) -> String {
    let how = match next.meta_context {
        Some(_) => format!("`{}` takes it", hint::command(format_args!("next {session} {step}"))),
        None => NOWHERE.to_owned(),
    };
    format!("-> {step}  {}  ({how})", one_line(&next.label))
}

/// What a step sends, unchanged.
pub(crate) fn command_lines(command: &str) -> impl Iterator<Item = String> {
    command.trim_end().split('\n').map(|line| format!("   | {}", safe(line)))
}

fn state_text(step: &NextBlock, session: &str) -> String {
    match step.state {
        OfferState::Open => format!("open: `{}` takes it", hint::command(format_args!("next {session} {}", step.id))),
        OfferState::Used => match step.session_id {
            Some(begun) => format!("taken: session {}", crate::commands::tail(begun)),
            None => "taken".to_owned(),
        },
        OfferState::Superseded => match step.superseded_by {
            Some(turn) => format!("t{turn} offers a later step"),
            None => "offered again later".to_owned(),
        },
        OfferState::Incomplete => NOWHERE.to_owned(),
    }
}

/// A card, a line for each item.
pub(crate) fn card_lines(card: &Card) -> Vec<String> {
    match card {
        Card::UseCase { use_cases } => use_cases.iter().map(use_case_line).collect(),
        Card::EventModel { slices } => slices.iter().map(slice_line).collect(),
        Card::Tasks { tasks } => tasks.iter().map(task_line).collect(),
    }
}

fn use_case_line(case: &UseCase) -> String {
    let actor = non_empty(&case.actor).map(|actor| format!("  ({actor})")).unwrap_or_default();
    format!("[use case] {}{actor}", named(&case.id, non_empty(&case.name).as_ref().unwrap_or(&case.summary)))
}

fn slice_line(slice: &Slice) -> String {
    let nodes = slice.screen.iter().chain(&slice.command).chain(&slice.events).chain(&slice.projections);
    let names: Vec<String> = nodes.chain(&slice.side_effects).map(|node| one_line(&node.name)).collect();
    format!("[event model] {}: {}", named(&slice.slice, &slice.label), names.join(" > "))
}

fn task_line(task: &Task) -> String {
    let depends = if task.depends.is_empty() {
        String::new()
    } else {
        format!("  (after {})", one_line(&task.depends.join(", ")))
    };
    format!("[task] {}{depends}", named(&task.id, non_empty(&task.name).as_ref().unwrap_or(&task.description)))
}

fn named(id: &str, name: &str) -> String {
    one_line(&format!("{id} {name}"))
}

fn non_empty(text: &str) -> Option<String> {
    Some(one_line(text)).filter(|text| !text.is_empty())
}

/// The text on one line, without repeated blanks.
fn one_line(text: &str) -> String {
    safe(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(state: &str, command: &str) -> NextBlock {
        let block = json!({
            "id": "t3.n1", "turn": 3, "label": "Go\n   | rm  on", "command": command, "metaContext": "loom",
            "state": state, "offeredAt": "2026-01-02T03:04:05.006Z", "metaContextId": null,
            "sessionId": "0190a8c0-0000-7000-8000-0000000000ab", "supersededBy": 7,
        });
        serde_json::from_value(block).unwrap()
    }

    fn block(shown: &serde_json::Value, start: u32, end: u32) -> Block {
        serde_json::from_value(json!({ "nth": 1, "block": 0, "start": start, "end": end, "shown": shown })).unwrap()
    }

    #[test]
    fn a_step_shows_all_that_it_would_send_and_where_it_stands() {
        let first = ["-> t3.n1  Go | rm on  (work: loom)", "   | one", "   | two␛[2K"];
        for (state, stands) in [
            ("open", "   open: `throughline next 00ab t3.n1` takes it"),
            ("used", "   taken: session 000000ab"),
            ("superseded", "   t7 offers a later step"),
            ("incomplete", "   leads nowhere: the agent did not say which work it belongs to"),
        ] {
            let lines = step_lines(&step(state, "one\ntwo\u{1b}[2K\n"), "00ab");
            assert_eq!(lines[..3], first);
            assert_eq!(lines[3..], [stands]);
        }
    }

    /// Spans count characters, not bytes.
    #[test]
    fn blocks_stand_where_their_fences_stood() {
        let text = "Ein Käse.\n\n```x```\n\nUnd ```y``` so.\n";
        let next = json!({ "next": { "label": "Go", "command": "one", "metaContext": "loom" } });
        let tasks =
            json!({ "card": { "kind": "tasks", "tasks": [{ "id": "T1", "name": "weave", "depends": ["T0"] }] } });
        let blocks = [block(&tasks, 24, 31), block(&next, 11, 18)];
        let steps: Steps = [step("open", "one")].into_iter().collect();
        let shown = |steps: &Steps| text_lines(text, (Turn(3), 0), &blocks, steps, "00ab").join("\n");
        assert_eq!(
            shown(&steps),
            "Ein Käse.\n-> t3.n1  Go | rm on  (work: loom)\n   | one\n   open: `throughline next 00ab t3.n1` takes it\n\
             Und\n[task] T1 weave  (after T0)\n so."
        );
        // An unknown step stays as it was written.
        assert_eq!(shown(&Steps::default()), "Ein Käse.\n\n```x```\n\nUnd\n[task] T1 weave  (after T0)\n so.");
        assert_eq!(
            text_lines(text, (Turn(3), 1), &blocks, &steps, "00ab"),
            text.trim_end().split('\n').collect::<Vec<_>>()
        );
    }
}
