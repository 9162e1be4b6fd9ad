//! An amount of money, in whole billionths of a currency's unit.
//!
//! Invariant: amounts are added and subtracted as integers; only what a person reads is rounded.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Cost;

const NANOS: i64 = 1_000_000_000;
/// More than this in one turn is taken for this much, so that sums of turns do not overflow.
const MAX_TURN_NANOS: i64 = 10_000 * NANOS;
const MAX_CURRENCY_CHARS: usize = 16;

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    /// In billionths of the unit.
    pub nanos: i64,
    /// As ISO 4217 names it.
    pub currency: String,
}

/// A text that is no amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an amount of money: write a number and a currency, as in `5 USD`")]
pub struct ParseMoneyError;

impl Money {
    /// What an agent said; `None` if it is no amount, or none at all. An agent that does not know a price says 0, so zero is
    /// no statement.
    pub fn stated(cost: &Cost) -> Option<Self> {
        let nanos = nanos(&cost.amount)?;
        let currency = currency(&cost.currency)?;
        (nanos > 0).then_some(Self { nanos, currency })
    }

    /// As the cost of one turn, which has a limit.
    pub(super) fn of_one_turn(self) -> Self {
        Self { nanos: self.nanos.min(MAX_TURN_NANOS), ..self }
    }

    /// Nothing, in this currency.
    pub fn none(currency: &str) -> Self {
        Self { nanos: 0, currency: currency.to_owned() }
    }

    /// The amount in decimal digits, as far as they say something.
    pub fn amount(&self) -> String {
        let (units, rest) = (self.nanos / NANOS, self.nanos % NANOS);
        let digits = format!("{units}.{rest:09}");
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// As it goes over the wire.
    pub fn to_cost(&self) -> Cost {
        Cost { amount: self.amount(), currency: self.currency.clone() }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.amount(), self.currency)
    }
}

impl FromStr for Money {
    type Err = ParseMoneyError;

    /// `5 USD`, `0.25 EUR`.
    fn from_str(text: &str) -> Result<Self, ParseMoneyError> {
        let (amount, currency_word) = text.trim().split_once(char::is_whitespace).ok_or(ParseMoneyError)?;
        let nanos = nanos(amount).ok_or(ParseMoneyError)?;
        let currency = currency(currency_word).ok_or(ParseMoneyError)?;
        Ok(Self { nanos, currency })
    }
}

fn currency(text: &str) -> Option<String> {
    let text = text.trim();
    let is_word =
        !text.is_empty() && text.len() <= MAX_CURRENCY_CHARS && text.chars().all(|c| c.is_ascii_alphanumeric());
    is_word.then(|| text.to_ascii_uppercase())
}

/// Billionths, from decimal digits; those after the ninth round.
fn nanos(text: &str) -> Option<i64> {
    let (units, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if (units.is_empty() && rest.is_empty()) || !is_number(units) || !is_number(rest) {
        return None;
    }
    let units: i64 = if units.is_empty() { 0 } else { units.parse().ok()? };
    let nine: String = rest.chars().chain(std::iter::repeat('0')).take(9).collect();
    let rounded = i64::from(rest.as_bytes().get(9).is_some_and(|digit| *digit >= b'5'));
    units.checked_mul(NANOS)?.checked_add(nine.parse::<i64>().ok()? + rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written() {
        for (text, written) in [
            ("5 USD", "5 USD"),
            ("0.25 eur", "0.25 EUR"),
            (".5 USD", "0.5 USD"),
            ("0.0007000000000000001 USD", "0.0007 USD"),
            ("0.0000000005 USD", "0.000000001 USD"),
            ("  12   JPY ", "12 JPY"),
        ] {
            assert_eq!(text.parse::<Money>().unwrap().to_string(), written, "{text}");
        }
        for text in ["", "5", "USD", "-5 USD", "5,0 USD", "five USD", ". USD", "5 $", "99999999999999999999 USD"] {
            assert_eq!(text.parse::<Money>(), Err(ParseMoneyError), "{text}");
        }
    }

    #[test]
    fn zero_is_no_statement() {
        let stated = |amount: &str| Money::stated(&Cost { amount: amount.to_owned(), currency: "USD".to_owned() });
        assert_eq!(stated("0"), None);
        assert_eq!(stated("free"), None);
        assert_eq!(stated("0.5").map(|money| money.nanos), Some(500_000_000));
        assert_eq!(stated("900000000").map(|money| money.nanos), Some(900_000_000 * NANOS));
        assert_eq!(stated("900000000").map(|money| money.of_one_turn().nanos), Some(MAX_TURN_NANOS));
    }
}
