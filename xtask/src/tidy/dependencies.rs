//! Checks that each third-party package is named in backticks on a page of `docs/decisions/`, with the reason.

use std::collections::BTreeSet;

use super::Finding;
use super::decisions;
use super::tree::{File, Tree};

pub(super) fn each_is_explained(tree: &Tree) -> Vec<Finding> {
    let explained: BTreeSet<&str> =
        decisions::pages(tree).flat_map(|page| page.text.split('`').skip(1).step_by(2)).collect();
    let mut findings = Vec::new();
    for file in &tree.files {
        let named = match file.path.as_str() {
            path if path.ends_with("/package.json") => npm_packages(file),
            path if path.ends_with("Cargo.toml") => crates(file),
            _ => continue,
        };
        for (line, name) in named.into_iter().filter(|(_, name)| !explained.contains(name)) {
            findings.push(file.finding(line, format!("no page of {} says why `{name}` is used", decisions::FOLDER)));
        }
    }
    findings
}

/// The third-party packages of a manifest. Those from the workspace are explained there.
fn crates(manifest: &File) -> Vec<(usize, &str)> {
    let mut in_dependencies = false;
    let mut found = Vec::new();
    for (number, line) in manifest.lines() {
        if line.starts_with('[') {
            in_dependencies = line.trim_end().ends_with("dependencies]");
        } else if in_dependencies
            && !line.starts_with('#')
            && let Some((name, value)) = line.split_once('=')
            && !value.contains("path =")
            && !value.contains("workspace =")
            && !name.trim_end().ends_with(".workspace")
        {
            found.push((number, name.trim()));
        }
    }
    found
}

/// Both kinds of dependencies. The file is read by lines, as npm writes it, to know the line of each.
fn npm_packages(manifest: &File) -> Vec<(usize, &str)> {
    let mut in_dependencies = false;
    let mut found = Vec::new();
    for (number, line) in manifest.lines() {
        let line = line.trim();
        if line.ends_with('{') {
            in_dependencies = line.starts_with("\"dependencies\"") || line.starts_with("\"devDependencies\"");
        } else if line.starts_with('}') {
            in_dependencies = false;
        } else if in_dependencies && let Some((name, _)) = line.trim_start_matches('"').split_once('"') {
            found.push((number, name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tree::{made_up, printed};
    use super::*;

    const PAGE: (&str, &str) = ("docs/decisions/0001-a.md", "- `serde`: names stay ours.\n- `react`: the page.\n");

    #[test]
    fn an_unexplained_crate_is_found_at_its_line() {
        let root = "[workspace]\n\n[workspace.dependencies]\nmodel = { path = \"crates/model\" }\n# why\nserde = \"1\"\nrand = \"1\"\n\n[profile.dev]\ndebug = 1\n";
        let member = "[dependencies]\nserde = { workspace = true }\nserde.workspace = true\nserde_json = \"1\"\n";
        let tree = made_up(&[PAGE, ("Cargo.toml", root), ("crates/model/Cargo.toml", member)]);
        assert_eq!(
            printed(&each_is_explained(&tree)),
            [
                "Cargo.toml:7: no page of docs/decisions/ says why `rand` is used",
                "crates/model/Cargo.toml:4: no page of docs/decisions/ says why `serde_json` is used",
            ]
        );
    }

    #[test]
    fn an_unexplained_npm_package_is_found_at_its_line() {
        let manifest = r#"{
  "name": "page",
  "scripts": {
    "test": "vitest"
  },
  "dependencies": {
    "react": "19"
  },
  "devDependencies": {
    "@x/left-pad": "1"
  },
  "overrides": {
    "rolldown": "1"
  }
}
"#;
        let tree = made_up(&[PAGE, ("web/package.json", manifest)]);
        assert_eq!(
            printed(&each_is_explained(&tree)),
            ["web/package.json:10: no page of docs/decisions/ says why `@x/left-pad` is used"]
        );
    }
}
