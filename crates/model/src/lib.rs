//! What a session is: ids, events, decisions and folds.
//!
//! Everything that happened is an [`Entry`] in a stream; everything shown is folded from entries. This crate states
//! both halves as plain functions: [`decide`] turns a [`Command`] into events or a [`Rejection`], [`fold`] turns an
//! entry into the next [`Session`] and the [`RowChange`]s of the read tables, [`Transcript`] folds what a reader sees. A
//! [`Draft`] does both for a session's next entries.
//!
//! It must never know tokio, SQL, HTTP, a clock or configuration: whoever calls it brings the time and the ids, so
//! live work, replay and tests run the same code. Start reading at `event.rs`, then `decide.rs` and `rows.rs`.

#![warn(missing_docs)]

mod agent;
mod agent_view;
mod applet;
mod author;
mod blocks;
mod body;
mod changes;
mod command;
mod contents;
mod context;
mod decide;
mod diff;
mod digest;
mod draft;
mod event;
mod fate;
mod filing;
mod held_turns;
mod html;
mod ids;
mod limits;
mod markdown;
mod navigation;
mod output;
mod part;
mod payload;
mod permission;
mod remembered;
mod rows;
mod session;
mod session_list;
mod size;
mod text;
mod time;
mod token;
mod tool;
mod transcript;
mod usage;
mod work;

pub use agent::{
    AgentCommand, AgentOption, Attached, Choice, Cost, Image, Memory, Notice, OptionCategory, PlanStep, Priority,
    Severity, SignInMethod, StepStatus, TokenCount, Usage,
};
pub use agent_view::AgentView;
pub use applet::{
    AppletGrant, AppletGrantsRow, AppletName, AppletSlug, AppletToShow, MAX_SLUG_CHARS, SlugError, are_applet_params,
    is_applet_line,
};
pub use author::Author;
pub use blocks::{
    BlockParter, BlockScanner, Card, CasePriority, Field, MAX_BLOCK_BYTES, MAX_BLOCKS, MAX_COMMAND_BYTES,
    MAX_LABEL_CHARS, Next, NextId, Node, SaidPart, Slice, Span, Task, UseCase,
};
pub use body::{BODY_BYTES, BodyHash, BodyLoss, BodyOf, BodyRef, BodyRow, FoundBody, MAX_BODY_BYTES, NewBody};
pub use changes::{
    ChangedBy, ChangedFile, Compared, FileDiff, FileEdit, FileStatus, Replacement, changed_status, file_edits,
    file_histories, possible_move,
};
pub use command::{AgentReport, Command, FirstPrompt, NewSession, TurnSummary, WhenBusy};
pub use contents::{
    EMPTY_SUMMARY, MAX_SUMMARY_CHARS, MAX_TITLE_CHARS, ModelRequest, TITLE_TURNS, Topics, TurnLine, clean_summary,
    clean_title, extract_summary, is_tools_own, summary_request, title_request, topic_title,
};
pub use context::{
    CallEnd, Context, ContextError, ContextNews, ContextWish, DECLARED_FACTS, Evidence, Fact, FactList, FactShape,
    Facts, FileStamp, FileState, Mark, Marker, ProvedFact, SetChange, SetMode, SetOutcome, Sets, absolute_path,
    as_item, call_end, exit_code, format_context_for_resume, merge_context_set, named_files, prove, replace_context,
    script_of, succeeded, tool_intent,
};
pub use decide::{Rejection, check_name, decide, is_sound_session};
pub use diff::{DiffHunk, DiffLine, LineCounts, LineDiff, LineKind, diff_lines, line_diff, same_lines};
pub use digest::Digest;
pub use draft::{Draft, Titles};
pub use event::{
    AgentState, DecodeError, EVENT_VERSION, Entry, EntryLine, Event, Outcome, ServerEvent, SessionEvent, Stop,
    WorkEvent,
};
pub use fate::CallFate;
pub use filing::{Filing, FilingWish, TagWish, clean_tag};
pub use held_turns::WrittenPart;
pub use html::{HtmlOutput, HtmlWriter};
pub use ids::{
    Cursor, CursorError, Incarnation, InteractionId, OutputId, ParseIdError, Position, RememberedId, Seq, SessionId,
    StreamId, TokenId, Turn, WorkId,
};
pub use limits::{
    MAX_APPLET_PARAM_CHARS, MAX_APPLET_PARAMS, MAX_CARD_LINE_CHARS, MAX_CONTEXT_ITEMS, MAX_ENV_HINT_CHARS,
    MAX_FACT_VALUES, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_ITEM_BYTES, MAX_NAME_CHARS, MAX_OUTPUT_COMMAND_BYTES,
    MAX_PART_BYTES, MAX_PATH_BYTES, MAX_PROMPT_BYTES, MAX_QUEUED_BYTES, MAX_QUEUED_PROMPTS, MAX_REMEMBERED,
    MAX_SET_ITEMS, MAX_SET_NAME_CHARS, MAX_TAG_CHARS, MAX_TAGS,
};
pub use markdown::MarkdownWriter;
pub use navigation::{Extent, MAX_TITLES, Summary, SummaryMaker, TitleMaker, TitleRow};
pub use output::{AboutOutput, EndedBy, Output, OutputKind, OutputMarker, OutputRemoval, OutputRow, OutputsSize};
pub use part::Part;
pub use payload::{NamedPayload, NamedPayloads, PAYLOAD_FOLDERS, is_payload_name, payload_path};
pub use permission::{Answerer, OpenRequest, PermissionAnswer, PermissionKind, PermissionOption, Question, Request};
pub use remembered::{Memorable, RememberedDecision, RememberedRow, remember};
pub use rows::{RowChange, TurnRow, fold, fold_server, fold_session, fold_work};
pub use session::{BEGINNING_PROMPT, Imported, QueuedPrompt, Running, Session, SessionRow, SessionState, Untold};
pub use session_list::{DeletedKey, ListKey, SessionFilter, Shelf};
pub use size::{json_bytes, json_values_bytes};
pub use text::{first_line, is_slash_command, one_line, parts, plain_text};
pub use time::Timestamp;
pub use token::{TokenKind, TokenRow};
pub use tool::{Location, ToolCall, ToolChange, ToolContent, ToolKind, ToolStatus};
pub use transcript::{
    Aside, Block, ForkedInto, HandOver, Item, Permission, Shown, Transcript, TranscriptTurn, WordsOf,
};
pub use usage::{
    BUILT_IN_PRICES_AS_OF, MAX_MODEL_CHARS, MAX_TURN_MODELS, ModelUsage, Money, ParseMoneyError, Price, Priced, Prices,
    Tally, TurnUsage, UsageBy, UsageKey, UsageQuery, UsageRow, UsageSum, UsedTokens,
};
pub use work::{
    Clicked, ForkOrigin, NextRow, Offer, OfferState, Origin, StepOrigin, WorkKey, WorkRow, add_to_work, note_click,
    rename_work, work_name,
};
