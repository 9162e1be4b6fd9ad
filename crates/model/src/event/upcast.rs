//! Old shapes to new ones, a step a version. A step once released is never changed.

use serde_json::Value;

use super::EVENT_VERSION;

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
];

/// Brings an event of `version` to the shape that is written now.
pub(super) fn to_current(version: u16, event: Value) -> Value {
    STEPS.iter().skip(usize::from(version) - 1).fold(event, |event, step| step(event))
}
