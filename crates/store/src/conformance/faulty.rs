//! A store that fails when it is told to, around any other one: for tests of what is built on a store.
//!
//! Invariant: as long as nothing is told to fail it is the store that it is around, and passes the same suite.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use model::{
    AppletGrantsRow, BodyHash, BodyRow, DeletedKey, Entry, Event, Incarnation, InteractionId, ListKey, NextId, NextRow,
    Offer, OutputId, OutputRow, OutputsSize, Position, RememberedRow, Seq, Session, SessionId, SessionRow, Shelf,
    StreamId, Timestamp, TitleRow, TokenRow, Turn, TurnRow, UsageQuery, UsageRow, UsageSum, WorkId, WorkKey, WorkRow,
};

use crate::{
    Append, AppendError, Batch, Changes, EntryOrder, Fence, Head, Log, PlacedEntry, ReadError, ReadOffers, ReadOutputs,
    ReadPrincipals, ReadSessions, ReadTurns, ReadUnfinished, ReadUsage, ReadWorks, Receipt, StorageError, Store,
    WholeWork,
};

/// A store that fails when it is told to.
pub struct Faulty<S> {
    inner: Arc<S>,
    plan: Mutex<Plan>,
}

#[derive(Default)]
struct Plan {
    rules: Vec<Rule>,
    fence: Option<Fence>,
    unconfirmed: Vec<Batch>,
    met: HashMap<StoreCall, Met>,
}

/// What a call was asked and answered so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Met {
    /// How often it was called.
    pub calls: usize,
    /// How many things it gave: rows, entries, ids.
    pub given: usize,
}

/// How a call fails. A question knows two of these: it is `Closed`, or the storage does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreFault {
    /// No space is left.
    Full,
    /// Another program holds the file.
    Busy,
    /// The store can not be relied on any more. Nothing of the batch was kept.
    Failed,
    /// The same, but the disk only failed to confirm the batch: it is there after [`Faulty::mend`].
    Unconfirmed,
    /// The store is closed.
    Closed,
}

/// A rule that is being made: which calls it is for, and what becomes of them.
#[must_use]
pub struct When<'a, S> {
    faulty: &'a Faulty<S>,
    rule: Rule,
}

struct Rule {
    call: StoreCall,
    /// Of appends, which.
    which: fn(&Batch) -> bool,
    /// So many pass first.
    after: usize,
    /// So many are met, then the rule is gone.
    times: usize,
    what: What,
}

enum What {
    Fail(StoreFault),
    /// Somebody else's batch is appended first.
    Overtake(Batch),
}

impl<S> When<'_, S> {
    /// Only appends of such batches.
    pub fn that(mut self, which: fn(&Batch) -> bool) -> Self {
        self.rule.which = which;
        self
    }

    /// Not before so many have passed.
    pub fn after(mut self, passed: usize) -> Self {
        self.rule.after = passed;
        self
    }

    /// So many, and no more.
    pub fn times(mut self, times: usize) -> Self {
        self.rule.times = times;
        self
    }

    /// They fail like this.
    pub fn fail(mut self, fault: StoreFault) {
        self.rule.what = What::Fail(fault);
        self.faulty.plan().rules.push(self.rule);
    }

    /// Just before the first of them, somebody else appends this batch.
    pub fn overtake(mut self, batch: Batch) {
        self.rule.times = 1;
        self.rule.what = What::Overtake(batch);
        self.faulty.plan().rules.push(self.rule);
    }
}

impl<S> Faulty<S> {
    /// Around a store; nothing fails yet.
    pub fn new(inner: Arc<S>) -> Self {
        Self { inner, plan: Mutex::default() }
    }

