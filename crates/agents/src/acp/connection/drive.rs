//! The loop of a connection: reads and writes until one of several ends comes, then ends the agent.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{sleep, timeout};

use super::Connection;
use crate::acp::inbox::{InboxSender, Message};
use crate::acp::outbox::OutboxReader;
use crate::acp::routes::Deliveries;
use crate::acp::transport::Transport;
use crate::acp::wire;
use crate::process::PipeFault;

/// How long an agent whose input is closed may take to close its output too.
const AFTER_INPUT: Duration = Duration::from_secs(2);

/// Why the connection ends.
enum EndCause {
    /// The agent closed its output, or it could not be read.
    Output,
    Input,
    /// The agent left too much of its input unread.
    Unread,
    Stop,
    Kill,
    Unused,
}

impl Connection {
    pub(super) async fn run(self, transport: Transport, mut outbox: OutboxReader, warm: Duration) {
        let Transport { mut lines, mut sink, host, faults } = transport;
        let read = async {
            while let Some(Ok(line)) = lines.next().await {
                self.handle_line(line).await;
            }
        };
        let write = async {
            while let Some((line, _counted)) = outbox.next().await {
                if sink.send(line).await.is_err() {
                    return;
                }
            }
        };
        let end = tokio::select! {
            biased;
            () = self.0.kill.cancelled() => EndCause::Kill,
            () = self.0.stop.cancelled() => EndCause::Stop,
            () = self.unused(warm) => EndCause::Unused,
            () = self.0.unread.cancelled() => EndCause::Unread,
            () = read => EndCause::Output,
            () = async { write.await; sleep(AFTER_INPUT).await } => EndCause::Input,
        };
        self.retire();
        outbox.close();
        drop(sink);
        let fault = faults.first().map(|fault| fault.to_string());
        let why = match (end, fault) {
            (EndCause::Stop | EndCause::Unused, _) => {
                host.stop().await;
                "the agent was stopped".to_owned()
            }
            (EndCause::Kill, _) => {
                host.kill().await;
                "the agent was ended".to_owned()
            }
            (EndCause::Output | EndCause::Input, Some(fault)) => {
                host.kill().await;
                fault
            }
            (EndCause::Unread, _) => {
                host.kill().await;
                PipeFault::InputUnread.to_string()
            }
            (EndCause::Output, None) => host.ended().await,
            (EndCause::Input, None) => {
                host.kill().await;
                "the agent closed its input".to_owned()
            }
        };
        let slots = {
            let mut state = self.state();
            // Sessions that are added later read the reason here.
            drop(self.0.why_ended.set(why.clone()));
            state.routes.clear()
        };
        self.0.ended.cancel();
        for slot in slots {
            slot.end(&why);
        }
    }

    /// Handles one line; waits until its session has room for the message.
    async fn handle_line(&self, line: String) {
        let (incoming, bytes) = (wire::read(&line), line.len());
        // The message may wait for room, and must not be held twice meanwhile.
        drop(line);
        let Deliveries { messages, refused } = self.state().routes.route(incoming, bytes);
        for (slot, session, message, bytes) in messages {
            self.put(slot, session, message, bytes).await;
        }
        if let Some((id, error)) = refused {
            // An agent that sends more requests than it reads answers to gets no more answers.
            drop(self.0.outbox.put(wire::answer(&id, Err(error))));
        }
    }

    async fn put(&self, slot: InboxSender, session: u64, message: Message, bytes: usize) {
        tokio::select! {
            biased;
            () = slot.put(message, bytes) => return,
            () = self.others_waited() => {}
        }
        tracing::warn!(session, "a session does not take the news of a shared agent; it is left behind");
        if let Some(slot) = self.state().routes.remove(session) {
            slot.end("the session did not take the agent's news, and others of the same process were waiting");
        }
    }

    /// Returns once another session has waited as long as one may have to.
    async fn others_waited(&self) {
        loop {
            sleep(self.0.limits.untaken).await;
            if !self.is_alone() {
                return;
            }
        }
    }

    /// Returns once nobody has used the connection for the warm time.
    async fn unused(&self, warm: Duration) {
        loop {
            let changed = self.0.changed.notified();
            let (users, is_closed) = {
                let state = self.state();
                (state.users, state.is_closed)
            };
            if users > 0 {
                changed.await;
                continue;
            }
            let warm = if is_closed { Duration::ZERO } else { warm };
            if timeout(warm, changed).await.is_err() {
                let mut state = self.state();
                if state.users == 0 {
                    state.is_closed = true;
                    return;
                }
            }
        }
    }
}
