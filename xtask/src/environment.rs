//! The only file of xtask that reads environment variables.

use std::ffi::OsString;
use std::path::PathBuf;

/// A run without a person watching: there a missing tool is a failure, not a note.
pub(crate) fn is_ci() -> bool {
    variable("CI").is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}

/// The browser that the person names.
pub(crate) fn chrome() -> Option<PathBuf> {
    variable("CHROME").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's cache folder.
pub(crate) fn cache() -> Option<PathBuf> {
    let named = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))
}

/// The folders in which programs are searched.
pub(crate) fn search_path() -> Vec<PathBuf> {
    variable("PATH").map(|value| std::env::split_paths(&value).collect()).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "this file is the seam")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
