//! One line of the results: what was measured, what it is compared with, and its bar.
//!
//! Invariant: a ratio is taken within each repeat, from readings made one after the other, and only then the median
//! of the ratios: what slows the machine for a while slows both sides.

use serde::{Deserialize, Serialize};

use crate::statistics::Spread;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) bench: String,
    pub(crate) what: String,
    pub(crate) unit: String,
    pub(crate) ours: Spread,
    pub(crate) yardstick: Option<Yardstick>,
    pub(crate) ratio: Option<Spread>,
    pub(crate) bar: Option<Bar>,
    pub(crate) holds: Option<bool>,
    pub(crate) note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Yardstick {
    pub(crate) name: String,
    pub(crate) figure: Spread,
}

/// The requirement: for the ratio if there is one, else for our own figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bar {
    AtLeast(f64),
    AtMost(f64),
}

impl Line {
    /// One reading for each repeat.
    pub(crate) fn new(bench: &str, what: &str, unit: &str, ours: &[f64]) -> Self {
        Self {
            bench: bench.to_owned(),
            what: what.to_owned(),
            unit: unit.to_owned(),
            ours: Spread::of(ours),
            yardstick: None,
            ratio: None,
            bar: None,
            holds: None,
            note: None,
        }
    }

    /// Like [`Self::new`], with the readings of another side from the same repeats.
    pub(crate) fn beside(bench: &str, what: &str, unit: &str, ours: &[f64], name: &str, theirs: &[f64]) -> Self {
        let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        Self {
            yardstick: Some(Yardstick { name: name.to_owned(), figure: Spread::of(theirs) }),
            ratio: Some(Spread::of(&ratios)),
            ..Self::new(bench, what, unit, ours)
        }
    }

    pub(crate) fn bar(mut self, bar: Bar) -> Self {
        self.bar = Some(bar);
        self.holds = Some(bar.margin(self.judged()) >= 1.0);
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The figure that the bar is about.
    pub(crate) fn judged(&self) -> f64 {
        self.ratio.unwrap_or(self.ours).median
    }
}

impl Bar {
    /// How many times better than the bar a figure is; below 1 the bar is missed.
    pub(crate) fn margin(self, figure: f64) -> f64 {
        match self {
            Self::AtLeast(bar) => figure / bar,
            // A difference may be zero or negative.
            Self::AtMost(_) if figure <= 0.0 => f64::INFINITY,
            Self::AtMost(bar) => bar / figure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_within_each_repeat() {
        let line = Line::beside("b", "w", "1/s", &[10.0, 30.0, 20.0], "bare", &[10.0, 10.0, 40.0]);
        let ratio = line.ratio.unwrap();
        assert_eq!((ratio.median, ratio.low, ratio.high), (1.0, 0.5, 3.0));
        assert_eq!(line.bar(Bar::AtLeast(1.0)).holds, Some(true));
    }

    #[test]
    fn a_bar_judges_the_ratio_and_without_one_the_figure() {
        let line = Line::beside("b", "w", "us", &[8.0], "bare", &[2.0]);
        assert_eq!(line.clone().bar(Bar::AtMost(3.0)).holds, Some(false));
        assert_eq!(line.bar(Bar::AtMost(4.0)).holds, Some(true));
        assert_eq!(Line::new("b", "w", "MB", &[29.0]).bar(Bar::AtMost(30.0)).holds, Some(true));
        assert_eq!(Line::new("b", "w", "us", &[-3.0]).bar(Bar::AtMost(1.0)).holds, Some(true));
        assert_eq!(Line::new("b", "w", "us", &[f64::NAN]).bar(Bar::AtMost(1.0)).holds, Some(false));
        assert_eq!(Line::new("b", "w", "1/s", &[f64::NAN]).bar(Bar::AtLeast(1.0)).holds, Some(false));
    }
}
