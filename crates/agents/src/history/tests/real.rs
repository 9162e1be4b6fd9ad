//! Snapshots of what is emitted from files that the tools themselves wrote.

use super::text::text_of;
use super::*;

fn check(name: &str, id: &str) {
    let (items, reading) = all_of(&fixture(id), None, LastTurn::Emit);
    insta::assert_snapshot!(name, text_of(&items, &reading));
}

#[test]
fn claude_with_tools_and_a_compaction() {
    check("claude_tools", "8bb9c8c8-24e5-4ce6-8887-1bfd4b07b72f");
}

#[test]
fn claude_with_questions_and_interruptions() {
    check("claude_interrupted", "9bf7a1e5-6ce6-452b-a8f6-5a3bacacc4ed");
}

#[test]
fn codex_with_tools_and_a_picture() {
    check("codex_tools", "01a1dfc0-f0ed-74c2-b2e8-61960323327d");
}

#[test]
fn gemini_with_tools() {
    check("gemini_tools", "bcd70fdf-21e9-4aa7-83b9-686209859ef0");
}

#[test]
fn codex_with_questions_and_interruptions() {
    check("codex_interrupted", "01a1df90-f63e-7fe0-bef3-a46f7c3fe702");
}

#[test]
fn qwen_with_tools_and_a_cancelled_answer() {
    check("qwen_tools", "36f45fd9-4252-4220-99dd-235a28ceefc0");
}

/// The date, which Kimi sends its model in the person's name, is in none of the turns.
#[test]
fn kimi_with_tools_and_a_cancelled_answer() {
    check("kimi_tools", "session_a6f1958c-91f8-410e-85d3-db76ba7160e8");
}

#[test]
fn copilot_with_tools_and_cancelled_answers() {
    check("copilot_tools", "d9423301-b8d5-494d-b733-b79c04976ddc");
}
