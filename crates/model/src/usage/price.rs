//! What models cost, and what tokens therefore did.
//!
//! Invariant: a model that is in no table has no price, so that nobody takes what is not known for nothing.

mod built_in;

use std::collections::BTreeMap;

use super::{Money, UsedTokens};

pub use built_in::AS_OF as BUILT_IN_PRICES_AS_OF;

const MILLION: i128 = 1_000_000;

/// What a million tokens of a model cost, in billionths of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Read, not from the cache.
    pub input: i64,
    /// Written, thoughts included.
    pub output: i64,
    /// Read from the cache; where it is not said, as any other input.
    pub cached_read: Option<i64>,
    /// Put into the cache; where it is not said, as any other input.
    pub cached_write: Option<i64>,
    /// As ISO 4217 names it.
    pub currency: String,
}

impl Price {
    /// What so many tokens cost.
    pub fn of(&self, tokens: &UsedTokens) -> Money {
        let part = |count: u64, price: i64| i128::from(count) * i128::from(price);
        let sum = part(tokens.input, self.input)
            + part(tokens.output, self.output)
            + part(tokens.cached_read, self.cached_read.unwrap_or(self.input))
            + part(tokens.cached_write, self.cached_write.unwrap_or(self.input));
        let nanos = i64::try_from((sum + MILLION / 2) / MILLION).unwrap_or(i64::MAX);
        Money { nanos, currency: self.currency.clone() }
    }
}

/// The prices that are known: the person's own, and those that come with the program.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    own: BTreeMap<String, Price>,
}

impl Prices {
    /// With the person's own, by the name of a model or the beginning of names.
    pub fn new(own: impl IntoIterator<Item = (String, Price)>) -> Self {
        Self { own: own.into_iter().map(|(name, price)| (name.to_lowercase(), price)).collect() }
    }

    /// The price of a model. The person's own comes first: the longest name that the model's begins with, with or without the
    /// provider before it. The built-in ones fit whole names only, with or without a date behind them.
    pub fn find(&self, model: &str) -> Option<Price> {
        let whole = model.trim().to_lowercase();
        let bare = whole.rsplit('/').next().unwrap_or(&whole);
        let own = self.own.iter().filter(|(name, _)| whole.starts_with(*name) || bare.starts_with(*name));
        match own.max_by_key(|(name, _)| name.len()) {
            Some((_, price)) => Some(price.clone()),
            None => built_in::find(bare),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(input: i64) -> Price {
        Price {
            input,
            output: 2 * input,
            cached_read: Some(input / 10),
            cached_write: None,
            currency: "EUR".to_owned(),
        }
    }

    #[test]
    fn the_longest_own_name_wins() {
        let prices = Prices::new([
            ("lab".to_owned(), price(10)),
            ("lab/scripted".to_owned(), price(20)),
            ("Scripted".to_owned(), price(30)),
        ]);
        let found = |model: &str| prices.find(model).map(|price| price.input);
        assert_eq!(found("lab/scripted-2"), Some(20));
        assert_eq!(found("lab/other"), Some(10));
        assert_eq!(found("scripted"), Some(30));
        assert_eq!(found("elsewhere/SCRIPTED"), Some(30));
        assert_eq!(found("unheard-of"), None);
    }

    #[test]
    fn each_kind_has_its_price() {
        let tokens = UsedTokens {
            input: 1_000_000,
            output: 500_000,
            thought: 400_000,
            cached_read: 2_000_000,
            cached_write: 100_000,
        };
        assert_eq!(price(1_000_000_000).of(&tokens).to_string(), "2.3 EUR");
        assert_eq!(price(1_000_000_000).of(&UsedTokens::default()).to_string(), "0 EUR");
    }

    #[test]
    fn built_in_names_fit_whole() {
        let prices = Prices::default();
        let known = prices.find("claude-sonnet-4-5").expect("it is in the table");
        for same in [
            "anthropic/claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "Claude-Sonnet-4-5",
            "claude-sonnet-4-5@20250929",
        ] {
            assert_eq!(prices.find(same), Some(known.clone()), "{same}");
        }
        for other in ["claude-sonnet-4-5-turbo", "claude-sonnet", "claude-sonnet-45", "claude"] {
            assert_eq!(prices.find(other), None, "{other}");
        }
    }

    #[test]
    fn the_built_in_table_is_in_order_and_sound() {
        built_in::check();
    }
}
