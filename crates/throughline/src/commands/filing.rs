//! `throughline pin`, `unpin`, `archive`, `unarchive` and `tag`: how sessions are kept in the list.

use anyhow::Result;
use serde_json::{Value, json};
use server::wire::{Session, SessionRow};

use crate::cli;
use crate::client::Client;
use crate::commands::list::{NO_TITLE, tail};
use crate::data_dir::DataDir;
use crate::terminal::{self, safe, safe_json};

/// What becomes of several sessions.
#[derive(Debug, Clone, Copy)]
pub(super) enum Become {
    Pinned(bool),
    Archived(bool),
}

impl Become {
    fn patch(self) -> Value {
        match self {
            Self::Pinned(pinned) => json!({ "pinned": pinned }),
            Self::Archived(archived) => json!({ "archived": archived }),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Pinned(true) => "Pinned",
            Self::Pinned(false) => "Not pinned any more",
            Self::Archived(true) => "Archived",
            Self::Archived(false) => "In the list again",
        }
    }
}

pub(super) async fn several(data: &DataDir, wish: Become, several: &cli::Several) -> Result<()> {
    let client = Client::connect(data).await?;
    let changed = async {
        // All are found before any is changed, so that a name that means nothing changes nothing.
        let mut ids = Vec::new();
        for name in &several.sessions {
            ids.push(client.find_session(name).await?.row.id);
        }
        let mut rows = Vec::new();
        for id in ids {
            client.patch(&format!("/sessions/{id}"), &wish.patch()).await?;
            rows.push(client.get::<Session>(&format!("/sessions/{id}")).await?.row);
        }
        anyhow::Ok(rows)
    }
    .await;
    client.close().await;
    let rows = changed?;
    if several.json {
        return print_json(&json!({ "sessions": rows.iter().map(filed).collect::<Vec<_>>() }));
    }
    for row in rows {
        let title = row.title.as_deref().unwrap_or(NO_TITLE);
        terminal::line(&safe(&format!("{}: {} {title}", wish.words(), tail(row.id))))?;
    }
    Ok(())
}

pub(super) async fn tag(data: &DataDir, tag: &cli::Tag) -> Result<()> {
    let client = Client::connect(data).await?;
    let changed = async {
        let session = client.find_session(&tag.session).await?;
        if tag.tags.is_empty() && tag.remove.is_empty() {
            return Ok(session.row);
        }
        let path = format!("/sessions/{}", session.row.id);
        client.patch(&path, &json!({ "addTags": tag.tags, "removeTags": tag.remove })).await?;
        anyhow::Ok(client.get::<Session>(&path).await?.row)
    }
    .await;
    client.close().await;
    let row = changed?;
    if tag.json {
        return print_json(&filed(&row));
    }
    let id = tail(row.id);
    Ok(terminal::line(&safe(&match row.tags.is_empty() {
        true => format!("Session {id} has no tags."),
        false => format!("Session {id} has the tags: {}", row.tags.join(", ")),
    }))?)
}

fn filed(row: &SessionRow) -> Value {
    json!({ "id": row.id, "title": row.title, "pinned": row.pinned_at.is_some(), "archived": row.archived_at.is_some(), "tags": row.tags })
}

fn print_json(value: &Value) -> Result<()> {
    Ok(terminal::line(&safe_json(&value.to_string()))?)
}
