//! Between what SQLite keeps and what the model means. Columns come in the order of `columns.rs`.
//!
//! Invariant: an entry that comes out of here is the one that went in. Its checksum covers everything it says and
//! where it says it, so an entry that was altered or moved to another place is found and never passed on.

use std::borrow::Cow;

use model::{
    AgentState, Clicked, EVENT_VERSION, Entry, Event, Extent, FactShape, InteractionId, Mark, Next, NextId, NextRow,
    Offer, Outcome, Proof, ProvedFact, QueuedPrompt, RememberedDecision, RememberedId, RememberedRow, Request, Running,
    Seq, SessionId, SessionRow, Stop, StreamId, Summary, SummaryMaker, Timestamp, TitleMaker, TitleRow, TokenId,
    TokenKind, TokenRow, ToolKind, Turn, TurnRow, Untold, WorkId, WorkRow,
};
use rusqlite::types::Type;
use rusqlite::{Error, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Damage, Receipt};

/// An entry as it is written: its event encoded and summed before the writer thread sees it.
pub(super) struct EncodedEntry {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) event: Vec<u8>,
    pub(super) checksum: u32,
}

impl EncodedEntry {
    pub(super) fn of(stream: StreamId, entry: &Entry<Event>) -> Self {
        let event = entry.event.encode();
        let checksum = checksum(stream, entry.seq, entry.at, EVENT_VERSION, &event);
        Self { seq: entry.seq, at: entry.at, event, checksum }
    }
}

/// An entry as it was found, not yet believed.
pub(super) struct StoredEntry {
    seq: i64,
    at: i64,
    version: i64,
    checksum: i64,
    event: Vec<u8>,
}

impl StoredEntry {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Error> {
        Ok(Self { seq: row.get(0)?, at: row.get(1)?, version: row.get(2)?, checksum: row.get(3)?, event: row.get(4)? })
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.event.len()
    }

    /// The version and the bytes as they lie there.
    pub(super) fn event(&self) -> (i64, &[u8]) {
        (self.version, &self.event)
    }

    pub(super) fn seq(&self) -> Seq {
        Seq(self.seq.cast_unsigned())
    }

    /// The entry, if it is the one that was written at the place `seq` of `stream`.
    pub(super) fn verify(self, stream: StreamId, seq: Seq) -> Result<Entry<Event>, Damage> {
        let damaged = |what| Damage { stream, seq, what: Cow::Borrowed(what) };
        if self.seq() != seq {
            return Err(damaged("the entry is missing"));
        }
        let at = Timestamp::from_millis(self.at);
        let version = u16::try_from(self.version).map_err(|_| damaged("its version is no version"))?;
        if i64::from(checksum(stream, seq, at, version, &self.event)) != self.checksum {
            return Err(damaged("its checksum does not match"));
        }
        if version > EVENT_VERSION {
            return Err(damaged("it was written by a newer version of the program"));
        }
        let event = Event::decode(stream, version, &self.event).map_err(|_| damaged("it is not a known event"))?;
        Ok(Entry { seq, at, event })
    }
}

fn checksum(stream: StreamId, seq: Seq, at: Timestamp, version: u16, event: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(stream.to_string().as_bytes());
    // The zero byte ends the name, which has none, so that no two places are summed over the same bytes.
    hasher.update(&[0]);
    hasher.update(&seq.0.to_le_bytes());
    hasher.update(&at.as_millis().to_le_bytes());
    hasher.update(&version.to_le_bytes());
    hasher.update(event);
    hasher.finalize()
}

/// An id that is the row's first column.
pub(super) fn session_id(row: &Row<'_>) -> Result<SessionId, Error> {
    row.get(0).map(SessionId::from_bytes)
}

pub(super) fn session_row(row: &Row<'_>) -> Result<SessionRow, Error> {
    let running = match row.get::<_, Option<u32>>(9)? {
        None => None,
        Some(turn) => Some(Running {
            turn: Turn(turn),
            interaction_id: InteractionId::from_bytes(row.get(10)?),
            first_seq: seq(row, 11)?,
            started_at: instant(row, 12)?,
        }),
    };
    Ok(SessionRow {
        id: SessionId::from_bytes(row.get(0)?),
        agent: row.get(1)?,
        cwd: row.get(2)?,
        project: row.get(3)?,
        name: row.get(4)?,
        env_hint: row.get(5)?,
        first_prompt: row.get(6)?,
        agent_state: word(row, 7, agent_state_of)?,
        failure: row.get(8)?,
        agent_session: row.get(20)?,
        title: row.get(21)?,
        titles: row.get(26)?,
        summarised: Turn(row.get(27)?),
        imported: find_json(row, 28)?,
        work: row.get::<_, Option<[u8; 16]>>(29)?.map(WorkId::from_bytes),
        from: find_json(row, 30)?,
        options: find_json(row, 31)?.unwrap_or_default(),
        intent: row.get(25)?,
        untold: untold_of(row, 22)?,
        open_requests: json_list(row, 23)?,
        requests: Request(row.get(24)?),
        running,
        turns: Turn(row.get(13)?),
        interrupted: row.get(14)?,
        created_at: instant(row, 15)?,
        active_at: instant(row, 16)?,
        last_observed_at: find_instant(row, 17)?,
        last_idle_at: find_instant(row, 18)?,
        deleted_at: find_instant(row, 19)?,
    })
}

