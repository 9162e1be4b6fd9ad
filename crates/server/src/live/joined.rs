//! Joins what a follow hands out into fewer frames, for clients that ask for it: each frame costs a browser more than
//! the words in it.
//!
//! Invariant: the order stays as it is. Words that are held back go out before anything that came after them, and at
//! the latest [`PACE`] after the words before them; entries are never held back.

use std::time::Duration;

use engine::{Follow, Followed, ReadError, Words};
use model::Entry;
use tokio::time::{Instant, sleep_until};

/// A batch takes no more entries once it has this many bytes: on a slow link each is to arrive before the client gives up.
const BATCH_BYTES: usize = 64 << 10;
/// Words of one block that come within this time of the last ones are sent together. A screen shows no difference.
const PACE: Duration = Duration::from_millis(30);
/// Words that are held back take no more room than this.
const HELD_BYTES: usize = 64 << 10;

/// A follow whose entries and words are handed out joined, if its client asked for that.
pub(super) struct Joined {
    follow: Follow,
    joins: bool,
    words: HeldWords,
    /// What came while words were held back. It goes out after them.
    behind: Option<Result<Followed, ReadError>>,
}

impl Joined {
    pub(super) fn new(follow: Follow, joins: bool) -> Self {
        Self { follow, joins, words: HeldWords { held: None, paced_until: Instant::now() }, behind: None }
    }

    pub(super) fn follow(&self) -> &Follow {
        &self.follow
    }

    pub(super) async fn next(&mut self) -> Result<Followed, ReadError> {
        loop {
            if let Some(behind) = self.behind.take() {
                return behind;
            }
            let followed = tokio::select! {
                biased;
                followed = self.follow.next() => followed,
                words = self.words.due() => return Ok(Followed::Preview(words)),
            };
            match followed {
                Ok(Followed::Preview(words)) if self.joins => {
                    if let Some(words) = self.words.take(words, Instant::now()) {
                        return Ok(Followed::Preview(words));
                    }
                }
                followed => match self.words.release() {
                    Some(words) => {
                        self.behind = Some(followed);
                        return Ok(Followed::Preview(words));
                    }
                    None => return followed,
                },
            }
        }
    }

    /// The entries that wait behind this one and go into the same frame.
    pub(super) fn entries_behind(&mut self, first: &Entry) -> Vec<Entry> {
        if !self.joins {
            return Vec::new();
        }
        let mut bytes = first.event.about_bytes();
        let next = || {
            let entry = if bytes < BATCH_BYTES { self.follow.next_waiting()? } else { return None };
            bytes += entry.event.about_bytes();
            Some(entry)
        };
        std::iter::from_fn(next).collect()
    }
}

/// Words of one block that are not sent yet.
struct HeldWords {
    held: Option<(Words, String)>,
    /// Words that come before this moment are held back until then.
    paced_until: Instant,
}

impl HeldWords {
    /// Adds words; gives those that are to be sent now.
    fn take(&mut self, words: Words, now: Instant) -> Option<Words> {
        match &mut self.held {
            Some((held, text)) if (held.turn, held.of, held.number) == (words.turn, words.of, words.number) => {
                text.push_str(&words.text);
                (text.len() >= HELD_BYTES || now >= self.paced_until).then(|| self.release()).flatten()
            }
            Some(_) => {
                let before = self.release();
                self.hold(words);
                before
            }
            // The first words after a pause are sent at once.
            None if now >= self.paced_until => {
                self.paced_until = now + PACE;
                Some(words)
            }
            None => {
                self.hold(words);
                None
            }
        }
    }

    fn hold(&mut self, words: Words) {
        let text = words.text.as_ref().to_owned();
        self.held = Some((words, text));
    }

    fn release(&mut self) -> Option<Words> {
        let (words, text) = self.held.take()?;
        self.paced_until = Instant::now() + PACE;
        Some(Words { text: text.into(), ..words })
    }

    /// The words that are held, once it is time; never, while there are none.
    async fn due(&mut self) -> Words {
        if self.held.is_some() {
            sleep_until(self.paced_until).await;
        }
        match self.release() {
            Some(words) => words,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Turn, WordsOf};

    fn words(number: u32, text: &str) -> Words {
        Words { turn: Turn(1), of: WordsOf::Text, number, text: text.into() }
    }

    fn held() -> HeldWords {
        HeldWords { held: None, paced_until: Instant::now() }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_words_go_at_once_and_those_that_follow_quickly_go_together() {
        let mut pace = held();
        assert_eq!(pace.take(words(0, "one "), Instant::now()), Some(words(0, "one ")));
        for text in ["two ", "three "] {
            assert_eq!(pace.take(words(0, text), Instant::now()), None);
        }
        let began = Instant::now();
        assert_eq!(pace.due().await, words(0, "two three "));
        assert_eq!(began.elapsed(), PACE);
        tokio::time::advance(PACE).await;
        assert_eq!(pace.take(words(0, "four"), Instant::now()), Some(words(0, "four")));
    }

    #[tokio::test(start_paused = true)]
    async fn words_of_another_block_stay_behind_those_that_are_held() {
        let mut pace = held();
        assert!(pace.take(words(0, "a"), Instant::now()).is_some());
        assert_eq!(pace.take(words(0, "b"), Instant::now()), None);
        assert_eq!(pace.take(words(1, "c"), Instant::now()), Some(words(0, "b")));
        assert_eq!(pace.release(), Some(words(1, "c")));
        assert_eq!(pace.release(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_held_is_bounded() {
        let mut pace = held();
        assert!(pace.take(words(0, "a"), Instant::now()).is_some());
        let long = "x".repeat(HELD_BYTES - 1);
        assert_eq!(pace.take(words(0, &long), Instant::now()), None);
        assert_eq!(pace.take(words(0, "y"), Instant::now()), Some(words(0, &(long + "y"))));
    }
}
