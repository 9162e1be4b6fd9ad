//! Finds a program along `PATH`, without a shell: for the catalog, which lists it, and for the supervisor, which
//! starts it.
//!
//! Invariant: only absolute paths, and absolute folders of `PATH`, are used. A relative one would let the files of a
//! project choose the program.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Why a program was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// The command is a relative path.
    Relative,
    Missing,
    /// There is a file, but it is not executable.
    NotExecutable(PathBuf),
}

/// `command` is a full path, or a bare name that is looked up along `path`.
pub(crate) fn find(command: &str, path: &str) -> Result<PathBuf, NotFound> {
    if command.contains('/') {
        let program = PathBuf::from(command);
        return match () {
            () if !program.is_absolute() => Err(NotFound::Relative),
            () if !program.is_file() => Err(NotFound::Missing),
            () if !is_executable(&program) => Err(NotFound::NotExecutable(program)),
            () => Ok(program),
        };
    }
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let mut closed = None;
    for program in folders.map(|folder| folder.join(command)).filter(|program| program.is_file()) {
        if is_executable(&program) {
            return Ok(program);
        }
        closed.get_or_insert(program);
    }
    Err(closed.map_or(NotFound::Missing, NotFound::NotExecutable))
}

fn is_executable(program: &Path) -> bool {
    access(program, Access::EXEC_OK).is_ok()
}
