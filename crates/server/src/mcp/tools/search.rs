//! Finding words, in one session and in those that are in scope; over HTTP `GET /sessions/{id}/search` and `GET /search`.

use engine::{Count, FoundTurn, Role, SearchAnswer, SearchWish, Within};
use model::{SessionRow, one_line};
use rmcp::model::Tool;
use serde_json::json;

use super::{Call, CallError, contents, limit, max_tokens, reader, sessions, text};
use crate::mcp::arguments::Arguments;
use crate::mcp::budget::Page;
use crate::mcp::phrases::{QUOTED, count, next_call, when};

pub(super) const SESSION: &str = "search_session";
pub(super) const ALL: &str = "search_all_sessions";

const FOUND: usize = 10;
const MAX_TURNS: u64 = 50;
const MAX_SESSIONS: u64 = 30;
/// How many turns are told of each session.
const TURNS_OF_EACH: usize = 3;
/// How many turns are asked for at once, and how often, until there are enough sessions among them.
const AT_ONCE: usize = 100;
const TIMES: usize = 3;
const SNIPPET_CHARS: usize = 250;
const QUERY_CHARS: usize = 100;
const NOTE_CHARS: usize = 200;
const MAX_NOTES: usize = 3;

pub(super) fn session_tool() -> Tool {
    let what = "Use to find where something was said or done in a session: words, \"a phrase\", -without, pre*, file:, \
                outcome:fail. Turns that match, oldest first, each with its id and the words around.";
    let properties = json!({
        "query": text(),
        "session_id": text(),
        "limit": limit(MAX_TURNS, FOUND),
        "max_tokens": max_tokens(),
    });
    reader(SESSION, what, properties, &["query"])
}

pub(super) fn all_tool() -> Tool {
    let what = "Use when it may have been said or done in another session: looks through this project's sessions, best \
                first, with the turns that match. The query is as for search_session.";
    let properties = json!({ "query": text(), "limit": limit(MAX_SESSIONS, FOUND), "max_tokens": max_tokens() });
    reader(ALL, what, properties, &["query"])
}

pub(super) async fn session(call: Call<'_>) -> Result<String, CallError> {
    let arguments = Arguments::new(call.arguments, &["query", "session_id", "limit", "max_tokens"])?;
    let (query, budget) = (arguments.words("query")?, arguments.budget()?);
    let limit = arguments.number("limit", 1..=MAX_TURNS)?.unwrap_or(FOUND);
    let scope = call.scope().await?;
    let session = scope.session(&arguments).await?;
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
        scope.told(&session)
    )];
    lines.push(QUOTED.to_owned());
    lines.extend(page.into_lines());
    lines.extend(notes(&found.notes));
    let id = scope.argument(&session);
    let again = |query: &str, limit: usize| {
        let (query, limit) = (Some(json!(query)), Some(json!(limit)));
        next_call(SESSION, [("query", query), ("session_id", id.clone()), ("limit", limit)])
    };
    match found.turns.get(shown.saturating_sub(1)) {
        None => lines.push(format!("Broader: {}, or search_all_sessions.", again(&broader(&query), limit))),
        Some((row, _)) => {
            if shown < found.turns.len() {
                lines.push("The rest was left out by max_tokens; ask for more tokens or with more words.".to_owned());
            } else if found.total > shown && limit < usize::try_from(MAX_TURNS).unwrap_or(usize::MAX) {
                let most = usize::try_from(MAX_TURNS).unwrap_or(usize::MAX);
                lines.push(format!("Left out by limit: {}. Next: {}", found.total - shown, again(&query, most)));
            } else if found.total > shown {
                lines.push(format!("Left out by limit: {}. More words find fewer.", found.total - shown));
            }
            let read = [("turn", Some(json!(row.turn.to_string()))), ("session_id", id.clone())];
            lines.push(format!("To read one: {}", next_call("get_turn", read)));
        }
    }
    Ok(lines.join("\n"))
}

pub(super) async fn all(call: Call<'_>) -> Result<String, CallError> {
    let arguments = Arguments::new(call.arguments, &["query", "limit", "max_tokens"])?;
    let (query, budget) = (arguments.words("query")?, arguments.budget()?);
    let limit = arguments.number("limit", 1..=MAX_SESSIONS)?.unwrap_or(FOUND);
    let scope = call.scope().await?;
    let Looked { found, sessions: matching, is_all } = look(call, &scope.within, &query, limit).await?;
    let mut page = Page::new(budget);
    let mut shown: usize = 0;
    for (session, turns) in &matching {
        let mut lines = vec![format!(
            "{}, created {}, {}:",
            scope.told(session),
            when(session.created_at),
            count(session.turns.0 as usize, "turn")
        )];
        lines.extend(turns.iter().take(TURNS_OF_EACH).map(line));
        if turns.len() > TURNS_OF_EACH {
            let search = [("query", Some(json!(query))), ("session_id", scope.argument(session))];
            lines.push(format!("  more in this session: {}", next_call(SESSION, search)));
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
        lines.push(format!("Note: the index is being built, {done} of {total} entries are in it; ask again later."));
    }
    // Of all sessions, not of those that match: what is out of scope must not be found out word by word.
    lines.extend(sessions::out_of_scope(&call.engine.count_within(&scope.within).await?));
    match matching.get(shown.saturating_sub(1)) {
        None => {
            let broader = next_call(ALL, [("query", Some(json!(broader(&query))))]);
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
            lines.push(format!("To read one: {}", next_call("get_turn", read)));
        }
    }
    Ok(lines.join("\n"))
}

/// What was found, by session.
struct Looked {
    found: SearchAnswer,
    sessions: Vec<(SessionRow, Vec<FoundTurn>)>,
    /// There are no more sessions than these.
    is_all: bool,
}

/// Goes down the list of turns until there are enough sessions among them.
async fn look(call: Call<'_>, within: &Within, query: &str, limit: usize) -> Result<Looked, CallError> {
    let mut looked: Option<Looked> = None;
    for time in 0..TIMES {
        let (words, skip) = (query.to_owned(), time * AT_ONCE);
        let mut found = call
            .engine
            .search(SearchWish { words, exact: false, within: within.clone(), skip, limit: AT_ONCE })
            .await?;
        let (turns, is_end) = (std::mem::take(&mut found.turns), !found.more);
        let so_far = looked.get_or_insert_with(|| Looked { found, sessions: Vec::new(), is_all: true });
        // The index may be older than what a session is now.
        for turn in turns.into_iter().filter(|turn| within.includes(&turn.session.project)) {
            let place = so_far.sessions.iter().position(|(session, _)| session.id == turn.session.id);
            match place {
                Some(place) => so_far.sessions[place].1.push(turn),
                None if so_far.sessions.len() < limit => so_far.sessions.push((turn.session.clone(), vec![turn])),
                None => so_far.is_all = false,
            }
        }
        if is_end || !so_far.is_all {
            break;
        }
        if time + 1 == TIMES {
            so_far.is_all = false;
        }
    }
    Ok(looked.unwrap_or_else(|| unreachable!("it was looked at least once")))
}

fn line(found: &FoundTurn) -> String {
    let words = one_line(&found.snippet.text, SNIPPET_CHARS);
    match (&found.turn, found.role) {
        (None, _) => format!("  its title > {words}"),
        (Some(row), Role::Tool) => format!("  {}.{} of {} > {words}", row.turn, found.number, contents::turn_line(row)),
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
