//! Converts events of old versions to the newest shape, a step a version. A step once released is never changed.

use serde_json::{Value, json};

use super::EVENT_VERSION;
use crate::Author;

/// `STEPS[n]` brings an event of version n + 1 to version n + 2.
const STEPS: [fn(Value) -> Value; EVENT_VERSION as usize - 1] = [
    // Version 2 added kinds and optional fields; what was there kept its shape.
    std::convert::identity,
    // So did version 3 …
    std::convert::identity,
    // … version 4 …
    std::convert::identity,
    // … and version 5.
    std::convert::identity,
    author_beside_words,
    // Version 7 has sessions that were forked from a turn, and what a turn used in a field of its own. Whether an older count was
    // of the turn depends on the agent, which the event does not name: the fold knows it.
    std::convert::identity,
    // Version 8 has heads of bodies that are kept beside the log; who did not know of them would take a head for the whole.
    std::convert::identity,
    // Version 9 has applets, also among outputs.
    std::convert::identity,
];

/// Version 6 has who wrote a prompt in a field of its own.
fn author_beside_words(mut event: Value) -> Value {
    let holds_words = matches!(event["type"].as_str(), Some("prompt.queued" | "prompt.changed" | "prompt.sent"));
    if let Some(text) = event["data"]["text"].as_str().filter(|_| holds_words) {
        let (by, words) = Author::of_old_prompt(text);
        let (by, words) = (json!(by), json!(words));
        (event["data"]["by"], event["data"]["text"]) = (by, words);
    }
    event
}

/// Brings an event of `version` to the shape that is written now.
pub(super) fn to_current(version: u16, event: Value) -> Value {
    STEPS.iter().skip(usize::from(version) - 1).fold(event, |event, step| step(event))
}
