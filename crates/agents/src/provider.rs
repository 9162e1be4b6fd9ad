//! Model providers, which are asked for a line of text: summaries and titles.
//!
//! Invariants: only the configured server is contacted (`outbound.rs`), and without TLS only on this machine, unless
//! the person said otherwise. A request ends within [`LIMIT`], whatever the other side does. The key is in one header
//! and in no text that leaves here.

mod endpoint;
mod error;
mod request_style;
mod settings;
mod wire;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;
use serde_json::Value;

pub use crate::outbound::PlainHttp;
pub use error::ProviderError;
pub use settings::{ProviderKey, ProviderKind, ProviderSettings, ProviderSetupError, ProviderUrl};

use endpoint::{ProviderEndpoint, ProviderResponse};
use error::one_line;
use request_style::{RequestStyle, StyleHint};

/// The time limit of a request, including retries.
pub const LIMIT: Duration = Duration::from_secs(30);
/// The size limit of a request: a line needs no more, and each byte is paid for.
pub const MAX_ASK_BYTES: usize = 64 << 10;

/// A request to a model.
#[derive(Debug, Clone, Copy)]
pub struct ProviderRequest<'a> {
    /// The instructions.
    pub system: &'a str,
    /// The text to apply them to.
    pub user: &'a str,
    /// The longest answer. A model that thinks first gets additional tokens for that.
    pub max_tokens: u32,
    /// Left out for a model that does not accept it.
    pub temperature: f32,
}

/// A model of a provider.
pub struct Provider {
    settings: ProviderSettings,
    exchange: ProviderEndpoint,
    /// The request style that this model accepts, as far as it is known.
    style: Mutex<RequestStyle>,
}

impl Provider {
    /// Connects to nothing yet. Blocks: reads the system's certificates, once.
    pub fn new(settings: ProviderSettings) -> Result<Self, ProviderSetupError> {
        if settings.model.trim().is_empty() || settings.model.contains(char::is_control) {
            return Err(ProviderSetupError::Model);
        }
        let exchange = ProviderEndpoint::new(&settings)?;
        let style = Mutex::new(RequestStyle::first(settings.kind, &settings.url));
        Ok(Self { settings, exchange, style })
    }

    /// The model's answer, unchanged: it may hold anything that text can hold.
    pub async fn ask(&self, ask: &ProviderRequest<'_>) -> Result<String, ProviderError> {
        if ask.system.len() + ask.user.len() > MAX_ASK_BYTES {
            return Err(ProviderError::AskTooLarge);
        }
        tokio::time::timeout(LIMIT, self.ask_in_accepted_style(ask)).await.unwrap_or(Err(ProviderError::TimedOut))
    }

    /// Retries in another style: models differ in what they accept, and say so. Each retry drops something for good,
    /// so there are few.
    async fn ask_in_accepted_style(&self, ask: &ProviderRequest<'_>) -> Result<String, ProviderError> {
        let mut style = *self.style.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let body = wire::body(self.settings.kind, &self.settings.model, ask, style);
            let (why, hint) = match self.parse_response(&self.exchange.post(body).await?) {
                Ok(text) => {
                    *self.style.lock().unwrap_or_else(PoisonError::into_inner) = style;
                    return Ok(text);
                }
                Err(failure) => failure,
            };
            match style.after(&hint) {
                Some(next) => style = next,
                None => return Err(why),
            }
        }
    }

    fn parse_response(&self, answer: &ProviderResponse) -> Result<String, (ProviderError, StyleHint)> {
        if !answer.status.is_success() {
            return Err(self.refused(answer));
        }
        if answer.is_too_large() {
            return Err((ProviderError::TooLarge, StyleHint::None));
        }
        let not_understood = || (ProviderError::NotUnderstood, StyleHint::None);
        let value = answer.json().ok_or_else(not_understood)?;
        let Some(reply) = wire::reply(self.settings.kind, &value) else {
            // Gateways report a failure behind them with a status of success.
            let is_refusal = wire::message(&value).is_some();
            return Err(if is_refusal { self.refused(answer) } else { not_understood() });
        };
        match reply.text {
            Some(text) => Ok(self.without_key(&text)),
            None => Err((ProviderError::Empty, if reply.is_cut { StyleHint::Cut } else { StyleHint::None })),
        }
    }

    fn refused(&self, answer: &ProviderResponse) -> (ProviderError, StyleHint) {
        let said = answer.json().as_ref().and_then(wire::message).map(str::to_owned).unwrap_or_default();
        let takes_offence = matches!(answer.status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
        // Some name the field beside the message, or in a list.
        let hint = match answer.json() {
            Some(value) if takes_offence => StyleHint::Said(Value::to_string(&value).to_lowercase()),
            Some(_) | None => StyleHint::None,
        };
        let message = one_line(&self.without_key(&said));
        (ProviderError::Refused { status: answer.status.as_u16(), message }, hint)
    }

    /// Removes the key from a text: a provider may echo what it was sent.
    fn without_key(&self, text: &str) -> String {
        match &self.settings.key {
            Some(key) => text.replace(key.expose(), "[secret]"),
            None => text.to_owned(),
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("settings", &self.settings).finish_non_exhaustive()
    }
}
