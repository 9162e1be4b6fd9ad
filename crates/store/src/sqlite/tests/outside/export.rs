//! What an export says, and which ones are taken back.

use std::fs;

use model::{Author, EVENT_VERSION};
use sha2::{Digest as _, Sha256};

use crate::conformance::{at, batch, session_id, stream, text_part};
use crate::outside::{Depth, ExportWish, RestoreError, StoreFile};
use crate::prelude::*;
use crate::sqlite::tests::outside::{
    check, contents, export, named, restore_from, scribble, scribble_fence, told, write_sample,
};
use crate::sqlite::tests::{folder, open_at};

/// The lines with the end that belongs to them.
fn sealed(lines: &[&str], entries: u64) -> String {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let sum = format!("{:x}", Sha256::digest(&body));
    format!(
        "{body}{{\"throughline\":\"end\",\"entries\":{entries},\"purged\":0,\"damaged\":0,\"payloads\":0,\"sha256\":\"{sum}\"}}\n"
    )
}

const HEADER: &str = r#"{"throughline":"export","version":2,"madeAt":"1970-01-01T00:00:00.000Z","program":"test","incarnation":"fedcba9876543210"}"#;

#[tokio::test]
async fn an_export_reads_as_it_should() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    scribble(&path, "UPDATE entries SET at = 0 WHERE stream = 1 AND seq = 4");
    let (lines, exported) = export(&path);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!((exported.entries, exported.purged, exported.damaged, exported.strays), (6, 1, 1, 0));
    assert_eq!(lines[0], HEADER);
    let expected = [
        r#"{"stream":"session 1","seq":1,"at":"1970-01-01T00:00:00.001Z","version":9,"type":"session.created","data":{"agent":"guide","cwd":"/w","project":"/w","name":"one"}}"#,
        r#"{"damaged":"session 1","seq":4,"what":"its checksum does not match"}"#,
        r#"{"purged":"session 3","at":"1970-01-01T00:00:00.010Z"}"#,
    ];
    assert_eq!([1, 7, 8].map(|n| named(lines[n])), expected);
    assert!(
        lines[9].starts_with(r#"{"throughline":"end","entries":6,"purged":1,"damaged":1,"payloads":0,"sha256":""#),
        "{}",
        lines[9]
    );
}

