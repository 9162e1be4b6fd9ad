//! The one suite that every store must pass: data in, answers out, nothing of how a store is made.
//!
//! Invariant: a case uses the public traits only, so what it states holds for any store that is written later. A crate
//! that brings one names how to open it: `store::conformance_tests!(open)`, where `open` gives an empty store and
//! whatever has to live as long as it.

pub mod faulty;
pub mod future;
pub mod log;
pub mod outputs;
pub mod principals;
pub mod tables;
pub mod usage;
pub mod work;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    AboutOutput, AgentReport, Answerer, Attached, Author, Command, Entry, Event, FirstPrompt, Image, InteractionId,
    Memory, NewSession, Next, NextId, Origin, Output, OutputId, OutputKind, PermissionKind, PermissionOption, Position,
    Question, Rejection, RememberedDecision, RememberedId, Seq, ServerEvent, Session, SessionEvent, SessionId, Span,
    StepOrigin, StreamId, Timestamp, TokenId, ToolKind, Turn, WhenBusy, WorkId, add_to_work, decide,
};

use crate::{AppendError, Batch, Head, Part, Store};

/// Makes a test of every case for the stores that `$open` gives.
#[macro_export]
macro_rules! conformance_tests {
    ($open:path) => {
        $crate::conformance_tests! {
            $open,
            log: entries_read_back_as_they_were_written,
            log: a_follower_sleeps_until_the_log_goes_on,
            log: a_gap_in_a_part_is_refused,
            log: another_head_is_a_conflict,
            log: a_batch_is_written_whole_or_not_at_all,
            log: two_parts_of_one_stream_follow_each_other,
            log: a_repeat_gets_the_first_answer_and_writes_nothing,
            log: forgotten_receipts_make_room,
            log: receipts_that_hold_words_go_with_their_session,
            log: a_purged_session_is_gone_for_good,
            log: pages_are_bounded_by_count_and_by_size,
            log: every_text_survives,
            log: every_number_survives,
            log: all_streams_are_read_once_and_in_order,
            log: changed_streams_are_told_once_and_completely,
            log: appenders_of_many_streams_do_not_disturb_each_other,
            log: appenders_of_one_stream_leave_no_gap,
            tables: a_session_is_what_its_entries_fold_to,
            tables: the_entries_of_a_context_are_found,
            tables: sessions_that_may_name_a_file_are_found,
            tables: the_list_is_by_activity_and_comes_in_pages,
            tables: sessions_are_found_by_their_ids,
            tables: a_session_is_kept_as_the_person_files_it,
            tables: unsettled_sessions_are_starting_or_running,
            tables: a_session_that_waits_for_an_answer_is_unsettled,
            tables: a_question_beside_the_turns_leaves_its_session_unsettled,
            tables: unobserved_sessions_came_to_rest_unseen,
            tables: deleted_sessions_are_found_by_age,
            tables: sessions_are_found_by_their_agents_own_ids,
            tables: turns_come_in_order,
            tables: a_prompt_leads_to_its_turn,
            tables: the_newest_titles_are_kept,
            tables: sessions_are_unsummarised_until_each_turn_has_its_line,
            usage: what_turns_used_is_summed_up_by_anything,
            usage: days_begin_where_the_asker_is,
            usage: a_deleted_session_leaves_the_sums_and_comes_back_into_them,
            usage: each_turn_tells_what_it_used,
            outputs: outputs_are_listed_in_order_and_in_pages,
            outputs: an_output_is_found_by_its_session_and_id,
            outputs: outputs_go_with_their_session,
            outputs: bodies_are_listed_by_their_hashes_and_go_with_their_session,
            outputs: a_removed_output_leaves_no_row,
            outputs: old_outputs_are_found_in_pages_over_all_sessions,
            principals: tokens_are_in_force_until_revoked,
            principals: what_is_remembered_is_there_until_it_is_forgotten,
            principals: what_is_granted_to_an_applet_is_there_until_it_is_taken,
            work: offers_come_newest_first_and_in_pages,
            work: an_offer_is_superseded_by_a_later_turn_of_the_same_work,
            work: an_offer_is_superseded_by_any_name_of_its_work,
            work: a_click_is_kept,
            work: a_click_that_meets_another_writes_nothing,
            work: works_come_by_their_newest_session_and_in_pages,
            work: a_name_leads_to_one_work_in_its_project,
            work: a_work_is_found_by_the_names_it_had,
            work: a_name_leads_to_works_of_many_projects,
            work: no_name_leads_to_a_deleted_work,
            work: sessions_of_a_work_are_in_order_without_deleted_ones,
            work: sessions_are_unbegun_until_their_prompt_is_sent,
            work: a_purged_session_leaves_no_offers_and_its_work,
        }
    };
    ($open:path, $($group:ident: $case:ident,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (store, _kept_until_the_end) = $open();
                $crate::conformance::$group::$case(store).await;
            }
        )+
    };
}

