//! The folder of applets on disk: `applets/<slug>/` with plain files, and `applets/_shown/<session>/` for what nobody saved.
//!
//! Invariant: a path is made of a checked name and of our own words, and is opened below the folder name by name, as any path is
//! (`files`). What is there and is no applet is passed over, never touched.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use files::{Deny, Expected, FileError, FileKind, Tree, Trees};
use model::{AppletName, AppletSlug, SessionId};
use serde::Serialize;
use serde_json::{Map, Value};

use super::content;
use super::{Applet, AppletAbout, AppletContent, ListedApplet, MAX_APPLET_BYTES, MAX_APPLETS};
use crate::AppletError;

const META: &str = "meta.json";
const HTML: &str = "content.html";
const SCRIPT: &str = "script.js";
const STYLE: &str = "style.css";
const STATE: &str = "state.json";
const INDEX: &str = "_index.json";
/// The names of an applet's files, as people and agents edit them.
pub const APPLET_FILES: [&str; 5] = [META, HTML, SCRIPT, STYLE, STATE];
/// Older states, one file for each version.
const HISTORY: &str = "history";
/// States of single sessions.
const SESSIONS: &str = "sessions";
/// Longer than what anybody writes about an applet.
const MAX_META_BYTES: u64 = 64 << 10;
/// Longer than a state: one that was edited by hand may be spread over lines.
const MAX_STATE_FILE_BYTES: u64 = 1 << 20;
/// Versions are milliseconds since 1970; no clock reaches this one.
pub(super) const MAX_VERSION: u64 = 1 << 52;
/// How many names of a folder are read at most.
const MAX_NAMES: usize = 4 * MAX_APPLETS;

/// Opens what is below the folder.
#[derive(Debug, Clone)]
pub(super) struct AppletFolder {
    root: String,
    deny: Deny,
}

/// Where an applet's files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppletFiles {
    /// The folder, an absolute path.
    pub folder: String,
}

impl AppletFiles {
    /// The paths of its files, in the order of [`APPLET_FILES`].
    pub fn paths(&self) -> impl Iterator<Item = String> {
        APPLET_FILES.iter().map(|file| format!("{}/{file}", self.folder))
    }
}

/// Modification time and size of a file: if they differ, it was edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified_at_ms: i64,
    bytes: u64,
}

impl Stamp {
    pub(super) fn modified_at_ms(self) -> i64 {
        self.modified_at_ms
    }
}

/// The folder that a state is kept in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StateFolder {
    path: String,
}

/// One line of the index.
#[derive(Serialize)]
struct Indexed<'a> {
    slug: &'a AppletSlug,
    name: &'a str,
    description: &'a str,
}

impl AppletFolder {
    /// The folder at this path, if the path is text.
    pub(super) fn new(path: &Path, deny: Deny) -> Option<Self> {
        Some(Self { root: path.to_str()?.to_owned(), deny })
    }

    pub(super) fn files_of(&self, name: &AppletName) -> AppletFiles {
        AppletFiles { folder: format!("{}/{name}", self.root) }
    }

    /// Where a state is kept: with the applet, or with its sessions.
    pub(super) fn state_of(&self, name: &AppletName, session: Option<SessionId>) -> StateFolder {
        let own = self.files_of(name).folder;
        StateFolder { path: session.map_or_else(|| own.clone(), |session| format!("{own}/{SESSIONS}/{session}")) }
    }

    /// Whether a path leads to another session's own place among the applets, or to where those of all sessions are. By the names that
    /// it has once all links are followed, so that no other spelling helps. What is not there is nobody's.
    pub(super) fn is_of_another_session(&self, session: SessionId, path: &str) -> bool {
        let Ok(root) = fs::canonicalize(&self.root) else { return false };
        // Steps upwards are taken before links are followed, as whoever reads the file takes them.
        let mut spelled = PathBuf::from("/");
        for part in Path::new(path).components() {
            match part {
                Component::ParentDir => drop(spelled.pop()),
                Component::Normal(name) => spelled.push(name),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => (),
            }
        }
        let Ok(path) = fs::canonicalize(spelled) else { return false };
        let Ok(below) = path.strip_prefix(root) else { return false };
        let names: Vec<_> = below.iter().map(|name| name.to_string_lossy().to_lowercase()).collect();
        let of = match names.as_slice() {
            [shown, rest @ ..] if shown == AppletName::SHOWN => rest.first(),
            [_, sessions, rest @ ..] if sessions == SESSIONS => rest.first(),
            _ => return false,
        };
        of.is_none_or(|of| *of != session.to_string())
    }

