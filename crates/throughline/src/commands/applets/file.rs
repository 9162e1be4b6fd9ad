//! An applet as one file, which another person or another machine takes in.
//!
//! Invariants: what is in the file is no more than the person could write by hand, and passes the same rules. Nothing that the person
//! had allowed is in it: whoever takes it in is asked anew.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use model::AppletSlug;
use serde_json::{Map, Value};
use server::wire::{Applet, AppletAbout, AppletRow, NewApplet, NewAppletState, WrittenAppletState};

use super::{path_of, print_json, session_of};
use crate::cli::{self, AppletWord};
use crate::client::Client;
use crate::partial_file::{PartialFile, refuse_existing};
use crate::terminal::{self, safe, safe_json};

/// The field that says what the file is, and in which format.
const FORMAT_FIELD: &str = "throughline-applet";
const FORMAT: u64 = 1;
const SLUG_FIELD: &str = "slug";
const STATE_FIELD: &str = "state";
/// Longer than any file of an applet, however its characters are escaped and its state is spread over lines.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// What a file holds.
#[derive(Debug)]
struct AppletFile {
    /// None if nobody has saved the applet.
    slug: Option<AppletSlug>,
    applet: NewApplet,
    state: Option<Map<String, Value>>,
}

pub(super) async fn export(client: &Client, export: &cli::ExportApplet) -> Result<()> {
    let to_output = export.file == Path::new("-");
    if !to_output {
        refuse_existing(&export.file)?;
    }
    let session = session_of(client, &export.applet, export.session.as_ref()).await?;
    let Applet { row, html, js, css, state, hash: _ } =
        client.get(&path_of(export.applet.as_str(), "", session)).await?;
    let AppletAbout { name, description, per_session, params, agent_usage, state_schema } = row.about;
    if export.with_state && per_session && session.is_none() {
        bail!("each session has a state of its own of {}; say which with --session SESSION", row.slug);
    }
    let file = AppletFile {
        slug: match &export.applet {
            AppletWord::Saved(slug) => Some(slug.clone()),
            AppletWord::Shown => None,
        },
        applet: NewApplet {
            name: name.clone(),
            description,
            html,
            js,
            css,
            per_session,
            params,
            agent_usage,
            state_schema,
        },
        state: export.with_state.then_some(state.state),
    };
    let text = file.text()?;
    if to_output {
        // The same JSON, without what would control a terminal.
        return Ok(terminal::line(&safe_json(&text))?);
    }
    let mut out = PartialFile::begin(&export.file)?;
    writeln!(out, "{text}").with_context(|| format!("could not write {}", export.file.display()))?;
    out.finish()?;
    let with_state = if export.with_state { " with its state" } else { "" };
    Ok(terminal::line(&safe(&format!("{name} is in {}{with_state}", export.file.display())))?)
}

pub(super) async fn import(client: &Client, import: &cli::ImportApplet, json: bool) -> Result<()> {
    let path = import.file.display();
    let AppletFile { slug, applet, state } =
        AppletFile::read(&import.file).with_context(|| format!("nothing was imported from {path}"))?;
    let Some(slug) = import.slug.clone().or(slug) else {
        bail!("the applet in {path} was never saved, so it has no slug; give it one with --as SLUG");
    };
    let has_state = state.is_some();
    let state = state.filter(|_| import.with_state);
    if import.with_state && state.is_none() {
        bail!("{path} holds no state; `throughline applets export --with-state` writes one");
    }
    if import.with_state && applet.per_session && import.session.is_none() {
        bail!("each session has a state of its own of {slug}; say which with --session SESSION");
    }
    let session = match &import.session {
        Some(name) => Some(client.find_session(name).await?.row.id),
        None => None,
    };
    let known: Vec<AppletRow> = client.get("/storage/applets").await?;
    if let Some(row) = known.iter().find(|row| row.slug == slug.as_str()).filter(|_| !import.replace) {
        let whose = if row.bundled { "it comes with the program" } else { "it is yours" };
        bail!(
            "there is an applet {slug} already, {} ({whose}); --replace puts this one in its place, --as SLUG saves it beside it",
            row.about.name
        );
    }
    let row: AppletRow = client.put(&path_of(slug.as_str(), "", None), &applet).await?;
    let with_state = state.is_some();
    if let Some(state) = state {
        let new = NewAppletState { state: Some(state), merge: None, version: None, writer: None };
        let set = client.post::<WrittenAppletState>(&path_of(slug.as_str(), "/state", session), Some(&new)).await;
        set.with_context(|| format!("{slug} is saved, but its state is not"))?;
    }
    if json {
        return print_json(&row);
    }
    let words = if with_state { " with its state" } else { "" };
    terminal::line(&safe(&format!("{} ({slug}) is saved{words}.", row.about.name)))?;
    if has_state && !with_state {
        terminal::line("The file holds a state, too: with --replace --with-state it is set.")?;
    }
    Ok(terminal::advice(&format!("`throughline applets open {slug}` opens it."))?)
}

