//! A sandbox around one directory, for whoever has no policy file.

use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use audit::{AuditError, Durability, Ledger, Options};
use guard::{BadPattern, Config, Refuse};
use jail::environment::{self, Place};
use jail::toolchain::{Ask, Choose, Disk, Shown, shown};
use jail::{Choice, CommitRecord, Mode, Repository, Spec};
use policy::finding;
use policy::floor::NoMetadata;
use policy::{
    Chain, Code, Cover, Destructive, Effect, Execution, Findings, Limits, Link, Reason, Request, ToolProfile,
    ToolSet, Want, unprovable,
};

use crate::sandbox::Parts;

/// Where the private home directory of a jail appears.
const HOME: &str = "/home/agent";

/// Why there are no parts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PresetError {
    /// A directory cannot be used.
    #[error("{} cannot be used: {why}", policy::Shown::path(.path))]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
    /// A pattern cannot be read.
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    /// A tool or profile is not known.
    #[error(transparent)]
    Tool(#[from] policy::ToolError),
    /// The ledger cannot be opened.
    #[error("the ledger cannot be opened: {0}")]
    Ledger(#[from] AuditError),
}

impl Parts {
    /// A sandbox around one directory: nothing outside of it, the usual names forbidden ([`Config::default_in`]), commands in a jail
    /// without a network and with the toolchains that the caller has, the coding tools, nobody to ask, and a ledger.
    ///
    /// Ledger and long output go to `state`, which has to lie outside the workspace. `environment` is the caller's; what is in it enters
    /// by allow-list.
    pub fn for_workspace(
        workspace: &Path,
        state: &Path,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, PresetError> {
        let unusable = |path: &Path| {
            let path = path.to_owned();
            move |why| PresetError::Directory { path, why }
        };
        let workspace = std::fs::canonicalize(workspace).map_err(unusable(workspace))?;
        let spill = state.join("spill");
        // For us alone, if it is we who make it.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&spill);
        let state = made.and_then(|()| std::fs::canonicalize(state)).map_err(unusable(state))?;
        let tools = ToolSet::new(ToolProfile::parse("coding")?, Vec::new(), Vec::new());
        let config = Config::default_in(&workspace);
        let chain = chain(&config, &tools)?;
        let forbidden = Arc::new(config.forbidden()?);
        let (ledger, _) = Ledger::open(&state.join("ledger.jsonl"), Options::new(Durability::Process))?;
        let environment: Vec<_> = environment.into_iter().collect();
        let mut spec = spec(&workspace, &state, environment);
        spec.forbidden = Some(forbidden);
        Ok(Self {
            spec,
            tool_specs: Vec::new(),
            workspace,
            chain,
            provider: Choice::Auto,
            tools,
            approver: Arc::new(Refuse),
            cover: Cover::Tool,
            sink: Arc::new(ledger),
            spill: state.join("spill"),
        })
    }
}

fn chain(config: &Config, tools: &ToolSet) -> Result<Chain, PresetError> {
    let chain = config.chain()?;
    Ok(chain
        .forbidden_by(Destructive)
        .forbidden_by(NoMetadata)
        .narrowed_by(Findings::new(finding::Mode::Standard, None))
        .then(Link::new("tools", in_set(tools.clone())))
        .otherwise(Link::new("commands default", |request: &Request<'_>| {
            let Want::Exec(Execution { invocation, .. }) = request.want else { return None };
            let text = "no rule is against this command, and it runs in a jail";
            let certain = || (Effect::Allow, Reason::new(Code::CommandDefault, text));
            Some(if invocation.is_certain() { certain() } else { (Effect::Ask, unprovable()) })
        })))
}

fn in_set(tools: ToolSet) -> impl Fn(&Request<'_>) -> Option<(Effect, Reason)> + Send + Sync + 'static {
    move |request| {
        if !matches!(request.want, Want::Call(_) | Want::Exec(_)) {
            return None;
        }
        let judged = tools.judge(request.tool);
        // Whether the command may run is for others to say.
        if judged.is_ok() && matches!(request.want, Want::Exec(_)) {
            return None;
        }
        Some(match judged {
            Ok(()) => (Effect::Allow, Reason::new(Code::ToolGranted, "the tool is in the agent's tool set")),
            Err(excluded) => {
                (Effect::Deny, Reason::new(excluded.code(), "the tool is not in the agent's tool set"))
            }
        })
    }
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

/// What the caller's toolchains bring; none where the caller has no home directory. The caller's search path is made to lead there.
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

/// What one command may use up.
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
