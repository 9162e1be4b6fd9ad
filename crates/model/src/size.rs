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

/// About how much memory the values in a JSON text take once they are decoded, rather more than less: with the room that arrays and
/// objects make ahead, and without the bytes of texts, which take what they take here. Only what lies more than `depth` arrays and
/// objects deep is counted. A long array takes half as much again for a moment, while it grows.
///
/// A value takes many times its text: `[[],[],…` 48 times, `[{"":0},…` 98, arrays that are deep in each other 152, and nothing
/// more than that. So whoever decodes a text of a stranger asks this first.
pub fn json_values_bytes(json: &[u8], depth: usize) -> u64 {
    /// A value in its array or object.
    const PLACE: u64 = size_of::<serde_json::Value>() as u64;
    /// The smallest room that an array makes, with what the allocator keeps of it: four places.
    const ARRAY: u64 = 4 * PLACE + 16;
    /// The same for an object: a table, and three members.
    const OBJECT: u64 = 3 * MEMBER + 96;
    /// A member's place, with its hash and its name's.
    const MEMBER: u64 = PLACE + 32;
    /// What follows a comma: arrays and objects double their room when it is full.
    const NEXT: u64 = 2 * PLACE;
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
            b',' => NEXT,
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

    /// What objects of so many numbers, with names of one to four digits, took from the allocator of glibc on a machine of 64 bits: it
    /// can not be asked of an object, as it can of an array. These are the ones that have just made more room, and those before.
    const OBJECTS: [(usize, u64); 12] = [
        (1, 416),
        (3, 480),
        (4, 960),
        (7, 1_056),
        (8, 1_904),
        (14, 2_096),
        (15, 3_728),
        (29, 7_376),
        (225, 58_448),
        (3_584, 524_336),
        (3_585, 933_968),
        (4_097, 950_352),
    ];

    /// What a decoded value holds on the heap.
    fn held(value: &Value) -> u64 {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.capacity() as u64,
            Value::Array(values) => {
                (values.capacity() * size_of::<Value>()) as u64 + values.iter().map(held).sum::<u64>()
            }
            Value::Object(members) if members.is_empty() => 0,
            Value::Object(members) => {
                let (_, bytes) = OBJECTS.iter().find(|(count, _)| *count == members.len()).expect("it was measured");
                bytes + members.values().map(held).sum::<u64>()
            }
        }
    }

    fn object(members: usize) -> String {
        let members: Vec<_> = (0..members).map(|n| format!(r#""{n}":0"#)).collect();
        format!("{{{}}}", members.join(","))
    }

    /// Arrays have room for what is there, or for twice that.
    #[test]
    fn values_take_no_more_memory_than_is_said() {
        let small = ["[]", "{}", "0", "null", r#""""#, "[0]", "[[[0]]]", r#"{"":0}"#, r#"{"a":{"b":[]}}"#];
        let lists = small.into_iter().flat_map(|one| [4_096, 4_097].map(|count| vec![one; count].join(",")));
        let lists = lists.map(|values| format!("[{values}]"));
        let objects = OBJECTS.map(|(members, _)| object(members));
        for text in lists.chain(objects) {
            let value: Value = serde_json::from_str(&text).unwrap();
            let (said, held) = (json_values_bytes(text.as_bytes(), 0), held(&value));
            let start = &text[..text.len().min(40)];
            assert!((held..=5 * held / 2).contains(&said), "{start}: {said} bytes are said, and {held} are held");
        }
        let text = serde_json::to_string(&[r#"[],{}:\",["#.repeat(1 << 10)]).unwrap();
        assert!(json_values_bytes(text.as_bytes(), 0) < 1 << 10);
    }

    #[test]
    fn no_text_is_said_to_take_more_than_152_times_its_length() {
        let deep = |open: &str, close: &str| format!("{}0{}", open.repeat(120), close.repeat(120));
        for one in ["0", "[]", "[0]", r#"{"":0}"#, r#"{"":[0]}"#, r#"[""]"#, &deep("[", "]"), &deep(r#"{"":"#, "}")] {
            let text = format!("[{}]", vec![one; 1_000].join(","));
            let said = json_values_bytes(text.as_bytes(), 0);
            assert!(said <= 152 * text.len() as u64, "{}: {said}", &text[..40]);
        }
    }

    #[test]
    fn what_is_not_deep_enough_is_not_counted() {
        let line = br#"{"seq":1,"data":{"turn":1,"text":"[[["}}"#;
        assert!(json_values_bytes(line, 1) > 0);
        assert_eq!(json_values_bytes(line, 2), 0);
        let line = br#"{"seq":1,"data":{"turn":1,"input":[[]]}}"#;
        assert!(json_values_bytes(line, 2) > 0);
        for cut_off in ["", "\"", "\"\\", "[", "]]", "{\"a"] {
            json_values_bytes(cut_off.as_bytes(), 0);
        }
    }
}
