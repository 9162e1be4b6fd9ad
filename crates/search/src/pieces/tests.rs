//! What entries become.

use model::{
    Author, InteractionId, Location, Outcome as TurnOutcome, Stop, TitleMaker, ToolContent, ToolKind, ToolStatus,
};
use serde_json::json;

use super::*;

fn session() -> SessionId {
    SessionId::from_bytes([7; 16])
}

/// Numbers events as a session's entries, a second apart.
fn entries(events: Vec<SessionEvent>) -> Vec<Entry> {
    let number = |(seq, event): (u64, SessionEvent)| Entry {
        seq: Seq(seq),
        at: Timestamp::from_millis(seq as i64 * 1_000),
        event,
    };
    (1..).zip(events).map(number).collect()
}

fn fold(events: Vec<SessionEvent>) -> Vec<Piece> {
    let mut pieces = Pieces::new(session());
    entries(events).iter().flat_map(|entry| pieces.apply(entry)).collect()
}

fn shape(piece: &Piece) -> String {
    let Piece { turn, role, number, first_seq, last_seq, text, .. } = piece;
    format!("{turn} {} {number} {first_seq}-{last_seq} {:?}", role.as_str(), text)
}

fn started(turn: u32) -> SessionEvent {
    SessionEvent::TurnStarted { turn: Turn(turn), interaction_id: InteractionId::from_bytes([1; 16]) }
}

fn ended(turn: u32) -> SessionEvent {
    SessionEvent::TurnEnded { turn: Turn(turn), stop: Stop { outcome: TurnOutcome::Completed, reason: None } }
}

fn sent(text: &str) -> SessionEvent {
    let interaction_id = InteractionId::from_bytes([1; 16]);
    SessionEvent::PromptSent { interaction_id, text: text.to_owned(), images: Vec::new(), by: Author::default() }
}

fn said(block: u32, text: &str) -> SessionEvent {
    SessionEvent::TextPart { turn: Turn(1), block, text: text.to_owned() }
}

fn change(status: ToolStatus) -> ToolChange {
    ToolChange { status: Some(status), ..ToolChange::default() }
}

#[test]
fn a_turn_is_its_prompt_its_calls_and_its_words() {
    let call = ToolChange {
        title: Some("Run the tests".into()),
        name: Some("bash".into()),
        kind: Some(ToolKind::Execute),
        input: Some(json!({ "command": "cargo test", "cwd": null })),
        locations: Some(vec![Location { path: "src/main.rs".into(), line: Some(3) }]),
        ..ToolChange::default()
    };
    let terminal =
        ToolContent::Terminal { command: "cargo test".into(), output: "error[E0382]".into(), exit_code: Some(101) };
    let end = ToolChange { content: Some(vec![terminal]), ..change(ToolStatus::Completed) };
    let pieces = fold(vec![
        SessionEvent::SessionCreated {
            agent: "guide".into(),
            cwd: "/w".into(),
            project: "/w".into(),
            name: "Old name".into(),
            work: None,
            from: None,
            options: std::collections::BTreeMap::new(),
        },
        started(1),
        sent("[agent:abc] fix it"),
        said(0, "I will "),
        said(0, "look."),
        SessionEvent::ThoughtPart { turn: Turn(1), block: 1, text: "hm".into() },
        SessionEvent::ToolStarted { turn: Turn(1), tool: 1, call_id: "c".into(), change: call },
        SessionEvent::ToolEnded { turn: Turn(1), tool: 1, change: end },
        said(2, "Done."),
        ended(1),
    ]);
    let shapes: Vec<String> = pieces.iter().map(shape).collect();
    assert_eq!(
        shapes,
        [
            "t0 title 0 1-1 \"Old name\"",
            "t1 prompt 0 3-3 \"[agent:abc] fix it\"",
            "t1 tool 1 7-8 \"Run the tests\\nbash\\ncargo test\\nsrc/main.rs\\ncargo test\\nerror[E0382]\"",
            "t1 answer 0 4-10 \"I will look.\\n\\nDone.\"",
            "t1 thought 0 6-10 \"hm\"",
        ]
    );
    let call = &pieces[2];
    assert_eq!((call.outcome, call.exit), (Some(CallOutcome::Fail), Some(101)));
    assert_eq!((call.tool.as_deref(), &call.files[..]), (Some("bash execute"), &["src/main.rs".to_owned()][..]));
}

