//! `throughline usage`: tokens and cost, by anything or of one session.
//!
//! Invariant: what nobody knows is said to be unknown; a cost that was computed carries a mark.

use anyhow::Result;
use engine::{Clock as _, SystemClock};
use jiff::Zoned;
use jiff::tz::TimeZone;
use model::Cost;
use server::wire::{CostBasis, SessionUsage, UsageBy, UsagePage, UsageWarning, Used};

use crate::cli::{self, UsageGrouping};
use crate::client::Client;
use crate::commands::list::NO_TITLE;
use crate::data_dir::DataDir;
use crate::pager;
use crate::paging::PageCursor;
use crate::style::Style;
use crate::terminal::{self, safe, safe_json, table};

const UNKNOWN: &str = "unknown";

pub(super) async fn run(data: &DataDir, usage: &cli::Usage) -> Result<()> {
    let client = Client::connect(data).await?;
    let lines = match &usage.session {
        Some(name) => {
            let session = client.find_session(name).await?;
            let found = of_session(&client, session.row.id).await?;
            match usage.json {
                true => vec![serde_json::to_string_pretty(&found)?],
                false => session_lines(session.row.title.as_deref().unwrap_or(NO_TITLE), &found),
            }
        }
        None => {
            let found = of_all(&client, usage.by, usage.since.days).await?;
            match usage.json {
                true => vec![serde_json::to_string_pretty(&found)?],
                false => all_lines(usage.by, &found),
            }
        }
    };
    client.close().await;
    match usage.json {
        true => Ok(lines.iter().try_for_each(|line| terminal::line(&safe_json(line)))?),
        false => Ok(pager::print(&lines)?),
    }
}

async fn of_session(client: &Client, id: model::SessionId) -> Result<SessionUsage> {
    let mut cursor = PageCursor::default();
    let mut whole: Option<SessionUsage> = None;
    loop {
        let page: SessionUsage = client.get(&format!("/sessions/{id}/usage{}", cursor.parameter("?after"))).await?;
        let next = page.next_cursor.clone();
        match &mut whole {
            None => whole = Some(page),
            Some(whole) => whole.turns.extend(page.turns),
        }
        if !cursor.advance(next)? {
            break;
        }
    }
    let mut whole = whole.expect("the loop reads a page at least");
    whole.next_cursor = None;
    Ok(whole)
}

async fn of_all(client: &Client, by: UsageGrouping, days: u32) -> Result<UsagePage> {
    let now = local_now();
    let from = now.date().checked_sub(jiff::Span::new().days(i64::from(days) - 1))?;
    let path = format!("/usage?by={}&from={from}&to={}&offset={}", by.word(), now.date(), offset_minutes(&now));
    let mut cursor = PageCursor::default();
    let mut whole: Option<UsagePage> = None;
    loop {
        let page: UsagePage = client.get(&format!("{path}{}", cursor.parameter("&after"))).await?;
        let next = page.next_cursor.clone();
        match &mut whole {
            None => whole = Some(page),
            Some(whole) => whole.rows.extend(page.rows),
        }
        if !cursor.advance(next)? {
            break;
        }
    }
    let mut whole = whole.expect("the loop reads a page at least");
    whole.next_cursor = None;
    Ok(whole)
}

/// What today has used, by this machine's clock.
pub(super) async fn today(client: &Client) -> Result<server::wire::UsageToday> {
    let now = local_now();
    let (day, offset) = (now.date(), offset_minutes(&now));
    let page: UsagePage = client.get(&format!("/usage?by=agent&from={day}&to={day}&offset={offset}&limit=1")).await?;
    Ok(page.today)
}

/// The time by this machine's clock and calendar.
fn local_now() -> Zoned {
    let now = jiff::Timestamp::from_millisecond(SystemClock.now().as_millis()).unwrap_or_default();
    now.to_zoned(TimeZone::system())
}

fn offset_minutes(now: &Zoned) -> i32 {
    now.offset().seconds() / 60
}

fn all_lines(by: UsageGrouping, page: &UsagePage) -> Vec<String> {
    let mut lines = vec![Style::Bold.paint(&format!("{} to {}: {}", page.from, page.to, in_words(&page.total)))];
    if page.rows.is_empty() {
        lines.push("No turn ended in this time.".to_owned());
        return lines;
    }
    let head = match by {
        UsageGrouping::Day => "DAY",
        UsageGrouping::Agent => "AGENT",
        UsageGrouping::Model => "MODEL",
        UsageGrouping::Project => "PROJECT",
        UsageGrouping::Work => "WORK",
        UsageGrouping::Session => "SESSION",
    };
    let rows: Vec<Vec<String>> = page.rows.iter().map(|row| cells(name_of(by, row), &row.used)).collect();
    lines.push(String::new());
    lines.extend(table(&[head, "TURNS", "INPUT", "CACHED", "OUTPUT", "COST"], &rows));
    lines.extend(unknown_lines(&page.total, &page.prices_as_of));
    lines.extend(page.today.warning.as_ref().map(|warning| warned("Today", warning)));
    lines
}

fn name_of(by: UsageGrouping, row: &UsageBy) -> String {
    let none = match by {
        UsageGrouping::Work => "(no piece of work)",
        UsageGrouping::Day
        | UsageGrouping::Agent
        | UsageGrouping::Model
        | UsageGrouping::Project
        | UsageGrouping::Session => UNKNOWN,
    };
    let id = |key: &str| key.chars().skip(key.len().saturating_sub(8)).collect::<String>();
    match (by, &row.name, &row.key) {
        (UsageGrouping::Session, Some(name), Some(key)) => format!("{}  {name}", id(key)),
        (_, Some(name), _) => name.clone(),
        (UsageGrouping::Session, None, Some(key)) => id(key),
        (_, None, Some(key)) => key.clone(),
        (_, None, None) => none.to_owned(),
    }
}

