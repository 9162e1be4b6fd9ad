//! Finds words, in one session and in those that are in scope; over HTTP `GET /sessions/{id}/search` and `GET /search`.

use engine::{Count, FoundTurn, PieceRole, SearchAnswer, SearchParams, Within};
use model::{SessionId, SessionRow, one_line};
use serde_json::json;

use super::{CallError, MAX_TOKENS, Run, SESSION_ID, Tool, ToolContext, ToolResult, contents, sessions, turns};
use crate::mcp::arguments::{Limit, MaxTokens, Words, arguments};
use crate::mcp::budget::{AnswerBudget, Budget, Page};
use crate::mcp::phrases::{QUOTED, count, next_call, when};

const FOUND: usize = 10;
const MAX_TURNS: usize = 50;
const MAX_SESSIONS: usize = 30;
/// How many turns of each session are listed.
const TURNS_OF_EACH: usize = 3;
/// How many turns are asked for at once, and how often, until there are enough sessions among them.
const AT_ONCE: usize = 100;
const TIMES: usize = 3;
const SNIPPET_CHARS: usize = 250;
const QUERY_CHARS: usize = 100;
const NOTE_CHARS: usize = 200;
const MAX_NOTES: usize = 3;

pub(super) const SESSION: Tool = Tool::reading::<SearchSession>(
    "search_session",
    "Use to find where something was said or done in a session. Turns that match, oldest first, each with its \
     id and the words around.",
    AnswerBudget::AskedFor,
);

pub(super) const ALL: Tool = Tool::reading::<SearchAllSessions>(
    "search_all_sessions",
    "Use when it may have been said or done in another session: looks through this project's sessions, best \
     first, with the turns that match.",
    AnswerBudget::AskedFor,
);

arguments! {
    struct SearchSession {
        query("query"): Words = "Words, \"a phrase\", -without, pre*, file:, outcome:fail", "parser error";
        session("session_id"): Option<SessionId> = SESSION_ID, "0190a8c0-0000-7000-8000-000000000001";
        limit("limit"): Option<Limit<MAX_TURNS, FOUND>> = "Most turns to list", "10";
        max_tokens("max_tokens"): Option<MaxTokens> = MAX_TOKENS, "2000";
    }
}

arguments! {
    struct SearchAllSessions {
        query("query"): Words = "As for search_session", "parser error";
        limit("limit"): Option<Limit<MAX_SESSIONS, FOUND>> = "Most sessions to list", "10";
        max_tokens("max_tokens"): Option<MaxTokens> = MAX_TOKENS, "2000";
    }
}

impl Run for SearchSession {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Self { query: Words(query), session, limit, max_tokens } = self;
        let (Limit(limit), budget) = (limit.unwrap_or_default(), Budget::of(max_tokens));
        let scope = call.scope().await?;
        let session = scope.session(session).await?;
        let found = call.engine.search_session(session.id, &query, false, limit).await?;
        let mut page = Page::new(budget);
        let mut shown: usize = 0;
        for (row, snippet) in &found.turns {
            if !page.take(vec![format!("{} > {}", contents::turn_line(row), one_line(&snippet.text, SNIPPET_CHARS))]) {
                break;
            }
            shown += 1;
        }
        let turns = count(session.turns.0 as usize, "turn");
        let matches = if found.total == 1 { "1 match" } else { &format!("{} matches", found.total) };
        let mut lines = vec![format!(
            "{} in session {}: {shown} of {matches}, {turns} in all.",
            shown_query(&query),
            scope.describe(&session)
        )];
        lines.push(QUOTED.to_owned());
        lines.extend(page.into_lines());
        lines.extend(notes(&found.notes));
        let id = scope.argument(&session);
        let again = |query: &str, limit: usize| {
            let (query, limit) = (Some(json!(query)), Some(json!(limit)));
            next_call(SESSION.about.name, [("query", query), ("session_id", id.clone()), ("limit", limit)])
        };
        match found.turns.get(shown.saturating_sub(1)) {
            None => lines.push(format!("Broader: {}, or search_all_sessions.", again(&broader(&query), limit))),
            Some((row, _)) => {
                if shown < found.turns.len() {
                    lines.push(
                        "The rest was left out by max_tokens; ask for more tokens or with more words.".to_owned(),
                    );
                } else if found.total > shown && limit < MAX_TURNS {
                    let more = again(&query, MAX_TURNS);
                    lines.push(format!("Left out by limit: {}. Next: {more}", found.total - shown));
                } else if found.total > shown {
                    lines.push(format!("Left out by limit: {}. More words find fewer.", found.total - shown));
                }
                let read = [("turn", Some(json!(row.turn.to_string()))), ("session_id", id.clone())];
                lines.push(format!("To read one: {}", next_call(turns::TURN.about.name, read)));
            }
        }
        Ok(lines.join("\n").into())
    }
}

