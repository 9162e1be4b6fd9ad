//! The parts of `config.toml` about money: what models cost, and from which cost on to warn.
//!
//! Invariant: a price is what a million tokens cost; one that is not said is not taken for nothing.

use anyhow::{Context as _, Result, bail};
use engine::UsageSettings;
use model::{Money, Price, Prices};
use serde::{Deserialize, Serialize};

use crate::config::Config;

const DEFAULT_CURRENCY: &str = "USD";
/// More than any model costs for a million tokens.
const MAX_PRICE: f64 = 1_000_000.0;
const MAX_MODEL_CHARS: usize = 200;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceSection {
    /// For a million tokens that the model reads.
    input: f64,
    /// For a million that it writes, thoughts included.
    output: f64,
    /// For a million that it reads from its cache; as `input` unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    cached: Option<f64>,
    /// For a million that it puts into its cache; as `input` unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UsageSection {
    /// Warns when a session has cost more than this, as in "5 USD".
    #[serde(skip_serializing_if = "Option::is_none")]
    warn_session: Option<String>,
    /// Warns when a day has.
    #[serde(skip_serializing_if = "Option::is_none")]
    warn_day: Option<String>,
}

impl UsageSection {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Config {
    pub(crate) fn usage_settings(&self) -> Result<UsageSettings> {
        let mut own = Vec::new();
        for (model, price) in &self.prices {
            if model.trim().is_empty() || model.chars().count() > MAX_MODEL_CHARS {
                bail!(
                    "a name in [prices] is that of a model, or how names begin, of at most {MAX_MODEL_CHARS} characters"
                );
            }
            own.push((model.clone(), price.price(model)?));
        }
        let limit = |key: &str, text: Option<&String>| -> Result<Option<Money>> {
            text.map(|text| text.parse().with_context(|| format!("usage.{key} can not be used"))).transpose()
        };
        Ok(UsageSettings {
            prices: Prices::new(own),
            warn_session: limit("warn_session", self.usage.warn_session.as_ref())?,
            warn_day: limit("warn_day", self.usage.warn_day.as_ref())?,
        })
    }
}

impl PriceSection {
    fn price(&self, model: &str) -> Result<Price> {
        let nanos = |key: &str, price: f64| -> Result<i64> {
            if !(0.0..=MAX_PRICE).contains(&price) {
                bail!("prices.{model:?}.{key} is what a million tokens cost, from 0 to {MAX_PRICE}");
            }
            let nanos = (price * 1e9).round() as i64;
            Ok(nanos)
        };
        let currency = self.currency.as_deref().unwrap_or(DEFAULT_CURRENCY);
        let money: Money = format!("1 {currency}")
            .parse()
            .with_context(|| format!("prices.{model:?}.currency is a word such as {DEFAULT_CURRENCY}"))?;
        Ok(Price {
            input: nanos("input", self.input)?,
            output: nanos("output", self.output)?,
            cached_read: self.cached.map(|price| nanos("cached", price)).transpose()?,
            cached_write: self.cache_write.map(|price| nanos("cache_write", price)).transpose()?,
            currency: money.currency,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_and_limits_are_what_the_person_says() {
        let text = r#"
            [prices."lab/scripted"]
            input = 1.5
            output = 6
            cached = 0.15

            [prices.local]
            input = 0
            output = 0
            currency = "eur"

            [usage]
            warn_session = "5 USD"
            warn_day = "20 usd"
        "#;
        let settings = Config::parse(text).unwrap().usage_settings().unwrap();
        let found = settings.prices.find("lab/scripted-2").unwrap();
        assert_eq!((found.input, found.output, found.cached_read), (1_500_000_000, 6_000_000_000, Some(150_000_000)));
        assert_eq!(settings.prices.find("local-llama").unwrap().currency, "EUR");
        assert_eq!(settings.warn_session.unwrap().to_string(), "5 USD");
        assert_eq!(settings.warn_day.unwrap().to_string(), "20 USD");
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for (text, expected) in [
            ("[prices.a]\ninput = 1", "`output` is missing"),
            ("[prices.a]\ninput = -1\noutput = 1", "from 0 to"),
            ("[prices.a]\ninput = nan\noutput = 1", "from 0 to"),
            ("[prices.a]\ninput = 1\noutput = 1\ncurrency = \"$\"", "currency is a word"),
            ("[prices.\" \"]\ninput = 1\noutput = 1", "that of a model"),
            ("[prices.a]\ninput = 1\noutput = 1\ncash = 1", "did you mean prices.a.cached?"),
            ("[usage]\nwarn_day = \"5\"", "as in `5 USD`"),
            ("[usage]\nwarn_days = \"5 USD\"", "did you mean usage.warn_day?"),
        ] {
            let err = Config::parse(text).unwrap_err();
            assert!(format!("{err:#}").contains(expected), "{text}: {err:#}");
        }
    }
}
