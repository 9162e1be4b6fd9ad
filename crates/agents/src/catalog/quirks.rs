//! What is known of how an agent behaves, where it differs from what the protocol lets one expect.
//!
//! Invariant: an agent of which nothing is known is [`Quirks::PLAIN`] and is treated as the protocol says.

/// How an agent differs from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// What it must be set to so that it asks a person before it changes or runs something: of each option the values in
    /// which it does, the one to choose first. Where none is known, names that agents commonly use decide.
    pub asks_in: &'static [AsksIn],
    /// It tells a mode that need not be the one in force, so it is set to one whatever it tells.
    pub hides_its_mode: bool,
    /// The variable by which its mode is set when it starts. Whoever sets it in the configuration has chosen that mode.
    pub mode_variable: Option<&'static str>,
    /// A settings file that is written for it and named to it by a variable.
    pub settings_file: Option<SettingsFile>,
    /// How it is told which tools need no asking, if it can be told.
    pub unasked: Option<Unasked>,
}

/// The values of an option in which an agent asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsksIn {
    /// The agent's own name of the option; `mode` is whichever is about the mode.
    pub option: &'static str,
    /// The first is the one that is chosen.
    pub values: &'static [&'static str],
}

/// Settings that an agent reads from a file, below its user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsFile {
    /// Holds the file's path. A file that it names already is kept, with these settings over its own.
    pub variable: &'static str,
    /// A JSON object.
    pub settings: &'static str,
}

/// How an agent is told, when a conversation begins, which MCP tools it may call without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// `_meta.claudeCode.options.allowedTools`, with the names that Claude Code gives MCP tools.
    ClaudeCode,
}

impl Quirks {
    /// As the protocol says.
    pub const PLAIN: Self =
        Self { asks_in: &[], hides_its_mode: false, mode_variable: None, settings_file: None, unasked: None };
}

/// An agent whose mode alone decides whether it asks.
pub(super) const fn asks_in_mode(values: &'static [&'static str]) -> AsksIn {
    AsksIn { option: "mode", values }
}
