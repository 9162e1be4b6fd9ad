//! Renders the doctor's report for a person: what was found, where, and what to do next.

use std::collections::BTreeSet;

use indicatif::HumanCount;
use model::{Seq, SessionId, StreamId};
use store::Copies;
use store::outside::{CheckReport, Finding, FindingKind, SettledFences};

use crate::commands::doctor::copies::{self, CopiesResult, WorksCopy};
use crate::commands::doctor::{DoctorReport, Fencing};
use crate::data_dir::DataDir;
use crate::terminal::counted;

/// How many entries are named.
const NAMED: usize = 5;

pub(super) fn lines(all: &DoctorReport, data: &DataDir) -> Vec<String> {
    let report = &all.report;
    let mut lines = Vec::new();
    if let Some(rebuilt) = all.rebuilt {
        let (rows, entries) = (HumanCount(rebuilt.rows), HumanCount(rebuilt.entries));
        lines.push(format!("The tables were made anew: {rows} rows from {entries} entries."));
    }
    if all.rebuilds_search {
        lines.push(
            "The search index is made anew at the next start; a running server begins with the next words that are \
             written down. The one that is there answers meanwhile."
                .to_owned(),
        );
    }
    let state = match (report.is_damaged(), is_of_payloads_alone(report)) {
        (false, _) => "is whole",
        (true, true) => "is whole; files beside it are not as they were stored",
        (true, false) => "is damaged",
    };
    lines.push(format!("{} {state}.", data.database().display()));
    lines.push(scope(report));
    lines.extend(of_copies(&all.copies));
    if let Ok(CopiesResult::Compared(checked)) = &all.copies {
        lines.extend(of_works(checked.works, &Copies::at(data.sessions())));
    }
    lines.extend(all.search_failure.as_ref().map(|failure| {
        format!(
            "Search: not available, {}. Everything else is. See to the folder's rights, or move away what lies there: the \
             index is made anew from the log.",
            failure.reason
        )
    }));
    lines.extend(of_search(&all.set_aside));
    lines.extend((!report.findings.is_empty()).then(String::new));
    lines.extend(report.findings.iter().map(describe));
    if report.more_findings > 0 {
        lines.push(format!("… and {} more", HumanCount(report.more_findings)));
    }
    let kinds: BTreeSet<FindingKind> = report.findings.iter().map(|finding| finding.kind).collect();
    let mut next: Vec<String> = kinds.iter().filter_map(|kind| advice(*kind)).map(str::to_owned).collect();
    next.extend(of_fences(all));
    lines.extend((!next.is_empty()).then(String::new));
    lines.extend(next);
    lines
}

/// Entries that are whole but can not be found by search.
fn of_search(set_aside: &[(SessionId, Seq)]) -> Option<String> {
    let named: Vec<String> =
        set_aside.iter().take(NAMED).map(|(session, seq)| format!("entry {seq} of session {session}")).collect();
    let more = set_aside.len() - named.len();
    let more = if more > 0 { format!(" and {} more", HumanCount(more as u64)) } else { String::new() };
    (!named.is_empty()).then(|| {
        format!(
            "The search index lacks what it could not take: {}{more}. They are in the log; `--rebuild-search` tries again.",
            named.join(", ")
        )
    })
}

/// Nothing is wrong but with files beside the database.
fn is_of_payloads_alone(report: &CheckReport) -> bool {
    let is_beside = |finding: &Finding| match finding.kind {
        FindingKind::Payload | FindingKind::Leftover | FindingKind::Fence | FindingKind::Newer => true,
        FindingKind::File | FindingKind::Entry | FindingKind::Row | FindingKind::Stray => false,
    };
    report.more_findings == 0 && report.findings.iter().all(is_beside)
}

fn scope(report: &CheckReport) -> String {
    let CheckReport { sampled, streams, checked_streams, checked_entries, checked_payloads, .. } = *report;
    let (all, some) = (HumanCount(streams), HumanCount(checked_streams));
    let entries = match checked_payloads {
        0 => HumanCount(checked_entries).to_string() + " entries",
        payloads => format!("{} entries and {} payloads", HumanCount(checked_entries), HumanCount(payloads)),
    };
    match sampled {
        true => {
            format!("{some} of {all} streams were looked at, {entries} verified; --all looks at every one.")
        }
        false => format!("All {all} streams were looked at, {entries} verified."),
    }
}

fn describe(finding: &Finding) -> String {
    let whose = match finding.stream {
        Some(StreamId::Session(id)) => format!("session {id}"),
        Some(StreamId::Server) => "the server's own stream".to_owned(),
        Some(StreamId::Work) => "the stream of meta-contexts".to_owned(),
        None => return finding.what.clone(),
    };
    match finding.seq {
        Some(seq) => format!("{whose}, entry {seq}: {}", finding.what),
        None => format!("{whose}: {}", finding.what),
    }
}

