//! Tests which transcripts are found.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn the_tools_own_variables_lead_to_theirs() {
    let folder = tempfile::tempdir().unwrap();
    databases::make_all(folder.path());
    let found = find(&fixture_places(folder.path()));
    let mut ids: Vec<_> = found.iter().map(|found| format!("{} {}", found.tool.agent_name(), found.id)).collect();
    ids.sort();
    insta::assert_snapshot!(ids.join("\n"), @r"
    claude 8bb9c8c8-24e5-4ce6-8887-1bfd4b07b72f
    claude 9bf7a1e5-6ce6-452b-a8f6-5a3bacacc4ed
    codex 01a1df90-f63e-7fe0-bef3-a46f7c3fe702
    codex 01a1dfc0-f0ed-74c2-b2e8-61960323327d
    copilot d9423301-b8d5-494d-b733-b79c04976ddc
    gemini bcd70fdf-21e9-4aa7-83b9-686209859ef0
    goose 20260102_1
    goose 20261115_1
    goose 20261115_2
    kimi session_a6f1958c-91f8-410e-85d3-db76ba7160e8
    opencode ses_e2034156fffejsB6VF339FBf1c
    opencode ses_e206ee9ddffe2khWng34nbMiSW
    qwen 36f45fd9-4252-4220-99dd-235a28ceefc0
    ");
    assert!(found.iter().all(|found| found.modified_at.as_millis() > 1_700_000_000_000));
}

#[test]
fn links_and_other_files_are_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let project = home.path().join(".claude/projects/-p");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("a.jsonl"), "x").unwrap();
    fs::write(project.join("agent-b.jsonl"), "x").unwrap();
    fs::write(project.join("c.txt"), "x").unwrap();
    fs::create_dir(project.join("d.jsonl")).unwrap();
    fs::write(outside.path().join("e.jsonl"), "x").unwrap();
    symlink(outside.path().join("e.jsonl"), project.join("e.jsonl")).unwrap();
    symlink(outside.path(), project.parent().unwrap().join("-q")).unwrap();
    // A record deeper than its session's folder.
    fs::create_dir_all(outside.path().join("main")).unwrap();
    fs::write(outside.path().join("main/wire.jsonl"), "x").unwrap();
    let kimi = home.path().join(".kimi-code/sessions/p/session_f");
    fs::create_dir_all(&kimi).unwrap();
    symlink(outside.path(), kimi.join("agents")).unwrap();
    let found = find(&Places::below(home.path().to_owned()));
    let ids: Vec<_> = found.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(ids, ["a"]);

    let linked = FoundConversation { path: project.join("e.jsonl"), ..found[0].clone() };
    let read = read(&linked, None, LastTurn::Emit, &HistoryLimits::default(), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(read, Err(HistoryError::Read(_))));
}
