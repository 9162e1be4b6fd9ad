//! The texts hold what they promise: agents' folders take them, and every example in them is a valid block.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::{MAX_BLOCK_BYTES, MAX_BLOCKS, MAX_COMMAND_BYTES, MAX_LABEL_CHARS, work_name};
use serde_json::Value;

use super::*;

/// A file is read whole by an agent, so it is a page or two.
const MAX_FILE_BYTES: usize = 8 << 10;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills")
}

/// Every fenced block of ours in a text: its kind, and what is in it.
fn blocks(text: &str) -> Vec<(&str, Value)> {
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```throughline:") else { continue };
        let body: String = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        assert!(body.len() <= MAX_BLOCK_BYTES, "{body}");
        let value = serde_json::from_str(&body).unwrap_or_else(|err| panic!("{kind}: {err}: {body}"));
        found.push((kind, value));
    }
    found
}

fn strings<'a>(value: &'a Value, what: &str) -> Vec<&'a str> {
    let list = value.as_array().unwrap_or_else(|| panic!("{what} is no list: {value}"));
    list.iter().map(|item| item.as_str().unwrap_or_else(|| panic!("{what}: {value}"))).collect()
}

fn keys(value: &Value, known: &[&str]) {
    let unknown: Vec<_> = value.as_object().unwrap().keys().filter(|key| !known.contains(&key.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?} in {value}");
}

fn check_next(value: &Value) {
    keys(value, &["label", "command", "metaContext"]);
    let text = |key: &str| value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"));
    let label = text("label");
    assert!((1..=MAX_LABEL_CHARS).contains(&label.chars().count()) && !label.contains('\n'), "{value}");
    assert_eq!(work_name(text("metaContext")).as_deref(), Some(text("metaContext")));
    assert!((1..=MAX_COMMAND_BYTES).contains(&text("command").len()), "{value}");
}

fn check_usecase(value: &Value) {
    let known = ["id", "name", "actor", "summary", "given", "when", "then", "priority", "dependencies", "edgeCases"];
    keys(value, &known);
    assert!(value["id"].is_string() && value["name"].is_string(), "{value}");
    assert!(["high", "medium", "low"].contains(&value["priority"].as_str().unwrap()), "{value}");
    for key in ["given", "when", "then"] {
        assert!(value[key].is_string() || !strings(&value[key], key).is_empty(), "{value}");
    }
}

fn check_eventmodel(value: &Value) {
    keys(value, &["slice", "label", "screen", "command", "events", "projections", "sideEffects"]);
    assert!(value["slice"].is_string(), "{value}");
    let nodes = ["events", "projections"].into_iter().flat_map(|key| value[key].as_array().unwrap());
    for node in nodes.chain([&value["command"]]) {
        keys(node, &["name", "new", "fields", "feeds"]);
        assert!(node["name"].is_string(), "{value}");
    }
}

fn check_tasks(value: &Value) {
    for task in value.as_array().unwrap() {
        keys(task, &["id", "name", "ucs", "depends", "wave", "kind", "files", "description"]);
        assert!(task["id"].is_string() && task["name"].is_string() && task["wave"].is_u64(), "{task}");
        assert!(["code", "convention", "no-op"].contains(&task["kind"].as_str().unwrap()), "{task}");
        keys(&task["files"], &["create", "modify"]);
        for list in [&task["ucs"], &task["depends"], &task["files"]["create"], &task["files"]["modify"]] {
            strings(list, "a task's list");
        }
    }
}

#[test]
fn every_file_of_the_folder_is_in_the_program_and_is_short() {
    let mut on_disk = BTreeSet::new();
    let mut folders = vec![folder()];
    while let Some(folder_path) = folders.pop() {
        for entry in fs::read_dir(folder_path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                on_disk.insert(path.strip_prefix(folder()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    let mut here = BTreeSet::new();
    for skill in SKILLS {
        assert_eq!(skill.files[0].path, SKILL_FILE);
        for file in skill.files {
            assert!(file.text.len() <= MAX_FILE_BYTES, "{}: {} bytes", file.path, file.text.len());
            assert_ne!(file.title(), file.path, "it has no heading");
            here.insert(format!("{}/{}", skill.name, file.path));
        }
    }
    assert_eq!(here, on_disk);
}

/// What Claude Code, Codex, opencode, Gemini CLI, goose and Copilot ask of a head.
#[test]
fn the_heads_are_what_agents_take() {
    for skill in SKILLS {
        let text = skill.find_file(SKILL_FILE).unwrap().text;
        let (head, _) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        let keys: Vec<_> = head.lines().map(|line| line.split_once(": ").unwrap()).collect();
        assert_eq!(keys, [("name", skill.name), ("description", skill.description())]);
        assert!((1..=1_024).contains(&skill.description().chars().count()), "{}", skill.description());
        // A colon with a space behind it, or one of these in front, would be more than a plain text in YAML.
        assert!(!skill.description().contains(": ") && !skill.description().contains(" #"), "{}", skill.description());
        assert!(skill.description().starts_with(char::is_alphabetic), "{}", skill.description());
        assert!(skill.name.chars().all(|c| c.is_ascii_lowercase()), "{}", skill.name);
    }
}

#[test]
fn links_lead_somewhere() {
    for skill in SKILLS {
        for file in skill.files {
            for link in file.text.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0) {
                assert!(skill.find_file(link).is_some(), "{}/{}: {link}", skill.name, file.path);
            }
        }
    }
}

#[test]
fn every_example_is_a_valid_block() {
    let mut seen = BTreeSet::new();
    for file in SKILLS.iter().flat_map(|skill| skill.files) {
        for (kind, value) in blocks(file.text) {
            match kind {
                "next" => check_next(&value),
                "usecase" => check_usecase(&value),
                "eventmodel" => check_eventmodel(&value),
                "tasks" => check_tasks(&value),
                other => panic!("{}: there is no block {other}", file.path),
            }
            seen.insert(kind);
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["eventmodel", "next", "tasks", "usecase"]);
    for kind in ["next", "usecase", "eventmodel", "tasks"] {
        let file = SKILLS[0].find_file(&format!("references/{kind}.md")).unwrap();
        assert_eq!(blocks(file.text).iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [kind]);
    }
}

/// Each phase ends with the block that begins the one after it, and shows what it is said to show.
#[test]
fn the_pipeline_leads_from_its_first_phase_to_its_last() {
    let pipeline = Skill::find("pipeline").unwrap();
    let phases: Vec<_> = pipeline.files.iter().filter_map(|file| file.path.strip_prefix("phases/")).collect();
    let phases: Vec<_> = phases.iter().map(|phase| phase.strip_suffix(".md").unwrap()).collect();
    assert_eq!(phases, ["research", "requirements", "architecture", "plan", "tasks", "build"]);
    let shown = [("requirements", "usecase"), ("architecture", "eventmodel"), ("tasks", "tasks")];
    for (nth, phase) in phases.iter().enumerate() {
        let text = pipeline.find_file(&format!("phases/{phase}.md")).unwrap().text;
        let blocks = blocks(text);
        let (last, next) = blocks.last().unwrap();
        assert_eq!(*last, "next", "{phase}");
        // The last one goes on with itself, wave by wave.
        let following = phases.get(nth + 1).unwrap_or(phase);
        let begins = format!("Use the pipeline skill: phase {following} of the work NAME");
        assert!(next["command"].as_str().unwrap().starts_with(&begins), "{phase}: {next}");
        assert_eq!(next["metaContext"], "NAME");
        let others: Vec<_> = blocks[..blocks.len() - 1].iter().map(|(kind, _)| *kind).collect();
        let expected: Vec<_> = shown.iter().filter(|(of, _)| of == phase).map(|(_, kind)| *kind).collect();
        assert_eq!(others, expected, "{phase}");
        if *phase != "build" {
            assert!(text.trim_end().ends_with("\n```"), "{phase} does not end with its block");
        }
    }
}

#[test]
fn the_limits_that_are_told_are_those_of_the_blocks() {
    let next = SKILLS[0].find_file("references/next.md").unwrap().text;
    for (field, limit) in [
        ("label", format!("at most {MAX_LABEL_CHARS} characters")),
        ("command", format!("at most {} KiB", MAX_COMMAND_BYTES >> 10)),
        ("metaContext", "at most 200 characters".to_owned()),
    ] {
        let row = next.lines().find(|line| line.starts_with(&format!("| `{field}` "))).unwrap();
        assert!(row.contains(&limit), "{row}");
    }
    assert!(work_name(&"x".repeat(200)).is_some() && work_name(&"x".repeat(201)).is_none());
    let body = format!("body has at most {} KiB", MAX_BLOCK_BYTES >> 10);
    for file in SKILLS[0].files.iter().filter(|file| !file.path.ends_with("next.md")) {
        assert!(file.text.contains(&body), "{}", file.path);
    }
    assert!(SKILLS[0].files[0].text.contains(&format!("at most {MAX_BLOCKS} blocks")));
}
