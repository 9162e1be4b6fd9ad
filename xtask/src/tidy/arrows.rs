//! Which crate may depend on which, and which crates alone may use a technology.

use super::Finding;
use super::tree::{File, Tree};
use crate::workspace::{Dependency, Package};

/// A crate's row of the table: which of our crates it may use.
struct Arrows {
    package: &'static str,
    uses: &'static [&'static str],
    /// What its tests may use besides.
    tests_use: &'static [&'static str],
}

/// The architecture in one table. A crate that is not in it may not exist.
const ARROWS: [Arrows; 12] = [
    Arrows { package: "model", uses: &[], tests_use: &[] },
    Arrows { package: "store", uses: &["model"], tests_use: &[] },
    Arrows { package: "search", uses: &["model"], tests_use: &[] },
    Arrows { package: "files", uses: &[], tests_use: &[] },
    Arrows { package: "agents", uses: &["files", "model"], tests_use: &[] },
    Arrows { package: "doors", uses: &[], tests_use: &[] },
    Arrows { package: "engine", uses: &["agents", "files", "model", "search", "store"], tests_use: &[] },
    Arrows { package: "server", uses: &["doors", "engine", "files", "model"], tests_use: &["agents", "store"] },
    Arrows {
        package: "throughline",
        uses: &["agents", "doors", "engine", "files", "model", "server", "store"],
        tests_use: &[],
    },
    Arrows { package: "xtask", uses: &[], tests_use: &[] },
    Arrows { package: "bench", uses: &["agents", "engine", "model", "search", "store"], tests_use: &[] },
    Arrows { package: "fuzz", uses: &["files", "model"], tests_use: &[] },
];

/// A third-party package that only the named crates of ours may use.
struct Technology {
    package: &'static str,
    known_to: &'static [&'static str],
    /// Crates that may use it in a few files only, with the beginnings of these files' paths.
    confined: &'static [(&'static str, &'static [&'static str])],
}

/// Databases of other tools are read in one file.
const FOREIGN_DATABASES: (&str, &[&str]) =
    ("agents", &["crates/agents/src/history/sqlite.rs", "crates/agents/src/history/tests/"]);

const TECHNOLOGIES: [Technology; 5] = [
    // The bench compares with the bare engines.
    Technology { package: "rusqlite", known_to: &["store", "bench", "agents"], confined: &[FOREIGN_DATABASES] },
    Technology { package: "refinery", known_to: &["store"], confined: &[] },
    Technology { package: "axum", known_to: &["doors", "server"], confined: &[] },
    Technology { package: "tantivy", known_to: &["search", "bench"], confined: &[] },
    Technology { package: "agent-client-protocol", known_to: &["agents"], confined: &[] },
];

pub(super) fn dependencies_follow_the_arrows(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.metadata.packages {
        let Some(arrows) = ARROWS.iter().find(|arrows| arrows.package == package.name) else {
            let message = format!("crate {} is not in the table of xtask/src/tidy/arrows.rs", package.name);
            findings.push(in_manifest(tree, &package.name, "[package]", message));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_some()) {
            let allowed = arrows.uses.contains(&dependency.name.as_str())
                || (is_for_tests(dependency) && arrows.tests_use.contains(&dependency.name.as_str()))
                // A crate's own tests may turn on its features by naming it once more.
                || dependency.name == package.name;
            if !allowed {
                let message = format!("{} may not depend on {}", package.name, dependency.name);
                findings.push(in_manifest(tree, &package.name, &dependency.name, message));
            }
        }
    }
    findings
}

/// Checks the manifests and, because a crate can re-export a technology, the sources too.
pub(super) fn each_technology_is_known_where_it_belongs(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Technology { package: technology, known_to, confined } in &TECHNOLOGIES {
        let forbidden = |owner: &str| !known_to.contains(&owner);
        let strayed = |file: &File| {
            let files = confined.iter().find(|(crate_name, _)| *crate_name == owner(file)).map(|(_, files)| *files);
            files.is_some_and(|files| !files.iter().any(|begins| file.path.starts_with(begins)))
        };
        let message = |owner: &str| format!("{owner} may not know {technology}, only {} may", known_to.join(" and "));
        for Package { name, dependencies } in &tree.metadata.packages {
            if forbidden(name) && dependencies.iter().any(|dependency| dependency.name == *technology) {
                findings.push(in_manifest(tree, name, technology, message(name)));
            }
        }
        let in_code = technology.replace('-', "_");
        for file in tree.rust_files().filter(|file| forbidden(owner(file)) || strayed(file)) {
            for (number, _) in file.lines().filter(|(_, line)| names_crate(line, &in_code)) {
                let message = if strayed(file) {
                    format!("{} may know {technology} only where it is confined to", owner(file))
                } else {
                    message(owner(file))
                };
                findings.push(file.finding(number, message));
            }
        }
    }
    findings
}

