//! Cases of outputs: what agents showed, listed and found.

#![expect(missing_docs, reason = "the name of a case is its statement")]

use model::{
    AgentReport, BodyHash, BodyOf, BodyRef, Command, Memory, OutputId, OutputRemoval, OutputsSize, Seq, ToolChange,
    Turn,
};

use crate::conformance::{AnyStore, act, at, attached, create, output, prompt, session_id};

async fn shows(store: &AnyStore, n: u8, outputs: &[u8]) {
    act(store, n, create("a"), 1).await;
    act(store, n, attached("theirs", Memory::New), 2).await;
    act(store, n, prompt(u64::from(n), "show me"), 3).await;
    for (when, shown) in (4..).zip(outputs) {
        act(store, n, Command::StoreOutput(Box::new(output(*shown))), when).await;
    }
}

async fn listed(store: &AnyStore, n: u8, after: Seq, limit: usize) -> Vec<(u8, Seq)> {
    let rows = store.outputs(session_id(n), after, limit).await.expect("outputs");
    rows.iter().map(|row| (row.id.as_bytes()[0], row.stored_seq)).collect()
}

pub async fn outputs_are_listed_in_order_and_in_pages(store: AnyStore) {
    shows(&store, 1, &[9, 3, 7]).await;
    shows(&store, 2, &[5]).await;
    let all = listed(&store, 1, Seq::START, 10).await;
    assert_eq!(all.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [9, 3, 7]);
    assert_eq!(listed(&store, 1, Seq::START, 2).await, all[..2]);
    assert_eq!(listed(&store, 1, all[1].1, 2).await, all[2..]);
    assert_eq!(listed(&store, 3, Seq::START, 2).await, []);
    let size = store.outputs_size(session_id(1)).await.expect("size");
    assert_eq!(size, OutputsSize { count: 3, bytes: 19 });
    assert_eq!(store.outputs_size(session_id(3)).await.expect("size"), OutputsSize::default());
}

pub async fn an_output_is_found_by_its_session_and_id(store: AnyStore) {
    shows(&store, 1, &[9, 4]).await;
    shows(&store, 2, &[9]).await;
    let id = OutputId::from_bytes([4; 16]);
    let row = store.output(session_id(1), id).await.expect("output").expect("it is there");
    assert_eq!((row.output, row.turn, row.bytes), (output(4), Turn(1), 4));
    assert_eq!(store.output(session_id(2), id).await.expect("output"), None);
    let both = store.sessions_with_output(OutputId::from_bytes([9; 16])).await.expect("sessions");
    assert_eq!(both, [session_id(1), session_id(2)]);
    assert_eq!(store.sessions_with_output(OutputId::from_bytes([1; 16])).await.expect("sessions"), []);
}

pub async fn outputs_go_with_their_session(store: AnyStore) {
    shows(&store, 1, &[9]).await;
    let head = store.session(session_id(1)).await.expect("the session is read").expect("it is there").head;
    store.purge(session_id(1), head, at(9)).await.expect("the session is purged");
    assert_eq!(listed(&store, 1, Seq::START, 10).await, []);
    assert_eq!(store.sessions_with_output(OutputId::from_bytes([9; 16])).await.expect("sessions"), []);
}

pub async fn bodies_are_listed_by_their_hashes_and_go_with_their_session(store: AnyStore) {
    shows(&store, 1, &[]).await;
    shows(&store, 2, &[]).await;
    let hash = |n: u8| BodyHash::from_bytes([n; 32]);
    let call = |tool: u32, bodies: &[Option<u8>]| {
        let body = |n: &Option<u8>| {
            let (of, item, start, head) = (BodyOf::Output, 0, 0, 0);
            BodyRef { of, item, start, head, bytes: n.map_or(7, u64::from), sha256: n.map(hash) }
        };
        let change = ToolChange { bodies: bodies.iter().map(body).collect(), ..ToolChange::default() };
        Command::Agent(AgentReport::ToolStarted { tool, call_id: tool.to_string(), change })
    };
    // One that was not kept has no row, and one that is named twice has one.
    act(&store, 1, call(1, &[Some(9), None, Some(3)]), 4).await;
    act(&store, 1, call(2, &[Some(5), Some(9)]), 5).await;
    act(&store, 2, call(1, &[Some(3)]), 6).await;
    let listed = async |after: Option<u8>, limit| {
        let rows = store.bodies(session_id(1), after.map(hash), limit).await.expect("bodies");
        rows.iter().map(|row| (row.hash.as_bytes()[0], row.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, 10).await, [(3, 3), (5, 5), (9, 9)]);
    assert_eq!(listed(Some(3), 1).await, [(5, 5)]);
    assert_eq!(store.bodies_size(session_id(1)).await.expect("size"), 17);
    assert_eq!(store.bodies_size(session_id(2)).await.expect("size"), 3);
    let row = store.body(session_id(1), hash(9)).await.expect("body").expect("it is there");
    let head = store.session(session_id(1)).await.expect("session").expect("it is there").head;
    assert_eq!((row.named_seq, row.bytes), (head, 9));
    assert_eq!(store.body(session_id(2), hash(9)).await.expect("body"), None);
    store.purge(session_id(1), head, at(9)).await.expect("the session is purged");
    assert_eq!(listed(None, 10).await, []);
    assert_eq!(store.bodies_size(session_id(2)).await.expect("size"), 3);
}

/// The row goes and is counted no more; the same id in another session stays.
pub async fn a_removed_output_leaves_no_row(store: AnyStore) {
    shows(&store, 1, &[9, 4, 6]).await;
    shows(&store, 2, &[9]).await;
    let ids = [9, 6].map(|n| OutputId::from_bytes([n; 16]));
    let removed = Command::RemoveOutputs { ids: ids.to_vec(), reason: OutputRemoval::Removed, by: None };
    act(&store, 1, removed, 90).await;
    let size = store.outputs_size(session_id(1)).await.expect("size");
    assert_eq!(size, OutputsSize { count: 1, bytes: 4 });
    assert_eq!(store.output(session_id(1), ids[0]).await.expect("output"), None);
    let left = store.outputs(session_id(1), Seq::START, 9).await.expect("outputs");
    assert!(left.iter().map(|row| row.bytes).eq([4]));
    assert_eq!(store.sessions_with_output(ids[0]).await.expect("sessions"), [session_id(2)]);
}

pub async fn old_outputs_are_found_in_pages_over_all_sessions(store: AnyStore) {
    // Shown at the moments 4, 5 and 6 of one session, and at 4 of another.
    shows(&store, 2, &[3]).await;
    shows(&store, 1, &[9, 4, 6]).await;
    let before = async |moment: i64, after, limit| {
        let rows = store.outputs_before(at(moment), after, limit).await.expect("outputs");
        rows.into_iter().map(|row| (row.session, row.id)).collect::<Vec<_>>()
    };
    let key = |n: u8, id: u8| (session_id(n), OutputId::from_bytes([id; 16]));
    assert_eq!(before(4, None, 9).await, []);
    assert_eq!(before(6, None, 9).await, [key(1, 4), key(1, 9), key(2, 3)]);
    assert_eq!(before(99, None, 2).await, [key(1, 4), key(1, 6)]);
    assert_eq!(before(99, Some(key(1, 6)), 2).await, [key(1, 9), key(2, 3)]);
    assert_eq!(before(99, Some(key(2, 3)), 2).await, []);
}
