//! Prompts, and how a session goes on.

use model::{Author, Image, InteractionId, SessionId, Timestamp, Turn};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::UnsentAppletState;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPrompt {
    pub text: String,
    /// At most eight, with eight MiB of Base64 in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<NewImage>,
    #[serde(default)]
    pub when_busy: WhenBusy,
    /// The state of an applet that could not be sent before; it is written before the prompt is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applet_state: Option<UnsentAppletState>,
    /// The applet that sends it; the person must have granted it that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applet: Option<SendingApplet>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// An applet that sends a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendingApplet {
    /// A slug, or `_shown`.
    pub applet: String,
    /// The hash of the content that its frame runs.
    pub hash: String,
}

/// A picture that is sent with a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewImage {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime_type: String,
    /// Base64.
    pub data: String,
}

impl From<NewImage> for Image {
    fn from(NewImage { mime_type, data }: NewImage) -> Self {
        Self { mime_type, data, body: None }
    }
}

/// What a prompt does that meets a running turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenBusy {
    #[default]
    Queue,
    Reject,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptPatch {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A prompt is durable once this is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptAccepted {
    pub interaction_id: InteractionId,
    /// Null while it waits: numbers are given when a turn starts.
    pub turn: Option<Turn>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueuedPrompt {
    pub interaction_id: InteractionId,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    pub queued_at: Timestamp,
    /// Who wrote it.
    #[serde(default)]
    #[schema(required = true)]
    pub by: Author,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resume {
    /// Another agent, which takes over and is sent a packet about the newest turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// How a session goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    pub id: SessionId,
    pub agent: String,
    pub cwd: String,
    pub is_busy: bool,
    /// The directory that it works in now since its own is gone.
    pub fallback: Option<String>,
}
