//! How values stand in columns: each type says once how it is written and how it is read back.
//!
//! Invariant: reading takes as many columns as writing gave, in the same order.

use std::iter;

use model::{
    AgentState, AppletName, BodyHash, Clicked, Evidence, Extent, FactShape, FileStamp, InteractionId, Money, Next,
    NextId, Outcome, OutputId, RememberedDecision, RememberedId, Request, Running, Seq, SessionId, Stop, Summary,
    SummaryMaker, Timestamp, TitleMaker, TokenId, TokenKind, ToolKind, Turn, Untold, UsedTokens, WorkId,
};
use rusqlite::types::{FromSql, Null, ToSqlOutput, Type, Value};
use rusqlite::{Error, Result, Row, ToSql as _};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is written into one row, column by column.
pub(crate) type Values<'a> = Vec<ToSqlOutput<'a>>;

/// Reads a row from its first column on.
pub(crate) struct Cursor<'a, 'b> {
    row: &'a Row<'b>,
    at: usize,
}

impl<'a, 'b> Cursor<'a, 'b> {
    pub(crate) fn new(row: &'a Row<'b>) -> Self {
        Self { row, at: 0 }
    }

    fn skip(&mut self, columns: usize) {
        self.at += columns;
    }

    fn is_null(&self) -> Result<bool> {
        Ok(self.row.get_ref(self.at)?.data_type() == Type::Null)
    }

    fn next<T: FromSql>(&mut self) -> Result<T> {
        self.at += 1;
        self.row.get(self.at - 1)
    }

    /// A text that stands for something, if this one does.
    fn text<T>(&mut self, of: impl FnOnce(&str) -> Result<T, BoxedError>) -> Result<T> {
        let column = self.at;
        self.at += 1;
        let text = self.row.get_ref(column)?.as_str()?;
        of(text).map_err(|err| Error::FromSqlConversionFailure(column, Type::Text, err))
    }
}

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// What stands in one column or in a few neighbouring ones.
pub(crate) trait Cells: Sized {
    /// In how many.
    const COUNT: usize = 1;

    fn write<'a>(&'a self, to: &mut Values<'a>);

    fn read(from: &mut Cursor<'_, '_>) -> Result<Self>;
}

pub(crate) fn cell_values<C: Cells>(cells: &C) -> Values<'_> {
    let mut values = Values::with_capacity(C::COUNT);
    cells.write(&mut values);
    values
}

/// A way to write a value other than its type's own.
pub(crate) trait Codec<T> {
    /// In how many columns it stands.
    const COUNT: usize = 1;

    fn write<'a>(value: &'a T, to: &mut Values<'a>);

    fn read(from: &mut Cursor<'_, '_>) -> Result<T>;

    /// Notes of each of its columns whether it differs.
    fn compare(before: &T, after: &T, to: &mut Vec<bool>)
    where
        T: PartialEq,
    {
        to.extend(iter::repeat_n(before != after, Self::COUNT));
    }
}

/// The type's own way.
pub(crate) struct Plain;

impl<T: Cells> Codec<T> for Plain {
    const COUNT: usize = T::COUNT;

    fn write<'a>(value: &'a T, to: &mut Values<'a>) {
        value.write(to);
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<T> {
        T::read(from)
    }
}

/// As JSON.
pub(crate) struct Json;

impl<T: Serialize + DeserializeOwned> Codec<T> for Json {
    fn write<'a>(value: &'a T, to: &mut Values<'a>) {
        let text = serde_json::to_string(value).expect("it holds only texts, numbers and flags");
        to.push(ToSqlOutput::Owned(Value::Text(text)));
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<T> {
        from.text(|text| Ok(serde_json::from_str(text)?))
    }
}

/// What is mostly empty or not there is kept as JSON, and as nothing if it is.
pub(crate) struct JsonOrNull;

impl<T: Serialize + DeserializeOwned + Default + PartialEq> Codec<T> for JsonOrNull {
    fn write<'a>(value: &'a T, to: &mut Values<'a>) {
        match *value == T::default() {
            true => to.push(Null.into()),
            false => Json::write(value, to),
        }
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<T> {
        match from.is_null()? {
            true => {
                from.skip(1);
                Ok(T::default())
            }
            false => Json::read(from),
        }
    }
}

/// A title's number, behind the place that it takes among the newest.
pub(crate) struct Slotted;

impl Codec<u32> for Slotted {
    const COUNT: usize = 2;

    fn write<'a>(nth: &'a u32, to: &mut Values<'a>) {
        to.push((nth % model::MAX_TITLES).into());
        to.push((*nth).into());
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<u32> {
        from.skip(1);
        from.next()
    }
}

/// What is not there is nothing in each of its columns.
impl<T: Cells> Cells for Option<T> {
    const COUNT: usize = T::COUNT;

    fn write<'a>(&'a self, to: &mut Values<'a>) {
        match self {
            Some(value) => value.write(to),
            None => to.extend(iter::repeat_n(Null.into(), T::COUNT)),
        }
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
        match from.is_null()? {
            true => {
                from.skip(T::COUNT);
                Ok(None)
            }
            false => T::read(from).map(Some),
        }
    }
}

/// What SQLite itself knows.
macro_rules! plain {
    ($($type:ty),+) => {
        $(impl Cells for $type {
            fn write<'a>(&'a self, to: &mut Values<'a>) {
                to.push(self.to_sql().expect("every such value can be kept"));
            }

            fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
                from.next()
            }
        })+
    };
}

plain!(String, Vec<u8>, u32, i32, i64, bool);

