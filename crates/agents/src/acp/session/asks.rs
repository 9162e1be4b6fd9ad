//! Makes sure that an agent asks a person before it acts.
//!
//! Invariant: an agent that accepts prompts is in a mode in which it asks; or the person chose another mode, for this
//! session or in the configuration; or the session shows a notice that it does not ask. For known agents, a mode that
//! is not listed as asking counts as one that does not ask.

use model::{AgentOption, AgentReport, Choice, Notice, Severity};

use super::{AcpSession, SessionEnd};
use crate::catalog::{AsksIn, Quirks};

const MODE: &str = "mode";
/// Names, or beginnings of names, of modes in which agents do not ask, in lower-case letters and digits only.
const UNASKING: [&str; 9] = [
    "auto",
    "yolo",
    "bypass",
    "dontask",
    "fullaccess",
    "agentfullaccess",
    "dangerfullaccess",
    "allowall",
    "unrestricted",
];
/// Names of modes in which agents ask, the best first.
const ASKING: [&str; 6] = ["default", "ask", "manual", "approve", "normal", "interactive"];

/// How to tell from one option's value whether the agent asks.
#[derive(Debug, Clone, Copy)]
enum AskRule {
    Known(AsksIn),
    /// The mode option, judged by common names of modes.
    Common,
}

impl AskRule {
    fn all(quirks: &Quirks) -> Vec<Self> {
        match quirks.asks_in {
            [] => vec![Self::Common],
            known => known.iter().map(|asks| Self::Known(*asks)).collect(),
        }
    }

