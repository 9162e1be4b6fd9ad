//! Routes a request to its session's task, starts the task if there is none, and returns the reply.
//!
//! Invariant: a session has at most one task. A task that is ending hands back the inputs that it has not begun, and they are
//! queued for the next task.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};

use futures_util::FutureExt as _;
use model::{Command, NewSession, PermissionAnswer, RememberedId, Request, Session, SessionId};
use tokio::sync::{mpsc, oneshot};

use crate::live_session::{InputResult, LiveSession, QueuedInput};
use crate::requests::{Asker, InputKind, SessionInput};
use crate::wishes::{Answer, Created, FromReply, PromptAccepted, Reply, Wish};
use crate::{Engine, Keep, Reach, Shared, SubmitError, directories};

/// How many commands may wait for one session.
const INPUT_QUEUE: usize = 64;

impl Engine {
    /// Begins a session in a directory that exists.
    pub async fn create_session(
        &self,
        agent: &str,
        cwd: &str,
        name: String,
        reach: Reach,
        asker: Asker,
    ) -> Result<Created, SubmitError> {
        self.create_session_in(None, agent, cwd, name, reach, asker).await
    }

    /// The same, as a part of the piece of work of that name in the directory's project.
    pub async fn create_session_in(
        &self,
        work: Option<&str>,
        agent: &str,
        cwd: &str,
        name: String,
        reach: Reach,
        asker: Asker,
    ) -> Result<Created, SubmitError> {
        // A repeat is answered as the first was, even if the directory is gone since.
        if let Some(reply) = self.find_reply(&asker).await? {
            return Ok(reply);
        }
        self.check_agent(agent)?;
        let directory = directories::inspect(cwd, self.shared.home.as_deref(), reach).await?;
        let id = SessionId::from_uuid(self.shared.ids.uuid());
        let (cwd, project) = (directory.cwd, directory.project);
        let new = NewSession { agent: agent.to_owned(), cwd, project, name, ..NewSession::default() };
        match work {
            Some(work) => self.create_in_work(id, new, work, asker).await,
            None => self.command(id, Command::Create(new), asker).await,
        }
    }

    /// Makes sure that a session's agent is there, or has another take over.
    pub async fn resume(&self, id: SessionId, agent: Option<String>, asker: Asker) -> Result<(), SubmitError> {
        if let Some(agent) = &agent {
            self.check_agent(agent)?;
        }
        self.command(id, Command::Resume { agent }, asker).await
    }

    /// Answers what an agent asked; one that is remembered is given again, unasked, to the very same.
    pub async fn answer(
        &self,
        id: SessionId,
        request: Request,
        answer: PermissionAnswer,
        keep: Keep,
        asker: Asker,
    ) -> Result<(), SubmitError> {
        let remembered = match keep {
            Keep::Once => None,
            Keep::Remembered => Some(RememberedId::from_uuid(self.shared.ids.uuid())),
        };
        let answer = PermissionAnswer { remembered, ..answer };
        self.submit(id, Answer { request, answer }, asker).await
    }

    /// Carries out a wish on a session and answers when what it did is durable.
    pub async fn submit<W: Wish>(&self, id: SessionId, wish: W, asker: Asker) -> Result<W::Reply, SubmitError> {
        self.command(id, wish.into_command(), asker).await
    }

    pub(crate) async fn command<R: FromReply>(
        &self,
        id: SessionId,
        command: Command,
        asker: Asker,
    ) -> Result<R, SubmitError> {
        self.submit_input(id, InputKind::Command(command), asker).await
    }

    pub(crate) async fn submit_input<R: FromReply>(
        &self,
        id: SessionId,
        kind: InputKind,
        asker: Asker,
    ) -> Result<R, SubmitError> {
        if let Some(reply) = self.find_reply(&asker).await? {
            return Ok(reply);
        }
        match self.ask_task(id, SessionInput { kind, asker: asker.clone() }).await {
            // What is refused now may be what the same request, sent twice at once, has just done.
            Err(refused @ (SubmitError::Rejected(_) | SubmitError::NotFound(_))) => {
                self.find_reply(&asker).await?.ok_or(refused)
            }
            reply => reply.and_then(expect_reply),
        }
    }

    /// What a prompt got before that was sent under the same key, if this is a repeat.
    pub async fn prompt_sent_before(&self, asker: &Asker) -> Result<Option<PromptAccepted>, SubmitError> {
        self.find_reply(asker).await
    }

    /// The reply that the same request got before, if this is a repeat.
    pub(crate) async fn find_reply<R: FromReply>(&self, asker: &Asker) -> Result<Option<R>, SubmitError> {
        let Some(key) = &asker.key else { return Ok(None) };
        let receipt = self.shared.store.find_receipt(&asker.principal, key.key()).await?;
        receipt.map(|receipt| asker.repeat(&receipt).and_then(expect_reply)).transpose()
    }

