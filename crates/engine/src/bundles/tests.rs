//! Tests what no caller can reach: how much a bundle may have at both ends, and whose turn it is to be taken in.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use model::{AgentReport, Command, Draft, EntryLine, Incarnation, NewSession, StreamId};
use serde_json::json;
use store::{Batch, MemoryStore};

use super::*;
use crate::{Agency, Engine, OutputSettings, Seams, SystemClock, SystemIds, UsageSettings};

async fn engine() -> Engine {
    let seams = Seams {
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        home: None,
        copies: None,
        agency: Agency::only_guide(),
        summarising: None,
        search: None,
        history: None,
        usage: UsageSettings::default(),
        outputs: OutputSettings::in_memory(),
    };
    Engine::start(Arc::new(MemoryStore::new(Incarnation::from_bits(1))), seams).await.unwrap()
}

/// A session that has begun, whose agent sent something that nobody understands.
async fn session(engine: &Engine, raw: serde_json::Value) -> SessionId {
    let id = SessionId::from_bytes([7; 16]);
    let new = NewSession { agent: "guide".into(), cwd: "/w".into(), project: "/w".into(), ..NewSession::default() };
    let mut draft = Draft::new(id, None);
    draft.apply(Command::Create(new), Timestamp::from_millis(1)).unwrap();
    draft.apply(Command::Agent(AgentReport::Raw(raw)), Timestamp::from_millis(2)).unwrap();
    engine.shared.journal.append(Batch { parts: vec![draft.take()], ..Batch::default() }).await.unwrap();
    id
}

async fn written(engine: &Engine, id: SessionId, limits: BundleLimits) -> Result<File, BundleError> {
    let mut bundle = engine.bundle_within(id, limits).await?;
    let mut file = tempfile::tempfile().unwrap();
    while let Some(piece) = bundle.next().await? {
        file.write_all(&piece).unwrap();
    }
    Ok(rewound(&file))
}

/// The file from its beginning, for one reader.
fn rewound(mut file: &File) -> File {
    std::io::Seek::rewind(&mut file).unwrap();
    file.try_clone().unwrap()
}

/// The limits that a bundle just keeps to.
fn limits_of(file: &File) -> BundleLimits {
    let mut archive = tar::Archive::new(rewound(file));
    let mut limits =
        BundleLimits { entries_bytes: 0, entry_bytes: 0, entry_values_bytes: 0, values_bytes: 0, files: 0 };
    for member in archive.entries().unwrap() {
        let mut member = member.unwrap();
        limits.files += 1;
        if member.path_bytes().starts_with(b"entries/") {
            limits.entries_bytes += member.size();
            let mut lines = String::new();
            std::io::Read::read_to_string(&mut member, &mut lines).unwrap();
            let longest = lines.split_inclusive('\n').map(str::len).max().unwrap() as u64;
            limits.entry_bytes = limits.entry_bytes.max(longest);
            for line in lines.lines() {
                let values_bytes = json_values_bytes(line.as_bytes(), IN_DATA);
                limits.entry_values_bytes = limits.entry_values_bytes.max(values_bytes);
                let event = event_of(line);
                LIMITS.count_values(line.as_bytes(), &event, &mut limits.values_bytes).unwrap();
            }
        }
    }
    limits
}

/// What fits is written and taken in; what does not is refused by the writer at once, as it would be by the reader.
#[tokio::test]
async fn what_is_written_is_taken_in_and_what_would_not_be_is_refused_at_once() {
    let (here, there) = (engine().await, engine().await);
    let id = session(&here, json!({ "not": ["understood", {}] })).await;
    let file = written(&here, id, LIMITS).await.unwrap();
    let exact = limits_of(&file);
    let again = written(&here, id, exact).await.unwrap();
    let fewer_bytes = BundleLimits { entries_bytes: exact.entries_bytes - 1, ..exact };
    let fewer_files = BundleLimits { files: exact.files - 1, ..exact };
    let shorter_entries = BundleLimits { entry_bytes: exact.entry_bytes - 1, ..exact };
    let less_in_an_entry = BundleLimits { entry_values_bytes: exact.entry_values_bytes - 1, ..exact };
    let less_in_all = BundleLimits { values_bytes: exact.values_bytes - 1, ..exact };
    for (limits, too_much) in [
        (fewer_bytes, ENTRIES),
        (fewer_files, FILES),
        (shorter_entries, ENTRY),
        (less_in_an_entry, ENTRY_VALUES),
        (less_in_all, ENTRIES_VALUES),
    ] {
        let refused = here.bundle_within(id, limits).await.err().unwrap();
        assert!(matches!(&refused, BundleError::TooLargeToWrite { what, .. } if *what == too_much), "{refused:?}");
        assert!(refused.to_string().contains("throughline backup"), "{refused}");
        let refused = there.take_in_bundle_within(rewound(&file), limits).await.unwrap_err();
        assert!(matches!(&refused, BundleError::TooLarge { what, .. } if *what == too_much), "{refused:?}");
    }
    assert!(!there.take_in_bundle_within(again, exact).await.unwrap().was_here);
}

/// As much JSON as is kept of what an agent sends and nobody understands.
fn a_mib_of(value: &str) -> String {
    format!("[{}]", vec![value; (1 << 20) / (value.len() + 1)].join(","))
}

