//! From checked values to the chain that decides.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use policy::floor::{Border, Forbidden, NoAbsolute, NoMetadata, OwnFile, Root, in_roots, outside};
use policy::{
    Chain, Code, CommandPattern, Effect, Excluded, Floor, HostPattern, Kind, Kinds, Link, PathPattern,
    Pattern, Reason, Request, Rule, RuleRef, RuleSet, Subject, ToolSet, Want, not_public, tool_pattern,
};

use crate::file::project_file;
use crate::place::Places;
use crate::problem::Problem;
use crate::source::Scope;
use crate::toolset::tool_set;
use crate::tree::{Entry, Node, Table, find};

/// What the sections of a policy become.
pub(crate) struct Compiled {
    pub(crate) chain: Chain,
    pub(crate) rules: Arc<RuleSet>,
    /// How many rules came from sections before the ones under `[[rules]]`.
    pub(crate) from_sections: usize,
    pub(crate) tools: ToolSet,
    pub(crate) roots: Vec<Root>,
}

pub(crate) fn compile(table: &Table, places: &Places) -> Result<Compiled, Vec<Problem>> {
    let mut compiler = Compiler { table, places, problems: Vec::new(), rules: Vec::new() };
    compiler.file_rules();
    compiler.network_rules();
    let from_sections = compiler.rules.len();
    compiler.written_rules();
    let roots = compiler.roots();
    let floor = compiler.floor(&roots);
    let tools = tool_set(find(table, "tools").and_then(Node::table).unwrap_or(&Table::new()));
    let Compiler { problems, rules, .. } = compiler;
    let (Some(floor), Some(tools), true) = (floor, tools, problems.is_empty()) else { return Err(problems) };
    let too_large =
        |error| vec![Problem::new(Code::TooLarge, format!("the rules together are too large: {error}"))];
    let written = find(table, "rules").map(Node::list).unwrap_or_default();
    let own_file =
        written.iter().find(|node| node.source.scope == Scope::Project).map(|node| &*node.source.path);
    let project: Vec<_> = rules.iter().filter(|rule| is_narrowing(own_file, rule)).cloned().collect();
    let chain = Chain::new(floor);
    let (chain, rules) = if project.is_empty() {
        let rules = Arc::new(RuleSet::new(rules).map_err(too_large)?);
        (chain.then(Shared(Arc::clone(&rules))), rules)
    } else {
        let wide = rules.iter().filter(|rule| !is_narrowing(own_file, rule)).cloned().collect();
        let chain = chain.then(RuleSet::new(wide).map_err(too_large)?);
        let narrowing = Arc::new(RuleSet::new(project).map_err(too_large)?);
        (chain.narrowed_by(Shared(narrowing)), Arc::new(RuleSet::new(rules).map_err(too_large)?))
    };
    Ok(Compiled { chain: links(chain, table, &rules, &tools, &roots), rules, from_sections, tools, roots })
}

/// A rule of the project that asks: it may stop what is allowed, not open what is not.
fn is_narrowing(project: Option<&Path>, rule: &Rule) -> bool {
    let place = rule.reason.rule.as_ref().map(|place| &*place.file);
    rule.effect == Effect::Ask && project.is_some() && place == project
}

fn links(chain: Chain, table: &Table, rules: &Arc<RuleSet>, tools: &ToolSet, roots: &[Root]) -> Chain {
    let chain = chain
        .then(Link::new("tools", tool_link(table, tools.clone())))
        .then(Link::new("private addresses", private_addresses(Arc::clone(rules))))
        .otherwise(Link::new("files default", files_default(table)))
        .otherwise(Link::new("network default", network_default(table)));
    match find(table, "files.jail") {
        Some(jail) if jail.word() == Some("ask") => {
            let border = Link::new("border", border_ask(jail.place(), roots.to_vec()));
            if jail.source.scope == Scope::Project { chain.narrowed_by(border) } else { chain.then(border) }
        }
        _ => chain,
    }
}

/// One rule set, in the chain and in the hands of `policy lint`.
struct Shared(Arc<RuleSet>);

impl policy::Policy for Shared {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn decide(&self, request: &Request<'_>) -> Option<policy::Decision> {
        policy::Policy::decide(&*self.0, request)
    }
}

type Answer = Option<(Effect, Reason)>;

