//! Why something did not happen to an applet; `server/src/error.rs` maps each to a status.

use std::sync::Arc;

use files::FileError;
use model::{AppletGrant, AppletSlug, SessionId};

use crate::{OutputError, QueryError, SubmitError};

/// Why something did not happen to an applet.
#[derive(Debug, thiserror::Error)]
pub enum AppletError {
    /// Nothing is saved under this slug.
    #[error("there is no applet {slug}; {}", known_applets(known))]
    NotFound {
        /// Which was asked for.
        slug: AppletSlug,
        /// Those that there are.
        known: Vec<AppletSlug>,
    },
    /// The session shows none of its own.
    #[error(
        "session {0} shows no applet that is not saved; its agent shows one with set_applet, and one that was saved with load_applet"
    )]
    NothingShown(SessionId),
    /// It comes with the program.
    #[error("{slug} comes with the program and can not be deleted; one of your own with that slug takes its place")]
    Bundled {
        /// Which.
        slug: AppletSlug,
    },
    /// It was removed while something was asked of it.
    #[error("this applet, or the session that it was beside, was deleted meanwhile")]
    Deleted,
    /// The server has no folder for them.
    #[error("this server keeps no applets")]
    NotKept,
    /// There are as many as there may be.
    #[error("there are {} applets, which is the most that are kept; delete one first", super::MAX_APPLETS)]
    TooMany,
    /// It is longer than an applet may be.
    #[error("this applet has {bytes} bytes of HTML, script and style, at most {max} are kept; make it smaller")]
    TooLarge {
        /// How many it has.
        bytes: u64,
        /// How many it may have.
        max: usize,
    },
    /// There is nothing in it.
    #[error("this applet has no HTML and no script; give at least one of them")]
    Empty,
    /// A name or title is not one line of visible characters.
    #[error("the {what} is one line of 1 to 200 visible characters")]
    NotALine {
        /// Which text: its name or its title.
        what: &'static str,
    },
    /// What `meta.json` would say is too long.
    #[error("each text about an applet has at most {max} characters, and there are at most {words} of a kind")]
    AboutTooLong {
        /// In characters.
        max: usize,
        /// How many.
        words: usize,
    },
    /// Its params are too many or too long.
    #[error("params are at most 20, each with a name and a value of one line and at most 2,000 characters")]
    BadParams,
    /// Its state is larger than one may be.
    #[error("this state has {bytes} bytes, at most {max} are kept; keep less in it, or write a file")]
    StateTooLarge {
        /// How many it has.
        bytes: usize,
        /// How many it may have.
        max: usize,
    },
    /// Its state is nested too deep.
    #[error("this state is nested more than {max} deep; make it flatter")]
    StateTooDeep {
        /// How deep it may be.
        max: usize,
    },
    /// Its file holds no state.
    #[error("state.json of this applet holds no state ({0}); mend the file, or set the whole state")]
    StateUnreadable(String),
    /// It has another version.
    #[error("the state has version {version} by now; read it, and write what you mean with that version")]
    StateConflict {
        /// Which it has.
        version: u64,
    },
    /// That version is not kept.
    #[error(
        "there is no version {version} of this state any more; the newest {} are kept",
        super::states::KEPT_VERSIONS
    )]
    NoSuchVersion {
        /// Which was asked for.
        version: u64,
    },
    /// Its content changed since the caller saw it.
    #[error("this applet has other content by now; look at it again")]
    Changed {
        /// The hash of what it has.
        hash: String,
    },
    /// The person has not allowed that to this content.
    #[error("this applet may not {}; the person has not allowed that to what it is now", words_of(*grant))]
    NotGranted {
        /// What it would need.
        grant: AppletGrant,
    },
    /// A file of the session is not as the applet meant.
    #[error(transparent)]
    SessionFile(FileError),
    /// It is longer than a file that is written may be.
    #[error(
        "this has {bytes} bytes and a file that is written here has at most {}; write less",
        crate::MAX_WRITTEN_BYTES
    )]
    FileTooLong {
        /// How long it is.
        bytes: u64,
    },
    /// Its state could not be written.
    #[error("the state could not be written; what was there before is kept")]
    StateNotWritten(#[source] Arc<FileError>),
    /// Its files could not be read or written.
    #[error("the files of this applet could not be used")]
    File(#[from] FileError),
    /// It could not be shown.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The entry about it could not be appended.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The session could not be read.
    #[error(transparent)]
    Query(#[from] QueryError),
}

fn words_of(grant: AppletGrant) -> &'static str {
    match grant {
        AppletGrant::FilesRead => "read files",
        AppletGrant::FilesWrite => "write files",
        AppletGrant::Message => "send prompts",
    }
}

/// How many names a refusal lists.
const NAMED: usize = 30;

fn known_applets(known: &[AppletSlug]) -> String {
    let named: Vec<&str> = known.iter().take(NAMED).map(AppletSlug::as_str).collect();
    match known.len().saturating_sub(NAMED) {
        0 if known.is_empty() => "none is saved".to_owned(),
        0 => format!("there are {}", named.join(", ")),
        more => format!("there are {} and {more} more; list_applets lists them", named.join(", ")),
    }
}
