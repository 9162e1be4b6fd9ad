//! Runs work that takes a while on a blocking thread, with a progress bar on a terminal.
//!
//! Invariant: the bar is on standard error, only if that is a terminal, and is removed at the end.

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use store::outside::{OnProgress, Progress, Stage};

/// Runs `work` and shows its progress.
pub(crate) async fn run_with_bar<T: Send + 'static>(
    work: impl FnOnce(OnProgress<'_>) -> T + Send + 'static,
) -> Result<T> {
    let shown = tokio::task::spawn_blocking(move || {
        let mut bar = Bar::default();
        let done = work(&mut |progress| bar.show(progress));
        bar.bar.finish_and_clear();
        done
    });
    shown.await.context("the work broke off")
}

struct Bar {
    bar: ProgressBar,
    stage: Option<Stage>,
}

impl Default for Bar {
    fn default() -> Self {
        Self { bar: ProgressBar::new(0), stage: None }
    }
}

impl Bar {
    fn show(&mut self, Progress { stage, done, total }: Progress) {
        if self.stage != Some(stage) {
            self.stage = Some(stage);
            self.bar.set_style(style(total));
            self.bar.set_message(stage_name(stage));
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

fn style(total: u64) -> ProgressStyle {
    let template = if total == 0 { "{msg} …" } else { "{msg} [{bar:30}] {percent} % {eta}" };
    ProgressStyle::with_template(template).expect("a template of our own is well-formed").progress_chars("━━ ")
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::CheckFile => "Reading the file",
        Stage::CheckStreams => "Verifying sessions",
        Stage::CheckStrays => "Looking for strays",
        Stage::Copy => "Copying",
        Stage::Payloads => "Going through the files beside it",
        Stage::Rebuild => "Making the tables anew",
        Stage::Export => "Exporting",
        Stage::Import => "Reading the export",
        Stage::Place => "Putting it in place",
    }
}
