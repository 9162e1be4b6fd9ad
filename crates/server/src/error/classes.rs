//! The status and the stable code of each failure, one function for each family of failures.
//!
//! Invariant: every match is exhaustive, so a new failure is a compile error here.

use axum::http::StatusCode;
use engine::{
    AgentSessionsError, AppendError, AppletError, BundleError, DirectoryError, Fence, FenceCause, GitError,
    ImportError, OutputError, PayloadError, QueryError, ReadError, RecordsError, SubmitError, TrialError,
};
use files::FileError;
use model::{ContextError, Rejection};

use super::ApiError;

/// The one refusal that passes by itself: another server may be there in a moment.
pub(super) const STOPPING: (StatusCode, &str) = (StatusCode::SERVICE_UNAVAILABLE, "stopping");

impl ApiError {
    /// The status and the stable code that the caller gets.
    pub(super) fn class(&self) -> (StatusCode, &'static str) {
        match self {
            Self::SessionNotFound => (StatusCode::NOT_FOUND, "session_not_found"),
            Self::SessionNotNamed => (StatusCode::BAD_REQUEST, "session_not_named"),
            Self::RouteNotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::InteractionNotFound => (StatusCode::NOT_FOUND, "interaction_not_found"),
            Self::Import(err) => match err {
                ImportError::Running => (StatusCode::CONFLICT, "import_running"),
                ImportError::NoHome => (StatusCode::CONFLICT, "no_home"),
                ImportError::UnknownTool { .. } => (StatusCode::BAD_REQUEST, "unknown_tool"),
            },
            Self::Bundle(err) => bundle_class(err),
            Self::NoIncomingFile => (StatusCode::NOT_FOUND, "file_not_found"),
            Self::NoModel => (StatusCode::CONFLICT, "no_model"),
            Self::TokenNotFound => (StatusCode::NOT_FOUND, "token_not_found"),
            Self::PermissionNotFound => (StatusCode::NOT_FOUND, "permission_not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::UpgradeRequired => (StatusCode::UPGRADE_REQUIRED, "upgrade_required"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            Self::InvalidBody(_) => (StatusCode::BAD_REQUEST, "invalid_body"),
            Self::InvalidQuery(_) => (StatusCode::BAD_REQUEST, "invalid_query"),
            Self::InvalidCursor => (StatusCode::BAD_REQUEST, "invalid_cursor"),
            Self::InvalidKey => (StatusCode::BAD_REQUEST, "invalid_key"),
            Self::KeyNotTaken => (StatusCode::BAD_REQUEST, "key_not_taken"),
            Self::InvalidCondition => (StatusCode::BAD_REQUEST, "invalid_condition"),
            Self::InvalidTokenName => (StatusCode::BAD_REQUEST, "invalid_name"),
            Self::InvalidCode => (StatusCode::UNAUTHORIZED, "invalid_code"),
            Self::TokenFile(_) => (StatusCode::INTERNAL_SERVER_ERROR, "token_file"),
            Self::TooManyFollows(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_follows"),
            Self::TooManyRequests(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_requests"),
            Self::AlreadySignedIn => (StatusCode::CONFLICT, "already_signed_in"),
            Self::InvalidFrame(_) => (StatusCode::BAD_REQUEST, "invalid_frame"),
            Self::Answered(_) => (StatusCode::CONFLICT, "request_answered"),
            Self::RequestNotFound => (StatusCode::NOT_FOUND, "request_not_found"),
            Self::NextNotFound => (StatusCode::NOT_FOUND, "next_not_found"),
            Self::MetaContextNotFound => (StatusCode::NOT_FOUND, "meta_context_not_found"),
            Self::OutputNotFound => (StatusCode::NOT_FOUND, "output_not_found"),
            Self::BodyNotFound => (StatusCode::NOT_FOUND, "body_not_found"),
            Self::TicketNotFound => (StatusCode::NOT_FOUND, "ticket_not_found"),
            Self::TicketNotForThis => (StatusCode::FORBIDDEN, "cross_site"),
            Self::OutputTooLargeForJson { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "output_too_large"),
            Self::NoSuchRange { .. } => (StatusCode::RANGE_NOT_SATISFIABLE, "no_such_range"),
            Self::Output(err) => output_class(err),
            Self::AppletNotFound => (StatusCode::NOT_FOUND, "applet_not_found"),
            Self::AppletSlug(_) => (StatusCode::BAD_REQUEST, "applet_slug_invalid"),
            Self::Applet(err) => applet_class(err),
            Self::Submit(err) => submit_class(err),
            Self::Query(err) => query_class(err),
            Self::AgentSessions(err) => agent_sessions_class(err),
            Self::Trial(TrialError::UnknownAgent { .. }) => (StatusCode::NOT_FOUND, "unknown_agent"),
            Self::Trial(TrialError::NotInstalled { .. }) => (StatusCode::CONFLICT, "agent_not_installed"),
            Self::OutsideNeedsConfirmation => (StatusCode::CONFLICT, "outside_needs_confirm"),
            Self::File(err) => file_class(err),
            Self::ContentTooLong(_) => (StatusCode::PAYLOAD_TOO_LARGE, "file_too_large"),
            Self::FileNotChanged => (StatusCode::NOT_FOUND, "file_not_changed"),
            Self::Git(err) => git_class(*err),
        }
    }
}

/// The status and code where a session can not be read to its end. A follower gets the same code, so that nobody takes
/// the fence for the end.
fn fence_class(fence: &Fence) -> (StatusCode, &'static str) {
    match fence.cause {
        FenceCause::Damaged(_) => (StatusCode::CONFLICT, "session_damaged"),
        FenceCause::Newer => (StatusCode::CONFLICT, "session_newer"),
    }
}

fn submit_class(err: &SubmitError) -> (StatusCode, &'static str) {
    match err {
        SubmitError::NotFound(_) => (StatusCode::NOT_FOUND, "session_not_found"),
        SubmitError::NoSuchBlock { .. } => (StatusCode::NOT_FOUND, "next_not_found"),
        SubmitError::NoSuchOutput(_) => (StatusCode::NOT_FOUND, "output_not_found"),
        SubmitError::NoSuchWork(_) => (StatusCode::NOT_FOUND, "meta_context_not_found"),
        SubmitError::Rejected(rejection) => rejection_class(rejection),
        SubmitError::KeyReused => (StatusCode::CONFLICT, "key_reused"),
        SubmitError::UnknownAgent { .. } => (StatusCode::BAD_REQUEST, "unknown_agent"),
        SubmitError::NoSuchChoice { .. } => (StatusCode::BAD_REQUEST, "unknown_choice"),
        SubmitError::TooManyAgents { .. } => (StatusCode::TOO_MANY_REQUESTS, "too_many_agents"),
        SubmitError::MarksFull { .. } => (StatusCode::TOO_MANY_REQUESTS, "marks_full"),
        SubmitError::OutputsFull(_) => (StatusCode::CONFLICT, "outputs_full"),
        SubmitError::Directory(err) => match err {
            DirectoryError::NotAbsolute => (StatusCode::BAD_REQUEST, "directory_not_absolute"),
            DirectoryError::NotADirectory => (StatusCode::BAD_REQUEST, "directory_not_found"),
            DirectoryError::Gone { .. } => (StatusCode::CONFLICT, "directory_gone"),
            DirectoryError::NotText => (StatusCode::BAD_REQUEST, "directory_not_text"),
            DirectoryError::NeedsConfirmation => (StatusCode::CONFLICT, "confirm_required"),
        },
        SubmitError::Stopping => STOPPING,
        SubmitError::Broken => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        SubmitError::Append(err) => match err {
            AppendError::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
            AppendError::Repeated(_) => (StatusCode::CONFLICT, "key_reused"),
            AppendError::Purged(_) => (StatusCode::NOT_FOUND, "session_not_found"),
            AppendError::Fenced(fence) => fence_class(fence),
            AppendError::Busy(_) => (StatusCode::SERVICE_UNAVAILABLE, "storage_busy"),
            AppendError::Full(_) => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
            AppendError::Failed(_) => (StatusCode::SERVICE_UNAVAILABLE, "storage_failed"),
            AppendError::Closed => STOPPING,
        },
        SubmitError::Read(err) => read_class(err),
        SubmitError::Copy(_) => (StatusCode::INTERNAL_SERVER_ERROR, "copy_not_removed"),
    }
}

fn query_class(err: &QueryError) -> (StatusCode, &'static str) {
    match err {
        QueryError::NotFound(_) => (StatusCode::NOT_FOUND, "session_not_found"),
        QueryError::Deleted(_) => (StatusCode::NOT_FOUND, "session_deleted"),
        QueryError::SearchUnavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "search_unavailable"),
        QueryError::SearchNotReady | QueryError::Search(_) => (StatusCode::SERVICE_UNAVAILABLE, "search_not_ready"),
        QueryError::NoSuchInteraction(_) => (StatusCode::NOT_FOUND, "interaction_not_found"),
        QueryError::NoSuchWork(_) => (StatusCode::NOT_FOUND, "meta_context_not_found"),
        QueryError::NoSuchTurn { .. } => (StatusCode::NOT_FOUND, "turn_not_found"),
        QueryError::UnsentTooLong { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "unsent_too_long"),
        QueryError::TooMuchUsage { .. } => (StatusCode::BAD_REQUEST, "usage_range_too_long"),
        QueryError::Reset { .. } => (StatusCode::CONFLICT, "cursor_reset"),
        QueryError::Read(err) => read_class(err),
    }
}

fn agent_sessions_class(err: &AgentSessionsError) -> (StatusCode, &'static str) {
    match err {
        AgentSessionsError::UnknownAgent { .. } => (StatusCode::NOT_FOUND, "unknown_agent"),
        AgentSessionsError::NotInstalled { .. } => (StatusCode::CONFLICT, "agent_not_installed"),
        AgentSessionsError::Records(err) => match err {
            RecordsError::NotSupported => (StatusCode::CONFLICT, "not_supported"),
            RecordsError::SignedOut => (StatusCode::CONFLICT, "agent_signed_out"),
            RecordsError::TooSlow(_) => (StatusCode::GATEWAY_TIMEOUT, "agent_timeout"),
            RecordsError::Failed(_) => (StatusCode::BAD_GATEWAY, "agent_failed"),
        },
        AgentSessionsError::Read(err) => read_class(err),
    }
}

fn bundle_class(err: &BundleError) -> (StatusCode, &'static str) {
    match err {
        BundleError::Foreign => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_a_bundle"),
        BundleError::NewerFormat { .. } | BundleError::NewerEntry(_) => (StatusCode::CONFLICT, "bundle_newer"),
        BundleError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "bundle_too_large"),
        BundleError::TooLargeToWrite { .. } => (StatusCode::CONFLICT, "session_too_large"),
        BundleError::NoRoom { .. } => (StatusCode::CONFLICT, "outputs_full"),
        BundleError::CutOff
        | BundleError::UnknownFile(_)
        | BundleError::Twice(_)
        | BundleError::Altered(_)
        | BundleError::Entry { .. } => (StatusCode::BAD_REQUEST, "bundle_invalid"),
        BundleError::Different(_) => (StatusCode::CONFLICT, "session_differs"),
        BundleError::Removed(_) => (StatusCode::GONE, "session_removed"),
        BundleError::Io(_) => (StatusCode::SERVICE_UNAVAILABLE, "bundle_unreadable"),
        BundleError::Payload(PayloadError::Full { .. }) => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
        BundleError::Payload(_) => (StatusCode::SERVICE_UNAVAILABLE, "storage_failed"),
        BundleError::Query(err) => query_class(err),
        BundleError::Append(AppendError::Full(_)) => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
        BundleError::Append(_) => (StatusCode::SERVICE_UNAVAILABLE, "storage_failed"),
        BundleError::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
    }
}

fn output_class(err: &OutputError) -> (StatusCode, &'static str) {
    match err {
        OutputError::NotFound(_) => (StatusCode::NOT_FOUND, "output_not_found"),
        OutputError::Gone(_) => (StatusCode::GONE, "output_gone"),
        OutputError::NoSuchBody(_) => (StatusCode::NOT_FOUND, "body_not_found"),
        OutputError::BodyGone(_) => (StatusCode::GONE, "body_gone"),
        OutputError::BodyChanged(_) => (StatusCode::GONE, "body_changed"),
        OutputError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "output_too_large"),
        OutputError::SessionFull(_) => (StatusCode::CONFLICT, "outputs_full"),
        OutputError::DiskFull(_) => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
        OutputError::NotAPicture => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_a_picture"),
        OutputError::NoSuchLine { .. } | OutputError::LinesTooFar { .. } => (StatusCode::BAD_REQUEST, "no_such_line"),
        OutputError::NoCard(_) => (StatusCode::BAD_REQUEST, "no_card"),
        OutputError::Embed(_) => (StatusCode::BAD_GATEWAY, "no_card"),
        OutputError::NotText => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_text"),
        OutputError::NoCommand => (StatusCode::BAD_REQUEST, "no_command"),
        OutputError::CommandTooLong { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "command_too_long"),
        OutputError::TooManyCommands { .. } => (StatusCode::TOO_MANY_REQUESTS, "too_many_commands"),
        OutputError::NotStarted(_) => (StatusCode::SERVICE_UNAVAILABLE, "command_not_started"),
        OutputError::Payload(_) => (StatusCode::SERVICE_UNAVAILABLE, "storage_failed"),
        OutputError::File(err) => file_class(err),
        OutputError::Submit(err) => submit_class(err),
        OutputError::Query(err) => query_class(err),
    }
}

