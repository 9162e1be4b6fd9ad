//! The example pipeline in the guide: six phases with sample blocks, each of which offers the next.
//!
//! Invariant: every block is valid, and its command is one that the guide understands, so that a newcomer or a test
//! can press every button without a model. The phases are those of `skills/pipeline`, which is for agents that can do
//! the work.

use agent_client_protocol::Error;
use serde_json::{Value, json};

use super::turn::Turn;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Research,
    Requirements,
    Architecture,
    Plan,
    Tasks,
    Build,
}

impl Phase {
    const ALL: [Self; 6] =
        [Self::Research, Self::Requirements, Self::Architecture, Self::Plan, Self::Tasks, Self::Build];

    pub(super) fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.word().eq_ignore_ascii_case(word))
    }

    fn word(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Requirements => "requirements",
            Self::Architecture => "architecture",
            Self::Plan => "plan",
            Self::Tasks => "tasks",
            Self::Build => "build",
        }
    }

    /// The label of the button that leads to it.
    fn label(self) -> &'static str {
        match self {
            Self::Research => "Begin with the research",
            Self::Requirements => "Write the requirements",
            Self::Architecture => "Design the architecture",
            Self::Plan => "Make the plan",
            Self::Tasks => "Cut it into tasks",
            Self::Build => "Build it",
        }
    }

    fn next(self) -> Option<Self> {
        let place = Self::ALL.iter().position(|phase| *phase == self)?;
        Self::ALL.get(place + 1).copied()
    }

    /// What an agent would do in this phase.
    fn work(self) -> &'static str {
        match self {
            Self::Research => {
                "would look into the project and write down what is there, which ways there are and what is unknown"
            }
            Self::Requirements => "would write down who can do what, as use cases like this one",
            Self::Architecture => "would say how data flows and what has to be built, slice by slice",
            Self::Plan => "would say in which order it is built and how one sees that it works",
            Self::Tasks => "would cut the plan into tasks that each fit into one session",
            Self::Build => "would build one wave of tasks, run the checks and tick off what is done",
        }
    }

    /// The sample block of this phase, if it has one.
    fn sample(self) -> Option<(&'static str, Value)> {
        match self {
            Self::Requirements => Some(("usecase", usecase())),
            Self::Architecture => Some(("eventmodel", event_model())),
            Self::Tasks => Some(("tasks", tasks())),
            Self::Research | Self::Plan | Self::Build => None,
        }
    }
}

pub(super) async fn begin(turn: &Turn, name: &str) -> Result<(), Error> {
    let phases = Phase::ALL.map(Phase::word).join(", ");
    let text = format!(
        "This begins the piece of work “{name}”. Its phases are {phases}, a session each. I am the guide, not a model: I \
         show what such a phase ends with, and do none of the work. Press the button; it begins a fresh session.\n\n"
    );
    turn.say(&text).await?;
    turn.say_at_once(&offer(Phase::Research, name))
}

pub(super) async fn show(turn: &Turn, phase: Phase, name: &str) -> Result<(), Error> {
    let (word, work) = (phase.word(), phase.work());
    turn.say(&format!("Phase {word} of “{name}”. Here an agent {work}. What I show is a sample.\n\n")).await?;
    if let Some((kind, body)) = phase.sample() {
        turn.say_at_once(&format!("{}\n", block(kind, &body)))?;
    }
    match phase.next() {
        Some(next) => turn.say_at_once(&offer(next, name)),
        None => {
            turn.say("That was the last phase: there is no button any more. The whole piece of work is one line.").await
        }
    }
}

fn offer(phase: Phase, name: &str) -> String {
    next(phase.label(), &format!("phase {} {name}", phase.word()), name)
}

/// A block that offers a next step.
pub(super) fn next(label: &str, command: &str, context: &str) -> String {
    block("next", &json!({ "label": label, "command": command, "metaContext": context }))
}

/// No line of JSON begins with a backtick, so nothing in it ends the block.
fn block(kind: &str, body: &Value) -> String {
    format!("```throughline:{kind}\n{body:#}\n```\n")
}

fn usecase() -> Value {
    json!({
        "id": "UC-1",
        "name": "Resume an upload",
        "actor": "Visitor",
        "summary": "An upload that was cut off goes on where it stopped.",
        "given": ["An upload of 40 of 100 MB was cut off"],
        "when": "The visitor chooses the same file again",
        "then": ["The upload goes on at 40 MB", "The bar shows 40 % at once"],
        "priority": "high",
        "dependencies": [],
        "edgeCases": ["The file has changed: it is uploaded anew, and the page says why"],
    })
}

fn event_model() -> Value {
    let fields = json!({ "uploadId": "string", "offset": "integer" });
    json!({
        "slice": "resume-upload",
        "label": "Resume an upload",
        "screen": "Upload page",
        "command": { "name": "ResumeUpload", "new": true, "fields": fields },
        "events": [{ "name": "UploadResumed", "new": true, "fields": fields, "feeds": ["UploadProgress"] }],
        "projections": [{ "name": "UploadProgress", "new": false, "fields": { "percent": "integer" } }],
        "sideEffects": ["The storage opens the part that was begun"],
    })
}

fn tasks() -> Value {
    json!([
        {
            "id": "T-1",
            "name": "Keep the parts of an upload",
            "ucs": ["UC-1"],
            "depends": [],
            "wave": 1,
            "kind": "code",
            "files": { "create": ["src/parts.rs"], "modify": ["src/lib.rs"] },
            "description": "Done when a part survives a restart.",
        },
        {
            "id": "T-2",
            "name": "Resume from the last part",
            "ucs": ["UC-1"],
            "depends": ["T-1"],
            "wave": 2,
            "kind": "code",
            "files": { "create": [], "modify": ["src/upload.rs"] },
            "description": "Done when an upload that was cut off at 40 % goes on there.",
        },
    ])
}
