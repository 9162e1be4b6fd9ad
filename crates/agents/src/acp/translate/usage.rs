//! Reads what a turn has used, wherever and however an agent says it.
//!
//! Invariant: this one reader knows all places and spellings: `usage` in the answer to a prompt, as the
//! protocol has it; `_meta.usage` beside a text chunk, once for each answer of the model;
//! `_meta.quota` in the answer to a prompt, where `model_usage` has each model that answered, also beside the conversation. What
//! comes out is of the turn alone: some agents count the life of their process. Zero tokens count as none: no model was
//! asked.

use model::{TokenCount, TurnUsage, UsedTokens};
use serde_json::Value;

/// What an agent has counted so far, in the life of its process and in the turn that runs.
#[derive(Debug, Default)]
pub(super) struct Counter {
    counts_its_life: bool,
    life: UsedTokens,
    turn: Option<UsedTokens>,
}

impl Counter {
    /// The agent says with each turn what all of them have used since its process began.
    pub(super) fn count_life(&mut self) {
        self.counts_its_life = true;
    }

    pub(super) fn begin_turn(&mut self) {
        self.turn = None;
    }

    /// An update of the running turn may have the count of one answer.
    pub(super) fn update(&mut self, update: &Value) {
        if let Some(tokens) = tokens(update) {
            self.turn = Some(self.turn.unwrap_or_default().plus(tokens));
        }
    }

    /// What the turn used, by the agent's answer and by what it said before. `model` is the one that is chosen.
    pub(super) fn end_turn(&mut self, answer: Option<&Value>, model: Option<&str>) -> Option<TurnUsage> {
        let mut used = TurnUsage::default();
        let by_model = answer.map(by_model).unwrap_or_default();
        for (model, tokens) in &by_model {
            used.add(Some(model), *tokens);
        }
        if by_model.is_empty() {
            let counted = answer.and_then(tokens).or(self.turn)?;
            let tokens = match self.counts_its_life {
                true => counted.minus(std::mem::replace(&mut self.life, counted)),
                false => counted,
            };
            used.add(model.map(model_name), tokens);
        }
        used.finished()
    }
}

/// A model by its name, of what some agents write around it: the way to it, and who serves it.
fn model_name(value: &str) -> &str {
    let name = value.rsplit('|').next().unwrap_or(value);
    let name = name.split_once('(').map_or(name, |(name, _)| name).trim();
    if name.is_empty() { value } else { name }
}

/// The models of a turn, each with its tokens; none, unless all of them can be read.
fn by_model(answer: &Value) -> Vec<(&str, UsedTokens)> {
    let listed = answer.pointer("/_meta/quota/model_usage").and_then(Value::as_array);
    let read = |used: &'_ Value| Some((used.get("model")?.as_str()?.to_owned(), read(used.get("token_count")?)?));
    let all: Option<Vec<_>> = listed.into_iter().flatten().map(read).collect();
    let names = listed.into_iter().flatten().filter_map(|used| used.get("model")?.as_str());
    let tokens = all.unwrap_or_default().into_iter().map(|(_, count)| UsedTokens::from(count));
    names.zip(tokens).filter(|(_, tokens)| tokens.total() > 0).collect()
}

/// The tokens that a message reports, if any.
fn tokens(message: &Value) -> Option<UsedTokens> {
    let meta = message.get("_meta");
    let in_meta = |path: &[&str]| path.iter().try_fold(meta?, |value, name| value.get(*name));
    [message.get("usage"), in_meta(&["usage"]), in_meta(&["quota", "token_count"])]
        .into_iter()
        .flatten()
        .find_map(read)
        .map(UsedTokens::from)
        .filter(|tokens| tokens.total() > 0)
}

/// The `usage` of an answer, if it is there but can not be read.
pub(super) fn not_understood(answer: &Value) -> Option<&Value> {
    answer.get("usage").filter(|usage| usage.is_object() && read(usage).is_none())
}

