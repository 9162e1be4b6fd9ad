//! `throughline delete` and `undelete`: deletes a session and brings it back.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::cli;
use crate::client::Client;
use crate::commands::list::tail;
use crate::data_dir::DataDir;
use crate::terminal;

pub(super) async fn run(data: &DataDir, delete: &cli::Delete) -> Result<()> {
    let client = Client::connect(data).await?;
    let row = client.find_session(&delete.session).await?.row;
    let session = row.id;
    let title = row.title.as_deref().unwrap_or("it has no title yet");
    let question = format!("Delete {} ({title}) for good? Nothing brings it back. [y/N] ", tail(session));
    if delete.now && !delete.yes && terminal::is_at_keyboard() && !terminal::confirm(&question)? {
        bail!("nothing was deleted");
    }
    let now = if delete.now { "?now=true" } else { "" };
    let deleted = client.delete(&format!("/sessions/{session}{now}")).await;
    client.close().await;
    deleted?;
    if delete.json {
        return Ok(terminal::line(&json!({ "id": session, "restorable": !delete.now }).to_string())?);
    }
    match delete.now {
        true => terminal::line(&format!("Session {} is gone for good.", tail(session)))?,
        false => {
            terminal::line(&format!("Session {} is deleted.", tail(session)))?;
            terminal::advice(&format!("Within seven days `throughline undelete {session}` brings it back."))?;
        }
    }
    Ok(())
}

pub(super) async fn undo(data: &DataDir, undelete: &cli::Undelete) -> Result<()> {
    let client = Client::connect(data).await?;
    let session = client.find_deleted(&undelete.session).await?;
    let restored = client.post::<Value>(&format!("/sessions/{session}/restore"), None::<&()>).await;
    client.close().await;
    restored?;
    if undelete.json {
        return Ok(terminal::line(&json!({ "id": session }).to_string())?);
    }
    Ok(terminal::line(&format!("Session {} is back.", tail(session)))?)
}
