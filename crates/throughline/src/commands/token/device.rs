//! `throughline token new --device`: signs a phone or another computer in with a QR code.
//!
//! Invariant: the link goes to standard output, this once, and nowhere else.

use std::io::IsTerminal as _;

use anyhow::{Context as _, Result};
use model::Timestamp;
use serde::Serialize;
use server::wire::NewSignInLink;

use crate::client::Client;
use crate::commands::token::{print_json, sign_in_link};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::link::{self, PageAddress, split};
use crate::qr::{self, Colours};
use crate::terminal::{self, safe};

const PAGE: &str = "docs/phone.md";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed<'a> {
    name: &'a str,
    url: &'a str,
    expires_at: Timestamp,
    local_only: bool,
}

pub(super) async fn run(
    client: &Client,
    data: &DataDir,
    name: String,
    at: Option<PageAddress>,
    json: bool,
) -> Result<()> {
    let made = sign_in_link(client, NewSignInLink { name: Some(name.clone()), key: None }).await?;
    let (own, fragment) = split(made.url.expose()).context("the server's link is not what this command expects")?;
    // A person who names an address knows a way to it, such as a tunnel.
    let local_only = made.local_only && at.is_none();
    let address = at.as_ref().map_or(own, PageAddress::as_str);
    let url = format!("{address}/#{fragment}");
    if json {
        return print_json(&Printed { name: &name, url: &url, expires_at: made.expires_at, local_only });
    }
    if !local_only {
        let colours = if std::io::stdout().is_terminal() { Colours::Ours } else { Colours::Theirs };
        for line in qr::lines(&url, colours)? {
            terminal::line(&line)?;
        }
        terminal::line("")?;
    }
    terminal::line(&url)?;
    terminal::line("")?;
    let minutes = engine::CODE_GOOD_FOR.as_secs() / 60;
    let name = safe(&name);
    if local_only {
        terminal::line(&format!(
            "The link signs one browser in as \"{name}\", once, within {minutes} minutes.\n\
             But only this machine reaches {address}: the server listens on loopback alone.\n\
             {PAGE} says how to let your own devices in; then run this again."
        ))?;
    } else {
        terminal::advice(&format!(
            "Point the phone's camera at the code, or open the link on the other computer.\n\
             It signs one browser in as \"{name}\", once, within {minutes} minutes; then `throughline token list` shows it.\n\
             \n\
             If the page does not open there, the device does not reach {address}.\n\
             It has to be in the same private network, know that name and trust its certificate: {PAGE}"
        ))?;
    }
    if let Some(at) = at
        && !link::is_answered(&at, &Config::load(&data.config())?.server.hosts)
    {
        terminal::remark(&format!(
            "the server answers only on the names in server.hosts, and {} is not among them: write hosts = [\"{}\"] into \
             the configuration and start the server again",
            at.authority(),
            at.authority()
        ));
    }
    Ok(())
}
