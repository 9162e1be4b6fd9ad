//! Tests what no caller can reach: how much a bundle may have at both ends, and whose turn it is to be taken in.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use model::{AgentReport, Command, Draft, Incarnation, NewSession};
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

/// A session that has begun.
async fn session(engine: &Engine) -> SessionId {
    let id = SessionId::from_bytes([7; 16]);
    let new = NewSession { agent: "guide".into(), cwd: "/w".into(), project: "/w".into(), ..NewSession::default() };
    let mut draft = Draft::new(id, None);
    draft.apply(Command::Create(new), Timestamp::from_millis(1)).unwrap();
    let raw = json!({ "not": ["understood", {}] });
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
        BundleLimits { entries_bytes: 0, entry_bytes: 0, entry_decoded_bytes: 0, decoded_bytes: 0, files: 0 };
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
                let decoded = decoded_bytes(line.as_bytes(), 1);
                limits.entry_decoded_bytes = limits.entry_decoded_bytes.max(decoded);
                limits.decoded_bytes += decoded_bytes(line.as_bytes(), 2);
            }
        }
    }
    limits
}

/// What fits is written and taken in; what does not is refused by the writer at once, as it would be by the reader.
#[tokio::test]
async fn what_is_written_is_taken_in_and_what_would_not_be_is_refused_at_once() {
    let (here, there) = (engine().await, engine().await);
    let id = session(&here).await;
    let file = written(&here, id, LIMITS).await.unwrap();
    let exact = limits_of(&file);
    let again = written(&here, id, exact).await.unwrap();
    let fewer_bytes = BundleLimits { entries_bytes: exact.entries_bytes - 1, ..exact };
    let fewer_files = BundleLimits { files: exact.files - 1, ..exact };
    let shorter_entries = BundleLimits { entry_bytes: exact.entry_bytes - 1, ..exact };
    let less_in_an_entry = BundleLimits { entry_decoded_bytes: exact.entry_decoded_bytes - 1, ..exact };
    let less_in_all = BundleLimits { decoded_bytes: exact.decoded_bytes - 1, ..exact };
    for (limits, too_much) in [
        (fewer_bytes, ENTRIES),
        (fewer_files, FILES),
        (shorter_entries, ENTRY),
        (less_in_an_entry, ENTRY_DECODED),
        (less_in_all, ENTRIES_DECODED),
    ] {
        let refused = here.bundle_within(id, limits).await.err().unwrap();
        assert!(matches!(&refused, BundleError::TooLargeToWrite { what, .. } if *what == too_much), "{refused:?}");
        assert!(refused.to_string().contains("throughline backup"), "{refused}");
        let refused = there.take_in_bundle_within(rewound(&file), limits).await.unwrap_err();
        assert!(matches!(&refused, BundleError::TooLarge { what, .. } if *what == too_much), "{refused:?}");
    }
    assert!(!there.take_in_bundle_within(again, exact).await.unwrap().was_here);
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
