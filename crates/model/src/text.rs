//! Small pure functions over text that several folds share.

/// The first line of `text` that says something, cut to `max_chars` characters.
pub fn first_line(text: &str, max_chars: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(max_chars) {
        None => line.to_owned(),
        Some(_) => {
            let kept: String = line.chars().take(max_chars - 1).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

/// Who wrote a prompt, if it was not the person, and the words: `[agent:…] words` and `[applet:…] words` are how a
/// prompt of another origin is kept.
pub fn split_source(text: &str) -> (Option<&str>, &str) {
    let marked = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match marked {
        Some((source, words))
            if ["agent:", "applet:"].iter().any(|kind| source.strip_prefix(kind).is_some_and(is_plain_name)) =>
        {
            (Some(source), words)
        }
        Some(_) | None => (None, text),
    }
}

fn is_plain_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_words_is_taken_and_cut_by_characters() {
        assert_eq!(first_line("\n  \n  fix the tests \nnow", 60), "fix the tests");
        assert_eq!(first_line("äöüäöü", 4), "äöü…");
        assert_eq!(first_line("äöüä", 4), "äöüä");
        assert_eq!(first_line("", 4), "");
    }

    #[test]
    fn a_prompt_tells_who_wrote_it() {
        assert_eq!(split_source("[agent:0190a8c0-0000] go on"), (Some("agent:0190a8c0-0000"), "go on"));
        assert_eq!(split_source("[applet:board] go on"), (Some("applet:board"), "go on"));
        for plain in ["go on", "[agent:] x", "[agent:a b] x", "[other:a] x", "[agent:a]", "[ ] tidy up", "["] {
            assert_eq!(split_source(plain), (None, plain));
        }
    }
}
