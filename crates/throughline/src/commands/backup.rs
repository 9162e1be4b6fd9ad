//! `throughline backup`: copies everything into a new folder.
//!
//! Invariant: what could not be copied is named, and the rest is copied all the same.

use anyhow::Result;
use engine::{Clock as _, SystemClock};
use indicatif::{HumanBytes, HumanCount};
use store::outside::{BackupNote, BackupWish};

use crate::agency;
use crate::cli;
use crate::commands::payload_text;
use crate::data_dir::DataDir;
use crate::host::open_store_file;
use crate::progress::run_with_bar;
use crate::terminal::{self, safe, safe_json};

pub(super) async fn run(data: &DataDir, backup: cli::Backup) -> Result<()> {
    let (data, to) = (data.clone(), backup.folder.clone());
    let note: BackupNote = run_with_bar(move |progress| -> Result<BackupNote> {
        let (made_at, config) = (SystemClock.now(), data.config());
        let folders = agency::FOLDERS.map(|name| data.path().join(name));
        let program = env!("CARGO_PKG_VERSION");
        let wish = BackupWish { folder: &to, config: Some(&config), folders: &folders, made_at, program };
        Ok(open_store_file(&data)?.backup(&wish, progress)?)
    })
    .await??;
    let shown = std::fs::canonicalize(&backup.folder)?.display().to_string();
    if backup.json {
        let mut answer = serde_json::to_value(&note)?;
        answer["folder"] = shown.into();
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&answer)?))?);
    }
    let (entries, bytes) = (HumanCount(note.entries), HumanBytes(note.bytes));
    let report = note.payloads.unwrap_or_default();
    let shown_things = payload_text::carried(&report).map(|text| format!(" and {text}")).unwrap_or_default();
    terminal::line(&safe(&format!("{entries} entries, {bytes},{shown_things} are in {shown}")))?;
    payload_text::troubles(&report).iter().try_for_each(|line| terminal::advice(&safe(line)))?;
    Ok(terminal::advice(&safe(&format!("`throughline restore {shown}` brings them back.")))?)
}
