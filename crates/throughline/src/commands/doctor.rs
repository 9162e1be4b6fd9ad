//! `throughline doctor`: checks that everything that was written is there, and says what to do if not.
//!
//! Invariant: beside a running server it only reads. Where none runs it also fences off what is damaged and lifts the
//! fences of what is whole; nothing else is changed unless it was asked for.

mod copies;
mod report_text;

use std::process::ExitCode;

use anyhow::Result;
use engine::SearchFailure;
use model::{Seq, SessionId, StreamId};
use serde_json::{Value, json};
use store::outside::{CheckReport, Depth, Rebuilt, Repair, SettledFences};
use store::{Copies, OpenError};

use crate::cli;
use crate::commands::doctor::copies::CopiesResult;
use crate::data_dir::{DataDir, ServerFile};
use crate::host::{explain, open_store_file};
use crate::progress::run_with_bar;
use crate::terminal::{self, safe, safe_json};

/// How many sessions are checked unless all are wanted.
const SAMPLE: usize = 200;

/// What was done and found.
struct DoctorReport {
    report: CheckReport,
    rebuilt: Option<Rebuilt>,
    rebuilds_search: bool,
    fences: Fencing,
    copies: Result<CopiesResult>,
    /// Entries that the search index lacks.
    set_aside: Vec<(SessionId, Seq)>,
    /// Why the index can not be opened.
    search_failure: Option<SearchFailure>,
}

/// What became of fences that were wrong. The findings are printed in any case.
enum Fencing {
    Settled(SettledFences),
    /// A running server owns the store.
    InUse(Option<ServerFile>),
    Failed(anyhow::Error),
}

pub(super) async fn run(data: &DataDir, doctor: &cli::Doctor) -> Result<ExitCode> {
    let depth = if doctor.all { Depth::All } else { Depth::Sample(SAMPLE) };
    let rebuilt = if doctor.rebuild { Some(rebuild(data).await?) } else { None };
    if doctor.rebuild_search {
        drop(open_store_file(data)?);
        engine::want_search_rebuild(&data.search())?;
    }
    let file = data.clone();
    let report =
        run_with_bar(move |progress| -> Result<CheckReport> { Ok(open_store_file(&file)?.check(depth, progress)?) });
    let mut report = report.await??;
    let fences = settle_fences(data, &mut report).await;
    let copies = copies::check(data, depth, &report).await;
    let set_aside = engine::entries_set_aside(&data.search());
    let search_failure = engine::search_folder_failure(&data.search());
    let all = DoctorReport {
        report,
        rebuilt,
        rebuilds_search: doctor.rebuild_search,
        fences,
        copies,
        set_aside,
        search_failure,
    };
    if doctor.json {
        terminal::line(&safe_json(&serde_json::to_string_pretty(&all.to_json(data)?)?))?;
    } else {
        report_text::lines(&all, data).iter().try_for_each(|line| terminal::advice(&safe(line)))?;
    }
    Ok(if all.report.is_damaged() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn rebuild(data: &DataDir) -> Result<Rebuilt> {
    drop(open_store_file(data)?);
    let owned = Repair::begin(&data.database());
    let mut owned =
        owned.map_err(|err| explain(err, data, "stop it first: nobody may use tables that are made anew"))?;
    let rebuilt = run_with_bar(move |progress| owned.rebuild(progress)).await??;
    // The copies too: the next start checks every line of them.
    Copies::at(data.sessions()).ask_for_rewriting().await?;
    Ok(rebuilt)
}

async fn settle_fences(data: &DataDir, report: &mut CheckReport) -> Fencing {
    if report.misfenced().next().is_none() {
        return Fencing::Settled(SettledFences::default());
    }
    let mut owned = match Repair::begin(&data.database()) {
        Ok(owned) => owned,
        Err(OpenError::InUse { .. }) => return Fencing::InUse(data.read_server_file()),
        Err(err) => return Fencing::Failed(err.into()),
    };
    let found = report.clone();
    match run_with_bar(move |_| owned.settle_fences(&found)).await {
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

impl DoctorReport {
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
