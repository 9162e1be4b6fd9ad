//! Rules about single files: what they begin with, how long they are, what they must not contain.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::{File, Tree};

const DISCUSS_AT: usize = 600;
const STOP_AT: usize = 800;
/// Split so that this file does not break its own rule.
const LEFT_OVER: &str = concat!("FIX", "ME");
/// The home folders of root and of people on macOS; split for the same reason.
const MACHINE_FOLDERS: [&str; 2] = [concat!("/", "root/"), concat!("/", "Users/")];

pub(super) fn files_say_what_they_are_for(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.finding(1, "a file opens with `//!` and what it is for"))
        .collect()
}

pub(super) fn files_stay_short(tree: &Tree) -> Vec<Finding> {
    longer_than(tree, STOP_AT, "split it")
}

/// Not wrong yet, but worth a thought.
pub(super) fn long_files(tree: &Tree) -> Vec<Finding> {
    longer_than(tree, DISCUSS_AT, "does it have one subject?")
}

pub(super) fn modules_have_their_own_names(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| file.name() == "mod.rs")
        .map(|file| file.finding(1, "a module lies in `name.rs` beside `name/`"))
        .collect()
}

/// Prose may contain the word, code may not.
pub(super) fn nothing_is_left_to_fix(tree: &Tree) -> Vec<Finding> {
    lines_with(tree.files.iter().filter(|file| !file.path.ends_with(".md")), |line| line.contains(LEFT_OVER))
        .map(|(file, number)| {
            file.finding(number, format!("{LEFT_OVER}: do it, or write it where it is not forgotten"))
        })
        .collect()
}

pub(super) fn no_path_of_this_machine(tree: &Tree) -> Vec<Finding> {
    let root = tree.root.to_string_lossy();
    // A tree at `/src` or `/app` would match everywhere.
    let root = (tree.root.components().count() > 2).then_some(root.as_ref());
    lines_with(tree.files.iter(), |line| MACHINE_FOLDERS.into_iter().chain(root).any(|folder| names_path(line, folder)))
        .map(|(file, number)| file.finding(number, "names a path of somebody's machine"))
        .collect()
}

/// Only the journal gets what can append to the log or purge it, so that no follower can be forgotten: all others
/// have a reader, or import their queries by name. The store itself may append when it restores, imports an export or
/// hydrates. The program opens the store and passes it to the engine, which passes it to the journal.
pub(super) fn one_place_appends(tree: &Tree) -> Vec<Finding> {
    const MAY: [&str; 2] = ["crates/engine/src/journal.rs", "crates/engine/src/lib.rs"];
    let others = tree.rust_files().filter(|file| file.path.starts_with("crates/") && !MAY.contains(&&*file.path));
    let others = others.filter(|file| !file.path.starts_with("crates/store/"));
    let found = others.flat_map(|file| {
        let code = file.lines().take(code_lines(file));
        // Code that imports the trait, alone or with a glob, could append to a store of a known type.
        const NAMES: [&str; 5] = ["dyn Store", "dyn Append", "Append::", "Append as", "store::prelude"];
        let named = code.filter(|(_, line)| NAMES.iter().any(|name| line.contains(name)));
        named.map(move |(line, _)| file.finding(line, format!("only {} can append; take a `Reader`", MAY[0])))
    });
    found.collect()
}

/// A trait with more methods should be several traits.
pub(super) fn traits_are_narrow(tree: &Tree) -> Vec<Finding> {
    const MOST: usize = 10;
    let mut found = Vec::new();
    for file in tree.rust_files().filter(|file| file.path.starts_with("crates/")) {
        let mut open: Option<(usize, usize)> = None;
        for (number, line) in file.lines() {
            let words: Vec<_> =
                line.split([' ', '(', '<']).skip_while(|word| word.starts_with("pub") || *word == "crate)").collect();
            open =
                match open {
                    None if words.first() == Some(&"trait") && line.ends_with('{') => Some((number, 0)),
                    Some((begun, methods)) if line == "}" => {
                        if methods > MOST {
                            found.push(file.finding(
                                begun,
                                format!("a trait of {methods} methods, where {MOST} are many; split it"),
                            ));
                        }
                        None
                    }
                    Some((begun, methods)) => {
                        let is_method = line.strip_prefix("    ").is_some_and(|line| {
                            ["fn ", "async fn ", "unsafe fn "].iter().any(|word| line.starts_with(word))
                        });
                        Some((begun, methods + usize::from(is_method)))
                    }
                    None => None,
                };
        }
    }
    found
}

