//! Tests `throughline skill`: skills are listed, shown and installed, without touching what somebody changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Folder, Ran};

const NEXT: &str = "references/next.md";

/// All files below a folder, by their paths there.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The state of each file, by skill and path.
fn states(ran: &Ran) -> Vec<String> {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|err| panic!("{err}: {ran:?}"));
    let installed = report["installed"].as_array().unwrap();
    let states = installed.iter().flat_map(|one| {
        let file = |file: &Value| format!("{} {} {}", one["skill"], file["path"], file["state"]).replace('"', "");
        one["files"].as_array().unwrap().iter().map(file).collect::<Vec<_>>()
    });
    states.collect()
}

#[test]
fn skills_are_listed_and_shown_without_a_server() {
    let folder = Folder::new();
    let listed = folder.run(&["skill"]).ok();
    for word in ["throughline\n", "pipeline\n", "throughline/references/next.md", "skill install"] {
        assert!(listed.contains(word), "{word}: {listed}");
    }
    let json: Value = serde_json::from_str(&folder.run(&["skill", "--json"]).ok()).unwrap();
    assert_eq!(json["skills"][1]["name"], "pipeline");
    assert_eq!(json["skills"][0]["files"][1], NEXT);

    let shown = folder.run(&["skill", "show", "throughline"]).ok();
    assert!(shown.starts_with("---\nname: throughline\ndescription: "), "{shown}");
    let shown = folder.run(&["skill", "show", "throughline/references/next.md"]).ok();
    assert!(shown.starts_with("# throughline:next\n"), "{shown}");
    let json: Value = serde_json::from_str(&folder.run(&["skill", "show", "pipeline", "--json"]).ok()).unwrap();
    assert_eq!((&json["skill"], &json["path"]), (&"pipeline".into(), &"SKILL.md".into()));

    let none = folder.run(&["skill", "show", "looms"]).failed();
    assert_eq!(none, "error: there is no skill \"looms\"; there are throughline and pipeline\n");
    let none = folder.run(&["skill", "show", "throughline/../pipeline/SKILL.md"]).failed();
    assert!(none.contains("has no file") && none.contains("references/next.md"), "{none}");
    let none = folder.run(&["skill", "install", "looms"]).failed();
    assert!(none.contains("there are throughline and pipeline"), "{none}");
    assert_eq!(folder.run(&["skill", "install", "--agent", "vi"]).code, Some(2));
    assert_eq!(folder.run(&["skill", "install", "--user", "--project"]).code, Some(2));
    assert!(!folder.data().exists() && files(&folder.home()).is_empty());
}

#[test]
fn they_are_put_where_agents_look_once() {
    let folder = Folder::new();
    let dry = folder.run(&["skill", "install", "--dry-run"]).ok();
    assert!(dry.contains("would be") && files(&folder.home()).is_empty(), "{dry}");

    let said = folder.run(&["skill", "install"]).ok();
    let claude = folder.home().join(".claude/skills/throughline");
    assert!(said.starts_with(&format!("{}, for claude\n  new        SKILL.md\n", claude.display())), "{said}");
    assert!(said.contains("/.agents/skills/pipeline, for codex, copilot, gemini, goose, kimi, opencode\n"), "{said}");
    let there = files(&folder.home());
    assert_eq!(there.len(), 2 * (5 + 6 + 1 + 2), "{there:?}");
    for place in [".claude", ".agents"] {
        let next = fs::read_to_string(folder.home().join(place).join("skills/throughline").join(NEXT)).unwrap();
        assert_eq!(next, folder.run(&["skill", "show", "throughline/references/next.md"]).ok());
    }

    let again = folder.run(&["skill", "install"]).ok();
    assert!(again.contains("  unchanged  references/next.md\n"), "{again}");
    assert!(again.ends_with("Everything is there already.\n") && !again.contains("new "), "{again}");
    assert_eq!(files(&folder.home()), there, "nothing is left over");
}

#[test]
fn a_project_and_one_agent_can_be_chosen() {
    let mut folder = Folder::new();
    fs::create_dir(folder.work().join(".git")).unwrap();
    let deep = folder.work().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    folder.stand_in(deep);
    folder.run(&["skill", "install", "pipeline", "--project", "--agent", "qwen", "--agent", "codex"]).ok();
    let there = files(&folder.work());
    assert!(there.contains(&".qwen/skills/pipeline/phases/build.md".to_owned()), "{there:?}");
    assert!(there.contains(&".agents/skills/pipeline/SKILL.md".to_owned()), "{there:?}");
    assert!(!there.iter().any(|path| path.contains("throughline/")), "{there:?}");
    assert!(files(&folder.home()).is_empty());
}

