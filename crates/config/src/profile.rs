//! Jail profiles: what they permit, compared.

use jail::{Layer, Level, Require};
use policy::finding::Mode;
use policy::{Code, Shown, ToolName, tool_names};

use crate::cover::covered;
use crate::place::writable_root;
use crate::problem::{Problem, nearest};
use crate::schema::Text;
use crate::source::Scope;
use crate::tree::{Node, Table, find};

/// The built-in profiles: name, whether the workspace may be written, network. `driven` is for agents with a recipe of
/// [`policy::agents`]: its home is always empty and private, so no login of an agent is seen.
pub(crate) const BUILT_IN: &[(&str, bool, &str)] = &[
    ("readonly", false, "none"),
    ("workspace-write-no-network", true, "none"),
    ("workspace-write", true, "broker"),
    ("driven", true, "broker"),
];

/// A profile with everything that it takes over from those it extends.
#[derive(Debug, Clone)]
pub(crate) struct Profile<'a> {
    /// True if the workspace may be written.
    pub(crate) writable: bool,
    /// Which network is seen, as a word.
    pub(crate) network: &'a str,
    /// Node of that setting; `None` in a built-in profile.
    pub(crate) network_at: Option<&'a Node>,
    /// Strictness of judging command lines, if the profile sets it; otherwise as in `commands`.
    pub(crate) commands: Option<&'a Node>,
    /// Mode of the section `commands`.
    section: Mode,
    /// True if names are protected, too, that only instruct.
    pub(crate) protects_all: bool,
    /// The least enforcement that is accepted.
    pub(crate) require: Require,
    /// Nodes of these requirements, the nearest last.
    required_at: Vec<(Layer, &'a Node)>,
    /// Node that keeps the home directory; `None` if it is not kept.
    pub(crate) home: Option<&'a Node>,
    /// Paths that may be read.
    pub(crate) read: Vec<&'a str>,
    /// Paths that may be written.
    pub(crate) write: Vec<&'a str>,
    /// Paths that are not seen.
    pub(crate) hide: Vec<&'a str>,
    /// Other profiles for single tools: the tool, the name and what it stands for.
    tools: Vec<(ToolName, &'a str, Profile<'a>)>,
    /// The narrowest layer that made it or one that it extends; others can only have narrowed it since.
    pub(crate) scope: Scope,
}

const NETWORKS: &[&str] = &["none", "broker", "open"];
/// Longer chains of `extends` are a cycle or a joke.
const MAX_DEPTH: usize = 16;

/// A profile by its name; `None` when it does not exist or extends itself.
pub(crate) fn profile<'a>(table: &'a Table, name: &str) -> Option<Profile<'a>> {
    let (mut profile, nodes) = without_tools(table, name)?;
    for (tool, named) in nodes.into_iter().filter_map(Node::table).flat_map(tools_of) {
        // Entries about tools in the tool's profile are not followed: it is a profile for one tool.
        let (own, _) = without_tools(table, named)?;
        profile.tools.retain(|(other, ..)| *other != tool);
        profile.tools.push((tool, named, own));
    }
    Some(profile)
}

/// The profiles that a profile names for single tools.
fn tools_of(profile: &Table) -> impl Iterator<Item = (ToolName, &str)> {
    let named = find(profile, "tools").and_then(Node::table).into_iter().flatten();
    named.filter_map(|(tool, entry)| Some((ToolName::parse(tool).ok()?, entry.node.text()?)))
}

/// A profile but for tools, and what it is made of, the farthest first.
fn without_tools<'a>(table: &'a Table, name: &str) -> Option<(Profile<'a>, Vec<&'a Node>)> {
    let mut extended = Vec::new();
    let mut name = name;
    while extended.len() < MAX_DEPTH {
        if let Some((_, writable, network)) = BUILT_IN.iter().find(|(built_in, ..)| *built_in == name) {
            let section = mode_of(find(table, "commands.mode"));
            let base = Profile::built_in(*writable, network, section);
            extended.reverse();
            return Some((extended.iter().copied().fold(base, Profile::with), extended));
        }
        let node = &find(table, "profiles")?.table()?.get(name)?.node;
        extended.push(node);
        name = find(node.table()?, "extends")?.text()?;
    }
    None
}

