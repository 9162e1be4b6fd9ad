//! Builds a prompt in the protocol's form: context for the agent, then images, then the person's text, then links to
//! the files that it mentions. Images come before the text, which refers to them; a prompt may be images only.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{ContentBlock, ImageContent, ResourceLink, TextContent};
use model::{Image, is_slash_command};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use crate::{AgentPacket, PacketKind};

// Headings over the context that goes before the person's text, so that the agent does not take it for the person's.
// Each begins with the words by which `model::is_tools_own` recognises such text in records of other tools.
const EARLIER_TURNS: &str =
    "[Context from Throughline about the earlier turns of this session. It is a record, not a request.]";
const PHASE_BEFORE: &str =
    "[Context from Throughline about the work that this session goes on with. It is a record, not a request.]";
const BEFORE_FORK: &str =
    "[Context from Throughline about the session that this one was forked from. It is a record, not a request.]";
const BRIEF: &str = "[Context from Throughline about the session that you work in. It is not a request.]";
const BESIDE: &str =
    "[Context from Throughline about what the person has open beside this session. It is not a request.]";
/// How many mentioned files are linked in one prompt.
const MAX_MENTIONS: usize = 32;
/// Characters at the end of a mention that are no part of the path.
const PUNCTUATION: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`', '>'];

/// The context that goes before the person's text.
#[derive(Debug, Default)]
pub(super) struct PromptContext {
    /// The brief about the session, if the agent has not had it yet.
    pub(super) brief: Option<String>,
    /// What the agent has to know for this prompt.
    pub(super) packet: Option<AgentPacket>,
    /// What the person has open beside the conversation.
    pub(super) beside: Option<String>,
}

/// The content blocks of a prompt. An agent recognises its own slash commands only at the start of a prompt.
/// `files` are the mentioned files that exist, by the name they were mentioned by.
pub(super) fn blocks(
    text: String,
    images: Vec<Image>,
    ahead: PromptContext,
    files: Vec<(String, PathBuf)>,
) -> Vec<ContentBlock> {
    let words = |text| ContentBlock::Text(TextContent::new(text));
    let labelled = |label: &str, text: &str| words(format!("{label}\n\n{text}"));
    let is_command = is_slash_command(&text);
    let PromptContext { brief, packet, beside } = if is_command { PromptContext::default() } else { ahead };
    let brief = brief.map(|text| labelled(BRIEF, &text));
    let packet = packet.map(|AgentPacket { of, text }| labelled(label(of), &text));
    let beside = beside.map(|text| labelled(BESIDE, &text));
    let picture = |image: Image| ContentBlock::Image(ImageContent::new(image.data, image.mime_type));
    let images: Vec<_> = images.into_iter().map(picture).collect();
    let links = files.into_iter().map(|(name, path)| ContentBlock::ResourceLink(ResourceLink::new(name, uri(&path))));
    let text = Some(text).filter(|text| !text.trim().is_empty()).map(words);
    let (before, after) = if is_command { (None, images) } else { (Some(images), Vec::new()) };
    let said = before.into_iter().flatten().chain(text).chain(after);
    brief.into_iter().chain(packet).chain(beside).chain(said).chain(links).collect()
}

fn label(of: PacketKind) -> &'static str {
    match of {
        PacketKind::EarlierTurns => EARLIER_TURNS,
        PacketKind::PhaseBefore => PHASE_BEFORE,
        PacketKind::BeforeFork => BEFORE_FORK,
    }
}

/// The paths that a text mentions, each once: `@src/main.rs`, `@"a name with spaces"`; not
/// `someone@example.org`.
pub(super) fn mentions(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let may_begin = before.is_whitespace() || ['(', '[', '{', '"', '\'', '`', ','].contains(&before);
        before = letter;
        if letter != '@' || !may_begin || found.len() == MAX_MENTIONS {
            continue;
        }
        let rest = &text[at + 1..];
        let path = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(path, _)| path).filter(|path| !path.contains('\n')),
            None => rest.split(char::is_whitespace).next().map(|path| path.trim_end_matches(PUNCTUATION)),
        };
        let path = path.filter(|path| !path.is_empty() && !path.contains('@'));
        if let Some(path) = path.filter(|path| !found.iter().any(|earlier| earlier == path)) {
            found.push(path.to_owned());
        }
    }
    found
}

