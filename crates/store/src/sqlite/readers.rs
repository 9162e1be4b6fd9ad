//! The threads that answer questions, so that no read waits for a write or holds up the runtime.
//!
//! Invariant: one question sees one moment of the store, because each runs inside one read transaction; a reader
//! cannot write. A question that panics is answered with a failure and takes no thread with it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::mpsc;

/// A question, with the way back for its answer.
pub(super) type ReadJob = Box<dyn FnOnce(&Connection) + Send>;

/// As many questions may wait before asking itself waits.
const QUEUE: usize = 256;

/// Starts a thread a connection; they end when the sender is gone and every question is answered.
pub(super) fn start(connections: Vec<Connection>) -> io::Result<(mpsc::Sender<ReadJob>, Vec<JoinHandle<()>>)> {
    let (ask, questions) = mpsc::channel(QUEUE);
    let questions = Arc::new(Mutex::new(questions));
    let start = |(n, conn)| {
        let questions = Arc::clone(&questions);
        thread::Builder::new().name(format!("store-reader-{n}")).spawn(move || answer(&conn, &questions))
    };
    let threads = connections.into_iter().enumerate().map(start).collect::<io::Result<_>>()?;
    Ok((ask, threads))
}

fn answer(conn: &Connection, questions: &Mutex<mpsc::Receiver<ReadJob>>) {
    // The one idle reader that holds the lock waits for a question, the others wait for the lock: each question wakes
    // one thread.
    let next = || questions.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
    while let Some(question) = next() {
        // Its read transaction was rolled back on the way out, and whoever asked finds that no answer will come.
        if catch_unwind(AssertUnwindSafe(|| question(conn))).is_err() {
            tracing::error!("a question to the store panicked");
        }
    }
}