/// What was damaged is known as such in the new store too, and its export says the same again.
#[tokio::test]
async fn a_damaged_store_comes_back_fenced() {
    let (folder, path) = folder();
    write_sample(&path).await;
    scribble(&path, "UPDATE entries SET at = 0 WHERE stream = 1 AND seq = 4; DELETE FROM entries WHERE stream = 2");
    scribble_fence(&path, "UPDATE streams SET damaged_seq = 1, damage = 'the entry is missing' WHERE id = 2");
    let (first, _) = export(&path);
    let file = folder.path().join("export.jsonl");
    fs::write(&file, &first).unwrap();
    let new = folder.path().join("new.db");
    let restored = restore_from(&file, &new).unwrap();
    assert_eq!((restored.entries, restored.damaged), (4, 2));
    let expected = [
        "Entry session 1 at 4: its checksum does not match (fenced)",
        "Entry session 2 at 1: the entry is missing (fenced)",
    ];
    assert_eq!(told(&check(&new, Depth::All)), expected);
    let (second, _) = export(&new);
    let body = |text: &str| {
        text.lines().skip(1).filter(|line| !line.contains("sha256")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(body(&first), body(&second));
}

/// The page that has a session's last entry is no page any more: in the middle of the log, and as its very end.
#[tokio::test]
async fn an_end_that_cannot_be_read_does_not_pass_for_the_end() {
    for after in [0, 3] {
        let (folder, path) = folder();
        let store = open_at(&path);
        // No two of them in one page, and none of them in two.
        let page_full = |word: &str| word.repeat(1500 / word.len());
        store.append(batch([text_part(stream(1), 0, &["head"])])).await.unwrap();
        store.append(batch([text_part(stream(2), 0, &[page_full("fill ").as_str()])])).await.unwrap();
        store.append(batch([text_part(stream(1), 1, &[page_full("tail ").as_str()])])).await.unwrap();
        for seq in 1..=after {
            store.append(batch([text_part(stream(2), seq, &[page_full("fill ").as_str()])])).await.unwrap();
        }
        store.close().await;
        let mut bytes = fs::read(&path).unwrap();
        let has_tail = |page: &[u8]| page[0] == 13 && page.windows(10).any(|words| words == b"tail tail ");
        let page_bytes = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
        bytes.chunks_mut(page_bytes).find(|page| has_tail(page)).unwrap()[..64].fill(0xff);
        fs::write(&path, bytes).unwrap();

        let (lines, exported) = export(&path);
        assert_eq!((exported.entries, exported.damaged, exported.unreadable), (2 + after, 1, 1));
        let line = r#"{"damaged":"session 1","seq":2,"what":"it cannot be read"}"#;
        assert!(named(&lines).contains(line), "{lines}");
        let file = folder.path().join("export.jsonl");
        fs::write(&file, &lines).unwrap();
        let new = folder.path().join("new.db");
        restore_from(&file, &new).unwrap();
        assert_eq!(told(&check(&new, Depth::All)), ["Entry session 1 at 2: it cannot be read (fenced)"]);
    }
}

/// A row that knows of an entry after the last one has lost it.
#[tokio::test]
async fn an_end_of_which_only_the_rows_know_does_not_pass_for_the_end() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    scribble(&path, "DELETE FROM entries WHERE stream = 1 AND seq > 8; DELETE FROM entries WHERE stream = 2");
    let (lines, exported) = export(&path);
    assert_eq!((exported.damaged, exported.unreadable), (2, 0));
    for line in [
        r#"{"damaged":"session 1","seq":9,"what":"the entry is missing"}"#,
        r#"{"damaged":"session 2","seq":1,"what":"the entry is missing"}"#,
    ] {
        assert!(named(&lines).contains(line), "{lines}");
    }
}

/// What is written while the lines go out is not in them, and no damage.
#[tokio::test]
async fn a_session_that_grows_meanwhile_is_whole() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["first"])])).await.unwrap();
    let mut later = batch([text_part(stream(1), 1, &["later"])]);
    later.parts.extend(batch([text_part(stream(2), 0, &["new"])]).parts);
    let (runtime, mut later) = (tokio::runtime::Handle::current(), Some(later));
    let exported = tokio::task::spawn_blocking(move || {
        let wish = ExportWish { made_at: at(0), program: "test" };
        let mut grow = |_| {
            if let Some(later) = later.take() {
                runtime.block_on(store.append(later)).unwrap();
            }
        };
        StoreFile::open(&path).unwrap().export(&wish, &mut Vec::new(), &mut grow).unwrap()
    });
    let exported = exported.await.unwrap();
    assert_eq!((exported.entries, exported.damaged, exported.unreadable), (1, 0, 0));
}

/// Before version 6 who wrote a prompt stood in front of its words.
#[tokio::test]
async fn an_export_of_an_earlier_version_tells_who_wrote_its_prompts() {
    let stream = stream(1);
    let entry = |seq: u64, event: &str| {
        format!(r#"{{"stream":"{stream}","seq":{seq},"at":"1970-01-01T00:00:00.001Z","version":5,{event}}}"#)
    };
    let created = r#""type":"session.created","data":{"agent":"guide","cwd":"/w","project":"/w","name":"one"}"#;
    let queued = r#""type":"prompt.queued","data":{"interactionId":"0190a8c0-0000-7000-8000-0000000000a1","text":"[agent:a-1] go"}"#;
    let (folder, path) = folder();
    let file = folder.path().join("export.jsonl");
    fs::write(&file, sealed(&[HEADER, &entry(1, created), &entry(2, queued)], 2)).unwrap();
    restore_from(&file, &path).unwrap();
    let queue = open_at(&path).session(session_id(1)).await.unwrap().unwrap().queue;
    let waiting: Vec<_> = queue.iter().map(|prompt| (prompt.text.as_str(), &prompt.by)).collect();
    assert_eq!(waiting, [("go", &Author::Agent { session: "a-1".to_owned() })]);
    assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new());
}

