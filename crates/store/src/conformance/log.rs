//! Cases of the log: what was appended, and nothing else, is read back.

#![expect(missing_docs, reason = "the name of a case is its statement")]

use model::{Command, Entry, Event, Position, Seq, SessionEvent, StreamId};
use tokio::task::JoinSet;

use crate::conformance::{
    AnyStore, act, at, batch, conflict_head, create, interaction_id, part_of_command, prompt, session_id, stream,
    text_entry, text_part,
};
use crate::{AppendError, Batch, Head, MAX_PAGE_BYTES, Part, Receipt};

const MANY: usize = 10_000;

/// A receipt that tells which request it belongs to.
fn receipt(principal: &str, key: &str, reply: &str, when: i64) -> Receipt {
    Receipt {
        principal: principal.to_owned(),
        key: key.to_owned(),
        fingerprint: vec![0, 1, 255],
        reply: reply.as_bytes().to_vec(),
        at: at(when),
        holds_words: false,
    }
}

async fn texts(store: &AnyStore, stream: StreamId, after: u64, limit: usize) -> Vec<String> {
    let entries = store.read(stream, Seq(after), limit).await.expect("entries are read");
    let text = |event| match event {
        Event::Session(SessionEvent::TextPart { text, .. }) => text,
        other => panic!("{other:?} is no text"),
    };
    entries.into_iter().map(|entry| text(entry.event)).collect()
}

pub async fn entries_read_back_as_they_were_written(store: AnyStore) {
    let part = text_part(stream(1), 0, &["one", "two", "three"]);
    let written = part.entries.clone();
    assert_eq!(store.head(stream(1)).await.expect("head"), Head::At(Seq::START));
    let position = store.append(batch([part])).await.expect("appended");
    assert_eq!(store.read(stream(1), Seq::START, MANY).await.expect("read"), written);
    assert_eq!(store.read(stream(1), Seq(2), MANY).await.expect("read"), written[2..]);
    assert_eq!(store.read(stream(1), Seq(3), MANY).await.expect("read"), []);
    assert_eq!(store.read(stream(1), Seq(u64::MAX), MANY).await.expect("read"), []);
    assert_eq!(store.read(stream(2), Seq::START, MANY).await.expect("read"), []);
    assert_eq!(store.head(stream(1)).await.expect("head"), Head::At(Seq(3)));
    let later = store.append(batch([text_part(stream(2), 0, &["four"])])).await.expect("appended");
    assert!(later > position, "{later:?} does not follow {position:?}");
}

pub async fn a_follower_sleeps_until_the_log_goes_on(store: AnyStore) {
    assert_eq!(store.last_position(), Position(0));
    let mut sleeping = JoinSet::new();
    for after in [Position(0), Position(1)] {
        let store = AnyStore::clone(&store);
        sleeping.spawn(async move { (after, store.wait_after(after).await) });
    }
    tokio::task::yield_now().await;
    assert!(sleeping.try_join_next().is_none(), "nothing is there to wake for");
    let first = store.append(batch([text_part(stream(1), 0, &["one"])])).await.expect("appended");
    assert_eq!((store.last_position(), first), (first, Position(1)));
    assert_eq!(sleeping.join_next().await.expect("one wakes").expect("it ends"), (Position(0), first));
    // Neither a receipt nor a purge is an entry.
    let receipt = Some(receipt("p", "k", "yes", 1));
    store.append(Batch { receipt, ..Batch::default() }).await.expect("kept");
    store.purge(session_id(1), Seq(1), at(2)).await.expect("purged");
    assert_eq!(store.last_position(), first);
    tokio::task::yield_now().await;
    assert!(sleeping.try_join_next().is_none(), "nothing came after it");
    let both = batch([text_part(stream(2), 0, &["two", "three"])]);
    let last = store.append(both).await.expect("appended");
    assert_eq!(sleeping.join_next().await.expect("the other wakes").expect("it ends"), (Position(1), last));
    // One that lags does not wait at all.
    assert_eq!(store.wait_after(Position(0)).await, last);
}