pub(super) fn turn_row(row: &Row<'_>) -> Result<TurnRow, Error> {
    let stop = match row.get_ref(4)?.as_str_or_null()? {
        None => None,
        Some(_) => Some(Stop { outcome: word(row, 4, outcome_of)?, reason: row.get(5)? }),
    };
    Ok(TurnRow {
        session: SessionId::from_bytes(row.get(0)?),
        turn: Turn(row.get(1)?),
        interaction_id: InteractionId::from_bytes(row.get(2)?),
        prompt_line: row.get(3)?,
        stop,
        started_at: instant(row, 6)?,
        ended_at: find_instant(row, 7)?,
        first_seq: seq(row, 8)?,
        last_seq: row.get::<_, Option<i64>>(9)?.map(|seq| Seq(seq.cast_unsigned())),
        summary: match row.get(10)? {
            None => None,
            Some(text) => Some(Summary { text, by: word(row, 11, summary_maker_of)?, made_at: instant(row, 12)? }),
        },
        extent: match row.get(13)? {
            None => None,
            Some(prompt) => Some(Extent { prompt, response: row.get(14)?, tools: row.get(15)? }),
        },
    })
}

pub(super) fn title_row(row: &Row<'_>) -> Result<TitleRow, Error> {
    Ok(TitleRow {
        session: SessionId::from_bytes(row.get(0)?),
        nth: row.get(1)?,
        title: row.get(2)?,
        by: word(row, 3, title_maker_of)?,
        turn: row.get::<_, Option<u32>>(4)?.map(Turn),
        interaction_id: row.get::<_, Option<[u8; 16]>>(5)?.map(InteractionId::from_bytes),
        changed_at: instant(row, 6)?,
    })
}

pub(super) fn next_row(row: &Row<'_>) -> Result<NextRow, Error> {
    Ok(NextRow {
        session: SessionId::from_bytes(row.get(0)?),
        id: NextId { turn: Turn(row.get(1)?), nth: row.get(2)? },
        next: Next { label: row.get(3)?, command: row.get(4)?, meta_context: row.get(5)? },
        offered_at: instant(row, 6)?,
        clicked: match row.get(7)? {
            None => None,
            Some(work) => Some(Clicked {
                work: WorkId::from_bytes(work),
                session: SessionId::from_bytes(row.get(8)?),
                at: instant(row, 9)?,
            }),
        },
    })
}

/// A next block with, behind its columns, the turn that offers the same again.
pub(super) fn offer(row: &Row<'_>) -> Result<Offer, Error> {
    Ok(Offer { row: next_row(row)?, superseded_by: row.get::<_, Option<u32>>(10)?.map(Turn) })
}

pub(super) fn work_row(row: &Row<'_>) -> Result<WorkRow, Error> {
    Ok(WorkRow {
        id: WorkId::from_bytes(row.get(0)?),
        project: row.get(1)?,
        name: row.get(2)?,
        created_at: instant(row, 3)?,
        added_at: instant(row, 4)?,
    })
}

/// A project, a name in it, and the work that the name leads to.
pub(super) fn work_name(row: &Row<'_>) -> Result<((String, String), WorkId), Error> {
    Ok(((row.get(0)?, row.get(1)?), WorkId::from_bytes(row.get(2)?)))
}

pub(super) fn queued_prompt(row: &Row<'_>) -> Result<QueuedPrompt, Error> {
    Ok(QueuedPrompt {
        interaction_id: InteractionId::from_bytes(row.get(0)?),
        queued_seq: seq(row, 1)?,
        queued_at: instant(row, 2)?,
        text: row.get(3)?,
        images: json_list(row, 4)?,
    })
}

/// A set's name and its marks.
pub(super) fn marked_set(row: &Row<'_>) -> Result<(String, Vec<Mark>), Error> {
    Ok((row.get(0)?, json_list(row, 1)?))
}

/// A fact's name and shape, and one of its values.
pub(super) fn proved_fact(row: &Row<'_>) -> Result<(String, FactShape, ProvedFact), Error> {
    let fact = ProvedFact {
        nth: row.get(3)?,
        value: row.get(1)?,
        proof: Proof { turn: Turn(row.get(4)?), tool: row.get(5)?, entry: seq(row, 6)? },
        exit_code: row.get(7)?,
        file: json_list(row, 8)?.into_iter().next(),
    };
    Ok((row.get(0)?, word(row, 2, fact_shape_of)?, fact))
}

pub(super) fn token_row(row: &Row<'_>) -> Result<TokenRow, Error> {
    Ok(TokenRow {
        id: TokenId::from_bytes(row.get(0)?),
        kind: word(row, 1, token_kind_of)?,
        name: row.get(2)?,
        session: row.get::<_, Option<[u8; 16]>>(3)?.map(SessionId::from_bytes),
        secret_hash: row.get(4)?,
        proof_hash: row.get(5)?,
        issued_at: instant(row, 6)?,
    })
}

