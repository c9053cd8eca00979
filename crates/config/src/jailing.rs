//! Settings of one jail, with the wishes of the command line on top.
//!
//! The command line belongs to the person who types it, so it may say what that person's own file may say. The
//! administrator's file and the project's are bounds: what one of them sets, the command line can only narrow.

mod besides;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jail::bridge::{Direction, Port};
use jail::toolchain::Choose;
use jail::{Layer, Level, Mode, Network, Require, View};
use policy::finding::Mode as Judging;
use policy::{Code, Limits, Protected, RuleRef, Shown, ToolName};

use crate::agent::layer_for;
use crate::check::{check, protected_name};
use crate::place::writable_root;
use crate::problem::{Problem, Problems};
use crate::profile::{Profile, mode_of, profile, rank, unknown};
use crate::settings::Settings;
use crate::source::{Scope, Source};
use crate::tree::{Entry, Node, Table, Value, find};

/// Wishes of the command line on top of the files. Paths are absolute and real.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// Another profile.
    pub profile: Option<String>,
    /// Another network.
    pub network: Option<Network>,
    /// Another provider, as a word.
    pub provider: Option<String>,
    /// Views: read-only, writable and hidden ones.
    pub views: Vec<View>,
    /// Other toolchains.
    pub toolchains: Option<Choose>,
    /// Ports, each way as texts.
    pub ports: Vec<(Direction, String)>,
    /// Protected names that may be changed.
    pub unprotected: Vec<String>,
    /// Limits, each as a name and a value.
    pub limits: Vec<(String, String)>,
    /// Layers of enforcement that may have gaps.
    pub accepted: Vec<Layer>,
    /// A home directory that is kept for the next run.
    pub keep_home: bool,
    /// Hosts and sets that are allowed besides: see [`Settings::allowing`].
    pub allow: Vec<String>,
}

/// Settings of one jail.
#[derive(Debug, Clone)]
pub struct JailSettings {
    /// Jailed or not.
    pub jailing: Jailing,
    /// Which implementation makes the jail, as a word of the policy file.
    pub provider: String,
    /// The profile.
    pub profile: String,
    /// True if the workspace may be written.
    pub writable: bool,
    /// Which network is seen.
    pub network: Network,
    /// File and line of the network setting; `None` when a built-in profile or the command line sets it.
    pub network_rule: Option<RuleRef>,
    /// Paths that are visible besides the workspace.
    pub views: Vec<View>,
    /// Which toolchains are seen.
    pub toolchains: Choose,
    /// Which ports are bridged.
    pub ports: Vec<Port>,
    /// The names that are protected.
    pub protected: Protected,
    /// The limits.
    pub limits: Limits,
    /// Scope and line that set each limit.
    pub limit_places: Vec<(String, Scope, RuleRef)>,
    /// The least enforcement that is accepted.
    pub require: Require,
    /// True if the home directory is kept for the next run in the same workspace.
    pub keep_home: bool,
    /// Strictness with which command lines are judged: see [`Settings::in_mode`].
    pub commands: Judging,
}

/// Jailed or not. Each exception names the setting that makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Jailing {
    /// Jailed, or not started.
    Always,
    /// Jailed where a jail can be made.
    WhereAvailable(RuleRef),
    /// Not jailed.
    Never(RuleRef),
}

/// The layers that bound the command line, for the commands of one tool.
pub(crate) struct Bounds {
    layers: Vec<Table>,
    tool: Option<ToolName>,
}

impl Bounds {
    fn new(sources: &[Arc<Source>], agent: Option<&str>, tool: Option<&ToolName>) -> Self {
        let bounding = sources.iter().filter(|source| is_bound(source.scope));
        let layers = bounding.map(|source| layer_for(check(source).0, agent)).collect();
        Self { layers, tool: tool.cloned() }
    }

    fn iter(&self) -> std::slice::Iter<'_, Table> {
        self.layers.iter()
    }
}

impl Settings {
    /// Returns the settings for the jail of a command, with the wishes of the command line.
    pub fn jail(&self, wish: &Wish) -> Result<JailSettings, Problems> {
        self.jail_of(&ToolName::exec(), wish)
    }

