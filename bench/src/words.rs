//! The texts that benchmarks write: they look like an agent's and are the same in every run.

use fastrand::Rng;
use model::{AgentState, Author, InteractionId, Outcome, SessionEvent, SessionId, Stop, Turn};

/// About the size of a turn's text in recorded transcripts.
pub(crate) const PART_BYTES: usize = 1_200;

const WORDS: &str = "the session reads src/lib.rs and a test fails because parse_header returns an empty Vec<Entry> so we \
                     change the loop to keep what was there before error E0382 value moved here: line 412";

/// Words of at least so many bytes together.
pub(crate) fn text(random: &mut Rng, bytes: usize) -> String {
    let words: Vec<&str> = WORDS.split(' ').collect();
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        text += words[random.usize(..words.len())];
        text.push(' ');
    }
    text
}

/// Texts made before anything is measured: making them costs as much as storing them.
pub(crate) struct Texts(Vec<String>);

impl Texts {
    /// Enough different ones, each of at least so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let mut random = Rng::with_seed(1);
        Self((0..512).map(|_| text(&mut random, bytes)).collect())
    }

    /// They repeat in order.
    pub(crate) fn nth(&self, number: usize) -> String {
        self.0[number % self.0.len()].clone()
    }
}

/// The id of the n-th generated session. Like real ones, later ids are greater.
pub(crate) fn session_id(number: u64) -> SessionId {
    SessionId::from_bytes(id_bytes(1, number))
}

/// A part of the first turn's answer.
pub(crate) fn part(text: String) -> SessionEvent {
    SessionEvent::TextPart { turn: Turn(1), block: 0, text }
}

/// The events up to the start of a session's first turn.
pub(crate) fn beginning(number: u64, name: String, prompt: &str) -> Vec<SessionEvent> {
    let interaction_id = InteractionId::from_bytes(id_bytes(2, number));
    let (agent, project) = ("guide".to_owned(), "/home/ada/engine".to_owned());
    vec![
        SessionEvent::SessionCreated {
            agent,
            cwd: project.clone(),
            project,
            name,
            work: None,
            from: None,
            options: std::collections::BTreeMap::new(),
        },
        SessionEvent::AgentStateChanged {
            state: AgentState::Starting,
            reason: None,
            attached: None,
            methods: Vec::new(),
            remind: false,
        },
        SessionEvent::AgentStateChanged {
            state: AgentState::Ready,
            reason: None,
            attached: None,
            methods: Vec::new(),
            remind: false,
        },
        SessionEvent::TurnStarted { turn: Turn(1), interaction_id },
        SessionEvent::PromptSent { interaction_id, text: prompt.to_owned(), images: Vec::new(), by: Author::default() },
    ]
}

/// The events that end the turn, so that a restart has nothing to settle.
pub(crate) fn end() -> Vec<SessionEvent> {
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    vec![
        SessionEvent::TurnEnded { turn: Turn(1), stop },
        SessionEvent::AgentStateChanged {
            state: AgentState::Stopped,
            reason: None,
            attached: None,
            methods: Vec::new(),
            remind: false,
        },
    ]
}

fn id_bytes(kind: u8, number: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = kind;
    bytes[6] = 0x70;
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_words() {
        let text = |seed| text(&mut Rng::with_seed(seed), PART_BYTES);
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
        assert!((PART_BYTES..PART_BYTES + 16).contains(&text(7).len()));
    }

    #[test]
    fn later_sessions_have_greater_ids() {
        assert!(session_id(255) < session_id(256));
        assert!(session_id(1).to_string().parse::<SessionId>().is_ok());
    }
}