fn applet_class(err: &AppletError) -> (StatusCode, &'static str) {
    match err {
        AppletError::NotFound { .. } => (StatusCode::NOT_FOUND, "applet_not_found"),
        AppletError::Deleted => (StatusCode::NOT_FOUND, "applet_not_found"),
        AppletError::NothingShown(_) => (StatusCode::NOT_FOUND, "no_applet_shown"),
        AppletError::Bundled { .. } => (StatusCode::CONFLICT, "applet_bundled"),
        AppletError::NotKept => (StatusCode::CONFLICT, "applets_not_kept"),
        AppletError::TooMany => (StatusCode::CONFLICT, "too_many_applets"),
        AppletError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "applet_too_large"),
        AppletError::Empty
        | AppletError::NotALine { .. }
        | AppletError::AboutTooLong { .. }
        | AppletError::BadParams => (StatusCode::BAD_REQUEST, "applet_invalid"),
        AppletError::StateTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "applet_state_too_large"),
        AppletError::StateTooDeep { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "applet_state_too_deep"),
        AppletError::StateUnreadable(_) => (StatusCode::CONFLICT, "applet_state_unreadable"),
        AppletError::StateConflict { .. } => (StatusCode::CONFLICT, "applet_state_conflict"),
        AppletError::NoSuchVersion { .. } => (StatusCode::NOT_FOUND, "no_such_version"),
        AppletError::Changed { .. } => (StatusCode::CONFLICT, "applet_changed"),
        AppletError::NotGranted { .. } => (StatusCode::FORBIDDEN, "not_granted"),
        AppletError::FileTooLong { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "file_too_large"),
        AppletError::StateNotWritten(err) => applet_files_class(err),
        AppletError::File(err) => applet_files_class(err),
        AppletError::SessionFile(err) => file_class(err),
        AppletError::Output(err) => output_class(err),
        AppletError::Submit(err) => submit_class(err),
        AppletError::Query(err) => query_class(err),
    }
}

