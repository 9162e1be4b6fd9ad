//! Marks a session as seen once a person has read it at the terminal, as the page does when it is opened.
//!
//! Invariant: what a pipe takes, or a program reads as JSON, nobody has seen.

use std::io::IsTerminal as _;

use model::SessionId;
use server::wire::Observed;

use crate::client::Client;

pub(super) async fn mark_seen(client: &Client, session: SessionId, json: bool) {
    if json || !std::io::stdout().is_terminal() {
        return;
    }
    // It was read all the same; that this could not be noted is no reason to fail.
    client.post::<Observed>(&format!("/sessions/{session}/observe"), None::<&()>).await.ok();
}
