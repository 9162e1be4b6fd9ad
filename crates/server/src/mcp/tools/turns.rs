//! Turns and calls with all that was said in them; over HTTP `GET /sessions/{id}/turns/{turn}`, `…/turns` and
//! `GET /interactions/{id}`.

use engine::{Interaction, MAX_TURNS_AT_ONCE, QueryError};
use model::{InteractionId, SessionId, SessionRow, Turn, TurnRow};
use serde_json::json;

use super::{CallError, MAX_TOKENS, Run, SESSION_ID, Tool, ToolContext, ToolResult, contents};
use crate::mcp::arguments::{ArgumentError, MaxTokens, Number, Wanted, Words, arguments};
use crate::mcp::budget::{AnswerBudget, Budget, Page};
use crate::mcp::parts::{Parts, undivided};
use crate::mcp::phrases::{QUOTED, count, next_call, span, summary, when};
use crate::mcp::quote::{self, Calls};
use crate::mcp::scope::{Scope, nearest};
use crate::turns;

const MAX_PARTS: usize = 100_000;

pub(super) const TURN: Tool = Tool::reading::<GetTurn>(
    "get_turn",
    "Use to read a turn in full by its id, or one tool call of it with all its output. What is long comes in \
     parts.",
    AnswerBudget::AskedFor,
);

pub(super) const TURNS: Tool = Tool::reading::<GetTurns>(
    "get_turns",
    "Use to read turns that follow each other: both ends included, at most 20. Calls of tools are named, not \
     shown.",
    AnswerBudget::AskedFor,
);

pub(super) const INTERACTION: Tool = Tool::reading::<GetInteraction>(
    "get_interaction",
    "Use to read a turn when all you have is its interaction id, of whichever session.",
    AnswerBudget::DEFAULT,
);

arguments! {
    struct GetTurn {
        wanted("turn"): Wanted = "t42, or t42.3 for its third call", "t42";
        session("session_id"): Option<SessionId> = SESSION_ID, "0190a8c0-0000-7000-8000-000000000001";
        part("part"): Option<Number<MAX_PARTS>> = "Which part of it", "2";
        find("find"): Option<Words> = "Show only the lines with this text", "parser error";
        max_tokens("max_tokens"): Option<MaxTokens> = MAX_TOKENS, "2000";
    }
}

arguments! {
    struct GetTurns {
        from("from"): Turn = "First turn, such as t3", "t3";
        to("to"): Turn = "Last turn, such as t7", "t7";
        session("session_id"): Option<SessionId> = SESSION_ID, "0190a8c0-0000-7000-8000-000000000001";
        max_tokens("max_tokens"): Option<MaxTokens> = MAX_TOKENS, "2000";
    }
}

arguments! {
    struct GetInteraction {
        id("interaction_id"): InteractionId = "As other tools show it", "0190a8c0-0000-7000-8000-000000000001";
    }
}

/// Which piece of a record is wanted.
enum Piece {
    Part(usize),
    Find(String),
}

/// What a reply shows: its heading, and how to ask for more of it.
struct Record<'a> {
    head: Vec<String>,
    parts: Parts,
    /// `t42` or `t42.3`.
    id: String,
    session: &'a SessionRow,
    is_cut: bool,
}

impl Run for GetTurn {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let piece = match (self.part, self.find) {
            (Some(_), Some(_)) => return Err(ArgumentError::PartAndFind.into()),
            (part, None) => Piece::Part(part.map_or(1, |Number(part)| part)),
            (None, Some(Words(find))) => Piece::Find(find),
        };
        let budget = Budget::of(self.max_tokens);
        let scope = call.scope().await?;
        let session = scope.session(self.session).await?;
        let record = match self.wanted {
            Wanted::Turn(turn) => whole(call, &scope, &session, turn, budget).await?,
            Wanted::Call(turn, tool) => one_call(call, &scope, &session, (turn, tool), budget).await?,
        };
        Ok(record.render(&scope, &piece, budget)?.into())
    }
}

