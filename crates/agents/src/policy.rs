//! The person's rules for agents' requests for permission.
//!
//! Invariant: the most specific rule decides; of two equally specific ones, the stricter. Every decision names its
//! rule as the configuration does.

use std::collections::BTreeMap;

use model::ToolKind;

use crate::name::is_name;

/// What to do about a request. Ordered by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// Grant it, this once.
    Allow,
    /// Ask the person.
    Ask,
    /// Refuse it.
    Deny,
}

/// The person's rules, and the default where none matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionPolicy {
    default: Policy,
    rules: BTreeMap<String, Policy>,
}

/// A decision and the rule that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<'a> {
    pub policy: Policy,
    /// `AGENT.KIND` as in the configuration, or `default`.
    pub rule: &'a str,
}

/// Why a rule is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("the rule {0:?} is not written AGENT.KIND: for instance claude.execute, claude.* or *.delete")]
    Shape(String),
    #[error("the rule {rule:?} names no kind of work: {kind:?} is neither * nor one of {}", kinds())]
    Kind { rule: String, kind: String },
}

/// The rule's name in a decision that no rule made.
const DEFAULT_RULE: &str = "default";
const ANY: &str = "*";

/// Every word that a rule may use for a kind of call; [`word`] gives each of them.
const KINDS: [&str; 10] =
    ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"];

impl Decision<'_> {
    /// Whether no rule made the decision.
    pub fn is_default(&self) -> bool {
        self.rule == DEFAULT_RULE
    }
}

impl Default for PermissionPolicy {
    fn default() -> Self {
        Self { default: Policy::Ask, rules: BTreeMap::new() }
    }
}

impl PermissionPolicy {
    /// Makes a policy from rules by their names, `AGENT.KIND`; either half may be `*`.
    pub fn new(default: Policy, rules: BTreeMap<String, Policy>) -> Result<Self, RuleError> {
        for rule in rules.keys() {
            let shape = || RuleError::Shape(rule.clone());
            let (agent, kind) = rule.split_once('.').ok_or_else(shape)?;
            if agent != ANY && !is_name(agent) {
                return Err(shape());
            }
            if kind != ANY && !KINDS.contains(&kind) {
                return Err(RuleError::Kind { rule: rule.clone(), kind: kind.to_owned() });
            }
        }
        Ok(Self { default, rules })
    }

    /// The agents that the rules name.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().filter_map(|rule| rule.split_once('.')).map(|(agent, _)| agent).filter(|agent| *agent != ANY)
    }

    /// The decision for a call of this kind by this agent.
    pub fn decide(&self, agent: &str, kind: ToolKind) -> Decision<'_> {
        let kind = word(kind);
        let find = |agent: &str, kind: &str| self.rules.get_key_value(&format!("{agent}.{kind}"));
        let stricter = || [find(agent, ANY), find(ANY, kind)].into_iter().flatten().max_by_key(|(_, policy)| **policy);
        match find(agent, kind).or_else(stricter).or_else(|| find(ANY, ANY)) {
            Some((rule, policy)) => Decision { policy: *policy, rule },
            None => Decision { policy: self.default, rule: DEFAULT_RULE },
        }
    }
}

fn word(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch_mode",
        ToolKind::Other => "other",
    }
}

fn kinds() -> String {
    KINDS.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL_KINDS: [ToolKind; 10] = [
        ToolKind::Read,
        ToolKind::Edit,
        ToolKind::Delete,
        ToolKind::Move,
        ToolKind::Search,
        ToolKind::Execute,
        ToolKind::Think,
        ToolKind::Fetch,
        ToolKind::SwitchMode,
        ToolKind::Other,
    ];

    fn policy(default: Policy, rules: &[(&str, Policy)]) -> Result<PermissionPolicy, RuleError> {
        PermissionPolicy::new(default, rules.iter().map(|(rule, policy)| ((*rule).to_owned(), *policy)).collect())
    }

    #[test]
    fn without_rules_the_person_is_asked() {
        for kind in ALL_KINDS {
            let policy = PermissionPolicy::default();
            assert_eq!(policy.decide("claude", kind), Decision { policy: Policy::Ask, rule: "default" }, "{kind:?}");
        }
    }

    #[test]
    fn the_most_specific_rule_decides() {
        let rules = [
            ("*.*", Policy::Deny),
            ("*.read", Policy::Allow),
            ("claude.*", Policy::Ask),
            ("claude.read", Policy::Deny),
            ("codex.*", Policy::Allow),
            ("*.delete", Policy::Deny),
            ("guide.delete", Policy::Allow),
        ];
        let policy = policy(Policy::Ask, &rules).unwrap();
        let table = [
            // Both halves match.
            ("claude", ToolKind::Read, Policy::Deny, "claude.read"),
            ("guide", ToolKind::Delete, Policy::Allow, "guide.delete"),
            // One half matches.
            ("claude", ToolKind::Execute, Policy::Ask, "claude.*"),
            ("codex", ToolKind::Execute, Policy::Allow, "codex.*"),
            ("gemini", ToolKind::Read, Policy::Allow, "*.read"),
            // One half of each of two rules matches: the stricter one decides.
            ("claude", ToolKind::Delete, Policy::Deny, "*.delete"),
            ("codex", ToolKind::Delete, Policy::Deny, "*.delete"),
            // Neither half matches.
            ("gemini", ToolKind::Edit, Policy::Deny, "*.*"),
            ("claude-2", ToolKind::Edit, Policy::Deny, "*.*"),
        ];
        for (agent, kind, expected, rule) in table {
            assert_eq!(policy.decide(agent, kind), Decision { policy: expected, rule }, "{agent} {kind:?}");
        }
    }

    #[test]
    fn asking_is_stricter_than_allowing() {
        let policy = policy(Policy::Allow, &[("claude.*", Policy::Ask), ("*.read", Policy::Allow)]).unwrap();
        assert_eq!(policy.decide("claude", ToolKind::Read), Decision { policy: Policy::Ask, rule: "claude.*" });
        assert_eq!(policy.decide("codex", ToolKind::Edit), Decision { policy: Policy::Allow, rule: "default" });
    }

    #[test]
    fn every_kind_can_be_named() {
        for kind in ALL_KINDS {
            let rule = format!("claude.{}", word(kind));
            let policy = policy(Policy::Ask, &[(&rule, Policy::Deny)]).unwrap();
            assert_eq!(policy.decide("claude", kind), Decision { policy: Policy::Deny, rule: &rule });
        }
    }

    #[test]
    fn a_rule_that_could_never_hold_is_refused() {
        let refused = |rule: &str| policy(Policy::Ask, &[(rule, Policy::Deny)]).unwrap_err();
        for rule in ["claude", "", "Claude.read", ".read", "a b.read", "**.read"] {
            assert_eq!(refused(rule), RuleError::Shape(rule.to_owned()));
        }
        for (rule, kind) in [("claude.reed", "reed"), ("claude.", ""), ("*.read.edit", "read.edit"), ("*.Read", "Read")]
        {
            assert_eq!(refused(rule), RuleError::Kind { rule: rule.to_owned(), kind: kind.to_owned() });
        }
        assert!(refused("claude.exec").to_string().contains("execute"));
    }

    #[test]
    fn the_agents_that_rules_name_are_told() {
        let rules = [("claude.read", Policy::Ask), ("*.read", Policy::Allow), ("codex.*", Policy::Deny)];
        assert_eq!(policy(Policy::Ask, &rules).unwrap().agents().collect::<Vec<_>>(), ["claude", "codex"]);
    }
}
