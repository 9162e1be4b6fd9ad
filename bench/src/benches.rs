//! The benchmarks, in the order in which they are run and shown.
//!
//! Invariant: each has its own folder and starts what it needs, so that any of them can be run alone.

mod acp;
mod append;
mod applets;
mod backup;
mod bodies;
mod fan_out;
mod import;
mod long;
mod message;
mod outputs;
mod replay;
mod scale;
mod search;
mod start;

use anyhow::Result;

use crate::line::Line;
use crate::run::Run;

pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) measure: fn(&Run) -> Result<Vec<Line>>,
}

pub(crate) const BENCHES: [Bench; 14] = [
    Bench {
        name: "append",
        about: "durable appends beside the bare disk and the bare engine",
        measure: append::measure,
    },
    Bench { name: "message", about: "one short message through HTTP, alone and among 64", measure: message::measure },
    Bench { name: "acp", about: "an agent's words and tool calls on their way to a follower", measure: acp::measure },
    Bench { name: "long", about: "one very long message, in memory", measure: long::measure },
    Bench { name: "replay", about: "entries read from the store and from a socket", measure: replay::measure },
    Bench {
        name: "bodies",
        about: "a log with a thousand long results, beside it and in it",
        measure: bodies::measure,
    },
    Bench {
        name: "scale",
        about: "list, open, reconnect with a thousand and a million sessions",
        measure: scale::measure,
    },
    Bench { name: "search", about: "the index beside bare engines and a scan", measure: search::measure },
    Bench {
        name: "import",
        about: "another tool's transcripts, until their words are found",
        measure: import::measure,
    },
    Bench { name: "start", about: "time to ready and idle memory", measure: start::measure },
    Bench { name: "fan-out", about: "a thousand followers of one streaming session", measure: fan_out::measure },
    Bench { name: "outputs", about: "what is shown, stored and read beside plain files", measure: outputs::measure },
    Bench {
        name: "applets",
        about: "a thousand writes of an applet's state a second, and what others notice",
        measure: applets::measure,
    },
    Bench { name: "backup", about: "a backup of a running server beside cp", measure: backup::measure },
];
