//! The real program as a process: started as a script would start it, measured from outside.
//!
//! Invariant: no server outlives its benchmark, however that ends.

use std::env;
use std::fs::{self, File, Permissions};
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::agent;
use crate::cost::{Meter, descendants};
use crate::run::make_folder;

const STOP_LIMIT: Duration = Duration::from_secs(20);

pub(crate) struct Server {
    child: Child,
    pub(crate) endpoint: Endpoint,
    /// From the start of the process to its first line.
    pub(crate) ready_after: Duration,
}

/// The server's address and token.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Server {
    /// Starts it on a data folder and waits until it prints its address.
    pub(crate) fn start(binary: &Path, data: &Path) -> Result<Self> {
        prepare(data)?;
        let log = data.with_extension("log");
        let log_file = File::options().create(true).append(true).open(&log).context("could not open the log")?;
        let started = Instant::now();
        let mut child = Command::new(binary)
            .arg("serve")
            .arg("--data-dir")
            .arg(data)
            .args(["--listen", "127.0.0.1:0", "--no-open"])
            // Log lines about single requests would be measured with them.
            .env("THROUGHLINE_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log_file)
            .spawn()
            .with_context(|| format!("could not start {}", binary.display()))?;
        let stdout = child.stdout.take().context("stdout is piped")?;
        let line = first_line(stdout)?;
        let ready_after = started.elapsed();
        let Some(address) = address(&line) else {
            drop((child.kill(), child.wait()));
            bail!("the server did not start; see {}", log.display());
        };
        let token = fs::read_to_string(data.join("token")).context("the server left no token")?.trim().to_owned();
        Ok(Self { child, endpoint: Endpoint { address, token }, ready_after })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn meter(&self) -> Result<Meter> {
        Meter::of(self.pid())
    }

    /// Of its agents and their supervisors, which must all live until the meters are read.
    pub(crate) fn agents_meters(&self) -> Result<Vec<Meter>> {
        descendants(self.pid())?.into_iter().map(Meter::of).collect()
    }

    /// All CPU time since it was started.
    pub(crate) fn lifetime_cpu(&self) -> Result<Duration> {
        Ok(Meter::from_birth(self.pid()).read()?.cpu)
    }

    /// Asks it to stop and waits until it has.
    pub(crate) fn stop(mut self) -> Result<()> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).context("could not ask the server to stop")?;
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            if asked.elapsed() > STOP_LIMIT {
                bail!("the server did not stop in time");
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Usually it has exited already; then there is nothing to kill.
        drop((self.child.kill(), self.child.wait()));
    }
}

/// A data folder with limits for one client that sends requests as fast as the machine can answer, and with an agent
/// that stamps its output.
pub(crate) fn prepare(data: &Path) -> Result<()> {
    make_folder(data)?;
    fs::set_permissions(data, Permissions::from_mode(0o700))?;
    let limits = "[limits]\nconnections = 8192\nrequests_per_second = 1000000.0\nmax_agents = 4096\n";
    let (name, program, role) = (agent::NAME, env::current_exe()?, agent::AGENT);
    let agents = format!("[agents.{name}]\ncommand = {program:?}\nargs = [{role:?}]\n");
    fs::write(data.join("config.toml"), format!("{limits}\n{agents}"))
        .context("could not write the server's configuration")
}

/// The first line; the rest is read and dropped, so that the server never blocks on its pipe.
fn first_line(stdout: ChildStdout) -> Result<String> {
    let mut reader = BufReader::new(stdout);
    let mut line = String::new();
    reader.read_line(&mut line).context("could not read the server's first line")?;
    thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
    Ok(line)
}

/// `http://127.0.0.1:4321/#code` → `127.0.0.1:4321`.
fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.trim().split_once("://")?;
    rest.split(['/', '#', '?']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_the_address() {
        assert_eq!(address("http://127.0.0.1:4321/#code=x\n"), "127.0.0.1:4321".parse().ok());
        assert_eq!(address("error: the port is taken"), None);
    }
}
