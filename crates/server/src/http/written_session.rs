//! A session written down as Markdown or as a web page, page of entries by page.
//!
//! Invariant: no more than a page of entries, the turn that they belong to and a piece of one output is held. A failure on the way
//! breaks the transfer off, so that a part is not taken for the whole.

use std::collections::VecDeque;

use axum::body::{Body, Bytes};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{OutputError, OutputState, QueryError};
use futures_util::stream;
use model::{Cursor, Entry, HtmlOutput, HtmlWriter, MarkdownWriter, Output, OutputRow, SessionId, Turn, WrittenPart};

use crate::App;
use crate::error::ApiError;

const PAGE_ENTRIES: usize = 200;
/// How many bytes of bodies a page has before it ends.
const PAGE_BODY_BYTES: u64 = 8 << 20;
/// How much text of an output is written into Markdown, and into a web page.
const MARKDOWN_TEXT: Bound = Bound { lines: 400, bytes: 64 << 10 };
const HTML_TEXT: Bound = Bound { lines: 10_000, bytes: 1 << 20 };
/// The largest picture that is written into a web page.
const MAX_PICTURE_BYTES: u64 = 32 << 20;
/// How much of a picture is read at a time: whole groups of three bytes, which base64 is made of.
const PICTURE_PIECE_BYTES: usize = 3 << 18;

struct Bound {
    lines: usize,
    bytes: usize,
}

/// What writes the session down.
pub(crate) enum SessionWriter {
    Markdown(MarkdownWriter),
    Html(HtmlWriter),
}

/// A text that is written as it is read.
pub(crate) struct WrittenSession {
    app: App,
    /// Whose credential it is sent for, by the principal's id.
    holder: String,
    id: SessionId,
    turns: Option<(Turn, Turn)>,
    after: Option<Cursor>,
    /// Absent once the last entry was written.
    writer: Option<SessionWriter>,
    is_html: bool,
    waiting: VecDeque<Waiting>,
}

enum Waiting {
    Text(String),
    Output(Box<Output>),
    Picture { row: Box<OutputRow>, offset: u64 },
}

impl WrittenSession {
    /// Begins with a text, and reads on before anything is sent, so that what can not be read at all is a refusal.
    pub(crate) async fn begin(
        app: App,
        holder: String,
        id: SessionId,
        turns: Option<(Turn, Turn)>,
        (head, writer): (String, SessionWriter),
    ) -> Result<Body, ApiError> {
        let is_html = matches!(writer, SessionWriter::Html(_));
        let waiting = VecDeque::from([Waiting::Text(head)]);
        let mut written = Self { app, holder, id, turns, after: None, writer: Some(writer), is_html, waiting };
        written.read_on().await?;
        let body = stream::try_unfold(written, async |mut written| {
            let piece = written.next().await?;
            Ok::<_, ApiError>(piece.map(|piece| (piece, written)))
        });
        Ok(Body::from_stream(body))
    }

