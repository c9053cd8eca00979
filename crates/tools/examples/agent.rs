//! What an agent loop does with a model's tool calls: `cargo run -p ringfence-tools --example agent`.
#![allow(clippy::print_stdout, reason = "an example, which shows what it does")]

use std::error::Error;

use ringfence::guard::Abort;
use ringfence::{Preset, Sandbox};
use ringfence_tools::Toolbox;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("ringfence-example-{}", std::process::id()));
    let workspace = directory.join("project");
    std::fs::create_dir_all(&workspace)?;

    let sandbox = Sandbox::builder()
        .preset(Preset::Workspace)
        .workspace(workspace)
        .state(directory.join("state"))
        .environment(std::env::vars_os())
        .build()?;
    let session = sandbox.session("example")?;
    let toolbox = Toolbox::new();
    // What a model is told about each tool.
    for tool in toolbox.of(&session) {
        println!(
            "{}: {} parameters",
            tool.name(),
            tool.schema()
                .pointer("/properties")
                .map_or(0, |it| it.as_object().map_or(0, serde_json::Map::len))
        );
    }
    // What a model wants, and what it gets.
    let calls = [
        ("write", json!({ "path": "greeting.txt", "content": "hello\n" })),
        ("edit", json!({ "path": "greeting.txt", "edits": [{ "old": "hello", "new": "hello, world" }] })),
        ("exec", json!({ "command": "cat greeting.txt" })),
        ("read", json!({ "path": "../state/ledger.jsonl" })),
        ("exec", json!({ "command": "cat /etc/shadow" })),
        ("exec", json!({ "command": "rm -rf /" })),
        ("web_fetch", json!({ "url": "http://169.254.169.254/latest/meta-data/" })),
    ];
    for (name, arguments) in calls {
        match toolbox.call(&session, name, arguments.clone(), &Abort::new()) {
            Ok(output) => println!("{name} {arguments}\n  {}", output.text.replace('\n', "\n  ")),
            Err(error) => println!("{name} {arguments}\n  {}", serde_json::to_string(&error)?),
        }
    }
    drop(session);
    std::fs::remove_dir_all(directory)?;
    Ok(())
}
