//! Checks that `docs/guarantees.md` names an existing test for every promise.

use super::Finding;
use super::tree::{File, Tree};

const PAGE: &str = "docs/guarantees.md";
/// Where the suite that all stores pass is listed.
const SUITE: &str = "crates/store/src/conformance.rs";
const COMMAND: &str = "cargo xtask ";

/// Each promise has a row, each row a test or a command, and each of these exists.
pub(super) fn each_promise_has_its_test(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.find(PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    for (number, line) in page.lines() {
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let tests = quoted.iter().filter(|name| is_path(name));
        for name in tests.clone().filter(|name| !is_test(tree, name)) {
            findings.push(page.finding(number, format!("there is no test {name}")));
        }
        let commands = quoted.iter().filter_map(|quoted| quoted.strip_prefix(COMMAND));
        for command in commands.clone().filter(|command| !is_command(tree, command)) {
            findings.push(page.finding(number, format!("there is no command {COMMAND}{command}")));
        }
        if is_row(line) && tests.count() + commands.count() == 0 {
            findings.push(page.finding(number, "a promise without a test"));
        }
    }
    for (number, line) in page.lines() {
        if let Some(promise) = promise_of(line)
            && !page.lines().any(|(_, line)| is_row(line) && line.starts_with(&format!("| {promise} |")))
        {
            findings.push(page.finding(number, format!("{promise} has no row in the table")));
        }
    }
    findings
}

/// `**R01 Acknowledged …**` → `R01`.
fn promise_of(line: &str) -> Option<&str> {
    let name = line.strip_prefix("**")?.split(' ').next()?;
    is_promise(name).then_some(name)
}

fn is_row(line: &str) -> bool {
    line.strip_prefix("| ").and_then(|rest| rest.split(' ').next()).is_some_and(is_promise)
}

fn is_promise(name: &str) -> bool {
    name.strip_prefix('R').is_some_and(|digits| digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a name is `crate::module::test`, and nothing else that is written in this way.
pub(super) fn is_path(name: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    name.contains("::") && name.split("::").all(is_word)
}

pub(super) fn is_test(tree: &Tree, name: &str) -> bool {
    let (module, test) = name.rsplit_once("::").expect("a path has two parts at least");
    let file_of_module = module.strip_suffix("::tests").unwrap_or(module);
    let here = |file: &&File| module_of(file).is_some_and(|found| found == module || found == file_of_module);
    tree.rust_files().filter(here).any(|file| has_test(file, test) || is_in_suite(tree, file, test))
}

/// `crates/store/src/sqlite/tests/damage.rs` → `store::sqlite::tests::damage`. For integration tests the binary's
/// name comes second: `crates/server/tests/it/live.rs` → `server::it::live`.
fn module_of(file: &File) -> Option<String> {
    let path = file.path.strip_prefix("crates/").unwrap_or(&file.path).strip_suffix(".rs")?;
    let mut words: Vec<&str> = path.split('/').collect();
    // The folder below the crate's own is no module, nor are the files that stand for their folder.
    words.remove(1);
    if matches!(words.last(), Some(&"lib" | &"main")) {
        words.pop();
    }
    Some(words.join("::"))
}

fn has_test(file: &File, test: &str) -> bool {
    let lines: Vec<&str> = file.text.lines().map(str::trim_start).collect();
    let names_it = |line: &&str| line.contains(&format!("fn {test}("));
    let place = lines.iter().position(names_it);
    // Attributes are right above.
    place.is_some_and(|place| {
        let above = lines[..place].iter().rev().take_while(|line| line.starts_with("#["));
        above.into_iter().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

/// A case of the suite is no test by itself; it is listed where tests are made of all cases.
fn is_in_suite(tree: &Tree, file: &File, test: &str) -> bool {
    let Some(suite) = tree.find(SUITE) else { return false };
    let Some(group) = file.path.strip_prefix("crates/store/src/conformance/") else { return false };
    let listed = format!("{}: {test},", group.trim_end_matches(".rs"));
    file.text.contains(&format!("fn {test}(")) && suite.lines().any(|(_, line)| line.trim() == listed)
}

/// `kills`, or `faults full` where the second word is a scene.
fn is_command(tree: &Tree, words: &str) -> bool {
    let mut words = words.split(' ');
    let Some(file) = words.next().and_then(|command| tree.find(&format!("xtask/src/{command}.rs"))) else {
        return false;
    };
    words.all(|scene| file.text.contains(&format!("name: \"{scene}\"")))
}

#[cfg(test)]
mod tests {
    use super::super::tree::{made_up, printed};
    use super::*;

    const TESTS: (&str, &str) = (
        "crates/server/tests/it/live.rs",
        "//! L.\n/// R05.\n#[tokio::test(start_paused = true)]\nasync fn kept() {}\n\nfn helper() {}\n",
    );

    fn findings(page: &str, files: &[(&'static str, &'static str)]) -> Vec<String> {
        let page = [("docs/guarantees.md", page)];
        printed(&each_promise_has_its_test(&made_up(&[page.as_slice(), files].concat())))
    }

    #[test]
    fn a_test_that_is_gone_or_none_is_found() {
        let page = "**R05 Ordered.**\n| R05 | `server::it::live::kept` |\n| R06 | `server::it::live::gone`, `server::it::live::helper` |\n";
        assert_eq!(
            findings(page, &[TESTS]),
            [
                "docs/guarantees.md:3: there is no test server::it::live::gone",
                "docs/guarantees.md:3: there is no test server::it::live::helper",
            ]
        );
    }

    #[test]
    fn a_test_is_looked_for_in_its_own_file() {
        let page = "| R05 | `server::it::entries::kept`, `engine::it::live::kept` |\n";
        assert_eq!(findings(page, &[TESTS]).len(), 2);
    }

    #[test]
    fn tests_beside_the_code_and_cases_of_the_suite_count() {
        let files = [
            ("crates/server/src/live/follows.rs", "//! F.\nmod tests {\n    #[test]\n    fn inside() {}\n}\n"),
            ("crates/store/src/sqlite/tests/damage.rs", "//! D.\n#[tokio::test]\nasync fn named() {}\n"),
            ("crates/store/src/conformance.rs", "//! C.\n            log: listed,\n"),
            (
                "crates/store/src/conformance/log.rs",
                "//! L.\npub async fn listed(s: S) {}\npub async fn left_out(s: S) {}\n",
            ),
        ];
        let page = "| R15 | `server::live::follows::tests::inside`, `store::sqlite::tests::damage::named` |\n\
                    | R10 | `store::conformance::log::listed`, `store::conformance::log::left_out` |\n";
        assert_eq!(
            findings(page, &files),
            ["docs/guarantees.md:2: there is no test store::conformance::log::left_out"]
        );
    }

    #[test]
    fn commands_and_their_scenes_are_looked_for_too() {
        let files = [("xtask/src/faults.rs", "//! F.\nScene { name: \"full\" }\n"), ("xtask/src/kills.rs", "//! K.\n")];
        let page = "`cargo xtask kills`, `cargo xtask faults full`, `cargo xtask faults empty`, `cargo xtask saves`\n";
        assert_eq!(
            findings(page, &files),
            [
                "docs/guarantees.md:1: there is no command cargo xtask faults empty",
                "docs/guarantees.md:1: there is no command cargo xtask saves",
            ]
        );
    }

    #[test]
    fn a_promise_without_a_test_or_a_row_is_found() {
        let page = "**R01 Kept.** Text.\n**R99 Dreamt.** Text.\n| promise | tests |\n| R01 | we are careful |\n";
        assert_eq!(
            findings(page, &[]),
            ["docs/guarantees.md:4: a promise without a test", "docs/guarantees.md:2: R99 has no row in the table",]
        );
    }
}
