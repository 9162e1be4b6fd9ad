//! A turn, from the prompt to its end, and its time limits.

use agent_client_protocol::v1::schema::{CancelNotification, PromptRequest};
use model::{AgentReport, Image, Notice, Severity};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::watch::{Due, TurnWatch};
use super::{AcpSession, SessionEnd, Turn};
use crate::AgentPacket;
use crate::acp::prompt::{self, PromptContext};
use crate::acp::translate::TurnError;
use crate::acp::wire::Refused;

impl AcpSession {
    pub(super) async fn prompt(
        &mut self,
        text: String,
        mut images: Vec<Image>,
        packet: Option<AgentPacket>,
        beside: Option<String>,
    ) -> Result<(), SessionEnd> {
        if self.turn.is_some() {
            tracing::error!(session = %self.start.session, "a prompt came while a turn runs; it is not sent");
            return Ok(());
        }
        if !images.is_empty() && !self.about.capabilities.prompt_capabilities.image {
            images.clear();
            self.notice("This agent takes no pictures: they were left out", None).await?;
        }
        let files = match prompt::mentions(&text) {
            mentions if mentions.is_empty() => Vec::new(),
            mentions => {
                let files = self.files.clone();
                spawn_blocking(move || files.mentioned(mentions)).await.unwrap_or_default()
            }
        };
        let brief = if model::is_slash_command(&text) { None } else { self.unsent_brief.take() };
        let blocks = prompt::blocks(text, images, PromptContext { brief, packet, beside }, files);
        let request = PromptRequest::new(self.name.clone(), blocks);
        self.translator.begin_turn();
        self.forget_new_files();
        let request = self.connection().request(self.key, &request);
        self.turn = Some(Turn { request, watch: TurnWatch::new(Instant::now()) });
        Ok(())
    }

    pub(super) fn cancel(&mut self) {
        self.withdraw_questions();
        let Some(turn) = &mut self.turn else { return };
        turn.watch.cancel(Instant::now());
        self.connection().notify(&CancelNotification::new(self.name.clone()));
    }

    pub(super) async fn end_turn(&mut self, turn: &Turn, result: Result<Value, Refused>) -> Result<(), SessionEnd> {
        for (id, answer) in self.questions.withdraw_of_turn() {
            self.connection().answer(&id, Ok(answer));
        }
        let answer = match result {
            Err(refused) if refused.is_signed_out() => {
                let reports = self.translator.abandon_turn(&self.terminals);
                self.send_reports(reports).await?;
                return self.report_signed_out().await;
            }
            // Some agents answer a cancel with an error.
            Err(_) if turn.watch.is_cancelled() => Ok(json!({ "stopReason": "cancelled" })),
            Err(refused) => Err(TurnError { message: refused.message }),
            Ok(answer) => Ok(answer),
        };
        let reports = self.translator.end_turn(answer, &self.terminals);
        self.terminals.forget_released();
        self.send_reports(reports).await
    }

    /// Notes that something was heard from the agent.
    pub(super) fn note_activity(&mut self) {
        let asks = self.questions.any_of_turn();
        if let Some(turn) = &mut self.turn {
            turn.watch.note_activity(Instant::now(), asks);
        }
    }

    pub(super) async fn check_deadlines(&mut self) -> Result<(), SessionEnd> {
        let limits = &self.settings.limits;
        let Some(turn) = &mut self.turn else { return Ok(()) };
        match turn.watch.check(Instant::now(), limits) {
            Due::Nothing => Ok(()),
            Due::Quiet => {
                let seconds = limits.quiet.as_secs();
                let title = format!("The agent has said nothing for {seconds} seconds");
                let description = "It may be waiting for its model, or trying again after a failure.".to_owned();
                let notice = Notice { severity: Severity::Info, title, description: Some(description) };
                self.send_report(AgentReport::Noticed(notice)).await
            }
            Due::Unresponsive => self.send_report(AgentReport::Unresponsive).await,
            Due::Failed => {
                let seconds = (limits.cancel + limits.cancel_failed).as_secs_f32();
                self.connection().give_up();
                Err(SessionEnd::Failed(format!("the agent did not stop within {seconds} seconds after it was told to")))
            }
        }
    }
}