fn read(count: &Value) -> Option<TokenCount> {
    let number = |names: &[&str]| names.iter().find_map(|name| count.get(*name)?.as_u64());
    let (input, output) = (number(&["inputTokens", "input_tokens"])?, number(&["outputTokens", "output_tokens"])?);
    let total = number(&["totalTokens", "total_tokens"]).unwrap_or_else(|| input.saturating_add(output));
    Some(TokenCount {
        total,
        input,
        output,
        thought: number(&["thoughtTokens", "thought_tokens", "reasoningOutputTokens"]),
        cached_read: number(&["cachedReadTokens", "cached_read_tokens", "cachedInputTokens"]),
        cached_write: number(&["cachedWriteTokens", "cached_write_tokens", "cacheWriteInputTokens"]),
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    fn parsed(message: &Value) -> Option<(u64, u64, u64)> {
        tokens(message).map(|tokens| (tokens.total(), tokens.input, tokens.thought))
    }

    #[test]
    fn every_place_is_read() {
        let counted = json!({ "inputTokens": 10, "outputTokens": 5, "totalTokens": 16, "thoughtTokens": 1 });
        assert_eq!(parsed(&json!({ "usage": counted })), Some((16, 10, 1)));
        assert_eq!(parsed(&json!({ "_meta": { "usage": counted } })), Some((16, 10, 1)));
        let quota = json!({ "input_tokens": 7, "output_tokens": 2 });
        assert_eq!(parsed(&json!({ "_meta": { "quota": { "token_count": quota } } })), Some((9, 7, 0)));
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
    fn a_list_of_models_counts_only_if_it_is_whole() {
        let models = |second: Value| {
            let first = json!({ "model": "a", "token_count": { "input_tokens": 1, "output_tokens": 1 } });
            let quota = json!({ "model_usage": [first, second] });
            json!({ "_meta": { "quota": quota }, "usage": { "inputTokens": 9, "outputTokens": 9 } })
        };
        let ended = |answer: Value| Counter::default().end_turn(Some(&answer), Some("chosen")).unwrap().models;
        let names = |answer: Value| ended(answer).into_iter().filter_map(|used| used.model).collect::<Vec<_>>();
        let whole = json!({ "model": "b", "token_count": { "input_tokens": 5, "output_tokens": 1 } });
        assert_eq!(names(models(whole)), ["b", "a"], "the one with the most first");
        assert_eq!(names(models(json!({ "model": "b" }))), ["chosen"]);
    }

    #[test]
    fn names_are_bare() {
        for (value, name) in [
            ("opus", "opus"),
            ("lab/scripted", "lab/scripted"),
            ("$runtime|openai|scripted(openai)", "scripted"),
            ("(odd)", "(odd)"),
        ] {
            assert_eq!(model_name(value), name);
        }
    }

    /// What the recorded turns of an agent used, a life a line.
    fn recorded(lines: &str, counts_its_life: bool) -> String {
        let mut told = String::new();
        let mut counter = Counter::default();
        let mut prompts: Vec<Value> = Vec::new();
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let (from, message) = (line["from"].as_str().unwrap(), &line["line"]);
            match (from, message["method"].as_str()) {
                ("client", Some("initialize")) => {
                    counter = Counter { counts_its_life, ..Counter::default() };
                    prompts.clear();
                    told.push('\n');
                }
                ("client", Some("session/prompt")) => {
                    counter.begin_turn();
                    prompts.push(message["id"].clone());
                }
                ("agent", Some("session/update")) if !prompts.is_empty() => {
                    counter.update(&message["params"]["update"]);
                }
                ("agent", None) if prompts.contains(&message["id"]) => {
                    prompts.clear();
                    let used = counter.end_turn(message.get("result"), Some("chosen"));
                    let models = used.into_iter().flat_map(|used| used.models);
                    let models = models.map(|used| format!("{} {}", used.model.unwrap(), used.tokens.total()));
                    write!(told, "[{}] ", models.collect::<Vec<_>>().join(", ")).unwrap();
                }
                _ => (),
            }
        }
        told.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    macro_rules! recording {
        ($agent:literal) => {
            include_str!(concat!("../../../../../fixtures/acp/", $agent, ".jsonl"))
        };
    }

    /// Every answer of the scripted model is 15 tokens; what is in brackets is a turn, a line is a life of the agent.
    #[test]
    fn recorded_agents_are_counted_by_the_turn() {
        let all = [
            ("claude", recording!("claude"), false),
            ("codex", recording!("codex"), false),
            ("copilot", recording!("copilot"), true),
            ("gemini", recording!("gemini"), false),
            ("kimi", recording!("kimi"), false),
            ("opencode", recording!("opencode"), false),
            ("qwen", recording!("qwen"), false),
        ];
        let told = all.map(|(agent, lines, counts_its_life)| format!("{agent}\n{}", recorded(lines, counts_its_life)));
        insta::assert_snapshot!(told.join("\n"), @r"
        claude
        [claude-opus-5-5 45] [claude-opus-5-5 30] [claude-opus-5-5 30] [claude-opus-5-5 30] [claude-opus-5-5 15] [claude-opus-5-5 15] []
        [claude-opus-5-5 15]
        [claude-opus-5-5 15]
        codex
        [scripted 30] [scripted 30] [scripted 15] [scripted 15] [scripted 15] [scripted 15] []
        [scripted 15]
        [scripted 15]
        copilot
        [chosen 30] [chosen 30] [chosen 15] [chosen 30] [chosen 15] [chosen 15] []
        [chosen 15]
        gemini
        [gemini-3.8-flash 15, auto 15] [gemini-3.8-flash 15, auto 15] [gemini-3.8-flash 15, auto 15] [gemini-3.8-flash 15, auto 15] [gemini-3.8-flash 15] [gemini-3.8-flash 15] []
        [gemini-3.8-flash 15]
        kimi
        [] [] [] [] [] [] []
        []
        []
        opencode
        [chosen 15] [chosen 15] [chosen 15] [chosen 15] [chosen 15] [chosen 15] []
        [chosen 15]
        [chosen 15]
        qwen
        [chosen 15] [chosen 30] [chosen 15] [chosen 30] [chosen 15] [chosen 15] []
        [chosen 15]
        [chosen 15]
        ");
    }
}
