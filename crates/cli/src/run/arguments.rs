//! Arguments of `ringfence run`, and their conversion to run options.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use config::Wish;
use jail::bridge::Direction;
use jail::environment::Wanted;
use jail::toolchain::Choose;
use jail::{Layer, Mode, Network, View};
use policy::lexical;
use ringfence::run::{Options, Purpose, SkillConfinement};

use crate::failure::Failure;

/// What a person types after `ringfence run`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct RunArgs {
    /// The profile: readonly, workspace-write, workspace-write-no-network, driven, or yours
    #[arg(short, long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Show a path, read-only; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) read: Vec<PathBuf>,
    /// Show a path and let it be changed; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<PathBuf>,
    /// Show nothing at a path; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) hide: Vec<PathBuf>,
    /// Let a protected name be changed, such as CLAUDE.md; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) unprotect: Vec<String>,
    /// Let a variable in, or set it; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<OsString>,
    /// Which network the command sees
    #[arg(long, value_enum, value_name = "NETWORK")]
    pub(crate) network: Option<NetworkArg>,
    /// Let a host or a named set such as @npm be reached; may be repeated
    #[arg(long, value_name = "HOST|@SET")]
    pub(crate) allow: Vec<String>,
    /// Show this toolchain and no other, or none; may be repeated
    #[arg(long = "toolchain", value_name = "NAME")]
    pub(crate) toolchains: Vec<String>,
    /// Let a port of the host lead to a server inside; may be repeated
    #[arg(long, value_name = "HOST[:INSIDE]")]
    pub(crate) port_in: Vec<String>,
    /// Let a port inside lead to a server of the host; may be repeated
    #[arg(long, value_name = "HOST[:INSIDE]")]
    pub(crate) port_out: Vec<String>,
    /// What makes the jail
    #[arg(long, value_enum, value_name = "PROVIDER")]
    pub(crate) provider: Option<ProviderArg>,
    /// Accept gaps in files, network, syscalls, processes or resources; may be repeated
    #[arg(long, value_enum, value_name = "LAYER", hide_possible_values = true)]
    pub(crate) accept_partial: Vec<LayerArg>,
    /// Another limit for this run, such as wall-clock=10m; may be repeated
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub(crate) limits: Vec<String>,
    /// Run a command of this skill, with no more than its code needs
    #[arg(long, value_name = "NAME", conflicts_with_all = ["write", "network", "allow", "port_in", "port_out"])]
    pub(crate) skill: Option<PathBuf>,
    /// Only as the skill is pinned in this file
    #[arg(long, value_name = "FILE", requires = "skill", hide_short_help = true)]
    pub(crate) skill_lock: Option<PathBuf>,
    /// Keep what the command changes apart, for `review` and `apply`
    #[arg(long, value_name = "new|ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) overlay: Option<String>,
    /// Keep the home directory for the next run in this workspace
    #[arg(long)]
    pub(crate) keep_home: bool,
    /// Run what a person would be asked about; the words say why, for the ledger
    #[arg(long, value_name = "WORDS", value_parser = some_words)]
    pub(crate) approve: Option<String>,
    /// Say what the jail refused, and which setting would allow it
    #[arg(long)]
    pub(crate) explain_denials: bool,
    /// Say what is enforced before the command starts
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

const EXITS: &str = "Exit codes: the command's own, 128+n for signal n, 3 ask, 124 limit, 125 no jail, 126 refused, 127 not found.";

/// Words that say nothing are none.
pub(crate) fn some_words(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("say why") } else { Ok(text.to_owned()) }
}

/// The networks that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum NetworkArg {
    /// None at all
    None,
    /// Hosts that the policy allows, through the broker
    Broker,
    /// The host's
    Open,
}

/// The providers that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProviderArg {
    /// The strongest that can hold the policy
    Auto,
    /// Namespaces, Landlock and seccomp
    Native,
    /// Landlock and seccomp
    Landlock,
    /// The bwrap program
    Bubblewrap,
}

/// The layers of enforcement that may have gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LayerArg {
    /// Which files are seen and changed
    Files,
    /// Which connections are made
    Network,
    /// Which system calls are answered
    Syscalls,
    /// Which processes are seen and reached
    Processes,
    /// How much is used up
    Resources,
}