fn border_ask(place: RuleRef, roots: Vec<Root>) -> impl Fn(&Request<'_>) -> Answer + Send + Sync {
    move |request| {
        let location = request.want.location()?;
        let writes = matches!(request.want, Want::Write(_));
        let crosses = !location.is_inside() && !in_roots(&roots, location, writes);
        crosses.then(|| (Effect::Ask, outside(Some(place.clone()))))
    }
}

fn tool_link(table: &Table, tools: ToolSet) -> impl Fn(&Request<'_>) -> Answer + Send + Sync + use<> {
    let section = find(table, "tools").and_then(Node::table).cloned().unwrap_or_default();
    let place = move |key: &str, entry: Option<&str>| -> Option<RuleRef> {
        let node = find(&section, key)?;
        let inner = entry.and_then(|entry| node.texts().find(|(text, _)| *text == entry));
        Some(inner.map_or_else(|| node.place(), |(_, node)| node.place()))
    };
    move |request| {
        let Want::Call(_) = request.want else { return None };
        let answer = match tools.judge(request.tool) {
            Ok(()) => (
                Effect::Allow,
                Reason::new(Code::ToolGranted, "the tool is in the agent's tool set")
                    .by(place("profile", None)),
            ),
            Err(excluded) => (Effect::Deny, excluded_reason(&excluded, &place)),
        };
        Some(answer)
    }
}

fn excluded_reason(excluded: &Excluded, place: &impl Fn(&str, Option<&str>) -> Option<RuleRef>) -> Reason {
    match excluded {
        Excluded::NotInProfile(profile) => {
            Reason::new(Code::ToolNotInProfile, format!("the tool is not in the profile `{profile}`"))
                .by(place("profile", None))
                .remedy("add it to `tools.allow`, or choose another `tools.profile`")
        }
        Excluded::Denied(entry) => Reason::new(Code::ToolDenied, format!("the tool is denied by `{entry}`"))
            .by(place("deny", Some(entry)))
            .remedy(format!("remove `{entry}` from `tools.deny`")),
        Excluded::Narrowed => Reason::new(Code::ToolNarrowed, "the skill in use does not ask for this tool"),
    }
}

fn files_default(table: &Table) -> impl Fn(&Request<'_>) -> Answer + Send + Sync + use<> {
    let section = |access: &str| -> Answer {
        let node = find(table, &format!("files.{access}.default"))?;
        let text =
            format!("no pattern of `files.{access}` names this file, and its default is {}", node.word()?);
        let reason = Reason::new(Code::FilesDefault, text).by(Some(node.place()));
        Some((effect(node)?, reason.remedy(format!("add a pattern to `files.{access}.allow`"))))
    };
    let (read, write) = (section("read"), section("write"));
    move |request| match request.want.kind() {
        Kind::Read | Kind::Load => read.clone(),
        Kind::Write => write.clone(),
        Kind::Exec | Kind::Connect | Kind::Call => None,
    }
}

fn network_default(table: &Table) -> impl Fn(&Request<'_>) -> Answer + Send + Sync + use<> {
    let remedy = "add the host to `network.allow`";
    let unknown = find(table, "network.unknown").and_then(|node| {
        let text = format!("no rule names this host, and `network.unknown` is {}", node.word()?);
        Some((effect(node)?, Reason::new(Code::UnknownHost, text).by(Some(node.place())).remedy(remedy)))
    });
    move |request| if request.want.kind() == Kind::Connect { unknown.clone() } else { None }
}

/// A host that is not on the public network needs an allow rule that speaks of it: by its name or address, or by a
/// domain that is itself local. A rule about a tool or an expression does not mean the router in the next room.
fn private_addresses(rules: Arc<RuleSet>) -> impl Fn(&Request<'_>) -> Answer + Send + Sync {
    move |request| {
        let Want::Connect(endpoint) = request.want else { return None };
        let why = not_public(&endpoint.host)?;
        let meant = |rule: &&Rule| {
            rule.effect == Effect::Allow
                && matches!(&rule.subject, Subject::Host(pattern) if pattern.names_local())
        };
        if rules.matching(request).iter().any(meant) {
            return None;
        }
        let reason =
            Reason::new(Code::PrivateAddress, format!("the host is not on the public network: {why}"));
        Some((Effect::Deny, reason.remedy("add exactly this name or address to `network.allow`")))
    }
}

