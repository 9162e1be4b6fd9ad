//! The configuration of an agent: a change to a known one, or a new one.
//!
//! Invariant: only given fields change anything. An agent that could never be started is refused when the
//! configuration is read, not when somebody waits for it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::name::{MAX_NAME_CHARS, is_name};
use crate::process::may_ever_pass;

use super::{CatalogEntry, Quirks};

/// The given fields of an agent.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Change {
    pub title: Option<String>,
    pub description: Option<String>,
    pub command: Option<String>,
    /// Replaces the known arguments.
    pub args: Option<Vec<String>>,
    /// Added to the known variables; the same name gets the new value.
    pub env: BTreeMap<String, String>,
    /// Replaces the known patterns.
    pub pass_env: Option<Vec<String>>,
    pub shared: Option<bool>,
    /// Removes a known agent from the catalog.
    pub hidden: bool,
}

/// Why the configuration of an agent is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("{0:?} is no name for an agent: use 1 to {MAX_NAME_CHARS} small letters, digits and hyphens")]
    Name(String),
    #[error("the agent {0} is not one of those that are known, so it needs a command")]
    NoCommand(String),
    #[error(
        "the command of the agent {0} is neither a program's bare name nor its full path; what follows the program \
         goes into args"
    )]
    Command(String),
    #[error("the agent {agent} has a variable {variable:?}: a name has letters, digits and underscores only")]
    Variable { agent: String, variable: String },
    #[error("the agent {agent} is to be passed {pattern:?}: write a variable's name, or a beginning as in OPENAI_*")]
    Pattern { agent: String, pattern: String },
    #[error("the agent {agent} is to have {variable}: variables of the loader and of this server reach no agent")]
    Never { agent: String, variable: String },
    #[error("the agent {0} has an argument or a variable with a zero byte: remove it")]
    ZeroByte(String),
}

impl Change {
    /// The agent after this change, known before or not; `None` if it is hidden.
    pub(super) fn apply(self, name: &str, known: Option<CatalogEntry>) -> Result<Option<CatalogEntry>, CatalogError> {
        if !is_name(name) {
            return Err(CatalogError::Name(name.to_owned()));
        }
        let mut entry = match (known, &self.command) {
            (Some(known), _) => known,
            (None, Some(_)) => unknown(name),
            (None, None) => return Err(CatalogError::NoCommand(name.to_owned())),
        };
        let Self { title, description, command, args, env, pass_env, shared, hidden } = self;
        if let Some(command) = command {
            // The version arguments may mean something else to another program.
            if file_name(&command) != file_name(&entry.command) {
                entry.version_args.clear();
            }
            entry.builtin = false;
            entry.command = command;
        }
        entry.title = title.unwrap_or(entry.title);
        entry.description = description.unwrap_or(entry.description);
        entry.args = args.unwrap_or(entry.args);
        entry.chosen_mode = entry.quirks.mode_variable.and_then(|variable| env.get(variable).cloned());
        entry.env.extend(env);
        entry.pass_env = pass_env.unwrap_or(entry.pass_env);
        entry.shared = shared.unwrap_or(entry.shared);
        check(&entry)?;
        Ok((!hidden).then_some(entry))
    }
}

fn unknown(name: &str) -> CatalogEntry {
    CatalogEntry {
        name: name.to_owned(),
        title: name.to_owned(),
        description: "Added in config.toml.".to_owned(),
        command: String::new(),
        args: Vec::new(),
        env: BTreeMap::new(),
        pass_env: Vec::new(),
        shared: false,
        quirks: Quirks::PLAIN,
        own_tools: Vec::new(),
        chosen_mode: None,
        install: None,
        sign_in: None,
        notes: Vec::new(),
        version_args: Vec::new(),
        builtin: false,
    }
}

fn file_name(command: &str) -> Option<&str> {
    Path::new(command).file_name().and_then(|name| name.to_str())
}

pub(super) fn check(entry: &CatalogEntry) -> Result<(), CatalogError> {
    let CatalogEntry { name, command, args, env, pass_env, .. } = entry;
    let is_bare = !command.is_empty() && !command.contains(|c: char| c == '/' || c.is_whitespace() || c.is_control());
    if !(is_bare || Path::new(command).is_absolute()) {
        return Err(CatalogError::Command(name.clone()));
    }
    if let Some(variable) = env.keys().find(|variable| !is_variable(variable)) {
        return Err(CatalogError::Variable { agent: name.clone(), variable: variable.clone() });
    }
    if let Some(pattern) = pass_env.iter().find(|pattern| !is_pattern(pattern)) {
        return Err(CatalogError::Pattern { agent: name.clone(), pattern: pattern.clone() });
    }
    if let Some(variable) = env.keys().chain(pass_env).find(|variable| !may_ever_pass(variable)) {
        return Err(CatalogError::Never { agent: name.clone(), variable: variable.clone() });
    }
    if args.iter().chain(env.values()).chain([command]).any(|text| text.contains('\0')) {
        return Err(CatalogError::ZeroByte(name.clone()));
    }
    Ok(())
}

fn is_variable(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_plain) && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// A whole name, or a prefix that ends with an underscore and `*`. A lone `*` would pass everything.
fn is_pattern(pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => is_variable(beginning) && beginning.len() > 1 && beginning.ends_with('_'),
        None => is_variable(pattern),
    }
}