fn is_for_tests(dependency: &Dependency) -> bool {
    dependency.kind.as_deref() == Some("dev")
}

/// The crate that a file of ours belongs to.
fn owner(file: &File) -> &str {
    let mut folders = file.path.split('/');
    match (folders.next(), folders.next()) {
        (Some("crates"), Some(owner)) | (Some(owner), _) => owner,
        (None, _) => "",
    }
}

/// Whether code, not a comment, uses the crate: `name::…`, `use name;`, `use name as …`.
fn names_crate(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        // `crate::name::x` and `other::name` are another `name`.
        let stands_alone = !before.ends_with(is_word) && !before.ends_with("::") && !after.starts_with(is_word);
        stands_alone && (after.starts_with("::") || before.trim_end().ends_with("use"))
    })
}

fn in_manifest(tree: &Tree, package: &str, needle: &str, message: String) -> Finding {
    let path = match package {
        "bench" | "xtask" => format!("{package}/Cargo.toml"),
        package => format!("crates/{package}/Cargo.toml"),
    };
    let line = tree
        .find(&path)
        .and_then(|file| file.lines().find(|(_, line)| line.starts_with(needle)).map(|(number, _)| number))
        .unwrap_or(1);
    Finding { path, line, message }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{made_up, printed};
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|(name, kind)| Dependency {
                name: (*name).to_owned(),
                kind: kind.map(str::to_owned),
                path: ARROWS.iter().any(|arrows| arrows.package == *name).then(|| "/made/up".into()),
            })
            .collect();
        Package { name: name.to_owned(), dependencies }
    }

    #[test]
    fn an_arrow_against_the_table_is_found_at_its_line() {
        let mut tree =
            made_up(&[("crates/model/Cargo.toml", "[package]\n[dependencies]\nserde = \"1\"\nstore = {}\n")]);
        tree.metadata.packages = vec![package("model", &[("serde", None), ("store", None)])];
        let findings = dependencies_follow_the_arrows(&tree);
        assert_eq!(printed(&findings), ["crates/model/Cargo.toml:4: model may not depend on store"]);
    }

    #[test]
    fn only_tests_may_use_what_is_listed_for_tests() {
        let mut tree = made_up(&[]);
        tree.metadata.packages = vec![package("server", &[("store", Some("dev")), ("engine", None)])];
        assert_eq!(printed(&dependencies_follow_the_arrows(&tree)), Vec::<String>::new());
        tree.metadata.packages = vec![package("server", &[("store", None)])];
        assert_eq!(
            printed(&dependencies_follow_the_arrows(&tree)),
            ["crates/server/Cargo.toml:1: server may not depend on store"]
        );
    }

    #[test]
    fn a_crate_that_nobody_placed_is_found() {
        let mut tree = made_up(&[]);
        tree.metadata.packages = vec![package("common", &[])];
        assert_eq!(
            printed(&dependencies_follow_the_arrows(&tree)),
            ["crates/common/Cargo.toml:1: crate common is not in the table of xtask/src/tidy/arrows.rs"]
        );
    }

    #[test]
    fn a_technology_is_found_outside_its_crate_in_manifest_and_source() {
        let source = format!("//! About {0}.\n// {0}::Connection is not for us.\nuse {0}::Connection;\n", "rusqlite");
        let mut tree = made_up(&[("crates/engine/src/lib.rs", &source), ("crates/store/src/lib.rs", &source)]);
        tree.metadata.packages =
            vec![package("engine", &[("rusqlite", None)]), package("store", &[("rusqlite", None)])];
        assert_eq!(
            printed(&each_technology_is_known_where_it_belongs(&tree)),
            [
                "crates/engine/Cargo.toml:1: engine may not know rusqlite, only store and bench and agents may",
                "crates/engine/src/lib.rs:3: engine may not know rusqlite, only store and bench and agents may",
            ]
        );
    }

    #[test]
    fn a_confined_technology_is_found_where_it_strayed() {
        let source = format!("//! About it.\nuse {}::Connection;\n", "rusqlite");
        let mut tree = made_up(&[
            ("crates/agents/src/history/sqlite.rs", &source),
            ("crates/agents/src/history/goose.rs", &source),
        ]);
        tree.metadata.packages = vec![package("agents", &[("rusqlite", None)])];
        assert_eq!(
            printed(&each_technology_is_known_where_it_belongs(&tree)),
            ["crates/agents/src/history/goose.rs:2: agents may know rusqlite only where it is confined to"]
        );
    }

    #[test]
    fn a_name_inside_another_name_is_not_a_use() {
        for line in ["let loom_like = 1;", "use crate::loom::Router;", "spare_loom::router()", "// loom::serve"] {
            assert!(!names_crate(line, "loom"), "{line}");
        }
        for line in ["loom::serve(listener)", "use loom;", "use loom as web;", "(loom::sync::Arc::new(1))"] {
            assert!(names_crate(line, "loom"), "{line}");
        }
    }
}
