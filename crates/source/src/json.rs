//! JSON that is too long, and still JSON afterwards.

use serde::de::IgnoredAny;

use crate::cap::{Omission, count};

/// Values nested deeper than this are replaced when something has to go.
const DEEPEST: usize = 64;
/// Lengths of strings that are tried while all elements are kept, and then while elements are left out.
const WITH_ALL: &[usize] = &[8192, 2048, 512];
const WITH_FEWER: &[usize] = &[512, 64];

/// Shortens a JSON text to so many characters. `None` if it is not JSON, or if nothing worth showing would be left.
pub(crate) fn cut(text: &str, max: usize) -> Option<(String, Option<Omission>)> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let tree = Tree::of(text);
    let all = [usize::MAX].iter().chain(WITH_ALL).map(|&string| Keep { string, items: usize::MAX });
    let whole = all.into_iter().find_map(|keep| tree.print(keep, max));
    let written = whole.or_else(|| WITH_FEWER.iter().find_map(|&string| tree.most_items(string, max)))?;
    let gone = written.gone();
    Some((written.text, gone))
}

/// Limits of the kept part.
#[derive(Clone, Copy)]
struct Keep {
    /// Characters of each string.
    string: usize,
    /// Elements of each array and members of each object.
    items: usize,
}

/// The values of a text in order, each with the place behind its last descendant. Made from valid JSON only.
struct Tree<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    widest: usize,
}

struct Node {
    kind: Kind,
    start: usize,
    end: usize,
    /// The index of the next node that is not inside this one.
    after: usize,
    /// Elements, or members. The nodes inside an object are key, value, key, value.
    items: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Array,
    Object,
    String,
    /// A number, `true`, `false` or `null`.
    Plain,
}

impl<'a> Tree<'a> {
    fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let (mut nodes, mut open, mut at): (Vec<Node>, Vec<usize>, usize) = (Vec::new(), Vec::new(), 0);
        while let Some(&byte) = bytes.get(at) {
            let (kind, end) = match byte {
                b'[' => (Kind::Array, at + 1),
                b'{' => (Kind::Object, at + 1),
                b'"' => (Kind::String, string_end(bytes, at)),
                b']' | b'}' => {
                    at += 1;
                    let Some(closed) = open.pop() else { continue };
                    let after = nodes.len();
                    let node = &mut nodes[closed];
                    (node.end, node.after) = (at, after);
                    node.items /= if node.kind == Kind::Object { 2 } else { 1 };
                    continue;
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => {
                    at += 1;
                    continue;
                }
                _ => (Kind::Plain, plain_end(bytes, at)),
            };
            if let Some(&outer) = open.last() {
                nodes[outer].items += 1;
            }
            if matches!(kind, Kind::Array | Kind::Object) {
                open.push(nodes.len());
            }
            nodes.push(Node { kind, start: at, end, after: nodes.len() + 1, items: 0 });
            at = end;
        }
        let widest = nodes.iter().map(|node| node.items).max().unwrap_or(0);
        Self { text, nodes, widest }
    }

    /// The text with as many items of everything as fit, or `None` if not even one does.
    fn most_items(&self, string: usize, max: usize) -> Option<Written> {
        let print = |items| self.print(Keep { string, items }, max);
        let (mut best, mut fits, mut too_many) = (print(1)?, 1, self.widest);
        // A text without any item, as a lone string, has nothing to search for.
        while too_many.saturating_sub(fits) > 1 {
            let middle = fits + (too_many - fits) / 2;
            match print(middle) {
                Some(written) => (best, fits) = (written, middle),
                None => too_many = middle,
            }
        }
        Some(best)
    }

    fn print(&self, keep: Keep, max: usize) -> Option<Written> {
        let mut out = Written { text: String::new(), left: max, elements: 0, members: 0, shortened: 0 };
        self.value(0, 0, keep, &mut out)?;
        Some(out)
    }

