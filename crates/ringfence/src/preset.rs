//! The policy of a sandbox without a policy file: rules on files, and the same floor that a policy file has.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use guard::Config;
use jail::environment::{self, Place};
use jail::toolchain::{Ask, Choose, Disk, Shown, shown};
use jail::{Choice, CommitRecord, Mode, Repository, Spec};
use policy::finding;
use policy::floor::NoMetadata;
use policy::{
    Chain, Code, Destructive, Effect, Execution, Findings, Limits, Link, Reason, Request, ToolSet, Want,
    unprovable,
};

use crate::builder::{BuildError, CompiledPolicy, Surroundings, judge_tool};

/// The path where the private home directory of a jail appears.
pub(crate) const HOME: &str = "/home/agent";

/// Compiles rules on files and a tool set into a chain and a jail: commands without a network, with the caller's toolchains.
pub(crate) fn compile(
    rules: &Config,
    tools: ToolSet,
    around: &Surroundings<'_>,
) -> Result<CompiledPolicy, BuildError> {
    let mut spec = spec(around.workspace, around.state, around.environment.to_vec());
    spec.forbidden = Some(Arc::new(rules.forbidden()?));
    Ok(CompiledPolicy {
        chain: chain(rules, &tools)?,
        tools,
        spec,
        tool_specs: Vec::new(),
        provider: Choice::Auto,
        ledger: around.state.join("ledger.jsonl"),
        egress: None,
    })
}

fn chain(rules: &Config, tools: &ToolSet) -> Result<Chain, BuildError> {
    let chain = rules.chain()?;
    Ok(chain
        .forbidden_by(Destructive)
        .forbidden_by(NoMetadata)
        .narrowed_by(Findings::new(finding::Mode::Standard, None))
        .then(Link::new("tools", judge_tool(tools.clone())))
        .otherwise(Link::new("commands default", |request: &Request<'_>| {
            let Want::Exec(Execution { invocation, .. }) = request.want else { return None };
            let text = "no rule is against this command, and it runs in a jail";
            let certain = || (Effect::Allow, Reason::new(Code::CommandDefault, text));
            Some(if invocation.is_certain() { certain() } else { (Effect::Ask, unprovable()) })
        })))
}

fn spec(workspace: &Path, state: &Path, mut environment: Vec<(OsString, OsString)>) -> Spec {
    let mut spec = Spec::for_workspace(workspace, Path::new(HOME), limits());
    if let Repository::Outside(path) = jail::repository(workspace) {
        spec = spec.view(&path, Mode::ReadWrite);
        spec.repositories.push(path);
    }
    spec.protected = spec.protected.acting();
    spec.commit_record = Some(CommitRecord::at(&state.join("commits")));
    spec.toolchains = toolchains(workspace, state, &mut environment);
    let visible = environment::SYSTEM.iter().map(Path::new).chain([workspace]);
    let visible: Vec<_> = visible.chain(spec.toolchains.programs()).collect();
    let place = Place {
        home: Path::new(HOME),
        workspace,
        cwd: workspace,
        user: OsStr::new("agent"),
        shell: Path::new("/bin/sh"),
        tmp: Path::new("/tmp"),
        visible: &visible,
    };
    // Nothing is asked for on top, so nothing can be refused; and what is refused does not enter.
    spec.environment = environment::inside(&environment, &[], &place).unwrap_or_default();
    spec
}

/// Returns the additions of the caller's toolchains; none where the caller has no home directory.
///
/// The caller's search path is made to lead there.
fn toolchains(workspace: &Path, state: &Path, environment: &mut [(OsString, OsString)]) -> Shown {
    let home = environment.iter().find(|(name, _)| name == "HOME").map(|(_, value)| Path::new(value));
    let home = home.and_then(|home| std::fs::canonicalize(home).ok()).filter(|home| *home != Path::new("/"));
    let Some(home) = home else { return Shown::default() };
    let files = Disk::new(&home, vec![workspace.to_owned()]);
    let ask = Ask {
        choose: &Choose::Auto,
        outside: &home,
        home: Path::new(HOME),
        workspace,
        environment,
        views: &[],
        closed: &[state.to_owned()],
    };
    let shown = shown(&ask, &files);
    shown.lead(environment, &files);
    shown
}

/// Returns the limits of one command.
fn limits() -> Limits {
    Limits {
        wall_clock: Some(Duration::from_secs(600)),
        memory: Some(3_000_000_000),
        processes: Some(1024),
        open_files: Some(65_536),
        file_size: Some(16 << 30),
        output: Some(50_000),
        tmp: Some(1_000_000_000),
        ..Limits::none()
    }
}