pub async fn a_gap_in_a_part_is_refused(store: AnyStore) {
    store.append(batch([text_part(stream(1), 0, &["one"])])).await.expect("appended");
    for seqs in [&[3][..], &[1], &[2, 4], &[2, 2], &[2, 1]] {
        let entries = seqs.iter().map(|seq| text_entry(*seq, "x")).collect();
        let part = Part { entries, ..Part::empty(stream(1), Seq(1)) };
        assert_eq!(conflict_head(&store.append(batch([part])).await), Some(Seq(1)), "{seqs:?}");
    }
    assert_eq!(texts(&store, stream(1), 0, MANY).await, ["one"]);
}

pub async fn another_head_is_a_conflict(store: AnyStore) {
    store.append(batch([text_part(stream(1), 0, &["one", "two"])])).await.expect("appended");
    for after in [0, 1, 3, 100] {
        let result = store.append(batch([text_part(stream(1), after, &["x"])])).await;
        let Err(AppendError::Conflict { stream: told, expected, head }) = result else { panic!("{result:?}") };
        assert_eq!((told, expected, head), (stream(1), Seq(after), Seq(2)));
    }
    // A part without entries still says what its writer relied on.
    assert_eq!(conflict_head(&store.append(batch([text_part(stream(1), 1, &[])])).await), Some(Seq(2)));
    assert_eq!(texts(&store, stream(1), 0, MANY).await, ["one", "two"]);
}

pub async fn a_batch_is_written_whole_or_not_at_all(store: AnyStore) {
    store.append(batch([text_part(stream(2), 0, &["one"])])).await.expect("appended");
    let created = part_of_command(session_id(1), None, create("a"), at(1)).expect("accepted");
    let mut both = batch([created, text_part(stream(2), 0, &["x"])]);
    both.receipt = Some(receipt("person", "k", "reply", 1));
    assert_eq!(conflict_head(&store.append(both.clone()).await), Some(Seq(1)));
    assert_eq!(store.head(stream(1)).await.expect("head"), Head::At(Seq::START));
    assert_eq!(store.session(session_id(1)).await.expect("session"), None);
    assert_eq!(store.find_receipt("person", "k").await.expect("receipt"), None);
    assert_eq!(store.read_all(Position(0), MANY).await.expect("read").len(), 1);

    both.parts[1] = text_part(stream(2), 1, &["two"]);
    let position = store.append(both).await.expect("appended");
    assert_eq!(store.head(stream(1)).await.expect("head"), Head::At(Seq(2)));
    assert_eq!(texts(&store, stream(2), 0, MANY).await, ["one", "two"]);
    assert_eq!(store.read_all(Position(0), MANY).await.expect("read").last().expect("an entry").position, position);
}

pub async fn two_parts_of_one_stream_follow_each_other(store: AnyStore) {
    let twice = |second| batch([text_part(stream(1), 0, &["one", "two"]), text_part(stream(1), second, &["three"])]);
    assert_eq!(conflict_head(&store.append(twice(0)).await), Some(Seq(2)));
    assert_eq!(store.head(stream(1)).await.expect("head"), Head::At(Seq::START));
    store.append(twice(2)).await.expect("appended");
    assert_eq!(texts(&store, stream(1), 0, MANY).await, ["one", "two", "three"]);
}