#[tokio::test]
async fn an_export_that_is_not_whole_changes_nothing() {
    let entry = |seq: u64| {
        format!(
            r#"{{"stream":"server","seq":{seq},"at":"1970-01-01T00:00:00.001Z","version":1,"type":"permission.forgotten","data":{{"id":"0190a8c0-0000-7000-8000-000000000001"}}}}"#
        )
    };
    let whole = sealed(&[HEADER, &entry(1), &entry(2)], 2);
    let line = |what: &str| format!("cannot be taken: {what}");
    let cases = [
        (String::new(), "neither a backup nor an export".to_owned()),
        ("\u{0}\u{1}".repeat(9000), "neither a backup nor an export".to_owned()),
        (
            sealed(&[&HEADER.replace("\"version\":2", "\"version\":3")], 0),
            "has format 3, this program knows formats up to 2".to_owned(),
        ),
        (HEADER.to_owned() + "\n", "is cut off after line 1".to_owned()),
        (whole.trim_end().to_owned(), "is cut off after line 3".to_owned()),
        (whole[..whole.len() - 80].to_owned(), "is cut off after line 3".to_owned()),
        (whole.replace("\"seq\":2", "\"seq\":3"), line("it does not follow the entry before it in its stream")),
        (whole.replace("00.001Z", "00.002Z"), line("the hash of what is before it is another")),
        (format!("{whole}{whole}"), line("something comes after the end")),
        (sealed(&[HEADER, &entry(1)], 2), line("it counts other lines than there are")),
        (
            sealed(&[HEADER, &entry(1).replace("permission.forgotten", "session.dreamt")], 1),
            line("it was written by a newer version of the program"),
        ),
        (
            sealed(&[HEADER, &entry(1).replace("\"version\":1", &format!("\"version\":{}", EVENT_VERSION + 1))], 1),
            line("it was written by a newer version of the program"),
        ),
        (sealed(&[HEADER, &entry(1).replace("\"id\"", "\"it\"")], 1), line("it is not a known event")),
        (
            sealed(&[HEADER, &entry(1).replace("server", "dreams")], 1),
            line("it names no stream that this program knows"),
        ),
        (
            sealed(&[HEADER, r#"{"purged":"server","at":"1970-01-01T00:00:00.001Z"}"#], 0),
            line("only sessions are purged"),
        ),
        (sealed(&[HEADER, r#"{"damaged":"server","seq":0,"what":""}"#], 0), line("it is no damage")),
        (sealed(&[HEADER, "{}"], 0), line("it is no line of an export")),
        (sealed(&[HEADER, &"x".repeat(33 << 20)], 0), line("it is too long")),
    ];
    for (text, expected) in cases {
        let (folder, path) = folder();
        let file = folder.path().join("export.jsonl");
        fs::write(&file, &text).unwrap();
        let before = contents(folder.path());
        let said = restore_from(&file, &path).unwrap_err().to_string();
        assert!(said.ends_with(&expected) || said.contains(&expected), "{said}: {text:.200}");
        assert_eq!(contents(folder.path()), before, "{expected}");
    }
    let (folder, path) = folder();
    let file = folder.path().join("export.jsonl");
    fs::write(&file, &whole).unwrap();
    restore_from(&file, &path).unwrap();
    assert!(matches!(restore_from(&file, &path), Err(RestoreError::Taken { .. })));
}
