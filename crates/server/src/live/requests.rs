//! Requests of one socket that change something, carried out one after the other.
//!
//! Invariant: two prompts of one socket are taken in the order in which they were sent, and so are two writes of applets'
//! states, which wait for the disk together. None holds up what is sent meanwhile, and nothing that waits is carried out
//! once its caller is signed out.

use std::panic::AssertUnwindSafe;

use doors::{Principal, Right};
use engine::{BegunStateWrite, Cancel, SubmitError};
use futures_util::FutureExt as _;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::error::ApiError;
use crate::extract::{AppletWord, asker};
use crate::http::{applets, permissions, prompts, sessions, work};
use crate::wire::{self, ClientFrame, Request, ServerFrame};
use crate::{App, access, who};

const QUEUE: usize = 32;
/// How many writes of applets' states wait for the disk at once.
const MAX_FLUSHING: usize = 256;

pub(super) struct Requests {
    frames: mpsc::Sender<ClientFrame>,
    answers: mpsc::Receiver<ServerFrame>,
    _worker: JoinSet<()>,
}

impl Requests {
    pub(super) fn new(app: App, principal: Principal) -> Self {
        let (frames, mut frames_in) = mpsc::channel::<ClientFrame>(QUEUE);
        let (answers_out, answers) = mpsc::channel(QUEUE);
        let mut worker = JoinSet::new();
        worker.spawn(async move {
            let mut flushing = JoinSet::new();
            while let Some(ClientFrame { id, request }) = frames_in.recv().await {
                if !app.settings.gatekeeper.is_in_force(&principal) {
                    return;
                }
                while flushing.try_join_next().is_some() {}
                // A client that writes faster than the disk waits here; once the queue is full, its frames are refused.
                if flushing.len() >= MAX_FLUSHING {
                    drop(flushing.join_next().await);
                }
                let carried_out = AssertUnwindSafe(carry_out(&app, &principal, request)).catch_unwind().await;
                let answer = match carried_out.unwrap_or(Err(ApiError::Submit(SubmitError::Broken))) {
                    Ok(Answer::Result(result)) => ServerFrame::Ack { id, result },
                    Ok(Answer::Page(page)) => ServerFrame::List { id: Some(id), page },
                    Ok(Answer::Flushing(begun)) => {
                        let answers_out = answers_out.clone();
                        flushing.spawn(async move {
                            let answer = match applets::written(begun).await {
                                Ok(written) => ServerFrame::Ack { id, result: Some(json!(written)) },
                                Err(err) => refusal(id, err),
                            };
                            // A socket that is gone has no use for it.
                            drop(answers_out.send(answer).await);
                        });
                        continue;
                    }
                    Err(err) => refusal(id, err),
                };
                if answers_out.send(answer).await.is_err() {
                    return;
                }
            }
        });
        Self { frames, answers, _worker: worker }
    }

    /// Takes a request in; gives back a refusal if too many wait.
    pub(super) fn take(&self, frame: ClientFrame) -> Option<ServerFrame> {
        self.frames
            .try_send(frame)
            .err()
            .map(|refused| refusal(refused.into_inner().id, ApiError::TooManyRequests(QUEUE)))
    }

    /// The next answer; never, while there is none. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> ServerFrame {
        match self.answers.recv().await {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

fn refusal(id: String, err: ApiError) -> ServerFrame {
    ServerFrame::Error { id: Some(id), session: None, error: err.into_detail() }
}

enum Answer {
    Result(Option<serde_json::Value>),
    Page(wire::SessionPage),
    /// Answered once this is flushed; the requests behind it do not wait for that.
    Flushing(BegunStateWrite),
}

async fn carry_out(app: &App, principal: &Principal, request: Request) -> Result<Answer, ApiError> {
    match request {
        Request::Prompt { session, text, images, when_busy, key } => {
            access::session(principal, Right::Write, session)?;
            let prompt = wire::NewPrompt { text, images, when_busy, applet_state: None, applet: None, key: None };
            let asker = asker(principal, &prompts::prompt_request(session), &prompt, key)?;
            let accepted = prompts::send_prompt(app, session, prompt, who::author(app, principal), asker).await?;
            Ok(Answer::Result(Some(json!(accepted))))
        }
        Request::Cancel { session } => {
            access::session(principal, Right::Write, session)?;
            app.engine.submit(session, Cancel, asker(principal, "", &(), None)?).await?;
            Ok(Answer::Result(None))
        }
        Request::Observe { session } => {
            access::session(principal, Right::Write, session)?;
            let observed = sessions::observed(app, session, asker(principal, "", &(), None)?).await?;
            Ok(Answer::Result(Some(json!(observed))))
        }
        Request::Answer { session, request, option, fields, remember } => {
            access::session(principal, Right::Approve, session)?;
            let request = request.parse().map_err(|_| ApiError::RequestNotFound)?;
            let answer = wire::NewAnswer { option, fields, remember, key: None };
            permissions::answer_request(app, principal, (session, request), answer, asker(principal, "", &(), None)?)
                .await?;
            Ok(Answer::Result(None))
        }
        Request::NextBlockClick { session, block, agent, model, mode } => {
            access::session(principal, Right::Write, session)?;
            let block = block.parse().map_err(|_| ApiError::NextNotFound)?;
            let click = wire::NextClick { agent, model, mode, key: None };
            let clicked =
                work::take_step(app, principal, (session, block), click, asker(principal, "", &(), None)?).await?;
            Ok(Answer::Result(Some(json!(clicked))))
        }
        Request::AppletState { session, applet, state, merge, version, writer } => {
            access::session(principal, Right::Write, session)?;
            let name = applets::name(AppletWord(applet), Some(session))?;
            let write = wire::NewAppletState { state, merge, version, writer };
            applets::begin_write(app, &name, Some(session), write).await.map(Answer::Flushing)
        }
        Request::List { after, query } => {
            access::everything(principal, Right::Read)?;
            let query = *query.unwrap_or_default();
            let after = after.or(query.after.clone());
            Ok(Answer::Page(sessions::page(app, wire::SessionQuery { after, ..query }).await?))
        }
        Request::Auth { .. } => Err(ApiError::AlreadySignedIn),
        // The socket answers these itself.
        Request::Follow { .. }
        | Request::Unfollow { .. }
        | Request::AppletOpen { .. }
        | Request::AppletClose { .. }
        | Request::Ping {} => Ok(Answer::Result(None)),
    }
}
