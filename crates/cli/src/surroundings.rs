//! Environment of the command: directories, policy files, colours. The only module that reads the environment.

use std::env;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use config::{Files, Places, project_file};
use ringfence::run::Host;

use crate::failure::Failure;

/// Options about the environment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SurroundingsArgs {
    /// The directory the agent works in [default: the current one]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Where")]
    pub workspace: Option<PathBuf>,
    /// Your policy file [default: ringfence/policy.toml in the configuration directory]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Where")]
    pub user_policy: Option<PathBuf>,
    /// The agent: what `[agents.NAME]` says about it holds
    #[arg(long, global = true, value_name = "NAME", help_heading = "Where")]
    pub agent: Option<String>,
    /// Leave out the project's ringfence.toml; it can only narrow
    #[arg(long, global = true, help_heading = "Where")]
    pub no_project_policy: bool,
}

/// Finds the directories, policy files and variables of the caller.
pub(crate) fn find(args: &SurroundingsArgs) -> Result<Host, Failure> {
    let cwd = env::current_dir()
        .map_err(|error| Failure::new("the current directory cannot be found").because(&error))?;
    let written = args.workspace.clone().unwrap_or_else(|| cwd.clone());
    let workspace = std::fs::canonicalize(cwd.join(&written)).map_err(|error| {
        let shown = policy::Shown::path(&written).to_string();
        Failure::new(format!("the workspace {shown} cannot be used")).because(&error)
    })?;
    let home = directory("HOME").or_else(home_of_user);
    let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let config = directory("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
    let state = directory("XDG_STATE_HOME").or_else(|| below_home(".local/state"));
    let user = args.user_policy.as_ref().map(|path| cwd.join(path));
    let files = Files {
        managed: Some(PathBuf::from(config::MANAGED_FILE)),
        user: user.or_else(|| config.map(|config| config.join("ringfence/policy.toml"))),
        project: (!args.no_project_policy).then(|| project_file(&workspace)),
    };
    let run = env::var("RINGFENCE_RUN").ok();
    let places = Places { workspace, home, state, run };
    let (runtime, agent) = (directory("XDG_RUNTIME_DIR"), args.agent.clone());
    Ok(Host { cwd, places, files, runtime, agent, environment: env::vars_os().collect() })
}

/// A directory from the environment. A relative one would depend on where the command is called, so it does not count.
fn directory(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Returns the home directory of the effective user, for use without `HOME`.
fn home_of_user() -> Option<PathBuf> {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let home = users.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        (fields.get(2) == Some(&uid.as_str())).then(|| fields.get(5).copied())?
    })?;
    Some(PathBuf::from(home)).filter(|home| home.is_absolute() && home != Path::new("/"))
}

/// Returns true if standard error is a terminal on which a line can be redrawn.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns the command that shows long texts on standard output, as a shell reads it.
///
/// `RINGFENCE_PAGER` or `PAGER`; one that is empty or `cat` is none. Without either it is `less`, if there is one.
pub(crate) fn pager() -> Option<std::ffi::OsString> {
    if !std::io::stdout().is_terminal() || env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return None;
    }
    let named = env::var_os("RINGFENCE_PAGER").or_else(|| env::var_os("PAGER"));
    let options = if env::var_os("LESS").is_some() { "" } else { " -FRX" };
    let usual =
        || format!("if command -v less >/dev/null; then exec less{options}; else exec cat; fi").into();
    match named {
        Some(pager) if pager.is_empty() || pager == "cat" => None,
        // Colours are ours; everything else in the text is escaped.
        Some(pager) if pager == "less" => Some(usual()),
        Some(pager) => Some(pager),
        None => Some(usual()),
    }
}

/// Returns the width of a drawing, in columns: that of the terminal that it is drawn on, or of a page without one.
pub(crate) fn columns(on: impl std::os::fd::AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(on);
    size.ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).unwrap_or(100)
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal that wants it.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Returns true if standard output is to be coloured.
    #[must_use]
    pub fn wanted(self) -> bool {
        let set = |variable: &str| env::var_os(variable).filter(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if set("NO_COLOR").is_some() => false,
            Self::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Self::Auto => std::io::stdout().is_terminal() && set("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}
