//! Finding words: what can be typed, and search words that look like options.

use std::ffi::OsString;

use clap::Args;

use crate::cli::SessionName;

pub(super) const SEARCH_HELP: &str = "\
What can be typed:
  retry backoff          both words, in any order; the last one may be the beginning of a word
  \"connection refused\"   exactly these words, one after the other
  parse*                 words that begin so
  error -timeout         without that word
  --exact CONNREF        the text as it stands; capitals count once there is one
  file:main.rs tool:bash outcome:fail exit:1 role:prompt agent:codex project:shop work:checkout
  tag:bug before:2026-05-01 after:2026-04-01
                         only there; a - before it means everywhere else

Examples:
  throughline search flaky upload test
  throughline search outcome:fail cargo test
  throughline search --session last SOCKET_CLOSED
  throughline search --exact CONNREF";

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The words, and filters such as file:main.rs
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Only in this session: its id, the end of its id, or `last`
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
    /// The text as it stands, also inside words
    #[arg(long)]
    pub(crate) exact: bool,
    /// How many turns at most
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) limit: u32,
    /// Open the page at the best one
    #[arg(long)]
    pub(crate) open: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Put before a word that begins with `-`, so that clap does not take it for an option.
const WORD_MARK: char = '\u{1}';

/// The arguments, with search words that begin with `-` marked so that they are not options.
pub(crate) fn mark_search_words(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let Some(search) = args.iter().position(|arg| arg == "search") else { return args };
    for arg in &mut args[search + 1..] {
        if let Some(word) = arg.to_str().filter(|word| is_excluded_word(word)) {
            *arg = format!("{WORD_MARK}{word}").into();
        }
    }
    args
}

/// Whether a word is `-timeout`, not `--exact` or `-h`.
fn is_excluded_word(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next() == Some('-') && chars.next().is_some_and(|c| c != '-') && !matches!(word, "-h" | "-V")
}

impl Search {
    /// The query as it was typed.
    pub(crate) fn words(&self) -> String {
        self.query.iter().map(|word| word.trim_start_matches(WORD_MARK)).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn what_a_search_leaves_out_is_no_option() {
        let args = ["throughline", "search", "error", "-timeout", "-outcome:fail", "--exact", "--limit", "3"];
        let cli = Cli::try_parse_from(mark_search_words(args.into_iter().map(OsString::from))).unwrap();
        let Some(Command::Search(search)) = cli.command else { panic!("it is a search") };
        assert_eq!((search.words().as_str(), search.exact, search.limit), ("error -timeout -outcome:fail", true, 3));
    }
}