    /// Returns the tools for whose commands the profile of the policy names another profile.
    #[must_use]
    pub fn tools_with_profiles(&self) -> Vec<ToolName> {
        let name = self.get("jail.profile").and_then(Node::text).unwrap_or_default();
        profile(&self.table, name).map(|chosen| chosen.tools_with_profiles()).unwrap_or_default()
    }

    /// Returns the settings for the jail of every tool that [`Settings::tools_with_profiles`] does not list.
    pub fn jail_of_others(&self, wish: &Wish) -> Result<JailSettings, Problems> {
        self.jail_for(None, wish)
    }

    /// Returns the settings for the jail of a tool's commands, with the wishes of the command line.
    pub fn jail_of(&self, tool: &ToolName, wish: &Wish) -> Result<JailSettings, Problems> {
        self.jail_for(Some(tool), wish)
    }

    fn jail_for(&self, tool: Option<&ToolName>, wish: &Wish) -> Result<JailSettings, Problems> {
        let bounds = self.bounds(tool);
        let by_files = self.get("jail.profile").and_then(Node::text).unwrap_or_default();
        let name = wish.profile.as_deref().unwrap_or(by_files);
        let Some(chosen) = profile(&self.table, name) else {
            let problem = unknown(&self.table, name);
            return Err(problem.unwrap_or_else(|| widens("jail.profile", name, None)).into());
        };
        self.profile_allowed(wish, &chosen, &bounds)?;
        let (chosen, own_name) = chosen.of_tool(tool);
        let name = own_name.unwrap_or(name);
        let (network, network_rule) = self.network(wish, chosen, &bounds)?;
        self.views_allowed(&wish.views, &bounds)?;
        Ok(JailSettings {
            jailing: self.jailing(),
            provider: self.provider(wish, &bounds)?,
            profile: name.to_owned(),
            writable: chosen.writable,
            network,
            network_rule,
            views: self.views(wish, chosen),
            toolchains: self.toolchains(wish, &bounds)?,
            ports: self.ports(wish, &bounds)?,
            protected: self.wished_names(wish, chosen, &bounds)?,
            limits: self.wished_limits(wish, &bounds)?,
            limit_places: self.limit_places(),
            require: self.require(wish, chosen, &bounds)?,
            keep_home: self.keeps_home(wish, chosen, &bounds)?,
            commands: judging(chosen, &bounds),
        })
    }

    /// Returns true if the administrator and the project let a view in that was not wished for by name.
    #[must_use]
    pub fn admits(&self, view: &View) -> bool {
        self.views_allowed(std::slice::from_ref(view), &self.bounds(Some(&ToolName::exec()))).is_ok()
    }

    /// The layers that the command line can only narrow, each as it was written.
    fn bounds(&self, tool: Option<&ToolName>) -> Bounds {
        Bounds::new(&self.sources, self.agent.as_deref(), tool)
    }

    /// The layers that the command line can only narrow.
    pub(crate) fn bounding_layers(&self) -> Vec<Table> {
        self.bounds(None).layers
    }