/// A public type name means one thing: no two crates use it for different ones. The wire's types are named after what
/// they carry, so they may share a name.
pub(super) fn public_names_mean_one_thing(tree: &Tree) -> Vec<Finding> {
    let mut named: BTreeMap<&str, Vec<(&str, &File, usize)>> = BTreeMap::new();
    for file in tree.rust_files().filter(|file| !file.path.starts_with("crates/server/src/wire")) {
        let Some(owner) = file.path.strip_prefix("crates/").and_then(|path| path.split('/').next()) else { continue };
        for (number, line) in file.lines().take(code_lines(file)) {
            let public = line.trim_start().strip_prefix("pub ").unwrap_or_default();
            let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
            if let Some(name) = kinds.iter().find_map(|kind| public.strip_prefix(kind)) {
                let end = name.find(|sign: char| !sign.is_alphanumeric()).unwrap_or(name.len());
                named.entry(&name[..end]).or_default().push((owner, file, number));
            }
        }
    }
    let doubles = named.into_iter().flat_map(|(name, places)| {
        let first = places[0].0;
        let others = places.into_iter().filter(move |(owner, ..)| *owner != first);
        others
            .map(move |(_, file, line)| file.finding(line, format!("{first} has a `{name}` too; say which one it is")))
    });
    doubles.collect()
}

/// Only one module connects to servers of others, with the rules about where that may lead. Our own server is reached
/// by its socket file.
pub(super) fn one_way_out(tree: &Tree) -> Vec<Finding> {
    const WAY_OUT: &str = "crates/agents/src/outbound.rs";
    const WAYS: [&str; 6] =
        ["TcpStream::connect", "TcpSocket::new", "lookup_host(", "to_socket_addrs(", "hyper_util::client", "reqwest::"];
    let others = tree.rust_files().filter(|file| file.path.starts_with("crates/") && file.path != WAY_OUT);
    code_with(others, &WAYS)
        .map(|(file, line)| file.finding(line, format!("only {WAY_OUT} connects to servers of others")))
        .collect()
}

/// Input from outside must not be able to end a task: the types say what is possible.
pub(super) fn nothing_at_the_doors_is_called_unreachable(tree: &Tree) -> Vec<Finding> {
    let doors = ["crates/doors/src/", "crates/server/src/"];
    let files = tree.rust_files().filter(|file| doors.iter().any(|folder| file.path.starts_with(folder)));
    code_with(files, &["unreachable!("])
        .map(|(file, line)| file.finding(line, "let the types say that this can not be"))
        .collect()
}

/// Lines of code, without tests, that contain one of these texts.
fn code_with<'a>(files: impl Iterator<Item = &'a File>, texts: &[&str]) -> impl Iterator<Item = (&'a File, usize)> {
    files.flat_map(|file| {
        let code = file.lines().take(code_lines(file));
        let found = code.filter(|(_, line)| texts.iter().any(|text| line.contains(text)));
        found.map(|(number, _)| (file, number)).collect::<Vec<_>>()
    })
}

/// Rust lines per crate, tests counted apart: shows which part grows.
pub(super) fn lines_per_crate(tree: &Tree) -> String {
    let mut crates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in tree.rust_files() {
        let mut folders = file.path.split('/');
        let name = match folders.next() {
            Some("crates") => folders.next().unwrap_or_default(),
            other => other.unwrap_or_default(),
        };
        let (code, tests) = crates.entry(name).or_default();
        let all = file.text.lines().count();
        *code += code_lines(file);
        *tests += all - code_lines(file);
    }
    let mut text = format!("{:<12} {:>6} {:>6}\n", "crate", "lines", "tests");
    for (name, (code, tests)) in crates {
        text += &format!("{name:<12} {code:>6} {tests:>6}\n");
    }
    text
}

fn longer_than(tree: &Tree, limit: usize, advice: &str) -> Vec<Finding> {
    tree.rust_files()
        .map(|file| (file, code_lines(file)))
        .filter(|(_, lines)| *lines > limit)
        .map(|(file, lines)| {
            file.finding(lines, format!("{lines} lines, tests apart, where {limit} are many; {advice}"))
        })
        .collect()
}

