//! Outputs: what an agent showed the person, kept with the session.
//!
//! Invariant: an output's bytes are in no entry. The entry says how many there are and what their hash is, so that a body
//! that is gone or was edited since is recognised.

mod marker;

use serde::{Deserialize, Serialize};

use crate::limits::{
    MAX_CARD_LINE_CHARS, MAX_CARD_URL_BYTES, MAX_OUTPUT_COMMAND_BYTES, MAX_OUTPUT_WORD_CHARS, MAX_PATH_BYTES,
};
use crate::text::is_hidden;
use crate::{AppletSlug, OutputId, Rejection, Seq, SessionId, Timestamp, Turn};
pub use marker::OutputMarker;

/// No output is longer, whatever is configured: sums of them stay numbers.
const MAX_SOUND_BYTES: u64 = 1 << 40;

/// Something that was shown to the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Names it within its session.
    pub id: OutputId,
    /// How it is shown.
    #[serde(rename = "type")]
    pub kind: OutputKind,
    /// What its bytes are.
    pub mime_type: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// Their SHA-256 as hex.
    pub sha256: String,
    /// What is known of where it comes from.
    #[serde(flatten)]
    pub about: AboutOutput,
}

/// How an output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    /// Lines of a file.
    File,
    /// What a command printed.
    Terminal,
    /// A picture.
    Image,
    /// A card that leads to a page elsewhere.
    Embed,
    /// A small page: its HTML, script and style as JSON.
    Applet,
    /// Anything else, to be downloaded.
    Raw,
}

/// What is known of an output beside its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AboutOutput {
    /// The file that it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The command that printed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The directory that the command ran in, if it is not the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// How the command ended; absent if a signal or a limit ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Which language its text is coloured as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highlight: Option<String>,
    /// The file's line that it begins with, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// How many lines of text it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// How many lines the whole file has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// There was more than is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The address that a card leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The site that a card is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What the site, or whoever made it, calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What an applet was saved as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<AppletSlug>,
    /// Who made it, as the site says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// How long the command ran, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What ended the command; absent if it exited by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<EndedBy>,
}

/// What ended a command that did not exit by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// It ran for as long as a command may.
    Timeout,
    /// It printed as much as is kept.
    Limit,
    /// A signal that we did not send.
    Signal,
    /// The turn was cancelled, or ended.
    Cancelled,
}

/// Why an output is not kept any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutputRemoval {
    /// Somebody removed this one.
    Removed,
    /// It was older than outputs were to be kept.
    Pruned,
}

/// An output as a session lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputRow {
    /// Whose it is.
    pub session: SessionId,
    /// Which.
    pub id: OutputId,
    /// The entry that stored it, by which the outputs of a session are in order.
    pub stored_seq: Seq,
    /// The turn in which it was shown.
    pub turn: Turn,
    /// When.
    pub stored_at: Timestamp,
    /// How many bytes it has.
    pub bytes: u64,
    /// What it is.
    pub output: Output,
}

/// How much a session's outputs are, all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputsSize {
    /// How many there are.
    pub count: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

impl OutputKind {
    /// The word that the wire uses.
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Terminal => "terminal",
            Self::Image => "image",
            Self::Embed => "embed",
            Self::Applet => "applet",
            Self::Raw => "raw",
        }
    }
}

impl Output {
    /// The name of the file that its bytes are kept in.
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.id, extension(&self.mime_type))
    }

    /// What it is called in a list: the file, the command, the card's title or address, or its type.
    pub fn label(&self) -> &str {
        let AboutOutput { path, command, title, url, .. } = &self.about;
        let label = path.as_ref().or(command.as_ref()).or(title.as_ref()).or(url.as_ref());
        label.map_or(self.kind.word(), String::as_str)
    }

    /// How much it is, in words: lines of text, else bytes.
    pub fn extent(&self) -> String {
        match (self.about.lines, self.bytes) {
            (Some(1), _) => "1 line".to_owned(),
            (Some(lines), _) => format!("{lines} lines"),
            (None, 1) => "1 byte".to_owned(),
            (None, bytes) => format!("{bytes} bytes"),
        }
    }

    /// How the command ended that printed it, in words; `None` for what no command printed.
    pub fn ending(&self) -> Option<String> {
        let AboutOutput { command, exit_code, ended_by, duration_ms, .. } = &self.about;
        command.as_ref()?;
        let lasted = duration_ms.map(|millis| format!(" after {}.{} s", millis / 1_000, millis % 1_000 / 100));
        let lasted = lasted.unwrap_or_default();
        Some(match (ended_by, exit_code) {
            (Some(EndedBy::Timeout), _) => format!("ended{lasted}, when its time was up"),
            (Some(EndedBy::Limit), _) => format!("ended{lasted}, when it had printed as much as is kept"),
            (Some(EndedBy::Signal), _) => format!("ended by a signal{lasted}"),
            (Some(EndedBy::Cancelled), _) => format!("cancelled{lasted}"),
            (None, Some(0)) => format!("succeeded{lasted}"),
            (None, Some(code)) => format!("failed with exit code {code}{lasted}"),
            (None, None) => format!("ended{lasted}"),
        })
    }

    /// A tool of ours could have made it.
    pub fn is_sound(&self) -> bool {
        self.check().is_ok()
    }

    /// Refuses what no tool of ours makes; a copy that somebody changed may hold anything.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        let AboutOutput { path, command, cwd, highlight, url, provider, title, author, .. } = &self.about;
        let fits =
            |text: Option<&String>, max: usize| text.is_none_or(|text| text.len() <= max && !text.contains('\0'));
        let is_line = |text: Option<&String>| {
            text.is_none_or(|text| text.chars().count() <= MAX_CARD_LINE_CHARS && !text.chars().any(is_hidden))
        };
        // It is followed by whoever clicks it.
        let is_address = |url: &String| {
            url.len() <= MAX_CARD_URL_BYTES
                && url.starts_with("https://")
                && url.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let is_hash =
            self.sha256.len() == 64 && self.sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_type = !self.mime_type.is_empty()
            && self.mime_type.len() <= MAX_OUTPUT_WORD_CHARS
            && self.mime_type.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-+.;= ".contains(&byte));
        let is_sound = is_hash
            && is_type
            && self.bytes <= MAX_SOUND_BYTES
            && fits(path.as_ref(), MAX_PATH_BYTES)
            && fits(cwd.as_ref(), MAX_PATH_BYTES)
            && fits(command.as_ref(), MAX_OUTPUT_COMMAND_BYTES)
            && fits(highlight.as_ref(), MAX_OUTPUT_WORD_CHARS)
            && url.as_ref().is_none_or(is_address)
            && [provider, title, author].into_iter().all(|text| is_line(text.as_ref()));
        if is_sound { Ok(()) } else { Err(Rejection::OutputInvalid) }
    }
}

