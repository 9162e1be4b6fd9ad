//! `cargo xtask tidy`: the rules of the project that neither compiler nor linter knows, each a function over its
//! files.
//!
//! Invariant: a rule reads nothing but the [`Tree`], so that a test can give it a small made-up one.

mod arrows;
mod behaviours;
mod decisions;
mod dependencies;
mod guarantees;
mod locks;
mod migrations;
mod sources;
mod tree;

use std::fmt;

use anyhow::bail;

use crate::workspace::{self, Metadata};

use tree::Tree;

const RULES: [fn(&Tree) -> Vec<Finding>; 20] = [
    arrows::dependencies_follow_the_arrows,
    arrows::each_technology_is_known_where_it_belongs,
    sources::files_say_what_they_are_for,
    sources::files_stay_short,
    sources::modules_have_their_own_names,
    sources::nothing_is_left_to_fix,
    sources::no_path_of_this_machine,
    sources::one_place_appends,
    sources::traits_are_narrow,
    sources::public_names_mean_one_thing,
    sources::one_way_out,
    sources::nothing_at_the_doors_is_called_unreachable,
    migrations::released_ones_are_unchanged,
    locks::npm_lock_names_no_host,
    locks::cargo_lock_has_one_source,
    locks::no_setting_names_a_registry,
    decisions::numbers_have_no_gap,
    dependencies::each_is_explained,
    guarantees::each_promise_has_its_test,
    behaviours::each_behaviour_has_its_test,
];

/// A violation to fix.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

pub(crate) fn run() -> anyhow::Result<()> {
    let tree = Tree::read(workspace::root(), Metadata::read()?)?;
    for warning in sources::long_files(&tree) {
        println!("{warning}");
    }
    print!("{}", sources::lines_per_crate(&tree));
    let findings = findings(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy: {} to put right", findings.len());
    }
    Ok(())
}

fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<_> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_tidy() {
        let tree = Tree::read(workspace::root(), Metadata::read().unwrap()).unwrap();
        let findings: Vec<_> = findings(&tree).iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "\n{}", findings.join("\n"));
    }
}
