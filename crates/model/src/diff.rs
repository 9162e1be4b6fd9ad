//! What changed in a file, line by line.

use similar::TextDiff;

use crate::one_line;

/// Files with more changed lines than this are shown as wholly replaced: finding the least change takes time that grows
/// with the product of both.
const MAX_COMPARED_LINES: usize = 4_000;
const CONTEXT_LINES: usize = 3;
const MAX_PATH_CHARS: usize = 1_000;

/// The change of a file as a unified diff; a file without a text before is new.
pub fn line_diff(path: &str, old: Option<&str>, new: &str) -> String {
    let path = one_line(path, MAX_PATH_CHARS);
    // Only a line feed ends a line here, as it is counted.
    let (old, new) = (old.map(|old| old.replace('\r', "")), new.replace('\r', ""));
    let (old, new) = (old.as_deref(), new.as_str());
    let from = old.map_or_else(|| "/dev/null".to_owned(), |_| format!("a/{}", path.trim_start_matches('/')));
    let to = format!("b/{}", path.trim_start_matches('/'));
    let old = old.unwrap_or_default();
    let (changed_old, changed_new) = changed_line_counts(old, new);
    if changed_old + changed_new > MAX_COMPARED_LINES {
        let gone = old.lines().map(|line| format!("-{line}"));
        let come = new.lines().map(|line| format!("+{line}"));
        let (gone_lines, come_lines) = (old.lines().count(), new.lines().count());
        let range = format!("@@ -{},{gone_lines} +{},{come_lines} @@", gone_lines.min(1), come_lines.min(1));
        return [format!("--- {from}"), format!("+++ {to}"), range]
            .into_iter()
            .chain(gone)
            .chain(come)
            .collect::<Vec<_>>()
            .join("\n");
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(CONTEXT_LINES).header(&from, &to).missing_newline_hint(false).to_string()
}

/// Counts the lines of each text between their common beginning and end.
fn changed_line_counts(old: &str, new: &str) -> (usize, usize) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let begin = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(|(old, new)| old == new).count();
    (old.len() - begin - end, new.len() - begin - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let old: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 5\n", "line five\n");
        assert_eq!(
            line_diff("/src/a.rs", Some(&old), &new),
            "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n line 6\n line 7\n line 8\n"
        );
        assert!(line_diff("a", None, "x\n").starts_with("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x"));
    }

    #[test]
    fn a_file_that_changed_wholly_is_replaced_wholly() {
        let old: String = (0..3_000).map(|n| format!("old {n}\n")).collect();
        let new: String = (0..3_000).map(|n| format!("new {n}\n")).collect();
        let diff = line_diff("a", Some(&old), &new);
        assert_eq!(diff.lines().filter(|line| line.starts_with("-old")).count(), 3_000);
        assert_eq!(diff.lines().filter(|line| line.starts_with("+new")).count(), 3_000);
    }
}