impl Run for GetInteraction {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let id = self.id;
        let scope = call.scope().await?;
        let Some((session, row)) = scope.interaction(id).await? else {
            let after = Turn(scope.current.turns.0.saturating_sub(200));
            let turns = call.engine.contents(scope.current.id, after, 200).await?.turns;
            let nearest = nearest(&id.to_string(), turns.iter().rev().map(|row| row.interaction_id.to_string()));
            return Err(CallError::NoSuchInteraction { id, nearest });
        };
        let budget = Budget::of(None);
        let record = whole(call, &scope, &session, row.turn, budget).await?;
        Ok(record.render(&scope, &Piece::Part(1), budget)?.into())
    }
}

async fn whole<'s>(
    call: ToolContext<'_>,
    scope: &Scope<'_>,
    session: &'s SessionRow,
    turn: Turn,
    budget: Budget,
) -> Result<Record<'s>, CallError> {
    let view = call.engine.turn(session.id, turn).await.map_err(|err| missing(err, session.id))?;
    let row = &view.interaction.row;
    let mut head = vec![heading(scope, session, row), format!("About: {}", summary(&turns::summary(row)))];
    let neighbour = |word: &str, row: &TurnRow| format!("{word}: {} {}", row.turn, summary(&turns::summary(row)));
    head.extend(view.previous.as_ref().map(|row| neighbour("Previous", row)));
    head.extend(view.next.as_ref().map(|row| neighbour("Next", row)));
    let said = quote::turn(&view.interaction, Calls::Shown, other(scope, session).as_deref());
    let is_cut = view.interaction.cut;
    Ok(Record { head, parts: Parts::of(said, budget), id: turn.to_string(), session, is_cut })
}

async fn one_call<'s>(
    call: ToolContext<'_>,
    scope: &Scope<'_>,
    session: &'s SessionRow,
    (turn, tool): (Turn, u32),
    budget: Budget,
) -> Result<Record<'s>, CallError> {
    let view = call.engine.turn(session.id, turn).await.map_err(|err| missing(err, session.id))?;
    let calls = view.interaction.transcript.calls().count();
    let found = view.interaction.transcript.calls().find(|call| call.tool == tool);
    let found = found.ok_or(CallError::NoSuchCall { turn, call: tool, calls })?;
    let head = vec![format!("Call {turn}.{tool} of {calls}, in {}", heading(scope, session, &view.interaction.row))];
    let parts = Parts::of(quote::call(&view.interaction.transcript, found), budget);
    Ok(Record { head, parts, id: format!("{turn}.{tool}"), session, is_cut: view.interaction.cut })
}

/// `Turn t42 of 57, session ID "…" (current), 2026-11-15 15:20 UTC (3 calls, ~1.8k tokens), interaction ID`.
fn heading(scope: &Scope<'_>, session: &SessionRow, row: &TurnRow) -> String {
    format!(
        "Turn {} of {}, session {}, {} ({}), interaction {}",
        row.turn,
        session.turns.0.max(row.turn.0),
        scope.describe(session),
        when(row.started_at),
        contents::figures(row),
        row.interaction_id,
    )
}

impl Record<'_> {
    fn render(self, scope: &Scope<'_>, piece: &Piece, budget: Budget) -> Result<String, CallError> {
        let parts = self.parts.count();
        let mut lines = self.head.clone();
        lines.push(QUOTED.to_owned());
        match piece {
            Piece::Part(part) => {
                let what = self.id.clone();
                let shown = self.parts.part(*part).ok_or(CallError::NoSuchPart { part: *part, what, parts })?;
                lines.extend(shown);
                if parts > 1 {
                    let next = (*part < parts).then(|| self.next(scope, part + 1, budget));
                    let next = next.map_or_else(|| "It is the last.".to_owned(), |next| format!("Next: {next}"));
                    lines.push(format!("Part {part} of {parts}. {next}"));
                }
            }
            Piece::Find(wanted) => {
                let found = self.parts.find(wanted);
                let all = found.len();
                let mut page = Page::new(budget);
                page.take_some(found);
                let found = page.into_lines();
                let shown = found.len();
                lines.push(format!("{shown} of {} with {:?}:", count(all, "line"), model::one_line(wanted, 100)));
                lines.extend(found);
                let read = self.next(scope, 1, budget);
                lines.push(match (all, shown < all) {
                    (0, _) => format!("Try fewer letters of it, or read all of it: {read}"),
                    (_, true) => {
                        format!("The rest was left out by max_tokens; a longer text finds fewer. To read: {read}")
                    }
                    (_, false) => format!("To read around it, ask for its part: {read}"),
                });
            }
        }
        if self.is_cut {
            lines.push(format!("{} is longer than is read at once: its end is not shown here.", self.id));
        }
        Ok(lines.join("\n"))
    }

    fn next(&self, scope: &Scope<'_>, part: usize, budget: Budget) -> String {
        next_call(
            TURN.about.name,
            [
                ("turn", Some(json!(self.id))),
                ("session_id", scope.argument(self.session)),
                ("part", Some(json!(part))),
                ("max_tokens", budget.given().map(|tokens| json!(tokens))),
            ],
        )
    }
}