/// The applet's own files failed; the caller chose no path, so this is a server error.
fn applet_files_class(err: &FileError) -> (StatusCode, &'static str) {
    match err {
        FileError::Full => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
        FileError::NotAllowed
        | FileError::NotFound
        | FileError::NotADirectory
        | FileError::NotAFile
        | FileError::TooLarge { .. }
        | FileError::TooManyNames { .. }
        | FileError::Changed
        | FileError::NotText
        | FileError::Io(_) => (StatusCode::SERVICE_UNAVAILABLE, "applet_files_unusable"),
    }
}

fn file_class(err: &FileError) -> (StatusCode, &'static str) {
    match err {
        FileError::NotAllowed => (StatusCode::FORBIDDEN, "path_not_allowed"),
        FileError::NotFound | FileError::NotADirectory => (StatusCode::NOT_FOUND, "file_not_found"),
        FileError::NotAFile => (StatusCode::BAD_REQUEST, "not_a_file"),
        FileError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "file_too_large"),
        FileError::TooManyNames { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "directory_too_large"),
        FileError::Changed => (StatusCode::PRECONDITION_FAILED, "file_changed"),
        FileError::Full => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
        FileError::NotText => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_text"),
        // The server's own user may not read it either.
        FileError::Io(_) => (StatusCode::FORBIDDEN, "file_unreadable"),
    }
}

