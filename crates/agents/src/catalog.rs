//! The agents that sessions can be started with: the common ones, those that the person added, and which of them are
//! installed here.
//!
//! Invariants: an agent is a program with its arguments and a closed list of variables, never a line for a shell. It
//! is identified by its content ([`CatalogEntry::fingerprint`]), so a name that means another program tomorrow is
//! another agent. No program is run before somebody asks, and none that is not installed.

mod change;
mod fingerprint;
mod program;
mod quirks;
mod settings_file;
mod table;
#[cfg(test)]
mod tests;
mod version;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::{JoinSet, spawn_blocking};

pub use change::{CatalogError, Change};
pub use fingerprint::Fingerprint;
pub use quirks::{AsksIn, Brief, Quirks, SettingsFile, Unasked};

use program::Program;
use table::{ROWS, Row};
use version::{VersionQuery, Versions};

/// An agent: how it is started, and what people see of it.
#[derive(Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The name that sessions and the API use.
    pub name: String,
    /// The name that people see.
    pub title: String,
    /// A description in one sentence.
    pub description: String,
    /// A bare program name, looked up along `PATH`, or a full path.
    pub command: String,
    pub args: Vec<String>,
    /// Variables that are set for it.
    pub env: BTreeMap<String, String>,
    /// Variables that are passed on from the server's own environment: names, or prefixes as in `OPENAI_*`.
    pub pass_env: Vec<String>,
    /// One process serves many sessions.
    pub shared: bool,
    /// How it differs from other agents.
    pub quirks: Quirks,
    /// The tools of the session's own MCP server that it may call without asking, if it can be told so.
    pub own_tools: Vec<crate::OwnTool>,
    /// The mode that the configuration sets for it.
    pub chosen_mode: Option<String>,
    /// How to install it, in a sentence.
    pub install: Option<String>,
    /// How to sign in to it, in a sentence.
    pub sign_in: Option<String>,
    /// Further notes, a sentence each.
    pub notes: Vec<String>,
    /// The arguments with which its program prints its version; if empty it is not asked.
    pub version_args: Vec<String>,
    /// The agent is part of this program.
    pub builtin: bool,
}

/// An agent, with its installed program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundAgent {
    pub entry: Arc<CatalogEntry>,
    /// The program that would be started.
    pub program: Option<PathBuf>,
    /// The version as the program prints it.
    pub version: Option<String>,
}

/// An agent as it is shown to people, without what starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub title: String,
    pub description: String,
    pub installed: bool,
    pub version: Option<String>,
    pub install: Option<String>,
    pub sign_in: Option<String>,
    pub notes: Vec<String>,
}

/// All agents that can be named.
#[derive(Debug, Default)]
pub struct Catalog {
    entries: Vec<Arc<CatalogEntry>>,
    versions: Arc<Versions>,
}

impl Catalog {
    /// The known agents with the person's changes. `own_program` is the full path of this program, which starts the
    /// guide; it is not looked up, because it runs. `own_tools` are the tools of the session's own MCP servers that
    /// agents may call without asking.
    pub fn new(
        own_program: &str,
        own_tools: &[crate::OwnTool],
        mut changes: BTreeMap<String, Change>,
    ) -> Result<Self, CatalogError> {
        let mut entries = Vec::new();
        for row in ROWS {
            let change = changes.remove(row.name).unwrap_or_default();
            entries.extend(change.apply(row.name, Some(row.entry(own_program, own_tools)))?);
        }
        for (name, change) in changes {
            entries.extend(change.apply(&name, None)?);
        }
        let entries = entries.into_iter().map(Arc::new).collect();
        Ok(Self { entries, versions: Arc::default() })
    }

    /// All agents, installed or not.
    pub fn entries(&self) -> &[Arc<CatalogEntry>] {
        &self.entries
    }

    /// The agent of this name.
    pub fn find_entry(&self, name: &str) -> Option<&Arc<CatalogEntry>> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Looks up each agent along a `PATH`, and asks the installed ones for their versions, several at a time and each
    /// only once until its file changes. May take seconds the first time.
    pub async fn find(&self, path: &str, home: Option<&Path>) -> Vec<FoundAgent> {
        let mut found: Vec<FoundAgent> = Vec::new();
        let mut asks = JoinSet::new();
        for (index, (entry, program)) in self.programs(path).await.into_iter().enumerate() {
            if entry.builtin {
                let program = Some(PathBuf::from(&entry.command));
                found.push(FoundAgent { entry, program, version: Some(env!("CARGO_PKG_VERSION").to_owned()) });
                continue;
            }
            if let Some(program) = program.clone().filter(|_| !entry.version_args.is_empty()) {
                let question = question(&entry, program, path, home);
                let versions = Arc::clone(&self.versions);
                asks.spawn(async move { (index, versions.ask(question).await) });
            }
            found.push(FoundAgent { entry, program: program.map(|program| program.path), version: None });
        }
        while let Some(asked) = asks.join_next().await {
            if let Ok((index, version)) = asked {
                found[index].version = version;
            }
        }
        found
    }

