//! The options of an agent, such as mode and model. Some agents offer options, some only modes, some both; people see
//! one list.
//!
//! Invariant: the list is reported when it changes. Modes appear as the option `mode`, unless an option is about the
//! mode: then the modes are the same thing in the protocol's older form.

use agent_client_protocol::v1::schema::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption,
    SessionConfigSelectOptions, SessionModeState,
};
use model::{AgentOption, AgentReport, Choice, OptionCategory};
use serde_json::Value;

use super::text::cut_chars;
use super::{MAX_DESCRIPTION_CHARS, MAX_LISTED, MAX_TITLE_CHARS};

const MODE: &str = "mode";
const MODEL: &str = "model";

#[derive(Debug, Default)]
pub(super) struct AgentOptions {
    modes: Option<AgentOption>,
    /// Models in the form that some agents use since before there were options.
    models: Option<AgentOption>,
    options: Vec<AgentOption>,
    last_sent: Vec<AgentOption>,
}

/// An option that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OfferedOption<'a> {
    pub(crate) setting: OptionSetter,
    /// The current value.
    pub(crate) value: &'a str,
}

/// The request that sets an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionSetter {
    /// With `session/set_mode`.
    Mode,
    /// With `session/set_model`.
    Model,
    /// With `session/set_config_option` and one of the listed values.
    Choice,
    /// With `session/set_config_option` and yes or no.
    Switch,
}

impl AgentOptions {
    pub(super) fn begin(
        &mut self,
        modes: Option<SessionModeState>,
        options: Option<Vec<SessionConfigOption>>,
    ) -> Vec<AgentReport> {
        self.modes = modes.map(modes_as_option);
        self.options = options.into_iter().flatten().take(MAX_LISTED).map(option).collect();
        self.changed_options()
    }

    /// Keeps models that are not offered as an option; they are reported with the rest.
    pub(super) fn read_models(&mut self, models: Option<&Value>) {
        self.models = models.and_then(models_as_option);
    }

    pub(super) fn options_are(&mut self, options: Vec<SessionConfigOption>) -> Vec<AgentReport> {
        self.options = options.into_iter().take(MAX_LISTED).map(option).collect();
        self.changed_options()
    }

    pub(super) fn mode_is(&mut self, mode: &str) -> Vec<AgentReport> {
        let options = self.options.iter_mut().filter(|option| is_mode(option));
        for modes in self.modes.iter_mut().chain(options) {
            mode.clone_into(&mut modes.value);
        }
        self.changed_options()
    }

    pub(super) fn option_is(&mut self, option: &str, value: &str) -> Vec<AgentReport> {
        if self.find(option).is_some_and(|offer| offer.setting == OptionSetter::Mode) {
            return self.mode_is(value);
        }
        let models = self.models.iter_mut().filter(|_| option == MODEL);
        if let Some(option) = self.options.iter_mut().chain(models).find(|offered| offered.id == option) {
            value.clone_into(&mut option.value);
        }
        self.changed_options()
    }

    pub(super) fn find(&self, option: &str) -> Option<OfferedOption<'_>> {
        if let Some(offered) = self.options.iter().find(|offered| offered.id == option) {
            let setting = if offered.choices.is_empty() { OptionSetter::Switch } else { OptionSetter::Choice };
            return Some(OfferedOption { setting, value: &offered.value });
        }
        self.option(option).map(|offered| {
            let setting = if offered.id == MODEL { OptionSetter::Model } else { OptionSetter::Mode };
            OfferedOption { setting, value: &offered.value }
        })
    }

    pub(super) fn option(&self, option: &str) -> Option<&AgentOption> {
        let mut all = self.options.iter().chain(self.former());
        all.find(|offered| offered.id == option)
    }

    /// Modes and models that are offered in the older forms only.
    fn former(&self) -> impl Iterator<Item = &AgentOption> {
        let modes = self.modes.iter().filter(|_| !self.has_mode_option());
        modes.chain(self.models.iter().filter(|_| !self.has_model_option()))
    }

    /// The id of the option that is meant: its own, or `model` or `mode` by its category.
    pub(super) fn name_of<'a>(&'a self, wanted: &'a str) -> &'a str {
        let category = match wanted {
            MODEL => OptionCategory::Model,
            MODE => OptionCategory::Mode,
            _ => return wanted,
        };
        let about = self.options.iter().find(|option| option.category == category);
        match about {
            Some(option) if self.find(wanted).is_none() => &option.id,
            Some(_) | None => wanted,
        }
    }

    fn has_mode_option(&self) -> bool {
        self.options.iter().any(is_mode)
    }

    fn has_model_option(&self) -> bool {
        self.options.iter().any(|option| option.category == OptionCategory::Model || option.id == MODEL)
    }

    fn changed_options(&mut self) -> Vec<AgentReport> {
        let all: Vec<_> = self.former().chain(&self.options).cloned().collect();
        if self.last_sent == all {
            return Vec::new();
        }
        self.last_sent.clone_from(&all);
        vec![AgentReport::Options(all)]
    }
}

