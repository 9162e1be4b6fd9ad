//! What a person chooses about the agent is remembered until the agent leaves it.

use super::{History, parse};
use crate::limits::MAX_CHOSEN_OPTIONS;
use crate::{AgentOption, AgentReport, Command, OptionCategory};

fn choose(option: &str, value: &str) -> Command {
    Command::SetOption { option: option.to_owned(), value: value.to_owned() }
}

/// The agent says which mode it is in.
fn is_in(value: &str) -> Command {
    let (id, name, value) = ("approval".to_owned(), "Approval".to_owned(), value.to_owned());
    let category = OptionCategory::Mode;
    let option = AgentOption { id, name, description: None, category, value, choices: Vec::new() };
    Command::Agent(AgentReport::Options(vec![option]))
}

impl History {
    fn chosen(&self) -> Vec<String> {
        let options = self.session.iter().flat_map(|session| &session.row.options);
        options.map(|(option, value)| format!("{option}={value}")).collect()
    }

    fn then(&mut self, command: Command) -> usize {
        self.run(command).unwrap().len()
    }
}

#[test]
fn a_choice_lasts_until_the_agent_leaves_it() {
    let mut history = History::default();
    history.then(parse("create"));
    history.then(parse("ready"));
    assert_eq!(history.then(choose("mode", "plan")), 1);
    assert_eq!(history.then(choose("mode", "plan")), 0, "it is known");
    history.then(is_in("plan"));
    assert_eq!(history.chosen(), ["mode=plan"]);
    // An agent that starts again begins as it likes, until it is set.
    history.then(parse("gone"));
    history.then(parse("resume"));
    history.then(is_in("ask"));
    history.then(parse("ready"));
    assert_eq!(history.chosen(), ["mode=plan"]);
    // Its plan is approved, and it goes on.
    history.then(is_in("code"));
    assert_eq!(history.chosen(), Vec::<String>::new());
}

#[test]
fn what_no_agent_could_offer_is_not_remembered() {
    let mut history = History::default();
    history.then(parse("create"));
    history.then(parse("ready"));
    assert_eq!(history.then(choose("mode\n", "x")) + history.then(choose("mode", &"x".repeat(9_999))), 0);
    for n in 0..2 * MAX_CHOSEN_OPTIONS {
        history.then(choose(&n.to_string(), "x"));
    }
    assert_eq!(history.chosen().len(), MAX_CHOSEN_OPTIONS);
    assert_eq!(history.then(choose("0", "y")), 1);
}