impl LayerArg {
    const fn layer(self) -> Layer {
        match self {
            Self::Files => Layer::Files,
            Self::Network => Layer::Network,
            Self::Syscalls => Layer::Syscalls,
            Self::Processes => Layer::Processes,
            Self::Resources => Layer::Resources,
        }
    }
}

impl ProviderArg {
    const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Landlock => "landlock",
            Self::Bubblewrap => "bubblewrap",
        }
    }
}

impl RunArgs {
    /// Returns the options of a run.
    pub(crate) fn options(
        &self,
        cwd: &Path,
        skill: Option<SkillConfinement>,
        purpose: Purpose,
    ) -> Result<Options, Failure> {
        let mut options = Options::new(self.command.clone());
        options.wish = self.wish(cwd)?;
        options.variables = self.env.iter().map(|text| Wanted::parse(text)).collect();
        options.overlay = self.overlay.as_deref().map(|wanted| match wanted {
            "" => overlay::OverlayChoice::Newest,
            "new" => overlay::OverlayChoice::New,
            id => overlay::OverlayChoice::Id(id.to_owned()),
        });
        (options.skill, options.purpose) = (skill, purpose);
        (options.observe, options.verbose) = (self.explain_denials, self.verbose);
        Ok(options)
    }

    /// The wishes, with paths made absolute.
    fn wish(&self, cwd: &Path) -> Result<Wish, Failure> {
        let lists =
            [(&self.read, Mode::ReadOnly), (&self.write, Mode::ReadWrite), (&self.hide, Mode::Hidden)];
        let views = lists.into_iter().flat_map(|(paths, mode)| paths.iter().map(move |path| (path, mode)));
        let ports =
            |way, ports: &[String]| ports.iter().map(move |port| (way, port.clone())).collect::<Vec<_>>();
        Ok(Wish {
            toolchains: choose(&self.toolchains)?,
            ports: [ports(Direction::In, &self.port_in), ports(Direction::Out, &self.port_out)].concat(),
            profile: self.profile.clone(),
            network: self.network.map(|network| match network {
                NetworkArg::None => Network::None,
                NetworkArg::Broker => Network::Broker,
                NetworkArg::Open => Network::Open,
            }),
            provider: self.provider.map(|provider| provider.word().to_owned()),
            views: views.map(|(path, mode)| View { path: real(cwd, path), mode }).collect(),
            unprotected: self.unprotect.clone(),
            keep_home: self.keep_home,
            allow: self.allow.clone(),
            accepted: self.accept_partial.iter().map(|layer| layer.layer()).collect(),
            limits: self.limits.iter().map(|text| pair(text)).collect::<Result<_, _>>()?,
        })
    }
}

/// Resolves a path to its real location: a symbolic link stands for its target. A path that does not exist stays as typed,
/// so that the message about it can be understood.
fn real(cwd: &Path, path: &Path) -> PathBuf {
    let path = cwd.join(path);
    std::fs::canonicalize(&path).unwrap_or_else(|_| lexical(&path))
}

/// `auto` and `none` stand alone.
fn choose(names: &[String]) -> Result<Option<Choose>, Failure> {
    let alone = names.iter().find(|name| matches!(name.as_str(), "auto" | "none"));
    match (names, alone.map(String::as_str)) {
        ([], _) => Ok(None),
        ([_], Some("auto")) => Ok(Some(Choose::Auto)),
        ([_], Some(_)) => Ok(Some(Choose::NONE)),
        (_, Some(word)) => {
            let failure = Failure::usage(format!("`--toolchain {word}` stands alone"));
            Err(failure.hint("name the toolchains, or none of them"))
        }
        (names, None) => Ok(Some(Choose::Only(names.to_vec()))),
    }
}

fn pair(text: &str) -> Result<(String, String), Failure> {
    let (name, value) = text.split_once('=').ok_or_else(|| {
        Failure::usage(format!("`{text}` is not NAME=VALUE")).hint("for example: --limit wall-clock=10m")
    })?;
    Ok((name.to_owned(), value.to_owned()))
}
