//! What is answered without asking the person, because the person said so beforehand.
//!
//! Invariant: a rule looks at the agent and at the kind of work, never at a title that an agent wrote; and the answer is
//! chosen among those that the agent offers by what it means.

use agents::policy::{PermissionPolicy, Policy};
use model::{Answerer, PermissionAnswer, PermissionKind, PermissionOption, ToolKind};

/// The answer that the rules give, if they give one and the agent offers it.
pub(crate) fn answer(
    policy: &PermissionPolicy,
    agent: &str,
    kind: ToolKind,
    offered: &[PermissionOption],
) -> Option<PermissionAnswer> {
    let decision = policy.decide(agent, kind);
    let kinds = match decision.policy {
        Policy::Ask => return None,
        Policy::Allow => [PermissionKind::AllowOnce, PermissionKind::AllowAlways],
        Policy::Deny => [PermissionKind::RejectOnce, PermissionKind::RejectAlways],
    };
    let option = kinds.iter().find_map(|kind| offered.iter().find(|option| option.kind == *kind))?;
    let by = Answerer::Policy { rule: decision.rule.to_owned() };
    Some(PermissionAnswer { option: Some(option.id.clone()), kind: Some(option.kind), fields: None, by })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_offered_is_chosen_and_once_before_always() {
        let option = |id: &str, kind| PermissionOption { id: id.to_owned(), name: id.to_owned(), kind };
        let all = [
            option("always", PermissionKind::AllowAlways),
            option("once", PermissionKind::AllowOnce),
            option("no", PermissionKind::RejectOnce),
        ];
        let rules = [("codex.*", Policy::Ask), ("*.execute", Policy::Deny), ("*.*", Policy::Allow)];
        let rules = rules.map(|(rule, policy)| (rule.to_owned(), policy)).into();
        let policy = PermissionPolicy::new(Policy::Ask, rules).unwrap();
        let chosen = |agent, kind, offered: &[PermissionOption]| {
            answer(&policy, agent, kind, offered).and_then(|answer| answer.option)
        };
        assert_eq!(chosen("claude", ToolKind::Read, &all).as_deref(), Some("once"));
        assert_eq!(chosen("claude", ToolKind::Read, &all[..1]).as_deref(), Some("always"));
        assert_eq!(chosen("claude", ToolKind::Execute, &all).as_deref(), Some("no"));
        assert_eq!(chosen("claude", ToolKind::Execute, &all[..2]), None);
        assert_eq!(chosen("codex", ToolKind::Read, &all), None);
    }
}
