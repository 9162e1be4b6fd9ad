//! Builds the resume packet: a text about the session that goes to an agent which does not know it, ahead of the next prompt.
//!
//! Invariant: deterministic and bounded. It is a text of its own, labelled as a record, so that neither the agent nor a
//! reader takes it for the person's words. What comes first in it is what is left when there is no room for all.

mod fork;
mod step;

use std::collections::{HashMap, HashSet};

use agents::PacketKind;
use model::{
    Context, FactList, FileState, Origin, Outcome, Seq, Session, SessionRow, Transcript, TranscriptTurn, Turn, TurnRow,
    Untold, as_item, format_context_for_resume, one_line,
};
use store::{ReadError, Reader};

use crate::Shared;
use crate::file_inspector::path_of;

/// How many characters a packet has at most, and how many make about one token.
const MAX_CHARS: usize = 12_000;
const CHARS_PER_TOKEN: usize = 4;
/// How many of the newest turns are in the packet of an agent that knows none.
const TURNS: u32 = 5;
/// How many characters a prompt, the newest answer and an older one have.
const PROMPT_CHARS: usize = 600;
const ANSWER_CHARS: usize = 1_200;
const OLDER_ANSWER_CHARS: usize = 300;
/// How many characters a call's title has, and the reason why a turn was not done.
const TITLE_CHARS: usize = 80;
const REASON_CHARS: usize = 200;
/// How many characters the turns have at most, together; and any line.
const CONVERSATION_CHARS: usize = 7_000;
const LINE_CHARS: usize = 2_000;
/// How many characters an item has.
const ITEM_CHARS: usize = 400;
/// How many characters a session itself has that was started from another one and has begun: most of the room is for that.
const OWN_CHARS: usize = 4_500;
/// How many files and commands are named.
const FILES: usize = 15;
const COMMANDS: usize = 5;
/// How many entries of a turn are read at a time, how many pages of its beginning and of its end, and how many entries that
/// end has; what is between of a very long one is left out.
const ENTRIES: usize = 2_000;
const PAGES: usize = 4;
const END_ENTRIES: u64 = 32;
/// What ends a packet.
const END: &str = "[End of the record.]";

/// A resume packet, as it would be sent now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// What it is about.
    pub of: PacketKind,
    /// All of it.
    pub text: String,
    /// About how many tokens it costs.
    pub tokens: usize,
}

/// The packet for a session that stands like this.
pub(crate) async fn build(shared: &Shared, session: &Session, untold: Untold) -> Result<Packet, ReadError> {
    let (store, files) = (&*shared.store, &shared.file_inspector);
    let turns = match untold {
        Untold::Everything => newest_turns(store, &session.row).await?,
        Untold::Essentials | Untold::Nothing => Vec::new(),
    };
    let states = files.states(&session.row, &session.context, FILES).await;
    if let Some(origin) = session.row.from
        && step::is_untold(store, &session.row, untold).await?
    {
        let tools = &shared.agency.own_tools.for_looking_back;
        let own = Own { session, states: &states, turns: &turns, tools };
        return Ok(match origin {
            Origin::Step(origin) => Packet::new(PacketKind::PhaseBefore, step::text(store, files, origin, &own).await?),
            Origin::Fork(origin) => Packet::new(PacketKind::BeforeFork, fork::text(store, files, origin, &own).await?),
        });
    }
    Ok(Packet::new(PacketKind::EarlierTurns, text(session, &states, &turns)))
}

impl Packet {
    fn new(of: PacketKind, text: String) -> Self {
        let tokens = text.chars().count().div_ceil(CHARS_PER_TOKEN);
        Self { of, text, tokens }
    }
}

/// The session that was started from another one, as far as it has come.
struct Own<'a> {
    session: &'a Session,
    states: &'a HashMap<String, FileState>,
    turns: &'a [TranscriptTurn],
    /// The names of the tools that its agent can read earlier sessions with.
    tools: &'a str,
}

impl Own<'_> {
    /// What there is of it, if its agent was lost or has been sent nothing but commands.
    fn begun(&self) -> String {
        if self.turns.is_empty() {
            return String::new();
        }
        let mut page = Page::of(OWN_CHARS);
        page.add(
            "This session has begun without this record. What was done in it so far, in a shell that may be gone:",
        );
        page.add_context(self.session, self.states);
        page.add(&conversation(&self.session.row, self.turns));
        page.add("And this is what it goes on with:");
        page.text()
    }

    /// How its agent can read more of the session that it was started from.
    fn look_back(&self, from: &SessionRow) -> Option<String> {
        let Self { tools, .. } = self;
        (!tools.is_empty())
            .then(|| format!("More of it: the tools {tools}, with session {} and a number below.", from.id))
    }
}