#[test]
fn what_somebody_changed_is_kept_unless_forced() {
    let folder = Folder::new();
    let install = |more: &[&str]| {
        let args = [&["skill", "install", "throughline", "--agent", "claude", "--json"], more].concat();
        folder.run(&args)
    };
    install(&[]).ok();
    let skill = folder.home().join(".claude/skills/throughline");
    let (mine, gone, older) = (skill.join("SKILL.md"), skill.join("references/tasks.md"), skill.join(NEXT));
    let ours = fs::read_to_string(&mine).unwrap();
    fs::write(&mine, "my own words").unwrap();
    fs::remove_file(&gone).unwrap();
    // As an earlier version would have left it: with its own digest in the record.
    fs::write(&older, "what was written before").unwrap();
    let record = skill.join(".throughline-skill.json");
    let mut digests: Value = serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
    digests[NEXT] = "e5a3d7f0c1e87bd9cbe8bcbf0d7b9e90bb0d8ec5c1e0b5cbf2d4a3c7c1b1d0aa".into();
    fs::write(&record, digests.to_string()).unwrap();
    let told = install(&["--dry-run"]);
    assert!(states(&told).contains(&"throughline references/next.md kept".to_owned()), "{told:?}");
    digests[NEXT] = sha256("what was written before").into();
    fs::write(&record, digests.to_string()).unwrap();

    let told = install(&[]);
    assert_eq!(told.code, Some(1));
    assert!(told.stderr.contains("1 file was changed and is kept") && told.stderr.contains("--force"), "{told:?}");
    let expected = [
        "throughline SKILL.md kept",
        "throughline references/next.md updated",
        "throughline references/usecase.md unchanged",
        "throughline references/eventmodel.md unchanged",
        "throughline references/tasks.md new",
    ];
    assert_eq!(states(&told), expected);
    assert_eq!(fs::read_to_string(&mine).unwrap(), "my own words");
    assert!(fs::read_to_string(&older).unwrap().starts_with("# throughline:next"));

    // Still not ours, though it was found once.
    assert_eq!(states(&install(&[]))[0], "throughline SKILL.md kept");
    let forced = install(&["--force"]);
    assert_eq!((forced.code, &*states(&forced)[0]), (Some(0), "throughline SKILL.md replaced"));
    assert_eq!(fs::read_to_string(&mine).unwrap(), ours);
    assert!(states(&install(&[])).iter().all(|state| state.ends_with(" unchanged")));

    // Without the record nothing counts as ours, but an identical file is unchanged.
    fs::remove_file(&record).unwrap();
    fs::write(&older, "what was written before").unwrap();
    assert_eq!(states(&install(&[]))[1], "throughline references/next.md kept");
}

#[test]
fn a_persons_own_links_are_followed_and_a_projects_are_not() {
    let folder = Folder::new();
    let elsewhere = folder.home().join("dotfiles/claude");
    fs::create_dir_all(&elsewhere).unwrap();
    symlink(&elsewhere, folder.home().join(".claude")).unwrap();
    folder.run(&["skill", "install", "throughline", "--agent", "claude"]).ok();
    assert!(elsewhere.join("skills/throughline").join(NEXT).is_file());

    let trap: PathBuf = folder.home().join("trap");
    fs::create_dir(&trap).unwrap();
    symlink(&trap, folder.work().join(".agents")).unwrap();
    let refused = folder.run(&["skill", "install", "--project", "--agent", "codex"]).failed();
    assert!(refused.contains("can not be used") && refused.contains(".agents/skills"), "{refused}");
    assert!(files(&trap).is_empty());

    let moved = Folder::new().with_env("CLAUDE_CONFIG_DIR", elsewhere.to_str().unwrap());
    fs::remove_dir_all(elsewhere.join("skills")).unwrap();
    moved.run(&["skill", "install", "pipeline", "--agent", "claude"]).ok();
    assert!(elsewhere.join("skills/pipeline/SKILL.md").is_file() && files(&moved.home()).is_empty());
}

fn sha256(text: &str) -> String {
    use sha2::Digest as _;
    format!("{:x}", sha2::Sha256::digest(text))
}