    fn option(self) -> &'static str {
        match self {
            Self::Known(asks) => asks.option,
            Self::Common => MODE,
        }
    }

    fn asks(self, value: &str) -> bool {
        match self {
            Self::Known(asks) => asks.values.contains(&value),
            Self::Common => !UNASKING.iter().any(|name| plain(value).starts_with(name)),
        }
    }

    /// The best offered value in which the agent asks.
    fn choose(self, offered: &AgentOption) -> Option<&Choice> {
        let find = |is: &dyn Fn(&Choice) -> bool| offered.choices.iter().find(|choice| is(choice));
        match self {
            Self::Known(asks) => asks.values.iter().find_map(|value| find(&|choice| choice.value == *value)),
            Self::Common => ASKING.iter().find_map(|name| find(&|choice| plain(&choice.value) == *name)),
        }
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// A value as people see it: the name of the choice, in quotes.
fn name_of(offered: &AgentOption, value: &str) -> String {
    let choice = offered.choices.iter().find(|choice| choice.value == value);
    format!("“{}”", choice.map_or(value, |choice| &choice.name))
}

impl AcpSession {
    /// Sets options so that the agent asks, before it accepts prompts; a notice says what was changed or could not
    /// be.
    pub(super) async fn ensure_it_asks(&mut self) -> Result<(), SessionEnd> {
        for rule in AskRule::all(&self.about.quirks) {
            let Some(offered) = self.offered(rule) else { continue };
            let asks = rule.asks(&offered.value);
            let is_hidden = self.about.quirks.hides_its_mode && rule.option() == MODE;
            if !(asks && is_hidden) && (asks || self.is_chosen(rule, &offered)) {
                continue;
            }
            let began = name_of(&offered, &offered.value);
            let wanted =
                if asks { Some(offered.value.clone()) } else { rule.choose(&offered).map(|it| it.value.clone()) };
            let refused = match &wanted {
                Some(wanted) => self.set_at_once(&offered.id, wanted).await?,
                None => Some("it offers none in which it is known to ask".to_owned()),
            };
            let option = offered.name.to_lowercase();
            match (refused, wanted) {
                (None, Some(wanted)) if !asks => {
                    let now = name_of(&offered, &wanted);
                    let description = format!(
                        "Its {option} was {began}, in which it does not, so it is set to {now}. Choose another if you want \
                         it otherwise."
                    );
                    self.say(Severity::Info, "The agent is set to ask you before it acts", description).await?;
                }
                (None, _) => {}
                (Some(why), _) => {
                    let is = if asks { "is said to be" } else { "is" };
                    let description = format!("Its {option} {is} {began}, and it could not be set: {why}");
                    self.say(Severity::Error, "The agent may act without asking you", description).await?;
                }
            }
        }
        self.is_attached = true;
        Ok(())
    }

    /// The current state of each option that decides whether the agent asks.
    pub(super) fn asking_options(&self) -> Vec<Option<AgentOption>> {
        AskRule::all(&self.about.quirks).into_iter().map(|rule| self.offered(rule)).collect()
    }

    /// Sends a notice if the agent has stopped asking without the person having chosen that.
    pub(super) async fn notice_if_it_asks_less(&self, before: &[Option<AgentOption>]) -> Result<(), SessionEnd> {
        if !self.is_attached {
            return Ok(());
        }
        for (rule, before) in AskRule::all(&self.about.quirks).into_iter().zip(before) {
            let Some(now) = self.offered(rule) else { continue };
            let is_same = before.as_ref().is_some_and(|before| before.value == now.value);
            if !is_same && !rule.asks(&now.value) && !self.is_chosen(rule, &now) {
                let description = format!("Its {} is {} now.", now.name.to_lowercase(), name_of(&now, &now.value));
                self.say(Severity::Warning, "The agent may act without asking you from now on", description).await?;
            }
        }
        Ok(())
    }

    fn offered(&self, rule: AskRule) -> Option<AgentOption> {
        let name = self.translator.option_name(rule.option());
        self.translator.offered_option(&name).cloned()
    }

    fn is_chosen(&self, rule: AskRule, offered: &AgentOption) -> bool {
        let chosen = self.chosen.get(&offered.id).or_else(|| self.chosen.get(rule.option()));
        let configured = self.about.chosen_mode.as_ref().filter(|_| rule.option() == MODE);
        chosen.or(configured) == Some(&offered.value)
    }

    async fn say(&self, severity: Severity, title: &str, description: String) -> Result<(), SessionEnd> {
        let notice = Notice { severity, title: title.to_owned(), description: Some(description) };
        self.send_report(AgentReport::Noticed(notice)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn asks(agent: &str, value: &str) -> bool {
        let catalog = Catalog::new("/p/throughline", &[], Default::default()).unwrap();
        let quirks = catalog.find_entry(agent).unwrap().quirks;
        AskRule::all(&quirks).iter().filter(|rule| rule.option() == MODE).all(|rule| rule.asks(value))
    }

    #[test]
    fn each_agents_modes_are_known_by_whether_it_asks() {
        for (agent, asking, unasking) in [
            ("claude", &["default", "plan"][..], &["acceptEdits", "auto", "dontAsk", "bypassPermissions"][..]),
            ("codex", &["workspace-write", "read-only"], &["agent", "agent-full-access", "my-profile"]),
            ("gemini", &["default", "plan"], &["autoEdit", "yolo"]),
            ("qwen", &["default", "plan"], &["auto-edit", "auto", "yolo", "brand-new"]),
            ("kimi", &["default", "plan"], &["auto", "yolo"]),
            ("goose", &["approve", "chat"], &["auto", "smart_approve"]),
            (
                "copilot",
                &["https://agentclientprotocol.com/protocol/session-modes#agent"],
                &["https://agentclientprotocol.com/protocol/session-modes#autopilot"],
            ),
            // For these no modes are listed: the common names decide.
            ("opencode", &["build", "plan", "mine"], &["yolo", "Full Access", "auto_approve"]),
            ("vibe", &["default", "plan", "accept-edits"], &["auto-approve"]),
        ] {
            asking.iter().for_each(|mode| assert!(asks(agent, mode), "{agent} {mode}"));
            unasking.iter().for_each(|mode| assert!(!asks(agent, mode), "{agent} {mode}"));
        }
    }
}
