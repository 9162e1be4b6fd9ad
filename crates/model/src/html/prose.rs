//! Markdown as HTML, for words of people and agents.
//!
//! Invariant: what was raw HTML is shown as it was written. No element is made here that is not closed here.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::html::{link_target, push_escaped};

/// Adds the text, rendered.
pub(super) fn push_prose(to: &mut String, markdown: &str) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut prose = Prose { to, links: Vec::new(), in_head: false };
    for event in Parser::new_ext(markdown, options) {
        prose.push(event);
    }
}

struct Prose<'a> {
    to: &'a mut String,
    /// Of each link that is open, whether it leads somewhere.
    links: Vec<bool>,
    /// Inside of a table's first row.
    in_head: bool,
}

impl Prose<'_> {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => push_escaped(self.to, &text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.to.push_str("<code>");
                push_escaped(self.to, &text);
                self.to.push_str("</code>");
            }
            Event::FootnoteReference(name) => push_escaped(self.to, &name),
            Event::SoftBreak => self.to.push('\n'),
            Event::HardBreak => self.to.push_str("<br>\n"),
            Event::Rule => self.to.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.to.push_str(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.to.push_str("<p>"),
            Tag::Heading { level, .. } => self.to.push_str(&format!("<{}>", heading(level))),
            Tag::BlockQuote(_) => self.to.push_str("<blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(words) => words.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                self.to.push_str("<pre><code");
                if !language.is_empty() {
                    self.to.push_str(" data-language=\"");
                    push_escaped(self.to, language);
                    self.to.push('"');
                }
                self.to.push('>');
            }
            Tag::List(None) => self.to.push_str("<ul>\n"),
            Tag::List(Some(first)) => self.to.push_str(&format!("<ol start=\"{first}\">\n")),
            Tag::Item => self.to.push_str("<li>"),
            Tag::Table(_) => self.to.push_str("<div class=\"table\"><table>\n"),
            Tag::TableHead => {
                self.in_head = true;
                self.to.push_str("<thead><tr>");
            }
            Tag::TableRow => self.to.push_str("<tr>"),
            Tag::TableCell => self.to.push_str(if self.in_head { "<th>" } else { "<td>" }),
            Tag::Emphasis => self.to.push_str("<em>"),
            Tag::Strong => self.to.push_str("<strong>"),
            Tag::Strikethrough => self.to.push_str("<del>"),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url, ""),
            // Nothing is loaded from elsewhere, so a picture is a link to it.
            Tag::Image { dest_url, .. } => self.open_link(&dest_url, "picture: "),
            Tag::Superscript | Tag::Subscript => self.to.push_str("<span>"),
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.to.push_str("<div>"),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.to.push_str("</p>\n"),
            TagEnd::Heading(level) => self.to.push_str(&format!("</{}>\n", heading(level))),
            TagEnd::BlockQuote(_) => self.to.push_str("</blockquote>\n"),
            TagEnd::CodeBlock => self.to.push_str("</code></pre>\n"),
            TagEnd::List(false) => self.to.push_str("</ul>\n"),
            TagEnd::List(true) => self.to.push_str("</ol>\n"),
            TagEnd::Item => self.to.push_str("</li>\n"),
            TagEnd::Table => self.to.push_str("</table></div>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.to.push_str("</tr></thead>\n");
            }
            TagEnd::TableRow => self.to.push_str("</tr>\n"),
            TagEnd::TableCell => self.to.push_str(if self.in_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.to.push_str("</em>"),
            TagEnd::Strong => self.to.push_str("</strong>"),
            TagEnd::Strikethrough => self.to.push_str("</del>"),
            TagEnd::Link | TagEnd::Image => {
                let leads = self.links.pop().unwrap_or_default();
                self.to.push_str(if leads { "</a>" } else { "</span>" });
            }
            TagEnd::Superscript | TagEnd::Subscript => self.to.push_str("</span>"),
            TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => self.to.push_str("</div>"),
        }
    }

    fn open_link(&mut self, address: &str, before: &str) {
        // A link in a link is none to a browser.
        let target = link_target(address).filter(|_| !self.links.contains(&true));
        self.links.push(target.is_some());
        match target {
            Some(target) => {
                self.to
                    .push_str(&format!("<a href=\"{target}\" rel=\"noopener noreferrer\" target=\"_blank\">{before}"));
            }
            None => self.to.push_str(&format!("<span class=\"no-link\">{before}")),
        }
    }
}

/// The page's title and its turns are above every heading of theirs.
fn heading(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h3",
        HeadingLevel::H2 => "h4",
        HeadingLevel::H3 => "h5",
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => "h6",
    }
}
