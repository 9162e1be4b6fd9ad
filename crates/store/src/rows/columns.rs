//! Each table, described once: its columns in their order, since which schema it has them, and what stands in each.
//!
//! Invariant: all SQL that names a row's columns is made from here, and so is what reads and writes them. The order is the one
//! that checksums are made in, so it never changes, and a new column is the last. What an old schema has no column for
//! is the value that its migration would give, so a store is read alike before and after.

use std::sync::{LazyLock, OnceLock};

use model::{
    AppletGrantsRow, Author, BodyRow, Evidence, FactShape, FileStamp, Image, InteractionId, Mark, NextRow, OutputRow,
    QueuedPrompt, RememberedRow, Seq, SessionId, SessionRow, StreamId, Tally, Timestamp, TitleRow, TokenRow, TurnRow,
    UsageRow, WorkId, WorkRow,
};

use crate::rows::cells::{Codec, Cursor, Values};
use crate::rows::codec;

/// A table whose rows have a checksum.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The first schema that has it.
    pub(crate) since: i64,
    pub(crate) owner: Owner,
    columns: &'static [Columns],
    names: LazyLock<Vec<&'static str>>,
    joined: LazyLock<String>,
    pub(crate) put: LazyLock<String>,
    /// Finds a row by its key.
    pub(crate) find: OnceLock<String>,
}

/// Whose rows a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Those of the session whose id is in the first column.
    Session,
    /// Those of one stream.
    Stream(StreamId),
    /// No stream's: they are not folded from the log.
    Nobody,
}

/// The columns of one field.
struct Columns {
    names: &'static str,
    /// The first schema that has them.
    since: i64,
    /// The first schema in which they say what they say now, and what says it in an earlier one.
    reads: (i64, &'static str),
}

impl Table {
    /// All columns of the newest schema, which are also what is summed, in this order. One that is empty adds nothing to the
    /// sum, so a later one needs no new checksums.
    pub(crate) fn columns(&self) -> &str {
        &self.joined
    }

    /// The same, one by one.
    pub(crate) fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// As many in the same order, of a store with this schema.
    pub(crate) fn columns_in(&self, schema: i64) -> String {
        join(self.columns.iter().map(|columns| if columns.reads.0 <= schema { columns.names } else { columns.reads.1 }))
    }

    /// Those that a store with this schema has.
    pub(crate) fn stored_in(&self, schema: i64) -> String {
        join(self.columns.iter().filter(|columns| columns.since <= schema).map(|columns| columns.names))
    }

    /// The first column: the session's id, in a table of sessions' rows.
    pub(crate) fn first_column(&self) -> &'static str {
        self.columns[0].names
    }

    /// Whether a store with this schema has the table with all its columns.
    pub(crate) fn is_whole_in(&self, schema: i64) -> bool {
        self.columns.iter().all(|columns| columns.since <= schema)
    }
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// A row of a table.
pub(crate) trait TableRow: Sized {
    /// Which table.
    fn table() -> &'static Table;

    /// What stands in its columns.
    fn write<'a>(&'a self, to: &mut Values<'a>);

    /// Reads back what was written.
    fn read(from: &mut Cursor<'_, '_>) -> rusqlite::Result<Self>;