/// The newest turns of a session whose row says how many there are.
async fn newest_turns(store: &dyn Reader, row: &SessionRow) -> Result<Vec<TranscriptTurn>, ReadError> {
    let id = row.id;
    // The turn that is just about to start is not among them.
    let after = Turn(row.turns.0.saturating_sub(TURNS));
    let count = row.turns.0 - after.0;
    let mut turns = Vec::new();
    for row in store.turns(id, after, count as usize).await? {
        turns.extend(read_turn(store, &row).await?);
    }
    Ok(turns)
}

/// A turn as the packet shows it: its beginning, its end, and how it ended.
async fn read_turn(store: &dyn Reader, row: &TurnRow) -> Result<Option<TranscriptTurn>, ReadError> {
    let mut transcript = Transcript::default();
    let after = read_on(store, row, row.first_seq.previous(), &mut transcript).await?;
    if let Some(last) = row.last_seq.filter(|last| after < *last) {
        let end = Seq(last.0.saturating_sub(END_ENTRIES));
        read_on(store, row, after.max(end), &mut transcript).await?;
    }
    let turn = transcript.turns.into_iter().find(|turn| turn.turn == row.turn);
    Ok(turn.map(|turn| match &row.stop {
        Some(stop) => TranscriptTurn { outcome: Some(stop.outcome), reason: stop.reason.clone(), ..turn },
        None => turn,
    }))
}

/// Folds a turn's entries after one, a few pages of them; gives the last that was read.
async fn read_on(
    store: &dyn Reader,
    row: &TurnRow,
    mut after: Seq,
    transcript: &mut Transcript,
) -> Result<Seq, ReadError> {
    for _ in 0..PAGES {
        let count = row.last_seq.map_or(ENTRIES, |last| after.count_to(last, ENTRIES));
        let page = store.read_session(row.session, after, count).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        page.iter().for_each(|entry| transcript.apply(entry));
    }
    Ok(after)
}

fn text(session: &Session, states: &HashMap<String, FileState>, turns: &[TranscriptTurn]) -> String {
    let row = &session.row;
    let mut page = Page::of(MAX_CHARS - END.chars().count() - 2);
    page.add(&head(row));
    page.add_context(session, states);
    page.add(&conversation(row, turns));
    page.end()
}

/// Paragraphs, as long as there is room.
struct Page {
    parts: Vec<String>,
    left: usize,
}

impl Page {
    fn of(chars: usize) -> Self {
        Self { parts: Vec::new(), left: chars }
    }

    fn end(mut self) -> String {
        self.parts.push(END.to_owned());
        self.text()
    }

    fn text(&self) -> String {
        self.parts.join("\n\n")
    }

    /// Adds what a session is about and what its tools did, with what has become of the files since.
    fn add_context(&mut self, session: &Session, states: &HashMap<String, FileState>) {
        let Session { row, context, .. } = session;
        let state = |mark: &model::Mark| states.get(&path_of(mark, row)).copied().unwrap_or(FileState::NotChecked);
        self.add(&format_context_for_resume(&context.sets, state));
        self.add(&deeds(row, context, states));
    }

    /// Adds a paragraph, or as many of its lines as there is room for.
    fn add(&mut self, part: &str) {
        let mut kept: Vec<String> = Vec::new();
        for line in part.lines() {
            let mut line: String = line.chars().take(LINE_CHARS).collect();
            if line.chars().count() == LINE_CHARS {
                line.push('…');
            }
            let chars = line.chars().count() + 1;
            if chars + 40 > self.left {
                kept.push("(The rest is left out.)".to_owned());
                self.left = 0;
                break;
            }
            self.left -= chars;
            kept.push(line);
        }
        if kept.iter().any(|line| !line.is_empty()) {
            self.parts.push(kept.join("\n"));
        }
    }
}

fn head(row: &SessionRow) -> String {
    let mut lines = vec![
        "[Session resumed. This is a record kept by Throughline: information, not a request. The person's own words \
         follow after it.]"
            .to_owned(),
        "The shell was reset: its directory, its variables and what ran in it are gone.".to_owned(),
        format!("Directory: {}", one_line(&row.cwd, ITEM_CHARS)),
    ];
    if let Some(title) = row.label() {
        lines.push(format!("Title: {}", one_line(title, ITEM_CHARS)));
    }
    if !row.env_hint.is_empty() {
        lines.push(format!("Environment: {}", one_line(&row.env_hint, PROMPT_CHARS)));
    }
    lines.join("\n")
}

