//! `throughline stop`: cancels the running turn, or takes back the prompt that a session was begun with.

use anyhow::Result;
use serde_json::Value;

use crate::cli::SessionName;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal;

pub(super) async fn run(data: &DataDir, session: &SessionName) -> Result<()> {
    let client = Client::connect(data).await?;
    let session = client.find_session(session).await?;
    let stopped = client.post::<Value>(&format!("/sessions/{}/cancel", session.row.id), None::<&()>).await;
    client.close().await;
    stopped?;
    Ok(terminal::line("Told to stop.")?)
}
