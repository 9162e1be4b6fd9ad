//! Small functions over text that agents write.

use model::script_of;
use serde_json::{Map, Value};

/// The first `max` characters, with `…` if something was cut off.
pub(crate) fn cut_chars(mut text: String, max: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(max) {
        text.truncate(at);
        text.push('…');
    }
    text
}

/// The longest start of `text` with at most `max` bytes that ends with a whole character.
pub(crate) fn start_of(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// One line of at most `max` characters without invisible characters: control characters and those that hide text or
/// change its direction are removed.
pub(crate) fn plain_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut is_gap = false;
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() {
            is_gap = !line.is_empty();
        } else if !is_invisible(letter) {
            if std::mem::take(&mut is_gap) {
                line.push(' ');
            }
            line.push(letter);
        }
    }
    cut_chars(line, max)
}

/// The members of an input, one after the other, for a person to read. Continued lines are indented, so that no text
/// can pass for another member.
pub(crate) fn in_lines(members: &Map<String, Value>) -> String {
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) if text.contains('\n') => {
            let lines: Vec<_> = text.split('\n').map(|line| format!("\n  {line}")).collect();
            format!("{name}:{}", lines.concat())
        }
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {value}"),
    };
    members.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The command that is run: the script, if a shell only runs that, else all words as one would type them.
pub(crate) fn command_run<'a>(program: &'a str, args: &[&'a str]) -> String {
    let words: Vec<&str> = std::iter::once(program).chain(args.iter().copied()).collect();
    script_of(&words).map_or_else(|| command_line(words), str::to_owned)
}

/// An error as text: if a service answered with JSON, the message in it.
pub(crate) fn error_text(text: &str) -> String {
    let Some((before, json)) = text.find('{').map(|at| text.split_at(at)) else { return text.to_owned() };
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let Some(Ok(error)) = values.next() else { return text.to_owned() };
    let message = |value: &Value| value.get("message").and_then(Value::as_str).map(str::to_owned);
    let inner = error.get("error");
    let said = inner.and_then(message).or_else(|| message(&error)).or_else(|| Some(inner?.as_str()?.to_owned()));
    let Some(said) = said else { return text.to_owned() };
    // Some services wrap one error in another.
    let said = error_text(&said);
    let before = before.trim_end_matches([' ', ':', '-']);
    if before.is_empty() || said.contains(before) { said } else { format!("{before}: {said}") }
}

/// Words quoted as one would type them in a shell.
pub(crate) fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=,+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Invisible characters that change how others look: direction marks, zero-width characters, tags.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_shows_all_that_it_holds() {
        assert_eq!(plain_line("  ls\t-l \n rm\u{1b}[31m x\u{7} ", 60), "ls -l rm [31m x");
        assert_eq!(plain_line("safe\u{202e}txt.exe\u{200b}\u{e0041}", 60), "safetxt.exe");
        assert_eq!(plain_line("äöü", 2), "äö…");
        assert_eq!(plain_line("👩\u{200d}💻 नि\u{200d}", 60), "👩\u{200d}💻 नि\u{200d}");
    }

    #[test]
    fn a_start_ends_with_a_whole_character() {
        assert_eq!(start_of("aüb", 2), "a");
        assert_eq!(start_of("aüb", 3), "aü");
        assert_eq!(start_of("aüb", 9), "aüb");
    }

    #[test]
    fn a_shell_is_not_what_is_run() {
        assert_eq!(command_run("/bin/bash", &["-c", "cd 'a b' && make"]), "cd 'a b' && make");
        assert_eq!(command_run("bash", &["-lc", "make"]), "make");
        assert_eq!(command_run("bash", &["-c", "make", "x"]), "bash -c make x");
        assert_eq!(command_run("python3", &["-c", "print(1)"]), "python3 -c 'print(1)'");
    }

    #[test]
    fn an_error_of_a_service_is_told_by_its_message() {
        for (text, words) in [
            (r#"401 {"error":{"message":"Incorrect API key","code":"invalid"}}"#, "401: Incorrect API key"),
            (
                r#"API Error: 401 {"type":"error","error":{"type":"x","message":"invalid x-api-key"}} (retry)"#,
                "API Error: 401: invalid x-api-key",
            ),
            (r#"{"error":{"message":"{\"error\":{\"message\":\"no key\"}}"}}"#, "no key"),
            (r#"{"error":"gone"}"#, "gone"),
            (r#"{"code":1}"#, r#"{"code":1}"#),
            ("plain { words", "plain { words"),
        ] {
            assert_eq!(error_text(text), words);
        }
    }
}
