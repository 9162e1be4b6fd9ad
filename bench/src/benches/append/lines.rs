//! The result lines of the appends: which phases are compared with which, and the bars.

use super::{NAME, Phase, Repeat};
use crate::line::{Bar, Line};

const FDATASYNC: &str = "4 kB overwrite + fdatasync";
const JSONL: &str = "JSONL + fdatasync";
const BARE: &str = "bare SQLite insert";

/// Picks one phase of a repeat.
type Which = fn(&Repeat) -> &Phase;

pub(super) fn of(repeats: &[Repeat]) -> Vec<Line> {
    let overwrite: Which = |repeat| &repeat.overwrite;
    let json_lines: Which = |repeat| &repeat.json_lines;
    let bare: Which = |repeat| &repeat.bare;
    let one: Which = |repeat| &repeat.store_one;
    let many: Which = |repeat| &repeat.store_many;
    let compare = |what: &str, unit: &str, figure: fn(&Phase) -> f64, ours: Which, name: &str, theirs: Which| {
        let of = |which: Which| repeats.iter().map(|repeat| figure(which(repeat))).collect::<Vec<f64>>();
        Line::beside(NAME, what, unit, &of(ours), name, &of(theirs))
    };
    let rate = |what, ours, name, theirs| compare(what, "1/s", |phase| phase.per_second, ours, name, theirs);
    let p50 = |what, ours, name, theirs| compare(what, "us", |phase| phase.p50_us, ours, name, theirs);
    let p99 = |what, ours, name, theirs| compare(what, "us", |phase| phase.p99_us, ours, name, theirs);
    let cpu = |what, ours, name, theirs| compare(what, "us", |phase| phase.cpu_us, ours, name, theirs);
    let written = |what, ours, name, theirs| compare(what, "kB", |phase| phase.written_kb, ours, name, theirs);
    let renames: Which = |repeat| &repeat.engine_one;
    let many_renames: Which = |repeat| &repeat.engine_many;
    vec![
        rate("parts, 1 writer", one, FDATASYNC, overwrite).bar(Bar::AtLeast(0.3)),
        rate("parts, 1 writer", one, JSONL, json_lines).bar(Bar::AtLeast(0.45)),
        rate("parts, 1 writer", one, BARE, bare).bar(Bar::AtLeast(0.45)),
        rate("parts, 64 writers", many, FDATASYNC, overwrite).bar(Bar::AtLeast(5.0)),
        rate("parts, 64 writers", many, JSONL, json_lines).bar(Bar::AtLeast(1.0)),
        rate("renames through the engine, 1 session", renames, FDATASYNC, overwrite).bar(Bar::AtLeast(0.25)),
        rate("renames through the engine, 64 sessions", many_renames, FDATASYNC, overwrite).bar(Bar::AtLeast(5.0)),
        p50("bare SQLite insert: p50", bare, FDATASYNC, overwrite),
        p50("parts, 1 writer: ack p50", one, FDATASYNC, overwrite).bar(Bar::AtMost(8.0)),
        p50("parts, 64 writers: ack p50", many, FDATASYNC, overwrite).bar(Bar::AtMost(13.0)),
        p50("renames, 64 sessions: ack p50", many_renames, FDATASYNC, overwrite).bar(Bar::AtMost(16.0)),
        p99("parts, 1 writer: ack p99", one, FDATASYNC, overwrite),
        p99("parts, 64 writers: ack p99", many, FDATASYNC, overwrite),
        cpu("parts in batches of 100: CPU each", |repeat| &repeat.store_batches, BARE, |repeat| &repeat.bare_batches)
            .bar(Bar::AtMost(3.0)),
        cpu("renames, 64 sessions: CPU each", many_renames, BARE, |repeat| &repeat.bare_batches),
        written("parts, 1 writer: written each", one, BARE, bare),
        written("parts, 64 writers: written each", many, BARE, bare),
    ]
}
