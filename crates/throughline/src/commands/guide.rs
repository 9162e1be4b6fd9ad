//! `throughline guide`: the built-in agent on standard input and output, as any other agent is run.

use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};

pub(super) async fn run() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // What a session started lies in groups of its own, which only the end of the guide ends.
    tokio::select! {
        () = agents::guide::serve(tokio::io::stdin(), tokio::io::stdout()) => (),
        _ = terminate.recv() => (),
        _ = interrupt.recv() => (),
    }
    Ok(())
}