impl Run for SearchAllSessions {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Self { query: Words(query), limit, max_tokens } = self;
        let (Limit(limit), budget) = (limit.unwrap_or_default(), Budget::of(max_tokens));
        let scope = call.scope().await?;
        let Looked { found, sessions: matching, is_all } = look(call, &scope.within, &query, limit).await?;
        let mut page = Page::new(budget);
        let mut shown: usize = 0;
        for (session, turns) in &matching {
            let mut lines = vec![format!(
                "{}, created {}, {}:",
                scope.describe(session),
                when(session.created_at),
                count(session.turns.0 as usize, "turn")
            )];
            lines.extend(turns.iter().take(TURNS_OF_EACH).map(line));
            if turns.len() > TURNS_OF_EACH {
                let search = [("query", Some(json!(query))), ("session_id", scope.argument(session))];
                lines.push(format!("  more in this session: {}", next_call(SESSION.about.name, search)));
            }
            if !page.take(lines) {
                break;
            }
            shown += 1;
        }
        let (total, at_least) = match found.total {
            Count::Exactly(total) => (total, ""),
            Count::AtLeast(total) => (total, "at least "),
        };
        let more = if is_all { "" } else { "at least " };
        let mut lines = vec![
            format!(
                "{} in {}, best first: {shown} of {more}{}, {at_least}{} that match.",
                shown_query(&query),
                scope.place(),
                count(matching.len(), "session"),
                count(total, "turn")
            ),
            QUOTED.to_owned(),
        ];
        lines.extend(page.into_lines());
        lines.extend(notes(&found.notes));
        if let Some((done, total)) = found.behind {
            lines
                .push(format!("Note: the index is being built, {done} of {total} entries are in it; ask again later."));
        }
        // Of all sessions, not of those that match: what is out of scope must not be found out word by word.
        lines.extend(sessions::out_of_scope(&call.engine.count_within(&scope.within).await?));
        match matching.get(shown.saturating_sub(1)) {
            None => {
                let broader = next_call(ALL.about.name, [("query", Some(json!(broader(&query))))]);
                lines.push(format!("Broader: {broader}, or list_sessions."));
            }
            Some((session, turns)) => {
                if shown < matching.len() {
                    let left_out = count(matching.len() - shown, "session");
                    lines.push(format!("{left_out} left out by max_tokens; ask for more tokens or with more words."));
                } else if !is_all {
                    lines.push("There are more sessions; a larger limit or more words lead to them.".to_owned());
                }
                let turn = turns.iter().find_map(|found| found.turn.as_ref());
                let turn = turn.map_or_else(|| "t1".to_owned(), |row| row.turn.to_string());
                let read = [("turn", Some(json!(turn))), ("session_id", scope.argument(session))];
                lines.push(format!("To read one: {}", next_call(turns::TURN.about.name, read)));
            }
        }
        Ok(lines.join("\n").into())
    }
}

/// What was found, by session.
struct Looked {
    found: SearchAnswer,
    sessions: Vec<(SessionRow, Vec<FoundTurn>)>,
    /// There are no more sessions than these.
    is_all: bool,
}

/// Goes down the list of turns until there are enough sessions among them.
async fn look(call: ToolContext<'_>, within: &Within, query: &str, limit: usize) -> Result<Looked, CallError> {
    let page = async |skip| {
        let (words, within) = (query.to_owned(), within.clone());
        call.engine.search(SearchParams { words, exact: false, within, skip, limit: AT_ONCE }).await
    };
    let mut found = page(0).await?;
    let (mut turns, mut more) = (std::mem::take(&mut found.turns), found.more);
    let mut looked = Looked { found, sessions: Vec::new(), is_all: true };
    for time in 1..=TIMES {
        looked.take(turns, within, limit);
        if !more || !looked.is_all {
            return Ok(looked);
        }
        if time == TIMES {
            break;
        }
        (turns, more) = page(time * AT_ONCE).await.map(|found| (found.turns, found.more))?;
    }
    looked.is_all = false;
    Ok(looked)
}

impl Looked {
    fn take(&mut self, turns: Vec<FoundTurn>, within: &Within, limit: usize) {
        // The index may be older than what a session is now.
        for turn in turns.into_iter().filter(|turn| within.includes(&turn.session.project)) {
            let place = self.sessions.iter().position(|(session, _)| session.id == turn.session.id);
            match place {
                Some(place) => self.sessions[place].1.push(turn),
                None if self.sessions.len() < limit => self.sessions.push((turn.session.clone(), vec![turn])),
                None => self.is_all = false,
            }
        }
    }
}

fn line(found: &FoundTurn) -> String {
    let words = one_line(&found.snippet.text, SNIPPET_CHARS);
    match (&found.turn, found.role) {
        (None, _) => format!("  its title > {words}"),
        (Some(row), PieceRole::Tool) => {
            format!("  {}.{} of {} > {words}", row.turn, found.number, contents::turn_line(row))
        }
        (Some(row), _) => format!("  {} > {words}", contents::turn_line(row)),
    }
}

fn shown_query(query: &str) -> String {
    format!("{:?}", one_line(query, QUERY_CHARS))
}

fn notes(notes: &[String]) -> impl Iterator<Item = String> {
    notes.iter().take(MAX_NOTES).map(|note| format!("Note: {}.", one_line(note, NOTE_CHARS)))
}

/// What finds more: the longest of several words, or the beginning of one.
fn broader(query: &str) -> String {
    let words: Vec<&str> = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let longest = words.iter().rev().max_by_key(|word| word.chars().count()).copied().unwrap_or(query);
    let longest: String = longest.chars().take(QUERY_CHARS).collect();
    if words.len() > 1 {
        return longest;
    }
    let half = longest.chars().count().div_ceil(2).max(3);
    format!("{}*", longest.chars().take(half).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broader_query_is_one_word_or_its_beginning() {
        assert_eq!(broader("no such parser error"), "parser");
        assert_eq!(broader("quince"), "qui*");
        assert_eq!(broader("ab"), "ab*");
        assert_eq!(broader("\"exit code\" -ok"), "exit");
        assert_eq!(broader("?!"), "?!*");
    }
}
