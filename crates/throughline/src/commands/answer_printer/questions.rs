//! The agent's questions while its answer is printed, and the person's lines at the terminal.
//!
//! Invariant: a question ends with its answer, whoever gave it. A line that was typed before its question was shown
//! does not count.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};

use anyhow::Result;
use model::{PermissionAnswer, Question, Request};
use rustix::termios::{QueueSelector, tcflush};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::terminal::safe;
use crate::transcript_text::{answer_words, question_lines};

#[derive(Debug)]
pub(super) struct Questions {
    /// Oldest first; at a terminal they are shown one after the other.
    open: VecDeque<OpenQuestion>,
    at_terminal: bool,
    /// Waits for a line of the person.
    read: fn() -> io::Result<String>,
    /// The person's next line and when it was read. Its thread is abandoned if none comes.
    line: Option<JoinHandle<io::Result<(Instant, String)>>>,
}

#[derive(Debug)]
struct OpenQuestion {
    request: Request,
    question: Question,
    stage: QuestionStage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionStage {
    /// Not shown: another question is, or it is answered already.
    Unshown,
    /// Shown to the person since then.
    Shown(Instant),
    /// The person's answer is being sent.
    Given,
}

impl Questions {
    pub(super) fn new() -> Self {
        let read = || {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|_| line)
        };
        Self { open: VecDeque::new(), at_terminal: io::stdin().is_terminal(), read, line: None }
    }

    /// Whether a person at this terminal could answer.
    pub(super) fn at_terminal(&self) -> bool {
        self.at_terminal
    }

    pub(super) fn add(&mut self, request: Request, question: Question) {
        self.open.push_back(OpenQuestion { request, question, stage: QuestionStage::Unshown });
    }

    /// The lines of the next question to show, and how it can be answered.
    pub(super) fn show_next(&mut self) -> Option<(Vec<String>, AnswerPlace)> {
        if self.at_terminal && self.open.iter().any(|open| open.stage != QuestionStage::Unshown) {
            return None;
        }
        let open = self.open.iter_mut().find(|open| open.stage == QuestionStage::Unshown)?;
        if self.at_terminal {
            forget_typed();
        }
        open.stage = QuestionStage::Shown(Instant::now());
        let lines = question_lines(&open.question);
        if !self.at_terminal || open.question.form.is_some() {
            return Some((lines, AnswerPlace::Elsewhere));
        }
        Some((lines, AnswerPlace::Here(self.prompt()?)))
    }

    /// The prompt before the cursor.
    pub(super) fn prompt(&self) -> Option<String> {
        let options = &self.question()?.1.options;
        let names: Vec<String> =
            options.iter().map(|option| format!("{} ({})", safe(&option.name), safe(&option.id))).collect();
        Some(format!("  {}\n  allow, always, deny: ", names.join(", ")))
    }

    /// The question that the person at this terminal can answer now, and since when it is shown.
    fn here(&self) -> Option<(&OpenQuestion, Instant)> {
        let shown = self.open.iter().filter(|open| self.at_terminal && open.question.form.is_none());
        shown.filter_map(|open| open.shown_at().map(|at| (open, at))).next()
    }

    pub(super) fn question(&self) -> Option<(Request, &Question)> {
        self.here().map(|(open, _)| (open.request, &open.question))
    }

    /// The person's next line; pending for ever while nothing is asked here. Cancel-safe.
    pub(super) async fn line(&mut self) -> Result<String> {
        loop {
            let Some((_, shown_at)) = self.here() else { return std::future::pending().await };
            let read = self.read;
            let reading = self
                .line
                .get_or_insert_with(|| tokio::task::spawn_blocking(move || read().map(|line| (Instant::now(), line))));
            let read = reading.await;
            self.line = None;
            let (read_at, line) = read??;
            // A line that was typed for an earlier question does not count.
            if read_at >= shown_at {
                return Ok(line);
            }
        }
    }

    /// Marks a question whose answer is being sent.
    pub(super) fn set_given(&mut self, request: Request) {
        self.set_stage(request, QuestionStage::Given);
    }

    /// Marks a question whose answer was refused; the person can answer again.
    pub(super) fn set_not_taken(&mut self, request: Request) {
        self.set_stage(request, QuestionStage::Shown(Instant::now()));
    }

    fn set_stage(&mut self, request: Request, stage: QuestionStage) {
        if let Some(open) = self.open.iter_mut().find(|open| open.request == request) {
            open.stage = stage;
        }
    }

    /// Nobody will type here any more.
    pub(super) fn leave_terminal(&mut self) {
        self.at_terminal = false;
    }

    /// Removes an answered question; returns what to print, which is nothing if the answer was given here.
    pub(super) fn settle(&mut self, request: Request, answer: &PermissionAnswer) -> Vec<String> {
        let Some(index) = self.open.iter().position(|open| open.request == request) else { return Vec::new() };
        let Some(open) = self.open.remove(index) else { return Vec::new() };
        let words = format!("  {}", answer_words(answer));
        match open.stage {
            QuestionStage::Given => Vec::new(),
            QuestionStage::Shown(_) => vec![words],
            QuestionStage::Unshown => {
                let mut lines = question_lines(&open.question);
                lines.push(words);
                lines
            }
        }
    }
}

impl OpenQuestion {
    fn shown_at(&self) -> Option<Instant> {
        match self.stage {
            QuestionStage::Shown(at) => Some(at),
            QuestionStage::Unshown | QuestionStage::Given => None,
        }
    }
}

/// Discards what was typed before the question was shown.
fn forget_typed() {
    match tcflush(io::stdin(), QueueSelector::IFlush) {
        // If the terminal can not do this, the question is shown all the same.
        Ok(()) | Err(_) => (),
    }
}

/// How a shown question can be answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AnswerPlace {
    /// At this terminal, after this prompt.
    Here(String),
    /// On the page, or with another command.
    Elsewhere,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(requests: &[&str]) -> Questions {
        let read = || Ok("typed after it was shown\n".to_owned());
        let mut questions = Questions { open: VecDeque::new(), at_terminal: true, read, line: None };
        for request in requests {
            let question = serde_json::json!({ "title": request, "kind": "execute", "options": [] });
            questions.add(request.parse().unwrap(), serde_json::from_value(question).unwrap());
        }
        questions
    }

    #[tokio::test]
    async fn a_line_that_was_there_before_its_question_does_not_count() {
        let mut questions = asked(&["p1"]);
        let early = Instant::now();
        questions.line = Some(tokio::task::spawn_blocking(move || Ok((early, "allow\n".to_owned()))));
        questions.show_next().unwrap();
        assert_eq!(questions.line().await.unwrap(), "typed after it was shown\n");
    }

    #[test]
    fn questions_that_wait_for_another_are_told_once_nobody_types_here() {
        let mut questions = asked(&["p1", "p2", "p3"]);
        assert!(matches!(questions.show_next(), Some((_, AnswerPlace::Here(_)))));
        assert_eq!(questions.show_next(), None);
        questions.leave_terminal();
        let unknown = "    (the agent does not say exactly what it will do)".to_owned();
        let told = |title: &str| Some((vec![format!("? {title}"), unknown.clone()], AnswerPlace::Elsewhere));
        assert_eq!(questions.show_next(), told("p2"));
        assert_eq!(questions.show_next(), told("p3"));
        assert_eq!(questions.show_next(), None);
    }
}
