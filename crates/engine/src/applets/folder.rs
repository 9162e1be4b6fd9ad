//! The folder of applets on disk: `applets/<slug>/` with plain files, and `applets/_shown/<session>/` for what nobody saved.
//!
//! Invariant: a path is made of a checked name and of our own words, and is opened below the folder name by name, as any path is
//! (`files`). What is there and is no applet is passed over, never touched.

use std::fs;
use std::path::Path;

use files::{Deny, Expected, FileError, FileKind, Tree, Trees};
use model::{AppletName, AppletSlug, SessionId};
use serde::Serialize;

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
/// Far beyond any time.
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

/// By which an edit of a file is noticed.
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
            Err(err) => Err(err),
        };
        let content = AppletContent { html: text(HTML)?, js: text(SCRIPT)?, css: text(STYLE)? };
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

    /// Removes an applet's folder with all that is in it; whether there was an applet.
    pub(super) fn remove(&self, name: &AppletName) -> Result<bool, AppletError> {
        // One whose page can not be read is removed all the same.
        let folder = self.files_of(name).folder;
        if self.open()?.and_then(|trees| read_about(&trees, &folder)).is_none() {
            return Ok(false);
        }
        // A link in its place is removed, not followed.
        fs::remove_dir_all(folder).map_err(FileError::from)?;
        Ok(true)
    }

    /// Removes a session's own applet and the states that it had of others.
    pub(super) fn remove_session(&self, session: SessionId) -> Result<(), AppletError> {
        let mut gone = vec![self.files_of(&AppletName::Shown(session)).folder];
        for ListedApplet { slug, .. } in self.list()? {
            gone.push(self.state_of(&AppletName::Saved(slug), Some(session)).path);
        }
        for folder in gone {
            match fs::remove_dir_all(folder).map_err(FileError::from) {
                Ok(()) | Err(FileError::NotFound | FileError::NotADirectory) => (),
                Err(err) => return Err(err.into()),
            }
        }
        Ok(())
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

    pub(super) fn write_state(&self, of: &StateFolder, text: &str) -> Result<Option<Stamp>, FileError> {
        let (trees, path) = (self.open_or_make()?, format!("{}/{STATE}", of.path));
        trees.write_bytes(&path, text.as_bytes(), &Expected::Anything)?;
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
            // One that somebody removed meanwhile is gone.
            drop(fs::remove_file(format!("{}/{HISTORY}/{old}.json", of.path)));
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

/// JSON as people read and compare it.
pub(super) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("it holds only texts, numbers and lists of them");
    text.push('\n');
    text
}