/// What the tools did, by the facts that they proved.
fn deeds(row: &SessionRow, context: &Context, states: &HashMap<String, FileState>) -> String {
    let mut lines = Vec::new();
    let mut named = HashSet::new();
    let find = |name: &str| context.facts.find(name);
    if let Some(branch) = find("branch").and_then(|list| list.newest.first()) {
        lines.push(format!("Branch: {}", one_line(&branch.value, ITEM_CHARS)));
    }
    for (name, label) in
        [("filesEdited", "Edited"), ("filesCreated", "Created"), ("filesDeleted", "Deleted"), ("filesRead", "Read")]
    {
        let Some(list) = find(name) else { continue };
        // A file is named once, by the most that was done to it.
        for fact in list.most_recent().take(FILES).filter(|fact| named.insert(fact.value.as_str())) {
            let state = match states.get(&fact.value) {
                _ if name == "filesDeleted" => "",
                Some(FileState::Unchanged) => ", unchanged since",
                Some(FileState::Changed) => ", changed since",
                Some(FileState::Gone) => ", gone",
                Some(FileState::NotChecked) => ", not checked",
                Some(FileState::There) | None => "",
            };
            let path = below(&row.cwd, &fact.value);
            lines.push(format!("- {label} {} ({}{state})", as_item(path, &['(']), fact.evidence.turn));
        }
        lines.extend(more(list, FILES));
    }
    if let Some(commands) = find("commands") {
        for fact in commands.most_recent().take(COMMANDS) {
            let exit = fact.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
            lines.push(format!("- Ran {} ({}{exit})", as_item(&fact.value, &['(']), fact.evidence.turn));
        }
        lines.extend(more(commands, COMMANDS));
    }
    for (name, label) in [("urls", "Served at"), ("ports", "Ports in use then")] {
        if let Some(list) = find(name) {
            let values: Vec<String> =
                list.most_recent().take(COMMANDS).map(|fact| as_item(&fact.value, &[','])).collect();
            lines.push(format!("{label}: {}", values.join(", ")));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "What the tools did, newest first, each with its turn; paths are below the directory:\n{}",
        lines.join("\n")
    )
}

/// The path as seen from the directory, if it lies below it.
fn below<'a>(cwd: &str, path: &'a str) -> &'a str {
    path.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

fn more(list: &FactList, named: usize) -> Option<String> {
    let more = (list.count as usize).saturating_sub(named);
    (more > 0).then(|| format!("  and {more} more"))
}

/// The newest turns, for an agent that knows none of them.
fn conversation(row: &SessionRow, turns: &[TranscriptTurn]) -> String {
    if turns.is_empty() {
        return String::new();
    }
    // Where there is no room for all, the oldest are left out.
    let mut left = CONVERSATION_CHARS;
    let mut shown: Vec<String> = Vec::new();
    for (n, turn) in turns.iter().rev().enumerate() {
        let turn = turn_lines(turn, if n == 0 { ANSWER_CHARS } else { OLDER_ANSWER_CHARS });
        let chars = turn.chars().count();
        if chars > left && !shown.is_empty() {
            break;
        }
        left = left.saturating_sub(chars);
        shown.push(turn);
    }
    let left_out = row.turns.0.saturating_sub(u32::try_from(shown.len()).unwrap_or(u32::MAX));
    if left_out > 0 {
        shown.push(format!("({left_out} earlier turns are not shown.)"));
    }
    shown.push("The newest turns:".to_owned());
    shown.reverse();
    shown.join("\n")
}

fn turn_lines(turn: &TranscriptTurn, answer_chars: usize) -> String {
    let number = turn.turn;
    let mut lines = vec![format!("{number} person: {}", one_line(&turn.prompt, PROMPT_CHARS))];
    let tools = calls_line(turn);
    if !tools.is_empty() {
        lines.push(format!("{number} tools: {tools}"));
    }
    let answer = turn.answer();
    if !answer.is_empty() {
        lines.push(format!("{number} agent: {}", one_line(&answer, answer_chars)));
    }
    let reason = turn.reason.as_deref().map(|reason| format!(": {}", one_line(reason, REASON_CHARS)));
    match turn.outcome.map(Outcome::note) {
        Some(None) => (),
        Some(Some(note)) => lines.push(format!("{number} was not done: {note}{}", reason.unwrap_or_default())),
        None => lines.push(format!("{number} is still running")),
    }
    lines.join("\n")
}

/// The turn's calls, each with what became of it, as many as there is room for.
fn calls_line(turn: &TranscriptTurn) -> String {
    let mut line = String::new();
    let mut left_out = 0;
    for call in turn.calls() {
        let note = turn.fate(call).note().map(|note| format!(" ({note})")).unwrap_or_default();
        let named = format!("{}{note}", one_line(&call.title, TITLE_CHARS));
        if left_out > 0 || line.chars().count() + named.chars().count() > PROMPT_CHARS {
            left_out += 1;
            continue;
        }
        if !line.is_empty() {
            line.push_str("; ");
        }
        line.push_str(&named);
    }
    match left_out {
        0 => line,
        more => format!("{line}; and {more} more"),
    }
}

#[cfg(test)]
mod tests;
