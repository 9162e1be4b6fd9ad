//! Cases of pieces of work and of the offers that lead to them.

#![expect(missing_docs, reason = "the name of a case is its statement")]

use std::collections::BTreeMap;

use model::{
    AgentReport, Clicked, Command, NewSession, Next, NextId, OfferState, Origin, Outcome, SessionId, StepOrigin, Stop,
    StreamId, Turn, WorkEvent, WorkId, WorkKey, WorkRow, rename_work,
};

use crate::conformance::{
    AnyStore, act, at, batch, click, conflict_head, create, interaction_id, next_step, note, offers, prompt,
    session_id, work_id,
};
use crate::{Head, Part, WholeWork};

const MANY: usize = 10_000;

fn id(turn: u32, nth: u32) -> NextId {
    NextId { turn: Turn(turn), nth }
}

/// A session whose turn runs, so that its agent can offer something.
async fn begin(store: &AnyStore, n: u8, project: &str) {
    let (agent, place) = ("guide".to_owned(), project.to_owned());
    let new = NewSession { agent, cwd: place.clone(), project: place, ..NewSession::default() };
    act(store, n, Command::Create(new), 0).await;
    act(store, n, Command::Agent(AgentReport::Ready { attached: None }), 0).await;
    act(store, n, prompt(u64::from(n) * 100, "go"), 0).await;
}

async fn next_turn(store: &AnyStore, n: u8, turn: u64) {
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    act(store, n, Command::Agent(AgentReport::Stopped(stop)), 1).await;
    act(store, n, prompt(u64::from(n) * 100 + turn, "go on"), 1).await;
}

async fn offer(store: &AnyStore, n: u8, turn: u32, nth: u32, work: Option<&str>) {
    note(store, n, offers(turn, nth, next_step("a step", work)), i64::from(turn) * 10).await;
}

async fn take(store: &AnyStore, n: u8, block: NextId, new: u8, when: i64) {
    let written = click(&**store, n, block, new, when).await.expect("it can be clicked");
    store.append(written).await.expect("the click is appended");
}

/// The session `new` begins in the work of that name.
async fn begin_in(store: &AnyStore, n: u8, nth: u32, work: &str, new: u8, when: i64) {
    offer(store, n, 1, nth, Some(work)).await;
    take(store, n, id(1, nth), new, when).await;
}

async fn tell_works(store: &AnyStore, events: Vec<WorkEvent>, when: i64) {
    let Head::At(head) = store.head(StreamId::Work).await.expect("head") else { panic!("it is never purged") };
    store.append(batch([Part::of_works(head, events, at(when))])).await.expect("appended");
}

async fn rename(store: &AnyStore, work: WorkId, name: &str) {
    let row = store.work(work).await.expect("work").expect("it is there");
    let other = store.find_work(&row.project, name).await.expect("find");
    tell_works(store, rename_work(&row, name, other.as_ref()).expect("the name is free"), 90).await;
}

async fn found(store: &AnyStore, project: &str, name: &str) -> Option<WorkId> {
    store.find_work(project, name).await.expect("find").map(|row| row.id)
}

async fn listed(store: &AnyStore) -> Vec<WorkId> {
    store.works(None, MANY).await.expect("works").into_iter().map(|row| row.id).collect()
}

async fn members(store: &AnyStore, work: WorkId) -> Vec<SessionId> {
    let rows = store.work_sessions(work).await.expect("sessions");
    let ids = store.work_session_ids(work).await.expect("ids");
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), ids);
    for limit in [0, 1, 2, MANY] {
        let newest = store.newest_of_work(work, None, limit).await.expect("the newest");
        assert_eq!(newest, rows.iter().rev().take(limit).cloned().collect::<Vec<_>>(), "the newest {limit}");
        for (place, id) in ids.iter().enumerate() {
            let before = store.newest_of_work(work, Some(*id), limit).await.expect("the newest before one");
            assert_eq!(
                before,
                rows[..place].iter().rev().take(limit).cloned().collect::<Vec<_>>(),
                "{limit} before {id}"
            );
        }
    }
    ids
}