fn advice(kind: FindingKind) -> Option<&'static str> {
    match kind {
        FindingKind::File => Some(
            "The file itself is damaged: see to the disk. Restore a backup, or save what can be read:\n  \
             `throughline export --all everything.jsonl`\n  `throughline restore everything.jsonl --replace`",
        ),
        FindingKind::Entry => Some(
            "What is damaged can be read up to its damage; a damaged session takes no more prompts. A backup from \
             before has it whole: `throughline restore`.",
        ),
        FindingKind::Row => {
            Some("With the server stopped, `throughline doctor --rebuild` makes the rows anew from the log.")
        }
        FindingKind::Stray => Some(
            "What belongs to no session is shown to nobody. With the server stopped, `throughline doctor --rebuild` \
             removes such rows; an export leaves such entries out.",
        ),
        FindingKind::Payload => Some(
            "What was shown and is missing or was edited is shown as gone or changed; nothing else is harmed. A backup from \
             before has it: copy the file from its sessions folder to the same place in yours.",
        ),
        FindingKind::Leftover => Some(
            "Files that no entry names are no damage: they are being stored, or a crash has left them, and the server removes \
             what it finds of them when it settles such a session.",
        ),
        FindingKind::Fence => None,
        FindingKind::Newer => Some(
            "A newer version of Throughline wrote this. It is no damage: here such a session can be read up to there and \
             takes no more; with that version it goes on.",
        ),
    }
}

/// More copies than these are counted, not named.
const NAMED_COPIES: usize = 10;

fn of_copies(seen: &anyhow::Result<CopiesResult>) -> Vec<String> {
    let checked = match seen {
        Ok(CopiesResult::Compared(checked)) => checked,
        Ok(CopiesResult::Nothing) => return Vec::new(),
        Ok(CopiesResult::Left(why)) => return vec![format!("Readable copies: not compared, {}.", why.describe())],
        Ok(CopiesResult::Ahead) => {
            return vec![
                "Readable copies: they know more than the database, so entries were lost, as when throughline.db-wal is \
                 removed or an old file is put back. If you still have the newer files, put them back now. The next \
                 start moves the copies aside, which may be all that is left, and goes on from what the database has."
                    .to_owned(),
            ];
        }
        Err(err) => return vec![format!("The readable copies could not be looked at: {err:#}")],
    };
    let sessions = HumanCount(checked.sessions as u64);
    if checked.differences.is_empty() {
        return vec![format!("Readable copies: {sessions} looked at, all as the log has it.")];
    }
    let count = HumanCount(checked.differences.len() as u64);
    let mut lines = vec![format!(
        "Readable copies: {sessions} looked at, {count} differ from the log. The next start copies what it had not copied \
         yet; `throughline doctor --rebuild` has all of them written anew."
    )];
    let named = checked.differences.iter().take(NAMED_COPIES);
    lines.extend(named.map(|found| format!("  session {} {}", found.session, copies::describe(found.what))));
    lines
}

fn of_works(works: WorksCopy, copies: &Copies) -> Option<String> {
    let path = copies.works_path();
    match works {
        WorksCopy::Right | WorksCopy::LogDamaged => None,
        WorksCopy::Different => Some(format!(
            "Pieces of work: {} is not as the log has it. The next start mends it if it had not copied them yet; \
             `throughline doctor --rebuild` has it written anew in any case.",
            path.display()
        )),
        WorksCopy::Foreign => Some(format!(
            "Pieces of work: they can not be copied, since something else lies in the place of {}. Move it away; then \
             `throughline doctor --rebuild` has them written anew.",
            path.parent().unwrap_or(&path).display()
        )),
    }
}

fn of_fences(all: &DoctorReport) -> Vec<String> {
    match &all.fences {
        Fencing::Settled(SettledFences { set, lifted }) => {
            let set = counted(
                set.len() as u64,
                "session was fenced off: nothing is written after its damage.",
                "sessions were fenced off: nothing is written after their damage.",
            );
            let lifted = counted(
                lifted.len() as u64,
                "session is whole again and takes prompts.",
                "sessions are whole again and take prompts.",
            );
            set.into_iter().chain(lifted).collect()
        }
        Fencing::Failed(err) => vec![format!("No fence could be set or lifted: {err:#}")],
        Fencing::InUse(server) => {
            let who = match server {
                Some(server) => format!("A server runs at {} (pid {})", server.url, server.pid),
                None => "Another throughline has the store open".to_owned(),
            };
            vec![format!("{who}, so no fence was set or lifted. Stop it and run this again.")]
        }
    }
}