    /// Opens the folder for reading and makes nothing. `None` if there is none yet.
    fn open(&self) -> Result<Option<Trees>, FileError> {
        match Tree::open(&self.root) {
            Ok(tree) => Ok(Some(Trees::new(vec![tree]).denying(self.deny.clone()))),
            Err(FileError::NotFound) => Ok(None),
            Err(err) => Err(err),
        }
    }

    fn open_or_make(&self) -> Result<Trees, FileError> {
        Ok(Trees::new(vec![Tree::open_or_make(&self.root)?]).denying(self.deny.clone()))
    }

    /// The applet of this name, if it is there.
    pub(super) fn read(&self, name: &AppletName) -> Result<Option<Applet>, AppletError> {
        let Some(trees) = self.open()? else { return Ok(None) };
        let folder = self.files_of(name).folder;
        let Some(about) = read_about(&trees, &folder) else { return Ok(None) };
        let text = |file: &str| match trees.read_bytes(format!("{folder}/{file}"), MAX_APPLET_BYTES as u64) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(FileError::NotFound | FileError::NotADirectory) => Ok(String::new()),
            Err(FileError::TooLarge { bytes, .. }) => Err(content::too_large(bytes)),
            Err(err) => Err(AppletError::File(err)),
        };
        let content = AppletContent { html: text(HTML)?, js: text(SCRIPT)?, css: text(STYLE)? };
        content.check_size()?;
        Ok(Some(Applet { name: name.clone(), about, bundled: false, content }))
    }

    /// The person's applets, in no order. Folders that hold none are passed over.
    pub(super) fn list(&self) -> Result<Vec<ListedApplet>, AppletError> {
        let Some(trees) = self.open()? else { return Ok(Vec::new()) };
        let mut listed = Vec::new();
        for item in trees.list(&self.root, MAX_NAMES)?.items {
            let Ok(slug) = item.name.parse::<AppletSlug>() else { continue };
            if item.kind != FileKind::Directory || listed.len() == MAX_APPLETS {
                continue;
            }
            if let Some(about) = read_about(&trees, &format!("{}/{slug}", self.root)) {
                listed.push(ListedApplet { slug, about, bundled: false });
            }
        }
        Ok(listed)
    }

    /// Writes an applet's files, `meta.json` last: until then a new one is not listed.
    pub(super) fn write(
        &self,
        name: &AppletName,
        about: &AppletAbout,
        content: &AppletContent,
    ) -> Result<(), AppletError> {
        /// As the file has it, with the slug for whoever reads it.
        #[derive(Serialize)]
        struct Meta<'a> {
            slug: &'a str,
            #[serde(flatten)]
            about: &'a AppletAbout,
        }
        let trees = self.open_or_make()?;
        let folder = self.files_of(name).folder;
        let write = |file: &str, text: &str| {
            let path = format!("{folder}/{file}");
            // An empty part needs no file, but empties one that is there.
            if text.is_empty() && matches!(trees.stat(&path), Err(FileError::NotFound | FileError::NotADirectory)) {
                return Ok(());
            }
            trees.write_bytes(path, text.as_bytes(), &Expected::Anything).map(drop)
        };
        write(HTML, &content.html)?;
        write(SCRIPT, &content.js)?;
        write(STYLE, &content.css)?;
        let meta = pretty(&Meta { slug: name.word(), about });
        Ok(write(META, &meta)?)
    }

    pub(super) fn write_index(&self) -> Result<(), AppletError> {
        let mut listed = self.list()?;
        listed.sort_by(|a, b| a.slug.cmp(&b.slug));
        let line = |applet: &ListedApplet| {
            let ListedApplet { slug, about, bundled: _ } = applet;
            serde_json::to_value(Indexed { slug, name: &about.name, description: &about.description })
                .expect("it holds only texts")
        };
        let index: Vec<_> = listed.iter().map(line).collect();
        let trees = self.open_or_make()?;
        trees.write_bytes(format!("{}/{INDEX}", self.root), pretty(&index).as_bytes(), &Expected::Anything)?;
        Ok(())
    }

    /// What an applet says of itself, whether or not its page can be read; `None` if there is no applet.
    pub(super) fn about(&self, name: &AppletName) -> Result<Option<AppletAbout>, FileError> {
        let folder = self.files_of(name).folder;
        Ok(self.open()?.and_then(|trees| read_about(&trees, &folder)))
    }

    /// Removes an applet's folder with all that is in it; whether there was an applet.
    pub(super) fn remove(&self, name: &AppletName) -> Result<bool, AppletError> {
        // One whose page can not be read is removed all the same.
        if self.about(name)?.is_none() {
            return Ok(false);
        }
        self.remove_path(&self.files_of(name).folder)?;
        Ok(true)
    }

    /// Removes a session's own applet and the states that it had of others.
    pub(super) fn remove_session(&self, session: SessionId) -> Result<(), FileError> {
        self.remove_path(&self.files_of(&AppletName::Shown(session)).folder)?;
        for slug in self.slugs()? {
            self.remove_path(&self.state_of(&AppletName::Saved(slug), Some(session)).path)?;
        }
        Ok(())
    }

    /// The sessions that have an applet of their own here, or a state of another.
    pub(super) fn sessions(&self) -> Result<BTreeSet<SessionId>, FileError> {
        let Some(trees) = self.open()? else { return Ok(BTreeSet::new()) };
        let mut folders = vec![format!("{}/{}", self.root, AppletName::SHOWN)];
        folders.extend(self.slugs()?.iter().map(|slug| format!("{}/{slug}/{SESSIONS}", self.root)));
        let mut sessions = BTreeSet::new();
        for folder in folders {
            match trees.list(folder, MAX_NAMES) {
                Ok(listing) => {
                    sessions.extend(listing.items.iter().filter_map(|item| item.name.parse::<SessionId>().ok()));
                }
                Err(FileError::NotFound | FileError::NotADirectory | FileError::NotAllowed) => (),
                Err(err) => return Err(err),
            }
        }
        Ok(sessions)
    }

    /// The folders that may be of an applet. One that comes with the program has a folder too, once it keeps a state.
    fn slugs(&self) -> Result<Vec<AppletSlug>, FileError> {
        let Some(trees) = self.open()? else { return Ok(Vec::new()) };
        let items = trees.list(&self.root, MAX_NAMES)?.items;
        let folders = items.into_iter().filter(|item| item.kind == FileKind::Directory);
        Ok(folders.filter_map(|item| item.name.parse().ok()).collect())
    }

    /// Removes a file, or a folder with all that is in it. A link in its place is removed, and behind one that is on the way nothing is.
    fn remove_path(&self, path: &str) -> Result<(), FileError> {
        let below = Path::new(path).strip_prefix(&self.root).map_err(|_| FileError::NotAllowed)?;
        let mut at = PathBuf::from(&self.root);
        let parents = below.parent().into_iter().flat_map(Path::components);
        for part in parents {
            at.push(part);
            match fs::symlink_metadata(&at) {
                Ok(found) if found.is_dir() => (),
                Ok(_) => return Ok(()),
                Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(err) => return Err(err.into()),
            }
        }
        let removed = match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(err) => Err(err),
        };
        match removed {
            Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(err.into()),
            _ => Ok(()),
        }
    }

    /// By which an edit of an applet's files, all but its state, is noticed.
    pub(super) fn stamps(&self, name: &AppletName) -> Result<Vec<Option<Stamp>>, AppletError> {
        let Some(trees) = self.open()? else { return Ok(Vec::new()) };
        let folder = self.files_of(name).folder;
        Ok([META, HTML, SCRIPT, STYLE].iter().map(|file| stamp(&trees, &format!("{folder}/{file}"))).collect())
    }

    /// By which an edit of a state's file is noticed.
    pub(super) fn state_stamp(&self, of: &StateFolder) -> Result<Option<Stamp>, FileError> {
        Ok(self.open()?.and_then(|trees| stamp(&trees, &format!("{}/{STATE}", of.path))))
    }

    pub(super) fn read_state(&self, of: &StateFolder) -> Result<Option<Vec<u8>>, FileError> {
        self.read_file(&format!("{}/{STATE}", of.path))
    }

    /// Writes a state. The file's time is its version, so that a start knows the version again that was acknowledged.
    pub(super) fn write_state(&self, of: &StateFolder, text: &str, version: u64) -> Result<Option<Stamp>, FileError> {
        let (trees, path) = (self.open_or_make()?, format!("{}/{STATE}", of.path));
        let modified_at = SystemTime::UNIX_EPOCH + Duration::from_millis(version);
        trees.write_bytes_dated(&path, text.as_bytes(), modified_at)?;
        Ok(stamp(&trees, &path))
    }

    /// Keeps a version, and removes the oldest where there are more than `most`.
    pub(super) fn keep_version(
        &self,
        of: &StateFolder,
        version: u64,
        text: &str,
        most: usize,
    ) -> Result<(), FileError> {
        let trees = self.open_or_make()?;
        let path = format!("{}/{HISTORY}/{version}.json", of.path);
        trees.write_bytes(path, text.as_bytes(), &Expected::Anything)?;
        let kept = self.versions(of)?;
        for (old, _) in kept.iter().skip(most) {
            self.remove_path(&format!("{}/{HISTORY}/{old}.json", of.path))?;
        }
        Ok(())
    }

    /// The versions that are kept with their lengths, newest first.
    pub(super) fn versions(&self, of: &StateFolder) -> Result<Vec<(u64, u64)>, FileError> {
        let Some(trees) = self.open()? else { return Ok(Vec::new()) };
        let items = match trees.list(format!("{}/{HISTORY}", of.path), MAX_NAMES) {
            Ok(listing) => listing.items,
            Err(FileError::NotFound | FileError::NotADirectory) => return Ok(Vec::new()),
            Err(err) => return Err(err),
        };
        // Only what we could have written: no other spelling of a number, and none that JavaScript can not count on from.
        let version = |name: &str| {
            let name = name.strip_suffix(".json")?;
            name.parse::<u64>().ok().filter(|version| *version < MAX_VERSION && version.to_string() == name)
        };
        let plain = items.into_iter().filter(|item| item.kind == FileKind::File);
        let mut versions: Vec<_> = plain.filter_map(|item| Some((version(&item.name)?, item.bytes))).collect();
        versions.sort_unstable_by(|a, b| b.cmp(a));
        Ok(versions)
    }

    pub(super) fn read_version(&self, of: &StateFolder, version: u64) -> Result<Option<Vec<u8>>, FileError> {
        self.read_file(&format!("{}/{HISTORY}/{version}.json", of.path))
    }

    fn read_file(&self, path: &str) -> Result<Option<Vec<u8>>, FileError> {
        let Some(trees) = self.open()? else { return Ok(None) };
        match trees.read_bytes(path, MAX_STATE_FILE_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FileError::NotFound | FileError::NotADirectory) => Ok(None),
            Err(err) => Err(err),
        }
    }
}

/// An applet's `meta.json`; `None` if it is missing or can not be understood.
fn read_about(trees: &Trees, folder: &str) -> Option<AppletAbout> {
    let text = trees.read_bytes(format!("{folder}/{META}"), MAX_META_BYTES).ok()?;
    let about: AppletAbout = serde_json::from_slice(&text).ok()?;
    model::is_applet_line(&about.name).then_some(about)
}

fn stamp(trees: &Trees, path: &str) -> Option<Stamp> {
    let stat = trees.stat(path).ok()?;
    Some(Stamp { modified_at_ms: stat.modified_at_ms, bytes: stat.bytes })
}

/// A state as its file has it: for people, unless that would be longer than what is read again. A list of many small numbers has a line
/// for each, and grows to many times its length.
pub(super) fn state_text(state: &Map<String, Value>) -> String {
    let text = pretty(state);
    match text.len() as u64 > MAX_STATE_FILE_BYTES {
        true => serde_json::to_string(state).expect("it holds only texts, numbers and lists of them"),
        false => text,
    }
}

/// JSON as people read and compare it.
pub(super) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("it holds only texts, numbers and lists of them");
    text.push('\n');
    text
}
