//! What is answered without asking the person, because the person said so beforehand.
//!
//! Invariant: a rule looks at the agent and at the kind of work, never at a title that an agent wrote; and it chooses
//! among the answers that the agent offers by what they mean.

use std::collections::BTreeMap;

use model::{Answerer, PermissionAnswer, PermissionKind, PermissionOption, ToolKind};

/// What to do with a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// The person answers.
    #[default]
    Ask,
    /// Yes, this once.
    Allow,
    /// No, this once.
    Deny,
}

/// The person's rules. The most specific one counts: this agent and kind, this agent, this kind, all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policies {
    /// By agent and kind, each `*` or a name, as in `codex.execute`.
    pub rules: BTreeMap<String, Policy>,
}

impl Policies {
    /// The answer that the rules give, if they give one and the agent offers it.
    pub(crate) fn answer(&self, agent: &str, kind: ToolKind, offered: &[PermissionOption]) -> Option<PermissionAnswer> {
        let kind = serde_json::to_value(kind).ok()?;
        let kind = kind.as_str()?;
        let names = [format!("{agent}.{kind}"), format!("{agent}.*"), format!("*.{kind}"), "*.*".to_owned()];
        let (rule, policy) = names.into_iter().find_map(|rule| self.rules.get(&rule).map(|policy| (rule, *policy)))?;
        let kinds = match policy {
            Policy::Ask => return None,
            Policy::Allow => [PermissionKind::AllowOnce, PermissionKind::AllowAlways],
            Policy::Deny => [PermissionKind::RejectOnce, PermissionKind::RejectAlways],
        };
        let option = kinds.iter().find_map(|kind| offered.iter().find(|option| option.kind == *kind))?;
        let by = Answerer::Policy { rule };
        Some(PermissionAnswer { option: Some(option.id.clone()), kind: Some(option.kind), fields: None, by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_rule_counts_and_only_what_is_offered_is_chosen() {
        let option = |id: &str, kind| PermissionOption { id: id.to_owned(), name: id.to_owned(), kind };
        let all = [
            option("always", PermissionKind::AllowAlways),
            option("once", PermissionKind::AllowOnce),
            option("no", PermissionKind::RejectOnce),
        ];
        let rules = [
            ("codex.read", Policy::Allow),
            ("codex.*", Policy::Ask),
            ("*.execute", Policy::Deny),
            ("*.*", Policy::Allow),
        ];
        let policies = Policies { rules: rules.map(|(rule, policy)| (rule.to_owned(), policy)).into() };
        let chosen = |agent, kind, offered: &[PermissionOption]| {
            policies.answer(agent, kind, offered).and_then(|answer| answer.option)
        };
        assert_eq!(chosen("codex", ToolKind::Read, &all).as_deref(), Some("once"));
        assert_eq!(chosen("codex", ToolKind::Execute, &all), None);
        assert_eq!(chosen("claude", ToolKind::Execute, &all).as_deref(), Some("no"));
        assert_eq!(chosen("claude", ToolKind::Edit, &all[..1]).as_deref(), Some("always"));
        assert_eq!(chosen("claude", ToolKind::Execute, &all[..2]), None);
        assert_eq!(Policies::default().answer("claude", ToolKind::Read, &all), None);
    }
}
