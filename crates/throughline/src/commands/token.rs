//! `throughline token`: makes, lists and ends credentials.

mod device;

use anyhow::{Result, bail};
use engine::{Clock as _, SystemClock};
use serde::Serialize;
use server::wire::{IssuedToken, NewSignInLink, NewToken, SignInLink, Token, TokenPage};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal::{self, ago, safe_json, table};

pub(super) async fn run(data: &DataDir, command: cli::Token) -> Result<()> {
    let client = Client::connect(data).await?;
    let done = carry_out(&client, data, command).await;
    client.close().await;
    done
}

async fn carry_out(client: &Client, data: &DataDir, command: cli::Token) -> Result<()> {
    match command {
        cli::Token::Link { json } => {
            let link = sign_in_link(client, NewSignInLink::default()).await?;
            if json {
                return print_json(&link);
            }
            terminal::line(link.url.expose())?;
        }
        cli::Token::New(new) => match new.device {
            Some(device) => return device::run(client, data, device, new.url, new.json).await,
            None => return make_program_token(client, new).await,
        },
        cli::Token::List { json } => {
            let page: TokenPage = client.get("/tokens").await?;
            if json {
                return print_json(&page);
            }
            if page.tokens.is_empty() {
                return Ok(terminal::line("No credentials yet. The server makes one when it starts.")?);
            }
            let now = SystemClock.now();
            let rows: Vec<Vec<String>> = page.tokens.iter().map(|token| row(token, now)).collect();
            for line in table(&["ID", "KIND", "MADE", "NAME", "SESSION"], &rows) {
                terminal::line(&line)?;
            }
        }
        cli::Token::Revoke { id, json } => {
            client.delete(&format!("/tokens/{id}")).await?;
            if json {
                return print_json(&serde_json::json!({ "success": true }));
            }
            terminal::line("It opens nothing any more.")?;
        }
        cli::Token::Rotate { yes, json } => {
            let question = "End every credential? Each browser, phone and program has to be signed in again. [y/N] ";
            if !yes && terminal::is_at_keyboard() && !terminal::confirm(question)? {
                bail!("nothing was changed");
            }
            let new: Token = client.post("/tokens/rotate", None::<&()>).await?;
            if json {
                return print_json(&new);
            }
            let file = data.token();
            terminal::line(&format!("Every credential has ended. The new token is in {}.", file.display()))?;
            terminal::advice("`throughline token link` signs a browser in again.")?;
        }
    }
    Ok(())
}

/// A new link to the running server; a code of a server inside of this process would end with this command.
async fn sign_in_link(client: &Client, new: NewSignInLink) -> Result<SignInLink> {
    if !client.has_server() {
        bail!("no server is running to sign in to; start one with `throughline`");
    }
    client.post("/tokens/link", Some(&new)).await
}

async fn make_program_token(client: &Client, new: cli::NewToken) -> Result<()> {
    let session = match new.session {
        Some(session) => Some(client.find_session(&session).await?.row.id),
        None => None,
    };
    let name = new.name.unwrap_or_default();
    let issued: IssuedToken = client.post("/tokens", Some(&NewToken { name, session })).await?;
    if new.json {
        return print_json(&issued);
    }
    Ok(terminal::line(issued.secret.expose())?)
}

fn print_json(answer: &impl Serialize) -> Result<()> {
    Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(answer)?))?)
}

fn row(token: &Token, now: model::Timestamp) -> Vec<String> {
    let kind = serde_json::to_value(token.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned));
    let session = token.session.map(|session| session.to_string()).unwrap_or_default();
    vec![token.id.to_string(), kind.unwrap_or_default(), ago(token.issued_at, now), token.name.clone(), session]
}
