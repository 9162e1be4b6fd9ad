//! Tool calls, with titles and kinds like those of an agent that is hosted here.

use model::{Location, PlanStep, Priority, StepStatus, ToolChange, ToolContent, ToolKind, ToolStatus, script_of};
use serde_json::Value;

use crate::acp::{MAX_KEPT_BYTES, cut_value, plain_line, start_of};

const MAX_TITLE_CHARS: usize = 200;
const MAX_STEPS: usize = 500;
const PATHS: [&str; 5] = ["file_path", "filePath", "absolute_path", "path", "notebook_path"];

/// The start of a call.
pub(super) fn start(name: &str, input: Option<Value>) -> ToolChange {
    let kind = kind(name);
    let input = input.map(cut_value);
    let path = input.as_ref().and_then(|input| argument(input, &PATHS));
    let locations = path.map(|path| vec![Location { path: path.to_owned(), line: None }]);
    ToolChange {
        title: Some(title(name, kind, input.as_ref())),
        name: Some(name.to_owned()),
        kind: Some(kind),
        status: Some(ToolStatus::Running),
        locations: locations.filter(|_| matches!(kind, ToolKind::Read | ToolKind::Edit | ToolKind::Search)),
        input,
        ..ToolChange::default()
    }
}

/// The end of a call.
pub(super) fn end(status: ToolStatus, shown: CallOutput) -> ToolChange {
    let content = shown.content();
    ToolChange { status: Some(status), content: (!content.is_empty()).then_some(content), ..ToolChange::default() }
}

/// The first of these arguments that the tool was given, as text.
pub(super) fn argument<'a>(input: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| input.get(*name)?.as_str()).filter(|text| !text.is_empty())
}

/// The command of a call that runs one.
pub(super) fn command(input: &Value) -> Option<String> {
    match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(plain_command(&words))
        }
        _ => None,
    }
}

/// The command without the shell that ran it.
pub(super) fn plain_command(words: &[&str]) -> String {
    script_of(words).map_or_else(|| words.join(" "), str::to_owned)
}

/// The kind of a known agent's tool, by its name.
pub(super) fn kind(name: &str) -> ToolKind {
    let name = name.rsplit("__").next().unwrap_or(name);
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    match plain.as_str() {
        "bash" | "shell" | "shellcommand" | "execcommand" | "localshell" | "runshellcommand" | "runcommand"
        | "executecommand" | "terminal" => ToolKind::Execute,
        "read" | "readfile" | "readmanyfiles" | "view" | "viewimage" | "notebookread" => ToolKind::Read,
        "create" | "edit" | "multiedit" | "write" | "writefile" | "replace" | "strreplace" | "applypatch"
        | "notebookedit" | "patch" => ToolKind::Edit,
        "grep" | "glob" | "ls" | "list" | "listdirectory" | "searchfilecontent" | "grepsearch" | "codesearch"
        | "toolsearch" | "tree" => ToolKind::Search,
        "webfetch" | "websearch" | "googlewebsearch" | "fetch" => ToolKind::Fetch,
        "task" | "agent" | "subagent" | "delegate" => ToolKind::Think,
        "exitplanmode" | "enterplanmode" => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

fn title(name: &str, kind: ToolKind, input: Option<&Value>) -> String {
    let subject = input.and_then(|input| match kind {
        ToolKind::Execute => command(input),
        ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move => {
            argument(input, &PATHS).map(|path| format!("{name} {path}"))
        }
        ToolKind::Search => argument(input, &["pattern", "query", "path"]).map(|what| format!("{name} {what}")),
        ToolKind::Fetch => argument(input, &["url", "query", "prompt"]).map(|what| format!("{name} {what}")),
        ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other => {
            argument(input, &["description", "title"]).map(|what| format!("{name}: {what}"))
        }
    });
    plain_line(subject.as_deref().unwrap_or(name), MAX_TITLE_CHARS)
}

/// The steps of a plan, from the input of the tool that keeps it.
pub(super) fn plan(input: &Value) -> Option<Vec<PlanStep>> {
    let steps = input.get("todos").or_else(|| input.get("plan"))?.as_array()?;
    let steps = steps.iter().take(MAX_STEPS).filter_map(|step| {
        let text = argument(step, &["content", "step", "description"])?;
        let status = match argument(step, &["status"]) {
            Some("in_progress") => StepStatus::Running,
            Some("completed") => StepStatus::Completed,
            Some(_) | None => StepStatus::Pending,
        };
        let priority = match argument(step, &["priority"]) {
            Some("high") => Priority::High,
            Some("low") => Priority::Low,
            Some(_) | None => Priority::Medium,
        };
        Some(PlanStep { text: plain_line(text, 2_000), status, priority })
    });
    Some(steps.collect())
}

/// The output of a call, up to a size.
#[derive(Debug)]
pub(super) struct CallOutput {
    room: usize,
    content: Vec<ToolContent>,
    omitted: u64,
}

impl Default for CallOutput {
    fn default() -> Self {
        Self { room: MAX_KEPT_BYTES, content: Vec::new(), omitted: 0 }
    }
}

impl CallOutput {
    pub(super) fn text(&mut self, text: &str) {
        let text = self.start_of(text);
        if !text.is_empty() {
            self.content.push(ToolContent::Text { text });
        }
    }

    pub(super) fn terminal(&mut self, command: &str, output: &str, exit_code: Option<i32>) {
        let (command, output) = (self.start_of(command), self.start_of(output));
        self.content.push(ToolContent::Terminal { command, output, exit_code });
    }

    pub(super) fn diff(&mut self, path: &str, old_text: Option<&str>, new_text: &str) {
        let bytes = path.len() + old_text.map_or(0, str::len) + new_text.len();
        self.whole(bytes, || ToolContent::Diff {
            path: path.to_owned(),
            old_text: old_text.map(str::to_owned),
            new_text: new_text.to_owned(),
        });
    }

    /// Adds an image that was kept or only mentioned.
    pub(super) fn image(&mut self, image: ToolContent) {
        match image {
            ToolContent::Omitted { bytes } => self.omitted += bytes,
            ToolContent::Image { ref data, .. } => {
                let bytes = data.len();
                self.whole(bytes, || image);
            }
            other => self.content.push(other),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty() && self.omitted == 0
    }

    fn whole(&mut self, bytes: usize, content: impl FnOnce() -> ToolContent) {
        if bytes > self.room {
            self.omitted += bytes as u64;
        } else {
            self.room -= bytes;
            self.content.push(content());
        }
    }

    fn start_of(&mut self, text: &str) -> String {
        let kept = start_of(text, self.room);
        self.room -= kept.len();
        self.omitted += (text.len() - kept.len()) as u64;
        kept.to_owned()
    }

    fn content(mut self) -> Vec<ToolContent> {
        if self.omitted > 0 {
            self.content.push(ToolContent::Omitted { bytes: self.omitted });
        }
        self.content
    }
}
