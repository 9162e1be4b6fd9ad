//! The frames of the WebSocket `/api/v1/live`: one socket, many follows.
//!
//! Order on a follow: `session`, `session.context`, the entries after the cursor, `caught_up`, then entries and
//! previews as they come. For one that asks for the newest turns, `session` says where it begins. An `entry` is durable before it is sent; a `preview` has no cursor and may vanish.
//!
//! Fields are renamed for all variants at once, and again on each variant with a name of several words: the API's
//! description knows only the latter.

use std::collections::BTreeMap;

use model::{AgentView, Entry, OutputId, Seq, SessionId, Timestamp, Turn, WordsOf, WorkId};
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

use super::{
    Context, ErrorDetail, Hidden, MetaContext, NewImage, Session, SessionPage, SessionQuery, SessionRow, WhenBusy,
};

/// What a client sends.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClientFrame {
    /// Chosen by the client; the `ack` or `error` names it.
    pub id: String,
    #[serde(flatten)]
    pub request: Request,
}

/// By hand, since serde does not refuse unknown fields through a flattened one.
impl<'de> Deserialize<'de> for ClientFrame {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = serde_json::Map::deserialize(deserializer)?;
        let id = fields.remove("id").ok_or_else(|| de::Error::missing_field("id"))?;
        let id = String::deserialize(id).map_err(de::Error::custom)?;
        let request = Request::deserialize(serde_json::Value::Object(fields)).map_err(de::Error::custom)?;
        Ok(Self { id, request })
    }
}

/// What a client can ask for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Request {
    /// A browser's first frame, within five seconds: the half of its credential that the cookie does not carry.
    Auth {
        #[schema(value_type = String)]
        proof: Hidden,
    },
    /// Everything of a session after a cursor, and what comes; or, without one, from its newest turns on.
    Follow {
        session: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// How many turns back it begins, from 1 to 200, if not with the first entry; not together with `after`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turns: Option<u32>,
        /// Entries that wait together may come together, as `entries`, and words that come quickly, as one `preview`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        batch: bool,
    },
    Unfollow {
        session: SessionId,
    },
    /// A page of the list; the first one comes by itself at connect.
    List {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// Which sessions, as in `GET /sessions`; an `after` beside it counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<Box<SessionQuery>>,
    },
    #[serde(rename_all = "camelCase")]
    Prompt {
        session: SessionId,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<NewImage>,
        #[serde(default)]
        when_busy: WhenBusy,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    Cancel {
        session: SessionId,
    },
    Observe {
        session: SessionId,
    },
    /// Answers what the agent asked; `request` is `p7`.
    Answer {
        session: SessionId,
        request: String,
        option: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        fields: Option<serde_json::Value>,
        /// As in `NewAnswer`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        remember: bool,
    },
    /// Takes a step that the agent offers; `block` is `t42.n1`. The `ack` says where it led, on every repeat the same.
    NextBlockClick {
        session: SessionId,
        block: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
    },
    /// This socket's page shows an applet beside the session from now on, in place of the one that it showed there. The `ack` is
    /// followed by its state; what becomes of either comes by itself until `applet_close`.
    AppletOpen {
        session: SessionId,
        /// A slug, or `_shown` for the session's own that nobody has saved.
        applet: String,
        /// What it was given.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        params: BTreeMap<String, String>,
    },
    AppletClose {
        session: SessionId,
    },
    /// Sets the state of an applet, or keys of it, as in `NewAppletState`. The `ack`, with the `version`, comes once it is flushed; several
    /// may wait at once.
    AppletState {
        session: SessionId,
        applet: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        state: Option<serde_json::Map<String, serde_json::Value>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        merge: Option<serde_json::Map<String, serde_json::Value>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        writer: Option<String>,
    },
    Ping {},
}

