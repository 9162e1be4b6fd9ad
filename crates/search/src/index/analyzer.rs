//! Our tokenizer in the shape that the index library asks for.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::tokenizer::{Span, Spans, fold_token};

pub(super) const TOKENIZER: &str = "code";

#[derive(Clone)]
pub(super) struct CodeTokenizer;

pub(super) struct CodeTokens<'t> {
    text: &'t str,
    spans: Spans<'t>,
    token: Token,
}

impl Tokenizer for CodeTokenizer {
    type TokenStream<'t> = CodeTokens<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> CodeTokens<'t> {
        CodeTokens { text, spans: Spans::new(text), token: Token::default() }
    }
}

impl TokenStream for CodeTokens<'_> {
    fn advance(&mut self) -> bool {
        let Some(Span { range, position, kind }) = self.spans.next() else { return false };
        fold_token(&self.text[range.clone()], kind, &mut self.token.text);
        self.token.position = position as usize;
        self.token.offset_from = range.start;
        self.token.offset_to = range.end;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
