//! The sessions of `fixtures/contents/`: each turn's line, the title after it, and how often both are right.
//!
//! A fixture says in `shifts:` at which turns a new topic begins. The title has to change while that topic lasts, and at no
//! other turn.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use model::{EMPTY_SUMMARY, Turn, TurnLine, extract_summary, first_line, topic_title};

struct Session {
    name: String,
    about: String,
    shifts: Vec<usize>,
    turns: Vec<(String, String)>,
}

/// What the contents of a session came to.
struct Contents {
    summaries: Vec<String>,
    /// The title after each turn.
    titles: Vec<String>,
}

fn sessions() -> Vec<Session> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/contents");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| session(path)).collect()
}

fn session(path: &Path) -> Session {
    let text = fs::read_to_string(path).unwrap();
    let (head, body) = text.split_once("\n>>>\n").unwrap();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    let turns = body.split("\n>>>\n").map(|turn| {
        let (prompt, response) = turn.split_once("\n<<<\n").unwrap();
        (prompt.to_owned(), response.to_owned())
    });
    Session {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        about: field("about:"),
        shifts: field("shifts:").split_whitespace().map(|turn| turn.parse().unwrap()).collect(),
        turns: turns.collect(),
    }
}

fn contents(session: &Session) -> Contents {
    let mut lines: Vec<TurnLine> = Vec::new();
    let mut title = String::new();
    let mut titles = Vec::new();
    for (turn, (prompt, response)) in (1..).zip(&session.turns) {
        lines.push(TurnLine { turn: Turn(turn), summary: extract_summary(prompt, response) });
        if let Some(new) = topic_title(Some(&title), &lines) {
            title = new;
        }
        titles.push(title.clone());
    }
    Contents { summaries: lines.into_iter().map(|line| line.summary).collect(), titles }
}

#[test]
fn a_reader_can_navigate() {
    let mut shown = String::new();
    for session in sessions() {
        let contents = contents(&session);
        writeln!(shown, "# {}: {} [{:?}]", session.name, session.about, session.shifts).unwrap();
        let mut title = "";
        for (at, (prompt, _)) in session.turns.iter().enumerate() {
            if contents.titles[at] != title {
                title = &contents.titles[at];
                writeln!(shown, "   == {title}").unwrap();
            }
            writeln!(shown, "{:>3} {:<60} | {}", at + 1, first_line(prompt, 60), contents.summaries[at]).unwrap();
        }
        shown.push('\n');
    }
    insta::assert_snapshot!(shown);
}

/// Every line has words of its own, and none begins the way people and agents begin.
#[test]
fn no_line_is_empty_or_boilerplate() {
    let openings =
        ["hi ", "hello", "please ", "can you", "could you", "sure", "certainly", "i'll ", "let me", "great question"];
    let mut turns = 0;
    for session in sessions() {
        for (turn, summary) in contents(&session).summaries.iter().enumerate() {
            turns += 1;
            let lower = summary.to_lowercase();
            let bare = openings.iter().find(|opening| lower.starts_with(**opening));
            assert!(summary != EMPTY_SUMMARY && bare.is_none(), "{} turn {}: {summary}", session.name, turn + 1);
            assert!(summary.chars().count() <= 100, "{summary}");
        }
    }
    println!("{turns} turns");
    assert!(turns >= 250, "{turns} turns are too few to say anything");
}

/// The turns at which the title changes, with the turn that the new one was taken from.
fn changes(contents: &Contents) -> Vec<(usize, usize)> {
    let titles = &contents.titles;
    let changed = |turn: &usize| titles[turn - 1] != titles[turn - 2] && !titles[turn - 2].is_empty();
    (2..=titles.len())
        .filter(changed)
        .map(|turn| {
            let title = titles[turn - 1].to_lowercase();
            let source = contents.summaries[..turn].iter().rposition(|line| line.to_lowercase().contains(&title));
            (turn, source.unwrap_or_else(|| panic!("{title} is no turn's")) + 1)
        })
        .collect()
}

#[test]
fn titles_change_with_the_topic_and_only_then() {
    let (mut shifts, mut followed, mut delay, mut stays, mut stayed, mut stray) = (0, 0, 0, 0, 0, Vec::new());
    let sessions = sessions();
    for session in &sessions {
        let contents = contents(session);
        let changes = changes(&contents);
        let mut expected = Vec::new();
        for (at, shift) in session.shifts.iter().enumerate() {
            let end = session.shifts.get(at + 1).copied().unwrap_or(contents.titles.len() + 1);
            shifts += 1;
            match changes.iter().find(|(turn, source)| (*shift..end).contains(turn) && source >= shift) {
                Some((turn, _)) => {
                    followed += 1;
                    delay += turn - shift;
                    expected.push(*turn);
                }
                None => println!("{}: the title did not follow at turn {shift}", session.name),
            }
        }
        let odd = changes.iter().filter(|(turn, _)| !expected.contains(turn));
        let odd: Vec<String> = odd.map(|(turn, _)| format!("{} at {turn}", session.name)).collect();
        if session.shifts.is_empty() {
            stays += 1;
            stayed += usize::from(odd.is_empty());
        }
        stray.extend(odd);
    }
    println!("{followed} of {shifts} shifts followed, {delay} turns later in all");
    println!("{stayed} of {stays} sessions without a shift kept their title; changes without a shift: {stray:?}");
    assert!(sessions.len() >= 30);
    assert!(followed * 10 >= shifts * 9, "{followed} of {shifts} shifts followed");
    assert!(stayed * 10 >= stays * 9, "{stayed} of {stays} sessions kept their title: {stray:?}");
    assert!(stray.len() <= 3, "{stray:?}");
}
