//! Reads how many tokens a turn has used, wherever an agent says it.
//!
//! Invariant: this one reader knows all places and spellings: `usage` in the answer to a prompt, as the
//! protocol has it; `_meta.usage` beside a text chunk, once for each answer of the model;
//! `_meta.quota.token_count` in the answer to a prompt. Zero tokens count as none: no model was asked.

use model::TokenCount;
use serde_json::Value;

/// The tokens that a message reports, if any.
pub(super) fn tokens(message: &Value) -> Option<TokenCount> {
    let meta = message.get("_meta");
    let in_meta = |path: &[&str]| path.iter().try_fold(meta?, |value, name| value.get(*name));
    [message.get("usage"), in_meta(&["usage"]), in_meta(&["quota", "token_count"])]
        .into_iter()
        .flatten()
        .find_map(read)
        .filter(|tokens| tokens.total > 0)
}

/// The `usage` of an answer, if it is there but can not be read.
pub(super) fn not_understood(answer: &Value) -> Option<&Value> {
    answer.get("usage").filter(|usage| usage.is_object() && read(usage).is_none())
}

/// The sum of both counts.
pub(super) fn sum(one: Option<TokenCount>, other: TokenCount) -> TokenCount {
    let Some(one) = one else { return other };
    let both = |one: Option<u64>, other: Option<u64>| match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    };
    TokenCount {
        total: one.total.saturating_add(other.total),
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        thought: both(one.thought, other.thought),
        cached_read: both(one.cached_read, other.cached_read),
        cached_write: both(one.cached_write, other.cached_write),
    }
}

fn read(count: &Value) -> Option<TokenCount> {
    let number = |names: [&str; 2]| names.iter().find_map(|name| count.get(*name)?.as_u64());
    let (input, output) = (number(["inputTokens", "input_tokens"])?, number(["outputTokens", "output_tokens"])?);
    let total = number(["totalTokens", "total_tokens"]).unwrap_or_else(|| input.saturating_add(output));
    Some(TokenCount {
        total,
        input,
        output,
        thought: number(["thoughtTokens", "thought_tokens"]),
        cached_read: number(["cachedReadTokens", "cached_read_tokens"]),
        cached_write: number(["cachedWriteTokens", "cached_write_tokens"]),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(message: &Value) -> Option<(u64, u64, u64, Option<u64>)> {
        tokens(message).map(|tokens| (tokens.total, tokens.input, tokens.output, tokens.thought))
    }

    #[test]
    fn every_place_is_read() {
        let counted = json!({ "inputTokens": 10, "outputTokens": 5, "totalTokens": 16, "thoughtTokens": 1 });
        assert_eq!(parsed(&json!({ "usage": counted })), Some((16, 10, 5, Some(1))));
        assert_eq!(parsed(&json!({ "_meta": { "usage": counted } })), Some((16, 10, 5, Some(1))));
        let quota = json!({ "input_tokens": 7, "output_tokens": 2 });
        assert_eq!(parsed(&json!({ "_meta": { "quota": { "token_count": quota } } })), Some((9, 7, 2, None)));
        for nothing in [
            json!({}),
            json!({ "usage": null, "_meta": null }),
            json!({ "usage": { "inputTokens": "many", "outputTokens": 1 } }),
            json!({ "usage": { "inputTokens": 0, "outputTokens": 0 } }),
            json!([]),
        ] {
            assert_eq!(parsed(&nothing), None, "{nothing}");
        }
    }

    #[test]
    fn answers_of_one_turn_are_added_up() {
        let count = |input, thought| TokenCount {
            total: input + 1,
            input,
            output: 1,
            thought,
            cached_read: None,
            cached_write: None,
        };
        let both = sum(Some(sum(None, count(3, None))), count(4, Some(2)));
        assert_eq!((both.total, both.input, both.output, both.thought, both.cached_read), (9, 7, 2, Some(2), None));
    }
}
