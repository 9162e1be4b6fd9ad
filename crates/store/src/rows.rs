//! The rows that the log leaves, and what each change does to them.
//!
//! Invariant: [`apply`] is all that interprets a [`RowChange`]. A store only says how it puts, changes and removes a row; so
//! the tables in memory are what the log says, and those on disk are compared with them.

pub(crate) mod cells;
pub(crate) mod columns;

use std::collections::BTreeMap;
use std::convert::Infallible;

use model::{
    AppletGrantsRow, AppletName, BodyHash, BodyRow, Context, InteractionId, NextId, NextRow, OutputId, OutputRow,
    ProvedFact, RememberedId, RememberedRow, RowChange, Seq, SessionId, SessionRow, TitleRow, TokenId, TokenRow, Turn,
    TurnRow, UsageRow, WorkId, WorkRow,
};

pub(crate) use cells::{Cells, Cursor, Values, cell_values, codec, sql_seq};
pub(crate) use columns::{
    AttachmentRow, ContextEntryRow, FactRow, Owner, PromptRow, ReceiptRow, SetRow, Table, TableRow, TallyRow,
    WorkNameRow,
};

/// A row that is folded from the log.
pub(crate) trait FoldedRow: TableRow + Clone + PartialEq {
    /// What stands in the first columns, and identifies the row.
    type Key: Cells + Ord + Clone;

    fn key(&self) -> Self::Key;

    /// What the row with this key is called when something is wrong with it.
    fn label(key: &Self::Key) -> String;

    /// What several of them are called then.
    const LABEL: &'static str;

    /// Those in memory.
    fn of(rows: &Rows) -> &BTreeMap<Self::Key, Self>;

    fn of_mut(rows: &mut Rows) -> &mut BTreeMap<Self::Key, Self>;
}

/// Something that is done with each table that is folded from the log.
pub(crate) trait EachTable {
    type Error;

    fn table<R: FoldedRow>(&mut self) -> Result<(), Self::Error>;
}

macro_rules! folded {
    ($($name:ident: $row:ident by $key:ty = |$of:ident| $made:expr, $label:literal, |$by:pat_param| $said:expr;)+) => {
        /// All rows, in memory.
        #[derive(Debug, Default, Clone, PartialEq)]
        pub(crate) struct Rows {
            $(pub(crate) $name: BTreeMap<$key, $row>,)+
        }

        impl Rows {
            /// Removes every row of a session.
            pub(crate) fn remove_session(&mut self, session: SessionId) {
                $(if $row::table().owner == Owner::Session {
                    self.$name.retain(|key, _| !cell_values(key).starts_with(&cell_values(&session)));
                })+
            }
        }

        /// The tables that are folded from the log and can be made again from it.
        pub(crate) fn folded_tables() -> impl Iterator<Item = &'static Table> + Clone {
            [$($row::table()),+].into_iter()
        }

        pub(crate) fn each_table<E: EachTable>(each: &mut E) -> Result<(), E::Error> {
            $(each.table::<$row>()?;)+
            Ok(())
        }

        $(impl FoldedRow for $row {
            type Key = $key;
            const LABEL: &'static str = $label;

            fn key(&self) -> $key {
                let $of = self;
                $made
            }

            fn label($by: &$key) -> String {
                $said
            }

            fn of(rows: &Rows) -> &BTreeMap<$key, Self> {
                &rows.$name
            }

            fn of_mut(rows: &mut Rows) -> &mut BTreeMap<$key, Self> {
                &mut rows.$name
            }
        })+
    };
}

