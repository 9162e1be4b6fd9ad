//! The built-in agent: no key, no network, answers in set ways.
//!
//! `say TEXT` answers with the text, `long N` streams N words, `slow SECONDS` takes its time; anything else is echoed
//! with a word about these. It is honest about being a guide and not a model.

use std::time::Duration;

use model::{AgentReport, Outcome, Stop};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::agent::{Call, News};

const MAX_WORDS: u32 = 10_000;
const MAX_SECONDS: u32 = 3_600;
/// Fast enough not to bore, slow enough to be seen streaming.
const WORD_PAUSE: Duration = Duration::from_millis(8);

/// Speaks until its session lets go of it.
pub(crate) async fn run(mut calls: mpsc::Receiver<Call>, news: mpsc::Sender<News>) {
    if news.send(News::Report(AgentReport::Ready { attached: None })).await.is_err() {
        return;
    }
    while let Some(call) = calls.recv().await {
        let Call::Prompt { text, .. } = call else { continue };
        let answer = answer(&text, &news);
        tokio::pin!(answer);
        let outcome = loop {
            tokio::select! {
                said = &mut answer => match said {
                    Ok(()) => break Outcome::Completed,
                    Err(_) => return,
                },
                call = calls.recv() => match call {
                    Some(Call::Cancel) => break Outcome::Cancelled,
                    // A prompt during a turn breaks the protocol; the session never sends one.
                    Some(Call::Prompt { .. } | Call::Answer { .. } | Call::SetOption { .. } | Call::SignIn { .. }) => (),
                    None => return,
                },
            }
        };
        if news.send(News::Report(AgentReport::Stopped(Stop { outcome, reason: None }))).await.is_err() {
            return;
        }
    }
}

type Said = Result<(), mpsc::error::SendError<News>>;

async fn answer(prompt: &str, news: &mpsc::Sender<News>) -> Said {
    let prompt = prompt.trim();
    let (word, rest) = prompt.split_once(char::is_whitespace).unwrap_or((prompt, ""));
    match (word, rest.trim().parse::<u32>()) {
        ("say", _) if !rest.is_empty() => say(rest, news).await,
        ("long", Ok(words)) => {
            for number in 1..=words.min(MAX_WORDS) {
                say(&format!("word{number} "), news).await?;
                sleep(WORD_PAUSE).await;
            }
            Ok(())
        }
        ("slow", Ok(seconds)) => {
            let seconds = seconds.min(MAX_SECONDS);
            say(&format!("Taking {seconds} s. "), news).await?;
            sleep(Duration::from_secs(seconds.into())).await;
            say("Done.", news).await
        }
        _ => {
            say(prompt, news).await?;
            let hint = "\n\nI am the built-in guide, not a model: I repeat what you write. \
                        Try `say hello`, `long 200` or `slow 5`.";
            say(hint, news).await
        }
    }
}

/// Sends the text in pieces, as a model would.
async fn say(text: &str, news: &mpsc::Sender<News>) -> Said {
    for piece in text.split_inclusive(char::is_whitespace) {
        news.send(News::Report(AgentReport::Text { block: 0, text: piece.to_owned() })).await?;
    }
    Ok(())
}
