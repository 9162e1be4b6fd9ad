//! What turns used and cost: by anything, and of one session.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use engine::{MAX_TURNS_USED, MAX_USAGE_SUMS};
use jiff::civil::Date;
use jiff::{Span, tz};
use model::{BUILT_IN_PRICES_AS_OF, Cost, Money, Priced, SessionId, Timestamp, Turn, UsageBy, UsageKey, UsageQuery};

use crate::error::ApiError;
use crate::extract::{Named, Params};
use crate::{App, access, turns, wire};

const MAX_ROWS: usize = 400;
const DEFAULT_DAYS: i64 = 30;
/// Ten years.
const MAX_DAYS: i64 = 3_660;
/// No clock is further from UTC.
const MAX_OFFSET_MINUTES: i32 = 840;

/// Usage by day, agent, model, project, piece of work or session.
#[utoipa::path(
    get,
    path = "/usage", operation_id = "getUsage",
    params(wire::UsageQuery),
    responses((status = 200, body = wire::UsagePage))
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Params(query): Params<wire::UsageQuery>,
) -> Result<Json<wire::UsagePage>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let by = query.by.as_deref().unwrap_or("day");
    let days = Days::of(&query, app.engine.now())?;
    let limit = number(query.limit.as_deref(), "limit", 1, MAX_ROWS)?.unwrap_or(MAX_ROWS);
    let after = number(query.after.as_deref(), "after", 0, MAX_USAGE_SUMS)?.unwrap_or(0);
    let asked = UsageQuery {
        by: grouping(by)?,
        from: days.begin(days.from)?,
        to: days.begin(next(days.to)?)?,
        offset_minutes: days.offset_minutes,
        session: None,
        limit: MAX_USAGE_SUMS,
    };
    let report = app.engine.usage(asked).await?;
    let count = report.rows.len();
    let shown: Vec<_> = report.rows.into_iter().skip(after).take(limit).collect();
    let keys: Vec<UsageKey> = shown.iter().map(|(key, _)| key.clone()).collect();
    let mut names = app.engine.usage_names(&keys).await?;
    let rows = shown.into_iter().map(|(key, used)| {
        let name = names.remove(&key);
        row(key, name, &used)
    });
    let rows = rows.collect::<Result<_, _>>()?;
    let (today, warning) = app.engine.day_usage(app.engine.now(), days.offset_minutes).await?;
    let (_, day_limit) = app.engine.usage_limits();
    Ok(Json(wire::UsagePage {
        by: by.to_owned(),
        from: days.from.to_string(),
        to: days.to.to_string(),
        rows,
        total: used(&report.total),
        today: wire::UsageToday {
            day: days.today.to_string(),
            used: used(&today),
            limit: day_limit.map(Money::to_cost),
            warning: warning.as_ref().map(warned),
        },
        prices_as_of: BUILT_IN_PRICES_AS_OF.to_owned(),
        next_cursor: (after + limit < count).then(|| (after + limit).to_string()),
    }))
}

/// What a session and each of its turns used.
#[utoipa::path(
    get,
    path = "/sessions/{id}/usage", operation_id = "getSessionUsage",
    params(("id" = String, Path), wire::SessionUsageQuery),
    responses((status = 200, body = wire::SessionUsage))
)]
pub(crate) async fn of_session(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::SessionUsageQuery>,
) -> Result<Json<wire::SessionUsage>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let after = query.after.as_deref().map(turns::parse).transpose()?.unwrap_or(Turn(0));
    let limit = number(query.limit.as_deref(), "limit", 1, MAX_TURNS_USED)?.unwrap_or(MAX_TURNS_USED);
    let usage = app.engine.session_usage(id, after, limit).await?;
    let last = usage.turns.last().map(|turn| turn.turn.0.to_string());
    let models = usage.models.into_iter().map(|(key, all)| wire::UsageBy { key, name: None, used: used(&all) });
    let turns = usage.turns.into_iter().map(|turn| wire::TurnUsed {
        turn: turn.turn.0,
        agent: turn.agent,
        at: turn.at,
        used: used(&turn.used),
        models: turn.models,
    });
    Ok(Json(wire::SessionUsage {
        session_id: id,
        total: used(&usage.total),
        models: models.collect(),
        turns: turns.collect(),
        warning: usage.warning.as_ref().map(warned),
        next_cursor: last.filter(|_| usage.more),
    }))
}

/// The days that are asked for.
struct Days {
    from: Date,
    to: Date,
    today: Date,
    offset_minutes: i32,
}