folded! {
    sessions: SessionRow by SessionId = |row| row.id, "the session's row", |_| "the session's row".to_owned();
    turns: TurnRow by (SessionId, Turn) = |row| (row.session, row.turn),
        "rows of turns", |(_, turn)| format!("the row of turn {turn}");
    prompts: PromptRow by (SessionId, InteractionId) = |row| (row.session, row.interaction_id),
        "rows of waiting prompts", |(_, id)| format!("the row of the waiting prompt {id}");
    sets: SetRow by (SessionId, String) = |row| (row.session, row.name.clone()),
        "rows of its context", |(_, set)| format!("the row of the set {set:?}");
    facts: FactRow by (SessionId, (String, String)) = |row| (row.session, (row.name.clone(), row.value.clone())),
        "rows of its context", |(_, (name, _))| format!("a row of the fact {name:?}");
    context_entries: ContextEntryRow by (SessionId, Seq) = |row| (row.session, row.seq),
        "rows of its context", |(_, seq)| format!("the note of entry {seq}");
    titles: TitleRow by (SessionId, u32) = |row| (row.session, row.slot()),
        "rows of titles", |_| "a row of its titles".to_owned();
    attachments: AttachmentRow by (SessionId, (String, String))
        = |row| (row.session, (row.agent.clone(), row.agent_session.clone())),
        "rows of agents' own ids", |(_, (_, id))| format!("the row of the agent's own id {id:?}");
    usage: UsageRow by (SessionId, (Turn, u32)) = |row| (row.session, (row.turn, row.nth)),
        "rows of what turns used", |(_, (turn, _))| format!("the row of what turn {turn} used");
    tallies: TallyRow by SessionId = |row| row.session,
        "the row of what its agent has counted", |_| "the row of what its agent has counted".to_owned();
    next_blocks: NextRow by (SessionId, NextId) = |row| (row.session, row.id),
        "rows of next blocks", |(_, id)| format!("the row of next block {id}");
    outputs: OutputRow by (SessionId, OutputId) = |row| (row.session, row.id),
        "rows of outputs", |(_, id)| format!("the row of output {id}");
    bodies: BodyRow by (SessionId, BodyHash) = |row| (row.session, row.hash),
        "rows of bodies", |(_, hash)| format!("the row of body {hash}");
    works: WorkRow by WorkId = |row| row.id,
        "rows of meta-contexts", |id| format!("the row of meta-context {id}");
    work_names: WorkNameRow by (String, String) = |row| (row.project.clone(), row.name.clone()),
        "names of meta-contexts", |(_, name)| format!("the name {name:?} of a meta-context");
    tokens: TokenRow by TokenId = |row| row.id, "rows of tokens", |id| format!("the row of token {id}");
    remembered: RememberedRow by RememberedId = |row| row.id,
        "rows of what is remembered", |id| format!("the row of the remembered answer {id}");
    applet_grants: AppletGrantsRow by AppletName = |row| row.applet.clone(),
        "rows of what applets may do", |applet| format!("the row of what the applet {applet} may do");
}

/// A place that keeps rows.
pub(crate) trait KeepRows {
    type Error;

    /// Puts a row, in place of one with the same key.
    fn put<R: FoldedRow>(&mut self, row: &R) -> Result<(), Self::Error>;

    /// Puts a row in place of the one that was put `before`: only what differs has to be written.
    fn put_over<R: FoldedRow>(&mut self, _before: &R, row: &R) -> Result<(), Self::Error> {
        self.put(row)
    }

    /// Changes a row if it is there.
    fn change<R: FoldedRow>(&mut self, key: R::Key, change: impl FnOnce(&mut R)) -> Result<(), Self::Error>;

    fn remove<R: FoldedRow>(&mut self, key: &R::Key) -> Result<(), Self::Error>;

    /// Removes every name that leads to a piece of work.
    fn forget_work_names(&mut self, work: WorkId) -> Result<(), Self::Error>;
}