/// What the server sends.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ServerFrame {
    /// The first frame, once the caller is known.
    #[serde(rename_all = "camelCase")]
    Hello {
        incarnation: String,
        version: String,
        /// What pieces of work are called as a group: `page.specs_label` of the configuration.
        // A program newer than the server reads its frame, too.
        #[serde(default)]
        #[schema(required)]
        specs_label: String,
    },
    /// A page of the list: the first one after `hello`, others as asked.
    List {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(flatten)]
        page: SessionPage,
    },
    /// A row of the list changed, or went away.
    #[serde(rename_all = "camelCase")]
    Row {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionRow>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        removed: Option<SessionId>,
        /// A piece of work is new, has another name, or other sessions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<MetaContext>,
        /// A piece of work is gone, or has no sessions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        removed_work: Option<WorkId>,
        unobserved_count: u64,
        // A program newer than the server reads its frame, too.
        #[serde(default)]
        needs_you_count: u64,
    },
    /// How a followed session stands; the first frame of a follow.
    Session {
        session: SessionId,
        snapshot: Session,
        /// If the follow begins with the newest turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<Box<Window>>,
    },
    /// What the session is about; second on a follow, then on resume and change.
    #[serde(rename = "session.context", rename_all = "camelCase")]
    SessionContext {
        session: SessionId,
        reason: ContextReason,
        /// With `changed`: which set did, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        set_name: Option<String>,
        #[serde(flatten)]
        context: Context,
    },
    /// A durable entry. A client that applies only the seq after its last one sees each exactly once.
    Entry { session: SessionId, cursor: String, entry: Entry },
    /// Durable entries that follow one another, in the place of an `entry` frame for each, on a follow that asked for
    /// `batch`. The cursor is that of the last. A log is caught up with in far fewer frames, each of which costs a browser
    /// more than what it says.
    Entries { session: SessionId, cursor: String, entries: Vec<Entry> },
    /// A durable entry, in the place of its `entry` frame, that is too long to be sent with the others. What it says is
    /// read over HTTP.
    LargeEntry {
        session: SessionId,
        cursor: String,
        #[serde(flatten)]
        entry: LargeEntry,
    },
    /// Words that are not durable yet; the entry that follows holds them. `block` is the number of the block that they
    /// belong to or, if they are a tool's, of the call.
    Preview { session: SessionId, turn: Turn, kind: WordsOf, block: u32, text: String },
    /// What a command prints that is being shown, from its first piece, which may be empty, until `output.stored` has the same
    /// `output` or the turn ends. `offset` says how many bytes came before; where that is more than was sent, some were
    /// left out, as they are for one that follows late.
    OutputPreview { session: SessionId, turn: Turn, output: OutputId, command: String, offset: u64, text: String },
    /// Somebody writes a prompt: the words as they are now, and the page that wrote them.
    Unsent { session: SessionId, text: String, writer: String },
    /// The state of an applet that this socket's page shows, as it is now. `writer` is what whoever wrote it calls itself.
    AppletState {
        session: SessionId,
        applet: String,
        #[schema(value_type = Object)]
        state: serde_json::Map<String, serde_json::Value>,
        version: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        writer: Option<String>,
    },
    /// The file of the state of an applet that this socket's page shows was edited, and holds no state until it is mended or set.
    AppletStateUnreadable {
        session: SessionId,
        applet: String,
        /// What is wrong with it.
        message: String,
    },
    /// The files of an applet that this socket's page shows are different now; without a hash it is gone.
    AppletChanged {
        session: SessionId,
        applet: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hash: Option<String>,
    },
    /// All that was stored has been sent; what follows is live.
    CaughtUp { session: SessionId, cursor: String },
    /// Nothing is missing up to here; sent on quiet follows so that a client can keep its place.
    #[serde(rename_all = "camelCase")]
    Progress { session: SessionId, up_to: String },
    /// The cursor leads nowhere any more: forget the session's entries and follow it again from the beginning, unless
    /// it was deleted. `snapshot` is where the session is now.
    Reset { session: SessionId, reason: ResetReason, snapshot: Option<String> },
    /// The request with this id was carried out, durably.
    Ack {
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        result: Option<serde_json::Value>,
    },
    /// The request with this id was refused, or could not be understood. Without an id, the follow of this session broke
    /// off, or, without a session too, the frame said none.
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        error: ErrorDetail,
    },
    /// The server closes the socket; follow again from these cursors.
    Bye { reason: String, cursors: BTreeMap<SessionId, String> },
}

/// The place of an entry that is too long to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LargeEntry {
    /// Its place in the session.
    pub seq: Seq,
    /// When it was written down.
    pub at: Timestamp,
    /// What kind of entry it is, as its own `type` says.
    pub kind: String,
    /// The turn that it belongs to, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// How long the frame would have been.
    pub bytes: u64,
    /// The page of the log that holds it and nothing else.
    pub read: String,
}

/// Where a follow of the newest turns begins, and what has to be known of earlier entries. What follows may repeat some of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Window {
    /// The first entry sent is the one after this cursor.
    pub after: String,
    /// How the agent stands and what it offers.
    pub agent: AgentView,
    /// What was asked while no turn ran, up to that cursor, and still waits: its `permission.asked`, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Entry>,
}

/// Why a session's context is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextReason {
    Load,
    Resume,
    Changed,
}

/// Why a cursor is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResetReason {
    /// The session was deleted.
    Deleted,
    /// The store was restored from a backup since.
    OtherIncarnation,
    /// The cursor lies after the newest entry.
    Ahead,
}