fn session_lines(title: &str, usage: &SessionUsage) -> Vec<String> {
    let mut lines = vec![Style::Bold.paint(&safe(title)), in_words(&usage.total)];
    lines.extend(usage.warning.as_ref().map(|warning| warned("This session", warning)));
    if usage.turns.is_empty() {
        lines.push("No turn has ended yet.".to_owned());
        return lines;
    }
    let rows = usage.turns.iter().map(|turn| {
        let models: Vec<&str> = turn.models.iter().map(|used| used.model.as_deref().unwrap_or(UNKNOWN)).collect();
        let mut row = cells(format!("t{}", turn.turn), &turn.used);
        row[1] = if models.is_empty() { UNKNOWN.to_owned() } else { models.join(", ") };
        row
    });
    lines.push(String::new());
    lines.extend(table(&["TURN", "MODEL", "INPUT", "CACHED", "OUTPUT", "COST"], &rows.collect::<Vec<_>>()));
    lines
}

fn cells(name: String, used: &Used) -> Vec<String> {
    let is_counted = used.total_tokens > 0;
    let count = |tokens: u64| if is_counted { short_count(tokens) } else { UNKNOWN.to_owned() };
    let cached = used.tokens.cached_read + used.tokens.cached_write;
    vec![
        name,
        used.turns.to_string(),
        count(used.tokens.input),
        count(cached),
        count(used.tokens.output),
        cost_words(used),
    ]
}

/// Why a part of it is unknown.
fn unknown_lines(total: &Used, as_of: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if total.basis == CostBasis::Computed || total.basis == CostBasis::Both {
        lines.push(
            Style::Dim.paint(&format!("~ computed from tokens; built-in prices as of {as_of}, yours in config.toml")),
        );
    }
    if total.unpriced_tokens > 0 {
        let models = match total.unpriced_models.is_empty() {
            true => "a model without a name".to_owned(),
            false => safe(&total.unpriced_models.join(", ")),
        };
        lines.push(format!(
            "The cost of {} tokens is unknown: no price for {models}.",
            short_count(total.unpriced_tokens)
        ));
    }
    if total.unknown_turns > 0 {
        let turns = if total.unknown_turns == 1 { "turn" } else { "turns" };
        lines.push(format!("{} {turns} did not report usage.", total.unknown_turns));
    }
    if lines.is_empty() { lines } else { [String::new()].into_iter().chain(lines).collect() }
}

pub(super) fn warned(what: &str, warning: &UsageWarning) -> String {
    let (spent, limit) = (money(&warning.spent), money(&warning.limit));
    Style::Attention.paint(&format!("{what} has cost {spent}, more than the {limit} that you set."))
}

/// Tokens and cost in a few words, such as `12.3k tokens, ~0.42 USD`.
pub(super) fn in_words(used: &Used) -> String {
    if used.total_tokens == 0 && used.cost.is_empty() {
        return "tokens and cost unknown".to_owned();
    }
    let tokens = match used.total_tokens {
        0 => "tokens unknown".to_owned(),
        count => format!("{} tokens", short_count(count)),
    };
    match used.cost.is_empty() {
        true => format!("{tokens}, cost unknown"),
        false => format!("{tokens}, {}", cost_words(used)),
    }
}

/// A cost that was computed is marked `~`, one of which a part is unknown `+`.
fn cost_words(used: &Used) -> String {
    if used.cost.is_empty() {
        return UNKNOWN.to_owned();
    }
    let mark = match used.basis {
        CostBasis::Computed | CostBasis::Both => "~",
        CostBasis::Stated | CostBasis::Unknown => "",
    };
    let rest = if used.unpriced_tokens > 0 || used.unknown_turns > 0 { " + unknown" } else { "" };
    let amounts: Vec<String> = used.cost.iter().map(money).collect();
    format!("{mark}{}{rest}", amounts.join(" + "))
}

/// Two digits after the point, or as many as it takes to show something.
pub(super) fn money(cost: &Cost) -> String {
    let amount: f64 = cost.amount.parse().unwrap_or(0.0);
    let shown = match amount {
        amount if amount == 0.0 || amount >= 0.995 => format!("{amount:.2}"),
        amount if amount >= 0.01 => format!("{amount:.3}"),
        amount if amount >= 0.0001 => format!("{amount:.5}"),
        _ => cost.amount.clone(),
    };
    safe(&format!("{shown} {}", cost.currency))
}

/// `950`, `12.3k`, `4.5M`.
pub(super) fn short_count(count: u64) -> String {
    let value = count as f64;
    match count {
        0..1_000 => count.to_string(),
        1_000..999_950 => format!("{:.1}k", value / 1e3),
        999_950..999_950_000 => format!("{:.1}M", value / 1e6),
        _ => format!("{:.1}G", value / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        for (amount, shown) in [
            ("0", "0.00 USD"),
            ("12.3456", "12.35 USD"),
            ("0.42", "0.420 USD"),
            ("0.00042", "0.00042 USD"),
            ("0.000000014", "0.000000014 USD"),
        ] {
            assert_eq!(money(&Cost { amount: amount.to_owned(), currency: "USD".to_owned() }), shown);
        }
        for (count, shown) in [(0, "0"), (999, "999"), (12_345, "12.3k"), (999_949, "999.9k"), (4_500_000, "4.5M")] {
            assert_eq!(short_count(count), shown);
        }
    }
}