fn is_mode(option: &AgentOption) -> bool {
    option.category == OptionCategory::Mode || option.id == MODE
}

fn modes_as_option(modes: SessionModeState) -> AgentOption {
    let choices = modes.available_modes.into_iter().take(MAX_LISTED).map(|mode| Choice {
        value: mode.id.0.to_string(),
        name: cut_chars(mode.name, MAX_TITLE_CHARS),
        description: mode.description.map(|description| cut_chars(description, MAX_DESCRIPTION_CHARS)),
    });
    AgentOption {
        id: MODE.to_owned(),
        name: "Mode".to_owned(),
        description: None,
        category: OptionCategory::Mode,
        value: modes.current_mode_id.0.to_string(),
        choices: choices.collect(),
    }
}

/// `{"availableModels": [{"modelId", "name", "description"}], "currentModelId"}`.
fn models_as_option(models: &Value) -> Option<AgentOption> {
    let text = |value: &Value, member: &str| value.get(member).and_then(Value::as_str).map(str::to_owned);
    let choice = |model: &Value| {
        let value = text(model, "modelId")?;
        let name = text(model, "name").filter(|name| !name.is_empty()).unwrap_or_else(|| value.clone());
        let description = text(model, "description").map(|text| cut_chars(text, MAX_DESCRIPTION_CHARS));
        Some(Choice { value, name: cut_chars(name, MAX_TITLE_CHARS), description })
    };
    let choices = models.get("availableModels")?.as_array()?.iter().take(MAX_LISTED).filter_map(choice).collect();
    Some(AgentOption {
        id: MODEL.to_owned(),
        name: "Model".to_owned(),
        description: None,
        category: OptionCategory::Model,
        value: text(models, "currentModelId")?,
        choices,
    })
}

fn option(option: SessionConfigOption) -> AgentOption {
    let category = match option.category {
        Some(SessionConfigOptionCategory::Mode) => OptionCategory::Mode,
        Some(SessionConfigOptionCategory::Model) => OptionCategory::Model,
        Some(SessionConfigOptionCategory::ThoughtLevel) => OptionCategory::Thinking,
        Some(_) | None => OptionCategory::Other,
    };
    let (value, choices) = match option.kind {
        SessionConfigKind::Select(select) => {
            let choices = match select.options {
                SessionConfigSelectOptions::Ungrouped(choices) => choices,
                SessionConfigSelectOptions::Grouped(groups) => {
                    groups.into_iter().flat_map(|group| group.options).collect()
                }
                _ => Vec::new(),
            };
            (select.current_value.0.to_string(), choices.into_iter().take(MAX_LISTED).map(choice).collect())
        }
        SessionConfigKind::Boolean(switch) => (switch.current_value.to_string(), Vec::new()),
        _ => (String::new(), Vec::new()),
    };
    AgentOption {
        id: option.id.0.to_string(),
        name: cut_chars(option.name, MAX_TITLE_CHARS),
        description: option.description.map(|description| cut_chars(description, MAX_DESCRIPTION_CHARS)),
        category,
        value,
        choices,
    }
}

fn choice(choice: SessionConfigSelectOption) -> Choice {
    Choice {
        value: choice.value.0.to_string(),
        name: cut_chars(choice.name, MAX_TITLE_CHARS),
        description: choice.description.map(|description| cut_chars(description, MAX_DESCRIPTION_CHARS)),
    }
}