impl AppletFile {
    fn text(&self) -> Result<String> {
        let mut fields = Map::new();
        fields.insert(FORMAT_FIELD.to_owned(), FORMAT.into());
        if let Some(slug) = &self.slug {
            fields.insert(SLUG_FIELD.to_owned(), slug.as_str().into());
        }
        if let Value::Object(about) = serde_json::to_value(&self.applet)? {
            fields.extend(about);
        }
        if let Some(state) = &self.state {
            fields.insert(STATE_FIELD.to_owned(), Value::Object(state.clone()));
        }
        Ok(serde_json::to_string_pretty(&fields)?)
    }

    fn read(path: &Path) -> Result<Self> {
        let mut text = Vec::new();
        let read = match path == Path::new("-") {
            true => io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut text),
            false => File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text)),
        };
        read.context("it can not be read")?;
        ensure!(
            text.len() as u64 <= MAX_FILE_BYTES,
            "it has more than {} MiB, so it is no applet",
            MAX_FILE_BYTES >> 20
        );
        Self::parse(&text)
    }

    fn parse(text: &[u8]) -> Result<Self> {
        let no_applet = || anyhow!("it is no applet that `throughline applets export` wrote");
        let mut fields: Map<String, Value> = serde_json::from_slice(text).map_err(|_| no_applet())?;
        match fields.shift_remove(FORMAT_FIELD).and_then(|format| format.as_u64()) {
            Some(FORMAT) => (),
            Some(newer @ FORMAT..) => {
                bail!("a newer version wrote it (format {newer}); this one reads format {FORMAT}")
            }
            Some(_) | None => return Err(no_applet()),
        }
        let slug =
            fields.shift_remove(SLUG_FIELD).map(serde_json::from_value).transpose().context("its slug is none")?;
        let state = match fields.shift_remove(STATE_FIELD) {
            None => None,
            Some(Value::Object(state)) => Some(state),
            Some(_) => bail!("its state is no object"),
        };
        let applet = serde_json::from_value(Value::Object(fields))
            .context("what it says of the applet is not as it has to be")?;
        Ok(Self { slug, applet, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        r#"{ "throughline-applet": 1, "slug": "board", "name": "Board", "html": "<p>", "state": { "a": 1 } }"#;

    #[test]
    fn a_file_is_read_back_as_it_was_written() {
        let file = AppletFile::parse(FILE.as_bytes()).unwrap();
        assert_eq!((file.applet.name.as_str(), file.applet.html.as_str()), ("Board", "<p>"));
        let text = file.text().unwrap();
        assert!(text.starts_with("{\n  \"throughline-applet\": 1,\n  \"slug\": \"board\",\n  \"name\": "), "{text}");
        let again = AppletFile::parse(text.as_bytes()).unwrap();
        assert_eq!((again.applet, again.slug, again.state), (file.applet, file.slug, file.state));
    }

    #[test]
    fn what_is_no_applet_is_refused_with_the_reason() {
        let refused = |text: &str| format!("{:#}", AppletFile::parse(text.as_bytes()).unwrap_err());
        for wrong in ["", "[]", "{}", "hello", r#"{"throughline-applet":"1"}"#, r#"{"throughline-applet":0}"#] {
            assert_eq!(refused(wrong), "it is no applet that `throughline applets export` wrote", "{wrong}");
        }
        assert_eq!(
            refused(r#"{"throughline-applet":2}"#),
            "a newer version wrote it (format 2); this one reads format 1"
        );
        let changed = |from: &str, to: &str| refused(&FILE.replace(from, to));
        assert!(changed("board", "../etc").contains("its slug is none: a slug has"));
        assert_eq!(changed(r#"{ "a": 1 }"#, "[1]"), "its state is no object");
        assert!(changed("html", "htm").contains("unknown field `htm`"));
        assert!(changed(r#""name": "Board", "#, "").contains("missing field `name`"));
        assert!(changed("\"<p>\"", "1").contains("invalid type"));
    }
}
