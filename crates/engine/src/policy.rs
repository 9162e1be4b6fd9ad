//! Answers questions without asking the person, by the rules and the remembered answers that the person gave beforehand.
//!
//! Invariant: a rule that forbids comes first, then what was answered to the very same before, then the other rules. A
//! rule looks at the agent and at the kind of work, never at a title that an agent wrote; and the answer is chosen among
//! those that the agent offers by what it means. Where nothing was decided, a call of the session's own tools is allowed once.

use agents::policy::{PermissionPolicy, Policy};
use model::{Answerer, PermissionAnswer, PermissionKind, Question, RememberedDecision, RememberedRow};

/// The answer that is given unasked, if there is one and the agent offers it.
pub(crate) fn answer(
    policy: &PermissionPolicy,
    remembered: Option<&RememberedRow>,
    agent: &str,
    question: &Question,
) -> Option<PermissionAnswer> {
    let decision = policy.decide(agent, question.kind);
    let forbidden = decision.policy == Policy::Deny && !decision.is_default();
    match remembered.filter(|_| !forbidden) {
        Some(row) => {
            let by = Answerer::Remembered { id: row.id };
            match row.decision {
                // What was remembered is this one thing; an agent that offers only more than that asks again.
                RememberedDecision::Allow => choose(question, &[PermissionKind::AllowOnce], by),
                RememberedDecision::Deny => choose(question, &REFUSALS, by),
            }
        }
        None => {
            let by = Answerer::Policy { rule: decision.rule.to_owned() };
            match decision.policy {
                Policy::Ask => None,
                Policy::Allow => choose(question, &[PermissionKind::AllowOnce, PermissionKind::AllowAlways], by),
                Policy::Deny => choose(question, &REFUSALS, by),
            }
        }
    }
}

/// What the log calls the answer to a question about a session's own tools.
const OWN_TOOLS_RULE: &str = "own_tools";

/// The answer to a question about one of the session's own tools, which only note and read: this once, and no more.
pub(crate) fn own_tool(question: &Question) -> Option<PermissionAnswer> {
    choose(question, &[PermissionKind::AllowOnce], Answerer::Policy { rule: OWN_TOOLS_RULE.to_owned() })
}

const REFUSALS: [PermissionKind; 2] = [PermissionKind::RejectOnce, PermissionKind::RejectAlways];

/// The first of these kinds that is offered.
fn choose(question: &Question, kinds: &[PermissionKind], by: Answerer) -> Option<PermissionAnswer> {
    let offered = |kind: &PermissionKind| question.options.iter().find(|option| option.kind == *kind);
    let option = kinds.iter().find_map(offered)?;
    let (id, kind) = (option.id.clone(), option.kind);
    Some(PermissionAnswer { option: Some(id), kind: Some(kind), fields: None, by, remembered: None })
}

#[cfg(test)]
mod tests {
    use model::{PermissionOption, RememberedId, Timestamp, ToolKind};

    use super::*;

    fn question(kind: ToolKind, offered: &[PermissionKind]) -> Question {
        let option = |kind: &PermissionKind| {
            let id = match kind {
                PermissionKind::AllowAlways => "always",
                PermissionKind::AllowOnce => "once",
                PermissionKind::RejectOnce => "no",
                PermissionKind::RejectAlways => "never",
            };
            PermissionOption { id: id.to_owned(), name: id.to_owned(), kind: *kind }
        };
        let options = offered.iter().map(option).collect();
        Question {
            tool: None,
            title: "t".to_owned(),
            kind,
            subject: None,
            said: None,
            digest: None,
            options,
            form: None,
        }
    }

    fn remembered(decision: RememberedDecision) -> RememberedRow {
        RememberedRow {
            id: RememberedId::from_bytes([1; 16]),
            project: String::new(),
            cwd: String::new(),
            agent: String::new(),
            kind: ToolKind::Read,
            subject: String::new(),
            digest: String::new(),
            decision,
            by: Answerer::Nobody,
            remembered_at: Timestamp::from_millis(0),
        }
    }

    fn policy(default: Policy, rules: &[(&str, Policy)]) -> PermissionPolicy {
        let rules = rules.iter().map(|(rule, policy)| ((*rule).to_owned(), *policy)).collect();
        PermissionPolicy::new(default, rules).unwrap()
    }

    const ALL: [PermissionKind; 3] =
        [PermissionKind::AllowAlways, PermissionKind::AllowOnce, PermissionKind::RejectOnce];

    #[test]
    fn only_what_is_offered_is_chosen_and_once_before_always() {
        let rules = [("codex.*", Policy::Ask), ("*.execute", Policy::Deny), ("*.*", Policy::Allow)];
        let policy = policy(Policy::Ask, &rules);
        let chosen = |agent, kind, offered: &[PermissionKind]| {
            answer(&policy, None, agent, &question(kind, offered)).and_then(|answer| answer.option)
        };
        assert_eq!(chosen("claude", ToolKind::Read, &ALL).as_deref(), Some("once"));
        assert_eq!(chosen("claude", ToolKind::Read, &ALL[..1]).as_deref(), Some("always"));
        assert_eq!(chosen("claude", ToolKind::Execute, &ALL).as_deref(), Some("no"));
        assert_eq!(chosen("claude", ToolKind::Execute, &ALL[..2]), None);
        assert_eq!(chosen("codex", ToolKind::Read, &ALL), None);
    }

    #[test]
    fn a_rule_that_forbids_comes_first_then_what_is_remembered_then_the_rest() {
        let (allow, deny) = (remembered(RememberedDecision::Allow), remembered(RememberedDecision::Deny));
        let read = question(ToolKind::Read, &ALL);
        let forbids = policy(Policy::Ask, &[("*.read", Policy::Deny)]);
        let allows = policy(Policy::Ask, &[("*.read", Policy::Allow)]);
        let refuses_by_default = policy(Policy::Deny, &[]);
        let table = [
            (&forbids, &allow, "no", "policy"),
            (&allows, &deny, "no", "remembered"),
            (&allows, &allow, "once", "remembered"),
            (&refuses_by_default, &allow, "once", "remembered"),
        ];
        for (policy, row, option, by) in table {
            let answer = answer(policy, Some(row), "claude", &read).unwrap();
            let answerer = serde_json::to_value(&answer.by).unwrap();
            assert_eq!((answer.option.as_deref(), &answerer["type"]), (Some(option), &by.into()), "{policy:?}");
        }
    }

    #[test]
    fn what_is_remembered_grants_no_more_and_no_rule_steps_in() {
        let allows = policy(Policy::Ask, &[("*.read", Policy::Allow)]);
        let only_always = question(ToolKind::Read, &ALL[..1]);
        assert_eq!(answer(&allows, Some(&remembered(RememberedDecision::Allow)), "claude", &only_always), None);
        assert_eq!(answer(&allows, Some(&remembered(RememberedDecision::Deny)), "claude", &only_always), None);
    }
}
