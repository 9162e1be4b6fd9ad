//! Splits a line into sentences, in any script.

/// The sentences of a line, with their closing marks. A full stop inside a name or a number ends none.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '。' | '！' | '？' | '｡' => true,
            '.' => next.is_none_or(char::is_whitespace) && !is_abbreviation(&line[start..at]),
            '!' | '?' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            parts.push(line[start..end].trim());
            start = end;
        }
    }
    parts.push(line[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let is_short = matches!(
        word.to_lowercase().as_str(),
        "e.g" | "i.e" | "etc" | "vs" | "cf" | "z.b" | "bzw" | "ca" | "no" | "nr" | "p.ej"
    );
    let mut letters = word.chars();
    is_short
        || match (letters.next(), letters.next()) {
            // A list's number follows no word; "exit code 0" is the end of a sentence.
            (Some(digit), None) if digit.is_numeric() => {
                let ahead = before[..before.len() - word.len()].trim_end();
                !ahead.ends_with(char::is_alphanumeric)
            }
            // An initial.
            (Some(letter), None) => letter.is_alphabetic(),
            _ => false,
        }
}

/// How much room a line takes to say what it says: a wide character says as much as two narrow ones.
pub(super) fn weight(line: &str) -> usize {
    line.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Scripts that are written without spaces or with a sign for each syllable.
pub(super) fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{ff01}'..='\u{ff60}' | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_stops() {
        assert_eq!(sentences("Open main.rs v1.2. Then run it! Why?"), ["Open main.rs v1.2.", "Then run it!", "Why?"]);
        assert_eq!(sentences("Use a list, e.g. a Vec. Done"), ["Use a list, e.g. a Vec.", "Done"]);
        assert_eq!(sentences("It ended with exit code 0. Why?"), ["It ended with exit code 0.", "Why?"]);
        assert_eq!(sentences("1. Run it. To do: 2. Ask A. Lee"), ["1. Run it.", "To do: 2. Ask A. Lee"]);
        assert_eq!(sentences("修复登录。然后运行测试！"), ["修复登录。", "然后运行测试！"]);
        assert_eq!(sentences(""), [""; 0]);
    }
}