pub async fn offers_come_newest_first_and_in_pages(store: AnyStore) {
    begin(&store, 1, "/w").await;
    begin(&store, 2, "/w").await;
    offer(&store, 1, 1, 1, Some("a")).await;
    offer(&store, 1, 1, 2, None).await;
    offer(&store, 1, 1, 10, Some("\u{1f9f5} \"b\"")).await;
    next_turn(&store, 1, 2).await;
    offer(&store, 1, 2, 1, Some("c")).await;
    offer(&store, 2, 1, 1, Some("a")).await;
    let expected = [id(2, 1), id(1, 10), id(1, 2), id(1, 1)];
    for limit in [1, 2, 3, MANY] {
        let mut seen = Vec::new();
        loop {
            let page = store.next_blocks(session_id(1), seen.last().copied(), limit).await.expect("offers");
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            seen.extend(page.into_iter().map(|offer| offer.row.id));
        }
        assert_eq!(seen, expected, "by {limit}");
    }
    assert_eq!(store.next_blocks(session_id(1), None, 0).await.expect("offers"), []);
    assert_eq!(store.next_blocks(session_id(3), None, MANY).await.expect("offers"), []);
    // A place need not be that of an offer.
    let before = store.next_blocks(session_id(1), Some(id(1, 5)), MANY).await.expect("offers");
    assert_eq!(before.iter().map(|offer| offer.row.id).collect::<Vec<_>>(), expected[2..]);
    let one = store.next_block(session_id(1), id(1, 10)).await.expect("offer").expect("it is there").row;
    let next = Next { meta_context: Some("\u{1f9f5} \"b\"".to_owned()), ..next_step("a step", None) };
    assert_eq!((one.session, one.next, one.offered_at, one.clicked), (session_id(1), next, at(10), None));
    assert_eq!(store.next_block(session_id(1), id(1, 3)).await.expect("offer"), None);
}

pub async fn an_offer_is_superseded_by_a_later_turn_of_the_same_work(store: AnyStore) {
    begin(&store, 1, "/w").await;
    begin(&store, 2, "/w").await;
    for (nth, work) in [(1, Some("a")), (2, Some("a")), (3, Some("b")), (4, None)] {
        offer(&store, 1, 1, nth, work).await;
    }
    // Another session's is another thread.
    next_turn(&store, 2, 2).await;
    offer(&store, 2, 2, 1, Some("a")).await;
    let superseded = async || {
        let offers = store.next_blocks(session_id(1), None, MANY).await.expect("offers");
        for offer in &offers {
            let alone = store.next_block(session_id(1), offer.row.id).await.expect("offer");
            assert_eq!(alone.as_ref(), Some(offer), "one by one they are the same");
        }
        offers.iter().map(|offer| (offer.row.id, offer.superseded_by, offer.state())).collect::<Vec<_>>()
    };
    let (open, incomplete) = (OfferState::Open, OfferState::Incomplete);
    let first = [(4, incomplete), (3, open), (2, open), (1, open)];
    assert_eq!(superseded().await, first.map(|(nth, state)| (id(1, nth), None, state)));
    next_turn(&store, 1, 2).await;
    offer(&store, 1, 2, 1, Some("a")).await;
    offer(&store, 1, 2, 2, None).await;
    next_turn(&store, 1, 3).await;
    offer(&store, 1, 3, 1, Some("a")).await;
    let by = |turn| Some(Turn(turn));
    let expected = [
        (id(3, 1), None, open),
        (id(2, 2), None, incomplete),
        (id(2, 1), by(3), OfferState::Superseded),
        (id(1, 4), None, incomplete),
        (id(1, 3), None, open),
        (id(1, 2), by(2), OfferState::Superseded),
        (id(1, 1), by(2), OfferState::Superseded),
    ];
    assert_eq!(superseded().await, expected);
}