    /// Says of each column whether it has changed.
    fn changed_since(&self, before: &Self) -> Vec<bool>;
}

/// Makes a table and how its rows are written and read. A field stands in the column of its name unless others are named.
macro_rules! tables {
    ($($table:ident $name:literal since $since:literal $(of $owner:ident = $row:ident)? {
        $($field:ident $(= $columns:literal)? $(as $codec:ident)? $(since $later:literal else $before:literal)?
            $(reads $reads:literal before $until:literal)?),+ $(,)?
    })+) => {
        $(
            pub(crate) static $table: Table = Table {
                name: $name,
                since: $since,
                owner: tables!(@owner $($owner)?),
                columns: &[$(Columns {
                    names: tables!(@names $field $($columns)?),
                    since: tables!(@since $since $($later)?),
                    reads: tables!(@reads $($later $before)? $($until $reads)?),
                }),+],
                names: LazyLock::new(|| $table.columns.iter().flat_map(|columns| columns.names.split(", ")).collect()),
                joined: LazyLock::new(|| $table.names.join(", ")),
                put: LazyLock::new(|| $table.put_sql()),
                find: OnceLock::new(),
            };

            tables! { @row $table $($row)? { $($field $($codec)?),+ } }
        )+
    };
    (@names $field:ident) => { stringify!($field) };
    (@names $field:ident $columns:literal) => { $columns };
    (@since $table:literal) => { $table };
    (@since $table:literal $later:literal) => { $later };
    (@reads) => { (0, "") };
    (@reads $since:literal $before:literal) => { ($since, $before) };
    (@owner $(Nobody)?) => { Owner::Nobody };
    (@owner Session) => { Owner::Session };
    (@owner Work) => { Owner::Stream(StreamId::Work) };
    (@owner Server) => { Owner::Stream(StreamId::Server) };
    (@row $table:ident { $($any:tt)+ }) => {};
    (@row $table:ident $row:ident { $($field:ident $($codec:ident)?),+ }) => {
        impl TableRow for $row {
            fn table() -> &'static Table {
                &$table
            }

            fn write<'a>(&'a self, to: &mut Values<'a>) {
                $(<codec!($($codec)?) as Codec<_>>::write(&self.$field, to);)+
            }

            fn read(from: &mut Cursor<'_, '_>) -> rusqlite::Result<Self> {
                Ok(Self { $($field: <codec!($($codec)?) as Codec<_>>::read(from)?),+ })
            }

            fn changed_since(&self, before: &Self) -> Vec<bool> {
                let mut changed = Vec::new();
                $(<codec!($($codec)?) as Codec<_>>::compare(&before.$field, &self.$field, &mut changed);)+
                changed
            }
        }
    };
}

tables! {
    STREAMS "streams" since 1 {
        id,
        name,
        purged_at,
        sweeping since 2 else "0",
        damaged_seq since 2 else "NULL",
        damage since 2 else "NULL",
    }
    SESSIONS "sessions" since 1 of Session = SessionRow {
        id,
        agent,
        cwd,
        project,
        name,
        env_hint,
        first_prompt,
        agent_state,
        failure,
        running = "running_turn, running_interaction, running_first_seq, running_started_at",
        turns,
        interrupted,
        created_at,
        active_at,
        last_observed_at,
        last_idle_at,
        deleted_at,
        agent_session since 3 else "NULL",
        title = "agent_title" since 3 else "''",
        untold since 3 else "0",
        open_requests as JsonOrNull since 3 else "NULL",
        requests since 3 else "0",
        intent since 5 else "''",
        titles since 6 else "0",
        summarised since 6 else "0",
        imported as JsonOrNull since 6 else "NULL",
        work since 8 else "NULL",
        from = "origin" as JsonOrNull since 8 else "NULL",
        options as JsonOrNull since 8 else "NULL",
        pinned_at since 16 else "NULL",
        archived_at since 16 else "NULL",
        tags as JsonOrNull since 16 else "NULL",
    }
    TURNS "turns" since 1 of Session = TurnRow {
        session,
        turn,
        interaction_id = "interaction",
        prompt_line,
        stop = "outcome, reason",
        started_at,
        ended_at,
        first_seq,
        last_seq,
        summary = "summary, summary_by, summary_at" since 6 else "NULL, NULL, NULL",
        extent = "prompt_chars, response_chars, tools" since 6 else "NULL, NULL, NULL",
    }
    PROMPTS "prompts" since 1 of Session = PromptRow {
        session,
        interaction_id = "interaction",
        queued_seq,
        queued_at,
        text reads "IFNULL(old_prompt_words(text), text)" before 15,
        images as JsonOrNull since 3 else "NULL",
        by = "written_by" as JsonOrNull since 15 else "old_prompt_author(text)",
    }
    SETS "sets" since 5 of Session = SetRow { session, name, marks as Json }
    FACTS "facts" since 5 of Session = FactRow {
        session,
        name,
        value,
        shape,
        nth,
        evidence = "turn, tool, entry",
        exit_code,
        file,
    }
    CONTEXT_ENTRIES "context_entries" since 5 of Session = ContextEntryRow { session, seq }
    TITLES "titles" since 6 of Session = TitleRow {
        session,
        nth = "slot, nth" as Slotted,
        title,
        by = "made_by",
        turn,
        interaction_id = "interaction",
        changed_at,
    }
    ATTACHMENTS "attachments" since 13 of Session = AttachmentRow { session, agent, agent_session }
    USAGE "usage" since 17 of Session = UsageRow {
        session,
        turn,
        nth,
        agent,
        model,
        tokens = "input, output, thought, cached_read, cached_write",
        cost = "cost_nanos, currency",
        at,
    }
    TALLIES "tallies" since 17 of Session = TallyRow { session, tally as Json }
    OUTPUTS "outputs" since 18 of Session = OutputRow {
        session,
        id,
        stored_seq,
        turn,
        stored_at,
        bytes,
        output as Json,
    }
    BODIES "bodies" since 19 of Session = BodyRow { session, hash, named_seq, bytes }
    NEXT_BLOCKS "next_blocks" since 8 of Session = NextRow {
        session,
        id = "turn, nth",
        next = "label, command, meta_context",
        offered_at,
        clicked = "clicked_work, clicked_session, clicked_at",
    }
    WORKS "works" since 8 of Work = WorkRow { id, project, name, created_at, added_at }
    WORK_NAMES "work_names" since 8 of Work = WorkNameRow { project, name, work }
    TOKENS "tokens" since 1 of Server = TokenRow { id, kind, name, session, secret_hash, proof_hash, issued_at }
    REMEMBERED "remembered" since 4 of Server = RememberedRow {
        id,
        project,
        cwd,
        agent,
        kind,
        subject,
        digest,
        decision,
        by = "decided_by" as Json,
        remembered_at,
    }
    APPLET_GRANTS "applet_grants" since 20 of Server = AppletGrantsRow {
        applet,
        hash,
        grants as Json,
        by = "granted_by" as Json,
        granted_at,
    }
    RECEIPTS "receipts" since 1 of Nobody = ReceiptRow {
        principal,
        key,
        fingerprint,
        reply,
        at,
        session since 14 else "NULL",
    }
}

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptRow {
    pub(crate) session: SessionId,
    pub(crate) interaction_id: InteractionId,
    pub(crate) queued_seq: Seq,
    pub(crate) queued_at: Timestamp,
    pub(crate) text: String,
    pub(crate) images: Vec<Image>,
    pub(crate) by: Author,
}

