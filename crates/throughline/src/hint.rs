//! Commands that are suggested to run next. They carry the options of the current command, so that they use the same
//! data folder.
//!
//! Invariant: every hint passes through here: [`command`] where text of others stands beside it, else
//! [`with_options`], which [`crate::terminal`] calls for all errors, remarks and advice.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::Path;
use std::sync::OnceLock;

use crate::cli::Global;

/// How a command begins.
const PROGRAM: &str = "throughline";
/// How a command begins in a sentence of ours.
const QUOTED: &str = "`throughline";

/// The given options, each with a blank before it. Set once, at the start.
static GIVEN_OPTIONS: OnceLock<String> = OnceLock::new();

/// Keeps the options of the command line. Those of the environment hold for the next command anyway.
pub(crate) fn set_options(global: &Global, from_environment: Option<&Path>) {
    let given = global.data_dir.as_deref().filter(|given| Some(*given) != from_environment);
    drop(GIVEN_OPTIONS.set(options(given)));
}

/// A command as it has to be typed.
pub(crate) fn command(arguments: impl Display) -> String {
    format!("{PROGRAM}{} {arguments}", given())
}

/// Our own text, with the options added to each `throughline …` in it.
pub(crate) fn with_options(text: &str) -> Cow<'_, str> {
    with(given(), text)
}

/// Whether a flag names the data folder, which the environment does not.
pub(crate) fn names_a_folder() -> bool {
    !given().is_empty()
}

fn given() -> &'static str {
    GIVEN_OPTIONS.get().map_or("", String::as_str)
}

fn options(data_dir: Option<&Path>) -> String {
    data_dir.map(|folder| format!(" --data-dir {}", quoted(&folder.display().to_string()))).unwrap_or_default()
}

fn with<'a>(given: &str, text: &'a str) -> Cow<'a, str> {
    if given.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(text.replace(QUOTED, &format!("{QUOTED}{given}"))) }
}

/// The word quoted for a shell.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_that_was_given_stands_in_every_command() {
        let given = options(Some(Path::new("/a/b")));
        assert_eq!(
            with(&given, "start one with `throughline`, or `throughline show 1` it"),
            "start one with `throughline --data-dir /a/b`, or `throughline --data-dir /a/b show 1` it"
        );
        assert_eq!(options(Some(Path::new("it's here"))), r" --data-dir 'it'\''s here'");
        assert_eq!(with(&options(None), "`throughline list`"), "`throughline list`");
    }
}