impl Days {
    fn of(query: &wire::UsageQuery, now: Timestamp) -> Result<Self, ApiError> {
        let offset = query.offset.as_deref().unwrap_or("0").parse().ok();
        let offset_minutes: i32 = offset
            .filter(|offset: &i32| (-MAX_OFFSET_MINUTES..=MAX_OFFSET_MINUTES).contains(offset))
            .ok_or_else(|| {
                ApiError::InvalidQuery(format!("offset is a number from -{MAX_OFFSET_MINUTES} to {MAX_OFFSET_MINUTES}"))
            })?;
        let clock = now.as_millis() + i64::from(offset_minutes) * 60_000;
        let now = jiff::Timestamp::from_millisecond(clock).map_err(|_| no_day("to"))?;
        let today = now.to_zoned(tz::TimeZone::UTC).date();
        let to = query.to.as_deref().map_or(Ok(today), |text| day("to", text))?;
        let first = || to.checked_sub(Span::new().days(DEFAULT_DAYS - 1)).map_err(|_| no_day("from"));
        let from = query.from.as_deref().map_or_else(first, |text| day("from", text))?;
        let length = (to - from).get_days();
        if from > to || i64::from(length) >= MAX_DAYS {
            return Err(ApiError::InvalidQuery(format!("from is not after to, and at most {MAX_DAYS} days before it")));
        }
        Ok(Self { from, to, today, offset_minutes })
    }

    /// The first instant of a day.
    fn begin(&self, day: Date) -> Result<Timestamp, ApiError> {
        let begin = day.to_zoned(tz::TimeZone::UTC).map_err(|_| no_day("to"))?.timestamp().as_millisecond();
        Ok(Timestamp::from_millis(begin - i64::from(self.offset_minutes) * 60_000))
    }
}

fn next(day: Date) -> Result<Date, ApiError> {
    day.tomorrow().map_err(|_| no_day("to"))
}

fn day(name: &str, text: &str) -> Result<Date, ApiError> {
    Date::strptime("%Y-%m-%d", text).map_err(|_| no_day(name))
}

fn no_day(name: &str) -> ApiError {
    ApiError::InvalidQuery(format!("{name} is a day, as in 2026-11-01"))
}

fn grouping(by: &str) -> Result<UsageBy, ApiError> {
    match by {
        "day" => Ok(UsageBy::Day),
        "agent" => Ok(UsageBy::Agent),
        "model" => Ok(UsageBy::Model),
        "project" => Ok(UsageBy::Project),
        "work" => Ok(UsageBy::Work),
        "session" => Ok(UsageBy::Session),
        _ => Err(ApiError::InvalidQuery("by is day, agent, model, project, work or session".to_owned())),
    }
}

fn number(text: Option<&str>, name: &str, least: usize, most: usize) -> Result<Option<usize>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.map(Some).ok_or_else(|| ApiError::InvalidQuery(format!("{name} is a number from {least} to {most}")))
}

fn row(key: UsageKey, name: Option<String>, priced: &Priced) -> Result<wire::UsageBy, ApiError> {
    let key = match key {
        UsageKey::Day(day) => {
            let date = Date::constant(1970, 1, 1).checked_add(Span::new().days(day)).map_err(|_| no_day("from"))?;
            Some(date.to_string())
        }
        UsageKey::Name(name) => name,
        UsageKey::Work(work) => work.map(|id| id.to_string()),
        UsageKey::Session(id) => Some(id.to_string()),
    };
    Ok(wire::UsageBy { key, name, used: used(priced) })
}

fn warned(warning: &engine::UsageWarning) -> wire::UsageWarning {
    wire::UsageWarning { limit: warning.limit.to_cost(), spent: warning.spent.to_cost() }
}

fn used(priced: &Priced) -> wire::Used {
    let costs = |sums: &BTreeMap<String, i64>| -> Vec<Cost> {
        let money = sums.iter().map(|(currency, nanos)| Money { nanos: *nanos, currency: currency.clone() });
        money.map(|money| money.to_cost()).collect()
    };
    let basis = match (priced.stated.is_empty(), priced.computed.is_empty()) {
        (true, true) => wire::CostBasis::Unknown,
        (false, true) => wire::CostBasis::Stated,
        (true, false) => wire::CostBasis::Computed,
        (false, false) => wire::CostBasis::Both,
    };
    wire::Used {
        tokens: priced.tokens,
        total_tokens: priced.tokens.total(),
        turns: priced.turns,
        unknown_turns: priced.unknown_turns,
        cost: costs(&priced.cost()),
        basis,
        stated: costs(&priced.stated),
        computed: costs(&priced.computed),
        unpriced_tokens: priced.unpriced.total(),
        unpriced_models: priced.unpriced_models.clone(),
    }
}
