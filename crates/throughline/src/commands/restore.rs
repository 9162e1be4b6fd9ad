//! `throughline restore`: restores a backup or an export.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use engine::{Clock as _, SystemClock};
use indicatif::HumanCount;
use store::outside::{RestoreError, RestoreWish, Restored, put_folders_back, restore};

use crate::agency;
use crate::cli;
use crate::commands::payload_text;
use crate::data_dir::DataDir;
use crate::host::{explain, new_incarnation};
use crate::progress::run_with_bar;
use crate::terminal::{self, counted, safe, safe_json};

pub(super) async fn run(data: &DataDir, wish: cli::Restore) -> Result<()> {
    data.prepare()?;
    let (store, from, replace) = (data.database(), wish.path.clone(), wish.replace);
    let restored = run_with_bar(move |progress| {
        let (incarnation, at) = (new_incarnation(), SystemClock.now());
        restore(&RestoreWish { from: &from, store: &store, incarnation, at, replace }, progress)
    })
    .await?
    .map_err(|err| advise(err, data))?;
    // The store is there by now, whatever becomes of them; only a backup holds any.
    let folders = put_folders_back(&wish.path, data.path(), &agency::FOLDERS);
    let folders = folders.context("the store was put back, but not the folders beside it; copy them by hand")?;
    if wish.json {
        return print_json(data, &restored, &folders);
    }
    print(data, &restored, &folders)
}

fn advise(err: RestoreError, data: &DataDir) -> anyhow::Error {
    match err {
        RestoreError::Open(err) => explain(err, data, "stop it first: nobody may use a store that is replaced"),
        RestoreError::Taken { .. } => anyhow::Error::new(err)
            .context("something is there that would be replaced; --replace moves it aside and removes nothing"),
        err => err.into(),
    }
}

fn print_json(data: &DataDir, restored: &Restored, folders: &[PathBuf]) -> Result<()> {
    let answer = serde_json::json!({
        "store": data.database(),
        "entries": restored.entries,
        "madeAt": restored.made_at,
        "moved": restored.moved,
        "config": restored.config,
        "folders": folders,
        "damaged": restored.damaged,
        "payloads": restored.payloads,
    });
    Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&answer)?))?)
}

fn print(data: &DataDir, restored: &Restored, folders: &[PathBuf]) -> Result<()> {
    let entries = HumanCount(restored.entries);
    let mut lines =
        vec![format!("{entries} entries, as they were at {}, are in {}", restored.made_at, data.path().display())];
    if restored.config {
        lines.push("config.toml was put back with them.".to_owned());
    }
    lines.extend(folders.iter().map(|folder| format!("{} was put back with them.", folder.display())));
    for moved in &restored.moved {
        lines.push(format!("What was at {} is now at {}", moved.from.display(), moved.to.display()));
    }
    lines.extend(counted(
        restored.damaged,
        "session was damaged when it was exported, and is there up to its damage.",
        "sessions were damaged when they were exported, and are there up to their damage.",
    ));
    match &restored.payloads {
        Some(report) => {
            lines.extend(payload_text::carried(report).map(|text| format!("With them came {text}.")));
            lines.extend(payload_text::troubles(report));
        }
        None => lines.push(
            "It was made by an earlier version, which kept no bytes of what agents showed; put the sessions/<id>/outputs \
             folders that you copied back beside it."
                .to_owned(),
        ),
    }
    lines.push(
        "Credentials are as they were then; `throughline token rotate` ends those that you had ended since.".to_owned(),
    );
    lines.push(
        "`throughline` starts the server. Pages and programs that were connected read everything anew.".to_owned(),
    );
    lines.iter().try_for_each(|line| terminal::advice(&safe(line)))?;
    Ok(())
}
