//! The output of a program, kept up to a bound. Bytes beyond it are counted, not kept.

pub(super) const KEPT_BYTES: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Output {
    kept: Vec<u8>,
    left_out: usize,
}

impl Output {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let fitting = bytes.len().min(KEPT_BYTES - self.kept.len());
        self.kept.extend_from_slice(&bytes[..fitting]);
        self.left_out += bytes.len() - fitting;
    }

    pub(super) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.kept);
        match self.left_out {
            0 => text.into_owned(),
            left_out => format!("{text}\n… and {left_out} bytes more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_kept_and_the_rest_counted() {
        let mut output = Output::default();
        output.push(b"one ");
        output.push(&"é".as_bytes()[..1]);
        output.push(&"é".as_bytes()[1..]);
        assert_eq!(output.text(), "one é");
        output.push(&[b'x'; KEPT_BYTES]);
        output.push(b"more");
        let text = output.text();
        assert!(text.starts_with("one éxxx"));
        assert!(text.ends_with("xxx\n… and 10 bytes more"), "{}", &text[text.len() - 40..]);
    }
}
