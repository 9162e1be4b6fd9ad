//! How soon the program is ready and how much memory it holds when idle, at every size of the store.

use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::scale;
use crate::cost::anonymous_mb;
use crate::line::{Bar, Line};
use crate::run::Run;
use crate::server::Server;
use crate::stores;

const NAME: &str = "start";
/// Long enough for memory from the start to be freed.
const SETTLE: Duration = Duration::from_secs(1);

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (sessions, label) in scale::sizes(run) {
        let data = stores::of_sessions(run, *sessions)?;
        // Once unmeasured: the first start on a store writes its token.
        Server::start(&run.binary, &data)?.stop()?;
        let (mut ready_ms, mut memory_mb, mut cpu_ms) = (Vec::new(), Vec::new(), Vec::new());
        run.repeat(&format!("start with {label} sessions"), || {
            let server = Server::start(&run.binary, &data)?;
            thread::sleep(SETTLE);
            ready_ms.push(server.ready_after.as_secs_f64() * 1e3);
            memory_mb.push(anonymous_mb(server.pid())?);
            cpu_ms.push(server.lifetime_cpu()?.as_secs_f64() * 1e3);
            server.stop()
        })?;
        lines.push(Line::new(NAME, &format!("ready, {label} sessions"), "ms", &ready_ms).bar(Bar::AtMost(300.0)));
        lines.push(Line::new(NAME, &format!("CPU to start, {label} sessions"), "ms", &cpu_ms));
        let memory = Line::new(NAME, &format!("idle anonymous memory, {label} sessions"), "MB", &memory_mb);
        lines.push(memory.bar(Bar::AtMost(30.0)));
    }
    Ok(lines)
}