/// The extension of the file for bytes of this type: theirs, as far as it is known and nothing that a desktop would run.
fn extension(mime_type: &str) -> &'static str {
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    match essence {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "application/json" => "json",
        _ if essence.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(mime_type: &str) -> Output {
        Output {
            id: OutputId::from_bytes([7; 16]),
            kind: OutputKind::Raw,
            mime_type: mime_type.to_owned(),
            bytes: 3,
            sha256: "a1".repeat(32),
            about: AboutOutput::default(),
        }
    }

    #[test]
    fn a_file_is_named_by_id_and_type() {
        let id = "out_07070707070707070707070707070707";
        for (mime_type, extension) in [
            ("text/plain; charset=utf-8", "txt"),
            ("text/html", "txt"),
            ("image/png", "png"),
            ("application/json", "json"),
            ("application/x-sh", "bin"),
            ("../../etc", "bin"),
        ] {
            assert_eq!(output(mime_type).file_name(), format!("{id}.{extension}"));
        }
    }

    #[test]
    fn how_a_command_ended_is_said_in_words() {
        let ran = AboutOutput {
            command: Some("make".to_owned()),
            exit_code: Some(0),
            duration_ms: Some(1_250),
            ..AboutOutput::default()
        };
        let ending = |about: AboutOutput| Output { about, ..output("text/plain") }.ending();
        assert_eq!(ending(AboutOutput::default()), None);
        assert_eq!(ending(ran.clone()).as_deref(), Some("succeeded after 1.2 s"));
        let failed = AboutOutput { exit_code: Some(2), duration_ms: None, ..ran.clone() };
        assert_eq!(ending(failed).as_deref(), Some("failed with exit code 2"));
        for (ended_by, word, words) in [
            (EndedBy::Timeout, "timeout", "ended after 1.2 s, when its time was up"),
            (EndedBy::Limit, "limit", "ended after 1.2 s, when it had printed as much as is kept"),
            (EndedBy::Signal, "signal", "ended by a signal after 1.2 s"),
            (EndedBy::Cancelled, "cancelled", "cancelled after 1.2 s"),
        ] {
            let about = AboutOutput { exit_code: None, ended_by: Some(ended_by), ..ran.clone() };
            let json = serde_json::to_value(&about).unwrap();
            assert_eq!((&json["endedBy"], &json["durationMs"]), (&word.into(), &1_250.into()));
            assert_eq!(ending(about).as_deref(), Some(words));
        }
    }

    #[test]
    fn what_no_tool_makes_is_refused() {
        assert_eq!(output("text/plain").check(), Ok(()));
        let bad_hash = Output { sha256: "../../../x".to_owned(), ..output("text/plain") };
        let long = Some("x".repeat(MAX_PATH_BYTES + 1));
        let long_path = Output { about: AboutOutput { path: long, ..AboutOutput::default() }, ..output("text/plain") };
        let zero = Some("a\0b".to_owned());
        let zero_path = Output { about: AboutOutput { path: zero, ..AboutOutput::default() }, ..output("text/plain") };
        let card = |url: &str, title: &str| {
            let (url, title) = (Some(url.to_owned()), Some(title.to_owned()));
            Output { about: AboutOutput { url, title, ..AboutOutput::default() }, ..output("text/plain") }
        };
        assert_eq!(card("https://vimeo.com/1", "A title").check(), Ok(()));
        for bad in [
            card("javascript:alert(1)", ""),
            card("http://vimeo.com/1", ""),
            card("https://vimeo.com/1\n", ""),
            card(&format!("https://vimeo.com/{}", "1".repeat(MAX_CARD_URL_BYTES)), ""),
            card("https://vimeo.com/1", "two\nlines"),
            card("https://vimeo.com/1", "turned \u{202e}"),
            card("https://vimeo.com/1", &"x".repeat(MAX_CARD_LINE_CHARS + 1)),
        ] {
            assert_eq!(bad.check(), Err(Rejection::OutputInvalid), "{bad:?}");
        }
        for bad in [output(""), output("text/plain\r\nX: y"), bad_hash, long_path, zero_path] {
            assert_eq!(bad.check(), Err(Rejection::OutputInvalid), "{bad:?}");
        }
    }
}
