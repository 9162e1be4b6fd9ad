//! Starts the agent inside its supervisor, or says in words why it can not be started.
//!
//! Invariant: the program that runs is the one that the person named. A relative path, or a relative entry of
//! `PATH`, would let the files of a project choose the program.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Access, access};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::wire::{ProcessLimits, Spec, StartRefusal};
use crate::program::{self, NotFound};

/// The pipe ends that the agent inherits.
pub(super) struct InheritedPipes {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
}

/// Starts the agent in a process group of its own, with its standard error piped.
pub(super) fn start(spec: &Spec, ends: InheritedPipes) -> Result<Child, StartRefusal> {
    let program = find_program(&spec.command, spec.env.get("PATH").map_or("", String::as_str))?;
    check_directory(&spec.cwd)?;
    set_limits(spec.limits).map_err(|code| StartRefusal::Limits { code: code.raw_os_error() })?;
    let mut command = Command::new(&program);
    command.arg0(&spec.command).args(&spec.args).current_dir(&spec.cwd).env_clear().envs(&spec.env).process_group(0);
    command.stdin(ends.stdin).stdout(ends.stdout).stderr(Stdio::piped());
    command.spawn().map_err(|err| refusal_of(program, &err))
}

fn find_program(command: &str, path: &str) -> Result<PathBuf, StartRefusal> {
    let command_named = command.to_owned();
    program::find(command, path).map_err(|not_found| match not_found {
        NotFound::Relative => StartRefusal::CommandRelative { command: command_named },
        NotFound::Missing => StartRefusal::CommandNotFound { command: command_named },
        NotFound::NotExecutable(path) => StartRefusal::NotExecutable { path },
    })
}

fn check_directory(cwd: &Path) -> Result<(), StartRefusal> {
    let path = cwd.to_owned();
    match fs::metadata(cwd) {
        Err(err) if err.kind() == io::ErrorKind::PermissionDenied => Err(StartRefusal::DirectoryClosed { path }),
        Err(_) => Err(StartRefusal::DirectoryMissing { path }),
        Ok(found) if !found.is_dir() || !cwd.is_absolute() => Err(StartRefusal::NotADirectory { path }),
        Ok(_) if access(cwd, Access::EXEC_OK).is_err() => Err(StartRefusal::DirectoryClosed { path }),
        Ok(_) => Ok(()),
    }
}

/// Sets the limits for this process; the agent inherits them.
fn set_limits(limits: ProcessLimits) -> rustix::io::Result<()> {
    let wanted = [
        (Resource::Core, Some(0)),
        (Resource::Nofile, limits.open_files),
        (Resource::Data, limits.memory_bytes),
        (Resource::Nproc, limits.processes),
    ];
    for (resource, wanted) in wanted {
        if let Some(wanted) = wanted {
            let allowed = getrlimit(resource).maximum.map_or(wanted, |maximum| wanted.min(maximum));
            setrlimit(resource, Rlimit { current: Some(allowed), maximum: Some(allowed) })?;
        }
    }
    Ok(())
}

fn refusal_of(program: PathBuf, err: &io::Error) -> StartRefusal {
    match (err.kind(), err.raw_os_error()) {
        // The file was there a moment ago: it is the interpreter that is missing.
        (io::ErrorKind::NotFound, _) => StartRefusal::InterpreterMissing { path: program },
        (io::ErrorKind::PermissionDenied, _) => StartRefusal::NotExecutable { path: program },
        (io::ErrorKind::InvalidInput, None) => StartRefusal::ZeroByte { path: program },
        (_, code) => StartRefusal::System { path: program, code: code.unwrap_or(0) },
    }
}