/// Lines before the file's own tests; none in a file of tests.
fn code_lines(file: &File) -> usize {
    if file.path.contains("/tests/") || file.name() == "tests.rs" {
        return 0;
    }
    let lines: Vec<_> = file.text.lines().collect();
    let opens_tests =
        |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{');
    lines.windows(2).position(opens_tests).unwrap_or(lines.len())
}

fn lines_with<'a>(
    files: impl Iterator<Item = &'a File>,
    matches: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&'a File, usize)> {
    files.flat_map(move |file| {
        let numbers: Vec<_> = file.lines().filter(|(_, line)| matches(line)).map(|(number, _)| number).collect();
        numbers.into_iter().map(move |number| (file, number))
    })
}

/// Whether an absolute path in the line begins with `folder`.
fn names_path(line: &str, folder: &str) -> bool {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~' | '$' | '}');
    line.match_indices(folder).any(|(at, _)| !line[..at].ends_with(is_path))
}

#[cfg(test)]
mod tests {
    use super::super::tree::{made_up, printed};
    use super::*;

    #[test]
    fn a_file_without_its_sentence_is_found() {
        let tree = made_up(&[("crates/a/src/lib.rs", "use x;\n"), ("crates/a/src/b.rs", "//! Keeps b.\n")]);
        assert_eq!(
            printed(&files_say_what_they_are_for(&tree)),
            ["crates/a/src/lib.rs:1: a file opens with `//!` and what it is for"]
        );
    }

