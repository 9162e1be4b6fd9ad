//! A session that goes from agent to agent, by rules, and out of a directory that is gone.

use std::fs;

use serde_json::Value;

use crate::support::Folder;

#[test]
fn another_agent_takes_over_is_told_and_goes_on_where_the_directory_is_gone() {
    let folder = Folder::new();
    folder.run(&["list"]).ok();
    let program = env!("CARGO_BIN_EXE_throughline");
    let config = format!(
        "[agents.second]\ncommand = {program:?}\nargs = [\"guide\"]\n\n[permissions]\nrules = {{ \"guide.execute\" = \"allow\" }}\n"
    );
    fs::write(folder.file("config.toml"), config).unwrap();
    let (project, inside) = (folder.work().join("project"), folder.work().join("project/inside"));
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::create_dir(&inside).unwrap();

    folder.run(&["new", "--cwd", inside.to_str().unwrap()]).ok();
    assert!(folder.run(&["send", "last", "--json", "run echo by the rule"]).ok().contains("by the rule"));
    folder.run(&["resume", "last", "--agent", "second"]).ok();
    assert_eq!(folder.run(&["send", "last", "say taken over"]).ok(), "taken over\n");
    fs::remove_dir(&inside).unwrap();
    assert_eq!(folder.run(&["send", "last", "say elsewhere"]).ok(), "elsewhere\n");

    let shown = folder.run(&["show", "last", "--json"]).ok();
    let entries: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| -> Vec<&Value> {
        entries.iter().filter(|entry| entry["type"] == kind).map(|entry| &entry["data"]).collect()
    };
    assert_eq!(of("permission.answered")[0]["by"]["rule"], "guide.execute");
    let told = of("resume.sent");
    // The second agent knows nothing; taken up again in another directory it knows its turns.
    assert_eq!((told.len(), &told[0]["turn"], &told[1]["turn"]), (2, &2.into(), &3.into()));
    assert!(!told[1]["text"].as_str().unwrap().contains("person:"), "{told:?}");
    assert!(told[0]["text"].as_str().unwrap().contains("t1 person: run echo by the rule"), "{told:?}");
    let changes = of("session.changed");
    assert_eq!(changes[0]["agent"], "second");
    assert_eq!(changes[1]["cwd"].as_str(), project.to_str());
}
