//! Lists that are too long for one answer: what is left out is told, and the next page begins with it.

use std::fs;

use ringfence::guard::Abort;
use ringfence_tools::Toolbox;
use serde_json::{Value, json};

use crate::stage::Stage;

/// Largest size of one answer.
const MOST: usize = 50_000;

/// Names so long that a page of them does not fit, and lines as long.
fn stage() -> Stage {
    let stage = Stage::roomy();
    for number in 0..900 {
        let name = format!("{number:04}{}", "x".repeat(120));
        fs::write(stage.ws.join(&name), format!("needle {}\n", "y".repeat(200))).unwrap();
    }
    stage
}

#[test]
fn every_page_begins_where_the_last_one_ended() {
    let stage = stage();
    let toolbox = Toolbox::new();
    let rows = [
        ("ls", json!({ "limit": 800 }), "entries", "name", "entries"),
        ("find", json!({ "limit": 800, "kind": "file" }), "found", "path", "entries"),
        ("grep", json!({ "limit": 800, "pattern": "needle" }), "matches", "path", "matches"),
        ("grep", json!({ "limit": 800, "pattern": "needle", "mode": "count" }), "counts", "path", "files"),
    ];
    for (tool, mut arguments, key, name, what) in rows {
        let (mut seen, mut offset) = (Vec::new(), 0_u64);
        loop {
            arguments["offset"] = offset.into();
            let output = toolbox.call(&stage.session, tool, arguments.clone(), &Abort::new()).unwrap();
            assert!(output.text.chars().count() <= MOST, "{tool}");
            let shown: Vec<String> =
                output.data[key].as_array().unwrap().iter().map(|row| text(&row[name])).collect();
            assert!(!shown.is_empty() && shown.iter().all(|name| output.text.contains(name)), "{tool}");
            let last = offset + shown.len() as u64;
            seen.extend(shown);
            let next = output.data["next_offset"].as_u64();
            assert_eq!(
                (output.data["truncated"] == true, output.extent.cut),
                (next.is_some(), next.is_some()),
                "{tool}"
            );
            let line = output.text.lines().next().unwrap().to_owned();
            let more = next.map_or_else(String::new, |next| format!("; go on with offset: {next}"));
            assert_eq!(line, format!("[{what} {} to {last} of 900{more}]", offset + 1), "{tool}");
            let Some(next) = next else { break };
            assert_eq!(next, last, "{tool}");
            offset = next;
        }
        assert_eq!(seen.len(), 900, "{tool}");
        assert!(seen.is_sorted(), "{tool}");
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
