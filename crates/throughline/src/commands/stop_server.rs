//! `throughline stop-server`: stops the server of this data folder.

use std::fs::{File, TryLockError};
use std::time::Duration;

use anyhow::{Result, bail};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::time::Instant;

use crate::client::server_process;
use crate::data_dir::DataDir;
use crate::terminal;

/// Longer than a server needs to end its agents and write down what they said.
const STOP_TIMEOUT: Duration = Duration::from_secs(90);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(super) async fn run(data: &DataDir) -> Result<()> {
    let Some(pid) = server_process(data).await? else {
        return Ok(terminal::line("No server is running.")?);
    };
    let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        bail!("the server's process can not be found; stop it where it was started");
    };
    kill_process(process, Signal::TERM)?;
    let deadline = Instant::now() + STOP_TIMEOUT;
    while is_running(data, pid, process).await? {
        if Instant::now() > deadline {
            bail!("the server (pid {pid}) was told to stop and still runs; its log says what it waits for");
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(terminal::line(&format!("The server (pid {pid}) has stopped."))?)
}

/// The server's socket goes first. Its lock on the folder goes with its process, also if nobody has waited for that; once the
/// process is gone, the lock is that of another server.
async fn is_running(data: &DataDir, pid: u32, process: Pid) -> Result<bool> {
    match server_process(data).await? {
        Some(listening) => return Ok(listening == pid),
        None if test_kill_process(process).is_err() => return Ok(false),
        None => (),
    }
    Ok(matches!(File::open(data.path())?.try_lock(), Err(TryLockError::WouldBlock)))
}
