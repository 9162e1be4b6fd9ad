//! `throughline` alone: the page, ready for a session where the person stands, from the server that runs or from a new one.
//!
//! Where standard output is no terminal its first line is the link, as `serve` has it, and what else there is to say goes
//! to standard error.

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
    let place = cwd.and_then(|cwd| Place::of(&cwd, home().as_deref()));
    // Whoever says an address wants a server there; it says itself that it can not be had.
    if asked.listen.is_none()
        && let Some(client) = Client::of_running(data).await?
    {
        let joined = join(data, &client, asked, place.as_ref()).await;
        client.close().await;
        return joined;
    }
    // A new server is also started from anywhere; only a project is taken for where somebody wants to work.
    let project = place.filter(|place| place.is_project);
    serve::run(data, asked, project.as_ref().map(|place| place.directory.as_str())).await
}

/// Opens the page of the server that runs.
async fn join(data: &DataDir, client: &Client, asked: &cli::Serve, place: Option<&Place>) -> Result<()> {
    let link: SignInLink = client.post("/tokens/link", Some(&NewSignInLink::default())).await?;
    let plain = link.url.expose();
    let address = split(plain).map_or(plain, |(address, _)| address);
    let pid = data.read_server_file().map(|file| format!(" (pid {})", file.pid)).unwrap_or_default();
    let found = format!("server is already running at {address}{pid}");
    let (link, offer) = match place {
        Some(Place { directory, .. }) => {
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

/// Where a session could be begun.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    directory: String,
    /// It is the root of a git working tree.
    is_project: bool,
}

impl Place {
    /// The git root around a directory, else the directory. None where an agent would reach everything a person has: such
    /// a directory is chosen by name or not at all.
    fn of(cwd: &Path, home: Option<&Path>) -> Option<Self> {
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
        // A home that is a git working tree itself holds configuration; nobody works on all of it.
        for path in ["home/.git", "home/code/engine/.git", "home/code/engine/src/deep", "elsewhere"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let place = |path: &str| {
            let place = Place::of(&root.join(path), Some(&home))?;
            let directory = Path::new(&place.directory).strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            Some((directory, place.is_project))
        };
        let project = Some(("home/code/engine".to_owned(), true));
        assert_eq!(place("home/code/engine"), project);
        assert_eq!(place("home/code/engine/src/deep"), project);
        assert_eq!(place("home/code"), Some(("home/code".to_owned(), false)));
        assert_eq!(place("elsewhere"), Some(("elsewhere".to_owned(), false)));
        assert_eq!(place("home"), None);
        assert_eq!(place(""), None, "what holds the home is as far-reaching");
        assert_eq!(place("gone"), None);
        assert_eq!(Place::of(Path::new("/"), None), None);
    }
}
