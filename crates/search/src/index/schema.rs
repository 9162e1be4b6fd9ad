//! The fields of a piece in the index. None is stored; those that are read back are columns.

use model::SessionId;
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::{TantivyDocument, TantivyError, Term};

use super::SearchError;
use super::analyzer::TOKENIZER;
use crate::pieces::{CallOutcome, Piece, PieceRole, SessionAttributes};
use crate::query::folded;

/// Columns, by the names that readers of segments ask for.
/// A session's id in two halves, which are read much faster than a text.
pub(super) const SESSION_HIGH: &str = "session_high";
pub(super) const SESSION_LOW: &str = "session_low";
pub(super) const TURN: &str = "turn";
pub(super) const ROLE: &str = "role";
pub(super) const NUMBER: &str = "number";
pub(super) const FIRST_SEQ: &str = "first_seq";
pub(super) const LAST_SEQ: &str = "last_seq";
pub(super) const AT: &str = "at";

#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) text: Field,
    pub(super) session: Field,
    session_high: Field,
    session_low: Field,
    pub(super) turn: Field,
    pub(super) role: Field,
    number: Field,
    first_seq: Field,
    last_seq: Field,
    pub(super) at: Field,
    /// Exactly, for what is within it.
    pub(super) project: Field,
    /// By words, for a filter.
    pub(super) project_words: Field,
    pub(super) agent: Field,
    pub(super) tool: Field,
    pub(super) files: Field,
    pub(super) outcome: Field,
    pub(super) exit: Field,
}

pub(super) fn schema() -> Schema {
    let mut schema = Schema::builder();
    let words = |norms: bool| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_fieldnorms(norms)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        TextOptions::default().set_indexing_options(indexing)
    };
    schema.add_text_field("text", words(true));
    schema.add_text_field("session", STRING);
    schema.add_u64_field(TURN, INDEXED | FAST);
    schema.add_u64_field(ROLE, INDEXED | FAST);
    for column in [SESSION_HIGH, SESSION_LOW, NUMBER, FIRST_SEQ, LAST_SEQ] {
        schema.add_u64_field(column, FAST);
    }
    schema.add_i64_field(AT, FAST);
    schema.add_text_field("project", STRING);
    schema.add_text_field("project_words", words(false));
    schema.add_text_field("agent", STRING);
    schema.add_text_field("tool", words(false));
    schema.add_text_field("files", words(false));
    schema.add_u64_field("outcome", INDEXED);
    schema.add_i64_field("exit", INDEXED);
    schema.build()
}

impl Fields {
    pub(super) fn of(schema: &Schema) -> Result<Self, SearchError> {
        let field = |name: &str| schema.get_field(name);
        let fields = || -> Result<Self, TantivyError> {
            Ok(Self {
                text: field("text")?,
                session: field("session")?,
                session_high: field(SESSION_HIGH)?,
                session_low: field(SESSION_LOW)?,
                turn: field(TURN)?,
                role: field(ROLE)?,
                number: field(NUMBER)?,
                first_seq: field(FIRST_SEQ)?,
                last_seq: field(LAST_SEQ)?,
                at: field(AT)?,
                project: field("project")?,
                project_words: field("project_words")?,
                agent: field("agent")?,
                tool: field("tool")?,
                files: field("files")?,
                outcome: field("outcome")?,
                exit: field("exit")?,
            })
        };
        fields().map_err(SearchError::from)
    }

    pub(super) fn document(&self, piece: &Piece, about: &SessionAttributes) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_text(self.text, &piece.text);
        document.add_text(self.session, piece.session.to_string());
        let (high, low) = halves(piece.session);
        document.add_u64(self.session_high, high);
        document.add_u64(self.session_low, low);
        document.add_u64(self.turn, u64::from(piece.turn.0));
        document.add_u64(self.role, role_number(piece.role));
        document.add_u64(self.number, u64::from(piece.number));
        document.add_u64(self.first_seq, piece.first_seq.0);
        document.add_u64(self.last_seq, piece.last_seq.0);
        document.add_i64(self.at, piece.at.as_millis());
        document.add_text(self.project, &about.project);
        document.add_text(self.project_words, &about.project);
        document.add_text(self.agent, folded(&about.agent));
        if let Some(tool) = &piece.tool {
            document.add_text(self.tool, tool);
        }
        for file in &piece.files {
            document.add_text(self.files, file);
        }
        if let Some(outcome) = piece.outcome {
            document.add_u64(self.outcome, outcome_number(outcome));
        }
        if let Some(exit) = piece.exit {
            document.add_i64(self.exit, i64::from(exit));
        }
        document
    }

    pub(super) fn session_term(&self, session: SessionId) -> Term {
        Term::from_field_text(self.session, &session.to_string())
    }
}

fn halves(session: SessionId) -> (u64, u64) {
    let bits = u128::from_be_bytes(*session.as_bytes());
    ((bits >> 64) as u64, bits as u64)
}

/// The id of these halves.
pub(super) fn session_of(high: u64, low: u64) -> SessionId {
    SessionId::from_bytes((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
}

/// How a role is kept; a number once used is never given another meaning.
pub(super) fn role_number(role: PieceRole) -> u64 {
    match role {
        PieceRole::Prompt => 0,
        PieceRole::Answer => 1,
        PieceRole::Thought => 2,
        PieceRole::Tool => 3,
        PieceRole::Summary => 4,
        PieceRole::Title => 5,
    }
}

pub(super) fn outcome_number(outcome: CallOutcome) -> u64 {
    match outcome {
        CallOutcome::Ok => 0,
        CallOutcome::Fail => 1,
    }
}
