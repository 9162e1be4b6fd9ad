//! The output of a terminal's command, and its exit status.

use std::sync::{Mutex, PoisonError};

use agent_client_protocol::v1::schema::TerminalExitStatus;
use tokio::sync::watch;

#[derive(Debug)]
pub(super) struct Output {
    limit: usize,
    printed: Mutex<Printed>,
    exit: watch::Sender<Option<TerminalExitStatus>>,
}

#[derive(Debug, Default)]
struct Printed {
    /// At most twice the limit, so that old bytes are not removed with every write.
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, printed: Mutex::default(), exit: watch::Sender::new(None) }
    }

    pub(super) fn push(&self, piece: &[u8]) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        printed.bytes.extend_from_slice(piece);
        if printed.bytes.len() > self.limit {
            printed.is_cut = true;
        }
        if printed.bytes.len() > 2 * self.limit {
            let surplus = printed.bytes.len() - self.limit;
            printed.bytes.drain(..surplus);
        }
    }

    /// The kept end of the output, beginning with a whole character, and whether something before it was dropped.
    pub(super) fn text(&self) -> (String, bool) {
        let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut start = printed.bytes.len().saturating_sub(self.limit);
        let is_continuation = |byte: &u8| *byte & 0b1100_0000 == 0b1000_0000;
        while printed.is_cut && printed.bytes.get(start).is_some_and(is_continuation) {
            start += 1;
        }
        (String::from_utf8_lossy(&printed.bytes[start..]).into_owned(), printed.is_cut)
    }

    pub(super) fn end(&self, status: TerminalExitStatus) {
        self.exit.send_replace(Some(status));
    }

    pub(super) fn exit_status(&self) -> Option<TerminalExitStatus> {
        self.exit.borrow().clone()
    }

    pub(super) async fn ended(&self) -> TerminalExitStatus {
        let mut exit = self.exit.subscribe();
        // The sender is in `self`, so the channel is open.
        let status = exit.wait_for(Option::is_some).await.ok().and_then(|status| status.clone());
        status.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_begins_with_a_whole_character() {
        let output = Output::new(5);
        output.push("abc".as_bytes());
        assert_eq!(output.text(), ("abc".to_owned(), false));
        output.push("üüü".as_bytes());
        assert_eq!(output.text(), ("üü".to_owned(), true));
        output.push(&b"x".repeat(100));
        assert_eq!(output.text(), ("xxxxx".to_owned(), true));
        assert!(output.printed.lock().unwrap().bytes.len() <= 10);
    }
}
