//! Why a model gave no line of text.
//!
//! Invariant: each error says what to do, and none holds a key, an escape code or more than a bound of the provider's
//! text.

use std::io;

/// How much of a provider's own text is shown.
const MAX_MESSAGE_CHARS: usize = 200;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("the provider took more than 30 seconds: try again later, or choose a faster model")]
    TimedOut,
    #[error("the provider at {address} can not be reached: look whether it runs and whether its address is right")]
    Unreachable { address: String, source: io::Error },
    #[error(
        "the provider at {address} can not show who it is: look whether its address is right and its certificate is \
         known to this system"
    )]
    Untrusted { address: String, source: io::Error },
    #[error(
        "the provider sends elsewhere (status {status}), and it is not followed: configure the address it sends to"
    )]
    Redirected { status: u16 },
    #[error("the provider refused with status {status}{}: {}", shown(message), advice(*status))]
    Refused {
        status: u16,
        /// The provider's own text, on one line and short; empty if there was none.
        message: String,
    },
    #[error("the provider broke off or does not speak HTTP: try again later, or look whether its address is right")]
    BrokeOff { source: hyper::Error },
    #[error("the provider's answer is too large for a line: look whether its address is right")]
    TooLarge,
    #[error("the provider's answer is not what its kind answers: look whether its kind and its address are right")]
    NotUnderstood,
    #[error("the model said nothing: choose one that answers short questions")]
    Empty,
    #[error("the question is too large: ask with less text")]
    AskTooLarge,
}

impl ProviderError {
    /// Whether the provider could not be reached.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Untrusted { .. } => true,
            Self::TimedOut
            | Self::Redirected { .. }
            | Self::Refused { .. }
            | Self::BrokeOff { .. }
            | Self::TooLarge
            | Self::NotUnderstood
            | Self::Empty
            | Self::AskTooLarge => false,
        }
    }
}

fn shown(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message})") }
}

fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "look whether the key is right and may use the model",
        404 => "look whether the address and the model's name are right",
        402 | 429 => "its limit is reached; wait, or raise it there",
        500.. => "it has trouble of its own; try again later",
        _ => "look whether the model's name is right",
    }
}

/// Text of others, made fit for one line.
pub(super) fn one_line(text: &str) -> String {
    let is_hidden =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let plain: String = text.chars().filter(|c| !is_hidden(*c)).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_MESSAGE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_words_stay_on_one_short_line() {
        assert_eq!(one_line("no\r\nsuch\u{1b}[31m model\u{202e}\u{9b}x"), "no such [31m model x");
        assert_eq!(one_line(&"ä".repeat(500)).chars().count(), MAX_MESSAGE_CHARS);
        assert_eq!(one_line("\n\0"), "");
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let told = |status, message: &str| ProviderError::Refused { status, message: message.to_owned() }.to_string();
        insta::assert_snapshot!(told(401, "wrong key"), @"the provider refused with status 401 (wrong key): look whether the key is right and may use the model");
        insta::assert_snapshot!(told(503, ""), @"the provider refused with status 503: it has trouble of its own; try again later");
    }
}
