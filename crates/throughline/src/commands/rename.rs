//! `throughline rename`: sets a session's name, which only a person changes.

use anyhow::Result;
use serde_json::json;
use server::wire::Session;

use crate::cli;
use crate::client::Client;
use crate::commands::list::{NO_TITLE, tail};
use crate::data_dir::DataDir;
use crate::terminal::{self, safe, safe_json};

pub(super) async fn run(data: &DataDir, rename: cli::Rename) -> Result<()> {
    let client = Client::connect(data).await?;
    let id = client.find_session(&rename.session).await?.row.id;
    let renamed = async {
        client.patch(&format!("/sessions/{id}"), &json!({ "name": rename.name })).await?;
        client.get::<Session>(&format!("/sessions/{id}")).await
    }
    .await;
    client.close().await;
    let row = renamed?.row;
    if rename.json {
        let told = json!({ "id": id, "name": row.meta.name, "title": row.title });
        return Ok(terminal::line(&safe_json(&told.to_string()))?);
    }
    let title = row.title.as_deref().unwrap_or(NO_TITLE);
    Ok(terminal::line(&safe(&match row.meta.name.is_empty() {
        true => format!("Session {} has no name any more; its title is: {title}", tail(id)),
        false => format!("Session {} is called: {title}", tail(id)),
    }))?)
}