impl<'a> Profile<'a> {
    fn built_in(writable: bool, network: &'a str, section: Mode) -> Self {
        let (read, write, hide) = (Vec::new(), Vec::new(), Vec::new());
        let (require, required_at, scope) = (Require::FULL, Vec::new(), Scope::BuiltIn);
        let (network_at, commands, home, protects_all) = (None, None, None, false);
        Self {
            writable,
            network,
            network_at,
            commands,
            section,
            protects_all,
            require,
            required_at,
            home,
            read,
            write,
            hide,
            tools: Vec::new(),
            scope,
        }
    }

    /// The nearest word counts; lists add up.
    fn with(mut self, node: &'a Node) -> Self {
        let Some(table) = node.table() else { return self };
        if let Some((node, word)) = find(table, "network").and_then(|node| Some((node, node.word()?))) {
            (self.network, self.network_at) = (word, Some(node));
        }
        self.commands = find(table, "commands").or(self.commands);
        if let Some(word) = find(table, "protect").and_then(Node::word) {
            self.protects_all = word == "all";
        }
        self.home = find(table, "home").or(self.home);
        for layer in Layer::ALL {
            let least = find(table, "require").and_then(|require| find(require.table()?, layer.word()));
            if let Some((node, level)) = least.and_then(|node| Some((node, level(node)?))) {
                self.require = self.require.with(layer, level);
                self.required_at.push((layer, node));
            }
        }
        let texts = |key| find(table, key).into_iter().flat_map(Node::texts).map(|(text, _)| text);
        self.read.extend(texts("read"));
        self.write.extend(texts("write"));
        self.hide.extend(texts("hide"));
        self.scope = self.scope.max(node.source.scope);
        self
    }

    /// Returns the node that requires the enforcement of a layer; `None` in a built-in profile.
    pub(crate) fn required_at(&self, layer: Layer) -> Option<&'a Node> {
        self.required_at.iter().rev().find(|(known, _)| *known == layer).map(|(_, node)| *node)
    }

    /// Returns true if the home directory is kept for the next run.
    pub(crate) fn keeps_home(&self) -> bool {
        self.home.and_then(Node::word) == Some("project")
    }

    /// Returns the strictness with which it judges command lines.
    pub(crate) fn mode(&self) -> Mode {
        self.commands.map_or(self.section, |node| mode_of(Some(node)))
    }

    /// Two profiles that both leave it to `commands` do not differ in any case.
    fn judges_no_less_than(&self, other: &Self) -> bool {
        self.commands.is_none() && other.commands.is_none() || self.mode() >= other.mode()
    }

    /// The profile that holds for the commands of a tool, and its name if it is another one; `None` is any tool without one.
    pub(crate) fn of_tool(&self, tool: Option<&ToolName>) -> (&Self, Option<&'a str>) {
        let own = self.tools.iter().find(|(known, ..)| Some(known) == tool);
        own.map_or((self, None), |(_, name, profile)| (profile, Some(name)))
    }

    /// Returns the tools that have another profile.
    pub(crate) fn tools_with_profiles(&self) -> Vec<ToolName> {
        self.tools.iter().map(|(tool, ..)| tool.clone()).collect()
    }

    /// Returns true if everything this profile permits is permitted by the other one, too, for every tool.
    pub(crate) fn no_more_than(&self, other: &Self) -> bool {
        let mut tools = self.tools.iter().chain(&other.tools).map(|(tool, ..)| tool);
        self.permits_no_more(other)
            && tools.all(|tool| self.of_tool(Some(tool)).0.permits_no_more(other.of_tool(Some(tool)).0))
    }

    fn permits_no_more(&self, other: &Self) -> bool {
        let readable: Vec<_> = other.read.iter().chain(&other.write).copied().collect();
        let within =
            |paths: &[&str], wider: &[&str]| paths.iter().all(|path| covered(Text::Path, path, wider));
        self.writable <= other.writable
            && rank(self.network) <= rank(other.network)
            && self.judges_no_less_than(other)
            && self.protects_all >= other.protects_all
            && self.keeps_home() <= other.keeps_home()
            && Layer::ALL.iter().all(|layer| self.require.least(*layer) >= other.require.least(*layer))
            && within(&self.read, &readable)
            && within(&self.write, &other.write)
            && within(&other.hide, &self.hide)
    }
}

