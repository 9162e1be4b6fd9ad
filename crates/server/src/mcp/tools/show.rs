//! Shows the person files, pictures and cards of media elsewhere, which stay with the session; over HTTP `GET /sessions/{id}/outputs` has them.
//!
//! The person sees the content; the agent gets one line that names it, so that showing costs its context nothing.

use doors::{Principal, Right};
use engine::{Asker, FileToShow, OutputError, OutputState, OutputText, TextWish};
use model::{OutputId, OutputMarker, OutputRow};

use super::run::{ended, excerpt, is_shaped, numbered, standing};
use super::{About, CallError, Effect, Endpoint, Run, Tool, ToolContext, ToolResult};
use crate::access;
use crate::mcp::Calling;
use crate::mcp::arguments::{FilePath, Language, Number, WebAddress, Words, arguments};
use crate::mcp::budget::AnswerBudget;

/// No file that is shown has more lines.
const MAX_LINE: usize = 1_000_000_000;
/// What stands behind a line that is cut.
const CUT: &str = " (cut)\n";
/// How many lines one call gets back.
const MAX_LINES: usize = 2_000;

pub(super) const fn showing<A: Run>(name: &'static str, description: &'static str) -> Tool {
    let (endpoint, effect, budget) = (Endpoint::Show, Effect::Shows, AnswerBudget::DEFAULT);
    Tool::of::<A>(About { name, description, endpoint, effect, asks_person: false, budget })
}

pub(super) const FILE: Tool = showing::<RenderFileContents>(
    "render_file_contents",
    "Shows the person a text file, or some of its lines, beside the conversation; you get one line back. Use it for \
     \"show me\"; to read a file yourself, use your own tools.",
);

pub(super) const IMAGE: Tool = showing::<DisplayImage>(
    "display_image",
    "Shows the person a PNG, JPEG, GIF, WebP or SVG file beside the conversation; you get one line back.",
);

pub(super) const EMBED: Tool = showing::<EmbedMedia>(
    "embed_media",
    "Shows the person a card of a video, piece of music or post of YouTube, SoundCloud, Vimeo, Spotify or Twitter/X; you get \
     one line back.",
);

pub(super) const RETRIEVE: Tool = Tool::of::<RetrieveOutput>(About {
    name: "retrieve_output",
    description: "Gives you lines of something that was shown in this session: by number, or those with a text in them. Of a \
                  command that waits or runs it says how it stands.",
    endpoint: Endpoint::Show,
    effect: Effect::Reads,
    asks_person: false,
    budget: AnswerBudget::LONGEST,
});

arguments! {
    struct RenderFileContents {
        path("path"): FilePath = "Absolute, or from the session's directory on", "/a/b.rs";
        start_line("startLine"): Option<Number<MAX_LINE>> = "First line, from 1", "10";
        end_line("endLine"): Option<Number<MAX_LINE>> = "Last line, included", "40";
        highlight("highlight"): Option<Language> = "Language, if the name does not tell", "rust";
    }
}

arguments! {
    struct DisplayImage {
        path("path"): FilePath = "Absolute, or from the session's directory on", "/a/plot.png";
    }
}

arguments! {
    struct EmbedMedia {
        url("url"): WebAddress = "Its https address, as people copy it", "https://youtu.be/dQw4w9WgXcQ";
    }
}

arguments! {
    struct RetrieveOutput {
        id("id"): OutputId = "As the tool that showed it said", "out_0123456789abcdef0123456789abcdef";
        start_line("startLine"): Option<Number<MAX_LINE>> = "First line of the output, from 1", "1";
        end_line("endLine"): Option<Number<MAX_LINE>> = "Last line, included", "100";
        grep("grep"): Option<Words> = "Only lines with this text, in any case", "error";
    }
}

pub(super) fn asker(principal: &Principal) -> Asker {
    Asker { principal: principal.id.clone(), key: None }
}

fn line(number: Option<Number<MAX_LINE>>) -> Option<u64> {
    number.map(|Number(line)| line as u64)
}

impl Run for RenderFileContents {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Mark, *session)?;
        let Self { path: FilePath(path), start_line, end_line, highlight } = self;
        let (start_line, end_line) = (line(start_line), line(end_line));
        let highlight = highlight.map(|Language(language)| language);
        let wanted = FileToShow { path, start_line, end_line, highlight };
        let row = call.engine.show_text_file(*session, wanted, asker(principal)).await?;
        Ok(shown(&row).into())
    }
}

impl Run for DisplayImage {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Mark, *session)?;
        let FilePath(path) = self.path;
        Ok(shown(&call.engine.show_picture(*session, path, asker(principal)).await?).into())
    }
}