/// What a change does.
pub(crate) fn apply<K: KeepRows>(to: &mut K, change: &RowChange) -> Result<(), K::Error> {
    match change {
        RowChange::PutSession { before: Some(before), row } => to.put_over(&**before, &**row),
        RowChange::PutSession { before: None, row } => to.put(&**row),
        RowChange::StartTurn(row) => to.put(row),
        RowChange::EndTurn { session, turn, stop, ended_at, last_seq, summary, extent } => {
            to.change((*session, *turn), |row: &mut TurnRow| {
                row.end(stop.clone(), *ended_at, *last_seq);
                if let Some(summary) = summary {
                    row.summarise(summary.clone(), *extent);
                }
            })
        }
        RowChange::PutSummary { session, turn, summary, extent } => {
            to.change((*session, *turn), |row: &mut TurnRow| row.summarise(summary.clone(), *extent))
        }
        RowChange::PutPrompt { session, prompt } => to.put(&PromptRow::new(*session, prompt.clone())),
        RowChange::RemovePrompt { session, interaction_id } => to.remove::<PromptRow>(&(*session, *interaction_id)),
        RowChange::PutSet { session, set, marks } => match marks.is_empty() {
            true => to.remove::<SetRow>(&(*session, set.clone())),
            false => to.put(&SetRow { session: *session, name: set.clone(), marks: marks.clone() }),
        },
        RowChange::PutFact { session, name, shape, fact } => {
            let ProvedFact { nth, value, evidence, exit_code, file } = fact.clone();
            to.put(&FactRow {
                session: *session,
                name: name.clone(),
                value,
                shape: *shape,
                nth,
                evidence,
                exit_code,
                file,
            })
        }
        RowChange::RemoveFact { session, name, value } => {
            to.remove::<FactRow>(&(*session, (name.clone(), value.clone())))
        }
        RowChange::NoteContext { session, seq } => to.put(&ContextEntryRow { session: *session, seq: *seq }),
        RowChange::PutTitle(row) => to.put(row),
        RowChange::PutAttachment { session, agent, agent_session } => {
            let (agent, agent_session) = (agent.clone(), agent_session.clone());
            to.put(&AttachmentRow { session: *session, agent, agent_session })
        }
        RowChange::PutUsage(row) => to.put(row),
        RowChange::RemoveUsage { session, turn, nth } => to.remove::<UsageRow>(&(*session, (*turn, *nth))),
        RowChange::PutTally { session, tally } => to.put(&TallyRow { session: *session, tally: (**tally).clone() }),
        RowChange::PutOutput(row) => to.put(&**row),
        RowChange::PutBody(row) => to.put(row),
        RowChange::RemoveOutput { session, id } => to.remove::<OutputRow>(&(*session, *id)),
        RowChange::PutNext(row) => to.put(row),
        RowChange::ClickNext { session, id, clicked } => {
            to.change((*session, *id), |row: &mut NextRow| row.clicked = Some(*clicked))
        }
        RowChange::PutWork(row) => to.put(row),
        RowChange::NameWork { project, name, id } => {
            to.put(&WorkNameRow { project: project.clone(), name: name.clone(), work: *id })
        }
        RowChange::RenameWork { id, name } => to.change(*id, |row: &mut WorkRow| row.name.clone_from(name)),
        RowChange::TouchWork { id, added_at } => to.change(*id, |row: &mut WorkRow| row.added_at = *added_at),
        RowChange::RemoveWork { id } => to.remove::<WorkRow>(id),
        RowChange::ForgetWorkNames { id } => to.forget_work_names(*id),
        RowChange::PutToken(row) => to.put(row),
        RowChange::RemoveToken { id } => to.remove::<TokenRow>(id),
        RowChange::PutRemembered(row) => to.put(row),
        RowChange::RemoveRemembered { id } => to.remove::<RememberedRow>(id),
        RowChange::PutGrants(row) => to.put(row),
        RowChange::RemoveGrants { applet } => to.remove::<AppletGrantsRow>(applet),
    }
}

impl KeepRows for Rows {
    type Error = Infallible;

    fn put<R: FoldedRow>(&mut self, row: &R) -> Result<(), Infallible> {
        R::of_mut(self).insert(row.key(), row.clone());
        Ok(())
    }

    fn change<R: FoldedRow>(&mut self, key: R::Key, change: impl FnOnce(&mut R)) -> Result<(), Infallible> {
        R::of_mut(self).get_mut(&key).map(change);
        Ok(())
    }

    fn remove<R: FoldedRow>(&mut self, key: &R::Key) -> Result<(), Infallible> {
        R::of_mut(self).remove(key);
        Ok(())
    }

    fn forget_work_names(&mut self, work: WorkId) -> Result<(), Infallible> {
        self.work_names.retain(|_, row| row.work != work);
        Ok(())
    }
}

impl Rows {
    pub(crate) fn apply(&mut self, change: &RowChange) {
        let Ok(()) = apply(self, change);
    }
}

/// What a session is about, from its rows.
pub(crate) fn context(sets: impl IntoIterator<Item = SetRow>, facts: impl IntoIterator<Item = FactRow>) -> Context {
    let mut context = Context::default();
    for SetRow { name, marks, .. } in sets {
        context.sets.restore(name, marks);
    }
    for FactRow { session: _, name, value, shape, nth, evidence, exit_code, file } in facts {
        context.facts.restore(name, shape, ProvedFact { nth, value, evidence, exit_code, file });
    }
    context
}
