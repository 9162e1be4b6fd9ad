//! Bytes in, lines out, whatever pieces they come in.

use futures_util::StreamExt as _;
use tokio::io::AsyncWriteExt as _;

use super::*;

/// Writes the bytes in pieces of the given size, and returns the lines that come out.
async fn lines(bytes: &[u8], piece: usize, longest_bytes: usize) -> (Vec<Result<String, io::ErrorKind>>, Faults) {
    let faults = Faults::default();
    let (reader, mut writer) = tokio::io::duplex(piece);
    let mut stream = Lines::new(reader, &faults);
    stream.longest_bytes = longest_bytes;
    let write = async move {
        // A reader that has had enough closes its end.
        drop(writer.write_all(bytes).await);
    };
    let read = async {
        let lines = stream.by_ref().map(|line| line.map_err(|err| err.kind())).collect().await;
        drop(stream);
        lines
    };
    let ((), lines) = tokio::join!(write, read);
    (lines, faults)
}

async fn check(bytes: &[u8], expected: &[&str]) -> Faults {
    let expected: Vec<_> = expected.iter().map(|line| Ok((*line).to_owned())).collect();
    for piece in [2, 3, 5, 4096] {
        assert_eq!(lines(bytes, piece, 1000).await.0, expected, "pieces of {piece}");
    }
    lines(bytes, 1, 1000).await.1
}

#[tokio::test]
async fn each_line_is_an_item_and_empty_ones_are_none() {
    check(b"one\ntwo\r\n\n\r\nthree", &["one", "two", "three"]).await;
    check(b"", &[]).await;
    check(b"\n", &[]).await;
    check("caf\u{e9}\n\u{1f600}\n".as_bytes(), &["caf\u{e9}", "\u{1f600}"]).await;
}

#[tokio::test]
async fn what_is_no_text_is_replaced_and_counted() {
    let faults = check(b"good\nb\xffad\n\xe2\x82\nfine\n", &["good", "b\u{fffd}ad", "\u{fffd}", "fine"]).await;
    assert_eq!((faults.replaced_lines(), faults.first()), (2, None));
}

#[tokio::test]
async fn a_line_may_be_as_long_as_the_limit_and_not_longer() {
    let (found, faults) = lines(b"12345\nafter\n", 4, 5).await;
    assert_eq!((found.len(), faults.first()), (2, None));
    let (found, faults) = lines(b"first\n123456\nafter\n", 4, 5).await;
    assert_eq!(found, [Ok("first".to_owned()), Err(io::ErrorKind::InvalidData)]);
    assert_eq!(faults.first(), Some(PipeFault::LineTooLong));
}

#[tokio::test]
async fn mending_does_not_lengthen_a_line_beyond_the_limit() {
    let (found, faults) = lines(b"\xff\xff\xff\xff\n", 4, 5).await;
    assert_eq!(found, [Err(io::ErrorKind::InvalidData)]);
    assert_eq!(faults.first(), Some(PipeFault::LineTooLong));
}

#[tokio::test]
async fn nothing_is_read_before_it_is_asked_for() {
    let faults = Faults::default();
    let (reader, mut writer) = tokio::io::duplex(CHUNK_BYTES);
    let mut stream = Lines::new(reader, &faults);
    let line = [b"x".repeat(CHUNK_BYTES / 2 - 1), b"\n".to_vec()].concat();
    let mut written = 0;
    while let Poll::Ready(done) = futures_util::poll!(std::pin::pin!(writer.write_all(&line))) {
        done.unwrap();
        written += 1;
    }
    assert_eq!(written, 2, "what the pipe holds");
    assert_eq!(stream.next().await.unwrap().unwrap().len(), line.len() - 1);
    let held = stream.line.capacity() + stream.chunk.len();
    assert!(held <= 2 * CHUNK_BYTES, "{held}");
}

#[test]
fn the_protocols_crate_takes_lines_and_sink() {
    let faults = Faults::default();
    let (output, input) = tokio::io::duplex(1);
    let sink = crate::process::LineSink::new(input, &faults);
    drop(agent_client_protocol::Lines::new(sink, Lines::new(output, &faults)));
}

#[tokio::test]
async fn a_line_may_hold_many_words_but_not_too_many_values() {
    let (mib, many) = (1 << 20, 16 << 20);
    // Commas and brackets inside of strings are text.
    let words = format!("[\"{}\\\"{}\"]", "[,{".repeat(mib), ",".repeat(mib));
    let values = format!("[{}0]", "0,".repeat(mib));
    let objects = format!("[{}0]", "{},".repeat(mib));
    // As much as is kept of what is not understood.
    let kept = format!("[{}0]", r#"{"x":1,"y":2},"#.repeat(mib / 14));
    let too_many = Some(PipeFault::TooManyValues);
    for (line, fault) in [(words, None), (kept, None), (values, too_many), (objects, too_many)] {
        // The last line may have no end.
        for (text, lines_of_it) in [(format!("{line}\nafter\n"), 2), (line, 1)] {
            let (found, faults) = lines(text.as_bytes(), 64 << 10, many).await;
            assert_eq!(faults.first(), fault);
            assert_eq!(found.len(), if fault.is_none() { lines_of_it } else { 1 });
        }
    }
}

#[test]
fn a_line_that_is_not_looked_at_takes_less_than_one_may() {
    let deep = format!("{}0{}", "[".repeat(120), "]".repeat(120));
    for value in ["0", "[0]", r#"{"":0}"#, &deep] {
        let line = vec![value; SHORT_LINE_BYTES / (value.len() + 1)].join(",");
        assert!(json_values_bytes(line.as_bytes(), 0) < ALL_VALUES_BYTES, "{}", &line[..9]);
    }
}
