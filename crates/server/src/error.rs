//! The one place where a failure becomes a status and a stable code; `error/classes.rs` says which.
//!
//! Invariant: every match is exhaustive, so a new failure is a compile error here. The caller gets a code and a text
//! that is safe to show; what lies behind it goes to the log, once.

mod classes;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use engine::{
    AgentSessionsError, AppendError, AppletError, BundleError, ChangesError, Fence, FenceCause, GitError, ImportError,
    OutputError, QueryError, ReadError, ResetReason, ShowError, StoreFileError, SubmitError, TrialError,
};
use files::FileError;
use model::{PermissionAnswer, SlugError};
use serde_json::{Value, json};

use self::classes::STOPPING;
use crate::wire;

/// Why a request is not answered with success.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("there is no such session")]
    SessionNotFound,
    #[error("this credential is not bound to one session: name it with ?session=ID or the header throughline-session")]
    SessionNotNamed,
    #[error("this address leads nowhere; docs/api.md lists all that do")]
    RouteNotFound,
    #[error("there is no such interaction; an id is that of a turn's prompt, as contents and searches show it")]
    InteractionNotFound,
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error("there is no such file in the folder incoming of the data folder")]
    NoIncomingFile,
    #[error("no model is configured; set provider and model under [summaries] in config.toml")]
    NoModel,
    #[error("there is no such token")]
    TokenNotFound,
    #[error("no such permission is remembered")]
    PermissionNotFound,
    #[error("this method is not offered here")]
    MethodNotAllowed,
    #[error("this address speaks WebSocket; connect with an upgrade")]
    UpgradeRequired,
    #[error("this credential does not allow that")]
    Forbidden,
    #[error("the body is not what this request takes: {0}")]
    InvalidBody(String),
    #[error("the query is not what this request takes: {0}")]
    InvalidQuery(String),
    #[error("the cursor is not one that this server gave")]
    InvalidCursor,
    #[error("an idempotency key has 1 to 200 visible characters and is sent once, as header or as body field")]
    InvalidKey,
    #[error(
        "no idempotency key is taken here: a secret can not be given twice, and a file is written safely with If-Match"
    )]
    KeyNotTaken,
    #[error("a condition is If-Match with tags or *, or If-None-Match with *, and not both")]
    InvalidCondition,
    #[error("a token's name is one line of 1 to 100 characters")]
    InvalidTokenName,
    #[error(
        "the code was used or has expired; `throughline token link` makes a fresh link, `throughline token new --device NAME` one for a phone or another computer"
    )]
    InvalidCode,
    #[error("the new token could not be written to its file")]
    TokenFile(#[source] std::io::Error),
    #[error("at most {0} sessions can be followed on one socket; unfollow one first")]
    TooManyFollows(usize),
    #[error("at most {0} requests may wait on one socket; wait for their answers")]
    TooManyRequests(usize),
    #[error("the socket is signed in already")]
    AlreadySignedIn,
    #[error("the frame is not one that this server takes: {0}")]
    InvalidFrame(String),
    #[error("the request has been answered already")]
    Answered(Box<PermissionAnswer>),
    #[error("there is no such permission request")]
    RequestNotFound,
    #[error("the session offers no such step; `next` lists those it offers")]
    NextNotFound,
    #[error("there is no such piece of work")]
    MetaContextNotFound,
    #[error("there is no such output, or it was removed; an id is `out_` and 32 digits, as `outputs` lists them")]
    OutputNotFound,
    #[error("no entry of the session names such a body")]
    BodyNotFound,
    #[error("there is no such ticket, or it is older than a minute; ask for another")]
    TicketNotFound,
    #[error("a ticket is for pictures, frames and downloads of this server's own page")]
    TicketNotForThis,
    #[error("an output of more than {} MiB is not put into JSON; ask without format=json, or for some of its lines", .max >> 20)]
    OutputTooLargeForJson { max: u64 },
    #[error("the output has {bytes} bytes, and the range begins behind them")]
    NoSuchRange { bytes: u64 },
    #[error(transparent)]
    Output(OutputError),
    #[error("there is no such applet of the person's own")]
    AppletNotFound,
    #[error(transparent)]
    AppletSlug(SlugError),
    #[error(transparent)]
    Applet(AppletError),
    #[error(transparent)]
    Submit(#[from] SubmitError),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    AgentSessions(#[from] AgentSessionsError),
    #[error(transparent)]
    Trial(#[from] TrialError),
    #[error("this file lies outside of the session's directories; open it if you mean to")]
    OutsideNeedsConfirmation,
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "this has {0} bytes and a file that is written here has at most {max}; write less",
        max = engine::MAX_WRITTEN_BYTES
    )]
    ContentTooLong(u64),
    #[error("{}", ChangesError::NotChanged)]
    FileNotChanged,
    #[error(transparent)]
    Git(#[from] GitError),
}

impl From<ChangesError> for ApiError {
    fn from(err: ChangesError) -> Self {
        match err {
            ChangesError::NotChanged => Self::FileNotChanged,
            ChangesError::Git(err) => Self::Git(err),
            ChangesError::Query(err) => Self::Query(err),
        }
    }
}

impl From<OutputError> for ApiError {
    fn from(err: OutputError) -> Self {
        match err {
            OutputError::Submit(err) => Self::Submit(err),
            OutputError::Query(err) => Self::Query(err),
            OutputError::File(err) => Self::File(err),
            err => Self::Output(err),
        }
    }
}

impl From<AppletError> for ApiError {
    fn from(err: AppletError) -> Self {
        match err {
            AppletError::Submit(err) => Self::Submit(err),
            AppletError::Query(err) => Self::Query(err),
            AppletError::Output(err) => err.into(),
            AppletError::SessionFile(err) => Self::File(err),
            err => Self::Applet(err),
        }
    }
}

impl From<ShowError> for ApiError {
    fn from(err: ShowError) -> Self {
        match err {
            ShowError::OutsideNeedsConfirmation => Self::OutsideNeedsConfirmation,
            ShowError::File(err) => Self::File(err),
            ShowError::Query(err) => Self::Query(err),
        }
    }
}

impl From<StoreFileError> for ApiError {
    fn from(err: StoreFileError) -> Self {
        match err {
            StoreFileError::TooLong { bytes } => Self::ContentTooLong(bytes),
            StoreFileError::File(err) => Self::File(err),
            StoreFileError::Query(err) => Self::Query(err),
        }
    }
}

impl ApiError {
    /// The error that the caller gets, over HTTP or a socket. Our own failures are logged on the way, which is once, since
    /// telling uses the error up.
    pub(crate) fn into_detail(self) -> wire::ErrorDetail {
        let (status, code) = self.class();
        if status.is_server_error() {
            tracing::error!(code, error = &self as &dyn std::error::Error, "a request failed");
        }
        wire::ErrorDetail { code: code.to_owned(), message: self.to_string(), details: self.details() }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.class().0
    }

    fn fence(&self) -> Option<&Fence> {
        match self {
            Self::Submit(SubmitError::Append(AppendError::Fenced(fence)))
            | Self::Submit(SubmitError::Read(ReadError::Fenced(fence)))
            | Self::Query(QueryError::Read(ReadError::Fenced(fence)))
            | Self::Bundle(BundleError::Query(QueryError::Read(ReadError::Fenced(fence)))) => Some(fence),
            _ => None,
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Query(QueryError::Reset { reason, snapshot }) => {
                let reason = match reason {
                    ResetReason::OtherIncarnation => wire::ResetReason::OtherIncarnation,
                    ResetReason::Ahead => wire::ResetReason::Ahead,
                };
                json!({ "reason": reason, "snapshot": snapshot.to_string() })
            }
            Self::Answered(answer) => json!({ "answer": answer }),
            Self::Applet(AppletError::StateConflict { version }) => json!({ "version": version }),
            Self::Applet(AppletError::Changed { hash }) => json!({ "hash": hash }),
            Self::SessionNotFound
            | Self::SessionNotNamed
            | Self::RouteNotFound
            | Self::InteractionNotFound
            | Self::NoModel
            | Self::Import(_)
            | Self::Bundle(_)
            | Self::NoIncomingFile
            | Self::TokenNotFound
            | Self::PermissionNotFound
            | Self::RequestNotFound
            | Self::NextNotFound
            | Self::MetaContextNotFound
            | Self::OutputNotFound
            | Self::BodyNotFound
            | Self::TicketNotFound
            | Self::TicketNotForThis
            | Self::OutputTooLargeForJson { .. }
            | Self::NoSuchRange { .. }
            | Self::Output(_)
            | Self::AppletNotFound
            | Self::AppletSlug(_)
            | Self::Applet(_)
            | Self::MethodNotAllowed
            | Self::UpgradeRequired
            | Self::Forbidden
            | Self::InvalidBody(_)
            | Self::InvalidQuery(_)
            | Self::InvalidCursor
            | Self::InvalidKey
            | Self::KeyNotTaken
            | Self::InvalidCondition
            | Self::ContentTooLong(_)
            | Self::InvalidTokenName
            | Self::InvalidCode
            | Self::TokenFile(_)
            | Self::TooManyFollows(_)
            | Self::TooManyRequests(_)
            | Self::AlreadySignedIn
            | Self::InvalidFrame(_)
            | Self::AgentSessions(_)
            | Self::Trial(_)
            | Self::OutsideNeedsConfirmation
            | Self::File(_)
            | Self::FileNotChanged
            | Self::Git(_)
            | Self::Submit(_)
            | Self::Query(
                QueryError::NotFound(_)
                | QueryError::Deleted(_)
                | QueryError::NoSuchTurn { .. }
                | QueryError::UnsentTooLong { .. }
                | QueryError::NoSuchInteraction(_)
                | QueryError::NoSuchWork(_)
                | QueryError::TooMuchUsage { .. }
                | QueryError::SearchNotReady
                | QueryError::SearchUnavailable(_)
                | QueryError::Search(_)
                | QueryError::Read(_),
            ) => self.fence().map_or(json!({}), |fence| match &fence.cause {
                FenceCause::Damaged(what) => json!({ "seq": fence.seq, "what": what }),
                FenceCause::Newer => json!({ "seq": fence.seq }),
            }),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let class = self.class();
        let mut response = (class.0, Json(wire::ErrorBody { error: self.into_detail() })).into_response();
        if class == STOPPING {
            response.headers_mut().insert("retry-after", axum::http::HeaderValue::from_static("2"));
        }
        response
    }
}