    async fn ask_task(&self, id: SessionId, mut input: SessionInput) -> Result<Reply, SubmitError> {
        // A task that is just ending hands the input back; the next task gets it.
        loop {
            if self.shared.stopping.is_cancelled() {
                return Err(SubmitError::Stopping);
            }
            let inputs = self.find_or_start_task(id, &input.kind).await?;
            input = match self.shared.ask(&inputs, input).await {
                InputResult::Answered(result) => return result,
                InputResult::HandedBack(input) => input,
            };
            self.shared.forget(id, &inputs);
        }
    }

    /// The way to a session's task, which is started if there is none.
    async fn find_or_start_task(
        &self,
        id: SessionId,
        kind: &InputKind,
    ) -> Result<mpsc::Sender<QueuedInput>, SubmitError> {
        if let Some(inputs) = self.shared.find_task(id) {
            return Ok(inputs);
        }
        let session = self.shared.store.session(id).await?;
        if session.is_none() && !matches!(kind, InputKind::Command(Command::Create(_))) {
            return Err(SubmitError::NotFound(id));
        }
        Ok(self.start_task(id, session))
    }

    /// Starts a session's task, unless another caller did in the meantime. No `async fn`: a future is compiled again in each crate that
    /// awaits it, with every task that it starts.
    fn start_task(&self, id: SessionId, session: Option<Session>) -> mpsc::Sender<QueuedInput> {
        let mut live = self.shared.live.lock().unwrap_or_else(PoisonError::into_inner);
        let inputs = live.entry(id).or_insert_with(|| {
            let (inputs, inputs_in) = mpsc::channel(INPUT_QUEUE);
            let task = LiveSession::new(Arc::clone(&self.shared), id, session, inputs_in);
            let shared = Arc::clone(&self.shared);
            let own = inputs.downgrade();
            self.shared.tasks.spawn(async move {
                if AssertUnwindSafe(Box::pin(task.run())).catch_unwind().await.is_err() {
                    shared.settle_broken(id).await;
                }
                if let Some(own) = own.upgrade() {
                    shared.forget(id, &own);
                }
            });
            inputs
        });
        inputs.clone()
    }

    /// Removes a session for good, unless a turn runs.
    pub async fn purge(&self, id: SessionId, asker: Asker) -> Result<(), SubmitError> {
        let engine = self.clone();
        self.run_detached(async move {
            let session = engine.shared.store.session(id).await?;
            let is_fenced = engine.shared.store.fence(id).is_some();
            if session.is_some_and(|session| is_fenced || session.row.deleted_at.is_some()) {
                engine.shared.append_with_reply(Vec::new(), Reply::Done, &asker, engine.shared.clock.now()).await?;
            } else {
                // One that is gone is asked for all the same: a repeat is answered by its receipt, anything else with
                // "not found".
                engine.submit_input::<()>(id, InputKind::DeleteForPurge, asker).await?;
            }
            // One that somebody restored at this very moment stays.
            engine.shared.purge_deleted(id).await
        })
        .await
    }

    /// Carries work to its end even if whoever asked for it stops waiting, as callers that hang up do. Half of a
    /// revocation must not be left undone.
    pub async fn run_detached<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, SubmitError>> + Send + 'static,
    ) -> Result<T, SubmitError> {
        self.shared.run_detached(work).await
    }
}

/// A reply that was kept under this key for a request of another kind is no answer to this one.
pub(crate) fn expect_reply<R: FromReply>(reply: Reply) -> Result<R, SubmitError> {
    R::from_reply(reply).ok_or(SubmitError::KeyReused)
}

impl Shared {
    /// The same, for work that fails in other ways as well.
    pub(crate) async fn run_detached<T: Send + 'static, E: From<SubmitError> + Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E> {
        self.tasks.spawn(work).await.unwrap_or_else(|_| Err(self.task_failure().into()))
    }

    /// The queue of a session's task, if it has one.
    pub(crate) fn find_task(&self, id: SessionId) -> Option<mpsc::Sender<QueuedInput>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Queues an input of a session's task and waits for what becomes of it.
    pub(crate) async fn ask(&self, inputs: &mpsc::Sender<QueuedInput>, input: SessionInput) -> InputResult {
        let (reply, answered) = oneshot::channel();
        match inputs.send(QueuedInput { input, reply }).await {
            // Without an answer the task broke off in the middle; what it did, if anything, is in the log.
            Ok(()) => answered.await.unwrap_or_else(|_| InputResult::Answered(Err(self.task_failure()))),
            Err(mpsc::error::SendError(queued)) => InputResult::HandedBack(queued.input),
        }
    }

    /// Why a task gave no answer: only a panic keeps one from it, or the end.
    fn task_failure(&self) -> SubmitError {
        if self.stopping.is_cancelled() { SubmitError::Stopping } else { SubmitError::Broken }
    }

    /// Lets go of a task that has ended, unless another has taken its place.
    fn forget(&self, id: SessionId, ended: &mpsc::Sender<QueuedInput>) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if live.get(&id).is_some_and(|current| current.same_channel(ended)) {
            live.remove(&id);
        }
    }
}
