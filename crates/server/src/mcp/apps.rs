//! Offers applets to other hosts of MCP Apps (2026-01-26): each document is a resource, and tools that only its page may call read and
//! write its state.
//!
//! Invariants: a page reaches the one applet whose handle it was given, and of it only the page and the state. What it shows has no network
//! there either, whatever that host allows. A handle is good until the server ends.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use engine::{Applet, AppletAbout, AppletContent, AppletError, Engine, IdSource as _, SystemIds};
use model::{AppletName, SessionId, one_line};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::applet_frame;

/// What the standard calls a page that a host shows.
const PAGE: &str = "text/html;profile=mcp-app";
const SCHEME: &str = "ui://throughline/";
/// The page of the tools that show an applet: it learns from the tool's result which one.
pub(super) const SHELL: &str = "ui://throughline/applet";
const SAVED: &str = "applet/";
const SHOWN: &str = "shown";
/// How many resources a page of the list has.
const MAX_LISTED: usize = 100;
/// How much of what an applet says of itself is in the list.
const LINE_CHARS: usize = 300;
/// What a tool's result says to the page that shows it, beside what it says to the model.
const RESULT_KEY: &str = "throughline/applet";

/// The page's side towards such a host, which does not know our part of the bridge.
const BRIDGE_SCRIPT: &str = include_str!("apps/bridge.js");
/// The applet's own policy, as far as a document can state it by itself.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; \
                      connect-src 'none'; form-action 'none'; base-uri 'none'";

/// Makes and checks handles: names of applets that nobody can guess, for one session each.
pub(super) struct Handles([u8; 32]);

impl Handles {
    pub(super) fn new() -> Self {
        Self(SystemIds.secret_bytes())
    }

    /// `counter.`, then what only this server can make.
    pub(super) fn make(&self, session: SessionId, applet: &AppletName) -> String {
        let word = applet.word();
        // Hashed twice, so that nobody can go on from what they know.
        let inner = Sha256::new().chain_update(self.0).chain_update(format!("{session} {word}")).finalize();
        let outer = Sha256::new().chain_update(self.0).chain_update(inner).finalize();
        format!("{word}.{}", BASE64_URL_SAFE_NO_PAD.encode(&outer[..16]))
    }

    /// The applet that a handle was made for.
    pub(super) fn find(&self, session: SessionId, handle: &str) -> Option<AppletName> {
        let (word, _) = handle.rsplit_once('.')?;
        let applet = match word {
            AppletName::SHOWN => AppletName::Shown(session),
            slug => AppletName::Saved(slug.parse().ok()?),
        };
        // Hashes are compared, so that the time it takes says nothing of how much was right.
        let is_it = Sha256::digest(self.make(session, &applet)) == Sha256::digest(handle);
        is_it.then_some(applet)
    }

    /// The applet as its page is told of it, with its handle.
    pub(super) fn applet_json(&self, session: SessionId, applet: &Applet) -> Value {
        json!({
            "handle": self.make(session, &applet.name),
            "applet": applet.name.word(),
            "title": applet.about.name,
            "session": session,
            "hash": applet.content.hash(),
        })
    }

    /// What goes with the result of a tool that shows an applet, for the page alone.
    pub(super) fn result_meta(
        &self,
        session: SessionId,
        name: &AppletName,
        params: &BTreeMap<String, String>,
    ) -> MetaObject {
        let shown = json!({ "handle": self.make(session, name), "params": params });
        MetaObject([(RESULT_KEY.to_owned(), shown)].into_iter().collect())
    }
}

/// What is said of a tool or of a resource to a host that shows pages.
pub(super) fn ui_meta(ui: Value) -> MetaObject {
    MetaObject([("ui".to_owned(), ui)].into_iter().collect())
}

/// The metadata of a page that needs no other origin and no permission.
fn no_origins_or_permissions() -> MetaObject {
    ui_meta(json!({ "csp": {}, "permissions": {} }))
}

/// The applets, by slug; a page of them begins after the slug that the cursor is.
pub(super) async fn list(
    engine: &Engine,
    session: SessionId,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let mut applets = engine.applets().await.map_err(|err| failed(&err))?;
    applets.sort_by(|a, b| a.slug.cmp(&b.slug));
    applets.retain(|applet| cursor.is_none_or(|after| applet.slug.as_str() > after));
    let next = applets.get(MAX_LISTED - 1).filter(|_| applets.len() > MAX_LISTED).map(|last| last.slug.to_string());
    let mut listed: Vec<_> = applets
        .iter()
        .take(MAX_LISTED)
        .map(|applet| resource(&format!("{SAVED}{}", applet.slug), applet.slug.as_str(), &applet.about))
        .collect();
    if cursor.is_none()
        // One that can not be read is left out, as any other is.
        && let Ok(own) = engine.applet(AppletName::Shown(session)).await
    {
        listed.insert(0, resource(SHOWN, SHOWN, &own.about));
    }
    let mut result = ListResourcesResult::with_all_items(listed);
    result.next_cursor = next;
    Ok(result)
}

