//! What a door may ask of a session, and what each wish is answered with.
//!
//! The other kinds of [`Command`] come from the engine itself: what agents report, what their calls prove, what is imported.

use model::{
    Author, Command, ContextWish, FilingWish, Image, InteractionId, Marker, PermissionAnswer, Request, SessionId,
    SetChange, Turn, WhenBusy, WorkId,
};
use serde::{Deserialize, Serialize};

use crate::Work;

/// Something that a door may ask of a session, with [`crate::Engine::submit`]. The engine alone says what that is.
#[expect(private_bounds, reason = "nobody else adds a wish")]
pub trait Wish: Sealed {
    /// What it is answered with.
    #[expect(private_bounds, reason = "replies are made here alone")]
    type Reply: FromReply;

    /// What the session is to do.
    fn into_command(self) -> Command;
}

trait Sealed {}

/// Says which command a wish becomes, field by field, and what it is answered with.
macro_rules! wish {
    ($wish:ident { $($field:ident),* } => $command:ident, $reply:ty) => {
        impl Sealed for $wish {}

        impl Wish for $wish {
            type Reply = $reply;

            fn into_command(self) -> Command {
                let Self { $($field),* } = self;
                Command::$command { $($field),* }
            }
        }
    };
}

wish!(SendPrompt { interaction_id, text, images, when_busy, by } => SendPrompt, PromptAccepted);
wish!(ChangePrompt { interaction_id, text, by } => ChangePrompt, ());
wish!(RemovePrompt { interaction_id } => RemovePrompt, ());
wish!(Cancel {} => Cancel, ());
wish!(Answer { request, answer } => Answer, ());
wish!(SetOption { option, value } => SetOption, ());
wish!(SignIn { method } => SignIn, ());
wish!(SetContext { wish, by } => SetContext, Vec<SetChange>);
wish!(ChangeSession { name, env_hint, context, filing } => Change, Vec<SetChange>);
wish!(Observe {} => Observe, Observed);
wish!(Delete {} => Delete, ());
wish!(Restore {} => Restore, ());

/// A reply as it is kept for a repeat of the same request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Created(Created),
    PromptAccepted(PromptAccepted),
    Observed(Observed),
    Clicked(StepTaken),
    WorkRenamed(Work),
    ContextSet(Vec<SetChange>),
    OutputsRemoved(RemovedOutputs),
    Done,
}

impl Reply {
    /// Whether it repeats what somebody wrote into the session, and not only ids, numbers and our own words.
    pub(crate) fn holds_words(&self) -> bool {
        match self {
            Self::ContextSet(_) => true,
            Self::Created(_)
            | Self::PromptAccepted(_)
            | Self::Observed(_)
            | Self::Clicked(_)
            | Self::WorkRenamed(_)
            | Self::OutputsRemoved(_)
            | Self::Done => false,
        }
    }
}

/// A reply of one kind; `None` for a kept one of another.
pub(crate) trait FromReply: Sized {
    fn from_reply(reply: Reply) -> Option<Self>;
}

/// A session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// Which.
    pub session: SessionId,
    /// How many entries began it: the answer is the session as of that one.
    pub entries: u64,
}

/// A prompt is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptAccepted {
    /// Its id.
    pub interaction_id: InteractionId,
    /// Its turn, if one began at once.
    pub turn: Option<Turn>,
}

/// The person has looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// There was something unseen.
    pub was_unobserved: bool,
    /// How many sessions are still unseen.
    pub unobserved_count: u64,
}

/// A step was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTaken {
    /// The piece of work that goes on.
    pub work: WorkId,
    /// The session that began.
    pub session: SessionId,
}

/// Outputs were removed, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedOutputs {
    /// How many.
    pub outputs: u64,
    /// How many bytes they had.
    pub bytes: u64,
    /// Of how many sessions.
    pub sessions: u64,
}

macro_rules! from_reply {
    ($reply:ty, $kind:ident) => {
        impl FromReply for $reply {
            fn from_reply(reply: Reply) -> Option<Self> {
                if let Reply::$kind(reply) = reply { Some(reply) } else { None }
            }
        }
    };
}

from_reply!(Created, Created);
from_reply!(PromptAccepted, PromptAccepted);
from_reply!(Observed, Observed);
from_reply!(StepTaken, Clicked);
from_reply!(Work, WorkRenamed);
from_reply!(RemovedOutputs, OutputsRemoved);

impl FromReply for Vec<SetChange> {
    fn from_reply(reply: Reply) -> Option<Self> {
        match reply {
            Reply::ContextSet(changes) => Some(changes),
            // A change of something else.
            Reply::Done => Some(Self::new()),
            Reply::Created(_)
            | Reply::PromptAccepted(_)
            | Reply::Observed(_)
            | Reply::Clicked(_)
            | Reply::OutputsRemoved(_)
            | Reply::WorkRenamed(_) => None,
        }
    }
}

impl FromReply for () {
    fn from_reply(_: Reply) -> Option<Self> {
        Some(())
    }
}

/// Sends words to the agent, now or in turn.
#[derive(Debug, Clone)]
pub struct SendPrompt {
    /// The prompt's id from now on.
    pub interaction_id: InteractionId,
    /// The words.
    pub text: String,
    /// Pictures that go with them.
    pub images: Vec<Image>,
    /// What to do while a turn runs.
    pub when_busy: WhenBusy,
    /// Who wrote them.
    pub by: Author,
}

/// Rewrites a prompt that still waits.
#[derive(Debug, Clone)]
pub struct ChangePrompt {
    /// Which.
    pub interaction_id: InteractionId,
    /// The new words.
    pub text: String,
    /// Who wrote them.
    pub by: Author,
}

/// Takes a waiting prompt out of the queue.
#[derive(Debug, Clone, Copy)]
pub struct RemovePrompt {
    /// Which.
    pub interaction_id: InteractionId,
}

/// Stops the running turn, whose end comes from the agent; or takes back the prompt that the session was begun with, while it
/// waits for its agent.
#[derive(Debug, Clone, Copy)]
pub struct Cancel;

/// Answers what the agent asked. [`crate::Engine::answer`] can have the answer remembered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Which request.
    pub request: Request,
    /// With what, and by whom.
    pub answer: PermissionAnswer,
}

/// Chooses one of the agent's options; the agent reports whether it was changed.
#[derive(Debug, Clone)]
pub struct SetOption {
    /// Which of its options.
    pub option: String,
    /// Which of the option's values.
    pub value: String,
}

/// Signs in to the agent, which reports whether that worked.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Which of its methods.
    pub method: String,
}

/// Changes what is marked.
#[derive(Debug, Clone)]
pub struct SetContext {
    /// How.
    pub wish: ContextWish,
    /// Who marks.
    pub by: Marker,
}

/// Renames or files a session, notes its environment, or changes what the person marked: only what is present.
#[derive(Debug, Clone, Default)]
pub struct ChangeSession {
    /// What it is called.
    pub name: Option<String>,
    /// What is noted about the environment.
    pub env_hint: Option<String>,
    /// What is marked.
    pub context: Option<ContextWish>,
    /// How it is kept in the list.
    pub filing: FilingWish,
}

/// Notes that the person has seen where the session stands.
#[derive(Debug, Clone, Copy)]
pub struct Observe;

/// Deletes a session; it can be brought back for a week.
#[derive(Debug, Clone, Copy)]
pub struct Delete;

/// Brings a deleted session back.
#[derive(Debug, Clone, Copy)]
pub struct Restore;
