//! An output in the page, of which whoever reads its bytes writes the middle.
//!
//! Invariant: bytes become text or a picture's base64, never markup.

use crate::html::{LINE_CHARS, escaped, link_target, picture_type, push_escaped};
use crate::{AboutOutput, Output, OutputKind, one_line, plain_text};

/// More lines than these are folded.
const OPEN_LINES: usize = 40;

/// How an output is put into the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HtmlOutput {
    /// As numbered lines: [`HtmlOutput::lines`].
    Lines,
    /// As a picture: [`HtmlOutput::picture_begin`], the base64, [`HtmlOutput::picture_end`].
    Picture(&'static str),
    /// As a card that leads elsewhere: with its picture, like a picture, or without one: [`HtmlOutput::card`].
    Card(Option<&'static str>),
    /// By its name alone.
    Name,
}

impl HtmlOutput {
    /// How an output of this type is put into the page.
    pub fn of(output: &Output) -> Self {
        match output.kind {
            OutputKind::Embed => Self::Card(picture_type(&output.mime_type)),
            OutputKind::Applet => Self::Name,
            OutputKind::File | OutputKind::Terminal | OutputKind::Image | OutputKind::Raw => {
                match picture_type(&output.mime_type) {
                    Some(mime_type) => Self::Picture(mime_type),
                    None if output.mime_type.starts_with("text/") => Self::Lines,
                    None => Self::Name,
                }
            }
        }
    }

    /// The output's beginning: its name and what is known of it; `note` says what became of its bytes.
    pub fn begin(output: &Output, note: Option<&str>) -> String {
        let label = escaped(&one_line(output.label(), LINE_CHARS));
        let mut about = vec![output.extent()];
        about.extend(output.about.exit_code.filter(|code| *code != 0).map(|code| format!("exit code {code}")));
        about.extend(output.about.cut.then(|| "cut".to_owned()));
        about.extend(note.map(str::to_owned));
        let (kind, about) = (output.kind.word(), escaped(&about.join(", ")));
        format!(
            "<figure class=\"output {kind}\" id=\"{}\">\n<figcaption><span class=\"name\">{label}</span> \
             <span class=\"detail\">{about}</span></figcaption>\n",
            output.id
        )
    }

    /// What closes it.
    pub const END: &'static str = "</figure>\n";

    /// Text as numbered lines, from the output's first line on; `more` says that there is more than this.
    pub fn lines(output: &Output, text: &str, more: bool) -> String {
        let text = plain_text(text);
        let count = text.lines().count();
        let mut html = String::with_capacity(text.len() * 5 / 4);
        let is_long = count > OPEN_LINES;
        if is_long {
            html.push_str(&format!("<details><summary>{count} lines</summary>\n"));
        }
        let first = output.about.start_line.unwrap_or(1);
        let digits = (first + count as u64).to_string().len().min(9);
        // What a command printed has no lines to speak of.
        let class = if output.kind == OutputKind::Terminal { "lines terminal-lines" } else { "lines" };
        html.push_str(&format!("<ol class=\"{class} digits-{digits}\" start=\"{first}\">\n"));
        for line in text.lines() {
            html.push_str("<li>");
            push_escaped(&mut html, line);
            html.push_str("</li>\n");
        }
        html.push_str("</ol>\n");
        if is_long {
            html.push_str("</details>\n");
        }
        if more {
            html.push_str("<p class=\"note\">There is more of it than is written here.</p>\n");
        }
        html
    }

    /// What comes before a picture's base64, which may be that of a card.
    pub fn picture_begin(output: &Output, mime_type: &'static str) -> String {
        let before = if output.kind == OutputKind::Embed { CARD_BEGIN } else { "" };
        format!("{before}<img src=\"data:{mime_type};base64,")
    }

    /// What comes behind it.
    pub fn picture_end(output: &Output) -> String {
        if output.kind == OutputKind::Embed {
            // The title beside it says what it is.
            return format!("\" alt=\"\">{}", card_words(output));
        }
        format!("\" alt=\"{}\">\n", escaped(&one_line(output.label(), LINE_CHARS)))
    }

    /// A card that leads to a page elsewhere, without a picture.
    pub fn card(output: &Output) -> String {
        format!("{CARD_BEGIN}{}", card_words(output))
    }

    /// What stands for it where its bytes are gone: a card leads where it led.
    pub fn without_bytes(self, output: &Output) -> String {
        match self {
            Self::Card(_) => Self::card(output),
            Self::Lines | Self::Picture(_) | Self::Name => String::new(),
        }
    }

    /// A remark in place of the bytes.
    pub fn remark(text: &str) -> String {
        format!("<p class=\"note\">{}</p>\n", escaped(text))
    }
}

const CARD_BEGIN: &str = "<div class=\"card\">";

/// The words of a card, and its end.
fn card_words(output: &Output) -> String {
    let AboutOutput { url, provider, title, author, .. } = &output.about;
    let line = |text: &Option<String>| text.as_deref().map(|text| one_line(text, LINE_CHARS)).unwrap_or_default();
    let (url, title) = (line(url), line(title));
    let title = escaped(if title.is_empty() { output.label() } else { &title });
    let link = match link_target(&url) {
        Some(url) => format!("<a href=\"{url}\" rel=\"noopener noreferrer\" target=\"_blank\">{title}</a>"),
        None => format!("<span class=\"no-link\">{title}</span>"),
    };
    let from = [line(author), line(provider), url].into_iter().filter(|text| !text.is_empty());
    let from = escaped(&from.collect::<Vec<_>>().join(" · "));
    format!("<div>{link}<p class=\"detail\">{from}</p></div></div>\n")
}
