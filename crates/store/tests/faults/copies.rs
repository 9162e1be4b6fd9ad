//! Payloads beside a log that has lost entries, and folders that the disk does not flush.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use fail::FailScenario;
use model::{Incarnation, NewBody, Position, Timestamp};
use store::conformance::{AnyStore, act, create, output, session_id};
use store::copies::{CopiesFound, CopyCursor, Phase, open_beside};
use store::{Copies, PayloadError, PayloadFolder, PayloadName, Payloads as _};

use crate::{folder, open};

fn shown(n: u8) -> PayloadName {
    PayloadName::of(&output(n))
}

async fn put(payloads: &PayloadFolder, session: u8) -> Result<(), PayloadError> {
    let bytes = Box::new(&b"shown"[..]);
    payloads.put(session_id(session), &shown(session), bytes, 9).await.map(|_| ())
}

/// A start that is cut off while it gathers the payloads, or moves the copies, is finished by the next one.
#[tokio::test]
async fn no_payload_is_lost_with_copies_that_are_moved_aside() {
    let scenario = FailScenario::setup();
    for (point, cut_off_at) in [("payloads-link", 0), ("payloads-link", 1), ("copies-moved", 0)] {
        let (folder, path) = folder();
        let copies = Copies::at(folder.path().join("sessions"));
        let payloads = PayloadFolder::at(copies.path());
        let opened = Arc::new(open(&path));
        let store: AnyStore = Arc::clone(&opened) as AnyStore;
        for n in 1..=2 {
            act(&store, n, create("a name"), 100).await;
            put(&payloads, n).await.unwrap();
        }
        let position = Position(store.last_position().0 + 1);
        let ahead = CopyCursor { position, phase: Phase::Following, ..CopyCursor::new(store.incarnation()) };
        copies.move_cursor(ahead).await.unwrap();
        opened.close().await;
        drop((store, opened));

        let start = || open_beside(&path, 0, &copies, Timestamp::from_millis(0), || Incarnation::from_bits(9));
        fail::cfg(point, &format!("{cut_off_at}*off->1*return->off")).unwrap();
        assert!(start().await.is_err(), "{point} {cut_off_at}");
        let (_store, found) = start().await.unwrap();
        let moved_before = point == "copies-moved";
        assert_eq!(matches!(found, CopiesFound::Loss { .. }), !moved_before, "{point} {cut_off_at}: {found:?}");
        for n in 1..=2 {
            let read = payloads.read(session_id(n), &shown(n), 0, 9).await.unwrap();
            assert_eq!(read.as_deref(), Some(&b"shown"[..]), "session {n}, cut off at {point} {cut_off_at}");
        }
        assert!(!folder.path().join("sessions.linked").exists());
    }
    scenario.teardown();
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// R03: the folders may be there already: made by a task that has not flushed them, or by a process that was killed before it did.
#[tokio::test]
async fn a_payload_is_stored_only_if_every_folder_above_it_is_flushed() {
    let scenario = FailScenario::setup();
    // The folder of the session, that of all, the one above, and at last that of the file itself.
    for failing in 0..4 {
        let (folder, _) = folder();
        let sessions = folder.path().join("sessions");
        let own = sessions.join(session_id(1).to_string());
        for kind in ["outputs", "bodies"] {
            fs::create_dir_all(own.join(kind)).unwrap();
        }
        let payloads = PayloadFolder::at(&sessions);
        let fail_one = || fail::cfg("folder-flush", &format!("{failing}*off->1*return->off")).unwrap();
        fail_one();
        let stored = put(&payloads, 1).await;
        assert!(matches!(stored, Err(PayloadError::Io { .. })), "flush {failing}: {stored:?}");
        fail_one();
        let bodies = || vec![NewBody::of(b"long".to_vec())];
        let stored = payloads.put_bodies(session_id(1), bodies()).await;
        assert!(matches!(stored, Err(PayloadError::Io { .. })), "flush {failing}: {stored:?}");
        assert_eq!((files(&own.join("outputs")), files(&own.join("bodies"))), (0, 0), "flush {failing}");
        put(&payloads, 1).await.unwrap();
        payloads.put_bodies(session_id(1), bodies()).await.unwrap();
        // What was flushed is not flushed again; a body that entries name stays whatever befalls the next one.
        fail::cfg("folder-flush", "1*off->return").unwrap();
        put(&payloads, 1).await.unwrap();
        fail::cfg("folder-flush", "1*return->off").unwrap();
        let again = payloads.put_bodies(session_id(1), [bodies(), vec![NewBody::of(b"more".to_vec())]].concat()).await;
        assert!(matches!(again, Err(PayloadError::Io { .. })), "{again:?}");
        assert_eq!(files(&own.join("bodies")), 1);
        fail::remove("folder-flush");
    }
    scenario.teardown();
}