    /// Whether the agent's program is installed.
    pub async fn is_installed(&self, entry: &Arc<CatalogEntry>, path: &str) -> bool {
        let (entry, path) = (Arc::clone(entry), path.to_owned());
        let find = move || entry.builtin || Program::find(&entry.command, &path).is_some();
        spawn_blocking(find).await.unwrap_or_default()
    }

    /// All agents as they are shown: the installed ones first, with the guide as the last of these.
    pub async fn list(&self, path: &str, home: Option<&Path>) -> Vec<Listed> {
        as_shown(self.find(path, home).await)
    }

    /// The same without versions: no program is started.
    pub async fn list_without_versions(&self, path: &str) -> Vec<Listed> {
        let programs = self.programs(path).await.into_iter();
        let found = programs.map(|(entry, program)| {
            let built_in = entry.builtin.then(|| PathBuf::from(&entry.command));
            let program = built_in.or_else(|| program.map(|program| program.path));
            FoundAgent { entry, program, version: None }
        });
        as_shown(found.collect())
    }

    /// Runs on a blocking thread: it reads many folders, some of which may be on slow disks.
    async fn programs(&self, path: &str) -> Vec<(Arc<CatalogEntry>, Option<Program>)> {
        let (entries, path) = (self.entries.clone(), path.to_owned());
        let find = move |entry: Arc<CatalogEntry>| {
            let program = Program::find(&entry.command, &path);
            (entry, program)
        };
        spawn_blocking(move || entries.into_iter().map(find).collect()).await.unwrap_or_default()
    }
}

fn as_shown(mut found: Vec<FoundAgent>) -> Vec<Listed> {
    found.sort_by_key(|found| (found.program.is_none(), found.entry.builtin));
    found.into_iter().map(Listed::from).collect()
}

/// The names of the built-in catalog's agents.
pub fn known_names<'a>() -> impl Iterator<Item = &'a str> {
    ROWS.iter().map(|row| row.name)
}

fn question(entry: &CatalogEntry, program: Program, path: &str, home: Option<&Path>) -> VersionQuery {
    let mut env = BTreeMap::from([("PATH".to_owned(), path.to_owned())]);
    if let Some(home) = home.and_then(Path::to_str) {
        env.insert("HOME".to_owned(), home.to_owned());
    }
    env.extend(entry.env.clone());
    VersionQuery { program, args: entry.version_args.clone(), env }
}

impl CatalogEntry {
    /// Identifies what would be started.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self)
    }

    /// The names of the server's own variables that are passed on to it.
    pub fn passed<'a>(&self, own: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let is_passed = |name: &&str| {
            self.pass_env.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(beginning) => name.starts_with(beginning),
                None => name == pattern,
            })
        };
        own.into_iter().filter(is_passed).map(str::to_owned).collect()
    }
}

/// Arguments and the values of variables may be secrets.
impl fmt::Debug for CatalogEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entry = f.debug_struct("Entry");
        entry.field("name", &self.name).field("command", &self.command).field("args", &self.args.len());
        entry.field("env", &self.env.keys()).field("pass_env", &self.pass_env).field("shared", &self.shared);
        entry.finish_non_exhaustive()
    }
}

impl Row {
    fn entry(&self, own_program: &str, own_tools: &[crate::OwnTool]) -> CatalogEntry {
        let builtin = self.command.is_empty();
        let named = self.quirks.unasked.and_then(|unasked| unasked.argument(own_tools));
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let sentence = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        CatalogEntry {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            description: self.description.to_owned(),
            command: if builtin { own_program } else { self.command }.to_owned(),
            args: self.args.iter().map(|arg| (*arg).to_owned()).chain(named).collect(),
            env: self.env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            pass_env: texts(&self.pass_env.concat()),
            shared: self.shared,
            quirks: self.quirks,
            own_tools: own_tools.to_vec(),
            chosen_mode: None,
            install: sentence(self.install),
            sign_in: sentence(self.sign_in),
            notes: texts(self.notes),
            version_args: texts(if builtin { &[] } else { &["--version"] }),
            builtin,
        }
    }
}

impl From<FoundAgent> for Listed {
    fn from(found: FoundAgent) -> Self {
        let FoundAgent { entry, program, version } = found;
        Self {
            name: entry.name.clone(),
            title: entry.title.clone(),
            description: entry.description.clone(),
            installed: program.is_some(),
            version,
            install: entry.install.clone(),
            sign_in: entry.sign_in.clone(),
            notes: entry.notes.clone(),
        }
    }
}
