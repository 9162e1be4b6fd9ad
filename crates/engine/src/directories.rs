//! Checks a working directory before a session is made in it, so that a mistake is an error at once and not a failed agent.

use std::path::{Path, PathBuf};

use model::SessionRow;

use crate::DirectoryError;

/// A directory fit for a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WorkingDirectory {
    /// The real path, links followed.
    pub(crate) cwd: String,
    /// The git root above it, else itself.
    pub(crate) project: String,
}

/// Whether the person said that a far-reaching directory is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// `/` and the home directory are refused.
    Careful,
    /// They are meant.
    Confirmed,
}

pub(crate) async fn inspect(cwd: &str, home: Option<&Path>, reach: Reach) -> Result<WorkingDirectory, DirectoryError> {
    // As people write it, and as a shell would read it.
    let below_home = home.zip(cwd.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')));
    let path = match below_home {
        Some((home, rest)) => home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(cwd),
    };
    if !path.is_absolute() {
        return Err(DirectoryError::NotAbsolute);
    }
    let real = tokio::fs::canonicalize(&path).await.map_err(|_| DirectoryError::NotADirectory)?;
    // Reading the directory shows that it is one and that we may enter it.
    drop(tokio::fs::read_dir(&real).await.map_err(|_| DirectoryError::NotADirectory)?);
    let home = match home {
        Some(home) => tokio::fs::canonicalize(home).await.ok(),
        None => None,
    };
    let far_reaching = real.parent().is_none() || home.is_some_and(|home| home.starts_with(&real));
    if far_reaching && reach == Reach::Careful {
        return Err(DirectoryError::NeedsConfirmation);
    }
    let mut project = real.clone();
    for ancestor in real.ancestors() {
        if tokio::fs::symlink_metadata(ancestor.join(".git")).await.is_ok() {
            project = ancestor.to_path_buf();
            break;
        }
    }
    let text = |path: PathBuf| path.into_os_string().into_string().map_err(|_| DirectoryError::NotText);
    Ok(WorkingDirectory { cwd: text(real)?, project: text(project)? })
}

/// Where a session can go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where it worked before.
    Same,
    /// Its own directory is gone: its project, else the nearest directory above that still belongs to it.
    Instead(String),
    /// Nothing is there that may stand for it.
    Gone,
}

pub(crate) async fn place_of(row: &SessionRow, home: Option<&Path>) -> Place {
    let there = async |path: &Path| tokio::fs::metadata(path).await.is_ok_and(|meta| meta.is_dir());
    if there(Path::new(&row.cwd)).await {
        return Place::Same;
    }
    for above in Path::new(&row.cwd).ancestors().skip(1) {
        if !above.starts_with(&row.project) || above.parent().is_none() || Some(above) == home {
            return Place::Gone;
        }
        if there(above).await {
            return above.to_str().map_or(Place::Gone, |above| Place::Instead(above.to_owned()));
        }
    }
    Place::Gone
}

/// A path that is not absolute begins at this directory.
pub(crate) fn from_directory(directory: &str, path: String) -> String {
    if path.starts_with('/') { path } else { format!("{}/{path}", directory.trim_end_matches('/')) }
}
