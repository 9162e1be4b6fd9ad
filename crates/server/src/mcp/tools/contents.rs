//! A session's contents and the titles it has had; over HTTP `GET /sessions/{id}/toc` and `…/title-history`.

use engine::MAX_CONTENTS_LINES;
use model::{Outcome, SessionId, TitleMaker, TitleRow, Turn, TurnRow, one_line};
use serde_json::json;

use super::{CallError, MAX_TOKENS, Run, SESSION_ID, Tool, ToolContext, ToolResult, turns as turn_tools};
use crate::mcp::arguments::{MaxTokens, arguments};
use crate::mcp::budget::{AnswerBudget, Budget, Page};
use crate::mcp::phrases::{QUOTED, cost, count, next_call, span, summary, when};
use crate::mcp::work;
use crate::turns;

const TITLE_CHARS: usize = 200;
/// How many turns before the end a long session's last page begins.
const LAST_TURNS: u32 = 50;

pub(super) const TOC: Tool = Tool::reading::<SessionToc>(
    "session_toc",
    "Use to see what was done in a session, and after a compaction: one line a turn, oldest first, with its \
     id and what reading it costs.",
    AnswerBudget::AskedFor,
);

pub(super) const TITLES: Tool = Tool::reading::<SessionTitleHistory>(
    "session_title_history",
    "Use to see how a session's topic changed: its titles, newest first, each with the turn that brought it.",
    AnswerBudget::LONGEST,
);

arguments! {
    struct SessionToc {
        session("session_id"): Option<SessionId> = SESSION_ID, "0190a8c0-0000-7000-8000-000000000001";
        after("after"): Option<Turn> = "Turn to go on from", "t42";
        max_tokens("max_tokens"): Option<MaxTokens> = MAX_TOKENS, "2000";
    }
}

arguments! {
    struct SessionTitleHistory {
        session("session_id"): Option<SessionId> = SESSION_ID, "0190a8c0-0000-7000-8000-000000000001";
    }
}

impl Run for SessionToc {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let (after, budget) = (self.after, Budget::of(self.max_tokens));
        let scope = call.scope().await?;
        let session = scope.session(self.session).await?;
        let mut page = Page::new(budget);
        let mut last = after.unwrap_or_default();
        let mut shown = 0;
        let newest = 'pages: loop {
            let contents = call.engine.contents(session.id, last, MAX_CONTENTS_LINES).await?;
            for row in &contents.turns {
                if !page.take(vec![turn_line(row)]) {
                    break 'pages contents.session.turns;
                }
                (last, shown) = (row.turn, shown + 1);
            }
            if !contents.more {
                break contents.session.turns;
            }
        };
        let beginning = after.map(|after| format!(", after {after}")).unwrap_or_default();
        let head =
            format!("Contents of session {}: {shown} of {}{beginning}.", scope.describe(&session), count_of(newest));
        let mut lines = vec![head];
        lines.extend(work::before(call.engine, &session).await?);
        lines.push(QUOTED.to_owned());
        lines.extend(page.into_lines());
        let id = scope.argument(&session);
        if last < newest {
            let max_tokens = budget.given().map(|tokens| json!(tokens));
            let from = |after: Turn| {
                let after = Some(json!(after.to_string()));
                next_call(
                    TOC.about.name,
                    [("session_id", id.clone()), ("after", after), ("max_tokens", max_tokens.clone())],
                )
            };
            lines.push(format!("{} left out by max_tokens. Next: {}", span(last.next(), newest), from(last)));
            let end = Turn(newest.0.saturating_sub(LAST_TURNS));
            if end > last {
                lines.push(format!("The newest: {}", from(end)));
            }
        }
        let read = next_call(
            turn_tools::TURN.about.name,
            [("turn", Some(json!(last.max(Turn(1)).to_string()))), ("session_id", id)],
        );
        lines.push(match shown {
            0 if newest == Turn(0) => "This session has no turns yet.".to_owned(),
            0 => format!("There are no turns after {last}; the newest is {newest}."),
            _ => format!("To read one: {read}. To find words: search_session."),
        });
        Ok(lines.join("\n").into())
    }
}

fn count_of(newest: Turn) -> String {
    count(newest.0 as usize, "turn")
}

/// `t4. What it was about (failed, 3 calls, ~1.8k tokens)`.
pub(super) fn turn_line(row: &TurnRow) -> String {
    format!("{}. {} ({})", row.turn, summary(&turns::summary(row)), figures(row))
}

/// How a turn ended, unless it ended well, and how much there is of it.
pub(super) fn figures(row: &TurnRow) -> String {
    let state = match row.stop.as_ref().map(|stop| stop.outcome) {
        None => Some("running"),
        Some(Outcome::Completed) => None,
        Some(Outcome::Cancelled) => Some("cancelled"),
        Some(Outcome::Failed) => Some("failed"),
        Some(Outcome::Interrupted) => Some("interrupted"),
    };
    let calls = row.extent.map(|extent| extent.tools).filter(|tools| *tools > 0);
    let parts = [
        state.map(str::to_owned),
        calls.map(|calls| count(calls as usize, "call")),
        row.extent.map(|extent| cost(turns::tokens(extent))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no figures yet".to_owned() } else { parts.join(", ") }
}

impl Run for SessionTitleHistory {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let scope = call.scope().await?;
        let session = scope.session(self.session).await?;
        let (row, titles) = call.engine.title_history(session.id).await?;
        let kept = if row.titles as usize > titles.len() { ", older ones are not kept" } else { "" };
        let (shown, all) = (titles.len(), count(row.titles as usize, "title"));
        let mut lines = vec![format!("Session {}: {shown} of {all}, newest first{kept}.", scope.describe(&row))];
        lines.push(QUOTED.to_owned());
        if !row.name.is_empty() {
            lines.push("The person named it; titles are only noted.".to_owned());
        }
        if titles.is_empty() {
            lines.push("It has had no title yet.".to_owned());
        }
        for (number, title) in (1..).zip(&titles) {
            let interaction = title.interaction_id.map(|id| format!(", interaction {id}")).unwrap_or_default();
            let at = when(title.changed_at);
            lines.push(format!("{number}. {}, {at}, by {}{interaction}", title_line(title), maker(title.by)));
        }
        Ok(lines.join("\n").into())
    }
}

/// `t4 "What it is called"`.
pub(super) fn title_line(row: &TitleRow) -> String {
    let turn = row.turn.map_or_else(|| "before t1".to_owned(), |turn| turn.to_string());
    format!("{turn} \"{}\"", one_line(&row.title, TITLE_CHARS))
}

fn maker(by: TitleMaker) -> &'static str {
    match by {
        TitleMaker::Agent => "the agent",
        TitleMaker::Terms => "Throughline",
        TitleMaker::Model => "a model",
    }
}
