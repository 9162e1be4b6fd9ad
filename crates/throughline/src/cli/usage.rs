//! `throughline usage` as people read it.

use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::SessionName;

pub(super) const USAGE_HELP: &str = "\
Examples:
  throughline usage                    the last 30 days, day by day
  throughline usage --by model         which models took what
  throughline usage --since 7d --by project
  throughline usage last               one session, turn by turn
  throughline usage --since 90d --json

A cost is what the agent said, or computed from its tokens and the prices in config.toml (marked ~). What nobody knows is
`unknown`.";

#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// One session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: Option<SessionName>,
    /// What to sum up by
    #[arg(long, value_enum, default_value_t = UsageGrouping::Day, conflicts_with = "session")]
    pub(crate) by: UsageGrouping,
    /// How far back: days, weeks or months, as in 7d, 4w, 6m
    #[arg(long, value_name = "TIME", default_value = "30d", conflicts_with = "session")]
    pub(crate) since: Since,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageGrouping {
    Day,
    Agent,
    Model,
    Project,
    Work,
    Session,
}

impl UsageGrouping {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Project => "project",
            Self::Work => "work",
            Self::Session => "session",
        }
    }
}

/// So many days, today included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Since {
    pub(crate) days: u32,
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MAX_DAYS: u32 = 3_660;
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let each = match &text[split..] {
            "d" | "" => Some(1),
            "w" => Some(7),
            "m" => Some(30),
            "y" => Some(365),
            _ => None,
        };
        let days = text[..split].parse::<u32>().ok().zip(each).and_then(|(count, each)| count.checked_mul(each));
        match days.filter(|days| (1..=MAX_DAYS).contains(days)) {
            Some(days) => Ok(Self { days }),
            None => Err("write a number of days, weeks or months, as in 7d, 4w or 6m".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_days() {
        for (text, days) in [("7d", 7), ("7", 7), ("4w", 28), ("6m", 180), ("1y", 365)] {
            assert_eq!(text.parse(), Ok(Since { days }), "{text}");
        }
        for text in ["", "d", "0d", "7h", "-1d", "99999d", "9999999999w"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}