/// A type around something that SQLite knows.
macro_rules! around {
    ($($type:ty: |$value:ident| $write:expr, $read:expr;)+) => {
        $(impl Cells for $type {
            fn write<'a>(&'a self, to: &mut Values<'a>) {
                let $value = self;
                to.push($write.into());
            }

            fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
                from.next().map($read)
            }
        })+
    };
}

around! {
    SessionId: |id| id.as_bytes().as_slice(), Self::from_bytes;
    InteractionId: |id| id.as_bytes().as_slice(), Self::from_bytes;
    WorkId: |id| id.as_bytes().as_slice(), Self::from_bytes;
    TokenId: |id| id.as_bytes().as_slice(), Self::from_bytes;
    RememberedId: |id| id.as_bytes().as_slice(), Self::from_bytes;
    OutputId: |id| id.as_bytes().as_slice(), Self::from_bytes;
    BodyHash: |hash| hash.as_bytes().as_slice(), Self::from_bytes;
    Turn: |turn| turn.0, Self;
    Request: |request| request.0, Self;
    Seq: |seq| sql_seq(*seq), |seq: i64| Self(seq.cast_unsigned());
    Timestamp: |at| at.as_millis(), Self::from_millis;
    // Whoever counts has a bound that is far below.
    u64: |count| count.cast_signed(), i64::cast_unsigned;
}

/// SQLite counts with a sign. A seq too great for it is greater than any entry's, and so is what stands for it.
pub(crate) fn sql_seq(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

/// Several values beside each other.
macro_rules! group {
    ($($type:ty, $count:literal { $($field:ident $(as $codec:ident)?),+ })+) => {
        $(impl Cells for $type {
            const COUNT: usize = $count;

            fn write<'a>(&'a self, to: &mut Values<'a>) {
                $(<$crate::rows::codec!($($codec)?) as Codec<_>>::write(&self.$field, to);)+
            }

            fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
                Ok(Self { $($field: <$crate::rows::codec!($($codec)?) as Codec<_>>::read(from)?),+ })
            }
        })+
    };
}

macro_rules! codec {
    () => {
        $crate::rows::cells::Plain
    };
    ($codec:ident) => {
        $crate::rows::cells::$codec
    };
}

pub(crate) use codec;

group! {
    Running, 4 { turn, interaction_id, first_seq, started_at }
    Stop, 2 { outcome, reason }
    Summary, 3 { text, by, made_at }
    Extent, 3 { prompt, response, tools }
    NextId, 2 { turn, nth }
    Next, 3 { label, command, meta_context }
    Clicked, 3 { work, session, at }
    Evidence, 3 { turn, tool, entry }
    UsedTokens, 5 { input, output, thought, cached_read, cached_write }
    Money, 2 { nanos, currency }
}

/// As the only one of a list: the column can hold more.
impl Cells for FileStamp {
    fn write<'a>(&'a self, to: &mut Values<'a>) {
        let text = serde_json::to_string(&[self]).expect("it holds only texts and numbers");
        to.push(ToSqlOutput::Owned(Value::Text(text)));
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
        from.text(|text| Ok(serde_json::from_str::<[Self; 1]>(text)?)).map(|[stamp]| stamp)
    }
}

/// As it is written everywhere.
impl Cells for AppletName {
    fn write<'a>(&'a self, to: &mut Values<'a>) {
        to.push(ToSqlOutput::Owned(Value::Text(self.to_string())));
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
        from.text(|text| Ok(text.parse()?))
    }
}

/// Keys of several columns.
impl<A: Cells, B: Cells> Cells for (A, B) {
    const COUNT: usize = A::COUNT + B::COUNT;

    fn write<'a>(&'a self, to: &mut Values<'a>) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

/// Enums are kept as the words that the wire uses too, so that whoever opens the file with a plain tool can read it.
macro_rules! words {
    ($($enum:ident { $($variant:ident $word:literal),+ })+) => {
        $(impl Cells for $enum {
            fn write<'a>(&'a self, to: &mut Values<'a>) {
                let word = match self {
                    $(Self::$variant => $word,)+
                };
                to.push(word.into());
            }

            fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
                from.text(|word| match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("{word:?} is not a word that this version knows").into()),
                })
            }
        })+
    };
}

words! {
    AgentState {
        Starting "starting", Ready "ready", Stopped "stopped", Failed "failed", SignedOut "signed_out",
        Unresponsive "unresponsive"
    }
    Outcome { Completed "completed", Cancelled "cancelled", Failed "failed", Interrupted "interrupted" }
    FactShape { List "list", Single "single" }
    TokenKind { Person "person", Browser "browser", Agent "agent", Applet "applet" }
    ToolKind {
        Read "read", Edit "edit", Delete "delete", Move "move", Search "search", Execute "execute", Think "think",
        Fetch "fetch", SwitchMode "switch_mode", Other "other"
    }
    TitleMaker { Agent "agent", Terms "terms", Model "model" }
    SummaryMaker { Extract "extract", Model "model" }
    RememberedDecision { Allow "allow", Deny "deny" }
}

/// The column was once a flag: 1 is what it then meant.
impl Cells for Untold {
    fn write<'a>(&'a self, to: &mut Values<'a>) {
        let number = match self {
            Self::Nothing => 0,
            Self::Everything => 1,
            Self::Essentials => 2,
        };
        to.push(number.into());
    }

    fn read(from: &mut Cursor<'_, '_>) -> Result<Self> {
        match from.next::<i64>()? {
            0 => Ok(Self::Nothing),
            1 => Ok(Self::Everything),
            2 => Ok(Self::Essentials),
            other => Err(Error::IntegralValueOutOfRange(from.at - 1, other)),
        }
    }
}
