//! `throughline open`: opens the page at a session, signed in.

use anyhow::{Result, bail};
use model::SessionId;
use server::wire::{NewSignInLink, SignInLink};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::link::split;
use crate::terminal;

pub(super) async fn run(data: &DataDir, open: &cli::Open) -> Result<()> {
    let Some(client) = Client::of_running(data).await? else {
        bail!("no server is running; `throughline` starts one and opens its page");
    };
    let session = match &open.session {
        Some(name) => Some(client.find_session(name).await?.row.id),
        None => None,
    };
    if open.print {
        return Ok(terminal::line(&link(&client, session, open.turn.as_deref()).await?)?);
    }
    at(data, &client, session, open.turn.as_deref()).await
}

/// Opens the page at a turn of a session, at its end, or at the list of sessions.
pub(super) async fn at(data: &DataDir, client: &Client, session: Option<SessionId>, turn: Option<&str>) -> Result<()> {
    if !client.has_server() || data.read_server_file().is_none() {
        terminal::remark("there is no server to open the page of; `throughline` starts one");
        return Ok(());
    }
    let link = link(client, session, turn).await?;
    if open::that_detached(&link).is_err() {
        let (address, _) = split(&link).unwrap_or((&link, ""));
        terminal::remark(&format!(
            "no browser could be opened here; the page is at {address}, and `throughline open --print` prints a link"
        ));
    }
    Ok(())
}

/// A link that signs a browser in and leads there.
async fn link(client: &Client, session: Option<SessionId>, turn: Option<&str>) -> Result<String> {
    let link: SignInLink = client.post("/tokens/link", Some(&NewSignInLink::default())).await?;
    let plain = link.url.expose();
    let Some((address, code)) = split(plain) else { return Ok(plain.to_owned()) };
    let Some(session) = session else { return Ok(plain.to_owned()) };
    let turn = turn.map(|turn| format!("&at=t{}", turn.trim_start_matches('t'))).unwrap_or_default();
    Ok(format!("{address}/s/{session}#{code}{turn}"))
}
