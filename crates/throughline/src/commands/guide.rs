//! `throughline guide`: runs the built-in agent on standard input and output, as any other agent is run.

use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};

pub(super) async fn run() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // Commands of a session are in process groups of their own, which end only when the guide ends.
    tokio::select! {
        () = agents::guide::serve(tokio::io::stdin(), tokio::io::stdout()) => (),
        _ = terminate.recv() => (),
        _ = interrupt.recv() => (),
    }
    Ok(())
}