    /// The profiles that bounding layers choose, and where they do.
    fn bounding_profiles<'a>(&'a self, bounds: &'a Bounds) -> impl Iterator<Item = (Profile<'a>, &'a Node)> {
        let chosen = bounds.iter().filter_map(|bound| find(bound, "jail.profile"));
        let whole = chosen.filter_map(|node| Some((profile(&self.table, node.text()?)?, node)));
        whole.map(|(whole, node)| (whole.of_tool(bounds.tool.as_ref()).0.clone(), node))
    }

    fn profile_allowed(&self, wish: &Wish, chosen: &Profile<'_>, bounds: &Bounds) -> Result<(), Problem> {
        let Some(name) = &wish.profile else { return Ok(()) };
        let (own, _) = chosen.of_tool(bounds.tool.as_ref());
        if let Some((_, node)) = self.bounding_profiles(bounds).find(|(bound, _)| !own.no_more_than(bound)) {
            return Err(widens("jail.profile", name, Some(node)));
        }
        // The agent could have written the project's profile: choosing it by name is no consent to what it says.
        let by_files = self.get("jail.profile").filter(|_| chosen.scope == Scope::Project);
        let known = by_files.and_then(|node| Some((profile(&self.table, node.text()?)?, node)));
        match known {
            Some((known, node)) if !own.no_more_than(known.of_tool(bounds.tool.as_ref()).0) => {
                Err(widens("jail.profile", name, Some(node)))
            }
            _ => Ok(()),
        }
    }

    fn network(
        &self,
        wish: &Wish,
        chosen: &Profile<'_>,
        bounds: &Bounds,
    ) -> Result<(Network, Option<RuleRef>), Problem> {
        let Some(wanted) = wish.network else {
            return Ok((network(chosen.network), chosen.network_at.map(Node::place)));
        };
        let own =
            chosen.network_at.filter(|node| is_bound(node.source.scope)).map(|node| (chosen.network, node));
        let others = self.bounding_profiles(bounds).map(|(bound, node)| (bound.network, node));
        let mut all = own.into_iter().chain(others);
        match all.find(|(bound, _)| rank(network_word(wanted)) > rank(bound)) {
            Some((_, node)) => Err(widens("network", network_word(wanted), Some(node))),
            None => Ok((wanted, None)),
        }
    }

    /// Returns the requirements of the profile, without gaps that the command line accepts. A requirement of a bounding
    /// layer, by its own profile or in the chosen one, stays required.
    fn require(&self, wish: &Wish, chosen: &Profile<'_>, bounds: &Bounds) -> Result<Require, Problem> {
        let mut require = chosen.require;
        for &layer in wish.accepted.iter().filter(|layer| chosen.require.least(**layer) > Level::Partial) {
            let own = chosen.required_at(layer).filter(|node| is_bound(node.source.scope));
            let others = self.bounding_profiles(bounds);
            let mut others = others.filter(|(bound, _)| bound.require.least(layer) > Level::Partial);
            if let Some(node) = own.or_else(|| others.next().map(|(_, node)| node)) {
                return Err(widens(&format!("require.{layer}"), "partial", Some(node)));
            }
            require = require.with(layer, Level::Partial);
        }
        Ok(require)
    }

    fn keeps_home(&self, wish: &Wish, chosen: &Profile<'_>, bounds: &Bounds) -> Result<bool, Problem> {
        if chosen.keeps_home() || !wish.keep_home {
            return Ok(chosen.keeps_home());
        }
        let own = chosen.home.filter(|node| is_bound(node.source.scope));
        let mut others = self.bounding_profiles(bounds).filter(|(bound, _)| !bound.keeps_home());
        match own.or_else(|| others.next().map(|(_, node)| node)) {
            Some(node) => Err(widens("home", "project", Some(node))),
            None => Ok(true),
        }
    }

    fn provider(&self, wish: &Wish, bounds: &Bounds) -> Result<String, Problem> {
        let by_files = self.get("jail.provider").and_then(Node::text).unwrap_or("auto");
        let wanted = wish.provider.as_deref().unwrap_or(by_files);
        let fixed = bounds.iter().filter_map(|bound| find(bound, "jail.provider"));
        match fixed.into_iter().find(|node| node.text() != Some(wanted)) {
            Some(node) => Err(widens("jail.provider", wanted, Some(node))),
            None => Ok(wanted.to_owned()),
        }
    }

    /// Checks that every view lies within the views of the bounding layers, as far as they say anything.
    fn views_allowed(&self, views: &[View], bounds: &Bounds) -> Result<(), Problem> {
        for view in views {
            let shown = Shown::path(&view.path).to_string();
            for bound in bounds.iter() {
                if let Some(node) = self.closed_by(bound, view) {
                    return Err(widens("the views", &shown, Some(node)));
                }
            }
            let read_only = self.bounding_profiles(bounds).find(|(bound, _)| !bound.writable);
            if let (Mode::ReadWrite, Some((_, node))) = (view.mode, read_only) {
                return Err(widens("the views", &shown, Some(node)));
            }
        }
        Ok(())
    }

    /// Returns the keys of the user's own file for the views of a jail of this profile: for reading and for writing.
    #[must_use]
    pub fn view_keys(&self, profile: &str) -> (String, String) {
        let own = self.get("profiles").and_then(Node::table).and_then(|profiles| profiles.get(profile));
        let plain = profile.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        match own.filter(|entry| plain && entry.node.source.scope == Scope::User) {
            Some(_) => (format!("profiles.{profile}.read"), format!("profiles.{profile}.write")),
            None => ("jail.read-only".to_owned(), "jail.shared".to_owned()),
        }
    }

    /// The setting of a bounding layer that does not let this view in.
    fn closed_by<'a>(&self, bound: &'a Table, view: &View) -> Option<&'a Node> {
        let (read, shared) = (find(bound, "jail.read-only"), find(bound, "jail.shared"));
        let paths = |node: Option<&'a Node>| node.into_iter().flat_map(Node::texts).map(|(text, _)| text);
        let holds = |text| self.places.absolute(text).is_some_and(|root| view.path.starts_with(root));
        let inside = view.path.starts_with(&self.places.workspace);
        match view.mode {
            Mode::Hidden | Mode::Private => None,
            _ if inside => None,
            Mode::ReadOnly | Mode::Layered => read.filter(|_| !paths(read).chain(paths(shared)).any(holds)),
            Mode::ReadWrite => shared.or(read).filter(|_| !paths(shared).any(holds)),
        }
    }

    /// The deepest say is the person's: a wish replaces what a profile says of the same path, a profile what `jail` says.
    fn views(&self, wish: &Wish, chosen: &Profile<'_>) -> Vec<View> {
        let roots = self.roots.iter().map(|root| (root.path.clone(), writable_mode(root.writable)));
        let of = |paths: &[&str], mode| {
            let known = paths.iter().filter_map(|path| self.view_path(path));
            known.map(|path| (path, mode)).collect::<Vec<_>>()
        };
        let own =
            [(&chosen.read, Mode::ReadOnly), (&chosen.write, Mode::ReadWrite), (&chosen.hide, Mode::Hidden)];
        let own = own.into_iter().flat_map(|(paths, mode)| of(paths, mode));
        let mut views = Vec::new();
        for (path, mode) in roots.chain(own) {
            replace(&mut views, View { path, mode });
        }
        // Wishes that contradict each other are for the jail to refuse.
        views.retain(|view| wish.views.iter().all(|wished| wished.path != view.path));
        for view in &wish.views {
            if !views.contains(view) {
                views.push(view.clone());
            }
        }
        views
    }

    /// A path of a profile; `None` when a part of it is not known.
    fn view_path(&self, text: &str) -> Option<PathBuf> {
        let Some((number, rest)) = writable_root(text) else { return self.places.absolute(text) };
        let root = match number.checked_sub(2) {
            None => self.places.workspace.clone(),
            Some(index) => self.places.absolute(self.get("jail.shared")?.list().get(index)?.text()?)?,
        };
        Some(root.join(rest))
    }

    fn jailing(&self) -> Jailing {
        let says =
            |key: &str, word: &str| self.get(key).filter(|node| node.word() == Some(word)).map(Node::place);
        match (says("jail.enabled", "never"), says("jail.on-unavailable", "run-unjailed")) {
            (Some(rule), _) => Jailing::Never(rule),
            (None, Some(rule)) => Jailing::WhereAvailable(rule),
            (None, None) => Jailing::Always,
        }
    }

    /// Returns the names that the files leave unprotected, and those of the command line. A bounding layer that says
    /// anything about it has said everything.
    fn wished_names(&self, wish: &Wish, chosen: &Profile<'_>, bounds: &Bounds) -> Result<Protected, Problem> {
        let all = self.protected.clone();
        let mut protected = if chosen.protects_all { all } else { all.acting() };
        for text in &wish.unprotected {
            let name =
                protected_name(text).map_err(|message| Problem::new(Code::BadValue, message).hint(NAMES))?;
            let bound = bounds.iter().filter_map(|bound| find(bound, UNPROTECTED));
            let closed = |node: &&Node| node.texts().all(|(other, _)| protected_name(other) != Ok(name));
            if let Some(node) = bound.into_iter().find(closed) {
                return Err(widens(UNPROTECTED, name, Some(node)));
            }
            if !protected.leave_out(name) {
                return Err(widens(UNPROTECTED, name, None));
            }
        }
        Ok(protected)
    }

    fn limit_places(&self) -> Vec<(String, Scope, RuleRef)> {
        let limits = find(&self.table, "limits").and_then(Node::table).into_iter().flatten();
        limits.map(|(name, entry)| (name.to_string(), entry.node.source.scope, entry.node.place())).collect()
    }

    fn wished_limits(&self, wish: &Wish, bounds: &Bounds) -> Result<Limits, Problems> {
        let mut limits = find(&self.table, "limits").and_then(Node::table).cloned().unwrap_or_default();
        for (name, value) in &wish.limits {
            let entry = limit(name, value)?;
            let bound = bounds.iter().filter_map(|bound| find(bound, &format!("limits.{name}")));
            if let Some(node) = bound.into_iter().find(|node| entry.node.amount() > node.amount()) {
                return Err(widens(&format!("limits.{name}"), value, Some(node)).into());
            }
            limits.insert(name.clone().into(), entry);
        }
        Ok(crate::settings::limits(&limits))
    }
}

