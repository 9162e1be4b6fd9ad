//! Numbers the blocks of text and thought in one turn; both are numbered together, from 0.

use agent_client_protocol::v1::schema::MessageId;

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speech {
    Text,
    Thought,
}

#[derive(Debug, Default)]
pub(super) struct Blocks {
    next: u32,
    open: Option<OpenBlock>,
}

#[derive(Debug)]
struct OpenBlock {
    number: u32,
    speech: Speech,
    message: Option<MessageId>,
}

impl Blocks {
    /// The number of the block that a chunk belongs to: the open block if the chunk continues it. Many agents send no
    /// message ids; a chunk without one continues the last block. A chunk with an id never continues a block without
    /// one: an agent that names its messages leaves the name off what is none, such as a warning of its own.
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
        self.open = Some(OpenBlock { number, speech, message });
        number
    }

    /// A call has ended: the next chunk without a message id begins a new block.
    pub(super) fn close_unnamed(&mut self) {
        self.open.take_if(|open| open.message.is_none());
    }

    /// Something else came: the next chunk begins a new block.
    pub(super) fn close(&mut self) {
        self.open = None;
    }
}
