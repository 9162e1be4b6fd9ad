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
    /// a word without one goes on with what was said last. One with an id goes on with nothing that had none: an agent that
    /// names its messages says so what is none of them, such as a warning of its own.
    pub(super) fn number(&mut self, speech: Speech, message: Option<MessageId>) -> u32 {
        if let Some(open) = &self.open {
            let is_same = match (&open.message, &message) {
                (Some(open), Some(message)) => open == message,
                (None, Some(_)) => false,
                (_, None) => true,
            };
            if open.speech == speech && is_same {
                return open.number;
            }
        }
        let number = self.next;
        self.next += 1;
        self.open = Some(Open { number, speech, message });
        number
    }

    /// A call ended between: words that name no message are another message now.
    pub(super) fn close_unnamed(&mut self) {
        self.open.take_if(|open| open.message.is_none());
    }

    /// Something came between: the next words begin a block.
    pub(super) fn close(&mut self) {
        self.open = None;
    }
}
