//! A disk that fills up before or in the middle of a payload: nothing of it is left, and the next one is stored whole.

use std::fs;
use std::path::Path;

use fail::FailScenario;
use model::NewBody;
use store::conformance::{output, session_id};
use store::{PayloadError, PayloadFolder, PayloadName, Payloads as _};

/// Three pieces.
const BYTES: usize = 600_000;

/// How many files there are in a folder and in those below it.
fn files(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.map(|entry| entry.unwrap().path()).map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

/// R17: also what was written of it before there was no room any more takes no room afterwards.
#[tokio::test]
async fn a_disk_that_fills_up_in_the_middle_of_a_payload_keeps_nothing_of_it() {
    let scenario = FailScenario::setup();
    let folder = tempfile::tempdir().unwrap();
    let payloads = PayloadFolder::at(folder.path());
    let bytes: Vec<u8> = (0..BYTES).map(|n| (n % 251) as u8).collect();
    let (name, body) = (PayloadName::of(&output(1)), NewBody::of(bytes.clone()));
    let put = async || payloads.put(session_id(1), &name, Box::new(std::io::Cursor::new(bytes.clone())), 1 << 20).await;
    for written in 0..3 {
        fail::cfg("payload-write", &format!("{written}*off->return")).unwrap();
        let stored = put().await;
        assert!(matches!(stored, Err(PayloadError::Full { .. })), "after {written} pieces: {stored:?}");
        assert_eq!(files(folder.path()), 0, "after {written} pieces");
        fail::cfg("payload-write", &format!("{written}*off->return")).unwrap();
        let stored = payloads.put_bodies(session_id(1), vec![body.clone()]).await;
        assert!(matches!(stored, Err(PayloadError::Full { .. })), "after {written} pieces: {stored:?}");
        assert_eq!(files(folder.path()), 0, "after {written} pieces");
    }
    fail::remove("payload-write");
    put().await.unwrap();
    payloads.put_bodies(session_id(1), vec![body.clone()]).await.unwrap();
    for name in [name, PayloadName::body(body.hash)] {
        assert_eq!(payloads.read(session_id(1), &name, 0, 1 << 20).await.unwrap().unwrap(), bytes);
    }
    assert_eq!(files(folder.path()), 2);
    scenario.teardown();
}