    /// Begins a rule about a call. Without more it is for each one from now on.
    pub fn when(&self, call: StoreCall) -> When<'_, S> {
        let what = What::Fail(StoreFault::Failed);
        When { faulty: self, rule: Rule { call, which: |_| true, after: 0, times: usize::MAX, what } }
    }

    /// From now on this is said to be damaged; it can be read nevertheless.
    pub fn say_damaged(&self, fence: Fence) {
        self.plan().fence = Some(fence);
    }

    /// How often a call was made, and what it gave.
    pub fn met(&self, call: StoreCall) -> Met {
        self.plan().met.get(&call).copied().unwrap_or_default()
    }

    /// Whether every rule was met as often as it says.
    pub fn is_spent(&self) -> bool {
        self.plan().rules.is_empty()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Store> Faulty<S> {
    /// From now on nothing fails, as if the store were opened again.
    pub async fn mend(&self) {
        let met = self.plan().met.clone();
        let Plan { unconfirmed, .. } = std::mem::replace(&mut *self.plan(), Plan { met, ..Plan::default() });
        for batch in unconfirmed {
            self.inner.append(batch).await.expect("nobody wrote since");
        }
    }

    /// What becomes of a call, after whatever is to happen before it.
    async fn meet(&self, call: StoreCall, batch: Option<&Batch>) -> Option<StoreFault> {
        let overtaking = {
            let mut plan = self.plan();
            plan.met.entry(call).or_default().calls += 1;
            let is_met = |rule: &Rule| rule.call == call && batch.is_none_or(rule.which);
            let at = plan.rules.iter().position(is_met)?;
            let rule = &mut plan.rules[at];
            if rule.after > 0 {
                rule.after -= 1;
                return None;
            }
            rule.times -= 1;
            match (&rule.what, rule.times) {
                (What::Fail(fault), 1..) => return Some(*fault),
                (_, _) => match plan.rules.remove(at).what {
                    What::Fail(fault) => return Some(fault),
                    What::Overtake(batch) => batch,
                },
            }
        };
        self.inner.append(overtaking).await.expect("whoever overtakes is not held up");
        None
    }

    async fn write<T: Send>(
        &self,
        call: StoreCall,
        batch: Option<&Batch>,
        write: impl Future<Output = Result<T, AppendError>> + Send,
    ) -> Result<T, AppendError> {
        match self.meet(call, batch).await {
            None => write.await,
            Some(StoreFault::Full) => Err(AppendError::Full(as_told())),
            Some(StoreFault::Busy) => Err(AppendError::Busy(as_told())),
            Some(StoreFault::Failed) => Err(AppendError::Failed(as_told())),
            Some(StoreFault::Unconfirmed) => {
                self.plan().unconfirmed.extend(batch.cloned());
                Err(AppendError::Failed(as_told()))
            }
            Some(StoreFault::Closed) => Err(AppendError::Closed),
        }
    }

    async fn ask<T: Amount>(
        &self,
        call: StoreCall,
        read: impl Future<Output = Result<T, ReadError>> + Send,
    ) -> Result<T, ReadError> {
        match self.meet(call, None).await {
            None => (),
            Some(StoreFault::Full | StoreFault::Busy | StoreFault::Failed | StoreFault::Unconfirmed) => {
                return Err(ReadError::Storage(as_told()));
            }
            Some(StoreFault::Closed) => return Err(ReadError::Closed),
        }
        let given = read.await?;
        self.plan().met.entry(call).or_default().given += given.amount();
        Ok(given)
    }
}

fn as_told() -> StorageError {
    StorageError("as it was told".into())
}

/// How many things an answer holds.
trait Amount {
    fn amount(&self) -> usize {
        1
    }
}

impl<T> Amount for Vec<T> {
    fn amount(&self) -> usize {
        self.len()
    }
}

impl<T> Amount for Option<T> {
    fn amount(&self) -> usize {
        usize::from(self.is_some())
    }
}

impl Amount for Changes {}
impl Amount for Head {}
impl Amount for u64 {}
impl Amount for OutputsSize {}

#[async_trait]
impl<S: Store> Append for Faulty<S> {
    async fn append(&self, batch: Batch) -> Result<Position, AppendError> {
        self.write(StoreCall::Append, Some(&batch), self.inner.append(batch.clone())).await
    }

    async fn purge(&self, session: SessionId, after: Seq, at: Timestamp) -> Result<(), AppendError> {
        self.write(StoreCall::Purge, None, self.inner.purge(session, after, at)).await
    }

    async fn forget_receipts(&self, before: Timestamp) -> Result<(), AppendError> {
        self.write(StoreCall::ForgetReceipts, None, self.inner.forget_receipts(before)).await
    }
}

/// Makes the questions of each trait, and a [`StoreCall`] of each question.
macro_rules! questions {
    ($($trait:ident {
        $({ $($plain:tt)+ })?
        $($call:ident $question:ident($($arg:ident: $type:ty),*) -> $given:ty;)+
    })+) => {
        /// What can be made to fail.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "named after the calls")]
        pub enum StoreCall {
            Append,
            Purge,
            ForgetReceipts,
            $($($call,)+)+
        }

        $(#[async_trait]
        impl<S: Store> $trait for Faulty<S> {
            $($($plain)+)?
            $(async fn $question(&self, $($arg: $type),*) -> Result<$given, ReadError> {
                self.ask(StoreCall::$call, self.inner.$question($($arg),*)).await
            })+
        })+
    };
}

questions! {
    Log {
        {
            fn incarnation(&self) -> Incarnation {
                self.inner.incarnation()
            }

            fn last_position(&self) -> Position {
                self.inner.last_position()
            }

            async fn wait_after(&self, after: Position) -> Position {
                self.inner.wait_after(after).await
            }

            fn fence(&self, session: SessionId) -> Option<Fence> {
                let told = self.plan().fence.clone().filter(|fence| fence.stream == StreamId::Session(session));
                told.or_else(|| self.inner.fence(session))
            }
        }
        Read read(stream: StreamId, after: Seq, limit: usize) -> Vec<Entry<Event>>;
        ReadAll read_all(after: Position, limit: usize) -> Vec<PlacedEntry>;
        ChangedSince changed_since(after: Position, limit: usize) -> Changes;
        Head head(stream: StreamId) -> Head;
    }
    ReadSessions {
        Session session(id: SessionId) -> Option<Session>;
        Sessions sessions(shelf: Shelf, after: Option<ListKey>, limit: usize) -> Vec<SessionRow>;
        Foremost foremost(limit: usize) -> Vec<SessionRow>;
        SessionsById sessions_by_id(ids: Vec<SessionId>) -> Vec<SessionRow>;
        Tagged tagged() -> Vec<(SessionId, Vec<String>)>;
        Deleted deleted(after: Option<DeletedKey>, limit: usize) -> Vec<SessionRow>;
        UnobservedCount unobserved_count() -> u64;
        Attached attached(agent: &str, ids: Vec<String>) -> Vec<(String, SessionId)>;
        DirectoriesAbove directories_above(path: &str) -> Vec<String>;
        MayNameFile may_name_file(path: &str, after: Option<SessionId>, limit: usize) -> Vec<SessionId>;
    }
    ReadTurns {
        Turns turns(session: SessionId, after: Turn, limit: usize) -> Vec<TurnRow>;
        FindTurn find_turn(interaction: InteractionId) -> Option<TurnRow>;
        Titles titles(session: SessionId) -> Vec<TitleRow>;
        ContextEntries context_entries(session: SessionId, after: Seq, up_to: Seq, order: EntryOrder, limit: usize) -> Vec<Entry>;
    }
    ReadUsage {
        Usage usage(query: UsageQuery) -> Vec<UsageSum>;
        TurnsUsed turns_used(session: SessionId, after: Turn, limit: usize) -> Vec<UsageRow>;
    }
    ReadUnfinished {
        Unsettled unsettled() -> Vec<SessionId>;
        Unbegun unbegun() -> Vec<SessionId>;
        Unsummarised unsummarised(after: Option<SessionId>, limit: usize) -> Vec<SessionId>;
        DeletedBefore deleted_before(at: Timestamp, limit: usize) -> Vec<SessionId>;
    }
    ReadOffers {
        NextBlocks next_blocks(session: SessionId, before: Option<NextId>, limit: usize) -> Vec<Offer>;
        NextBlock next_block(session: SessionId, id: NextId) -> Option<Offer>;
        Clicked clicked(session: SessionId, limit: usize) -> Vec<NextRow>;
    }
    ReadOutputs {
        Outputs outputs(session: SessionId, after: Seq, limit: usize) -> Vec<OutputRow>;
        Output output(session: SessionId, id: OutputId) -> Option<OutputRow>;
        SessionsWithOutput sessions_with_output(id: OutputId) -> Vec<SessionId>;
        Bodies bodies(session: SessionId, after: Option<BodyHash>, limit: usize) -> Vec<BodyRow>;
        Body body(session: SessionId, hash: BodyHash) -> Option<BodyRow>;
        BodiesSize bodies_size(session: SessionId) -> u64;
        OutputsBefore outputs_before(
            moment: Timestamp, after: Option<(SessionId, OutputId)>, limit: usize
        ) -> Vec<OutputRow>;
        OutputsSize outputs_size(session: SessionId) -> OutputsSize;
    }
    ReadWorks {
        Works works(after: Option<WorkKey>, limit: usize) -> Vec<WorkRow>;
        Work work(id: WorkId) -> Option<WorkRow>;
        WorksById works_by_id(ids: Vec<WorkId>) -> Vec<WorkRow>;
        FindWork find_work(project: &str, name: &str) -> Option<WorkRow>;
        WorksNamed works_named(name: &str, after: Option<WorkKey>, limit: usize) -> Vec<WorkRow>;
        WorkSessions work_sessions(work: WorkId) -> Vec<SessionRow>;
        WorkSessionIds work_session_ids(work: WorkId) -> Vec<SessionId>;
        NewestOfWork newest_of_work(work: WorkId, before: Option<SessionId>, limit: usize) -> Vec<SessionRow>;
        WholeWorks whole_works() -> Vec<WholeWork>;
    }
    ReadPrincipals {
        Tokens tokens() -> Vec<TokenRow>;
        Remembered remembered() -> Vec<RememberedRow>;
        AppletGrants applet_grants() -> Vec<AppletGrantsRow>;
        FindReceipt find_receipt(principal: &str, key: &str) -> Option<Receipt>;
    }
}

#[cfg(test)]
mod tests {
    use model::Incarnation;

    use super::*;
    use crate::MemoryStore;
    use crate::conformance::{act, at, create, session_id, text_part};
    use crate::prelude::*;

    fn faulty() -> Arc<Faulty<MemoryStore>> {
        Arc::new(Faulty::new(Arc::new(MemoryStore::new(Incarnation::from_bits(7)))))
    }

    fn open() -> (Arc<dyn Store>, ()) {
        (faulty(), ())
    }

    crate::conformance_tests!(open);

    fn text(after: u64) -> Batch {
        let part = text_part(StreamId::Session(session_id(9)), after, &["words"]);
        Batch { parts: vec![part], ..Batch::default() }
    }

    #[tokio::test]
    async fn an_append_fails_as_often_and_as_late_as_it_is_told() {
        let store = faulty();
        store.when(StoreCall::Append).after(1).times(2).fail(StoreFault::Full);
        let mut fates = Vec::new();
        for after in [0, 1, 1, 1] {
            fates.push(match store.append(text(after)).await {
                Ok(_) => "kept",
                Err(AppendError::Full(_)) => "full",
                Err(other) => panic!("{other}"),
            });
        }
        assert_eq!(fates, ["kept", "full", "full", "kept"]);
        assert!(store.is_spent());
        assert_eq!(store.met(StoreCall::Append).calls, 4);
    }

    #[tokio::test]
    async fn every_fault_is_the_error_of_its_name_and_leaves_what_it_says() {
        for (fault, said, kept) in [
            (StoreFault::Full, "no space is left", false),
            (StoreFault::Busy, "another program keeps", false),
            (StoreFault::Failed, "is read-only until", false),
            (StoreFault::Unconfirmed, "is read-only until", true),
            (StoreFault::Closed, "the store is closed", false),
        ] {
            let store = faulty();
            store.when(StoreCall::Append).fail(fault);
            let refused = store.append(text(0)).await.unwrap_err();
            assert!(refused.to_string().contains(said), "{refused}");
            store.mend().await;
            let head = store.head(StreamId::Session(session_id(9))).await.unwrap();
            assert_eq!(head, Head::At(Seq(u64::from(kept))), "{fault:?}");
        }
    }

    #[tokio::test]
    async fn a_question_fails_and_others_do_not() {
        let store = faulty();
        act(&(Arc::clone(&store) as Arc<dyn Store>), 1, create("one"), 1).await;
        store.when(StoreCall::Session).times(1).fail(StoreFault::Closed);
        store.when(StoreCall::Sessions).fail(StoreFault::Busy);
        assert!(matches!(store.session(session_id(1)).await, Err(ReadError::Closed)));
        assert!(store.session(session_id(1)).await.unwrap().is_some());
        assert!(matches!(store.sessions(model::Shelf::All, None, 9).await, Err(ReadError::Storage(_))));
        assert!(store.deleted_before(at(9), 9).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn somebody_else_is_faster() {
        let store = faulty();
        store.when(StoreCall::Append).that(|batch| batch.parts.len() == 1).overtake(text(0));
        let refused = store.append(text(0)).await.unwrap_err();
        assert!(matches!(refused, AppendError::Conflict { head: Seq(1), .. }), "{refused}");
    }
}