#[test]
fn a_long_turn_is_many_pieces_and_little_memory() {
    let line = "some words of a very long answer\n".repeat(125);
    let mut pieces = Pieces::new(session());
    let mut told = Vec::new();
    let mut text = String::new();
    let mut feed = vec![started(1)];
    feed.extend((0..2_000).map(|_| said(0, &line)));
    feed.push(ended(1));
    for entry in entries(feed) {
        for piece in pieces.apply(&entry) {
            assert!(piece.text.len() <= words::CHUNK_BYTES);
            text.push_str(&piece.text);
            told.push(piece);
        }
        let open: usize = pieces.open(entry.at).iter().map(|piece| piece.text.len()).sum();
        assert!(open < words::CHUNK_BYTES);
    }
    assert_eq!(text, line.repeat(2_000));
    assert!(told.windows(2).all(|pair| pair[0].number + 1 == pair[1].number && pair[0].last_seq <= pair[1].first_seq));
}

#[test]
fn of_a_very_long_output_the_beginning_and_the_end_are_kept() {
    let mut feed = vec![
        started(1),
        SessionEvent::ToolStarted { turn: Turn(1), tool: 1, call_id: "c".into(), change: ToolChange::default() },
    ];
    feed.extend((0..3_000).map(|n| SessionEvent::ToolPart {
        turn: Turn(1),
        tool: 1,
        text: format!("line {n} {}\n", "ä".repeat(500)),
        body: None,
    }));
    feed.push(SessionEvent::ToolEnded { turn: Turn(1), tool: 1, change: change(ToolStatus::Completed) });
    let pieces = fold(feed);
    let text = &pieces[0].text;
    assert!(text.len() < 300 << 10, "{}", text.len());
    assert!(text.contains("line 0 ") && text.contains("line 2999 ") && text.contains(" bytes left out …"));
    assert!(!text.contains("line 1500 "));
    assert_eq!(pieces[0].outcome, Some(CallOutcome::Ok));
}

#[test]
fn what_runs_is_open_and_is_told_again_when_it_ends() {
    let mut pieces = Pieces::new(session());
    let feed = entries(vec![
        started(1),
        said(0, "half a sent"),
        SessionEvent::ToolStarted { turn: Turn(1), tool: 1, call_id: "c".into(), change: ToolChange::default() },
        SessionEvent::ToolPart { turn: Turn(1), tool: 1, text: "so far".into(), body: None },
        ended(1),
    ]);
    for entry in &feed[..4] {
        assert_eq!(pieces.apply(entry), []);
    }
    let open: Vec<String> = pieces.open(Timestamp::from_millis(9)).iter().map(shape).collect();
    assert_eq!(open, ["t1 answer 0 2-2 \"half a sent\"", "t1 tool 1 3-3 \"\\nso far\""]);
    let told: Vec<String> = pieces.apply(&feed[4]).iter().map(shape).collect();
    assert_eq!(told, ["t1 answer 0 2-5 \"half a sent\"", "t1 tool 1 3-5 \"\\nso far\""]);
    assert_eq!(pieces.open(Timestamp::from_millis(9)), []);
}

#[test]
fn a_piece_is_made_again_from_its_entries() {
    let feed = entries(vec![
        started(1),
        said(0, "first "),
        SessionEvent::ToolStarted { turn: Turn(1), tool: 1, call_id: "c".into(), change: ToolChange::default() },
        SessionEvent::ToolPart { turn: Turn(1), tool: 1, text: "output".into(), body: None },
        SessionEvent::ToolEnded { turn: Turn(1), tool: 1, change: change(ToolStatus::Failed) },
        said(0, "last"),
        ended(1),
    ]);
    let mut all = Pieces::new(session());
    for piece in feed.iter().flat_map(|entry| all.apply(entry)).collect::<Vec<_>>() {
        let mut again = Pieces::within(session(), piece.turn);
        let range = piece.first_seq..=piece.last_seq;
        let told: Vec<Piece> =
            feed.iter().filter(|entry| range.contains(&entry.seq)).flat_map(|entry| again.apply(entry)).collect();
        assert!(told.contains(&piece), "{}", shape(&piece));
    }
}