    /// The next piece; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            // A slow reader may outlive its credential.
            if !self.app.settings.gatekeeper.is_holder_in_force(&self.holder) {
                return Err(ApiError::SessionNotFound);
            }
            let piece = match self.waiting.pop_front() {
                Some(Waiting::Text(text)) => text,
                Some(Waiting::Output(output)) => self.output(&output).await?,
                Some(Waiting::Picture { row, offset }) => self.picture(row, offset).await?,
                None if self.writer.is_some() => {
                    self.read_on().await?;
                    continue;
                }
                None => return Ok(None),
            };
            if !piece.is_empty() {
                return Ok(Some(piece.into()));
            }
        }
    }

    /// Reads a page of entries and writes the turns that are complete with it.
    async fn read_on(&mut self) -> Result<(), ApiError> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let (entries, next) = self.whole_page().await?;
        let is_last = next.is_none();
        // Comparing long texts takes a while.
        let writing = tokio::task::spawn_blocking(move || {
            let mut parts = match &mut writer {
                SessionWriter::Markdown(writer) => writer.apply(&entries),
                SessionWriter::Html(writer) => writer.apply(&entries),
            };
            match writer {
                writer if !is_last => return (parts, Some(writer)),
                SessionWriter::Markdown(writer) => parts.extend(writer.end()),
                SessionWriter::Html(writer) => {
                    parts.extend(writer.end());
                    parts.push(WrittenPart::Text(HtmlWriter::FOOT.to_owned()));
                }
            }
            (parts, None)
        });
        let (parts, writer) = match writing.await {
            Ok(written) => written,
            Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
            // The runtime is going.
            Err(_) => return Err(ApiError::SessionNotFound),
        };
        (self.writer, self.after) = (writer, next);
        self.waiting.extend(parts.into_iter().map(|part| match part {
            WrittenPart::Text(text) => Waiting::Text(text),
            WrittenPart::Output(output) => Waiting::Output(output),
        }));
        Ok(())
    }

    /// A page of entries with their bodies: a shorter one, if these are long.
    async fn whole_page(&self) -> Result<(Vec<Entry>, Option<Cursor>), ApiError> {
        let (page, mut next) = self.page().await?;
        let (mut entries, mut bytes) = (Vec::with_capacity(page.len()), 0);
        let mut rest = page.into_iter();
        for entry in rest.by_ref() {
            bytes += entry.event.bodies().iter().map(|body| body.bytes).sum::<u64>();
            // Markdown names a picture and does not show it.
            let is_read = self.is_html || entry.event.tool().is_some();
            entries.push(if is_read { self.app.engine.whole_entry(self.id, entry).await } else { entry });
            if bytes > PAGE_BODY_BYTES {
                break;
            }
        }
        if rest.next().is_some() {
            next = entries.last().map(|last| self.app.engine.cursor(last.seq));
        }
        Ok((entries, next))
    }

    /// A page of entries, and where the next one begins.
    async fn page(&self) -> Result<(Vec<Entry>, Option<Cursor>), ApiError> {
        let engine = &self.app.engine;
        let Some(turns) = self.turns else { return Ok(engine.entries(self.id, self.after, PAGE_ENTRIES).await?) };
        let (entries, more) = engine.entries_of_turns(self.id, turns, self.after, PAGE_ENTRIES).await?;
        let next = entries.last().filter(|_| more).map(|last| engine.cursor(last.seq));
        Ok((entries, next))
    }

    /// An output at its place. One whose bytes are gone is named all the same. The entry that removed it may lie many turns
    /// further on; that it has no row says the same.
    async fn output(&mut self, output: &Output) -> Result<String, ApiError> {
        let (row, note) = match self.app.engine.output(self.id, output.id).await {
            Ok(row) => match self.app.engine.output_state(&row).await? {
                OutputState::Kept => (Some(row), None),
                OutputState::Changed => (Some(row), Some("edited since it was shown")),
                OutputState::Gone => (None, Some("its bytes are gone")),
            },
            Err(OutputError::NotFound(_)) => (None, Some("removed since")),
            Err(OutputError::Query(QueryError::NotFound(_))) => (None, Some("its bytes are gone")),
            Err(err) => return Err(err.into()),
        };
        match self.is_html {
            true => self.html_output(output, row, note).await,
            false => {
                let text = match row.filter(|row| row.output.mime_type.starts_with("text/")) {
                    Some(row) => Some(self.text(&row, &MARKDOWN_TEXT).await?),
                    None => None,
                };
                let text = text.map(|(text, more)| if more { text + "\n[more is not written here]" } else { text });
                Ok(MarkdownWriter::output(output, text.as_deref(), note))
            }
        }
    }

    async fn html_output(
        &mut self,
        output: &Output,
        row: Option<OutputRow>,
        note: Option<&str>,
    ) -> Result<String, ApiError> {
        let begin = HtmlOutput::begin(output, note);
        let how = HtmlOutput::of(output);
        let Some(row) = row else { return Ok(begin + &how.without_bytes(output) + HtmlOutput::END) };
        let middle = match how {
            HtmlOutput::Lines => {
                let (text, more) = self.text(&row, &HTML_TEXT).await?;
                HtmlOutput::lines(output, &text, more)
            }
            HtmlOutput::Picture(_) | HtmlOutput::Card(Some(_)) if row.bytes > MAX_PICTURE_BYTES => {
                HtmlOutput::remark("This picture is larger than is written here.")
            }
            HtmlOutput::Picture(mime_type) | HtmlOutput::Card(Some(mime_type)) => {
                self.waiting.push_front(Waiting::Picture { row: Box::new(row), offset: 0 });
                return Ok(begin + &HtmlOutput::picture_begin(output, mime_type));
            }
            HtmlOutput::Card(None) => HtmlOutput::card(output),
            HtmlOutput::Name => HtmlOutput::remark("This is neither text nor a picture; a bundle holds its bytes."),
        };
        Ok(begin + &middle + HtmlOutput::END)
    }

    /// The next piece of a picture's base64, and its end behind the last.
    async fn picture(&mut self, row: Box<OutputRow>, offset: u64) -> Result<String, ApiError> {
        let piece = self.app.engine.read_output(&row, offset, PICTURE_PIECE_BYTES).await?;
        let next = offset + piece.len() as u64;
        let mut text = BASE64_STANDARD.encode(&piece);
        if piece.len() < PICTURE_PIECE_BYTES || next >= MAX_PICTURE_BYTES {
            text += &HtmlOutput::picture_end(&row.output);
            text += HtmlOutput::END;
        } else {
            self.waiting.push_front(Waiting::Picture { row, offset: next });
        }
        Ok(text)
    }

    /// The beginning of an output's text, and whether there is more of it.
    async fn text(&self, row: &OutputRow, bound: &Bound) -> Result<(String, bool), ApiError> {
        let bytes = self.app.engine.read_output(row, 0, bound.bytes + 1).await?;
        let is_long = bytes.len() > bound.bytes;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(bound.bytes)]);
        let end = text.match_indices('\n').nth(bound.lines - 1).map_or(text.len(), |(at, _)| at + 1);
        Ok((text[..end].to_owned(), is_long || end < text.len()))
    }
}
