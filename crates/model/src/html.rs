//! A session as a web page: one file that needs no network, and runs nothing.
//!
//! Invariants: whatever a person, an agent or a file said is text in it. It is escaped, HTML in it too; links lead to `http`, `https`
//! and `mailto` only; pictures are in the page itself. The page forbids scripts and everything that would be loaded, in case something
//! was overlooked. It is written turn by turn, with no more than one turn held.

mod prose;
mod shown;
mod turns;

use crate::held_turns::{HeldTurns, WrittenPart};
use crate::{Entry, SessionRow, TurnRow, one_line};

pub use shown::HtmlOutput;

/// How many characters of a title or a line of the contents are kept.
const LINE_CHARS: usize = 400;

/// Writes a session down as a web page, from its entries in order: [`head`](Self::head), [`contents`](Self::contents) for each page
/// of turns, [`begin`](Self::begin), what [`apply`](Self::apply) and [`end`](Self::end) give, and [`FOOT`](Self::FOOT).
#[derive(Debug, Default)]
pub struct HtmlWriter {
    held: HeldTurns,
}

impl HtmlWriter {
    /// The page's style; [`Self::head`] wants its hash.
    pub const STYLE: &'static str = include_str!("html/style.css");

    /// What comes last.
    pub const FOOT: &'static str = "</main>\n<footer><p>Written by Throughline.</p></footer>\n</body>\n</html>\n";

    /// The beginning of the page, up to its contents. `style_sha256` is the SHA-256 of [`Self::STYLE`] in base64.
    pub fn head(row: &SessionRow, style_sha256: &str) -> String {
        let title = row.label().map_or_else(|| "Untitled session".to_owned(), |title| one_line(title, LINE_CHARS));
        let (title, style) = (escaped(&title), Self::STYLE);
        let (agent, cwd) = (escaped(&one_line(&row.agent, LINE_CHARS)), escaped(&one_line(&row.cwd, LINE_CHARS)));
        let (id, begun) = (row.id, time(&row.created_at.to_string()));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
             style-src 'sha256-{style_sha256}'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
             <p class=\"about\">With {agent} in <code>{cwd}</code>, begun {begun}. <span class=\"id\">Session {id}</span></p>\n\
             </header>\n<nav aria-label=\"Contents\">\n<details open>\n<summary>Contents</summary>\n<ol>\n"
        )
    }

    /// Lines of the contents.
    pub fn contents(turns: &[TurnRow]) -> String {
        let line = |row: &TurnRow| {
            let text = row.summary.as_ref().map_or(row.prompt_line.as_str(), |summary| summary.text.as_str());
            let number = row.turn.0;
            format!("<li value=\"{number}\"><a href=\"#t{number}\">{}</a></li>\n", escaped(&one_line(text, LINE_CHARS)))
        };
        turns.iter().map(line).collect()
    }

    /// What stands between the contents and the first turn.
    pub fn begin() -> &'static str {
        "</ol>\n</details>\n</nav>\n<main>\n"
    }

    /// Applies entries, and returns the turns that are now complete.
    pub fn apply<'a>(&mut self, entries: impl IntoIterator<Item = &'a Entry>) -> Vec<WrittenPart> {
        turns::write(self.held.apply(entries))
    }

    /// Returns the last turn, and questions that no turn has.
    pub fn end(self) -> Vec<WrittenPart> {
        turns::write(self.held.end())
    }
}

/// An instant as the page shows it: to the minute, with the whole of it for programs.
fn time(instant: &str) -> String {
    let shown = instant.get(..16).map(|text| text.replace('T', " ")).unwrap_or_default();
    format!("<time datetime=\"{instant}\">{shown} UTC</time>")
}

/// The text, so that a browser takes all of it for text, also inside of an attribute's quotes. What turns the direction of other text or
/// is no character at all is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 16);
    push_escaped(&mut escaped, text);
    escaped
}

fn push_escaped(to: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '"' => to.push_str("&quot;"),
            '\'' => to.push_str("&#39;"),
            '\n' | '\t' => to.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e0fff}' => (),
            c if c.is_control() => (),
            c => to.push(c),
        }
    }
}

/// A bitmap or an SVG as a picture in the page, of base64 that is one; a browser runs nothing of an SVG that is a picture's source.
fn picture(mime_type: &str, base64: &str, label: &str) -> Option<String> {
    let is_base64 = base64.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    let mime_type = picture_type(mime_type)?;
    is_base64.then(|| format!("<img src=\"data:{mime_type};base64,{base64}\" alt=\"{}\">", escaped(label)))
}

fn picture_type(mime_type: &str) -> Option<&'static str> {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    known.into_iter().find(|known| *known == essence)
}

/// Where a link may lead; `None` if it leads nowhere from this page.
fn link_target(address: &str) -> Option<String> {
    let lower = address.trim().to_ascii_lowercase();
    let is_known = ["http://", "https://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme));
    is_known.then(|| escaped(address.trim()))
}

#[cfg(test)]
mod tests;
