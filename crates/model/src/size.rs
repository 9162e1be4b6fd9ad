//! Measures how large a value is as JSON, without making that text.

use std::io;

use serde::Serialize;

/// How long a value is as JSON.
pub fn json_bytes(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        // What can not be written down has no bound; nothing of ours is like that.
        Err(_) => usize::MAX,
    }
}
