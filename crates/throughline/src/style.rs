//! Colours and widths of the terminal.
//!
//! Invariant: no escape sequence is written unless standard output is a terminal, `NO_COLOR` is unset or empty, and `TERM` is
//! not `dumb`.

use std::io::IsTerminal as _;
use std::sync::LazyLock;

use rustix::termios::tcgetwinsize;

use crate::agency::own_environment;

/// How words look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Dim,
    /// Something the person has to do.
    Attention,
    /// What runs now.
    Active,
    Bad,
    Added,
    Removed,
    Found,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Attention => "1;35",
            Self::Active => "34",
            Self::Bad | Self::Removed => "31",
            Self::Added => "32",
            Self::Found => "1;33",
        }
    }

    /// The words in this style, if there are colours.
    pub(crate) fn paint(self, text: &str) -> String {
        if has_colours() && !text.is_empty() {
            format!("\u{1b}[{}m{text}\u{1b}[0m", self.code())
        } else {
            text.to_owned()
        }
    }
}

pub(crate) fn has_colours() -> bool {
    static COLOURS: LazyLock<bool> = LazyLock::new(|| {
        let environment = own_environment();
        let is_set = |name: &str| environment.get(name).is_some_and(|value| !value.is_empty());
        std::io::stdout().is_terminal()
            && !is_set("NO_COLOR")
            && environment.get("TERM").is_none_or(|term| term != "dumb")
    });
    *COLOURS
}

/// Columns and rows of the terminal; `None` if standard output is none.
pub(crate) fn screen() -> Option<(usize, usize)> {
    let stdout = std::io::stdout();
    let size = stdout.is_terminal().then(|| tcgetwinsize(&stdout).ok()).flatten()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col.into(), size.ws_row.into()))
}
