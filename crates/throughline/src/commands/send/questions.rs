//! What the agent asks while its answer is printed, and the person's lines at the terminal.
//!
//! Invariant: a question ends with its answer, whoever gave it, and no line counts that was typed before its question
//! was shown.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};

use anyhow::Result;
use model::{PermissionAnswer, Question, Request};
use rustix::termios::{QueueSelector, tcflush};
use tokio::task::JoinHandle;

use crate::terminal::safe;
use crate::transcript_text::{answer_words, question_line};

#[derive(Debug)]
pub(super) struct Questions {
    /// Oldest first; at a terminal they are shown one after the other.
    open: VecDeque<Open>,
    at_terminal: bool,
    /// The person's next line. Its thread is left to itself if none comes.
    line: Option<JoinHandle<io::Result<String>>>,
}

#[derive(Debug)]
struct Open {
    request: Request,
    question: Question,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Another is shown, or it is answered already and nobody needs to see it wait.
    Unshown,
    /// The person sees it.
    Shown,
    /// The person's answer is on its way.
    Given,
}

impl Questions {
    pub(super) fn new() -> Self {
        Self { open: VecDeque::new(), at_terminal: io::stdin().is_terminal(), line: None }
    }

    pub(super) fn add(&mut self, request: Request, question: Question) {
        self.open.push_back(Open { request, question, stage: Stage::Unshown });
    }

    /// Lines about the next question that the person has to see, and how it can be answered.
    pub(super) fn show_next(&mut self) -> Option<(String, How)> {
        if self.at_terminal && self.open.iter().any(|open| open.stage != Stage::Unshown) {
            return None;
        }
        let at_terminal = self.at_terminal;
        let open = self.open.iter_mut().find(|open| open.stage == Stage::Unshown)?;
        open.stage = Stage::Shown;
        let line = question_line(&open.question);
        if !at_terminal || open.question.form.is_some() {
            return Some((line, How::Elsewhere));
        }
        self.forget_typed();
        Some((line, How::Here(self.prompt()?)))
    }

    /// What stands before the cursor.
    pub(super) fn prompt(&self) -> Option<String> {
        let options = &self.here()?.question.options;
        let names: Vec<String> =
            options.iter().map(|option| format!("{} ({})", safe(&option.name), safe(&option.id))).collect();
        Some(format!("  {}\n  allow, always, deny: ", names.join(", ")))
    }

    /// The question that the person at this terminal can answer now.
    fn here(&self) -> Option<&Open> {
        let open = self.open.iter().find(|open| open.stage == Stage::Shown && open.question.form.is_none());
        open.filter(|_| self.at_terminal)
    }

    pub(super) fn question(&self) -> Option<(Request, &Question)> {
        self.here().map(|open| (open.request, &open.question))
    }

    /// The person's line; never, while nothing is asked here. Nothing is lost if nobody waits for it any more.
    pub(super) async fn line(&mut self) -> Result<String> {
        if self.here().is_none() {
            return std::future::pending().await;
        }
        let reading = self.line.get_or_insert_with(|| {
            tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                io::stdin().read_line(&mut line).map(|_| line)
            })
        });
        let read = reading.await;
        self.line = None;
        Ok(read??)
    }

    /// Whether the person's answer to a question is on its way.
    pub(super) fn set_given(&mut self, request: Request, given: bool) {
        if let Some(open) = self.open.iter_mut().find(|open| open.request == request) {
            open.stage = if given { Stage::Given } else { Stage::Shown };
        }
    }

    /// Nobody will type here any more.
    pub(super) fn leave_terminal(&mut self) {
        self.at_terminal = false;
    }

    /// Takes an answer in; what to print of it, which is nothing where the person gave it here.
    pub(super) fn settle(&mut self, request: Request, answer: &PermissionAnswer) -> Vec<String> {
        let Some(index) = self.open.iter().position(|open| open.request == request) else { return Vec::new() };
        let Some(open) = self.open.remove(index) else { return Vec::new() };
        let words = format!("  {}", answer_words(answer));
        match open.stage {
            Stage::Given => Vec::new(),
            Stage::Shown => vec![words],
            Stage::Unshown => vec![question_line(&open.question), words],
        }
    }

    /// A word for an earlier question is none for this one.
    fn forget_typed(&mut self) {
        if self.line.as_ref().is_some_and(JoinHandle::is_finished) {
            self.line = None;
        }
        match tcflush(io::stdin(), QueueSelector::IFlush) {
            // A terminal that can not do this keeps what was typed; the question is shown all the same.
            Ok(()) | Err(_) => (),
        }
    }
}

/// How a question that was shown can be answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    /// At this terminal, after these words.
    Here(String),
    /// On the page, or with another command.
    Elsewhere,
}