#[tokio::test]
async fn a_mib_of_values_that_an_agent_sent_is_written_and_taken_in() {
    let (here, there) = (engine().await, engine().await);
    let id = session(&here, serde_json::from_str(&a_mib_of(r#"{"x":1,"y":2}"#)).unwrap()).await;
    let file = written(&here, id, LIMITS).await.unwrap();
    assert!(!there.take_in_bundle(file).await.unwrap().was_here);
}

fn line_of(data: &str) -> String {
    format!(r#"{{"seq":27,"at":"2026-01-02T03:04:05.000Z","version":8,{data}}}"#)
}

fn event_of(line: &str) -> SessionEvent {
    let id = SessionId::from_bytes([7; 16]);
    let entry = EntryLine::read(line.as_bytes()).unwrap().decode(StreamId::Session(id)).unwrap();
    entry.into_session().unwrap().event
}

#[test]
fn whatever_an_agent_may_have_sent_fits_into_an_entry_and_not_much_more() {
    let deep = format!("{}0{}", "[".repeat(120), "]".repeat(120));
    let fits = |message: &str| {
        let line = line_of(&format!(r#""type":"agent.raw","data":{{"message":{message}}}"#));
        LIMITS.check_line(line.as_bytes()).map_err(|too_much| too_much.what)
    };
    for value in ["0", "[0]", r#"{"":0}"#, &deep] {
        assert_eq!(fits(&a_mib_of(value)), Ok(()), "{}", &value[..1]);
    }
    assert_eq!(fits(&format!("[{}]", vec!["[]"; 10 << 20].join(","))), Err(ENTRY_VALUES));
}

/// The entries of a call, like those of recorded agents: of no other kind is so much values.
#[test]
fn as_many_bytes_of_tool_calls_are_taken_as_of_any_entries() {
    let (mut bytes, mut values_bytes) = (0, 0);
    for data in [
        r#""type":"tool.started","data":{"turn":3,"tool":2,"callId":"call_7","title":"Read loom.rs","kind":"read","status":"pending","locations":[{"path":"/home/ada/engine/src/loom.rs","line":3}],"input":{"path":"src/loom.rs","limit":80}}"#,
        r#""type":"tool.changed","data":{"turn":3,"tool":2,"content":[{"type":"text","text":"fn main() {}"}],"locations":[{"path":"/home/ada/engine/src/loom.rs"}]}"#,
        r#""type":"tool.ended","data":{"turn":3,"tool":2,"status":"completed","output":{"command":["bash","-lc","cargo check"],"cwd":"/home/ada/engine","exit_code":0,"stdout":"","aggregated_output":"    Finished `dev` profile in 0.21s\n"}}"#,
        r#""type":"permission.asked","data":{"turn":3,"request":4,"tool":2,"title":"Edit loom.rs","kind":"edit","subject":"/home/ada/engine/src/loom.rs","options":[{"id":"allow","name":"Allow","kind":"allow_once"},{"id":"always","name":"Always allow","kind":"allow_always"},{"id":"reject","name":"Reject","kind":"reject_once"}]}"#,
    ] {
        let line = line_of(data);
        LIMITS.count_values(line.as_bytes(), &event_of(&line), &mut values_bytes).unwrap();
        bytes += line.len() as u64;
    }
    let all = values_bytes * LIMITS.entries_bytes / bytes;
    assert!(all <= LIMITS.values_bytes, "{} MiB", all >> 20);
}

/// What an event's own fields take is bounded too.
#[test]
fn a_list_of_an_events_own_counts_as_much_as_it_takes() {
    let items = vec![r#""""#; 1 << 20].join(",");
    let line = line_of(&format!(r#""type":"context.set","data":{{"set":"files","by":"agent","items":[{items}]}}"#));
    let event = event_of(&line);
    let mut values_bytes = 0;
    LIMITS.count_values(line.as_bytes(), &event, &mut values_bytes).unwrap();
    let SessionEvent::ContextSet { items, .. } = event else { panic!("{event:?}") };
    assert!(values_bytes >= (items.capacity() * size_of::<String>()) as u64);
}

/// Nothing of a bundle is read, and so held, before it is its turn.
#[tokio::test]
async fn a_bundle_is_read_when_it_is_its_turn() {
    let engine = engine().await;
    let refused = engine.take_in_bundle(tempfile::tempfile().unwrap()).await.unwrap_err();
    assert!(matches!(refused, BundleError::Foreign), "{refused:?}");
    engine.shared.taking_in.close();
    let refused = engine.take_in_bundle(tempfile::tempfile().unwrap()).await.unwrap_err();
    assert!(matches!(refused, BundleError::Stopping), "{refused:?}");
}

#[test]
fn a_payload_that_can_not_be_read_is_as_good_as_gone() {
    let id = SessionId::from_bytes([7; 16]);
    let path = || "/sessions/x".into();
    let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
    for err in [
        PayloadError::Foreign { path: path() },
        PayloadError::Io { path: path(), source: denied() },
        PayloadError::Source(denied()),
    ] {
        assert!(if_readable::<()>(id, "outputs/x", Err(err)).unwrap().is_none());
    }
    assert!(if_readable::<()>(id, "outputs/x", Err(PayloadError::Closed)).is_err());
}