pub async fn a_repeat_gets_the_first_answer_and_writes_nothing(store: AnyStore) {
    let with = |receipt: Receipt, after| Batch {
        parts: vec![text_part(stream(1), after, &["x"])],
        receipt: Some(receipt),
        ..Batch::default()
    };
    let first = receipt("person", "k", "first", 1);
    store.append(with(first.clone(), 0)).await.expect("appended");
    assert_eq!(store.find_receipt("person", "k").await.expect("receipt"), Some(first.clone()));
    // Also when the caller read again, and when it still believes in the old head.
    for after in [0, 1] {
        match store.append(with(receipt("person", "k", "second", 2), after)).await {
            Err(AppendError::Repeated(told)) => assert_eq!(*told, first),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(store.head(stream(1)).await.expect("head"), Head::At(Seq(1)));
    assert_eq!(store.find_receipt("agent", "k").await.expect("receipt"), None);
    store.append(with(receipt("agent", "k", "third", 3), 1)).await.expect("another principal has its own keys");
    // A request that changed nothing is remembered too.
    let position = store.read_all(Position(0), MANY).await.expect("read").last().expect("an entry").position;
    let alone =
        Batch { parts: Vec::new(), receipt: Some(receipt("person", "\0 and \u{1f9f5}", "", 4)), ..Batch::default() };
    assert_eq!(store.append(alone.clone()).await.expect("appended"), position);
    assert!(matches!(store.append(alone).await, Err(AppendError::Repeated(_))));
    assert_eq!(store.append(Batch::default()).await.expect("appended"), position);
}

pub async fn forgotten_receipts_make_room(store: AnyStore) {
    for (key, when) in [("a", 1), ("b", 2), ("c", 3)] {
        let alone = Batch { parts: Vec::new(), receipt: Some(receipt("person", key, key, when)), ..Batch::default() };
        store.append(alone).await.expect("appended");
    }
    store.forget_receipts(at(2)).await.expect("forgotten");
    assert_eq!(store.find_receipt("person", "a").await.expect("receipt"), None);
    for key in ["b", "c"] {
        assert!(store.find_receipt("person", key).await.expect("receipt").is_some(), "{key}");
    }
    let again = Batch { parts: Vec::new(), receipt: Some(receipt("person", "a", "again", 4)), ..Batch::default() };
    store.append(again).await.expect("a forgotten key is free");
}

/// What was marked in a purged session is not kept in the answer to whoever marked it; an answer without words is.
pub async fn receipts_that_hold_words_go_with_their_session(store: AnyStore) {
    let keyed = |n: u8, key: &str, holds_words| Batch {
        parts: vec![text_part(stream(n), 0, &["words"])],
        receipt: Some(Receipt { holds_words, ..receipt("person", &format!("{key} {n}"), key, 1) }),
        ..Batch::default()
    };
    let again = |n: u8, key: &str| Batch { parts: vec![text_part(stream(n), 1, &["more"])], ..keyed(n, key, false) };
    for n in [1, 2] {
        store.append(keyed(n, "marked", true)).await.expect("appended");
        store.append(again(n, "plain")).await.expect("appended");
    }
    store.purge(session_id(1), Seq(2), at(2)).await.expect("purged");
    let mut kept = Vec::new();
    for key in ["marked 1", "plain 1", "marked 2", "plain 2"] {
        kept.extend(store.find_receipt("person", key).await.expect("receipt").map(|receipt| receipt.key));
    }
    assert_eq!(kept, ["plain 1", "marked 2", "plain 2"]);
}

pub async fn a_purged_session_is_gone_for_good(store: AnyStore) {
    for n in [1, 2] {
        act(&store, n, create("a"), 1).await;
        act(&store, n, prompt(u64::from(n), "waits"), 2).await;
        act(&store, n, Command::Agent(model::AgentReport::Ready { attached: None }), 3).await;
        act(&store, n, prompt(u64::from(n) + 10, "waits longer"), 4).await;
    }
    let other = store.session(session_id(1)).await.expect("session");
    let last = act(
        &store,
        2,
        Command::Change {
            name: Some("b".to_owned()),
            env_hint: None,
            context: None,
            filing: model::FilingWish::default(),
        },
        5,
    )
    .await;
    let Head::At(head) = store.head(stream(2)).await.expect("head") else { panic!("it is not purged yet") };
    let stale = store.purge(session_id(2), Seq(head.0 - 1), at(9)).await;
    assert!(matches!(stale, Err(AppendError::Conflict { head: told, .. }) if told == head), "{stale:?}");
    assert!(store.session(session_id(2)).await.expect("session").is_some());
    for _ in 0..2 {
        store.purge(session_id(2), head, at(9)).await.expect("purged, also when it is purged already");
        assert_eq!(store.head(stream(2)).await.expect("head"), Head::Purged);
    }
    assert_eq!(store.read(stream(2), Seq::START, MANY).await.expect("read"), []);
    assert_eq!(store.session(session_id(2)).await.expect("session"), None);
    assert_eq!(store.turns(session_id(2), model::Turn(0), MANY).await.expect("turns"), []);
    assert_eq!(store.sessions(model::Shelf::All, None, MANY).await.expect("sessions").len(), 1);
    assert_eq!(store.unsettled().await.expect("unsettled"), [session_id(1)]);
    let left = store.read_all(Position(0), MANY).await.expect("read");
    assert!(left.iter().all(|placed| placed.stream == stream(1)), "{left:?}");
    assert_eq!(store.session(session_id(1)).await.expect("session"), other);

    for after in [0, 8] {
        let result = store.append(batch([text_part(stream(1), 7, &["x"]), text_part(stream(2), after, &["x"])])).await;
        assert!(matches!(result, Err(AppendError::Purged(told)) if told == stream(2)), "{result:?}");
    }
    // A follower of all streams has seen the purged places; none of them is given again.
    let next = act(
        &store,
        1,
        Command::Change {
            name: Some("c".to_owned()),
            env_hint: None,
            context: None,
            filing: model::FilingWish::default(),
        },
        10,
    )
    .await;
    assert!(next > last, "{next:?} does not follow {last:?}");
    store.purge(session_id(3), Seq::START, at(9)).await.expect("a session that never was can be purged");
    assert!(matches!(store.append(batch([text_part(stream(3), 0, &["x"])])).await, Err(AppendError::Purged(_))));
}

pub async fn pages_are_bounded_by_count_and_by_size(store: AnyStore) {
    let third = "x".repeat(MAX_PAGE_BYTES / 3);
    let whole = "y".repeat(MAX_PAGE_BYTES + 1);
    let parts = text_part(stream(1), 0, &[&third, &third, &third, &whole, "z"]);
    store.append(batch([parts])).await.expect("appended");
    for (after, limit, expected) in [(0, MANY, 2), (2, MANY, 1), (3, MANY, 1), (4, MANY, 1), (0, 1, 1), (0, 0, 0)] {
        let page = store.read(stream(1), Seq(after), limit).await.expect("read");
        assert_eq!(page.len(), expected, "after {after}, at most {limit}");
        // It is the only stream, so its positions are its seqs.
        let page = store.read_all(Position(after), limit).await.expect("read");
        assert_eq!(page.len(), expected, "of all streams after {after}, at most {limit}");
    }
}

pub async fn every_text_survives(store: AnyStore) {
    let long = "\u{1f9f5}\u{0}ä\"\\\n".repeat(20_000);
    let odd = ["", "\0", "a\0b", "\u{1f9f5}\u{10ffff}", "\u{feff}", "e\u{301} é", "\u{2028}\r\n\t\u{1b}[0m", &long];
    store.append(batch([text_part(stream(1), 0, &odd)])).await.expect("appended");
    assert_eq!(texts(&store, stream(1), 0, MANY).await, odd);

    // Rows hold them as well.
    let text = "a\0b \u{1f9f5}\n'; DROP TABLE entries; --";
    act(&store, 2, create("\u{1f9f5} name"), 1).await;
    act(&store, 2, prompt(1, text), 2).await;
    let session = store.session(session_id(2)).await.expect("session").expect("it exists");
    assert_eq!(session.find_queued(interaction_id(1)).expect("it waits").text, text);
    assert_eq!((session.row.name.as_str(), session.row.first_prompt.as_str()), ("\u{1f9f5} name", "a\0b \u{1f9f5}"));
}

/// Agents send any JSON, and it is read back digit by digit.
pub async fn every_number_survives(store: AnyStore) {
    let numbers = serde_json::json!([
        907.303_832_202_868_9,
        481.837_925_201_105_24,
        0.1 + 0.2,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        -0.0,
        1e23,
        u64::MAX,
        i64::MIN,
        1.0,
    ]);
    let entry = Entry { seq: Seq(1), at: at(1), event: SessionEvent::AgentRaw { message: numbers }.into() };
    let part = Part { entries: vec![entry.clone()], ..Part::empty(stream(1), Seq::START) };
    store.append(batch([part])).await.expect("appended");
    assert_eq!(store.read(stream(1), Seq::START, MANY).await.expect("read"), [entry]);
}

pub async fn all_streams_are_read_once_and_in_order(store: AnyStore) {
    let mut written = Vec::new();
    for after in 0..5 {
        for n in [3, 1, 2] {
            let text = format!("{n}.{after}");
            store.append(batch([text_part(stream(n), after, &[&text])])).await.expect("appended");
            written.push((stream(n), text_entry(after + 1, &text)));
        }
    }
    let mut seen = Vec::new();
    let mut after = Position(0);
    loop {
        let page = store.read_all(after, 4).await.expect("read");
        assert!(page.len() <= 4);
        let Some(last) = page.last() else { break };
        assert!(page.is_sorted_by(|a, b| a.position < b.position) && page[0].position > after, "{page:?}");
        after = last.position;
        seen.extend(page.into_iter().map(|placed| (placed.stream, placed.entry)));
    }
    assert_eq!(seen, written);
}

pub async fn changed_streams_are_told_once_and_completely(store: AnyStore) {
    let changed = async |after, limit| {
        let changes = store.changed_since(Position(after), limit).await.expect("changes");
        (changes.streams, changes.up_to.0)
    };
    assert_eq!(changed(0, MANY).await, (vec![], 0));
    for (n, after) in [(3, 0), (1, 0), (3, 1), (2, 0), (1, 1)] {
        store.append(batch([text_part(stream(n), after, &["x"])])).await.expect("appended");
    }
    assert_eq!(changed(0, MANY).await, (vec![stream(3), stream(1), stream(2)], 5));
    assert_eq!(changed(0, 1).await, (vec![stream(3)], 1));
    assert_eq!(changed(1, 2).await, (vec![stream(1), stream(3)], 3));
    assert_eq!(changed(3, 2).await, (vec![stream(2), stream(1)], 5));
    assert_eq!(changed(5, 2).await, (vec![], 5));
    // A place that was never given, as one has whose log was put back to an older state.
    assert_eq!(changed(9, MANY).await, (vec![], 5));
    // The newest positions are purged and were given all the same.
    store.purge(session_id(1), Seq(2), at(1)).await.expect("purged");
    store.purge(session_id(2), Seq(1), at(1)).await.expect("purged");
    assert_eq!(changed(0, MANY).await, (vec![stream(3)], 5));
    assert_eq!(changed(5, MANY).await, (vec![], 5));
}

pub async fn appenders_of_many_streams_do_not_disturb_each_other(store: AnyStore) {
    let mut appenders = JoinSet::new();
    for n in 0..64 {
        let store = AnyStore::clone(&store);
        appenders.spawn(async move {
            for after in 0..10 {
                store.append(batch([text_part(stream(n), after, &["x"])])).await.expect("nobody else writes here");
                assert_eq!(
                    store.head(stream(n)).await.expect("head"),
                    Head::At(Seq(after + 1)),
                    "acknowledged, so read"
                );
            }
        });
    }
    appenders.join_all().await;
    let all = store.read_all(Position(0), MANY).await.expect("read");
    assert_eq!(all.len(), 640);
    for n in 0..64 {
        let seqs = all.iter().filter(|placed| placed.stream == stream(n)).map(|placed| placed.entry.seq.0);
        assert!(seqs.eq(1..=10), "stream {n}");
    }
}

pub async fn appenders_of_one_stream_leave_no_gap(store: AnyStore) {
    let mut appenders = JoinSet::new();
    for n in 0..64 {
        let store = AnyStore::clone(&store);
        appenders.spawn(async move {
            let mut after = 0;
            for m in 0..3 {
                let text = format!("{n}.{m}");
                loop {
                    match store.append(batch([text_part(stream(1), after, &[&text])])).await {
                        Ok(_) => break,
                        Err(AppendError::Conflict { head, .. }) => after = head.0,
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        });
    }
    appenders.join_all().await;
    let entries = store.read(stream(1), Seq::START, MANY).await.expect("read");
    assert!(entries.iter().map(|entry| entry.seq.0).eq(1..=192));
    let mut seen = texts(&store, stream(1), 0, MANY).await;
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 192, "every acknowledged entry is there once");
}
