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
}
