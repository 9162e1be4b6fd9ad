//! Keeps the words of a prompt that is being written, so that they follow the person from one device to the next.
//!
//! Invariant: bounded, and no part of the log: words become a part of a session when they are sent, and nobody wants to find
//! in it what they took back. The last writer wins, and what is published last is what is kept. The words are kept for this
//! run alone; every page has its own in its browser as well. "Nothing is known of this session" and "its prompt was emptied"
//! are different answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::SessionId;

use crate::feeds::FeedUpdate;
use crate::{Engine, QueryError};

/// How many bytes are kept of one session's prompt; whoever writes more has it in the browser alone.
pub const MAX_UNSENT_BYTES: usize = 64 << 10;
/// How many characters a page's name for itself has.
const MAX_WRITER_CHARS: usize = 64;
/// Of how many sessions one is kept; the one that was written longest ago goes first.
const MOST_SESSIONS: usize = 500;

/// A prompt that is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsentPrompt {
    /// The words as they are now; empty once they were sent or taken back.
    pub text: Arc<str>,
    /// The page that wrote them, by its own name for itself: it knows them already.
    pub writer: Arc<str>,
}

#[derive(Debug, Default)]
pub(crate) struct UnsentPrompts(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by_session: HashMap<SessionId, (u64, UnsentPrompt)>,
    /// Counts what was written.
    written: u64,
}

impl UnsentPrompts {
    fn find(&self, id: SessionId) -> Option<UnsentPrompt> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.by_session.get(&id).map(|(_, unsent)| unsent.clone())
    }

    /// Publishes before the next writer can put anything, so that the newest words are published last.
    fn put(&self, id: SessionId, unsent: UnsentPrompt, publish: impl FnOnce(UnsentPrompt)) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.written += 1;
        let nth = kept.written;
        kept.by_session.insert(id, (nth, unsent.clone()));
        if kept.by_session.len() > MOST_SESSIONS
            && let Some(oldest) = kept.by_session.iter().min_by_key(|(_, (nth, _))| *nth).map(|(id, _)| *id)
        {
            kept.by_session.remove(&oldest);
        }
        publish(unsent);
    }
}

impl Engine {
    /// What is being written to a session; `None` if nothing is known of that.
    pub async fn unsent(&self, id: SessionId) -> Result<Option<UnsentPrompt>, QueryError> {
        self.session(id).await?;
        Ok(self.shared.unsent.find(id))
    }

    /// Takes what is being written to a session, and sends it to all that follow the session.
    pub async fn put_unsent(&self, id: SessionId, text: &str, writer: &str) -> Result<(), QueryError> {
        if text.len() > MAX_UNSENT_BYTES {
            return Err(QueryError::UnsentTooLong { bytes: text.len() });
        }
        self.session(id).await?;
        let writer = writer.chars().take(MAX_WRITER_CHARS).collect::<String>().into();
        let unsent = UnsentPrompt { text: text.into(), writer };
        self.shared.unsent.put(id, unsent, |unsent| self.shared.feeds.publish(id, FeedUpdate::Unsent(unsent)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_that_was_written_longest_ago_goes_first() {
        let prompts = UnsentPrompts::default();
        let id = |n: usize| SessionId::from_bytes(u128::try_from(n).unwrap().to_be_bytes());
        let unsent = |text: &str| UnsentPrompt { text: text.into(), writer: "page".into() };
        for n in 0..MOST_SESSIONS {
            prompts.put(id(n), unsent("a"), drop);
        }
        prompts.put(id(0), unsent("b"), drop);
        prompts.put(id(MOST_SESSIONS), unsent("c"), drop);
        assert_eq!(prompts.find(id(0)), Some(unsent("b")));
        assert_eq!(prompts.find(id(1)), None);
        assert_eq!(prompts.find(id(MOST_SESSIONS)), Some(unsent("c")));
    }
}
