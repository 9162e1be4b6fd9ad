//! `throughline doctor`: is everything there that was written, and what to do if not.
//!
//! Invariant: beside a running server it only looks. Where none runs it also fences off what is damaged and lifts the
//! fences of what is whole; nothing else is changed unless it was asked for.

mod copies;
mod words;

use std::process::ExitCode;

use anyhow::Result;
use engine::SearchFailure;
use model::{Seq, SessionId, StreamId};
use serde_json::{Value, json};
use store::outside::{CheckReport, Depth, Fences, Rebuilt, Repair};
use store::{Copies, OpenError};

use crate::cli;
use crate::commands::doctor::copies::CopiesSeen;
use crate::data_dir::{DataDir, ServerFile};
use crate::host::{explain, look_at};
use crate::progress::watched;
use crate::terminal::{self, safe, safe_json};

/// As many sessions are looked at unless all are wanted.
const SAMPLE: usize = 200;

/// What was done and found.
struct Visit {
    report: CheckReport,
    rebuilt: Option<Rebuilt>,
    rebuilds_search: bool,
    fences: Fencing,
    copies: Result<CopiesSeen>,
    /// What the search index lacks.
    set_aside: Vec<(SessionId, Seq)>,
    /// Why the index can not be opened.
    search_failure: Option<SearchFailure>,
}

/// What became of fences that were not where they should be. What was found is told whatever this is.
enum Fencing {
    Settled(Fences),
    /// A server keeps them to itself.
    InUse(Option<ServerFile>),
    Failed(anyhow::Error),
}

pub(super) async fn run(data: &DataDir, doctor: &cli::Doctor) -> Result<ExitCode> {
    let depth = if doctor.all { Depth::All } else { Depth::Sample(SAMPLE) };
    let rebuilt = if doctor.rebuild { Some(rebuild(data).await?) } else { None };
    if doctor.rebuild_search {
        drop(look_at(data)?);
        engine::want_search_rebuild(&data.search())?;
    }
    let file = data.clone();
    let report = watched(move |progress| -> Result<CheckReport> { Ok(look_at(&file)?.check(depth, progress)?) });
    let mut report = report.await??;
    let fences = settle_fences(data, &mut report).await;
    let copies = copies::check(data, depth, &report).await;
    let set_aside = engine::entries_set_aside(&data.search());
    let search_failure = engine::search_folder_failure(&data.search());
    let visit =
        Visit { report, rebuilt, rebuilds_search: doctor.rebuild_search, fences, copies, set_aside, search_failure };
    if doctor.json {
        terminal::line(&safe_json(&serde_json::to_string_pretty(&visit.to_json(data)?)?))?;
    } else {
        words::lines(&visit, data).iter().try_for_each(|line| terminal::advice(&safe(line)))?;
    }
    Ok(if visit.report.is_damaged() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn rebuild(data: &DataDir) -> Result<Rebuilt> {
    drop(look_at(data)?);
    let owned = Repair::begin(&data.database());
    let mut owned =
        owned.map_err(|err| explain(err, data, "stop it first: nobody may use tables that are made anew"))?;
    let rebuilt = watched(move |progress| owned.rebuild(progress)).await??;
    // The copies too: the next start goes through every line of them.
    Copies::at(data.sessions()).ask_for_rewriting().await?;
    Ok(rebuilt)
}

async fn settle_fences(data: &DataDir, report: &mut CheckReport) -> Fencing {
    if report.misfenced().next().is_none() {
        return Fencing::Settled(Fences::default());
    }
    let mut owned = match Repair::begin(&data.database()) {
        Ok(owned) => owned,
        Err(OpenError::InUse { .. }) => return Fencing::InUse(data.read_server_file()),
        Err(err) => return Fencing::Failed(err.into()),
    };
    let found = report.clone();
    match watched(move |_| owned.settle_fences(&found)).await {
        Ok(Ok(fences)) => {
            for finding in &mut report.findings {
                finding.fenced |= finding.stream.is_some_and(|stream| fences.set.contains(&stream));
            }
            Fencing::Settled(fences)
        }
        Ok(Err(err)) => Fencing::Failed(err.into()),
        Err(err) => Fencing::Failed(err),
    }
}

impl Visit {
    fn to_json(&self, data: &DataDir) -> Result<Value> {
        let names = |streams: &[StreamId]| streams.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut answer = serde_json::to_value(&self.report)?;
        answer["store"] = json!(data.database());
        answer["damaged"] = json!(self.report.is_damaged());
        answer["fences"] = match &self.fences {
            Fencing::Settled(fences) => json!({ "set": names(&fences.set), "lifted": names(&fences.lifted) }),
            Fencing::InUse(server) => json!({ "leftToServer": server }),
            Fencing::Failed(err) => json!({ "failed": format!("{err:#}") }),
        };
        answer["copies"] = match &self.copies {
            Ok(seen) => seen.to_json(),
            Err(err) => json!({ "failed": format!("{err:#}") }),
        };
        let entry = |(session, seq): &(SessionId, Seq)| json!({ "session": session, "seq": seq });
        let failure = self.search_failure.as_ref().map(|failure| &failure.reason);
        let set_aside: Vec<Value> = self.set_aside.iter().map(entry).collect();
        answer["search"] = json!({ "setAside": set_aside, "notAvailable": failure });
        if let Some(rebuilt) = self.rebuilt {
            answer["rebuilt"] = json!({ "streams": rebuilt.streams, "entries": rebuilt.entries, "rows": rebuilt.rows });
        }
        Ok(answer)
    }
}