/// Returns the strictness with which command lines are judged. A word that is not there judges least.
pub(crate) fn mode_of(node: Option<&Node>) -> Mode {
    match node.and_then(Node::word) {
        Some("strict") => Mode::Strict,
        Some("standard") => Mode::Standard,
        _ => Mode::Off,
    }
}

fn level(node: &Node) -> Option<Level> {
    match node.word()? {
        "none" => Some(Level::None),
        "partial" => Some(Level::Partial),
        "full" => Some(Level::Full),
        _ => None,
    }
}

/// Returns the rank of a network by what it permits. An unknown word permits more than all others.
pub(crate) fn rank(network: &str) -> usize {
    NETWORKS.iter().position(|known| *known == network).unwrap_or(NETWORKS.len())
}

/// Reports a profile that does not exist in this layer or a wider one.
pub(crate) fn check_reference(node: &Node, table: &Table) -> Option<Problem> {
    let problem = unknown(table, node.text()?)?;
    Some(node.problem(problem, "not a profile here or in a wider layer"))
}

/// Why there is no profile of this name; `None` when there is one.
pub(crate) fn unknown(table: &Table, name: &str) -> Option<Problem> {
    if profile(table, name).is_some() {
        return None;
    }
    let known = names(table);
    if known.contains(&name) {
        let message = format!("the profile `{name}` does not extend a built-in one");
        return Some(Problem::new(Code::BadValue, message));
    }
    let list = format!("known profiles: {}", Shown::text(&known.join(", ")));
    let problem = Problem::new(Code::UnknownName, format!("there is no profile `{name}`"));
    let near = nearest(name, known.into_iter()).map(|near| format!("did you mean `{near}`?"));
    Some(near.into_iter().chain([list]).fold(problem, Problem::hint))
}

/// Names of all profiles, the built-in ones first.
pub(crate) fn names(table: &Table) -> Vec<&str> {
    let own = find(table, "profiles").and_then(Node::table).into_iter().flat_map(Table::keys);
    BUILT_IN.iter().map(|(name, ..)| *name).chain(own.map(|name| &**name)).collect()
}

/// Finds problems that only show when all profiles are known: roots that are not there, tools that start nothing.
pub(crate) fn problems(table: &Table) -> Vec<Problem> {
    let profiles = find(table, "profiles").and_then(Node::table).into_iter().flat_map(Table::values);
    let profiles: Vec<_> = profiles.filter_map(|entry| entry.node.table()).collect();
    let roots = 1 + find(table, "jail.shared").map_or(0, |node| node.list().len());
    let paths = profiles.iter().flat_map(|profile| ["read", "write", "hide"].map(|key| find(profile, key)));
    let missing = paths.flatten().flat_map(Node::texts).filter_map(|(text, node)| {
        let (number, _) = writable_root(text).filter(|(number, _)| *number > roots)?;
        let message = format!("there is no writable root `${{RW{number}}}`: `jail.shared` has {}", roots - 1);
        Some(node.problem(Problem::new(Code::BadValue, message), "the workspace is `${RW1}`"))
    });
    let tools = profiles.iter().filter_map(|profile| find(profile, "tools")?.table()).flatten();
    let idle = tools.filter_map(|(tool, entry)| {
        let name = ToolName::parse(tool).ok().filter(|name| tool_names().contains(&name.as_str()))?;
        let message = format!("the tool `{}` starts no commands, so it has no profile", Shown::text(tool));
        let problem = Problem::new(Code::BadValue, message);
        (name != ToolName::exec()).then(|| entry.node.problem(problem, "this would have no effect"))
    });
    missing.chain(idle).collect()
}