impl Run for GetTurns {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Self { from, to, session, max_tokens } = self;
        if from > to {
            return Err(CallError::Backwards { from, to });
        }
        let budget = Budget::of(max_tokens);
        let scope = call.scope().await?;
        let session = scope.session(session).await?;
        let newest = session.turns;
        if from > newest {
            return Err(CallError::NoSuchTurn { turn: from, session: session.id, newest });
        }
        // Turns that are not there yet are neither shown nor counted.
        let end = to.min(newest);
        let span_of = u64::from(end.0) - u64::from(from.0) + 1;
        if span_of > u64::from(MAX_TURNS_AT_ONCE) {
            let last = Turn(from.0.saturating_add(MAX_TURNS_AT_ONCE - 1));
            return Err(CallError::TooManyTurns { from, to: end, count: span_of, last });
        }
        let span_of = u64::from(to.0) - u64::from(from.0) + 1;
        let mut page = Page::new(budget);
        let (mut next, mut is_cut) = (from, false);
        // One at a time: twenty long ones at once would fill the memory for nothing.
        while next <= end {
            let (_, turns) = call.engine.turns(session.id, next, next).await.map_err(|err| missing(err, session.id))?;
            let Some(interaction) = turns.first() else { break };
            let lines = render_among_others(interaction, other(&scope, &session).as_deref());
            let is_first = page.is_empty();
            if !page.take(lines.clone()) {
                if is_first {
                    page.take_some(lines);
                    (next, is_cut) = (next.next(), true);
                }
                break;
            }
            next = next.next();
        }
        let shown = page.into_lines();
        let last = Turn(next.0 - 1);
        let asked = span(from, to);
        let mut lines = vec![format!(
            "Session {}: {} of the {} asked for ({asked}), {} in all.",
            scope.describe(&session),
            last.0 + 1 - from.0,
            count(usize::try_from(span_of).unwrap_or(usize::MAX), "turn"),
            newest.0
        )];
        lines.push(QUOTED.to_owned());
        lines.extend(shown);
        let id = scope.argument(&session);
        if next <= end {
            let max_tokens = budget.given().map(|tokens| json!(tokens));
            let go_on = next_call(
                TURNS.about.name,
                [
                    ("from", Some(json!(next.to_string()))),
                    ("to", Some(json!(end.to_string()))),
                    ("session_id", id.clone()),
                    ("max_tokens", max_tokens),
                ],
            );
            lines.push(format!("{} left out by max_tokens. Next: {go_on}", span(next, end)));
        }
        let read = next_call(TURN.about.name, [("turn", Some(json!(last.to_string()))), ("session_id", id)]);
        lines.push(match is_cut {
            true => format!("{last} is cut by max_tokens. To read all of it: {read}"),
            false => format!("To read one in full: {read}"),
        });
        Ok(lines.join("\n").into())
    }
}

/// A turn as one among others.
fn render_among_others(interaction: &Interaction, session: Option<&str>) -> Vec<String> {
    let row = &interaction.row;
    let mut lines = vec![format!("{}, interaction {}", contents::turn_line(row), row.interaction_id)];
    lines.extend(undivided(&quote::turn(interaction, Calls::Named, session)));
    lines
}

fn other(scope: &Scope<'_>, session: &SessionRow) -> Option<String> {
    (!scope.is_current(session.id)).then(|| session.id.to_string())
}

fn missing(err: QueryError, session: SessionId) -> CallError {
    match err {
        QueryError::NoSuchTurn { turn, newest } => CallError::NoSuchTurn { turn, session, newest },
        err => err.into(),
    }
}