/// The names that a table of values leaves protected.
pub(crate) fn protected(table: &Table) -> Protected {
    let mut protected = Protected::all();
    for (text, _) in find(table, UNPROTECTED).into_iter().flat_map(Node::texts) {
        // A text that names nothing leaves everything protected; it was refused when it was read.
        let _known = protected.leave_out(text);
    }
    protected
}

const UNPROTECTED: &str = "jail.unprotected";
const NAMES: &str = "the names are those of the reference, such as CLAUDE.md or .vscode";

/// Returns how closely the command lines of a run are judged; `None` for an unknown profile.
pub(crate) fn run_mode(
    table: &Table,
    sources: &[Arc<Source>],
    agent: Option<&str>,
    name: Option<&str>,
) -> Option<Judging> {
    let chosen = profile(table, name.or_else(|| find(table, "jail.profile")?.text())?)?;
    let tool = ToolName::exec();
    Some(judging(chosen.of_tool(Some(&tool)).0, &Bounds::new(sources, agent, Some(&tool))))
}

/// A profile judges as it says, and no less than a bounding layer wants.
fn judging(chosen: &Profile<'_>, bounds: &Bounds) -> Judging {
    let wanted = bounds.iter().filter_map(|bound| find(bound, "commands.mode"));
    wanted.map(|node| mode_of(Some(node))).fold(chosen.mode(), Judging::max)
}

