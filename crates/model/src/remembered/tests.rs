//! What is remembered, and what it answers.

use uuid::Uuid;

use super::*;
use crate::{Entry, OpenRequest, PermissionOption, Running, Seq, SessionEvent, SessionId, fold_server};

fn id(number: u128) -> RememberedId {
    RememberedId::from_uuid(Uuid::from_u128(number))
}

fn question() -> Question {
    Question {
        tool: None,
        title: "Harmless".to_owned(),
        kind: ToolKind::Execute,
        subject: Some("make".to_owned()),
        digest: Some("d1".to_owned()),
        options: vec![PermissionOption { id: "y".to_owned(), name: "Yes".to_owned(), kind: PermissionKind::AllowOnce }],
        said: None,
        form: None,
    }
}

/// A session in `/w/sub` of the project `/w` in which this question, and no other, waits.
fn session(question: &Question) -> Session {
    let created = SessionEvent::SessionCreated {
        agent: "guide".to_owned(),
        cwd: "/w/sub".to_owned(),
        project: "/w".to_owned(),
        name: String::new(),
        work: None,
        from: None,
        options: std::collections::BTreeMap::new(),
    };
    let session = SessionId::from_uuid(Uuid::from_u128(1));
    let entry = Entry { seq: Seq(1), at: Timestamp::from_millis(0), event: created };
    let mut session = Session::begin(session, entry.borrowed()).unwrap();
    session.row.running = Some(Running {
        turn: crate::Turn(1),
        interaction_id: crate::InteractionId::from_uuid(Uuid::from_u128(2)),
        first_seq: Seq(2),
        started_at: Timestamp::from_millis(0),
    });
    session.row.open_requests.push(OpenRequest {
        request: Request(1),
        options: question.options.clone(),
        memorable: Memorable::of(question),
        aside: None,
    });
    session
}

fn answer(number: u128, kind: PermissionKind) -> PermissionAnswer {
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    PermissionAnswer { option: Some("y".to_owned()), kind: Some(kind), fields: None, by, remembered: Some(id(number)) }
}

/// The rows that are left by these events.
fn rows(mut known: Vec<RememberedRow>, events: Vec<ServerEvent>) -> Vec<RememberedRow> {
    for event in events {
        let entry = Entry { seq: Seq(1), at: Timestamp::from_millis(5), event };
        for change in fold_server(entry.borrowed()) {
            match change {
                crate::RowChange::PutRemembered(row) => known.push(row),
                crate::RowChange::RemoveRemembered { id } => known.retain(|row| row.id != id),
                other => panic!("{other:?}"),
            }
        }
    }
    known
}

#[test]
fn the_newest_decision_of_the_same_is_the_one_that_is_kept() {
    let session = session(&question());
    let events = remember(&[], &session, Request(1), &answer(1, PermissionKind::AllowOnce)).unwrap();
    let known = rows(Vec::new(), events);
    let expected = RememberedRow {
        id: id(1),
        project: "/w".to_owned(),
        cwd: "/w/sub".to_owned(),
        agent: "guide".to_owned(),
        kind: ToolKind::Execute,
        subject: "make".to_owned(),
        digest: "d1".to_owned(),
        decision: RememberedDecision::Allow,
        by: Answerer::Person { token_id: None, name: "ada".to_owned() },
        remembered_at: Timestamp::from_millis(5),
    };
    assert_eq!(known, std::slice::from_ref(&expected));
    let events = remember(&known, &session, Request(1), &answer(2, PermissionKind::RejectAlways)).unwrap();
    let expected = RememberedRow { id: id(2), decision: RememberedDecision::Deny, ..expected };
    assert_eq!(rows(known, events), [expected]);
}

#[test]
fn another_project_directory_agent_kind_or_content_is_not_the_same() {
    let asked = Memorable::of(&question()).unwrap();
    let here = session(&question());
    let events = remember(&[], &here, Request(1), &answer(1, PermissionKind::AllowOnce)).unwrap();
    let (row, here) = (&rows(Vec::new(), events)[0], here.row);
    assert!(row.answers(&here, &asked));
    assert!(row.answers(&here, &Memorable { subject: "as it is shown".to_owned(), ..asked.clone() }));
    assert!(!row.answers(&SessionRow { project: "/w/sub".to_owned(), ..here.clone() }, &asked));
    assert!(!row.answers(&SessionRow { cwd: "/w".to_owned(), ..here.clone() }, &asked));
    assert!(!row.answers(&SessionRow { agent: "codex".to_owned(), ..here.clone() }, &asked));
    assert!(!row.answers(&here, &Memorable { kind: ToolKind::Delete, ..asked.clone() }));
    assert!(!row.answers(&here, &Memorable { digest: "d2".to_owned(), ..asked }));
}

#[test]
fn a_question_without_all_that_is_used_or_with_a_form_is_not_remembered() {
    let refused = [
        Question { subject: None, ..question() },
        Question { digest: None, ..question() },
        Question { form: Some(serde_json::json!({ "type": "object" })), ..question() },
    ];
    for question in refused {
        let refusal = remember(&[], &session(&question), Request(1), &answer(1, PermissionKind::AllowOnce));
        assert_eq!(refusal, Err(Rejection::NothingToRemember), "{question:?}");
    }
}

#[test]
fn a_long_subject_is_cut_for_readers_and_told_apart_by_its_digest() {
    let long = "ä".repeat(MAX_REMEMBERED_SUBJECT_CHARS);
    let memorable = |subject: String| Memorable::of(&Question { subject: Some(subject), ..question() }).unwrap();
    assert_eq!(memorable(long.clone()).subject, long);
    assert_eq!(memorable(format!("{long}x")).subject, format!("{long}…"));
    assert_eq!(memorable(format!("{long}x")).digest, "d1");
}

#[test]
fn there_is_a_most_and_an_earlier_decision_makes_room_for_its_newer_one() {
    let session = session(&question());
    let events = remember(&[], &session, Request(1), &answer(0, PermissionKind::AllowOnce)).unwrap();
    let one = rows(Vec::new(), events).remove(0);
    let full = |first: RememberedRow| {
        let others =
            (1..1_000).map(|number| RememberedRow { id: id(number), digest: number.to_string(), ..one.clone() });
        [first].into_iter().chain(others).collect::<Vec<_>>()
    };
    let again = answer(5_000, PermissionKind::RejectOnce);
    assert_eq!(
        rows(full(one.clone()), remember(&full(one.clone()), &session, Request(1), &again).unwrap()).len(),
        1_000
    );
    let other = RememberedRow { digest: "other".to_owned(), ..one.clone() };
    assert_eq!(remember(&full(other), &session, Request(1), &again), Err(Rejection::RememberedFull));
}
