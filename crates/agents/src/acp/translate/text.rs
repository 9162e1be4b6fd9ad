//! Small functions over text that agents write.

/// The first `max` characters.
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

/// One line of at most `max` characters, in which everything is seen: what steers a terminal, hides or turns the
/// direction of what follows is taken out.
pub(crate) fn plain_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut is_gap = false;
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() {
            is_gap = !line.is_empty();
        } else if !is_unseen(letter) {
            if std::mem::take(&mut is_gap) {
                line.push(' ');
            }
            line.push(letter);
        }
    }
    cut_chars(line, max)
}

/// Words as one would type them for a shell.
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

/// Letters without a picture of their own that change how others look: marks of direction, joiners of nothing, tags.
fn is_unseen(letter: char) -> bool {
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
}
