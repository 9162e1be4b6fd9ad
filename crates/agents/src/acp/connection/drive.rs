//! What runs a connection: reads and writes until one of many ends, and then sees to the agent's.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{sleep, timeout};

use super::Connection;
use crate::acp::inbox::{Message, Slot};
use crate::acp::outbox::Lines;
use crate::acp::routes::Deliveries;
use crate::acp::transport::Transport;
use crate::acp::wire;
use crate::process::PipeFault;

/// How long an agent whose input is gone may take to end its output too.
const AFTER_INPUT: Duration = Duration::from_secs(2);

/// Why the connection is at its end.
enum End {
    /// The agent's output ended, or could not be read.
    Output,
    Input,
    /// It left too much of its input unread.
    Unread,
    Stop,
    Kill,
    Unused,
}

impl Connection {
    pub(super) async fn run(self, transport: Transport, mut outbox: Lines, warm: Duration) {
        let Transport { mut lines, mut sink, body, faults } = transport;
        let read = async {
            while let Some(Ok(line)) = lines.next().await {
                self.hear(line).await;
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
            () = self.0.kill.cancelled() => End::Kill,
            () = self.0.stop.cancelled() => End::Stop,
            () = self.unused(warm) => End::Unused,
            () = self.0.unread.cancelled() => End::Unread,
            () = read => End::Output,
            () = async { write.await; sleep(AFTER_INPUT).await } => End::Input,
        };
        self.retire();
        outbox.close();
        drop(sink);
        let fault = faults.first().map(|fault| fault.to_string());
        let why = match (end, fault) {
            (End::Stop | End::Unused, _) => {
                body.stop().await;
                "the agent was stopped".to_owned()
            }
            (End::Kill, _) => {
                body.kill().await;
                "the agent was ended".to_owned()
            }
            (End::Output | End::Input, Some(fault)) => {
                body.kill().await;
                fault
            }
            (End::Unread, _) => {
                body.kill().await;
                PipeFault::InputUnread.to_string()
            }
            (End::Output, None) => body.ended().await,
            (End::Input, None) => {
                body.kill().await;
                "the agent closed its input".to_owned()
            }
        };
        let slots = {
            let mut state = self.state();
            // Whoever comes later finds it.
            drop(self.0.why_ended.set(why.clone()));
            state.routes.clear()
        };
        self.0.ended.cancel();
        for slot in slots {
            slot.end(&why);
        }
    }

    /// Takes in a line: waits until there is room for what it says.
    async fn hear(&self, line: String) {
        let (incoming, bytes) = (wire::read(&line), line.len());
        // What it says may wait for room, and is not held twice meanwhile.
        drop(line);
        let Deliveries { messages, refused } = self.state().routes.sort(incoming, bytes);
        for (slot, session, message, bytes) in messages {
            self.put(slot, session, message, bytes).await;
        }
        if let Some((id, error)) = refused {
            // An agent that asks for more than it reads the answers of hears no more of them.
            drop(self.0.outbox.put(wire::answer(&id, Err(error))));
        }
    }

    async fn put(&self, slot: Slot, session: u64, message: Message, bytes: usize) {
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

    /// Somebody else has waited for as long as one has to.
    async fn others_waited(&self) {
        loop {
            sleep(self.0.limits.untaken).await;
            if !self.is_alone() {
                return;
            }
        }
    }

    /// Nobody uses it, nor has for as long as it is kept warm.
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
