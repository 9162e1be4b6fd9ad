//! The program under test as a process: started as a script would start it, ended as a power cut would end it.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

const START_TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

pub(crate) struct Server {
    child: Child,
    endpoint: Endpoint,
}

/// The server's address and token.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Server {
    /// Starts the server and waits until it prints its address.
    pub(crate) fn start(binary: &Path, data: &Path, log: &Path) -> anyhow::Result<Self> {
        Self::launch(command(binary, data), data, log)
    }

    /// The same with a command that runs it in some other way.
    pub(crate) fn launch(command: Command, data: &Path, log: &Path) -> anyhow::Result<Self> {
        let mut child = spawn_logged(command, log)?;
        let stdout = child.stdout.take().expect("stdout is piped");
        let ready = first_line(stdout).and_then(|line| {
            let address = address(&line)?;
            let token_path = data.join("token");
            let token = fs::read_to_string(&token_path)
                .with_context(|| format!("could not read {}", token_path.display()))?
                .trim()
                .to_owned();
            Ok(Endpoint { address, token })
        });
        match ready {
            Ok(endpoint) => Ok(Self { child, endpoint }),
            Err(err) => {
                kill(&mut child)?;
                Err(err.context(format!("the server did not start; see {}", log.display())))
            }
        }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has exited.
    pub(crate) fn ended(mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        let asked_at = Instant::now();
        while asked_at.elapsed() < within {
            if let Some(status) = self.child.try_wait().context("could not ask after the server")? {
                return Ok(status);
            }
            thread::sleep(POLL);
        }
        bail!("the server has not ended within {within:?}")
    }

    pub(crate) fn kill(mut self) -> anyhow::Result<()> {
        if let Some(status) = self.child.try_wait().context("could not ask after the server")? {
            bail!("the server ended by itself before it was killed: {status}");
        }
        kill(&mut self.child)
    }
}

impl Drop for Server {
    /// Kills a server that still runs, however its trial ends.
    fn drop(&mut self) {
        // Usually it has exited already; then there is nothing to kill.
        drop(kill(&mut self.child));
    }
}

pub(crate) fn spawn(binary: &Path, data: &Path, log: &Path) -> anyhow::Result<Child> {
    spawn_logged(command(binary, data), log)
}

/// `throughline serve` on a free port.
pub(crate) fn command(binary: &Path, data: &Path) -> Command {
    let mut command = Command::new(binary);
    command.arg("serve").arg("--data-dir").arg(data).args(["--listen", "127.0.0.1:0", "--no-open"]);
    command
}

fn spawn_logged(mut command: Command, log: &Path) -> anyhow::Result<Child> {
    let log_file = File::options()
        .create(true)
        .append(true)
        .open(log)
        .with_context(|| format!("could not open {}", log.display()))?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log_file)
        .spawn()
        .with_context(|| format!("could not start {}", command.get_program().display()))
}

/// Sends SIGKILL, and waits until the process has exited.
pub(crate) fn kill(child: &mut Child) -> anyhow::Result<()> {
    child.kill().context("could not kill the server")?;
    child.wait().context("could not wait for the killed server")?;
    Ok(())
}

/// The first line; the rest is read and dropped, so that the server never blocks on its pipe.
fn first_line(stdout: ChildStdout) -> anyhow::Result<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = String::new();
        let read = reader.read_line(&mut line);
        // After a time-out the receiver is gone; the pipe is drained all the same.
        drop(sender.send(read.map(|_| line)));
        drop(io::copy(&mut reader, &mut io::sink()));
    });
    let line = receiver.recv_timeout(START_TIMEOUT).context("it printed no line in time")?;
    line.context("could not read its first line")
}

/// `http://127.0.0.1:4321/#code` → `127.0.0.1:4321`.
fn address(line: &str) -> anyhow::Result<SocketAddr> {
    let rest = line.trim().split_once("://").with_context(|| format!("its first line is no URL: {line:?}"))?.1;
    let authority = rest.split(['/', '#', '?']).next().unwrap_or_default();
    authority.parse().with_context(|| format!("its first line names no address: {line:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_line_tells_the_address() {
        let expected: SocketAddr = "127.0.0.1:4321".parse().unwrap();
        for line in ["http://127.0.0.1:4321/#code=x\n", "http://127.0.0.1:4321#x", "http://127.0.0.1:4321\n"] {
            assert_eq!(address(line).unwrap(), expected, "{line}");
        }
        assert!(address("").is_err());
        assert!(address("error: the port is taken").is_err());
    }
}
