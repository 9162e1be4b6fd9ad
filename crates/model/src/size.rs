//! Measures how large a value is as JSON, without making that text, and how large a text of JSON is as values, without making those.

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

/// About how much memory the values in a text of JSON take once they are decoded, rather more than less; their texts, which take what
/// they take here, are not counted. What lies less than `depth` arrays and objects deep is not counted either.
///
/// A value takes many times its text: `[[],[],…` 24 times, `[{"":0},…` 80 times. So whoever decodes a text of a stranger
/// asks this first.
pub fn decoded_bytes(json: &[u8], depth: usize) -> u64 {
    /// A value in its array or object.
    const PLACE: u64 = size_of::<serde_json::Value>() as u64;
    /// The smallest room that an array makes, with what the allocator keeps of it: four places.
    const ARRAY: u64 = 4 * PLACE + 16;
    /// The same for an object: a table, and three members.
    const OBJECT: u64 = 3 * MEMBER + 96;
    /// A member's place, with its hash and its name's.
    const MEMBER: u64 = PLACE + 32;
    /// The smallest room that a text makes.
    const TEXT: u64 = 32;
    let (mut bytes, mut level, mut at) = (0_u64, 0_usize, 0);
    while let Some(byte) = json.get(at) {
        at += 1;
        let cost = match byte {
            b'"' => {
                at += end_of_text(&json[at..]);
                TEXT
            }
            b'[' | b'{' => {
                level += 1;
                match json.get(at) {
                    Some(b']' | b'}') => 0,
                    _ if *byte == b'[' => ARRAY,
                    _ => OBJECT,
                }
            }
            b']' | b'}' => {
                level = level.saturating_sub(1);
                0
            }
            b',' => PLACE,
            b':' => MEMBER,
            _ => 0,
        };
        if level > depth {
            bytes += cost;
        }
    }
    bytes
}

/// How long a text is behind its opening quote, with the closing one.
fn end_of_text(json: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// What a decoded value holds on the heap, texts aside.
    fn held(value: &Value) -> usize {
        const NAMED: usize = size_of::<Value>() + size_of::<String>() + size_of::<u64>();
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
            Value::Array(values) => values.capacity() * size_of::<Value>() + values.iter().map(held).sum::<usize>(),
            Value::Object(members) if members.is_empty() => 0,
            Value::Object(members) => {
                // It has room for three at least, and a table of where they are.
                members.len().max(3) * NAMED + 64 + members.values().map(held).sum::<usize>()
            }
        }
    }

    /// Nothing that is short as text and long as values gets through, and what is mostly text is not taken for such.
    #[test]
    fn values_take_no_more_memory_than_is_said() {
        let many = |one: &str| format!("[{}]", vec![one; 4_096].join(","));
        let objects = [r#"{"":0}"#, r#"{"a":{"b":[]}}"#, r#"{"a":1,"b":2,"c":3}"#];
        for one in ["[]", "{}", "0", "null", r#""""#, "[0]", "[[[0]]]"].into_iter().chain(objects) {
            let text = many(one);
            let value: Value = serde_json::from_str(&text).unwrap();
            let (said, held) = (decoded_bytes(text.as_bytes(), 0), held(&value) as u64);
            assert!((held..=4 * held).contains(&said), "{one}: {said} bytes are said, and {held} are held");
        }
        let text = serde_json::to_string(&[r#"[],{}:\",["#.repeat(1 << 10)]).unwrap();
        assert!(decoded_bytes(text.as_bytes(), 0) < 1 << 10);
    }

    #[test]
    fn what_is_not_deep_enough_is_not_counted() {
        let line = br#"{"seq":1,"data":{"turn":1,"text":"[[["}}"#;
        assert!(decoded_bytes(line, 1) > 0);
        assert_eq!(decoded_bytes(line, 2), 0);
        let line = br#"{"seq":1,"data":{"turn":1,"input":[[]]}}"#;
        assert!(decoded_bytes(line, 2) > 0);
        for cut_off in ["", "\"", "\"\\", "[", "]]", "{\"a"] {
            decoded_bytes(cut_off.as_bytes(), 0);
        }
    }
}