pub async fn an_offer_is_superseded_by_any_name_of_its_work(store: AnyStore) {
    begin(&store, 1, "/w").await;
    begin(&store, 2, "/other").await;
    begin_in(&store, 2, 1, "loom", 7, 10).await;
    begin_in(&store, 2, 2, "warp", 8, 10).await;
    // Each of these begins a work.
    begin_in(&store, 1, 1, "loom", 5, 10).await;
    begin_in(&store, 1, 2, "weft", 6, 10).await;
    let names = ["loom", "warp", "warp", "loom", "weft"];
    for (turn, name) in (2..).zip(names) {
        next_turn(&store, 1, u64::from(turn)).await;
        offer(&store, 1, turn, 1, Some(name)).await;
    }
    let by = async || {
        let offers = store.next_blocks(session_id(1), None, MANY).await.expect("offers");
        let later = offers.iter().filter(|offer| offer.row.id.turn > Turn(1));
        let mut by: Vec<_> = later.map(|offer| offer.superseded_by.map(|turn| turn.0)).collect();
        by.reverse();
        by
    };
    assert_eq!(by().await, [Some(5), Some(4), None, None, None], "no work is called warp yet");
    rename(&store, work_id(5), "warp").await;
    assert_eq!(by().await, [Some(3), Some(4), Some(5), None, None], "both names lead to one work");
    rename(&store, work_id(6), "loom").await;
    assert_eq!(by().await, [Some(5), Some(4), None, Some(6), None], "the old name is another's");
    tell_works(&store, vec![WorkEvent::WorkDeleted { work: work_id(6) }], 99).await;
    assert_eq!(by().await, [Some(5), Some(4), None, None, None], "what is gone joins no names");
}

pub async fn a_click_is_kept(store: AnyStore) {
    begin(&store, 1, "/w").await;
    offer(&store, 1, 1, 1, Some("loom")).await;
    offer(&store, 1, 1, 2, Some("loom")).await;
    assert_eq!(store.clicked(session_id(1), MANY).await.expect("clicked"), []);
    take(&store, 1, id(1, 1), 5, 30).await;
    take(&store, 1, id(1, 2), 6, 40).await;
    next_turn(&store, 1, 2).await;
    offer(&store, 1, 2, 1, Some("loom")).await;
    let used = store.next_block(session_id(1), id(1, 1)).await.expect("offer").expect("it is there");
    let led_to = Clicked { work: work_id(5), session: session_id(5), at: at(30) };
    assert_eq!((used.row.clicked, used.state()), (Some(led_to), OfferState::Used));
    let clicked = store.clicked(session_id(1), MANY).await.expect("clicked");
    assert_eq!(clicked.iter().map(|row| row.id).collect::<Vec<_>>(), [id(1, 2), id(1, 1)]);
    assert_eq!(clicked[1], used.row);
    assert_eq!(store.clicked(session_id(1), 1).await.expect("clicked"), clicked[..1]);
    assert_eq!(store.clicked(session_id(5), MANY).await.expect("clicked"), []);

    let begun = store.session(session_id(5)).await.expect("session").expect("it began").row;
    let from = Some(Origin::Step(StepOrigin { session: session_id(1), block: id(1, 1) }));
    let options = BTreeMap::from([("mode".to_owned(), "plan".to_owned())]);
    assert_eq!((begun.work, begun.from, begun.options), (Some(work_id(5)), from, options));
    assert_eq!(members(&store, work_id(5)).await, [5, 6].map(session_id));
}

/// Two devices at once: the second finds that the streams have moved on, and nothing of it is written.
pub async fn a_click_that_meets_another_writes_nothing(store: AnyStore) {
    begin(&store, 1, "/w").await;
    offer(&store, 1, 1, 1, Some("loom")).await;
    let first = click(&*store, 1, id(1, 1), 5, 30).await.expect("it can be clicked");
    let second = click(&*store, 1, id(1, 1), 6, 30).await.expect("it can be clicked");
    store.append(first).await.expect("the first one holds");
    assert!(conflict_head(&store.append(second).await).is_some());
    assert_eq!(store.session(session_id(6)).await.expect("session"), None);
    assert_eq!((listed(&store).await, members(&store, work_id(5)).await), (vec![work_id(5)], vec![session_id(5)]));
}