fn uri(path: &Path) -> String {
    const WITHOUT_MARKS: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'+');
    const ENCODED: &AsciiSet = &WITHOUT_MARKS.remove(b'/').remove(b'@').remove(b':').remove(b',').remove(b'=');
    format!("file://{}", percent_encode(path.as_os_str().as_bytes(), ENCODED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_after_an_at_sign_is_mentioned() {
        let checks: [(&str, &[&str]); 9] = [
            ("look at @src/main.rs, please", &["src/main.rs"]),
            ("@a @b\n@c.", &["a", "b", "c"]),
            ("(@/p/x.rs) and [@y]", &["/p/x.rs", "y"]),
            (r#"@"a b/c.txt" and @d"#, &["a b/c.txt", "d"]),
            ("write to ada@example.org or @@x", &[]),
            ("@ nothing @... @\"open", &[]),
            ("@same @same", &["same"]),
            ("@ünï/cödé.rs!", &["ünï/cödé.rs"]),
            ("@.gitignore", &[".gitignore"]),
        ];
        for (text, paths) in checks {
            assert_eq!(mentions(text), paths, "{text}");
        }
        assert_eq!(mentions(&(0..99).map(|n| format!("@{n} ")).collect::<String>()).len(), MAX_MENTIONS);
    }

    #[test]
    fn what_is_to_be_known_comes_first_and_says_what_it_is() {
        let image = Image { mime_type: "image/png".to_owned(), data: "AA==".to_owned(), body: None };
        let files = vec![("a b".to_owned(), PathBuf::from("/p/a b%"))];
        let told = |of| PromptContext {
            packet: Some(AgentPacket { of, text: "we did".to_owned() }),
            ..PromptContext::default()
        };
        let step = blocks("do it".to_owned(), Vec::new(), told(PacketKind::PhaseBefore), Vec::new());
        insta::assert_snapshot!(serde_json::to_string(&step).unwrap(), @r#"[{"type":"text","text":"[Context from Throughline about the work that this session goes on with. It is a record, not a request.]\n\nwe did"},{"type":"text","text":"do it"}]"#);
        let alone = blocks(" ".to_owned(), vec![image.clone()], PromptContext::default(), Vec::new());
        insta::assert_snapshot!(serde_json::to_string(&alone).unwrap(), @r#"[{"type":"image","data":"AA==","mimeType":"image/png"}]"#);
        let blocks = blocks("do it".to_owned(), vec![image], told(PacketKind::EarlierTurns), files);
        insta::assert_snapshot!(serde_json::to_string(&blocks).unwrap(), @r#"[{"type":"text","text":"[Context from Throughline about the earlier turns of this session. It is a record, not a request.]\n\nwe did"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"do it"},{"type":"resource_link","name":"a b","uri":"file:///p/a%20b%25"}]"#);
    }

    #[test]
    fn a_command_goes_out_alone_as_typed() {
        let ahead = || PromptContext {
            brief: Some("Mark it.".to_owned()),
            packet: Some(AgentPacket { of: PacketKind::EarlierTurns, text: "we did".to_owned() }),
            beside: Some("an applet".to_owned()),
        };
        let command = blocks("/req my-spec".to_owned(), Vec::new(), ahead(), Vec::new());
        assert_eq!(serde_json::to_string(&command).unwrap(), r#"[{"type":"text","text":"/req my-spec"}]"#);
        let image = Image { mime_type: "image/png".to_owned(), data: "AA==".to_owned(), body: None };
        let command = blocks("/look".to_owned(), vec![image], ahead(), Vec::new());
        assert_eq!(serde_json::to_value(&command[0]).unwrap()["text"], "/look");
        let words = blocks("do /req".to_owned(), Vec::new(), ahead(), Vec::new());
        insta::assert_snapshot!(serde_json::to_string(&words).unwrap(), @r#"[{"type":"text","text":"[Context from Throughline about the session that you work in. It is not a request.]\n\nMark it."},{"type":"text","text":"[Context from Throughline about the earlier turns of this session. It is a record, not a request.]\n\nwe did"},{"type":"text","text":"[Context from Throughline about what the person has open beside this session. It is not a request.]\n\nan applet"},{"type":"text","text":"do /req"}]"#);
    }
}
