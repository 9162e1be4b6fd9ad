//! Checks that a released migration is never edited: it has run on somebody's disk.
//!
//! The list beside this crate's manifest holds the SHA-256 of each, as `sha256sum` prints it. A release adds its new
//! ones; until the first release it is empty.

use sha2::{Digest as _, Sha256};

use super::Finding;
use super::tree::Tree;

const LIST: &str = "xtask/released-migrations.txt";
const FOLDER: &str = "crates/store/migrations/";

pub(super) fn released_ones_are_unchanged(tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.find(LIST) else {
        return vec![Finding { path: LIST.to_owned(), line: 1, message: "the list is missing".to_owned() }];
    };
    let mut findings = Vec::new();
    for (number, line) in list.lines().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let Some((hash, path)) = line.split_once("  ").filter(|(_, path)| path.starts_with(FOLDER)) else {
            findings.push(list.finding(number, format!("expected `<sha256>  {FOLDER}…`")));
            continue;
        };
        match tree.find(path) {
            None => findings.push(list.finding(number, format!("{path} was released and is gone"))),
            Some(file) if sha256(&file.text) != hash => {
                findings.push(file.finding(1, "was released and has changed; write a new migration instead"));
            }
            Some(_) => (),
        }
    }
    findings
}

fn sha256(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::super::tree::{made_up, printed};
    use super::*;

    #[test]
    fn a_released_migration_that_changed_or_went_is_found() {
        let (kept, edited, gone) =
            (format!("{FOLDER}0001_log.sql"), format!("{FOLDER}0002_more.sql"), format!("{FOLDER}0003_last.sql"));
        let list = format!(
            "# released\n\n{}  {kept}\n{}  {edited}\n{}  {gone}\nnonsense\n",
            sha256("CREATE"),
            sha256("as it was"),
            sha256("")
        );
        let tree = made_up(&[(LIST, &list), (&kept, "CREATE"), (&edited, "as it is")]);
        assert_eq!(
            printed(&released_ones_are_unchanged(&tree)),
            [
                format!("{edited}:1: was released and has changed; write a new migration instead"),
                format!("{LIST}:5: {gone} was released and is gone"),
                format!("{LIST}:6: expected `<sha256>  {FOLDER}…`"),
            ]
        );
    }

    #[test]
    fn the_list_itself_may_not_go() {
        assert_eq!(printed(&released_ones_are_unchanged(&made_up(&[]))), [format!("{LIST}:1: the list is missing")]);
    }
}