fn resource(path: &str, name: &str, about: &AppletAbout) -> Resource {
    let resource = Resource::new(format!("{SCHEME}{path}"), name)
        .with_title(one_line(&about.name, LINE_CHARS))
        .with_mime_type(PAGE)
        .with_meta(no_origins_or_permissions());
    match one_line(&about.description, LINE_CHARS) {
        text if text.is_empty() => resource,
        text => resource.with_description(text),
    }
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let saved = ResourceTemplate::new(format!("{SCHEME}{SAVED}{{slug}}"), "applet");
    vec![saved.with_title("A saved applet").with_mime_type(PAGE).with_meta(no_origins_or_permissions())]
}

/// The document of an applet, or the one that becomes whichever a tool shows.
pub(super) async fn read(
    engine: &Engine,
    handles: &Handles,
    session: SessionId,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let document = match uri.strip_prefix(SCHEME) {
        Some(_) if uri == SHELL => Some(document(None, &AppletContent::default())),
        Some(path) => match applet_of_path(session, path) {
            Some(name) => found(engine.applet(name).await)?.map(|applet| {
                let described = handles.applet_json(session, &applet);
                document(Some(&described), &applet.content)
            }),
            None => None,
        },
        None => None,
    };
    let Some(document) = document else {
        let shown: String = uri.chars().take(200).collect();
        let words = format!("there is no resource {shown:?}; resources/list has those that there are");
        return Err(ErrorData::resource_not_found(words, Some(json!({ "uri": shown }))));
    };
    let contents = ResourceContents::text(document, uri).with_mime_type(PAGE).with_meta(no_origins_or_permissions());
    Ok(ReadResourceResult::new(vec![contents]))
}

fn applet_of_path(session: SessionId, path: &str) -> Option<AppletName> {
    match path.strip_prefix(SAVED) {
        Some(slug) => slug.parse().ok().map(AppletName::Saved),
        None => (path == SHOWN).then_some(AppletName::Shown(session)),
    }
}

/// The bridge stands before the runtime, which then speaks with it as it does with our page.
fn document(applet: Option<&Value>, content: &AppletContent) -> String {
    let head = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n");
    let applet = applet.map(Value::to_string).unwrap_or_default();
    let applet = applet.replace('&', "&amp;").replace('"', "&quot;");
    let first = format!("<script data-applet=\"{applet}\">{BRIDGE_SCRIPT}</script>\n");
    applet_frame::compose(&head, &first, content)
}

fn found(applet: Result<Applet, AppletError>) -> Result<Option<Applet>, ErrorData> {
    match applet {
        Ok(applet) => Ok(Some(applet)),
        Err(AppletError::NotFound { .. } | AppletError::NothingShown(_)) => Ok(None),
        Err(err) => Err(failed(&err)),
    }
}

fn failed(err: &AppletError) -> ErrorData {
    if let AppletError::TooLarge { .. } = err {
        return ErrorData::invalid_request(err.to_string(), None);
    }
    tracing::error!(error = err as &dyn std::error::Error, "an applet could not be offered");
    ErrorData::internal_error("the applets could not be read", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(n: u128) -> SessionId {
        SessionId::from_uuid(uuid::Uuid::from_u128(n))
    }

    #[test]
    fn a_handle_opens_its_applet_in_its_session_and_nothing_else() {
        let (handles, others) = (Handles::new(), Handles::new());
        for applet in [AppletName::Saved("counter".parse().unwrap()), AppletName::Shown(session(1))] {
            let handle = handles.make(session(1), &applet);
            assert_eq!(handles.find(session(1), &handle), Some(applet.clone()));
            assert_eq!(others.find(session(1), &handle), None);
            assert_eq!(handles.find(session(2), &handle), None);
            let (word, secret) = handle.rsplit_once('.').unwrap();
            assert_eq!(secret.len(), 22);
            for wrong in [
                word.to_owned(),
                format!("{word}."),
                format!("plan.{secret}"),
                format!("../{handle}"),
                format!("{handle}A"),
                handle.to_uppercase(),
                String::new(),
            ] {
                assert_eq!(handles.find(session(1), &wrong), None, "{wrong}");
            }
        }
    }

    #[test]
    fn what_an_applet_is_called_can_not_end_the_attribute_that_says_it() {
        let about = json!({ "title": "\"><script>alert(1)</script>&quot;" });
        let text = document(Some(&about), &AppletContent::default());
        let attribute = "data-applet=\"{&quot;title&quot;:&quot;\\&quot;><script>alert(1)</script>&amp;quot;&quot;}\">";
        assert!(text.contains(attribute), "{text:.2000}");
        assert!(!BRIDGE_SCRIPT.to_ascii_lowercase().contains("</script") && !BRIDGE_SCRIPT.contains("<!--"));
        let policy = text.find("Content-Security-Policy").unwrap();
        assert!(policy < text.find("<script").unwrap() && policy < text.find("<style").unwrap());
    }
}
