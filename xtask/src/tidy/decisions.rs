//! Checks the pages of `docs/decisions/`: numbered in order, without gaps.

use super::Finding;
use super::tree::{File, Tree};

pub(super) const FOLDER: &str = "docs/decisions/";

/// The pages, in the order of their names.
pub(super) fn pages(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| file.path.starts_with(FOLDER) && file.path.ends_with(".md"))
}

pub(super) fn numbers_have_no_gap(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut expected = 1;
    for page in pages(tree) {
        match number(page.name()) {
            None => findings.push(page.finding(1, "a page is called NNNN-what-was-decided.md")),
            Some(found) => {
                if found != expected {
                    findings.push(page.finding(1, format!("has number {found:04} where {expected:04} comes next")));
                }
                expected = found + 1;
            }
        }
    }
    findings
}

fn number(name: &str) -> Option<u32> {
    let (digits, title) = name.split_once('-')?;
    (digits.len() == 4 && title.len() > ".md".len()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::super::tree::{made_up, printed};
    use super::*;

    fn check(names: &[&str], expected: &[&str]) {
        let paths: Vec<_> = names.iter().map(|name| format!("{FOLDER}{name}")).collect();
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "")).collect();
        let expected: Vec<_> = expected.iter().map(|text| format!("{FOLDER}{text}")).collect();
        assert_eq!(printed(&numbers_have_no_gap(&made_up(&files))), expected);
    }

    #[test]
    fn a_gap_a_double_and_a_nameless_page_are_found() {
        check(&["0001-a.md", "0002-b.md"], &[]);
        check(&["0001-a.md", "0003-c.md", "0004-d.md"], &["0003-c.md:1: has number 0003 where 0002 comes next"]);
        check(&["0001-a.md", "0001-b.md"], &["0001-b.md:1: has number 0001 where 0002 comes next"]);
        check(&["notes.md"], &["notes.md:1: a page is called NNNN-what-was-decided.md"]);
    }
}
