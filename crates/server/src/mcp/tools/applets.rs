//! Shows the person applets and saves them; over HTTP the routes below `/storage/applet` read and write what is saved.
//!
//! The person sees the applet. The agent gets a line that names it, with the folder of its files: it edits those with its own tools.

pub(super) mod library;
pub(super) mod page_tools;
pub(super) mod state;

use std::collections::{BTreeMap, BTreeSet};

use doors::Right;
use engine::{
    APPLET_FILES, ActiveApplet, Applet, AppletContent, AppletError, Engine, OpenApplet, OutputError, ShownApplet,
    SubmitError,
};
use model::{AppletName, AppletSlug, OutputMarker, Rejection, SessionId};

use super::show::{asker, showing};
use super::{About, CallError, Effect, Endpoint, Run, Tool, ToolContext, ToolResult};
use crate::access;
use crate::mcp::Calling;
use crate::mcp::arguments::{AppletLine, AppletPart, AppletText, arguments};
use crate::mcp::budget::AnswerBudget;

/// What an applet is called that nobody named.
const UNNAMED: &str = "Applet";
/// Told where our page shows nothing, before what the applet is called.
const NOT_IN_A_TURN: &str =
    "No turn of this session runs, so its page shows nothing. Only a host that shows MCP Apps shows";
/// How much of the name of a param is repeated.
const NAMED_CHARS: usize = 80;

const fn tool<A: Run>(name: &'static str, description: &'static str, effect: Effect) -> Tool {
    let (endpoint, budget) = (Endpoint::Show, AnswerBudget::LONGEST);
    Tool::of::<A>(About { name, description, endpoint, effect, asks_person: false, budget })
}

pub(super) const SET: Tool = showing::<SetApplet>(
    "set_applet",
    "Shows the person a small page of yours beside the conversation, with state that lasts. You get the paths of its files: edit \
     them, and the open applet follows. Read applet_howto before your first.",
)
.with_page();

pub(super) const SAVE: Tool = tool::<SaveApplet>(
    "save_applet",
    "Saves the shown applet with its state, in place of one of that slug, so that load_applet shows it in any session.",
    Effect::Marks,
);

pub(super) const LOAD: Tool = showing::<LoadApplet>(
    "load_applet",
    "Shows the person an applet that was saved, or one of ours; see list_applets.",
)
.with_page();

arguments! {
    struct SetApplet {
        html("html"): AppletPart = "What stands in the body", "<button id=\"more\">+</button>";
        js("js"): Option<AppletPart> = "Its script", "document.title";
        css("css"): Option<AppletPart> = "Its style", "button { color: red }";
        title("title"): Option<AppletLine> = "What the person calls it", "Counter";
    }
}

arguments! {
    struct SaveApplet {
        slug("slug"): AppletSlug = "Its folder and address", "my-board";
        name("name"): AppletLine = "What the person calls it", "My board";
        description("description"): Option<AppletText> = "What it is for", "Sorts my tasks";
    }
}

arguments! {
    struct LoadApplet {
        slug("slug"): AppletSlug = "Of which", "counter";
        params("params"): Option<BTreeMap<String, String>> = "As applet_usage lists them", "{\"path\":\"a.txt\"}";
    }
}

impl Run for SetApplet {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Mark, *session)?;
        let text = |part: Option<AppletPart>| part.map(|AppletPart(text)| text).unwrap_or_default();
        let Self { html, js, css, title } = self;
        let content = AppletContent { html: text(Some(html)), js: text(js), css: text(css) };
        let title = title.map(|AppletLine(title)| title).filter(|title| !title.trim().is_empty());
        let title = title.unwrap_or_else(|| UNNAMED.to_owned());
        let shown = call.engine.show_new_applet(*session, content, title, asker(principal)).await?;
        let edited = "The open applet follows when you edit them; save_applet keeps it for other sessions.";
        let text = format!("{}\n{}\n{edited}", shown_line(&shown), files_of(call.engine, &shown.applet));
        let meta = call.handles.result_meta(*session, &shown.applet.name, &BTreeMap::new());
        Ok(ToolResult { meta: Some(meta), ..text.into() })
    }
}

