//! Tells an agent which applets there are, how they are used and how one is written; over HTTP `GET /storage/applets`.

use std::collections::BTreeMap;

use doors::Right;
use engine::{APPLET_HOWTO, AppletAbout, AppletParam, ListedApplet, StateSchema};
use model::{AppletName, AppletSlug, one_line};

use super::tool;
use crate::access;
use crate::mcp::Calling;
use crate::mcp::arguments::arguments;
use crate::mcp::phrases::count;
use crate::mcp::tools::{CallError, Effect, Run, Tool, ToolContext, ToolResult};

/// How much of what an applet says of itself stands in one line.
const LINE_CHARS: usize = 300;
/// Told where the person has no applet of their own.
const NONE_OWN: &str = "None of the person's own is saved yet: set_applet shows a new one, save_applet keeps it.";
const HOW_TO_OPEN: &str = "Link to an applet in your text with [words](?applet=SLUG&key=value), values percent-encoded, or show it with \
                           load_applet.";

pub(in super::super) const LIST: Tool = tool::<ListApplets>(
    "list_applets",
    "Lists the saved applets, newest first, and those that come with the program.",
    Effect::Reads,
);

pub(in super::super) const USAGE: Tool = tool::<UseApplet>(
    "applet_usage",
    "What applets are for, how to link to them, their params and state keys: of one, or of all.",
    Effect::Reads,
);

pub(in super::super) const HOWTO: Tool =
    tool::<WriteApplet>("applet_howto", "How to write an applet; for set_applet.", Effect::Reads);

arguments! {
    struct ListApplets {}
}

arguments! {
    struct UseApplet {
        slug("slug"): Option<AppletSlug> = "Only this one", "text-editor";
    }
}

arguments! {
    struct WriteApplet {}
}

impl Run for ListApplets {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Read, *session)?;
        let applets = call.engine.applets().await?;
        let mut lines = vec![format!("{}, newest first:", count(applets.len(), "applet"))];
        lines.extend(applets.iter().map(|applet| {
            let files = call.engine.applet_files(&AppletName::Saved(applet.slug.clone()));
            let place = match files.filter(|_| !applet.bundled) {
                Some(files) => files.folder,
                None => "comes with the program".to_owned(),
            };
            let AppletAbout { name, description, .. } = &applet.about;
            let description = one_line(description, LINE_CHARS);
            format!("{} {:?} [{place}] {description}", applet.slug, one_line(name, LINE_CHARS)).trim_end().to_owned()
        }));
        if applets.iter().all(|applet| applet.bundled) {
            lines.push(NONE_OWN.to_owned());
        }
        Ok(lines.join("\n").into())
    }
}

impl Run for UseApplet {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Read, *session)?;
        let applets = match self.slug {
            Some(slug) => {
                let applet = call.engine.applet(AppletName::Saved(slug.clone())).await?;
                vec![ListedApplet { slug, about: applet.about, bundled: applet.bundled }]
            }
            None => call.engine.applets().await?,
        };
        let mut lines = vec![HOW_TO_OPEN.to_owned()];
        lines.extend(applets.iter().flat_map(usage));
        Ok(lines.join("\n").into())
    }
}

impl Run for WriteApplet {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Read, *session)?;
        Ok(APPLET_HOWTO.to_owned().into())
    }
}

/// How an applet is used: its link, then a line for each thing that it says of itself.
fn usage(applet: &ListedApplet) -> Vec<String> {
    let AppletAbout { name, description, params, agent_usage, state_schema, .. } = &applet.about;
    let purpose = agent_usage.as_ref().map(|usage| &usage.purpose).filter(|purpose| !purpose.is_empty());
    let purpose = one_line(purpose.unwrap_or(description), LINE_CHARS);
    let mut lines = vec![format!("{} {:?} {purpose}", applet.slug, one_line(name, LINE_CHARS)).trim_end().to_owned()];
    lines.push(format!("  {}", link(applet)));
    lines.extend(required_first(params).map(|(key, AppletParam { required, description })| {
        let need = if *required { "required" } else { "optional" };
        said(&format!("{} ({need})", one_line(key, LINE_CHARS)), description)
    }));
    if let Some(example) = agent_usage.as_ref().map(|usage| one_line(&usage.example, LINE_CHARS))
        && !example.is_empty()
    {
        lines.push(format!("  Example: {example}"));
    }
    if let Some(StateSchema { get, set }) = state_schema {
        lines.extend(get.iter().map(|(key, text)| said(&format!("get {}", one_line(key, LINE_CHARS)), text)));
        lines.extend(set.iter().map(|(key, text)| said(&format!("set {}", one_line(key, LINE_CHARS)), text)));
    }
    lines
}

/// `?applet=text-editor&path=…[&line=…]`.
fn link(applet: &ListedApplet) -> String {
    let mut link = format!("?applet={}", applet.slug);
    for (key, param) in required_first(&applet.about.params) {
        let key = one_line(key, LINE_CHARS);
        link.push_str(&if param.required { format!("&{key}=…") } else { format!("[&{key}=…]") });
    }
    link
}

fn required_first(params: &BTreeMap<String, AppletParam>) -> impl Iterator<Item = (&String, &AppletParam)> {
    let required = params.iter().filter(|(_, param)| param.required);
    required.chain(params.iter().filter(|(_, param)| !param.required))
}

fn said(of: &str, text: &str) -> String {
    match one_line(text, LINE_CHARS) {
        text if text.is_empty() => format!("  {of}"),
        text => format!("  {of}: {text}"),
    }
}
