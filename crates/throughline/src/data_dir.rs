//! The data folder: its paths and their permissions.
//!
//! Invariant: the folder is closed to others before anything is put into it, and files are 0600. Files that others
//! may read are complete or absent: each is written beside its place and then moved there.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

/// The variable that names the folder if `--data-dir` does not.
pub(crate) const DATA_DIR_VARIABLE: &str = "THROUGHLINE_HOME";
const OWNER_ONLY: u32 = 0o700;
/// Any permission of anybody but the owner.
const OTHERS: u32 = 0o077;

#[derive(Debug, Clone)]
pub(crate) struct DataDir(PathBuf);

/// `server.json`: how to reach the server that runs on this folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerFile {
    pub(crate) url: String,
    pub(crate) socket: PathBuf,
    pub(crate) pid: u32,
    pub(crate) started_at: model::Timestamp,
}

impl DataDir {
    /// The named folder, else the one in the home directory. Never one in the working directory: a cloned repository
    /// could bring it.
    pub(crate) fn resolve(named: Option<PathBuf>, home: Option<&Path>) -> Result<Self> {
        // A variable that is set to nothing names nothing.
        let path = match (named.filter(|named| !named.as_os_str().is_empty()), home) {
            (Some(named), _) => {
                std::path::absolute(&named).with_context(|| format!("{} is no path", named.display()))?
            }
            (None, Some(home)) => home.join(".throughline"),
            (None, None) => bail!("there is no home directory; say where to keep things with --data-dir"),
        };
        Ok(Self(path))
    }

    /// Makes the folder if it does not exist. An existing one must be closed to others; we close it ourselves only
    /// while it is empty, since its contents may be meant for others.
    pub(crate) fn prepare(&self) -> Result<()> {
        let path = self.0.display();
        let found = match fs::metadata(&self.0) {
            Ok(found) => found,
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                let made = DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(&self.0);
                return made.with_context(|| format!("could not make the folder {path}"));
            }
            Err(err) => return Err(err).with_context(|| format!("could not look at the folder {path}")),
        };
        if found.permissions().mode() & OTHERS == 0 {
            return Ok(());
        }
        let mut inside = fs::read_dir(&self.0).with_context(|| format!("could not look into the folder {path}"))?;
        if inside.next().is_some() {
            bail!(
                "others can get into the folder {path}; close it with `chmod 700 {path}`, or choose another --data-dir"
            );
        }
        let closed = fs::set_permissions(&self.0, Permissions::from_mode(OWNER_ONLY));
        closed.with_context(|| format!("could not close the folder {path} to others"))
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("throughline.db")
    }

    /// The search index; it may be deleted at any time.
    pub(crate) fn search(&self) -> PathBuf {
        self.0.join("search")
    }

    /// Readable copies of the sessions, a folder each.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.0.join("sessions")
    }

    /// Where bundles lie while they are taken in.
    pub(crate) fn incoming(&self) -> PathBuf {
        self.0.join("incoming")
    }

    /// The working directory of agents that several sessions share; empty.
    pub(crate) fn agents(&self) -> PathBuf {
        self.0.join("agents")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    pub(crate) fn token(&self) -> PathBuf {
        self.0.join("token")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.0.join("server.sock")
    }

    pub(crate) fn server_file(&self) -> PathBuf {
        self.0.join("server.json")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn read_server_file(&self) -> Option<ServerFile> {
        serde_json::from_slice(&fs::read(self.server_file()).ok()?).ok()
    }
}

/// Writes a file whole, readable by its owner only.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    // Left over from a crash, perhaps with other permissions.
    match fs::remove_file(&beside) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
        Ok(()) | Err(_) => (),
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}
