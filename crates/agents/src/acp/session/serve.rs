//! Serves an agent's requests: questions to a person, files, terminals.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{CLIENT_METHOD_NAMES as METHODS, TerminalOutputRequest};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::{AcpSession, SessionEnd};
use crate::AgentUpdate;
use crate::acp::questions::{QuestionKind, QuestionScope};
use crate::acp::translate::QuestionRequest;

/// How many requests of one session are served at a time; beyond that the agent gets an error.
const MAX_SERVED: usize = 64;

impl AcpSession {
    /// Answers a request of the agent, now or later. Slow work runs in tasks of its own.
    pub(super) async fn serve(&mut self, id: Value, method: &str, params: Value) -> Result<(), SessionEnd> {
        if method == METHODS.session_request_permission {
            return match QuestionRequest::permission(&params) {
                Some(asking) => self.ask(id, asking).await,
                None => self.answer(&id, Ok(QuestionKind::Permission.withdrawn())),
            };
        }
        if method == METHODS.elicitation_create {
            return match parse(params) {
                Ok(request) => self.ask(id, QuestionRequest::Elicitation(request)).await,
                Err(error) => self.answer(&id, Err(error)),
            };
        }
        while self.served.try_join_next().is_some() {}
        if self.served.len() >= MAX_SERVED {
            return self.answer(&id, Err(Error::internal_error().data("too many requests at a time")));
        }
        match self.begin_serving(&id, method, params) {
            Ok(Some(answer)) => self.answer(&id, Ok(answer)),
            Ok(None) => Ok(()),
            Err(error) => self.answer(&id, Err(error)),
        }
    }

    async fn ask(&mut self, id: Value, asking: QuestionRequest) -> Result<(), SessionEnd> {
        let kind = QuestionKind::of(&asking);
        let is_stopping = self.turn.as_ref().is_some_and(|turn| turn.watch.is_cancelled());
        if is_stopping || self.questions.is_full() {
            return self.answer(&id, Ok(kind.withdrawn()));
        }
        let mut asked = self.translator.ask(asking, &self.terminals);
        let reports = std::mem::take(&mut asked.reports);
        self.send_reports(reports).await?;
        let own_call = self.own_call(&mut asked);
        let mut question = asked.question;
        self.read_subject_of_title(&mut question);
        if !self.questions.has_room_for(&question) {
            return self.answer(&id, Ok(kind.withdrawn()));
        }
        let of = if self.turn.is_some() { QuestionScope::Turn } else { QuestionScope::Session };
        let key = self.questions.open(id, kind, of, &question);
        self.note_activity();
        self.updates.send(AgentUpdate::Asked { key, question, own_call }).await.map_err(|_| SessionEnd::OwnerGone)
    }

    fn answer(&self, id: &Value, result: Result<Value, Error>) -> Result<(), SessionEnd> {
        self.connection().answer(id, result);
        Ok(())
    }

    /// Returns the answer if it is there at once; otherwise a task answers later.
    fn begin_serving(&mut self, id: &Value, method: &str, params: Value) -> Result<Option<Value>, Error> {
        let (connection, files) = (self.connection().clone(), self.files.clone());
        let id = id.clone();
        if method == METHODS.fs_read_text_file {
            let request = parse(params)?;
            self.served.spawn(async move {
                let Some(permit) = connection.reserve().await else { return };
                let read = spawn_blocking(move || connection.answer_in(permit, &id, files.read(&request)));
                // A panic is in the log; the agent gets no answer.
                drop(read.await);
            });
        } else if method == METHODS.fs_write_text_file {
            let request = parse(params)?;
            self.served.spawn(async move {
                if let Ok(written) = spawn_blocking(move || files.write(&request)).await {
                    connection.answer(&id, written);
                }
            });
        } else if method == METHODS.terminal_create {
            let request = parse(params)?;
            let run = self.terminals.create(request)?;
            self.served.spawn(async move { run.run(&connection, &id, move |at| files.directory(at)).await });
        } else if method == METHODS.terminal_output {
            return self.terminals.output(&parse::<TerminalOutputRequest>(params)?.terminal_id).map(Some);
        } else if method == METHODS.terminal_wait_for_exit {
            let wait = self.terminals.wait(&parse::<TerminalOutputRequest>(params)?.terminal_id)?;
            self.served.spawn(async move { connection.answer(&id, Ok(wait.await)) });
        } else if method == METHODS.terminal_kill {
            return self.terminals.kill(&parse::<TerminalOutputRequest>(params)?.terminal_id).map(Some);
        } else if method == METHODS.terminal_release {
            return self.terminals.release(&parse::<TerminalOutputRequest>(params)?.terminal_id).map(Some);
        } else {
            return Err(Error::method_not_found().data(method));
        }
        Ok(None)
    }
}

fn parse<T: DeserializeOwned>(params: Value) -> Result<T, Error> {
    serde_json::from_value(params).map_err(|err| Error::invalid_params().data(err.to_string()))
}
