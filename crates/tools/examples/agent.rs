//! An agent loop with a policy file, tools, a tool of its own and an approver: `cargo run -p ringfence-tools --example agent`.
#![allow(clippy::print_stdout, reason = "an example, which shows what it does")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence::{Answer, Question, Sandbox};
use ringfence_tools::{Call, Impact, Reply, Tool, ToolError, Toolbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        Ok(Reply::from(format!("{lines} lines")))
    }
}

/// Runs the calls of a model, each a name and its arguments, and returns the texts that the model reads.
fn run_agent(directory: &Path, calls: &[(&str, &str)]) -> Result<Vec<String>, Box<dyn Error>> {
    let sandbox = Sandbox::builder()
        .policy_file(directory.join("policy.toml"))
        .workspace(directory.join("project"))
        .state(directory.join("state"))
        .environment(std::env::vars_os())
        .approver(Arc::new(|question: &Question| match question.object.as_str() {
            "git push origin main" => Answer::AllowOnce,
            _ => Answer::DenyOnce,
        }))
        .build()?;
    let session = sandbox.session("my-agent")?;
    let toolbox = Toolbox::new().add(CountLines);
    Ok(calls.iter().map(|(name, arguments)| toolbox.respond(&session, name, arguments)).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("ringfence-example-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("project"))?;
    std::fs::write(directory.join("policy.toml"), POLICY)?;
    let replies = run_agent(&directory, CALLS)?;
    for ((name, arguments), reply) in CALLS.iter().zip(replies) {
        println!("{name} {arguments}\n{reply}\n");
    }
    std::fs::remove_dir_all(directory)?;
    Ok(())
}

const POLICY: &str = r#"
version = 1
tools.allow = ["count_lines"]
commands.approve = ["git push *"]
files.write.deny = ["docs/**"]
"#;

/// Stands for the model.
const CALLS: &[(&str, &str)] = &[
    ("write", r#"{ "path": "poem.txt", "content": "one\ntwo\n" }"#),
    ("count_lines", r#"{ "path": "poem.txt" }"#),
    ("exec", r#"{ "command": "wc -l poem.txt" }"#),
    ("exec", r#"{ "command": "git push origin main" }"#),
    ("write", r#"{ "path": "docs/plan.md", "content": "mine" }"#),
    ("read", r#"{ "path": "../state/ringfence/ledger.jsonl" }"#),
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_guide_shows_this_file() {
        let guide = include_str!("../../../docs/guide/library.md");
        let block = guide.split("```rust,no_run\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        assert!(include_str!("agent.rs").contains(block), "{block}");
        assert!(guide.contains(&format!("```toml{POLICY}```")));
    }

    #[test]
    fn a_model_reads_results_and_refusals() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("project")).unwrap();
        std::fs::write(directory.path().join("policy.toml"), POLICY).unwrap();
        let replies = run_agent(directory.path(), CALLS).unwrap();
        let parts = [(1, "2 lines"), (4, "\"violation\":\"write-denied\""), (5, "\"violation\":\"jail\"")];
        for (at, part) in parts {
            assert!(replies[at].contains(part), "{}", replies[at]);
        }
    }
}
