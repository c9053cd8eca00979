//! An agent loop with a policy file, tools, a tool of its own and an approver: `cargo run -p ringfence-tools --example agent`.
#![allow(clippy::print_stdout, reason = "an example, which shows what it does")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use ringfence::Sandbox;
use ringfence::audit::Impact;
use ringfence::guard::{Abort, Answer, Approver, Question, Unanswered};
use ringfence_tools::{Call, Reply, Tool, ToolError, Toolbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, JsonSchema)]
struct CountParameters {
    /// The file, from the workspace.
    path: PathBuf,
}

struct CountLines;

impl Tool for CountLines {
    type Parameters = CountParameters;
    const NAME: &'static str = "count_lines";
    const DESCRIPTION: &'static str = "Counts the lines of a text file.";
    const IMPACT: Impact = Impact::Read;
    const PATHS: &'static [&'static str] = &["path"];

    fn run(&self, call: &Call<'_>, parameters: CountParameters) -> Result<Reply, ToolError> {
        let lines = call.read_text(&parameters.path)?.lines().count();
        Ok(Reply::new(format!("{lines} lines"), json!({ "lines": lines })))
    }
}

struct Person;

impl Approver for Person {
    fn approve(&self, question: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        println!("approve {} of {}? yes, once", question.kind.word(), question.object);
        Ok(Answer::AllowOnce)
    }
}

const POLICY: &str = r#"
version = 1
tools.allow = ["count_lines"]
commands.approve = ["git push *"]
files.write.deny = ["docs/**"]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("ringfence-example-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("project"))?;
    std::fs::write(directory.join("policy.toml"), POLICY)?;

    let sandbox = Sandbox::builder()
        .policy_file(directory.join("policy.toml"))
        .workspace(directory.join("project"))
        .state(directory.join("state"))
        .environment(std::env::vars_os())
        .approver(Arc::new(Person))
        .build()?;
    let session = sandbox.session("my-agent")?;
    let toolbox = Toolbox::new().add(CountLines);

    for tool in toolbox.of(&session) {
        println!("offered: {} {}", tool.name(), tool.schema().to_value());
    }
    for (name, arguments) in CALLS_OF_A_MODEL {
        let result = match toolbox.call_text(&session, name, arguments, &Abort::new()) {
            Ok(output) => output.text,
            Err(error) => serde_json::to_string(&error)?,
        };
        println!("{name} {arguments}\n{result}\n");
    }
    drop(session);
    std::fs::remove_dir_all(directory)?;
    Ok(())
}

/// Stands for the model.
const CALLS_OF_A_MODEL: [(&str, &str); 6] = [
    ("write", r#"{ "path": "poem.txt", "content": "one\ntwo\n" }"#),
    ("count_lines", r#"{ "path": "poem.txt" }"#),
    ("exec", r#"{ "command": "wc -l poem.txt" }"#),
    ("exec", r#"{ "command": "git push origin main" }"#),
    ("write", r#"{ "path": "docs/plan.md", "content": "mine" }"#),
    ("read", r#"{ "path": "../state/ringfence/ledger.jsonl" }"#),
];
