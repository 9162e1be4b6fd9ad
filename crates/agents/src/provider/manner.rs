//! How a model wants to be asked, found out from its refusals: no list of models that is old next month.
//!
//! Invariant: each step gives something up for good, so that a hostile provider can not make us ask for ever.

use super::settings::{ProviderKind, ProviderUrl};

/// What a model that thinks may use for it, beside its words. It is paid for, so it is not given unasked.
const THINKING_TOKENS: u32 = 2_000;

/// What OpenAI calls the limit of an answer today, which old and foreign servers refuse or pass over, and what they call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitWord {
    MaxTokens,
    MaxCompletionTokens,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) limit_word: LimitWord,
    other_word_tried: bool,
    pub(super) with_temperature: bool,
    /// Asks a model of Ollama not to think.
    pub(super) without_thinking: bool,
    with_room_to_think: bool,
    kind: ProviderKind,
}

/// What can be learned from an answer that was none.
#[derive(Debug)]
pub(super) enum Hint {
    /// All that a refusal of the request itself said, in small letters.
    Said(String),
    /// The limit was used up before the first word.
    Cut,
    None,
}

impl Manner {
    pub(super) fn first(kind: ProviderKind, url: &ProviderUrl) -> Self {
        let is_openai_itself = url.address().host() == "api.openai.com";
        let limit_word = if is_openai_itself { LimitWord::MaxCompletionTokens } else { LimitWord::MaxTokens };
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

    /// How to ask instead, if that may help.
    pub(super) fn after(self, hint: &Hint) -> Option<Self> {
        let with_room = (!self.with_room_to_think).then_some(Self { with_room_to_think: true, ..self });
        let said = match hint {
            Hint::None => return None,
            Hint::Cut => return with_room,
            Hint::Said(said) => said,
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
        // OpenAI refuses in place of answering when a model has thought its limit away.
        if said.contains("output limit was reached") {
            return with_room;
        }
        let (word, other) = match self.limit_word {
            LimitWord::MaxTokens => ("max_tokens", LimitWord::MaxCompletionTokens),
            LimitWord::MaxCompletionTokens => ("max_completion_tokens", LimitWord::MaxTokens),
        };
        let is_other_worth_it = said.contains(word) && !self.other_word_tried;
        is_other_worth_it.then_some(Self { limit_word: other, other_word_tried: true, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::PlainHttp;

    fn first(kind: ProviderKind) -> Manner {
        Manner::first(kind, &ProviderUrl::parse(kind.default_url(), PlainHttp::ThisMachineOnly).unwrap())
    }

    #[test]
    fn whatever_is_said_there_is_an_end() {
        let everything = "temperature thinking max_tokens max_completion_tokens output limit was reached";
        for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Ollama] {
            for hint in [
                Hint::Said(everything.to_owned()),
                Hint::Said("max_tokens max_completion_tokens".to_owned()),
                Hint::Cut,
            ] {
                let steps = std::iter::successors(Some(first(kind)), |manner| manner.after(&hint)).take(100).count();
                assert!(steps <= 5, "{kind:?} {hint:?}: {steps}");
            }
        }
    }

    #[test]
    fn what_is_refused_is_given_up_and_the_rest_kept() {
        let openai = first(ProviderKind::OpenAi);
        assert_eq!(openai.limit_word, LimitWord::MaxCompletionTokens);
        let plain = openai.after(&Hint::Said("'temperature' does not support 0.3".to_owned())).unwrap();
        assert_eq!((plain.with_temperature, plain.limit_word, plain.tokens(50)), (false, openai.limit_word, 50));
        let older = plain.after(&Hint::Said("extra inputs: max_completion_tokens".to_owned())).unwrap();
        assert_eq!((older.with_temperature, older.limit_word), (false, LimitWord::MaxTokens));
        assert_eq!(older.after(&Hint::Cut).unwrap().tokens(50), 2_050);
        assert_eq!(older.after(&Hint::Said("no such model".to_owned())), None);
        assert_eq!(older.after(&Hint::None), None);
    }
}
