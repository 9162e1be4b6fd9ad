//! `throughline watch`: prints what happens in a session as it happens.

use anyhow::{Result, bail};

use crate::cli;
use crate::client::Client;
use crate::commands::answer_printer::AnswerPrinter;
use crate::commands::list::{NO_TITLE, state};
use crate::data_dir::DataDir;
use crate::style::Style;
use crate::terminal::{self, safe};

pub(super) async fn run(data: &DataDir, watch: &cli::Watch) -> Result<()> {
    let Some(client) = Client::of_running(data).await? else {
        bail!("no server is running, so nothing happens; `throughline show` prints what there is");
    };
    let session = client.find_session(&watch.session).await?;
    if !watch.json {
        let title = session.row.title.as_deref().unwrap_or(NO_TITLE);
        terminal::line(&format!("{}  {}", Style::Bold.paint(&safe(title)), Style::Dim.paint(&state(&session.row))))?;
    }
    let mut printer = AnswerPrinter::follow_newest(&client, session.row.id, watch.json).await?;
    tokio::select! {
        biased;
        signal = tokio::signal::ctrl_c() => Ok(signal?),
        done = printer.watch(&client) => done,
    }
}
