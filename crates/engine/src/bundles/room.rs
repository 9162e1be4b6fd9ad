//! Whether this server's settings let a bundle's session have what it shows.
//!
//! Invariant: what comes in is bounded as what is shown here is. A payload counts with what its entry says; what the
//! bundle has of it counts where it is more than an export takes along of an edited file.

use std::collections::HashMap;

use model::NamedPayloads;

use super::BundleError;
use super::checking::BundledPayload;
use crate::OutputSettings;

/// Refuses a session that shows more than is kept.
pub(super) fn check_room(
    settings: &OutputSettings,
    named: &NamedPayloads,
    payloads: &[BundledPayload],
) -> Result<(), BundleError> {
    let bundled: HashMap<&str, u64> =
        payloads.iter().map(|bundled| (bundled.payload.path.as_str(), bundled.bytes)).collect();
    let size = |payload: &model::NamedPayload| match bundled.get(payload.path.as_str()) {
        // One that was edited where it was exported, no further than an export follows.
        Some(found) if *found > payload.most_bytes() => *found,
        Some(_) | None => payload.bytes,
    };
    let outputs = || named.iter().filter(|payload| payload.output_id().is_some());
    let (count, largest) = (outputs().count() as u64, outputs().map(size).max().unwrap_or_default());
    let bytes = named.iter().map(size).fold(0, u64::saturating_add);
    let too_much = |setting, has, max| Err(BundleError::NoRoom { setting, has, max });
    if count > settings.session_count {
        return too_much("outputs.session_count", count, settings.session_count);
    }
    if largest > settings.max_bytes {
        return too_much("outputs.max_mb", largest.div_ceil(1 << 20), settings.max_bytes >> 20);
    }
    if bytes > settings.session_bytes {
        return too_much("outputs.session_mb", bytes.div_ceil(1 << 20), settings.session_bytes >> 20);
    }
    Ok(())
}