    #[test]
    fn a_long_file_is_found_and_its_tests_do_not_count() {
        let long = "x\n".repeat(801);
        let half = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(400), "x\n".repeat(900));
        let warned = "x\n".repeat(601);
        let tree = made_up(&[
            ("crates/a/src/half.rs", &half),
            ("crates/a/src/long.rs", &long),
            ("crates/a/src/warned.rs", &warned),
            ("crates/a/tests/it/main.rs", &long),
        ]);
        assert_eq!(
            printed(&files_stay_short(&tree)),
            ["crates/a/src/long.rs:801: 801 lines, tests apart, where 800 are many; split it"]
        );
        assert_eq!(long_files(&tree).len(), 2);
    }

    #[test]
    fn a_module_file_without_a_name_is_found() {
        let tree = made_up(&[("crates/a/src/b/mod.rs", "//! B.\n")]);
        assert_eq!(
            printed(&modules_have_their_own_names(&tree)),
            ["crates/a/src/b/mod.rs:1: a module lies in `name.rs` beside `name/`"]
        );
    }

    #[test]
    fn a_left_over_is_found_in_code_and_not_in_prose() {
        let text = format!("one\n// {LEFT_OVER} later\n");
        let tree = made_up(&[("web/src/main.tsx", &text), ("CONTRIBUTING.md", &text)]);
        let findings = nothing_is_left_to_fix(&tree);
        assert_eq!(findings.iter().map(|f| (f.path.as_str(), f.line)).collect::<Vec<_>>(), [("web/src/main.tsx", 2)]);
    }

    #[test]
    fn a_path_of_a_machine_is_found() {
        let users = format!("see {}ada/x\n", MACHINE_FOLDERS[1]);
        let tree = made_up(&[
            ("README.md", "cd /made/up\n"),
            ("docs/a.md", &users),
            ("docs/b.md", "was/made/up and $HOME/made/up and /home/ada are fine\n"),
        ]);
        assert_eq!(
            printed(&no_path_of_this_machine(&tree)),
            ["README.md:1: names a path of somebody's machine", "docs/a.md:1: names a path of somebody's machine",]
        );
    }

    #[test]
    fn a_second_writer_of_the_log_is_found() {
        let one = "//! A.\nstore: Arc<dyn Store>,\n#[cfg(test)]\nmod tests {\nstore: Arc<dyn Store>,\n}\n";
        let tree = made_up(&[
            ("crates/engine/src/journal.rs", one),
            ("crates/engine/src/one.rs", one),
            ("crates/engine/tests/it/one.rs", one),
            ("crates/server/src/two.rs", "//! A.\nstore: &dyn Reader,\nstore::Append::purge(store, id);\n"),
            ("crates/store/src/restore.rs", one),
            (
                "crates/throughline/src/three.rs",
                "//! A.\nuse store::prelude::*;\nuse store::{Append as _, SqliteStore};\n",
            ),
        ]);
        assert_eq!(
            printed(&one_place_appends(&tree)),
            [
                "crates/engine/src/one.rs:2: only crates/engine/src/journal.rs can append; take a `Reader`",
                "crates/server/src/two.rs:3: only crates/engine/src/journal.rs can append; take a `Reader`",
                "crates/throughline/src/three.rs:2: only crates/engine/src/journal.rs can append; take a `Reader`",
                "crates/throughline/src/three.rs:3: only crates/engine/src/journal.rs can append; take a `Reader`",
            ]
        );
    }

    #[test]
    fn a_wide_trait_is_found() {
        let methods = |count: usize| "    /// Asks.\n    async fn ask(\n        &self,\n    );\n".repeat(count);
        let text = format!(
            "//! A.\npub trait Narrow {{\n{}}}\n\npub(crate) trait Wide: Send {{\n{}}}\nimpl Wide for A {{\n{}}}\n",
            methods(10),
            methods(11),
            methods(11)
        );
        let tree = made_up(&[("crates/a/src/lib.rs", &text)]);
        assert_eq!(
            printed(&traits_are_narrow(&tree)),
            ["crates/a/src/lib.rs:45: a trait of 11 methods, where 10 are many; split it"]
        );
    }

    #[test]
    fn a_second_way_out_is_found() {
        let connects = "//! A.\nlet stream = TcpStream::connect(address).await?;\n";
        let tree = made_up(&[
            ("crates/agents/src/outbound.rs", connects),
            ("crates/agents/src/guide/mcp.rs", "//! A.\nlet client = reqwest::Client::builder().build()?;\n"),
            ("crates/server/src/fetch.rs", connects),
            ("crates/server/tests/it/fetch.rs", connects),
            ("xtask/src/kills.rs", connects),
        ]);
        assert_eq!(
            printed(&one_way_out(&tree)),
            [
                "crates/agents/src/guide/mcp.rs:2: only crates/agents/src/outbound.rs connects to servers of others",
                "crates/server/src/fetch.rs:2: only crates/agents/src/outbound.rs connects to servers of others",
            ]
        );
    }

    #[test]
    fn what_is_called_unreachable_at_the_doors_is_found() {
        let text = "//! A.\n_ => unreachable!(\"never\"),\n#[cfg(test)]\nmod tests {\nunreachable!();\n}\n";
        let tree = made_up(&[
            ("crates/doors/src/framing.rs", text),
            ("crates/server/src/mcp.rs", text),
            ("crates/engine/src/work.rs", text),
        ]);
        assert_eq!(
            printed(&nothing_at_the_doors_is_called_unreachable(&tree)),
            [
                "crates/doors/src/framing.rs:2: let the types say that this can not be",
                "crates/server/src/mcp.rs:2: let the types say that this can not be",
            ]
        );
    }

    #[test]
    fn lines_are_counted_per_crate() {
        let tree = made_up(&[
            ("crates/model/src/lib.rs", "//! A.\n#[cfg(test)]\nmod tests;\nfn a() {}\n#[cfg(test)]\nmod own {\n}\n"),
            ("crates/model/src/tests.rs", "//! T.\n"),
            ("xtask/src/main.rs", "//! X.\n"),
        ]);
        assert_eq!(
            lines_per_crate(&tree),
            "crate         lines  tests\nmodel             4      4\nxtask             1      0\n"
        );
    }

    #[test]
    fn a_public_name_is_found_in_a_second_crate_and_not_on_the_wire() {
        let tree = made_up(&[
            ("crates/agents/src/lib.rs", "#[cfg(test)]\nmod tests;\npub struct Limits {}\npub enum Own {}\n"),
            (
                "crates/doors/src/lib.rs",
                "    pub enum Limits<T> {}\nstruct Own;\n#[cfg(test)]\nmod t {\npub struct Own;\n}\n",
            ),
            ("crates/server/src/wire/limits.rs", "pub struct Limits {}\n"),
        ]);
        let found: Vec<_> = public_names_mean_one_thing(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["crates/doors/src/lib.rs:1: agents has a `Limits` too; say which one it is"]);
    }
}
