//! Files through a guard, with a person who is asked: `cargo run -p ringfence --example guard`.
#![allow(clippy::print_stdout, reason = "an example, which shows what it does")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use ringfence::Sandbox;
use ringfence::guard::{Abort, Answer, Approver, Config, Question, Unanswered};
use ringfence::policy::{Effect, ToolName};

/// Says yes to notes and no to everything else.
struct Careful;

impl Approver for Careful {
    fn approve(&self, question: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        println!("? {} wants to {} {}", question.agent, question.kind.word(), question.object);
        Ok(if question.object.starts_with("notes/") { Answer::AllowForSession } else { Answer::DenyOnce })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("ringfence-example-{}", std::process::id()));
    let workspace = directory.join("project");
    std::fs::create_dir_all(&workspace)?;
    std::fs::write(workspace.join(".env"), "TOKEN=secret")?;

    // Everything may be read, and a person is asked before anything is written.
    let mut config = Config::default_in(&workspace);
    config.write.default = Effect::Ask;
    let sandbox = Sandbox::builder()
        .file_rules(config)
        .workspace(workspace)
        .state(directory.join("state"))
        .approver(Arc::new(Careful))
        .build()?;
    let session = sandbox.session("example")?;
    let guard = session.guard(&ToolName::parse("write")?);

    for path in ["notes/today.txt", "notes/today.txt", "src/main.rs", ".env", "../outside"] {
        match guard.write(Path::new(path), &Abort::new()) {
            Ok(place) => {
                place.replace(b"hello")?;
                println!("written: {path}");
            }
            Err(refusal) => println!("refused: {refusal}"),
        }
    }
    std::fs::remove_dir_all(directory)?;
    Ok(())
}