fn effect(node: &Node) -> Option<Effect> {
    match node.word()? {
        "allow" => Some(Effect::Allow),
        "ask" => Some(Effect::Ask),
        "deny" => Some(Effect::Deny),
        _ => None,
    }
}

struct Compiler<'a> {
    table: &'a Table,
    places: &'a Places,
    problems: Vec<Problem>,
    rules: Vec<Rule>,
}

impl Compiler<'_> {
    fn push(&mut self, effect: Effect, subject: Subject, reason: Reason) -> &mut Rule {
        let id = self.rules.len();
        self.rules.push(Rule { id, effect, tool: None, subject, arguments: Vec::new(), reason });
        let last = self.rules.len() - 1;
        &mut self.rules[last]
    }

    fn roots(&mut self) -> Vec<Root> {
        let mut roots = Vec::new();
        for (key, writable) in [("jail.read-only", false), ("jail.shared", true)] {
            let texts: Vec<_> = find(self.table, key).into_iter().flat_map(Node::texts).collect();
            for (text, node) in texts {
                // A directory of a run that is not known, or of a home that does not exist, is not there.
                let Some(path) = self.places.absolute(text) else { continue };
                match roots.iter().find(|root: &&Root| root.path == path) {
                    Some(other) => self.problems.push(overlap(node, other.writable == writable)),
                    None => roots.push(Root { path, writable }),
                }
            }
        }
        roots
    }

    fn floor(&mut self, roots: &[Root]) -> Option<Vec<Box<dyn Floor>>> {
        let jail = find(self.table, "files.jail");
        let absolute = find(self.table, "files.absolute-paths").filter(|node| node.word() == Some("false"));
        let mut floor: Vec<Box<dyn Floor>> = vec![
            Box::new(self.forbidden()?),
            Box::new(OwnFile(project_file(&self.places.workspace))),
            Box::new(NoMetadata),
        ];
        if let Some(node) = absolute {
            floor.push(Box::new(NoAbsolute(Some(node.place()))));
        }
        // Anything but a plain word that opens the border keeps it closed.
        if !matches!(jail.and_then(Node::word), Some("false" | "ask")) {
            floor.push(Box::new(Border::new(roots.to_vec(), jail.map(Node::place))));
        }
        Some(floor)
    }

    fn forbidden(&mut self) -> Option<Forbidden> {
        let mut patterns = Vec::new();
        for (text, node) in find(self.table, "files.forbidden").into_iter().flat_map(Node::texts) {
            if let Some(pattern) = self.path_pattern(text, node) {
                patterns.push((pattern, Some(node.place())));
            }
        }
        let problem = |error: policy::GlobError| Problem::new(Code::BadGlob, error.to_string());
        Forbidden::new(&patterns).map_err(|error| self.problems.push(problem(error))).ok()
    }

    fn path_pattern(&mut self, text: &str, node: &Node) -> Option<PathPattern> {
        let Some(text) = self.places.pattern(text) else {
            let problem =
                Problem::new(Code::BadValue, "the home directory is not known, so `~/` means nothing");
            self.problems.push(node.problem(problem, "set HOME, or write the whole path"));
            return None;
        };
        self.parsed(PathPattern::parse(&text), node)
    }

    /// Values were checked before; if one cannot be used all the same, nothing may run without it.
    fn parsed<T, E: std::fmt::Display>(&mut self, result: Result<T, E>, node: &Node) -> Option<T> {
        let problem = |error: E| node.problem(Problem::new(Code::BadValue, error.to_string()), "this text");
        result.map_err(|error| self.problems.push(problem(error))).ok()
    }

    fn file_rules(&mut self) {
        let rows = [("read", Kinds::Read), ("write", Kinds::Write)];
        for (access, kinds) in rows {
            for (key, effect) in [("deny", Effect::Deny), ("allow", Effect::Allow)] {
                let texts: Vec<_> = find(self.table, &format!("files.{access}.{key}"))
                    .into_iter()
                    .flat_map(Node::texts)
                    .collect();
                for (text, node) in texts {
                    let Some(pattern) = self.path_pattern(text, node) else { continue };
                    let said = if effect == Effect::Deny { "denied" } else { "allowed" };
                    let reason =
                        Reason::new(Code::FilesRule, format!("{access} {said} by the pattern `{text}`"));
                    let reason = with_remedy(
                        reason.by(Some(node.place())),
                        effect,
                        &format!("files.{access}.{key}"),
                        text,
                    );
                    self.push(effect, Subject::Path(pattern, kinds), reason);
                }
            }
        }
    }

    fn network_rules(&mut self) {
        for (key, effect) in [("deny", Effect::Deny), ("allow", Effect::Allow)] {
            let texts: Vec<_> =
                find(self.table, &format!("network.{key}")).into_iter().flat_map(Node::texts).collect();
            for (text, node) in texts {
                let Some(pattern) = self.parsed(HostPattern::parse(text), node) else { continue };
                let said = if effect == Effect::Deny { "denied" } else { "allowed" };
                let reason = Reason::new(Code::HostRule, format!("the host is {said} by `{text}`"))
                    .by(Some(node.place()));
                self.push(
                    effect,
                    Subject::Host(pattern),
                    with_remedy(reason, effect, &format!("network.{key}"), text),
                );
            }
        }
    }

    fn written_rules(&mut self) {
        let rules = find(self.table, "rules").map(Node::list).unwrap_or_default();
        for node in rules {
            self.written_rule(node);
        }
    }

    fn written_rule(&mut self, node: &Node) -> Option<()> {
        let table = node.table()?;
        let effect = effect(find(table, "action")?)?;
        let subject = self.subject(node, table)?;
        let reason = written_reason(node, table, effect);
        let tool = match find(table, "tool") {
            Some(node) => Some(self.parsed(tool_pattern(node.text()?), node)?),
            None => None,
        };
        let arguments = self.arguments(table)?;
        let rule = self.push(effect, subject, reason);
        rule.tool = tool;
        rule.arguments = arguments;
        Some(())
    }

    fn arguments(&mut self, table: &Table) -> Option<Vec<(String, Pattern)>> {
        let given = find(table, "args").and_then(Node::table);
        let pair = |(name, entry): (&Cow<'_, str>, &Entry)| {
            let pattern = self.parsed(Pattern::parse(entry.node.text()?), &entry.node)?;
            Some((name.to_string(), pattern))
        };
        given.into_iter().flatten().map(pair).collect()
    }

    fn subject(&mut self, node: &Node, table: &Table) -> Option<Subject> {
        let given: Vec<_> =
            ["command", "path", "host"].into_iter().filter(|key| table.contains_key(*key)).collect();
        let text = |key: &str| find(table, key).and_then(|node| Some((node.text()?, node)));
        match *given {
            [] if table.contains_key("tool") || table.contains_key("args") => Some(Subject::Any),
            ["command"] => text("command")
                .and_then(|(text, node)| self.parsed(CommandPattern::parse(text), node))
                .map(Subject::Command),
            ["path"] => text("path")
                .and_then(|(text, node)| self.path_pattern(text, node))
                .map(|p| Subject::Path(p, Kinds::Both)),
            ["host"] => text("host")
                .and_then(|(text, node)| self.parsed(HostPattern::parse(text), node))
                .map(Subject::Host),
            [] => {
                let problem = Problem::new(Code::MissingKey, "the rule says nothing about what it matches");
                self.problems.push(node.problem(problem, "give it a tool, a command, a path or a host"));
                None
            }
            _ => {
                let problem = Problem::new(
                    Code::BadValue,
                    format!("the rule has {} at once, so it could never match", given.join(" and ")),
                );
                self.problems.push(node.problem(problem, "one rule is about one thing: write two"));
                None
            }
        }
    }
}

fn written_reason(node: &Node, table: &Table, effect: Effect) -> Reason {
    let text = match find(table, "reason").and_then(Node::text) {
        Some(reason) => reason.to_owned(),
        None => format!("a rule says {}", effect.word()),
    };
    let reason = Reason::new(Code::Rule, text).by(Some(node.place()));
    if effect == Effect::Allow { reason } else { reason.remedy("change or remove the rule") }
}

fn with_remedy(reason: Reason, effect: Effect, key: &str, text: &str) -> Reason {
    if effect == Effect::Deny { reason.remedy(format!("remove `{text}` from `{key}`")) } else { reason }
}

fn overlap(node: &Node, same_mode: bool) -> Problem {
    let message = if same_mode {
        "the same directory is listed twice"
    } else {
        "the directory is both read-only and shared"
    };
    node.problem(Problem::new(Code::OverlappingViews, message), "one view per directory")
}