pub async fn works_come_by_their_newest_session_and_in_pages(store: AnyStore) {
    begin(&store, 1, "/w").await;
    for (n, name, when) in [(5, "a", 10), (6, "b", 20), (7, "c", 20), (8, "d", 30), (9, "e", 40)] {
        begin_in(&store, 1, u32::from(n), name, n, when).await;
    }
    begin_in(&store, 1, 10, "a", 10, 50).await;
    // One without a session that is there; one that has another besides.
    act(&store, 8, Command::Delete, 60).await;
    act(&store, 10, Command::Delete, 60).await;
    let expected = [5, 9, 7, 6].map(work_id);
    for limit in [1, 2, 3, MANY] {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store.works(after, limit).await.expect("works");
            assert!(page.len() <= limit);
            let Some(last) = page.last() else { break };
            after = Some(WorkKey::of(last));
            seen.extend(page.into_iter().map(|row| row.id));
        }
        assert_eq!(seen, expected, "by {limit}");
    }
    assert_eq!(store.works(None, 0).await.expect("works"), []);
    let between = WorkKey { added_at: at(25), id: work_id(0) };
    let page = store.works(Some(between), MANY).await.expect("works");
    assert_eq!(page.iter().map(|row| row.id).collect::<Vec<_>>(), expected[2..]);
    let first = store.work(work_id(5)).await.expect("work").expect("it is there");
    assert_eq!((first.name.as_str(), first.project.as_str()), ("a", "/w"));
    assert_eq!((first.created_at, first.added_at), (at(10), at(50)));
    act(&store, 8, Command::Restore, 70).await;
    assert_eq!(listed(&store).await, [5, 9, 8, 7, 6].map(work_id), "it stands where it stood");
}

pub async fn a_name_leads_to_one_work_in_its_project(store: AnyStore) {
    begin(&store, 1, "/w").await;
    begin(&store, 2, "/other").await;
    begin_in(&store, 1, 1, "loom", 5, 10).await;
    begin_in(&store, 1, 2, "loom", 6, 20).await;
    begin_in(&store, 2, 1, "loom", 7, 30).await;
    assert_eq!(found(&store, "/w", "loom").await, Some(work_id(5)));
    assert_eq!(found(&store, "/other", "loom").await, Some(work_id(7)));
    for (project, name) in [("/w", "Loom"), ("/w", "loo"), ("/w", "loom "), ("/", "loom"), ("", "")] {
        assert_eq!(found(&store, project, name).await, None, "{project:?} {name:?}");
    }
    assert_eq!(members(&store, work_id(5)).await, [5, 6].map(session_id));
    assert_eq!(members(&store, work_id(7)).await, [session_id(7)]);
    assert_eq!(store.work(work_id(6)).await.expect("work"), None);
}

pub async fn a_work_is_found_by_the_names_it_had(store: AnyStore) {
    begin(&store, 1, "/w").await;
    begin_in(&store, 1, 1, "loom", 5, 10).await;
    begin_in(&store, 1, 2, "weft", 6, 20).await;
    rename(&store, work_id(5), "warp").await;
    let row = store.work(work_id(5)).await.expect("work").expect("it is there");
    assert_eq!((row.name.as_str(), row.created_at, row.added_at), ("warp", at(10), at(10)));
    for name in ["loom", "warp"] {
        assert_eq!(store.find_work("/w", name).await.expect("find").as_ref(), Some(&row), "{name}");
    }
    // What an agent offers under the old name goes on with it.
    begin_in(&store, 1, 3, "loom", 7, 30).await;
    assert_eq!(members(&store, work_id(5)).await, [5, 7].map(session_id));
    // A name that it only had can become another's.
    rename(&store, work_id(6), "loom").await;
    assert_eq!(found(&store, "/w", "loom").await, Some(work_id(6)));
    assert_eq!(found(&store, "/w", "warp").await, Some(work_id(5)));
    assert_eq!(found(&store, "/w", "weft").await, Some(work_id(6)));
    let whole = store.whole_works().await.expect("works");
    let names: Vec<Vec<&str>> = whole.iter().map(|work| work.names.iter().map(String::as_str).collect()).collect();
    assert_eq!(names, [vec!["warp"], vec!["loom", "weft"]]);
}