    /// Writes one value, or gives up when there is no room.
    fn value(&self, at: usize, depth: usize, keep: Keep, out: &mut Written) -> Option<()> {
        let node = self.nodes.get(at)?;
        let raw = &self.text[node.start..node.end];
        match node.kind {
            Kind::Plain => out.push(raw),
            Kind::String => out.string(raw, keep.string),
            Kind::Array | Kind::Object if depth >= DEEPEST && keep.string != usize::MAX => {
                out.shortened += 1;
                out.push(&format!("\"[... {} left out ...]\"", count(raw.chars().count(), "character")))
            }
            // Without limits the text is as it came, and only blanks go; deep texts are left to the other attempts.
            Kind::Array | Kind::Object if depth >= DEEPEST => None,
            Kind::Array => self.array(at, depth, keep, out),
            Kind::Object => self.object(at, depth, keep, out),
        }
    }

    fn array(&self, at: usize, depth: usize, keep: Keep, out: &mut Written) -> Option<()> {
        let node = &self.nodes[at];
        out.push("[")?;
        let mut next = at + 1;
        for index in 0..node.items.min(keep.items) {
            out.push(if index == 0 { "" } else { "," })?;
            self.value(next, depth + 1, keep, out)?;
            next = self.nodes.get(next)?.after;
        }
        if let Some(gone @ 1..) = node.items.checked_sub(keep.items) {
            out.elements += gone;
            out.push(&format!(",\"[... {} left out ...]\"", count(gone, "element")))?;
        }
        out.push("]")
    }

    fn object(&self, at: usize, depth: usize, keep: Keep, out: &mut Written) -> Option<()> {
        let node = &self.nodes[at];
        out.push("{")?;
        let mut next = at + 1;
        for index in 0..node.items.min(keep.items) {
            let key = self.nodes.get(next)?;
            out.push(if index == 0 { "" } else { "," })?;
            // A shortened key would be another key.
            out.push(&self.text[key.start..key.end])?;
            out.push(":")?;
            self.value(next + 1, depth + 1, keep, out)?;
            next = self.nodes.get(next + 1)?.after;
        }
        if let Some(gone @ 1..) = node.items.checked_sub(keep.items) {
            out.members += gone;
            out.push(&format!(",\"...\":\"[... {} left out ...]\"", count(gone, "member")))?;
        }
        out.push("}")
    }
}

struct Written {
    text: String,
    left: usize,
    elements: usize,
    members: usize,
    shortened: usize,
}

impl Written {
    fn push(&mut self, piece: &str) -> Option<()> {
        self.left = self.left.checked_sub(piece.chars().count())?;
        self.text.push_str(piece);
        Some(())
    }

    /// Writes a string with its quotes, shortened between escapes.
    fn string(&mut self, raw: &str, keep: usize) -> Option<()> {
        let inner = &raw[1..raw.len() - 1];
        let kept = escape_boundary(inner, keep);
        if kept == inner.len() {
            return self.push(raw);
        }
        self.shortened += 1;
        let gone = count(inner[kept..].chars().count(), "character");
        self.push(&format!("\"{}[... {gone} left out ...]\"", &inner[..kept]))
    }

    /// Returns the omitted part. Blanks between values are none.
    fn gone(&self) -> Option<Omission> {
        let Self { elements, members, shortened, .. } = *self;
        let any = elements + members + shortened > 0;
        any.then_some(Omission::Values { elements, members, shortened })
    }
}