impl PromptRow {
    pub(crate) fn new(session: SessionId, prompt: QueuedPrompt) -> Self {
        let QueuedPrompt { interaction_id, queued_seq, queued_at, text, images, by } = prompt;
        Self { session, interaction_id, queued_seq, queued_at, text, images, by }
    }

    pub(crate) fn into_prompt(self) -> QueuedPrompt {
        let Self { session: _, interaction_id, queued_seq, queued_at, text, images, by } = self;
        QueuedPrompt { interaction_id, queued_seq, queued_at, text, images, by }
    }
}

/// A set of a session's context; there is none that is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetRow {
    pub(crate) session: SessionId,
    pub(crate) name: String,
    pub(crate) marks: Vec<Mark>,
}

/// One value of a fact of a session's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FactRow {
    pub(crate) session: SessionId,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) shape: FactShape,
    pub(crate) nth: u32,
    pub(crate) evidence: Evidence,
    pub(crate) exit_code: Option<i32>,
    pub(crate) file: Option<FileStamp>,
}

/// An entry that changed a session's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContextEntryRow {
    pub(crate) session: SessionId,
    pub(crate) seq: Seq,
}

/// A conversation of an agent's own that a session is or once was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttachmentRow {
    pub(crate) session: SessionId,
    pub(crate) agent: String,
    pub(crate) agent_session: String,
}

/// What a session's agent has said of its use so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TallyRow {
    pub(crate) session: SessionId,
    pub(crate) tally: Tally,
}

/// A name, and the piece of work that it leads to in its project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkNameRow {
    pub(crate) project: String,
    pub(crate) name: String,
    pub(crate) work: WorkId,
}

/// A receipt, with the session that it goes with if it holds words of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReceiptRow {
    pub(crate) principal: String,
    pub(crate) key: String,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) reply: Vec<u8>,
    pub(crate) at: Timestamp,
    pub(crate) session: Option<SessionId>,
}
