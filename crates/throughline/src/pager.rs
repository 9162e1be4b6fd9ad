//! Long output, shown page by page.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use crate::agency::own_environment;
use crate::style::screen;
use crate::terminal;

/// What shows pages where nothing else is named: it ends by itself if all fits, keeps colours, and leaves the text there.
const DEFAULT_PAGER: &str = "less -FRX";

/// Prints lines; at a terminal that they do not fit on, through the pager of the environment.
pub(crate) fn print(lines: &[String]) -> io::Result<()> {
    let height: usize = lines.iter().map(|line| line.matches('\n').count() + 1).sum();
    let fits = screen().is_none_or(|(_, rows)| height < rows);
    if fits || !page(lines)? {
        for line in lines {
            terminal::line(line)?;
        }
    }
    Ok(())
}

/// Hands the lines to a pager; false if there is none.
fn page(lines: &[String]) -> io::Result<bool> {
    let environment = own_environment();
    let named = ["THROUGHLINE_PAGER", "PAGER"].into_iter().find_map(|name| environment.get(name));
    let pager = named.map_or(DEFAULT_PAGER, String::as_str);
    let mut words = pager.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return Ok(false) };
    // Ctrl+C is the pager's while it runs: it would be left behind, with the terminal as it has set it.
    let _interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    let Ok(mut child) = Command::new(program).args(words).stdin(Stdio::piped()).spawn() else { return Ok(false) };
    let Some(mut input) = child.stdin.take() else { return Ok(false) };
    let written = lines.iter().try_for_each(|line| writeln!(input, "{line}"));
    drop(input);
    child.wait()?;
    match written {
        // The person has left the pager.
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        written => written.map(|()| true),
    }
}
