//! How fast the guide writes: its only option, which only the client changes.

use std::time::Duration;

use agent_client_protocol::v1::schema::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SetSessionConfigOptionRequest,
};

const ID: &str = "pace";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Pace {
    Slow,
    #[default]
    Normal,
    Fast,
}

impl Pace {
    const ALL: [Self; 3] = [Self::Slow, Self::Normal, Self::Fast];

    /// The pause between two words.
    pub(super) fn pause(self) -> Duration {
        Duration::from_millis(match self {
            Self::Slow => 80,
            // Fast enough not to bore, slow enough to be seen streaming.
            Self::Normal => 8,
            Self::Fast => 1,
        })
    }

    fn value(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Normal => "normal",
            Self::Fast => "fast",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Slow => "Slow",
            Self::Normal => "Normal",
            Self::Fast => "Fast",
        }
    }

    /// The pace that a client asks for; `None` if the request is not valid.
    pub(super) fn requested(request: &SetSessionConfigOptionRequest) -> Option<Self> {
        let value = request.value.as_value_id()?;
        if &*request.config_id.0 != ID {
            return None;
        }
        Self::ALL.into_iter().find(|pace| pace.value() == &*value.0)
    }

    /// All options of a session, in the protocol's form.
    pub(super) fn as_options(self) -> Vec<SessionConfigOption> {
        let choices = Self::ALL.map(|pace| SessionConfigSelectOption::new(pace.value(), pace.name()));
        let option = SessionConfigOption::select(ID, "Pace", self.value(), Vec::from(choices))
            .description("How fast the guide speaks".to_owned())
            .category(SessionConfigOptionCategory::Other("other".to_owned()));
        vec![option]
    }
}
