//! Takes in bundles that `throughline export --as bundle` wrote.
//!
//! Invariant: the server reads a copy in its own data folder, so it opens no path that somebody named. The copy is removed
//! afterwards, whatever came of it.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use engine::{IdSource as _, SystemIds};
use server::wire::{ImportedBundle, NewBundle};

use crate::client::Client;
use crate::commands::list::tail;
use crate::data_dir::DataDir;
use crate::incoming::IncomingBundle;
use crate::terminal::{self, counted, safe, safe_json};

/// How a bundle begins: it is a tar file, and this is its first file.
const BEGINNING: &[u8] = b"throughline-bundle.json\0";

/// Whether a bundle lies there.
pub(super) fn is_bundle(path: &Path) -> bool {
    let mut begins = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGINNING.len() as u64).read_to_end(&mut begins));
    read.is_ok() && begins == BEGINNING
}

pub(super) async fn run(data: &DataDir, bundles: &[String], json: bool) -> Result<()> {
    let client = Client::connect(data).await?;
    let mut done = Ok(());
    for bundle in bundles {
        done = take_in(&client, data, Path::new(bundle), json).await;
        if done.is_err() {
            break;
        }
    }
    client.close().await;
    done
}

async fn take_in(client: &Client, data: &DataDir, path: &Path, json: bool) -> Result<()> {
    fs::metadata(path).with_context(|| format!("could not read {}", path.display()))?;
    if !is_bundle(path) {
        bail!("{} is no bundle; `throughline export SESSION --as bundle --to FILE` writes one", path.display());
    }
    let name = SystemIds.uuid();
    let copy = IncomingBundle::copy(path, &data.incoming(), &name.to_string())?;
    let taken: Result<ImportedBundle> = client.post("/imports/bundle", Some(&NewBundle { name })).await;
    drop(copy);
    let taken = taken?;
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&taken)?))?);
    }
    let id = tail(taken.session);
    let missing = counted(
        taken.missing,
        "file beside the log is not in the bundle: it was gone when that was written",
        "files beside the log are not in the bundle: they were gone when that was written",
    );
    missing.into_iter().for_each(|words| terminal::remark(&words));
    if taken.was_here {
        return Ok(terminal::line(&safe(&format!(
            "Session {id} is here already, with every entry that the bundle has."
        )))?);
    }
    let payloads = counted(taken.payloads, "file beside the log", "files beside the log");
    let payloads = payloads.map(|payloads| format!(" and {payloads}")).unwrap_or_default();
    let entries = counted(taken.entries, "entry", "entries").unwrap_or_default();
    terminal::line(&safe(&format!("Session {id} is here, with {entries}{payloads}.")))?;
    Ok(terminal::advice(&safe(&format!(
        "It is read-only until an agent takes it over: `throughline resume {id} --agent AGENT`."
    )))?)
}