fn git_class(err: GitError) -> (StatusCode, &'static str) {
    match err {
        GitError::NoRepository => (StatusCode::CONFLICT, "no_repository"),
        GitError::NotInstalled => (StatusCode::CONFLICT, "git_not_installed"),
        GitError::Elsewhere => (StatusCode::CONFLICT, "repository_elsewhere"),
        GitError::NotOurs => (StatusCode::CONFLICT, "repository_not_ours"),
        GitError::TooLarge => (StatusCode::CONFLICT, "repository_too_large"),
        GitError::TooSlow => (StatusCode::CONFLICT, "git_too_slow"),
        GitError::Failed => (StatusCode::CONFLICT, "git_failed"),
    }
}

fn read_class(err: &ReadError) -> (StatusCode, &'static str) {
    match err {
        ReadError::Fenced(fence) => fence_class(fence),
        ReadError::Storage(_) => (StatusCode::SERVICE_UNAVAILABLE, "storage_failed"),
        ReadError::Closed => STOPPING,
    }
}

fn rejection_class(rejection: &Rejection) -> (StatusCode, &'static str) {
    match rejection {
        Rejection::SessionExists => (StatusCode::CONFLICT, "session_exists"),
        Rejection::NoSuchSession => (StatusCode::NOT_FOUND, "session_not_found"),
        Rejection::SessionDeleted => (StatusCode::NOT_FOUND, "session_deleted"),
        Rejection::SessionNotDeleted => (StatusCode::CONFLICT, "session_not_deleted"),
        Rejection::TurnRunning => (StatusCode::CONFLICT, "turn_running"),
        Rejection::PromptsWaiting => (StatusCode::CONFLICT, "prompts_waiting"),
        Rejection::NoTurnRunning => (StatusCode::CONFLICT, "no_turn_running"),
        Rejection::PromptNotQueued => (StatusCode::NOT_FOUND, "prompt_not_queued"),
        Rejection::PromptEmpty => (StatusCode::BAD_REQUEST, "prompt_empty"),
        Rejection::PromptTooLong { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "prompt_too_long"),
        Rejection::QueueFull => (StatusCode::CONFLICT, "queue_full"),
        Rejection::NameInvalid => (StatusCode::BAD_REQUEST, "name_invalid"),
        Rejection::EnvHintInvalid => (StatusCode::BAD_REQUEST, "env_hint_invalid"),
        Rejection::ImagesInvalid => (StatusCode::BAD_REQUEST, "images_invalid"),
        Rejection::RequestNotOpen(_) => (StatusCode::CONFLICT, "request_not_open"),
        Rejection::NoSuchOption { .. } => (StatusCode::BAD_REQUEST, "no_such_option"),
        Rejection::NothingToRemember => (StatusCode::BAD_REQUEST, "nothing_to_remember"),
        Rejection::RememberedFull => (StatusCode::CONFLICT, "remembered_full"),
        Rejection::AgentNotReady => (StatusCode::CONFLICT, "agent_not_ready"),
        Rejection::NotSignedOut => (StatusCode::CONFLICT, "not_signed_out"),
        Rejection::Context(err) => match err {
            ContextError::SetFull { .. } => (StatusCode::CONFLICT, "set_full"),
            ContextError::ContextFull { .. } => (StatusCode::CONFLICT, "context_full"),
            ContextError::NameInvalid => (StatusCode::BAD_REQUEST, "set_name_invalid"),
            ContextError::ItemInvalid { .. } => (StatusCode::BAD_REQUEST, "item_invalid"),
            ContextError::SlugInvalid(_) => (StatusCode::BAD_REQUEST, "slug_invalid"),
        },
        Rejection::NextSuperseded { .. } => (StatusCode::CONFLICT, "next_superseded"),
        Rejection::NextIncomplete => (StatusCode::CONFLICT, "next_incomplete"),
        Rejection::NoSuchTurn { .. } => (StatusCode::NOT_FOUND, "turn_not_found"),
        Rejection::ForkOfRunningTurn { .. } => (StatusCode::CONFLICT, "turn_running"),
        Rejection::WorkNameInvalid => (StatusCode::BAD_REQUEST, "meta_context_name_invalid"),
        Rejection::WorkNameTaken => (StatusCode::CONFLICT, "meta_context_name_taken"),
        Rejection::Imported => (StatusCode::CONFLICT, "session_imported"),
        Rejection::NotImported => (StatusCode::CONFLICT, "session_not_imported"),
        Rejection::TagInvalid => (StatusCode::BAD_REQUEST, "tag_invalid"),
        Rejection::TooManyTags { .. } => (StatusCode::CONFLICT, "too_many_tags"),
        Rejection::RequestsOpen => (StatusCode::CONFLICT, "requests_open"),
        Rejection::OutputInvalid => (StatusCode::BAD_REQUEST, "output_invalid"),
        Rejection::DirectoryInvalid => (StatusCode::BAD_REQUEST, "directory_invalid"),
    }
}
