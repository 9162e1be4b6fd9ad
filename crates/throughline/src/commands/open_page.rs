//! `throughline open`: opens the page at a session, signed in.

use anyhow::{Result, bail};
use model::SessionId;
use server::wire::{NewSignInLink, SignInLink};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::link::split;
use crate::terminal;

pub(super) const NO_SERVER: &str = "no server is running; `throughline` starts one and opens its page";

pub(super) async fn run(data: &DataDir, open: &cli::Open) -> Result<()> {
    let Some(client) = Client::of_running(data).await? else { bail!(NO_SERVER) };
    let session = match &open.session {
        Some(name) => Some(client.find_session(name).await?.row.id),
        None => None,
    };
    let place = Place { session, turn: open.turn.as_deref(), query: "" };
    if open.print {
        return Ok(terminal::line(&link(&client, place).await?)?);
    }
    at(data, &client, place).await
}

/// Where in the page a link leads: to the list of sessions, to a session, or to a turn of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place<'a> {
    pub(super) session: Option<SessionId>,
    pub(super) turn: Option<&'a str>,
    /// What the session's address says beside it, with its `?`.
    pub(super) query: &'a str,
}

/// Opens the page there.
pub(super) async fn at(data: &DataDir, client: &Client, place: Place<'_>) -> Result<()> {
    if !client.has_server() || data.read_server_file().is_none() {
        terminal::remark("there is no server to open the page of; `throughline` starts one");
        return Ok(());
    }
    in_browser(&link(client, place).await?, "open --print");
    Ok(())
}

/// Opens a link, or says where the page is and which command prints the link.
pub(super) fn in_browser(link: &str, prints: &str) {
    if open::that_detached(link).is_err() {
        let address = without_code(link);
        terminal::remark(&format!(
            "no browser could be opened here; the page is at {address}, and `throughline {prints}` prints a link"
        ));
    }
}

/// The address that a link leads to, which signs nobody in.
pub(super) fn without_code(link: &str) -> &str {
    link.split_once('#').map_or(link, |(address, _)| address)
}

/// A link that signs a browser in and leads there.
pub(super) async fn link(client: &Client, Place { session, turn, query }: Place<'_>) -> Result<String> {
    let link: SignInLink = client.post("/tokens/link", Some(&NewSignInLink::default())).await?;
    let plain = link.url.expose();
    let Some((address, code)) = split(plain) else { return Ok(plain.to_owned()) };
    let Some(session) = session else { return Ok(plain.to_owned()) };
    let turn = turn.map(|turn| format!("&at=t{}", turn.trim_start_matches('t'))).unwrap_or_default();
    Ok(format!("{address}/s/{session}{query}#{code}{turn}"))
}
