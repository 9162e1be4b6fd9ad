//! What a door may ask of a session, and what each wish is answered with.
//!
//! Everything else that a [`Command`] can say the engine notes by itself: what agents report, what their calls prove, what
//! other tools' records tell.

use model::{
    Author, Command, ContextWish, Image, InteractionId, Marker, PermissionAnswer, Request, SessionId, SetChange, Turn,
    WhenBusy, WorkId,
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

impl FromReply for Created {
    fn from_reply(reply: Reply) -> Option<Self> {
        if let Reply::Created(created) = reply { Some(created) } else { None }
    }
}

impl FromReply for PromptAccepted {
    fn from_reply(reply: Reply) -> Option<Self> {
        if let Reply::PromptAccepted(accepted) = reply { Some(accepted) } else { None }
    }
}

impl FromReply for Observed {
    fn from_reply(reply: Reply) -> Option<Self> {
        if let Reply::Observed(observed) = reply { Some(observed) } else { None }
    }
}

impl FromReply for StepTaken {
    fn from_reply(reply: Reply) -> Option<Self> {
        if let Reply::Clicked(clicked) = reply { Some(clicked) } else { None }
    }
}

impl FromReply for Work {
    fn from_reply(reply: Reply) -> Option<Self> {
        if let Reply::WorkRenamed(work) = reply { Some(work) } else { None }
    }
}

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

impl Sealed for SendPrompt {}

impl Wish for SendPrompt {
    type Reply = PromptAccepted;

    fn into_command(self) -> Command {
        let Self { interaction_id, text, images, when_busy, by } = self;
        Command::SendPrompt { interaction_id, text, images, when_busy, by }
    }
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

impl Sealed for ChangePrompt {}

impl Wish for ChangePrompt {
    type Reply = ();

    fn into_command(self) -> Command {
        Command::ChangePrompt { interaction_id: self.interaction_id, text: self.text, by: self.by }
    }
}

/// Takes a waiting prompt out of the queue.
#[derive(Debug, Clone, Copy)]
pub struct RemovePrompt {
    /// Which.
    pub interaction_id: InteractionId,
}

impl Sealed for RemovePrompt {}

impl Wish for RemovePrompt {
    type Reply = ();

    fn into_command(self) -> Command {
        Command::RemovePrompt { interaction_id: self.interaction_id }
    }
}

/// Stops the running turn; its end comes from the agent.
#[derive(Debug, Clone, Copy)]
pub struct Cancel;

impl Sealed for Cancel {}

impl Wish for Cancel {
    type Reply = ();

    fn into_command(self) -> Command {
        Command::Cancel
    }
}

/// Answers what the agent asked. [`crate::Engine::answer`] can have the answer remembered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Which request.
    pub request: Request,
    /// With what, and by whom.
    pub answer: PermissionAnswer,
}

impl Sealed for Answer {}

impl Wish for Answer {
    type Reply = ();

    fn into_command(self) -> Command {
        Command::Answer { request: self.request, answer: self.answer }
    }
}

/// Chooses something about the agent, which tells what came of it.
#[derive(Debug, Clone)]
pub struct SetOption {
    /// Which of its options.
    pub option: String,
    /// Which of the option's values.
    pub value: String,
}

impl Sealed for SetOption {}

impl Wish for SetOption {
    type Reply = ();

    fn into_command(self) -> Command {
        Command::SetOption { option: self.option, value: self.value }
    }
}

/// Signs in to the agent, which tells what came of it.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Which of its methods.
    pub method: String,
}

impl Sealed for SignIn {}

impl Wish for SignIn {
    type Reply = ();

    fn into_command(self) -> Command {
        Command::SignIn { method: self.method }
    }
}

/// Changes what is marked.
#[derive(Debug, Clone)]
pub struct SetContext {
    /// How.
    pub wish: ContextWish,
    /// Who marks.
    pub by: Marker,
}

impl Sealed for SetContext {}

impl Wish for SetContext {
    type Reply = Vec<SetChange>;

    fn into_command(self) -> Command {
        Command::SetContext { wish: self.wish, by: self.by }
    }
}

/// Renames a session, notes its environment, or changes what the person marked: only what is present.
#[derive(Debug, Clone, Default)]
pub struct ChangeSession {
    /// What it is called.
    pub name: Option<String>,
    /// What is noted about the environment.
    pub env_hint: Option<String>,
    /// What is marked.
    pub context: Option<ContextWish>,
}

impl Sealed for ChangeSession {}

impl Wish for ChangeSession {
    type Reply = Vec<SetChange>;

    fn into_command(self) -> Command {
        Command::Change { name: self.name, env_hint: self.env_hint, context: self.context }
    }
}

/// Notes that the person has seen where the session stands.
#[derive(Debug, Clone, Copy)]
pub struct Observe;

impl Sealed for Observe {}

impl Wish for Observe {
    type Reply = Observed;

    fn into_command(self) -> Command {
        Command::Observe
    }
}

/// Deletes a session; it can be brought back for a week.
#[derive(Debug, Clone, Copy)]
pub struct Delete;

impl Sealed for Delete {}

impl Wish for Delete {
    type Reply = ();

    fn into_command(self) -> Command {
        Command::Delete
    }
}

/// Brings a deleted session back.
#[derive(Debug, Clone, Copy)]
pub struct Restore;

impl Sealed for Restore {}

impl Wish for Restore {
    type Reply = ();

    fn into_command(self) -> Command {
        Command::Restore
    }
}
