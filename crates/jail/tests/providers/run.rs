//! One command in one jail.

use std::path::Path;
use std::sync::Arc;

use policy::floor::Forbidden;
use policy::{Limits, PathPattern};
use ringfence_jail::{
    Capture, Choice, Command, End, JailError, Layer, Level, Outcome, Provider, Require, Spec, Streams, hold,
};

/// Enforcement that every provider here reaches.
pub(crate) const REQUIRE: Require =
    Require::FULL.with(Layer::Files, Level::Partial).with(Layer::Processes, Level::Partial);

pub(crate) fn spec(workspace: &Path) -> Spec {
    let mut spec = Spec::for_workspace(workspace, Path::new("/home/agent"), Limits::none());
    spec.require = REQUIRE;
    let pattern = PathPattern::parse("**/.env*").unwrap();
    spec.forbidden = Some(Arc::new(Forbidden::new(&[(pattern, None)]).unwrap()));
    spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), "/home/agent".into())];
    spec
}

pub(crate) fn command(words: &[&str], cwd: &Path) -> Command {
    Command {
        argv: words.iter().map(Into::into).collect(),
        cwd: cwd.to_owned(),
        streams: Streams::Captured(Capture::keeping(64 << 10)),
        observe: false,
    }
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) provider: Provider,
    pub(crate) end: End,
    pub(crate) output: String,
    pub(crate) errors: String,
}

pub(crate) fn run(choice: Choice, spec: &Spec, words: &[&str]) -> Result<Done, JailError> {
    let held = hold(choice, spec, &command(words, &spec.workspace))?;
    let provider = held.provider();
    let Outcome { end, captured, .. } = held.release()?.wait()?;
    let [output, errors] =
        captured.unwrap().map(|kept| String::from_utf8_lossy(&[kept.head, kept.tail].concat()).into_owned());
    Ok(Done { provider, end, output, errors })
}

/// A shell script, which has to start.
pub(crate) fn shell(provider: Provider, spec: &Spec, script: &str) -> Done {
    run(Choice::Only(provider), spec, &["sh", "-c", script]).unwrap()
}
