//! Shows the current session and lists the others; over HTTP `GET /sessions/{id}` and `GET /sessions`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use engine::{CountWithin, Within};
use model::{ListKey, Turn, one_line};
use serde_json::json;

use super::{CallError, Run, Tool, ToolContext, ToolResult, contents, turns};
use crate::mcp::arguments::{Limit, arguments};
use crate::mcp::budget::AnswerBudget;
use crate::mcp::phrases::{QUOTED, count, next_call, when};
use crate::mcp::work;

const NEWEST_TITLES: usize = 3;
const NEWEST_TURNS: u32 = 10;
const LISTED: usize = 20;
const MAX_LISTED: usize = 50;
const PATH_CHARS: usize = 200;

pub(super) const CURRENT: Tool = Tool::reading::<CurrentSession>(
    "current_session",
    "Use first, to see where you are: this session's title, id, agent, directory, newest titles and last 10 \
     turns, and which tool to use next.",
    AnswerBudget::LONGEST,
);

pub(super) const LIST: Tool = Tool::reading::<ListSessions>(
    "list_sessions",
    "Use to find another session's id: this project's sessions, most recently active first, with title, time \
     and number of turns.",
    AnswerBudget::LONGEST,
);

arguments! {
    struct CurrentSession {}
}

arguments! {
    struct ListSessions {
        limit("limit"): Option<Limit<MAX_LISTED, LISTED>> = "Most sessions to list", "20";
        cursor("cursor"): Option<ListKey> = "From an earlier list, to go on", "1763175600000.0190a8c0-0000-7000-8000-000000000001";
    }
}

impl Run for CurrentSession {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let scope = call.scope().await?;
        let row = &scope.current;
        let (_, titles) = call.engine.title_history(row.id).await?;
        let after = Turn(row.turns.0.saturating_sub(NEWEST_TURNS));
        let newest = call.engine.contents(row.id, after, NEWEST_TURNS as usize).await?.turns;
        let mut lines = vec![
            format!("Session {}", scope.describe(row)),
            format!("Created {}, {}, agent {}", when(row.created_at), count(row.turns.0 as usize, "turn"), row.agent),
            format!("Directory {}", one_line(&row.cwd, PATH_CHARS)),
            format!("Project {}", one_line(&row.project, PATH_CHARS)),
        ];
        lines.extend(work::place(call.engine, row).await?);
        lines.push(QUOTED.to_owned());
        if !titles.is_empty() {
            let shown = titles.len().min(NEWEST_TITLES);
            lines.push(format!("Titles, newest first ({shown} of {}):", titles.len()));
            lines.extend(titles.iter().take(shown).map(contents::title_line));
        }
        match newest.last() {
            Some(last) => {
                lines.push(format!("Newest turns ({} of {}):", newest.len(), row.turns.0));
                lines.extend(newest.iter().map(contents::turn_line));
                let read = next_call(turns::TURN.about.name, [("turn", Some(json!(last.turn.to_string())))]);
                lines.push(format!(
                    "Next: session_toc for all turns, search_session to find words in them, {read} to read one, \
                 list_sessions for this project's other sessions."
                ));
            }
            None => lines.push("No turns yet. Next: list_sessions for this project's other sessions.".to_owned()),
        }
        Ok(lines.join("\n").into())
    }
}

impl Run for ListSessions {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Self { limit: asked_for, cursor: after } = self;
        let Limit(limit) = asked_for.unwrap_or_default();
        let scope = call.scope().await?;
        let page = call.engine.sessions_within(&scope.within, after, limit).await?;
        let counted = call.engine.count_within(&scope.within).await?;
        let at_least = if counted.is_more { "at least " } else { "" };
        let mut lines = vec![
            format!(
                "Sessions of {}, most recently active first: {} of {at_least}{}{}.",
                scope.place(),
                page.sessions.len(),
                counted.inside,
                if after.is_some() { ", going on from the cursor" } else { "" }
            ),
            QUOTED.to_owned(),
        ];
        let mut works = BTreeMap::new();
        for row in &page.sessions {
            let work = match row.work {
                None => "",
                Some(id) => match works.entry(id) {
                    Entry::Occupied(known) => &*known.into_mut(),
                    Entry::Vacant(unknown) => {
                        let named =
                            call.engine.work_of(row).await?.map(|work| format!(", work {}", work::name(&work.name)));
                        &*unknown.insert(named.unwrap_or_default())
                    }
                },
            };
            let project = match scope.within {
                Within::Project(_) => String::new(),
                Within::Everything => format!(", project {}", one_line(&row.project, PATH_CHARS)),
            };
            let turns = count(row.turns.0 as usize, "turn");
            lines.push(format!("{}, created {}, {turns}{work}{project}", scope.describe(row), when(row.created_at)));
        }
        lines.extend(out_of_scope(&counted));
        lines.push(match page.next {
            Some(next) => {
                let limit = asked_for.map(|Limit(limit)| json!(limit));
                let call = next_call(LIST.about.name, [("limit", limit), ("cursor", Some(json!(next.to_string())))]);
                format!("There may be more. Next: {call}")
            }
            None => "That is all. Next: session_toc or search_session with a session_id.".to_owned(),
        });
        Ok(lines.join("\n").into())
    }
}

/// How many sessions are left out.
pub(super) fn out_of_scope(counted: &CountWithin) -> Option<String> {
    let at_least = if counted.is_more { "At least " } else { "" };
    match counted.outside {
        0 => None,
        1 => Some(format!("{at_least}1 session of another project is out of scope.")),
        many => Some(format!("{at_least}{many} sessions of other projects are out of scope.")),
    }
}