/// A store under test.
pub type AnyStore = Arc<dyn Store>;

/// The `n`th session.
pub fn session_id(n: u8) -> SessionId {
    SessionId::from_bytes([n; 16])
}

/// The stream of the `n`th session.
pub fn stream(n: u8) -> StreamId {
    StreamId::Session(session_id(n))
}

/// The `n`th prompt's id.
pub fn interaction_id(n: u64) -> InteractionId {
    InteractionId::from_bytes(u128::from(n).to_be_bytes())
}

/// The `n`th token's id.
pub fn token_id(n: u8) -> TokenId {
    TokenId::from_bytes([n; 16])
}

/// The id of the `n`th answer that is remembered.
pub fn remembered_id(n: u8) -> RememberedId {
    RememberedId::from_bytes([n; 16])
}

/// Remembers the `n`th answer.
pub fn remembers(n: u8, subject: &str, decision: RememberedDecision) -> ServerEvent {
    ServerEvent::PermissionRemembered {
        id: remembered_id(n),
        project: format!("/p/{n}"),
        cwd: format!("/p/{n}/sub"),
        agent: "guide".to_owned(),
        kind: ToolKind::Execute,
        subject: subject.to_owned(),
        digest: format!("{n:064x}"),
        decision,
        by: Answerer::Person { token_id: Some(token_id(n)), name: "phone \"\0\"".to_owned() },
    }
}

/// The `n`th piece of work's id.
pub fn work_id(n: u8) -> WorkId {
    WorkId::from_bytes([n; 16])
}

/// A step of some work, if it says of which.
pub fn next_step(label: &str, work: Option<&str>) -> Next {
    Next { label: label.to_owned(), command: format!("do {label}"), meta_context: work.map(str::to_owned) }
}

/// The agent's words offer a step.
pub fn offers(turn: u32, nth: u32, next: Next) -> SessionEvent {
    let span = Span { block: 0, start: nth, end: nth + 1 };
    SessionEvent::NextOffered { turn: Turn(turn), nth, span, next }
}

/// Notes what follows from the agent's words.
pub async fn note(store: &AnyStore, n: u8, event: SessionEvent, when: i64) -> Position {
    let before = store.session(session_id(n)).await.expect("the session is read");
    let after = before.as_ref().map_or(Seq::START, |session| session.head);
    let (part, _) = Part::of_session(session_id(n), after, before, vec![event], at(when));
    store.append(batch([part])).await.expect("the part is appended")
}

/// What a click on an offer of the `n`th session writes, which begins the session `new`, and a work of the same number if
/// there is none: one batch over three streams. `None` if it leads nowhere.
pub async fn click(store: &dyn Store, n: u8, block: NextId, new: u8, when: i64) -> Option<Batch> {
    let offer = store.next_block(session_id(n), block).await.expect("the offer is read")?;
    let from = store.session(session_id(n)).await.expect("the session is read")?;
    let name = offer.row.next.meta_context.as_deref().filter(|_| offer.row.clicked.is_none())?;
    let project = from.row.project.clone();
    let known = store.find_work(&project, name).await.expect("the work is read");
    let work = known.as_ref().map_or(work_id(new), |known| known.id);
    let Head::At(head) = store.head(StreamId::Work).await.expect("the head is read") else { return None };
    let events = add_to_work(known.as_ref(), work, &project, name, session_id(new));
    let works = Part::of_works(head, events, at(when));
    let command =
        Command::Click { offer: Box::new(offer.clone()), work, session: session_id(new), by: Answerer::Nobody };
    let clicked = part_of_command(session_id(n), Some(from), command, at(when)).ok()?;
    let origin = StepOrigin { session: session_id(n), block };
    let prompt = FirstPrompt {
        interaction_id: interaction_id(u64::from(new) << 32),
        text: offer.row.next.command,
        images: Vec::new(),
        by: Author::Step(origin),
    };
    let created = Command::Create(NewSession {
        agent: "guide".to_owned(),
        cwd: project.clone(),
        project,
        work: Some(work),
        from: Some(Origin::Step(origin)),
        first: Some(prompt),
        options: BTreeMap::from([("mode".to_owned(), "plan".to_owned())]),
        ..NewSession::default()
    });
    let created = part_of_command(session_id(new), None, created, at(when)).ok()?;
    Some(batch([works, clicked, created]))
}

