//! The suite that every place for payloads must pass.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use super::*;
use crate::conformance::{output, session_id};

struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to)? {
            0 => Err(io::Error::other("gone")),
            read => Ok(read),
        }
    }
}

fn name(n: u8) -> PayloadName {
    PayloadName::of(&output(n))
}

fn source(bytes: &[u8]) -> PayloadSource {
    Box::new(Cursor::new(bytes.to_vec()))
}

async fn suite(payloads: Arc<dyn Payloads>) {
    let (one, other) = (session_id(1), session_id(2));
    let long: Vec<u8> = (0..700_000_u32).map(|n| (n % 251) as u8).collect();
    let every_byte: Vec<u8> = (0..=255).collect();
    for (n, body, lines) in [(1, &b""[..], 0), (2, b"a\nb", 2), (3, b"a\n", 1), (4, &every_byte, 2), (5, &long, 2790)] {
        let stored = payloads.put(one, &name(n), source(body), 1 << 20).await.unwrap();
        assert_eq!((stored.bytes, stored.lines), (body.len() as u64, lines), "{n}");
        assert_eq!(payloads.read(one, &name(n), 0, 1 << 20).await.unwrap().unwrap(), body, "{n}");
        assert_eq!(payloads.look_at(one, &name(n), 1 << 20).await.unwrap(), Some(stored), "{n}");
    }
    assert_eq!(payloads.read(one, &name(5), 699_999, 10).await.unwrap().unwrap(), long[699_999..]);
    assert_eq!(payloads.read(one, &name(2), 1, 1).await.unwrap().unwrap(), b"\n");
    assert_eq!(payloads.read(one, &name(2), 90, 1).await.unwrap().unwrap(), b"");

    // No session has what is another's.
    assert_eq!(payloads.read(other, &name(2), 0, 9).await.unwrap(), None);
    payloads.remove(other, &name(2)).await.unwrap();
    assert!(payloads.look_at(one, &name(2), 1 << 20).await.unwrap().is_some());

    // What is not stored whole is not there.
    let too_large = payloads.put(one, &name(6), source(&long), 9).await;
    assert!(matches!(too_large, Err(PayloadError::TooLarge { max: 9 })), "{too_large:?}");
    let broken = payloads.put(one, &name(6), Box::new(Failing(Cursor::new(vec![1; 9]))), 99).await;
    assert!(matches!(broken, Err(PayloadError::Source(_))), "{broken:?}");
    assert_eq!(payloads.look_at(one, &name(6), 1 << 20).await.unwrap(), None);

    payloads.remove(one, &name(2)).await.unwrap();
    payloads.remove(one, &name(2)).await.unwrap();
    assert_eq!(payloads.read(one, &name(2), 0, 9).await.unwrap(), None);
    payloads.put(other, &name(2), source(b"x"), 9).await.unwrap();
    assert_eq!(payloads.sweep(one, PayloadKind::Output, vec![name(1), name(5), name(8)]).await.unwrap(), 2);
    assert!(payloads.look_at(one, &name(5), 1 << 20).await.unwrap().is_some());
    assert_eq!(payloads.look_at(one, &name(4), 1 << 20).await.unwrap(), None);
    assert!(payloads.look_at(other, &name(2), 1 << 20).await.unwrap().is_some());
    assert_eq!(payloads.sweep(session_id(3), PayloadKind::Output, Vec::new()).await.unwrap(), 0);

    // Bodies are found by their hashes, in their own session, and swept by themselves.
    let bodies: Vec<NewBody> = [&long[..], b"", b"text"].map(|bytes| NewBody::of(bytes.to_vec())).into();
    payloads.put_bodies(one, bodies.clone()).await.unwrap();
    payloads.put_bodies(one, bodies.clone()).await.unwrap();
    payloads.put_bodies(one, Vec::new()).await.unwrap();
    for body in &bodies {
        let name = PayloadName::body(body.hash);
        assert_eq!(payloads.read(one, &name, 0, 1 << 20).await.unwrap().as_deref(), Some(&*body.bytes));
        assert_eq!(payloads.look_at(one, &name, 1 << 20).await.unwrap().unwrap().sha256, body.hash.to_string());
        assert_eq!(payloads.read(other, &name, 0, 9).await.unwrap(), None);
    }
    assert_eq!(payloads.sweep(one, PayloadKind::Body, vec![PayloadName::body(bodies[0].hash)]).await.unwrap(), 2);
    assert!(payloads.look_at(one, &PayloadName::body(bodies[0].hash), 1 << 20).await.unwrap().is_some());
    assert!(payloads.look_at(one, &name(5), 1 << 20).await.unwrap().is_some());
    // A session may have bodies alone.
    let third = session_id(3);
    payloads.put_bodies(third, bodies).await.unwrap();
    let mut sessions = payloads.sessions().await.unwrap();
    sessions.sort();
    assert_eq!(sessions, [one, other, third]);

    // What grew is not read to its end.
    let name = PayloadName::body(BodyHash::of(&long));
    assert_eq!(payloads.look_at(third, &name, 9).await.unwrap().unwrap().bytes, 9);
}

#[tokio::test]
async fn memory_passes() {
    suite(Arc::new(MemoryPayloads::default())).await;
}

#[tokio::test]
async fn a_folder_passes() {
    let folder = tempfile::tempdir().unwrap();
    suite(Arc::new(PayloadFolder::at(folder.path().join("sessions")))).await;
}