impl Run for LoadApplet {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Mark, *session)?;
        let params = self.params.unwrap_or_default();
        let given: BTreeSet<String> = params.keys().cloned().collect();
        let meta = call.handles.result_meta(*session, &AppletName::Saved(self.slug.clone()), &params);
        let shown = call.engine.show_saved_applet(*session, self.slug.clone(), params, asker(principal)).await;
        let (applet, seen) = match shown {
            Ok(shown) => {
                let seen = shown_line(&shown);
                (shown.applet, seen)
            }
            // Another host has turns of its own, and shows the applet by itself.
            Err(AppletError::Output(OutputError::Submit(SubmitError::Rejected(Rejection::NoTurnRunning)))) => {
                let applet = call.engine.applet(AppletName::Saved(self.slug)).await?;
                let seen = format!("{NOT_IN_A_TURN} {}.", named(&applet));
                (applet, seen)
            }
            Err(err) => return Err(err.into()),
        };
        let mut text = format!("{seen}\n{}", files_of(call.engine, &applet));
        let required = applet.about.params.iter().filter(|(name, param)| param.required && !given.contains(*name));
        let missing = required.map(|(name, _)| model::one_line(name, NAMED_CHARS)).collect::<Vec<_>>().join(", ");
        if !missing.is_empty() {
            text.push_str(&format!("\nIt was not given {missing}, which it needs; load it again with it in params."));
        }
        Ok(ToolResult { meta: Some(meta), ..text.into() })
    }
}

impl Run for SaveApplet {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Mark, *session)?;
        let Self { slug, name: AppletLine(name), description } = self;
        let description = description.map(|AppletText(text)| text).unwrap_or_default();
        let saved = call.engine.save_shown_applet(*session, slug, name, description, asker(principal)).await?;
        let (applet, is_new) = saved;
        let (named, place) = (named(&applet), if is_new { "" } else { " in place of the one of that slug" });
        Ok(format!("Saved {named}{place}; it is the applet that is shown now.\n{}", files_of(call.engine, &applet))
            .into())
    }
}

/// What the agent is told of an applet that the person sees: one line, beginning with the marker.
fn shown_line(shown: &ShownApplet) -> String {
    let ShownApplet { applet, output } = shown;
    let AppletContent { html, js, css } = &applet.content;
    let sizes = format!("{} bytes of HTML, {} of script, {} of style", html.len(), js.len(), css.len());
    format!("{} The person sees the applet {} ({sizes}).", OutputMarker(output.id), named(applet))
}

/// `"Counter" (counter)`, or only the first where it has no slug.
fn named(applet: &Applet) -> String {
    let title = format!("{:?}", model::one_line(&applet.about.name, model::MAX_CARD_LINE_CHARS));
    match applet.name.slug() {
        Some(slug) => format!("{title} ({slug})"),
        None => title,
    }
}

/// Where an applet's files are, for whoever edits them.
fn files_of(engine: &Engine, applet: &Applet) -> String {
    match engine.applet_files(&applet.name) {
        _ if applet.bundled => {
            "It comes with the program, so it has no files to edit; after save_applet it is one of the person's."
                .to_owned()
        }
        Some(files) => format!("Its files, in {}: {}.", files.folder, APPLET_FILES.join(", ")),
        None => "This server keeps no applets.".to_owned(),
    }
}

/// The applet that is meant by "the applet" of a session, if there is one, and whether a page shows it.
async fn active(engine: &Engine, session: SessionId) -> Result<Option<(Applet, OpenApplet, bool)>, AppletError> {
    let Some(ActiveApplet { applet: open, is_open }) = engine.applet_meant(session).await? else { return Ok(None) };
    match engine.applet(open.name.clone()).await {
        Ok(applet) => Ok(Some((applet, open, is_open))),
        Err(AppletError::NothingShown(_) | AppletError::NotFound { .. }) => Ok(None),
        Err(err) => Err(err),
    }
}
