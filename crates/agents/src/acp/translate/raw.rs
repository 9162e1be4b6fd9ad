//! Keeps messages that are not understood as raw JSON, up to a limit.

use model::{AgentReport, json_bytes};
use serde_json::{Value, json};

const MAX_MESSAGES: usize = 1_000;
const MAX_BYTES: usize = 1 << 20;

/// How much may still be kept.
#[derive(Debug)]
pub(super) struct RawBudget {
    messages: usize,
    bytes: usize,
    is_spent: bool,
}

impl Default for RawBudget {
    fn default() -> Self {
        Self { messages: MAX_MESSAGES, bytes: MAX_BYTES, is_spent: false }
    }
}

impl RawBudget {
    pub(super) fn keep(&mut self, message: Value) -> Vec<AgentReport> {
        if self.is_spent {
            return Vec::new();
        }
        let size = json_bytes(&message);
        if self.messages == 0 || size > self.bytes {
            self.is_spent = true;
            return vec![AgentReport::Raw(json!({ "omitted": "more came that is not understood, and is not kept" }))];
        }
        self.messages -= 1;
        self.bytes -= size;
        vec![AgentReport::Raw(message)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_budget_is_told_once() {
        let mut budget = RawBudget::default();
        let kept = (0..MAX_MESSAGES).flat_map(|n| budget.keep(json!(n))).count();
        assert_eq!(kept, MAX_MESSAGES);
        assert_eq!(budget.keep(json!(1)).len(), 1);
        assert_eq!(budget.keep(json!(2)), vec![]);

        let mut budget = RawBudget::default();
        let large = json!("x".repeat(MAX_BYTES));
        assert_ne!(budget.keep(large.clone()), vec![AgentReport::Raw(large)]);
        assert_eq!(budget.keep(json!(1)), vec![]);
    }
}