#[test]
fn a_diff_is_told_by_the_lines_that_changed() {
    let diff = ToolContent::Diff {
        path: "/w/a.rs".into(),
        old_text: Some("same\nold line\n".into()),
        new_text: "same\nnew line\n".into(),
    };
    let pieces = fold(vec![
        started(1),
        SessionEvent::ToolStarted {
            turn: Turn(1),
            tool: 1,
            call_id: "c".into(),
            change: ToolChange { content: Some(vec![diff]), ..change(ToolStatus::Running) },
        },
        ended(1),
    ]);
    assert_eq!(pieces[0].text, "\n/w/a.rs\n/w/a.rs\nold line\nnew line");
    assert_eq!((pieces[0].outcome, &pieces[0].files[..]), (None, &["/w/a.rs".to_owned()][..]));
}

#[test]
fn a_title_is_found_whoever_made_it() {
    let title =
        |by| SessionEvent::TitleSet { title: "The garden hedge".to_owned(), by, turn: None, interaction_id: None };
    for by in [TitleMaker::Agent, TitleMaker::Model, TitleMaker::Terms] {
        assert_eq!(shape(&fold(vec![title(by)])[0]), "t0 title 0 1-1 \"The garden hedge\"", "{by:?}");
    }
}

#[test]
fn one_very_long_entry_takes_no_more_than_its_own_size() {
    let text = "a word and another, and then a line\n".repeat(400_000);
    let mut pieces = Pieces::new(session());
    let feed = entries(vec![started(1), said(0, &text), said(1, "the last word"), ended(1)]);
    let told: Vec<Piece> = feed.iter().flat_map(|entry| pieces.apply(entry)).collect();
    let held: usize = told.iter().map(|piece| piece.text.capacity()).sum();
    assert!(held < text.len() + text.len() / 8, "{held} bytes are held for {}", text.len());
    let said: String = told.iter().map(|piece| piece.text.as_str()).collect();
    assert!(said == text + "\n\nthe last word");
}

#[test]
fn words_leave_in_the_same_chunks_however_they_came() {
    // Characters of two to four bytes, so that cuts fall inside of them, with and without places to cut at.
    for unit in ["äß€𝄞", "word äß€𝄞 word\n", "𝄞𝄞𝄞 "] {
        let text = unit.repeat(400_000 / unit.len());
        let whole: Vec<&str> = words::chunks(&text).collect();
        for step in [7, 1_000, words::CHUNK_BYTES, words::CHUNK_BYTES * 3 + 1, text.len()] {
            let mut words = Words::default();
            let mut told = Vec::new();
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.ceil_char_boundary(step.min(rest.len())));
                words.push(0, now, Seq(1), |_, _, chunk| told.push(chunk));
                rest = later;
            }
            told.extend(words.so_far().map(|(_, _, _, text)| text.to_owned()));
            assert!(told == whole, "{unit:?} in steps of {step}");
        }
    }
}

#[test]
fn a_diff_of_very_many_lines_is_told_by_what_lies_between_its_ends() {
    let same = "\n".repeat(2_000_000);
    let (old_text, new_text) = (format!("{same}old line\n{same}"), format!("{same}new line\n{same}"));
    let diff = ToolContent::Diff { path: "/w/a.rs".into(), old_text: Some(old_text), new_text };
    let call = ToolChange { content: Some(vec![diff]), ..change(ToolStatus::Running) };
    let begun = SessionEvent::ToolStarted { turn: Turn(1), tool: 1, call_id: "c".into(), change: call };
    assert_eq!(fold(vec![started(1), begun, ended(1)])[0].text, "\n/w/a.rs\n/w/a.rs\nold line\nnew line");
}
