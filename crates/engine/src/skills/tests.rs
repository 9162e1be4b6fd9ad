//! The texts hold what they promise: agents' folders take them, and every example in them is understood.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::{
    BlockScanner, Card, MAX_BLOCK_BYTES, MAX_BLOCKS, MAX_COMMAND_BYTES, MAX_LABEL_CHARS, Next, SessionEvent, Turn,
    work_name,
};
use serde_json::Value;

use super::*;

/// A file is read whole by an agent, so it is a page or two.
const MAX_FILE_BYTES: usize = 8 << 10;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills")
}

/// What a text's blocks are understood as; each of them must be.
fn blocks(text: &str) -> Vec<Block> {
    let mut scanner = BlockScanner::default();
    let mut events = scanner.read(Turn(1), 0, text);
    events.extend(scanner.end());
    let understood: Vec<_> = events
        .into_iter()
        .map(|event| match event {
            SessionEvent::NextOffered { next, .. } => Block::Next(next),
            SessionEvent::BlockShown { card, .. } => Block::Card(card),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(understood.len(), text.matches("\n```throughline:").count(), "{text}");
    understood
}

#[derive(Debug)]
enum Block {
    Next(Next),
    Card(Card),
}

impl Block {
    fn kind(&self) -> &'static str {
        match self {
            Self::Next(_) => "next",
            Self::Card(Card::UseCase { .. }) => "usecase",
            Self::Card(Card::EventModel { .. }) => "eventmodel",
            Self::Card(Card::Tasks { .. }) => "tasks",
        }
    }
}

/// All that is written in a block has a meaning: what is understood of it says it all again.
fn check_whole(text: &str, block: &Block) {
    let told = match block {
        Block::Next(next) => serde_json::to_value(next),
        Block::Card(card) => serde_json::to_value(card),
    };
    let told = strings(&told.unwrap());
    let bodies = text.split("\n```throughline:").skip(1).filter_map(|rest| rest.split_once('\n'));
    let bodies = bodies.filter(|(kind, _)| *kind == block.kind()).map(|(_, rest)| rest.split_once("\n```").unwrap().0);
    let written: Vec<_> = bodies.map(|body| strings(&serde_json::from_str(body).unwrap())).collect();
    assert!(written.iter().any(|written| written.is_subset(&told)), "{written:?} is not all in {told:?}");
}

/// The strings in a value, and the names of an object's fields that are not our own.
fn strings(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => BTreeSet::from([text.clone()]),
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => BTreeSet::new(),
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
fn every_example_is_understood_with_all_that_is_in_it() {
    let mut seen = BTreeSet::new();
    for file in SKILLS.iter().flat_map(|skill| skill.files) {
        for block in blocks(file.text) {
            check_whole(file.text, &block);
            seen.insert(block.kind());
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["eventmodel", "next", "tasks", "usecase"]);
    for kind in ["next", "usecase", "eventmodel", "tasks"] {
        let file = SKILLS[0].find_file(&format!("references/{kind}.md")).unwrap();
        assert_eq!(blocks(file.text).iter().map(Block::kind).collect::<Vec<_>>(), [kind]);
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
        let Some(Block::Next(next)) = blocks.last() else { panic!("{phase}: {blocks:?}") };
        // The last one goes on with itself, wave by wave.
        let following = phases.get(nth + 1).unwrap_or(phase);
        let begins = format!("Use the pipeline skill: phase {following} of the work NAME");
        assert!(next.command.starts_with(&begins), "{phase}: {next:?}");
        assert_eq!(next.meta_context.as_deref(), Some("NAME"));
        let others: Vec<_> = blocks[..blocks.len() - 1].iter().map(Block::kind).collect();
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