impl Run for EmbedMedia {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Mark, *session)?;
        let WebAddress(url) = self.url;
        let row = call.engine.embed_media(*session, &url, asker(principal)).await?;
        let about = &row.output.about;
        let provider = about.provider.as_deref().unwrap_or_default();
        let title = about.title.as_ref().map(|title| format!(", {title:?}")).unwrap_or_default();
        let url = about.url.as_deref().unwrap_or_default();
        let marker = OutputMarker(row.id);
        Ok(format!("{marker} The person sees a card of {url} ({provider}{title}).").into())
    }
}

impl Run for RetrieveOutput {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Read, *session)?;
        let Self { id, start_line, end_line, grep } = self;
        let (first, last) = (line(start_line), line(end_line));
        let row = match call.engine.output(*session, id).await {
            Ok(row) => row,
            Err(err @ OutputError::NotFound(_)) => match call.engine.command_progress(*session, id) {
                Some(progress) => return Ok(standing(&progress)?.into()),
                None => return Err(err.into()),
            },
            Err(err) => return Err(err.into()),
        };
        let mut text = match row.output.about.command {
            Some(_) => format!("{}\n", ended(&row)),
            None => String::new(),
        };
        if call.engine.output_state(&row).await? == OutputState::Changed {
            text.push_str("Its file was edited since it was shown; these are not the lines that the person saw.\n");
        }
        if is_shaped(call.engine, &row) && first.is_none() && last.is_none() && grep.is_none() {
            text.push_str(&excerpt(call.engine, &row).await?);
            return Ok(text.into());
        }
        let wish = TextWish { first, last, grep: grep.map(|Words(text)| text), limit: MAX_LINES };
        let found = call.engine.output_text(*session, id, wish).await?;
        // Cut here, where it is known which line comes next.
        let (lines, next) = fitting(&found, AnswerBudget::LONGEST.chars() - text.len());
        text.push_str(&lines);
        if found.lines.is_empty() {
            text.push_str("No line matches.");
        }
        if let Some(next) = next {
            text.push_str(&format!("There is more: call again with startLine = {next}."));
        }
        Ok(text.into())
    }
}

/// As many of the lines as fit, and the one to go on with. The first is always among them, cut if it is too long by itself: an
/// agent that is sent back to the same line would ask for it for ever.
fn fitting(found: &OutputText, room: usize) -> (String, Option<u64>) {
    let (mut text, mut next) = (String::new(), found.next);
    for (n, line) in found.lines.iter().enumerate() {
        let mut line_text = numbered(line);
        if text.len() + line_text.len() > room {
            if n > 0 {
                next = Some(line.number);
                break;
            }
            line_text.truncate(line_text.floor_char_boundary(room.saturating_sub(CUT.len())));
            line_text.push_str(CUT);
        }
        text.push_str(&line_text);
    }
    (text, next)
}

/// What the agent is told: one line, beginning with the marker.
fn shown(row: &OutputRow) -> String {
    let about = &row.output.about;
    let lines = match (about.start_line, about.lines) {
        (Some(first), Some(lines)) if lines > 0 => {
            // Of a file that is too long to be read whole it is not known.
            let of = about.total_lines.map(|total| format!(" of {total}")).unwrap_or_default();
            format!("lines {first} to {}{of}, ", first + lines - 1)
        }
        _ => String::new(),
    };
    let path = model::one_line(row.output.label(), model::MAX_PATH_BYTES);
    format!("{} The person sees {path} ({lines}{} bytes).", OutputMarker(row.id), row.bytes)
}

#[cfg(test)]
mod tests {
    use engine::FoundLine;

    use super::*;

    fn line(number: u64, text: &str) -> FoundLine {
        FoundLine { number, text: text.to_owned(), cut: false }
    }

    #[test]
    fn whoever_goes_on_where_it_says_comes_to_the_end() {
        let found = OutputText { lines: vec![line(1, "one"), line(2, "two"), line(3, "three")], next: Some(4) };
        assert_eq!(fitting(&found, 1_000), ("     1| one\n     2| two\n     3| three\n".to_owned(), Some(4)));
        assert_eq!(fitting(&found, 25), ("     1| one\n     2| two\n".to_owned(), Some(3)));
        let long = "\u{fffd}".repeat(1_000);
        let found = OutputText { lines: vec![line(7, &long), line(8, "x")], next: None };
        let (text, next) = fitting(&found, 100);
        assert_eq!((next, text.len() <= 100, text.ends_with(CUT)), (Some(8), true, true), "{text}");
        let found = OutputText { lines: vec![line(7, &long)], next: None };
        assert_eq!(fitting(&found, 100).1, None);
    }
}
