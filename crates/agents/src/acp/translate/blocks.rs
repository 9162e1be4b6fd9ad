//! The numbers of what an agent says and thinks in one turn: texts and thoughts are numbered together, from 0.

use agent_client_protocol::v1::schema::MessageId;

/// What sort of words a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speech {
    Text,
    Thought,
}

#[derive(Debug, Default)]
pub(super) struct Blocks {
    next: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    number: u32,
    speech: Speech,
    message: Option<MessageId>,
}

impl Blocks {
    /// The block that these words belong to: the open one if they go on with it. Many agents give messages no ids;
    /// a word without one goes on with what was said last.
    pub(super) fn number(&mut self, speech: Speech, message: Option<MessageId>) -> u32 {
        if let Some(open) = &mut self.open {
            let is_same = match (&open.message, &message) {
                (Some(open), Some(message)) => open == message,
                (None, _) | (_, None) => true,
            };
            if open.speech == speech && is_same {
                open.message = message.or_else(|| open.message.take());
                return open.number;
            }
        }
        let number = self.next;
        self.next += 1;
        self.open = Some(Open { number, speech, message });
        number
    }

    /// Something came between: the next words begin a block.
    pub(super) fn close(&mut self) {
        self.open = None;
    }
}