fn is_bound(scope: Scope) -> bool {
    matches!(scope, Scope::Managed | Scope::Project)
}

fn replace(views: &mut Vec<View>, view: View) {
    views.retain(|other| other.path != view.path);
    views.push(view);
}

fn writable_mode(writable: bool) -> Mode {
    if writable { Mode::ReadWrite } else { Mode::ReadOnly }
}

/// A word that is not known is the narrowest.
fn network(word: &str) -> Network {
    match word {
        "open" => Network::Open,
        "broker" => Network::Broker,
        _ => Network::None,
    }
}

fn network_word(network: Network) -> &'static str {
    match network {
        Network::None => "none",
        Network::Broker => "broker",
        Network::Open => "open",
    }
}

/// A limit of the command line, read as if it stood in a file: one way to write it, one way to be wrong.
fn limit(name: &str, value: &str) -> Result<Entry, Problems> {
    let plain = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let refused = || {
        let written = format!("{}={}", Shown::text(name), Shown::text(value));
        let problem = Problem::new(Code::BadValue, format!("`{written}` is not a limit of a command"));
        problem.hint("a limit is written NAME=VALUE, such as wall-clock=10m, memory=4GiB or processes=512")
    };
    if !plain(name) || !plain(value) || name.contains('.') {
        return Err(refused().into());
    }
    let bare = value.chars().all(|c| c.is_ascii_digit() || c == '_');
    let value = if bare { value.to_owned() } else { format!("\"{value}\"") };
    let text = format!("version = 1\nlimits.{name} = {value}\n");
    let source = Source::new(Scope::User, Path::new("the command line"), text).into();
    let (mut table, problems) = check(&source);
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let limits = table.remove("limits").map(|entry| entry.node.value);
    let entry = if let Some(Value::Table(mut limits)) = limits { limits.remove(name) } else { None };
    entry.ok_or_else(|| refused().into())
}

pub(crate) fn widens(key: &str, value: &str, bound: Option<&Node>) -> Problem {
    let key = Shown::text(key);
    let problem = Problem::new(
        Code::LayerWidens,
        format!("the command line cannot widen {key}: `{}`", Shown::text(value)),
    );
    let Some(bound) = bound else { return problem };
    let scope = bound.source.scope;
    let problem = bound.problem(problem, format!("the {} file says this", scope.word()));
    if scope == Scope::Project {
        problem.hint("the project's file narrows what you allow; `--no-project-policy` leaves it out")
    } else {
        problem.hint("only the owner of that file can change this")
    }
}
