//! Finds the fences of blocks in words as they come.

use crate::{Event, Turn};

/// Reads a turn's words, piece by piece, and tells the blocks in them.
#[derive(Debug, Clone, Default)]
pub struct BlockScanner {}

impl BlockScanner {
    /// Reads on, in this turn's text of that number; gives `next.offered` and `block.shown` of what ended with it.
    pub fn read(&mut self, _turn: Turn, _block: u32, _text: &str) -> Vec<Event> {
        Vec::new()
    }

    /// The turn is over, or another text began: what was still open ends here.
    pub fn end(&mut self) -> Vec<Event> {
        Vec::new()
    }
}
