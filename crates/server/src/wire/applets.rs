//! Applets, their states, and what the person granted to them.
//!
//! Invariant: a request with an unknown field is refused; so `NewApplet` repeats the fields of `AppletAbout`, since serde can not
//! flatten a struct into one that refuses unknown fields.

use std::collections::BTreeMap;

use model::{AppletGrant, OutputId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::Hidden;

/// An applet in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppletRow {
    /// As in `/storage/applet/{applet}`: the slug, or `_shown` for the one that a session shows and nobody has saved.
    pub slug: String,
    #[serde(flatten)]
    pub about: AppletAbout,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// It comes with the program.
    pub bundled: bool,
}

/// What an applet says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppletAbout {
    /// What people call it.
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Each session has a state of its own.
    #[serde(default)]
    #[schema(required)]
    pub per_session: bool,
    /// What it can be given, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, AppletParam>,
    /// What agents use it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_usage: Option<AppletUsage>,
    /// What is in its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_schema: Option<AppletStateSchema>,
}

/// Something that an applet can be given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppletParam {
    /// It is of no use without.
    #[serde(default)]
    #[schema(required)]
    pub required: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// What agents use an applet for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppletUsage {
    /// In a sentence.
    #[serde(default)]
    pub purpose: String,
    /// As an agent would write it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub example: String,
}

/// What is in an applet's state, by key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppletStateSchema {
    /// What an agent can read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub get: BTreeMap<String, String>,
    /// What it can set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
}

/// An applet with its page and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Applet {
    #[serde(flatten)]
    pub row: AppletRow,
    /// SHA-256 of the page, in hex: what the person grants belongs to it.
    pub hash: String,
    /// A fragment, which stands in the body.
    pub html: String,
    #[serde(default)]
    #[schema(required)]
    pub js: String,
    #[serde(default)]
    #[schema(required)]
    pub css: String,
    #[serde(flatten)]
    pub state: AppletState,
}

/// A state with its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AppletState {
    /// What the applet keeps: at most 256 KiB, nested at most 32 deep.
    #[schema(value_type = Object)]
    pub state: Map<String, Value>,
    /// Grows with each write; about the time of it, in milliseconds since 1970. 0 where nothing was ever set.
    pub version: u64,
}

/// An applet that is to be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewApplet {
    /// One line of 1 to 200 characters.
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// HTML, script and style have at most 1 MiB together.
    pub html: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub js: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub css: String,
    #[serde(default)]
    pub per_session: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, AppletParam>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_usage: Option<AppletUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_schema: Option<AppletStateSchema>,
}

/// What becomes of a state: one of `state`, which takes its place, and `merge`, whose keys are set; one that is null is removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAppletState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub state: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub merge: Option<Map<String, Value>>,
    /// Refused if the state has another version by now. Without it the last write holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The writer's own name for itself, by which it knows its writes again; at most 100 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
}

/// A state that could not be sent before; it is merged before the prompt that it comes with is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UnsentAppletState {
    /// Which applet: a slug, or `_shown`.
    pub applet: String,
    /// The keys that are set; one that is null is removed.
    #[schema(value_type = Object)]
    pub merge: Map<String, Value>,
}

/// Which version a state has now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WrittenAppletState {
    pub version: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppletVersions {
    /// The newest 20, newest first; at most one a second was kept.
    pub versions: Vec<AppletVersion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppletVersion {
    pub version: u64,
    /// How long its file is.
    pub bytes: u64,
}

/// Where an applet's document is, for a frame.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppletTicket {
    #[schema(value_type = String)]
    pub url: Hidden,
    pub expires_at: Timestamp,
    /// SHA-256 of the page that it shows.
    pub hash: String,
}

/// What an applet may do as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppletGrants {
    /// SHA-256 of its page: with any other nothing is granted.
    pub hash: String,
    pub grants: Vec<AppletGrant>,
}

/// Something that is granted to an applet, or taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAppletGrant {
    /// Of the page that the person sees; refused if it is another by now.
    pub hash: String,
    pub grant: AppletGrant,
    pub granted: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AppletQuery {
    /// Beside which session: needed for `_shown`, and for the state of an applet that has one for each session.
    #[param(value_type = Option<String>, format = "uuid")]
    #[serde(default)]
    pub session: Option<SessionId>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AppletTicketQuery {
    /// Beside which session it is shown.
    #[param(value_type = String, format = "uuid")]
    pub session: SessionId,
    /// As this output of the session has it; without it as it is now.
    #[param(value_type = Option<String>)]
    #[serde(default)]
    pub output: Option<OutputId>,
}
