//! Checks that `docs/behaviours.md` names a test for every required behaviour.

use super::Finding;
use super::guarantees::{is_path, is_test};
use super::tree::Tree;

const PAGE: &str = "docs/behaviours.md";
/// The families on the page, with how many behaviours each has.
const FAMILIES: [(&str, u32); 5] = [("CTX", 40), ("MC", 49), ("SCX", 22), ("STO", 53), ("TOC", 38)];
/// The beginnings of a row that needs no test.
const WITHOUT_TEST: [&str; 3] = ["later:", "overruled:", "left out:"];

/// Each behaviour has a row, and each row a test that exists, or the reason why it has none.
pub(super) fn each_behaviour_has_its_test(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.find(PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut rows = Vec::new();
    for (number, line) in page.lines() {
        let Some(id) = id_of(line) else { continue };
        rows.push(id.to_owned());
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let tests: Vec<&&str> = quoted.iter().filter(|name| is_path(name) || is_web_test(name)).collect();
        for name in &tests {
            let is_there = if is_web_test(name) { tree.find(name).is_some() } else { is_test(tree, name) };
            if !is_there {
                findings.push(page.finding(number, format!("there is no test {name}")));
            }
        }
        if tests.is_empty() && !WITHOUT_TEST.iter().any(|word| line.contains(&format!("| {word} "))) {
            findings.push(page.finding(number, format!("{id} has no test")));
        }
    }
    let expected = FAMILIES.iter().flat_map(|(family, count)| (1..=*count).map(move |n| format!("{family}-{n:02}")));
    findings.extend(
        expected.filter(|id| !rows.contains(id)).map(|id| page.finding(1, format!("{id} has no row in the table"))),
    );
    findings
}

/// `| CTX-05 | …` → `CTX-05`.
fn id_of(line: &str) -> Option<&str> {
    let id = line.strip_prefix("| ")?.split(' ').next()?;
    let (family, digits) = id.split_once('-')?;
    (FAMILIES.iter().any(|(known, _)| *known == family) && digits.parse::<u32>().is_ok()).then_some(id)
}

/// Whether a file is a test of the page.
fn is_web_test(name: &str) -> bool {
    let is_page = name.starts_with("web/") || name.starts_with("applets/");
    is_page && (name.contains(".test.") || name.ends_with(".journey.mjs"))
}

#[cfg(test)]
mod tests {
    use super::super::tree::{made_up, printed};
    use super::*;

    #[test]
    fn what_has_no_test_or_no_row_is_found() {
        let page = "| CTX-01 | a | `server::it::live::kept` |\n| CTX-02 | b | `server::it::live::gone`, `web/journeys/gone.journey.mjs` |\n\
                    | CTX-03 | later: c | |\n| CTX-04 | d | |\n";
        let test = ("crates/server/tests/it/live.rs", "//! L.\n#[tokio::test]\nasync fn kept() {}\n");
        let found = printed(&each_behaviour_has_its_test(&made_up(&[("docs/behaviours.md", page), test])));
        assert_eq!(
            found[..3],
            [
                "docs/behaviours.md:2: there is no test server::it::live::gone",
                "docs/behaviours.md:2: there is no test web/journeys/gone.journey.mjs",
                "docs/behaviours.md:4: CTX-04 has no test",
            ]
        );
        assert_eq!(found.len(), 3 + 36 + 49 + 22 + 53 + 38, "those without a row");
    }
}