pub(super) fn remembered_row(row: &Row<'_>) -> Result<RememberedRow, Error> {
    Ok(RememberedRow {
        id: RememberedId::from_bytes(row.get(0)?),
        project: row.get(1)?,
        cwd: row.get(2)?,
        agent: row.get(3)?,
        kind: word(row, 4, tool_kind_of)?,
        subject: row.get(5)?,
        digest: row.get(6)?,
        decision: word(row, 7, decision_of)?,
        by: json(row, 8)?,
        remembered_at: instant(row, 9)?,
    })
}

pub(super) fn receipt(row: &Row<'_>) -> Result<Receipt, Error> {
    Ok(Receipt {
        principal: row.get(0)?,
        key: row.get(1)?,
        fingerprint: row.get(2)?,
        reply: row.get(3)?,
        at: instant(row, 4)?,
        holds_words: row.get::<_, Option<[u8; 16]>>(5)?.is_some(),
    })
}

/// SQLite counts with a sign. A seq too great for it is greater than any entry's, and so is what stands for it.
pub(super) fn sql_seq(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

fn seq(row: &Row<'_>, column: usize) -> Result<Seq, Error> {
    Ok(Seq(row.get::<_, i64>(column)?.cast_unsigned()))
}

fn instant(row: &Row<'_>, column: usize) -> Result<Timestamp, Error> {
    row.get(column).map(Timestamp::from_millis)
}

fn find_instant(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>, Error> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
}

/// A list that is nearly always empty is kept as JSON in its row; an empty one as nothing.
pub(super) fn json_or_null<T: Serialize>(list: &[T]) -> Option<String> {
    (!list.is_empty()).then(|| serde_json::to_string(list).expect("it holds only texts and numbers"))
}

/// What is mostly not there is kept as JSON in its row.
pub(super) fn json_value_or_null<T: Serialize>(value: Option<&T>) -> Option<String> {
    value.map(|value| serde_json::to_string(value).expect("it holds only texts and flags"))
}

fn find_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Option<T>, Error> {
    match row.get_ref(column)?.as_str_or_null()? {
        Some(_) => json(row, column).map(Some),
        None => Ok(None),
    }
}

fn json_list<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Vec<T>, Error> {
    match row.get_ref(column)?.as_str_or_null()? {
        Some(_) => json(row, column),
        None => Ok(Vec::new()),
    }
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, Error> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|err| Error::FromSqlConversionFailure(column, Type::Text, Box::new(err)))
}

/// Enums are kept as the words that the wire uses too, so that whoever opens the file with a plain tool can read it.
macro_rules! words {
    ($enum:ident, $to:ident, $of:ident, $($variant:ident $word:literal),+) => {
        pub(super) fn $to(value: $enum) -> &'static str {
            match value {
                $($enum::$variant => $word,)+
            }
        }

        fn $of(word: &str) -> Option<$enum> {
            match word {
                $($word => Some($enum::$variant),)+
                _ => None,
            }
        }
    };
}

words!(AgentState, agent_state_word, agent_state_of, Starting "starting", Ready "ready", Stopped "stopped", Failed "failed", SignedOut "signed_out", Unresponsive "unresponsive");
words!(Outcome, outcome_word, outcome_of, Completed "completed", Cancelled "cancelled", Failed "failed", Interrupted "interrupted");
words!(FactShape, fact_shape_word, fact_shape_of, List "list", Single "single");
words!(TokenKind, token_kind_word, token_kind_of, Person "person", Browser "browser", Agent "agent", Applet "applet");
words!(ToolKind, tool_kind_word, tool_kind_of, Read "read", Edit "edit", Delete "delete", Move "move", Search "search", Execute "execute", Think "think", Fetch "fetch", SwitchMode "switch_mode", Other "other");
words!(TitleMaker, title_maker_word, title_maker_of, Agent "agent", Terms "terms", Model "model");
words!(SummaryMaker, summary_maker_word, summary_maker_of, Extract "extract", Model "model");
words!(RememberedDecision, decision_word, decision_of, Allow "allow", Deny "deny");

/// The column was once a flag: 1 is what it then meant.
pub(super) fn untold_number(untold: Untold) -> i64 {
    match untold {
        Untold::Nothing => 0,
        Untold::Everything => 1,
        Untold::Essentials => 2,
    }
}

fn untold_of(row: &Row<'_>, column: usize) -> Result<Untold, Error> {
    match row.get::<_, i64>(column)? {
        0 => Ok(Untold::Nothing),
        1 => Ok(Untold::Everything),
        2 => Ok(Untold::Essentials),
        other => Err(Error::IntegralValueOutOfRange(column, other)),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a word that this version knows")]
struct UnknownWord(String);

fn word<T>(row: &Row<'_>, column: usize, of: fn(&str) -> Option<T>) -> Result<T, Error> {
    let text = row.get_ref(column)?.as_str()?;
    of(text).ok_or_else(|| Error::FromSqlConversionFailure(column, Type::Text, Box::new(UnknownWord(text.to_owned()))))
}