/// The last place within so many characters that does not divide an escape, nor two that make one character.
fn escape_boundary(inner: &str, chars: usize) -> usize {
    let Some((limit, _)) = inner.char_indices().nth(chars) else { return inner.len() };
    let (bytes, mut at, mut safe) = (inner.as_bytes(), 0, 0);
    while at < limit {
        let first_half = bytes[at..].starts_with(b"\\ud")
            && matches!(bytes.get(at + 3), Some(b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B'));
        at += match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
        if at <= limit && !first_half && inner.is_char_boundary(at) {
            safe = at;
        }
    }
    safe
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn plain_end(bytes: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| b",]} \t\r\n".contains(byte);
    bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn check(value: &Value, max: usize) -> Option<String> {
        cut(&value.to_string(), max).map(|(text, _)| text)
    }

    #[test]
    fn elements_members_and_strings_are_left_out_and_counted() {
        let wide: Vec<_> = (0..200).collect();
        let many: serde_json::Map<_, _> = (100..200).map(|n| (n.to_string(), json!(true))).collect();
        let deep = (0..100).fold(json!("x".repeat(200)), |inner, _| json!([inner]));
        let rows = [
            (json!(wide), 60, r#"[0,1,2,3,4,5,6,7,8,9,10,"[... 189 elements left out ...]"]"#),
            (json!(many), 60, r#"{"100":true,"...":"[... 99 members left out ...]"}"#),
            (
                json!({"a": "b".repeat(1000), "c": 1}),
                600,
                &format!(r#"{{"a":"{}[... 488 characters left out ...]","c":1}}"#, "b".repeat(512)),
            ),
            (
                deep,
                300,
                &format!(r#"{}"[... 274 characters left out ...]"{}"#, "[".repeat(64), "]".repeat(64)),
            ),
        ];
        for (value, max, expected) in rows {
            assert_eq!(check(&value, max).as_deref(), Some(expected));
        }
    }

    /// Found by the fuzz target `result`: a text without items is no list to be searched.
    #[test]
    fn a_lone_value_is_cut_or_left_alone() {
        let long = format!("\"{}\"", "x".repeat(150));
        let short = format!("\"{}[... 86 characters left out ...]\"", "x".repeat(64));
        let rows = [(long.as_str(), Some(short.as_str())), ("\"\"", Some("\"\"")), ("12", Some("12"))];
        for (text, expected) in rows {
            assert_eq!(cut(text, 120).map(|(text, _)| text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_and_order_stay_as_they_came() {
        let text = r#" { "z" : 1.10 , "a" : [ 1e400 , 12345678901234567890123 , "\u00e9\/" ] } "#;
        let expected = r#"{"z":1.10,"a":[1e400,12345678901234567890123,"\u00e9\/"]}"#;
        assert_eq!(cut(text, 70), Some((expected.into(), None)));
    }

    #[test]
    fn what_is_not_json_is_not_cut_here() {
        let long = "x".repeat(500);
        let rows =
            ["{", "[1,]", "{\"a\" 1}", "[1] [2]", "", "nul", "\"\u{1}\"", &format!("{{\"{long}\":1}}")];
        for text in rows {
            assert_eq!(cut(text, 100), None, "{text}");
        }
        assert!(cut(&("[".repeat(100_000) + &"]".repeat(100_000)), 300).is_some());
    }

    #[test]
    fn escapes_are_not_divided() {
        let rows = [
            ("abc", 2, 2),
            ("abc", 3, 3),
            (r"a\nb", 2, 1),
            (r"a\nb", 3, 3),
            (r"a\u00e9b", 6, 1),
            (r"\ud83e\udd80x", 6, 0),
            (r"\ud83e\udd80x", 11, 0),
            (r"\ud83e\udd80x", 12, 12),
            (r"\\\\", 3, 2),
            ("\u{1f980}\u{1f980}", 1, 4),
        ];
        for (inner, chars, expected) in rows {
            assert_eq!(escape_boundary(inner, chars), expected, "{inner} at {chars}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::from),
            "\\PC{0,90}".prop_map(Value::from),
            Just(Value::Null)
        ];
        leaf.prop_recursive(5, 200, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
                prop::collection::btree_map("\\PC{0,8}", inner, 0..20)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_cut_is_json_and_fits(value in values(), max in 100_usize..500, pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            if let Some((cut, dropped)) = cut(&text, max) {
                prop_assert!(cut.chars().count() <= max);
                let again: Value = serde_json::from_str(&cut).unwrap();
                prop_assert_eq!(again == value, dropped.is_none());
            }
        }
    }
}
