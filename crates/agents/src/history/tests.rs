//! Tests the reading of real transcripts, and of growing, broken and foreign ones.

mod broken;
mod databases;
mod growing;
mod places;
mod real;
mod text;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/history")
}

/// Where the tools would have left the fixtures; the databases are made in `databases`.
fn fixture_places(databases: &Path) -> Places {
    let fixtures = fixtures();
    Places {
        claude: Some(fixtures.join("claude")),
        codex: Some(fixtures.join("codex")),
        opencode: Some(databases.join("opencode.db")),
        gemini: Some(fixtures.join("gemini")),
        goose: Some(databases.to_owned()),
        qwen: Some(fixtures.join("qwen")),
        kimi: Some(fixtures.join("kimi")),
        copilot: Some(fixtures.join("copilot")),
        ..Places::below(fixtures.join("nobody"))
    }
}

/// A fixture that is a file of its own.
fn fixture(id: &str) -> FoundConversation {
    let found = find(&fixture_places(Path::new("/nowhere")));
    found.into_iter().find(|found| found.id == id).unwrap_or_else(|| panic!("no fixture {id}"))
}

/// Writes a transcript of Claude Code with this content, in a folder of its own.
fn transcript(folder: &Path, content: &[u8]) -> FoundConversation {
    let path = folder.join("transcript.jsonl");
    fs::write(&path, content).unwrap();
    let modified_at = model::Timestamp::from_millis(0);
    FoundConversation {
        tool: Tool::ClaudeCode,
        id: "transcript".to_owned(),
        path,
        bytes: content.len() as u64,
        modified_at,
    }
}

fn all_of(found: &FoundConversation, after: Option<&Bookmark>, last_turn: LastTurn) -> (Vec<HistoryItem>, Reading) {
    let mut items = Vec::new();
    let mut sink = |next| {
        items.push(next);
        ControlFlow::Continue(())
    };
    let reading = read(found, after, last_turn, &HistoryLimits::default(), &mut sink).unwrap();
    (items, reading)
}

fn user(second: u32, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"user","timestamp":"2026-01-02T03:04:{second:02}.000Z","cwd":"/p","message":{{"role":"user","content":{text}}}}}"#
    ) + "\n"
}

fn assistant(second: u32, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"assistant","timestamp":"2026-01-02T03:04:{second:02}.000Z","message":{{"role":"assistant","model":"m","content":[{{"type":"text","text":{text}}}],"stop_reason":"end_turn"}}}}"#
    ) + "\n"
}