/// The `n`th output, with `n` bytes.
pub fn output(n: u8) -> Output {
    Output {
        id: OutputId::from_bytes([n; 16]),
        kind: OutputKind::File,
        mime_type: "text/plain; charset=utf-8".to_owned(),
        bytes: n.into(),
        sha256: format!("{n:064x}"),
        about: AboutOutput {
            path: Some(format!("/w/{n} \"x\".rs")),
            start_line: Some(3),
            lines: Some(1),
            cut: n.is_multiple_of(2),
            ..AboutOutput::default()
        },
    }
}

/// The `n`th millisecond.
pub fn at(n: i64) -> Timestamp {
    Timestamp::from_millis(n)
}

/// What begins a session.
pub fn create(name: &str) -> Command {
    let agent = "guide".to_owned();
    Command::Create(NewSession {
        agent,
        cwd: "/w".to_owned(),
        project: "/w".to_owned(),
        name: name.to_owned(),
        ..NewSession::default()
    })
}

/// The `n`th prompt.
pub fn prompt(n: u64, text: &str) -> Command {
    prompt_with(n, text, Vec::new())
}

/// The `n`th prompt, with pictures.
pub fn prompt_with(n: u64, text: &str, images: Vec<Image>) -> Command {
    prompt_by(n, text, images, Author::default())
}

/// The same, by somebody.
pub fn prompt_by(n: u64, text: &str, images: Vec<Image>, by: Author) -> Command {
    let (interaction_id, text) = (interaction_id(n), text.to_owned());
    Command::SendPrompt { interaction_id, text, images, when_busy: WhenBusy::Queue, by }
}

/// So many pictures, no two alike.
pub fn pictures(count: usize) -> Vec<Image> {
    (0..count)
        .map(|n| Image { mime_type: "image/png".to_owned(), data: format!("iVBORw0KGgo{n}="), body: None })
        .collect()
}

/// The agent is there, with a conversation of its own.
pub fn attached(agent_session: &str, memory: Memory) -> Command {
    let attached = Some(Attached { agent_session: agent_session.to_owned(), memory, program: None });
    Command::Agent(AgentReport::Ready { attached })
}

/// Something to be answered with `yes` or `no`.
pub fn question(title: &str) -> Question {
    let option = |id: &str, kind| PermissionOption { id: id.to_owned(), name: id.to_owned(), kind };
    let options = vec![option("yes", PermissionKind::AllowOnce), option("no", PermissionKind::RejectOnce)];
    Question {
        tool: None,
        title: title.to_owned(),
        kind: ToolKind::Edit,
        subject: Some(title.to_owned()),
        digest: Some("0".repeat(64)),
        options,
        said: None,
        form: None,
    }
}

/// A piece of an answer, as an entry of a stream that needs no session.
pub fn text_entry(seq: u64, text: &str) -> Entry<Event> {
    let event = SessionEvent::TextPart { turn: Turn(1), block: 0, text: text.to_owned() };
    Entry { seq: Seq(seq), at: at(seq.cast_signed()), event: event.into() }
}

/// A part that writes `texts` after `after` and changes no row.
pub fn text_part(stream: StreamId, after: u64, texts: &[&str]) -> Part {
    let entries = (after + 1..).zip(texts).map(|(seq, text)| text_entry(seq, text)).collect();
    Part { entries, ..Part::empty(stream, Seq(after)) }
}

/// A batch of parts without a receipt.
pub fn batch(parts: impl Into<Vec<Part>>) -> Batch {
    Batch { parts: parts.into(), receipt: None, ..Batch::default() }
}

/// The part that `command` becomes, given how the session stands.
pub fn part_of_command(
    id: SessionId,
    before: Option<Session>,
    command: Command,
    at: Timestamp,
) -> Result<Part, Rejection> {
    let events = decide(before.as_ref(), command)?;
    let after = before.as_ref().map_or(Seq::START, |session| session.head);
    Ok(Part::of_session(id, after, before, events, at).0)
}

/// Carries out `command` as the engine would: read, decide, append.
pub async fn act(store: &AnyStore, n: u8, command: Command, when: i64) -> Position {
    let before = store.session(session_id(n)).await.expect("the session is read");
    let part = part_of_command(session_id(n), before, command, at(when)).expect("the command is accepted");
    store.append(batch([part])).await.expect("the part is appended")
}

/// The head that a conflict tells of.
pub fn conflict_head(result: &Result<Position, AppendError>) -> Option<Seq> {
    match result {
        Err(AppendError::Conflict { head, .. }) => Some(*head),
        _ => None,
    }
}
