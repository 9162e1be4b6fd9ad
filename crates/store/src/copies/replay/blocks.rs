//! Turns the blocks of a copied turn into the events that noted them.
//!
//! Invariant: only what an agent's words can have offered, so that a copy that was changed brings no button that they
//! could not have brought.

use model::{
    Block, MAX_BLOCKS, MAX_COMMAND_BYTES, MAX_LABEL_CHARS, Next, NextId, SessionEvent, Shown, Turn, one_line,
    plain_text, work_name,
};

/// What was noted of the blocks of a turn; `None` if they are none.
pub(super) fn shown(turn: Turn, blocks: Vec<Block>) -> Option<Vec<SessionEvent>> {
    let (mut nexts, mut cards) = (0, 0);
    let noted = blocks.into_iter().map(|Block { nth, span, shown }| match shown {
        Shown::Next(next) => {
            let is_right = follows(&mut nexts, nth) && is_offer(&next);
            is_right.then_some(SessionEvent::NextOffered { turn, nth, span, next })
        }
        Shown::Card(card) => follows(&mut cards, nth).then_some(SessionEvent::BlockShown { turn, nth, span, card }),
    });
    noted.collect()
}

/// The block that a note offers.
pub(super) fn offer(event: &SessionEvent) -> Option<NextId> {
    match event {
        SessionEvent::NextOffered { turn, nth, .. } => Some(NextId { turn: *turn, nth: *nth }),
        _ => None,
    }
}

fn follows(last: &mut u32, nth: u32) -> bool {
    let follows = *last < nth && nth <= MAX_BLOCKS;
    *last = nth;
    follows
}

fn is_offer(next: &Next) -> bool {
    let Next { label, command, meta_context } = next;
    !label.trim().is_empty()
        && one_line(label, MAX_LABEL_CHARS) == *label
        && plain_text(command) == *command
        && label.chars().count() <= MAX_LABEL_CHARS
        && !command.trim().is_empty()
        && command.len() <= MAX_COMMAND_BYTES
        && meta_context.as_ref().is_none_or(|name| work_name(name).as_ref() == Some(name))
}
