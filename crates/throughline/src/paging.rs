//! Cursors of lists that come in pages.
//!
//! Invariant: every page begins after the one before. A cursor that does not move is an error and never a loop.

use anyhow::{Result, ensure};

/// The cursor of the next page to read.
#[derive(Debug, Default)]
pub(crate) struct PageCursor(Option<String>);

impl PageCursor {
    /// Moves to the next page; false at the end of the list.
    pub(crate) fn advance(&mut self, next: Option<String>) -> Result<bool> {
        ensure!(
            next.is_none() || next != self.0,
            "the server leads back to the page that was just read; the list is incomplete, `throughline doctor` may tell why"
        );
        self.0 = next;
        Ok(self.0.is_some())
    }

    /// The cursor as a query parameter, after `?` or `&`; empty for the first page.
    pub(crate) fn parameter(&self, prefix: &str) -> String {
        self.0.as_ref().map(|cursor| format!("{prefix}={cursor}")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_that_does_not_move_is_an_error() {
        let mut cursor = PageCursor::default();
        assert_eq!(cursor.parameter("&after"), "");
        assert!(cursor.advance(Some("a".to_owned())).unwrap());
        assert_eq!(cursor.parameter("&after"), "&after=a");
        assert!(cursor.advance(Some("b".to_owned())).unwrap());
        assert!(cursor.advance(Some("b".to_owned())).is_err());
        assert!(!cursor.advance(None).unwrap());
    }
}
