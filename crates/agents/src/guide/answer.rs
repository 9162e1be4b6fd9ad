//! Answers each request. The guide never claims what is not so: it says what it cannot do.

use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ContentBlock, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, StopReason, ToolKind,
};
use serde_json::json;
use tokio::time::sleep;

use super::request::{COMMANDS, Request, own_text, parse};
use super::turn::{Turn, dollars};
use super::{commands, files, pipeline, tools, tour};

/// The duration of a plan's step, in words.
const STEP_WORDS: u32 = 40;

pub(super) async fn answer(turn: &Turn, prompt: &[ContentBlock]) -> Result<StopReason, Error> {
    acknowledge(turn, prompt).await?;
    let done = match parse(own_text(prompt)) {
        Request::Say(text) => turn.say(&text).await,
        Request::Think(text) => think(turn, &text).await,
        Request::Read(file) => files::read(turn, &file).await,
        Request::Write { file, text } => files::write(turn, &file, &text).await,
        Request::Run(command) => return commands::run(turn, &command).await,
        Request::Fail(text) => fail(turn, &text).await,
        Request::Plan(steps) => plan(turn, &steps).await,
        Request::Slow { seconds } => slow(turn, seconds).await,
        Request::Long { words } => long(turn, words).await,
        Request::Spend { input, output, micros } => spend(turn, input, output, micros).await,
        Request::Tool { name, arguments } => tools::call(turn, &name, &arguments).await,
        Request::Next { label, command, context } => turn.say_at_once(&pipeline::next(&label, &command, &context)),
        Request::Pipeline { name } => pipeline::begin(turn, &name).await,
        Request::Phase { phase, name } => pipeline::show(turn, phase, &name).await,
        Request::Tour(stop) => return tour::show(turn, stop).await,
        Request::Misused(word) => misused(turn, word).await,
        Request::Help => help(turn).await,
    };
    done.map(|()| StopReason::EndTurn)
}

/// The guide cannot look into attachments, but it says that they arrived.
async fn acknowledge(turn: &Turn, prompt: &[ContentBlock]) -> Result<(), Error> {
    for block in prompt {
        let seen = match block {
            ContentBlock::Image(image) => {
                format!("You attached an image ({}, {} bytes).\n\n", image.mime_type, decoded_bytes(&image.data))
            }
            ContentBlock::ResourceLink(link) => format!("You attached `{}`.\n\n", link.name),
            _ => continue,
        };
        turn.say(&seen).await?;
    }
    Ok(())
}

/// How many bytes a base64 text decodes to.
fn decoded_bytes(base64: &str) -> usize {
    let digits = base64.trim_end_matches('=').len();
    digits * 3 / 4
}

async fn think(turn: &Turn, text: &str) -> Result<(), Error> {
    turn.think(text).await?;
    turn.say("I thought about it, as far as a guide can.").await
}

async fn fail(turn: &Turn, text: &str) -> Result<(), Error> {
    let call = turn.call("Fail on purpose", |call| call.kind(ToolKind::Other).raw_input(json!({ "text": text })))?;
    turn.pause(STEP_WORDS).await;
    call.fail(text)?;
    turn.say("That failed, as you asked.").await
}

async fn plan(turn: &Turn, steps: &[String]) -> Result<(), Error> {
    let status = |step: usize, done: usize| match step.cmp(&done) {
        std::cmp::Ordering::Less => PlanEntryStatus::Completed,
        std::cmp::Ordering::Equal => PlanEntryStatus::InProgress,
        std::cmp::Ordering::Greater => PlanEntryStatus::Pending,
    };
    for done in 0..=steps.len() {
        if done > 0 {
            turn.pause(STEP_WORDS).await;
        }
        let entries = steps.iter().enumerate();
        let entries = entries.map(|(step, text)| PlanEntry::new(text, PlanEntryPriority::Medium, status(step, done)));
        turn.show_plan(Plan::new(entries.collect()))?;
    }
    turn.say("The plan is done.").await
}

async fn slow(turn: &Turn, seconds: u32) -> Result<(), Error> {
    turn.say_at_once(&format!("Taking {seconds} s. "))?;
    sleep(Duration::from_secs(seconds.into())).await;
    turn.say_at_once("Done.")
}

/// The guide asks no model; it reports what one might have used, so that the numbers can be seen at work.
async fn spend(turn: &Turn, input: u64, output: u64, micros: Option<u64>) -> Result<(), Error> {
    turn.spend(input, output, micros.unwrap_or(0));
    let cost = micros.map_or(String::new(), |micros| format!(" and {} USD", dollars(micros)));
    turn.say(&format!("I report {input} tokens read and {output} written{cost}, though I asked no model.")).await
}

async fn long(turn: &Turn, words: u32) -> Result<(), Error> {
    for number in 1..=words {
        turn.say_at_once(&format!("word{number} "))?;
        turn.pause(1).await;
    }
    Ok(())
}

async fn misused(turn: &Turn, name: &str) -> Result<(), Error> {
    let usages = COMMANDS.iter().filter(|word| word.name == name);
    let usage: String = usages.map(|word| format!("Write `{}`: {}.", word.usage(), word.description)).collect();
    turn.say(&usage).await
}

async fn help(turn: &Turn) -> Result<(), Error> {
    turn.say("I am the built-in guide, not a model: I need no key and answer in set ways. Try one of these:\n\n")
        .await?;
    for word in &COMMANDS {
        turn.say_at_once(&format!("- `{}` {}\n", word.usage(), word.description))?;
        turn.pause(1).await;
    }
    turn.say_at_once("\nTo see a piece of work go through six sessions, write `pipeline loom` and press each button.\n")
}

#[cfg(test)]
mod tests {
    use super::decoded_bytes;

    #[test]
    fn base64_stands_for_so_many_bytes() {
        for (base64, bytes) in [("", 0), ("AA==", 1), ("AAA=", 2), ("AAAA", 3), ("AAAAAA==", 4), ("AAAAAA", 4)] {
            assert_eq!(decoded_bytes(base64), bytes, "{base64}");
        }
    }
}
