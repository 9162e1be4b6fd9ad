//! The prices that come with the program: well-known models, as their makers list them for anyone who pays by the token.
//!
//! Invariant: a name stands for one model, so that a new one is unknown and not mistaken for an older one. Surcharges for long
//! prompts, for caches that are kept for an hour, and discounts are not in it; `[prices]` in `config.toml` comes first.

use super::Price;

/// When the table was last compared with the makers' lists.
pub const AS_OF: &str = "2026-10-16";

const NONE: i64 = -1;

/// In millionths of a dollar for a million tokens: input, output, read from the cache, put into it.
const TABLE: &[(&str, [i64; 4])] = &[
    ("claude-3-5-haiku", [800_000, 4_000_000, 80_000, 1_000_000]),
    ("claude-3-5-sonnet", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    ("claude-3-7-sonnet", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    ("claude-3-haiku", [250_000, 1_250_000, 30_000, 300_000]),
    ("claude-3-opus", [15_000_000, 75_000_000, 1_500_000, 18_750_000]),
    ("claude-fable-5", [10_000_000, 50_000_000, 1_000_000, 12_500_000]),
    ("claude-fable-5-1", [10_000_000, 50_000_000, 250_000, 12_500_000]),
    ("claude-haiku-4-5", [1_000_000, 5_000_000, 100_000, 1_250_000]),
    ("claude-haiku-5-5", [100_000, 500_000, 10_000, 125_000]),
    ("claude-mythos-5", [10_000_000, 50_000_000, 1_000_000, 12_500_000]),
    ("claude-mythos-5-1", [10_000_000, 50_000_000, 250_000, 12_500_000]),
    ("claude-opus-4", [15_000_000, 75_000_000, 1_500_000, 18_750_000]),
    ("claude-opus-4-1", [15_000_000, 75_000_000, 1_500_000, 18_750_000]),
    ("claude-opus-4-5", [5_000_000, 25_000_000, 500_000, 6_250_000]),
    ("claude-opus-4-6", [5_000_000, 25_000_000, 500_000, 6_250_000]),
    ("claude-opus-4-7", [5_000_000, 25_000_000, 500_000, 6_250_000]),
    ("claude-opus-4-8", [5_000_000, 25_000_000, 500_000, 6_250_000]),
    ("claude-opus-5", [5_000_000, 25_000_000, 500_000, 6_250_000]),
    ("claude-opus-5-5", [4_000_000, 20_000_000, 200_000, 5_000_000]),
    ("claude-sonnet-4", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    ("claude-sonnet-4-5", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    ("claude-sonnet-4-6", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    ("claude-sonnet-5", [2_000_000, 10_000_000, 200_000, 2_500_000]),
    ("claude-sonnet-5-5", [2_000_000, 10_000_000, 100_000, 2_500_000]),
    ("codex-mini", [1_500_000, 6_000_000, 375_000, NONE]),
    ("deepseek-chat", [280_000, 420_000, 28_000, NONE]),
    ("deepseek-reasoner", [280_000, 420_000, 28_000, NONE]),
    ("deepseek-v4-flash", [140_000, 280_000, 2_800, NONE]),
    ("deepseek-v4-pro", [435_000, 870_000, 3_625, NONE]),
    ("devstral-2512", [400_000, 2_000_000, NONE, NONE]),
    ("devstral-medium", [400_000, 2_000_000, NONE, NONE]),
    ("devstral-small", [100_000, 300_000, NONE, NONE]),
    ("gemini-2.0-flash", [100_000, 400_000, 25_000, NONE]),
    ("gemini-2.5-flash", [300_000, 2_500_000, 30_000, NONE]),
    ("gemini-2.5-flash-lite", [100_000, 400_000, 10_000, NONE]),
    ("gemini-2.5-pro", [1_250_000, 10_000_000, 125_000, NONE]),
    ("gemini-3-flash-preview", [500_000, 3_000_000, 50_000, NONE]),
    ("gemini-3-pro-preview", [2_000_000, 12_000_000, 200_000, NONE]),
    ("gemini-3.1-flash-lite", [250_000, 1_500_000, 25_000, NONE]),
    ("gemini-3.1-pro-preview", [2_000_000, 12_000_000, 200_000, NONE]),
    ("gemini-3.5-flash", [1_500_000, 9_000_000, 150_000, NONE]),
    ("gemini-3.5-flash-lite", [300_000, 2_500_000, 30_000, NONE]),
    ("gemini-3.6-flash", [1_500_000, 7_500_000, 150_000, NONE]),
    ("glm-4.6", [600_000, 2_200_000, 110_000, NONE]),
    ("glm-4.7", [600_000, 2_200_000, 110_000, NONE]),
    ("glm-5", [1_000_000, 3_200_000, 200_000, NONE]),
    ("glm-5.1", [1_400_000, 4_400_000, 260_000, NONE]),
    ("gpt-4.1", [2_000_000, 8_000_000, 500_000, NONE]),
    ("gpt-4.1-mini", [400_000, 1_600_000, 100_000, NONE]),
    ("gpt-4.1-nano", [100_000, 400_000, 25_000, NONE]),
    ("gpt-4o", [2_500_000, 10_000_000, 1_250_000, NONE]),
    ("gpt-4o-mini", [150_000, 600_000, 75_000, NONE]),
    ("gpt-5", [1_250_000, 10_000_000, 125_000, NONE]),
    ("gpt-5-codex", [1_250_000, 10_000_000, 125_000, NONE]),
    ("gpt-5-mini", [250_000, 2_000_000, 25_000, NONE]),
    ("gpt-5-nano", [50_000, 400_000, 5_000, NONE]),
    ("gpt-5.1", [1_250_000, 10_000_000, 125_000, NONE]),
    ("gpt-5.1-codex", [1_250_000, 10_000_000, 125_000, NONE]),
    ("gpt-5.1-codex-max", [1_250_000, 10_000_000, 125_000, NONE]),
    ("gpt-5.1-codex-mini", [250_000, 2_000_000, 25_000, NONE]),
    ("gpt-5.2", [1_750_000, 14_000_000, 175_000, NONE]),
    ("gpt-5.2-codex", [1_750_000, 14_000_000, 175_000, NONE]),
    ("gpt-5.3-codex", [1_750_000, 14_000_000, 175_000, NONE]),
    ("gpt-5.4", [2_500_000, 15_000_000, 250_000, NONE]),
    ("gpt-5.4-mini", [750_000, 4_500_000, 75_000, NONE]),
    ("gpt-5.4-nano", [200_000, 1_250_000, 20_000, NONE]),
    ("gpt-5.5", [5_000_000, 30_000_000, 500_000, NONE]),
    ("gpt-5.6", [5_000_000, 30_000_000, 500_000, 6_250_000]),
    ("gpt-5.6-luna", [200_000, 1_200_000, 20_000, 250_000]),
    ("gpt-5.6-sol", [5_000_000, 30_000_000, 500_000, 6_250_000]),
    ("gpt-5.6-terra", [2_000_000, 12_000_000, 200_000, 2_500_000]),
    ("grok-4", [3_000_000, 15_000_000, NONE, NONE]),
    ("grok-4.3", [1_250_000, 2_500_000, 200_000, NONE]),
    ("grok-4.5", [2_000_000, 6_000_000, 500_000, NONE]),
    ("grok-code-fast-1", [200_000, 1_500_000, 20_000, NONE]),
    ("kimi-k2-thinking", [600_000, 2_500_000, 150_000, NONE]),
    ("kimi-k2.5", [600_000, 3_000_000, 100_000, NONE]),
    ("kimi-k2.6", [950_000, 4_000_000, 160_000, NONE]),
    ("o3", [2_000_000, 8_000_000, 500_000, NONE]),
    ("o3-mini", [1_100_000, 4_400_000, 550_000, NONE]),
    ("o4-mini", [1_100_000, 4_400_000, 275_000, NONE]),
    ("qwen-plus", [400_000, 1_200_000, NONE, NONE]),
    ("qwen3.7-max", [2_500_000, 7_500_000, 500_000, NONE]),
];

/// The price of a model by its name, in lower case and without its provider.
pub(super) fn find(model: &str) -> Option<Price> {
    let named = |(name, _): &&(&str, [i64; 4])| model.strip_prefix(name).is_some_and(is_date);
    let (_, [input, output, read, write]) = TABLE.iter().find(named)?;
    let nanos = |micros: &i64| (*micros != NONE).then_some(micros * 1_000);
    Some(Price {
        input: nanos(input)?,
        output: nanos(output)?,
        cached_read: nanos(read),
        cached_write: nanos(write),
        currency: "USD".to_owned(),
    })
}

/// Whether what follows a name only says which day's model it is.
fn is_date(rest: &str) -> bool {
    if rest.is_empty() || rest == "-latest" {
        return true;
    }
    let Some(date) = rest.strip_prefix(['-', '@']) else { return false };
    let date = date.split(':').next().unwrap_or(date).trim_end_matches("-v1");
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    digits == 8 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
pub(super) fn check() {
    assert!(TABLE.is_sorted_by(|(one, _), (other, _)| one < other), "in order, each once");
    for (name, [input, output, read, write]) in TABLE {
        assert!(*input > 0 && output > input, "{name}");
        assert!(*read == NONE || (0 < *read && read < input), "{name}");
        assert!(*write == NONE || write > input, "{name}");
        assert_eq!(find(name).map(|price| price.input), Some(input * 1_000), "{name} is found as itself");
        assert_eq!(*name, name.to_lowercase(), "{name}");
    }
    assert!(jiff::civil::Date::strptime("%Y-%m-%d", AS_OF).is_ok());
}
