//! The memory cost of one very long message: an agent sends almost as much as one line may hold, and the program
//! reads, stores, shows, indexes and copies it.

use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::runtime::Builder;

use crate::agent::{self, Script, ScriptKind};
use crate::client::{Http, Kind, Live};
use crate::cost::peak_mb;
use crate::line::{Bar, Line};
use crate::run::Run;
use crate::server::Server;

const NAME: &str = "long";
const SHORT_BYTES: usize = 1_000;
const LONG_BYTES: usize = 14 << 20;
/// Long enough for the index and the copies to have it.
const SETTLE: Duration = Duration::from_secs(4);

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder(NAME)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let cwd = folder.to_str().context("the folder's name is no text")?;
    let (mut more_mb, mut repeat) = (Vec::new(), 0);
    run.repeat(NAME, || {
        repeat += 1;
        // A new server each time: the peak of a process never goes down.
        let server = Server::start(&run.binary, &folder.join(format!("data-{repeat}")))?;
        let peaks = runtime.block_on(async {
            let mut http = Http::connect(&server.endpoint).await?;
            let session = http.new_session_with(agent::NAME, cwd).await?;
            let mut live = Live::connect(&server.endpoint).await?;
            live.follow(&session, None).await?;
            live.until(Kind::CaughtUp).await?;
            let mut peaks = Vec::new();
            for bytes in [SHORT_BYTES, LONG_BYTES] {
                let script = Script { what: ScriptKind::Long, a_second: 1, count: bytes };
                http.post(&format!("/sessions/{session}/prompts"), &json!({ "text": script.text() })).await?;
                live.until(Kind::TurnEnded).await?;
                thread::sleep(SETTLE);
                peaks.push(peak_mb(server.pid())?);
            }
            anyhow::Ok(peaks)
        })?;
        more_mb.push(peaks[1] - peaks[0]);
        server.stop()
    })?;
    let own_mb = vec![LONG_BYTES as f64 / 1e6; more_mb.len()];
    let line = Line::beside(NAME, "more memory at the peak, a message of 14 MiB", "MB", &more_mb, "its size", &own_mb);
    Ok(vec![line.bar(Bar::AtMost(5.0))])
}
