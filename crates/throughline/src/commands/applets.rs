//! `throughline applets`: lists applets, shows, opens and deletes one, and takes one from a folder to another as a file.

mod file;
mod show;

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use engine::{Clock as _, SystemClock};
use model::SessionId;
use serde::Serialize;
use serde_json::json;
use server::wire::{Applet, AppletRow};

use crate::cli::{self, AppletParam, AppletWord, AppletsCommand, SessionName};
use crate::client::Client;
use crate::commands::list::fitting_table;
use crate::commands::open_page::{self, Place};
use crate::data_dir::DataDir;
use crate::link::encoded;
use crate::pager;
use crate::style::Style;
use crate::terminal::{self, Cell, ago, safe, safe_json};

/// The column that gives way where there is little room.
const DESCRIPTION: &str = "DESCRIPTION";

pub(super) async fn run(data: &DataDir, applets: cli::Applets) -> Result<()> {
    let client = Client::connect(data).await?;
    let json = applets.json;
    let done = match applets.command {
        None => list(&client, json).await,
        Some(AppletsCommand::List(list)) => self::list(&client, json || list.json).await,
        Some(AppletsCommand::Show(show)) => show::print(data, &client, &show, json || show.json).await,
        Some(AppletsCommand::Open(open)) => self::open(&client, &open).await,
        Some(AppletsCommand::Delete(delete)) => self::delete(&client, &delete, json || delete.json).await,
        Some(AppletsCommand::Export(export)) => file::export(&client, &export).await,
        Some(AppletsCommand::Import(import)) => file::import(&client, &import, json || import.json).await,
    };
    client.close().await;
    done
}

async fn list(client: &Client, json: bool) -> Result<()> {
    let rows: Vec<AppletRow> = client.get("/storage/applets").await?;
    if json {
        return print_json(&rows);
    }
    let now = SystemClock.now();
    let cells = |row: &AppletRow| {
        let (from, saved) = match row.bundled {
            true => (Cell::styled("program", Style::Dim), String::new()),
            false => (Cell::plain("yours"), ago(row.updated_at, now)),
        };
        let (name, description) = (Cell::plain(&row.about.name), Cell::styled(&row.about.description, Style::Dim));
        vec![Cell::plain(&row.slug), name, from, Cell::plain(saved), description]
    };
    let header = ["SLUG", "NAME", "FROM", "SAVED", DESCRIPTION];
    Ok(pager::print(&fitting_table(&header, DESCRIPTION, rows.iter().map(cells).collect()))?)
}

async fn open(client: &Client, open: &cli::OpenApplet) -> Result<()> {
    if !client.has_server() {
        bail!(open_page::NO_SERVER);
    }
    let params: BTreeMap<String, String> =
        open.params.iter().cloned().map(|AppletParam { name, value }| (name, value)).collect();
    if !model::are_applet_params(&params) {
        bail!("an applet is given at most 20 values, each of one line and at most 2,000 characters");
    }
    let session = client.find_session(open.session.as_ref().unwrap_or(&SessionName::Last)).await?.row.id;
    let applet: Applet = client.get(&path_of(open.applet.as_str(), "", Some(session))).await?;
    let required = applet.row.about.params.iter().filter(|(_, param)| param.required).map(|(name, _)| name);
    if let Some(missing) = required.into_iter().find(|name| !params.contains_key(*name)) {
        bail!("{} needs to be given {missing}, such as {missing}=VALUE", applet.row.slug);
    }
    let query = query_of(open.applet.as_str(), &params);
    let link = open_page::link(client, Place { session: Some(session), turn: None, query: &query }).await?;
    if open.print {
        return Ok(terminal::line(&link)?);
    }
    terminal::line(open_page::without_code(&link))?;
    open_page::in_browser(&link, &format!("applets open {} --print", open.applet.as_str()));
    Ok(())
}

async fn delete(client: &Client, delete: &cli::DeleteApplet, json: bool) -> Result<()> {
    let path = path_of(delete.slug.as_str(), "", None);
    let AppletRow { slug, about, bundled, .. } = client.get::<Applet>(&path).await?.row;
    let name = about.name;
    // The server refuses to delete what comes with the program; nobody needs to be asked about that.
    let question = format!("Delete {name} ({slug}) with its state, for every session? Nothing brings it back. [y/N] ");
    terminal::agree(bundled || delete.yes, &question, "nothing was deleted")?;
    client.delete(&path).await?;
    if json {
        return print_json(&json!({ "slug": slug, "deleted": true }));
    }
    terminal::line(&safe(&format!("{name} ({slug}) is deleted.")))?;
    let rows: Vec<AppletRow> = client.get("/storage/applets").await?;
    if rows.iter().any(|row| row.slug == slug) {
        terminal::line(&format!("The {slug} that comes with the program is there again."))?;
    }
    Ok(())
}

/// The session beside which an applet is meant: the one that was named, or for one that nobody saved the last.
async fn session_of(client: &Client, applet: &AppletWord, named: Option<&SessionName>) -> Result<Option<SessionId>> {
    let name = match (named, applet) {
        (Some(name), _) => name,
        (None, AppletWord::Shown) => &SessionName::Last,
        (None, AppletWord::Saved(_)) => return Ok(None),
    };
    Ok(Some(client.find_session(name).await?.row.id))
}

/// The route of an applet, or of something `below` it.
fn path_of(applet: &str, below: &str, session: Option<SessionId>) -> String {
    let session = session.map(|session| format!("?session={session}")).unwrap_or_default();
    format!("/storage/applet/{applet}{below}{session}")
}

/// What the page's address says of an applet that is open. Slashes stay readable.
fn query_of(applet: &str, params: &BTreeMap<String, String>) -> String {
    let field =
        |(name, value): (&String, &String)| format!("&{}={}", encoded(name), encoded(value).replace("%2F", "/"));
    format!("?applet={applet}{}", params.iter().map(field).collect::<String>())
}

fn print_json(value: &impl Serialize) -> Result<()> {
    Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(value)?))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gives_an_applet_what_was_typed() {
        let params = [("path", "src/a b&c.rs"), ("q", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(query_of("text-editor", &params.into()), "?applet=text-editor&path=src/a%20b%26c.rs&q=");
        assert_eq!(query_of("_shown", &BTreeMap::new()), "?applet=_shown");
    }
}
