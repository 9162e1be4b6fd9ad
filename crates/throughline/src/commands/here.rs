//! `throughline` without a command: opens the page, ready for a session in this directory, on the running server or
//! on a new one.
//!
//! If standard output is no terminal its first line is the link, as with `serve`, and everything else goes to
//! standard error.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use server::wire::{NewSignInLink, SignInLink};

use crate::cli;
use crate::client::Client;
use crate::commands::serve;
use crate::data_dir::DataDir;
use crate::host::home;
use crate::link::{split, with_new_session};
use crate::terminal::{self, safe};

pub(super) async fn run(data: &DataDir, asked: &cli::Serve) -> Result<()> {
    let cwd = std::env::current_dir().ok();
    let directory = cwd.and_then(|cwd| StartDirectory::of(&cwd, home().as_deref()));
    // A given address asks for a server there; if it can not have it, it says so itself.
    if asked.listen.is_none()
        && let Some(client) = Client::of_running(data).await?
    {
        let joined = join(data, &client, asked, directory.as_ref()).await;
        client.close().await;
        return joined;
    }
    // A server may be started from any directory, but only a project is taken for where the person wants to work.
    let project = directory.filter(|directory| directory.is_project);
    serve::run(data, asked, project.as_ref().map(|start| start.directory.as_str())).await
}

/// Opens the page of the running server.
async fn join(data: &DataDir, client: &Client, asked: &cli::Serve, directory: Option<&StartDirectory>) -> Result<()> {
    let link: SignInLink = client.post("/tokens/link", Some(&NewSignInLink::default())).await?;
    let plain = link.url.expose();
    let address = split(plain).map_or(plain, |(address, _)| address);
    let pid = data.read_server_file().map(|file| format!(" (pid {})", file.pid)).unwrap_or_default();
    let found = format!("server is already running at {address}{pid}");
    let (link, offer) = match directory {
        Some(StartDirectory { directory, .. }) => {
            (with_new_session(plain, directory), format!("Begin a session in {}", safe(directory)))
        }
        None => (plain.to_owned(), "Open its page".to_owned()),
    };
    if !std::io::stdout().is_terminal() {
        terminal::remark(&format!("a {found}; the link leads there"));
        return Ok(terminal::line(&link)?);
    }
    terminal::line(&format!("A {found}.\n{offer}: {link}"))?;
    terminal::line("The link signs one browser in, once; one that is signed in already needs only the page.")?;
    serve::show_page(&link, asked)
}

/// A directory in which a session could begin.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StartDirectory {
    pub(super) directory: String,
    /// It is the root of a git working tree.
    is_project: bool,
}

impl StartDirectory {
    /// The git root around a directory, else the directory. None for directories in which an agent would reach
    /// everything that a person has: those have to be named.
    pub(super) fn of(cwd: &Path, home: Option<&Path>) -> Option<Self> {
        let cwd = cwd.canonicalize().ok()?;
        let home = home.and_then(|home| home.canonicalize().ok());
        let is_narrow =
            |path: &&Path| path.parent().is_some() && !home.as_ref().is_some_and(|home| home.starts_with(path));
        let root = cwd.ancestors().filter(is_narrow).find(|path| path.join(".git").symlink_metadata().is_ok());
        let directory = root.or_else(|| Some(cwd.as_path()).filter(is_narrow)).map(PathBuf::from)?;
        Some(Self { directory: directory.into_os_string().into_string().ok()?, is_project: root.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_session_is_offered_in_the_project_and_never_in_the_whole_home() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let home = root.join("home");
        // A home directory that is a git working tree holds configuration; nobody works on all of it.
        for path in ["home/.git", "home/code/engine/.git", "home/code/engine/src/deep", "elsewhere"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let directory = |path: &str| {
            let start = StartDirectory::of(&root.join(path), Some(&home))?;
            let directory = Path::new(&start.directory).strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            Some((directory, start.is_project))
        };
        let project = Some(("home/code/engine".to_owned(), true));
        assert_eq!(directory("home/code/engine"), project);
        assert_eq!(directory("home/code/engine/src/deep"), project);
        assert_eq!(directory("home/code"), Some(("home/code".to_owned(), false)));
        assert_eq!(directory("elsewhere"), Some(("elsewhere".to_owned(), false)));
        assert_eq!(directory("home"), None);
        assert_eq!(directory(""), None, "what holds the home is as far-reaching");
        assert_eq!(directory("gone"), None);
        assert_eq!(StartDirectory::of(Path::new("/"), None), None);
    }
}
