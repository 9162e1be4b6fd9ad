//! Old shapes to new ones, a step a version. A step once released is never changed.

use serde_json::Value;

/// Brings an event of `version` to the shape that is written now.
pub(super) fn to_current(version: u16, event: Value) -> Value {
    match version {
        // Version 1 is the first; a version 2 brings a step `1 => …` here.
        _ => event,
    }
}
