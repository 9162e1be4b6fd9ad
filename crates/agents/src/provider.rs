//! Model providers, asked for a line of text: summaries and titles.
//!
//! Invariants: what was configured is spoken to and nobody else (`outbound.rs`), and without TLS only this machine is reached
//! unless the person said otherwise. An ask ends within [`LIMIT`], whatever the other side does. The key is in one header and
//! in no text that leaves here.

mod error;
mod exchange;
mod manner;
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

use error::cleaned;
use exchange::{Answer, Exchange};
use manner::{Hint, Manner};

/// How long an ask may take in all, repeats included.
pub const LIMIT: Duration = Duration::from_secs(30);
/// What an ask may hold. Nobody needs a book for a line, and each byte is paid for.
pub const MAX_ASK_BYTES: usize = 64 << 10;

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// What it is to do.
    pub system: &'a str,
    /// What it is to do it with.
    pub user: &'a str,
    /// How long its words may get. A model that thinks first is given room for that beside it.
    pub max_tokens: u32,
    /// Left out for a model that does not take it.
    pub temperature: f32,
}

/// A model of a provider, ready to be asked.
pub struct Provider {
    settings: ProviderSettings,
    exchange: Exchange,
    /// How this model wants to be asked, as far as it was found out.
    manner: Mutex<Manner>,
}

impl Provider {
    /// Reaches nobody yet. Blocking: reads the system's certificates, once.
    pub fn new(settings: ProviderSettings) -> Result<Self, ProviderSetupError> {
        if settings.model.trim().is_empty() || settings.model.contains(char::is_control) {
            return Err(ProviderSetupError::Model);
        }
        let exchange = Exchange::new(&settings)?;
        let manner = Mutex::new(Manner::first(settings.kind, &settings.url));
        Ok(Self { settings, exchange, manner })
    }

    /// The model's words, as they came: they may hold anything that text can hold.
    pub async fn ask(&self, ask: &Ask<'_>) -> Result<String, ProviderError> {
        if ask.system.len() + ask.user.len() > MAX_ASK_BYTES {
            return Err(ProviderError::AskTooLarge);
        }
        tokio::time::timeout(LIMIT, self.ask_as_it_wants(ask)).await.unwrap_or(Err(ProviderError::TimedOut))
    }

    /// Models differ in what they take, and say so. Each repeat gives up something for good, so there are few.
    async fn ask_as_it_wants(&self, ask: &Ask<'_>) -> Result<String, ProviderError> {
        let mut manner = *self.manner.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let body = wire::body(self.settings.kind, &self.settings.model, ask, manner);
            let (why, hint) = match self.understand(&self.exchange.post(body).await?) {
                Ok(text) => {
                    *self.manner.lock().unwrap_or_else(PoisonError::into_inner) = manner;
                    return Ok(text);
                }
                Err(failure) => failure,
            };
            match manner.after(&hint) {
                Some(next) => manner = next,
                None => return Err(why),
            }
        }
    }

    fn understand(&self, answer: &Answer) -> Result<String, (ProviderError, Hint)> {
        if !answer.status.is_success() {
            return Err(self.refused(answer));
        }
        if answer.is_too_large() {
            return Err((ProviderError::TooLarge, Hint::None));
        }
        let not_understood = || (ProviderError::NotUnderstood, Hint::None);
        let value = answer.json().ok_or_else(not_understood)?;
        let Some(reply) = wire::reply(self.settings.kind, &value) else {
            // Gateways tell of a failure behind them with a status of success.
            let is_refusal = wire::message(&value).is_some();
            return Err(if is_refusal { self.refused(answer) } else { not_understood() });
        };
        match reply.text {
            Some(text) => Ok(self.without_key(&text)),
            None => Err((ProviderError::Empty, if reply.is_cut { Hint::Cut } else { Hint::None })),
        }
    }

    fn refused(&self, answer: &Answer) -> (ProviderError, Hint) {
        let said = answer.json().as_ref().and_then(wire::message).map(str::to_owned).unwrap_or_default();
        let takes_offence = matches!(answer.status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
        // Some name the field beside the message, or in a list.
        let hint = match answer.json() {
            Some(value) if takes_offence => Hint::Said(Value::to_string(&value).to_lowercase()),
            Some(_) | None => Hint::None,
        };
        let message = cleaned(&self.without_key(&said));
        (ProviderError::Refused { status: answer.status.as_u16(), message }, hint)
    }

    /// A provider may say back what it was told.
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
