//! The request style that a model accepts, learned from its refusals instead of from a list of models that is old
//! next month.
//!
//! Invariant: each step drops something for good, so that a hostile provider can not make us retry for ever.

use super::settings::{ProviderKind, ProviderUrl};

/// Additional tokens for a model that thinks. They are paid for, so they are not given before they are needed.
const THINKING_TOKENS: u32 = 2_000;

/// The name of the token limit: OpenAI's current one, which old and other servers refuse or ignore, or the older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitField {
    MaxTokens,
    MaxCompletionTokens,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestStyle {
    pub(super) limit_word: LimitField,
    other_word_tried: bool,
    pub(super) with_temperature: bool,
    /// Asks a model of Ollama not to think.
    pub(super) without_thinking: bool,
    with_room_to_think: bool,
    kind: ProviderKind,
}

/// What a failed request tells about the style.
#[derive(Debug)]
pub(super) enum StyleHint {
    /// The whole text of a refusal, in lower case.
    Said(String),
    /// The limit was used up before the first word.
    Cut,
    None,
}

impl RequestStyle {
    pub(super) fn first(kind: ProviderKind, url: &ProviderUrl) -> Self {
        let is_openai_itself = url.address().host() == "api.openai.com";
        let limit_word = if is_openai_itself { LimitField::MaxCompletionTokens } else { LimitField::MaxTokens };
        Self {
            limit_word,
            other_word_tried: false,
            with_temperature: true,
            without_thinking: kind == ProviderKind::Ollama,
            with_room_to_think: false,
            kind,
        }
    }

    pub(super) fn tokens(self, words: u32) -> u32 {
        if self.with_room_to_think { words.saturating_add(THINKING_TOKENS) } else { words }
    }

    /// The style to try next, if one may help.
    pub(super) fn after(self, hint: &StyleHint) -> Option<Self> {
        let with_room = (!self.with_room_to_think).then_some(Self { with_room_to_think: true, ..self });
        let said = match hint {
            StyleHint::None => return None,
            StyleHint::Cut => return with_room,
            StyleHint::Said(said) => said,
        };
        if self.with_temperature && said.contains("temperature") {
            return Some(Self { with_temperature: false, ..self });
        }
        if self.without_thinking && said.contains("think") {
            return Some(Self { without_thinking: false, ..self });
        }
        if self.kind != ProviderKind::OpenAi {
            return None;
        }
        // OpenAI answers with an error when a model has used up its limit by thinking.
        if said.contains("output limit was reached") {
            return with_room;
        }
        let (word, other) = match self.limit_word {
            LimitField::MaxTokens => ("max_tokens", LimitField::MaxCompletionTokens),
            LimitField::MaxCompletionTokens => ("max_completion_tokens", LimitField::MaxTokens),
        };
        let is_other_worth_it = said.contains(word) && !self.other_word_tried;
        is_other_worth_it.then_some(Self { limit_word: other, other_word_tried: true, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::PlainHttp;

    fn first(kind: ProviderKind) -> RequestStyle {
        RequestStyle::first(kind, &ProviderUrl::parse(kind.default_url(), PlainHttp::ThisMachineOnly).unwrap())
    }

    #[test]
    fn whatever_is_said_there_is_an_end() {
        let everything = "temperature thinking max_tokens max_completion_tokens output limit was reached";
        for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Ollama] {
            for hint in [
                StyleHint::Said(everything.to_owned()),
                StyleHint::Said("max_tokens max_completion_tokens".to_owned()),
                StyleHint::Cut,
            ] {
                let steps = std::iter::successors(Some(first(kind)), |style| style.after(&hint)).take(100).count();
                assert!(steps <= 5, "{kind:?} {hint:?}: {steps}");
            }
        }
    }

    #[test]
    fn what_is_refused_is_given_up_and_the_rest_kept() {
        let openai = first(ProviderKind::OpenAi);
        assert_eq!(openai.limit_word, LimitField::MaxCompletionTokens);
        let plain = openai.after(&StyleHint::Said("'temperature' does not support 0.3".to_owned())).unwrap();
        assert_eq!((plain.with_temperature, plain.limit_word, plain.tokens(50)), (false, openai.limit_word, 50));
        let older = plain.after(&StyleHint::Said("extra inputs: max_completion_tokens".to_owned())).unwrap();
        assert_eq!((older.with_temperature, older.limit_word), (false, LimitField::MaxTokens));
        assert_eq!(older.after(&StyleHint::Cut).unwrap().tokens(50), 2_050);
        assert_eq!(older.after(&StyleHint::Said("no such model".to_owned())), None);
        assert_eq!(older.after(&StyleHint::None), None);
    }
}