pub async fn a_name_leads_to_works_of_many_projects(store: AnyStore) {
    for (n, project) in [(1, "/w"), (2, "/other"), (3, "/a"), (4, "/z")] {
        begin(&store, n, project).await;
    }
    begin_in(&store, 1, 1, "loom", 5, 10).await;
    begin_in(&store, 2, 1, "loom", 6, 30).await;
    begin_in(&store, 3, 1, "loom", 7, 20).await;
    begin_in(&store, 3, 2, "weft", 8, 20).await;
    begin_in(&store, 4, 1, "warp", 9, 40).await;
    let led_to = async |name: &str| {
        let all = store.works_named(name, None, MANY).await.expect("works");
        for limit in [1, 2] {
            let mut seen: Vec<WorkRow> = Vec::new();
            loop {
                let page = store.works_named(name, seen.last().map(WorkKey::of), limit).await.expect("works");
                assert!(page.len() <= limit);
                if page.is_empty() {
                    break;
                }
                seen.extend(page);
            }
            assert_eq!(seen, all, "by {limit}");
        }
        all.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(led_to("loom").await, [6, 7, 5].map(work_id), "the one that was added to last first");
    rename(&store, work_id(5), "weave").await;
    rename(&store, work_id(6), "weave").await;
    assert_eq!(led_to("loom").await, [6, 7, 5].map(work_id), "by the names they had too");
    assert_eq!(led_to("weave").await, [6, 5].map(work_id));
    // In its project the name is another's now.
    rename(&store, work_id(7), "felt").await;
    rename(&store, work_id(8), "loom").await;
    assert_eq!(led_to("loom").await, [6, 8, 5].map(work_id));
    // One that has no session any more keeps its names; one that is deleted has none.
    act(&store, 6, Command::Delete, 60).await;
    tell_works(&store, vec![WorkEvent::WorkDeleted { work: work_id(5) }], 70).await;
    assert_eq!(led_to("loom").await, [6, 8].map(work_id));
    assert!(!listed(&store).await.contains(&work_id(6)), "it is in no list");
    for name in ["Loom", "loo", "loom ", ""] {
        assert!(led_to(name).await.is_empty(), "{name:?}");
    }
    assert_eq!(store.works_named("loom", None, 0).await.expect("works"), []);
}

pub async fn no_name_leads_to_a_deleted_work(store: AnyStore) {
    begin(&store, 1, "/w").await;
    begin_in(&store, 1, 1, "loom", 5, 10).await;
    rename(&store, work_id(5), "warp").await;
    begin_in(&store, 1, 2, "weft", 6, 20).await;
    tell_works(&store, vec![WorkEvent::WorkDeleted { work: work_id(5) }], 30).await;
    for name in ["loom", "warp"] {
        assert_eq!(found(&store, "/w", name).await, None, "{name}");
    }
    assert_eq!((store.work(work_id(5)).await.expect("work"), listed(&store).await), (None, vec![work_id(6)]));
    let session = store.session(session_id(5)).await.expect("session").expect("it stays").row;
    assert_eq!((session.work, session.deleted_at), (Some(work_id(5)), None));
    // The name is free for one that begins anew.
    begin_in(&store, 1, 3, "loom", 7, 40).await;
    assert_eq!(found(&store, "/w", "loom").await, Some(work_id(7)));
    assert_eq!(members(&store, work_id(7)).await, [session_id(7)]);
}

pub async fn sessions_of_a_work_are_in_order_without_deleted_ones(store: AnyStore) {
    begin(&store, 1, "/w").await;
    for (nth, new) in [(1, 6), (2, 5), (3, 8), (4, 7)] {
        begin_in(&store, 1, nth, "loom", new, 10).await;
    }
    act(&store, 2, create("apart"), 10).await;
    assert_eq!(members(&store, work_id(6)).await, [5, 6, 7, 8].map(session_id));
    act(&store, 6, Command::Delete, 20).await;
    assert_eq!(members(&store, work_id(6)).await, [5, 7, 8].map(session_id));
    for n in [5, 7, 8] {
        act(&store, n, Command::Delete, 20).await;
    }
    assert_eq!((members(&store, work_id(6)).await, listed(&store).await), (vec![], vec![]));
    let row = store.work(work_id(6)).await.expect("work").expect("it is still there");
    let names = vec!["loom".to_owned()];
    let whole = WholeWork { row, names, sessions: Vec::new() };
    assert_eq!(store.whole_works().await.expect("works"), [whole]);
    act(&store, 8, Command::Restore, 30).await;
    assert_eq!((members(&store, work_id(6)).await, listed(&store).await), (vec![session_id(8)], vec![work_id(6)]));
    let row = store.work(work_id(6)).await.expect("work").expect("it is still there");
    let unknown = work_id(99);
    assert_eq!(store.works_by_id(vec![unknown, work_id(6)]).await.expect("works"), [row]);
    assert_eq!(store.whole_works().await.expect("works")[0].sessions, [session_id(8)]);
}

pub async fn sessions_are_unbegun_until_their_prompt_is_sent(store: AnyStore) {
    begin(&store, 1, "/w").await;
    // Nobody clicked for this one.
    act(&store, 2, create("by hand"), 10).await;
    act(&store, 2, prompt(7, "waits"), 10).await;
    for (nth, new) in [(1, 5), (2, 6), (3, 7), (4, 8), (5, 9)] {
        begin_in(&store, 1, nth, "loom", new, 10).await;
    }
    let unbegun = async || store.unbegun().await.expect("unbegun");
    assert_eq!(unbegun().await, [5, 6, 7, 8, 9].map(session_id));
    act(&store, 5, Command::Start, 20).await;
    assert_eq!(unbegun().await, [5, 6, 7, 8, 9].map(session_id), "one that starts may not get there");
    act(&store, 5, Command::Agent(AgentReport::Ready { attached: None }), 30).await;
    assert_eq!(unbegun().await, [6, 7, 8, 9].map(session_id));
    act(&store, 6, Command::Start, 20).await;
    act(&store, 6, Command::Agent(AgentReport::Failed { reason: "broke".to_owned() }), 30).await;
    assert_eq!(unbegun().await, [7, 8, 9].map(session_id), "one that failed is tried again by the person");
    act(&store, 7, Command::Delete, 40).await;
    // Another prompt may wait in its place.
    act(&store, 8, prompt(77, "waits"), 40).await;
    act(&store, 8, Command::RemovePrompt { interaction_id: interaction_id(8 << 32) }, 40).await;
    assert_eq!(unbegun().await, [session_id(9)]);
    act(&store, 9, Command::Cancel, 40).await;
    assert_eq!(unbegun().await, []);
}

pub async fn a_purged_session_leaves_no_offers_and_its_work(store: AnyStore) {
    begin(&store, 1, "/w").await;
    begin(&store, 2, "/w").await;
    begin_in(&store, 1, 1, "loom", 5, 10).await;
    offer(&store, 2, 1, 1, Some("loom")).await;
    let purge = async |n| {
        let head = store.session(session_id(n)).await.expect("session").expect("it is there").head;
        store.purge(session_id(n), head, at(100)).await.expect("purge");
    };
    purge(1).await;
    assert_eq!(store.next_blocks(session_id(1), None, MANY).await.expect("offers"), []);
    assert_eq!(store.next_block(session_id(1), id(1, 1)).await.expect("offer"), None);
    assert_eq!(store.clicked(session_id(1), MANY).await.expect("clicked"), []);
    assert_eq!(store.next_blocks(session_id(2), None, MANY).await.expect("offers").len(), 1, "others keep theirs");
    assert_eq!(members(&store, work_id(5)).await, [session_id(5)], "what came of it stays");
    purge(5).await;
    assert_eq!((members(&store, work_id(5)).await, listed(&store).await), (vec![], vec![]));
    assert_eq!(store.whole_works().await.expect("works"), []);
    assert_eq!(found(&store, "/w", "loom").await, Some(work_id(5)), "what it is called is not forgotten");
}
