//! From checked values to the chain that decides.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use policy::finding::Mode;
use policy::floor::{Border, Forbidden, NoAbsolute, NoMetadata, OwnFile, Root, in_roots, outside};
use policy::{
    Chain, Code, CommandFiles, CommandPattern, Destructive, Effect, Endpoint, Excluded, Execution,
    FilesDefault, Findings, Floor, HostPattern, Kinds, Link, PathPattern, Pattern, ProtectedNames, Reason,
    Request, Rule, RuleRef, RuleSet, Subject, ToolSet, Want, not_public, own_tool_pattern, sets_containing,
    unprovable,
};

use crate::file::project_file;
use crate::host_entry::{HostEntry, entries};
use crate::jailing::protected;
use crate::place::Places;
use crate::problem::Problem;
use crate::rule_string::{self, Refused, RuleString, is_rule_string};
use crate::source::Scope;
use crate::toolset::tool_set;
use crate::tree::{Entry, Node, Table, find};

/// Compiled sections of a policy.
pub(crate) struct Compiled {
    pub(crate) chain: Chain,
    pub(crate) rules: Arc<RuleSet>,
    /// Number of rules from sections before the ones under `[[rules]]`.
    pub(crate) from_sections: usize,
    pub(crate) tools: ToolSet,
    pub(crate) roots: Vec<Root>,
    /// The names that nothing overrules, which are also in the chain.
    pub(crate) forbidden: Arc<Forbidden>,
}

pub(crate) fn compile(table: &Table, places: &Places, mode: Mode) -> Result<Compiled, Vec<Problem>> {
    let mut compiler = Compiler { table, places, problems: Vec::new(), rules: Vec::new() };
    compiler.file_rules();
    compiler.command_rules();
    compiler.network_rules();
    let from_sections = compiler.rules.len();
    compiler.written_rules();
    let roots = compiler.roots();
    let forbidden = compiler.forbidden(&roots);
    let floor = forbidden.as_ref().map(|forbidden| compiler.floor(forbidden, &roots));
    let tools = tool_set(find(table, "tools").and_then(Node::table).unwrap_or(&Table::new()));
    let Compiler { problems, rules, .. } = compiler;
    let (Some(floor), Some(forbidden), Some(tools), true) = (floor, forbidden, tools, problems.is_empty())
    else {
        return Err(problems);
    };
    let too_large =
        |error| vec![Problem::new(Code::TooLarge, format!("the rules together are too large: {error}"))];
    let own_file = own_file(table);
    let set = |rules| RuleSet::new(rules).map(|set| Arc::new(set.in_workspace(&places.workspace)));
    let narrows = |rule: &&Rule| is_narrowing(own_file, rule);
    let wide: Vec<_> = rules.iter().filter(|rule| !narrows(rule)).cloned().collect();
    // Permissions of the project count for nothing there, except as exceptions to its own asks.
    let narrowing: Vec<_> = if wide.len() == rules.len() {
        Vec::new()
    } else {
        rules.iter().filter(|rule| is_own(own_file, rule) && rule.effect != Effect::Deny).cloned().collect()
    };
    let all = set(rules).map_err(too_large)?;
    let (chain, wide) = if narrowing.is_empty() {
        (Chain::new(floor).then(Shared(Arc::clone(&all))), Arc::clone(&all))
    } else {
        let wide = set(wide).map_err(too_large)?;
        let chain = Chain::new(floor).then(Shared(Arc::clone(&wide)));
        (chain.narrowed_by(Shared(set(narrowing).map_err(too_large)?)), wide)
    };
    let names = ProtectedNames(protected(table));
    let chain = chain.forbidden_by(names.clone()).narrowed_by(names);
    let chain = command_links(chain, table, mode, &wide, &all);
    let chain = links(chain, table, &all, &tools, &roots);
    Ok(Compiled { chain, rules: all, from_sections, tools, roots, forbidden })
}

/// The project's file, if a rule comes from it.
fn own_file(table: &Table) -> Option<&Path> {
    let lists = ["rules", "commands.approve"].into_iter().filter_map(|key| find(table, key));
    let mut nodes = lists.flat_map(Node::list);
    nodes.find(|node| node.source.scope == Scope::Project).map(|node| &*node.source.path)
}

/// A rule of the project that asks: it may stop what is allowed, not open what is not.
fn is_narrowing(project: Option<&Path>, rule: &Rule) -> bool {
    rule.effect == Effect::Ask && is_own(project, rule)
}

fn is_own(project: Option<&Path>, rule: &Rule) -> bool {
    let place = rule.reason.rule.as_ref().map(|place| &*place.file);
    project.is_some() && place == project
}

/// Adds the links about commands besides the rules on them.
fn command_links(chain: Chain, table: &Table, mode: Mode, wide: &Arc<RuleSet>, all: &Arc<RuleSet>) -> Chain {
    let chain = chain.narrowed_by(findings(table, mode)).narrowed_by(CommandFiles(Arc::clone(all)));
    let Some((effect, reason)) = command_default(table) else { return chain };
    let chain = match effect {
        // The default still decides about programs that no rule names.
        Effect::Deny => chain.narrowed_by(Link::new("rest of the line", unnamed(Arc::clone(wide), &reason))),
        Effect::Allow | Effect::Ask => chain,
    };
    chain.otherwise(Link::new("commands default", move |request| {
        let Want::Exec(Execution { invocation, .. }) = request.want else { return None };
        let uncertain = effect == Effect::Allow && !invocation.is_certain();
        Some(if uncertain { (Effect::Ask, unprovable()) } else { (effect, reason.clone()) })
    }))
}

/// Returns the effects of findings in a policy.
pub(crate) fn findings(table: &Table, mode: Mode) -> Findings {
    let own = find(table, "commands.findings").and_then(Node::table).into_iter().flatten();
    let own = own
        .filter_map(|(code, entry)| Some((Code::from_id(code)?, effect(&entry.node)?, entry.node.place())));
    let rule = find(table, "commands.mode").map(Node::place);
    own.fold(Findings::new(mode, rule), |link, (code, effect, place)| link.with(code, effect, Some(place)))
}

fn command_default(table: &Table) -> Answer {
    let node = find(table, "commands.default")?;
    let text = format!("no rule names this program, and `commands.default` is {}", node.word()?);
    let reason = Reason::new(Code::CommandDefault, text).by(Some(node.place()));
    Some((effect(node)?, reason.remedy("add the command to `commands.allow`")))
}

fn unnamed(rules: Arc<RuleSet>, reason: &Reason) -> impl Fn(&Request<'_>) -> Answer + Send + Sync + use<> {
    let reason = reason.clone();
    move |request| rules.names_a_part(request).then(|| (Effect::Deny, reason.clone()))
}

fn links(chain: Chain, table: &Table, rules: &Arc<RuleSet>, tools: &ToolSet, roots: &[Root]) -> Chain {
    let chain = chain
        .then(Link::new("tools", tool_link(table, tools.clone())))
        .then(Link::new("private addresses", private_addresses(Arc::clone(rules))))
        .otherwise(files_default(table))
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

    fn effect(&self, request: &Request<'_>) -> Option<Effect> {
        policy::Policy::effect(&*self.0, request)
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
        let is_command = matches!(request.want, Want::Exec(_));
        if !is_command && !matches!(request.want, Want::Call(_)) {
            return None;
        }
        let answer = match tools.judge(request.tool) {
            // Other links decide about the command itself.
            Ok(()) if is_command => return None,
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
    let code = excluded.code();
    match excluded {
        Excluded::NotInProfile(profile) => {
            Reason::new(code, format!("the tool is not in the profile `{profile}`"))
                .by(place("profile", None))
                .remedy("add it to `tools.allow`, or choose another `tools.profile`")
        }
        Excluded::Denied(entry) => Reason::new(code, format!("the tool is denied by `{entry}`"))
            .by(place("deny", Some(entry)))
            .remedy(format!("remove `{entry}` from `tools.deny`")),
        Excluded::Narrowed => Reason::new(code, "the skill in use does not ask for this tool"),
    }
}

fn files_default(table: &Table) -> FilesDefault {
    let section = |access: &str| -> Answer {
        let node = find(table, &format!("files.{access}.default"))?;
        let text =
            format!("no pattern of `files.{access}` names this file, and its default is {}", node.word()?);
        let reason = Reason::new(Code::FilesDefault, text).by(Some(node.place()));
        Some((effect(node)?, reason.remedy(format!("add a pattern to `files.{access}.allow`"))))
    };
    FilesDefault { read: section("read"), write: section("write") }
}

fn network_default(table: &Table) -> impl Fn(&Request<'_>) -> Answer + Send + Sync + use<> {
    let unknown = find(table, "network.unknown").and_then(|node| {
        let text = format!("no rule names this host, and `network.unknown` is {}", node.word()?);
        Some((effect(node)?, Reason::new(Code::UnknownHost, text).by(Some(node.place()))))
    });
    move |request| {
        let Want::Connect(endpoint) = request.want else { return None };
        unknown.clone().map(|(effect, reason)| (effect, reason.remedy(way_in(endpoint))))
    }
}

/// The shortest change that allows a host: its set, if it is in one.
fn way_in(endpoint: &Endpoint) -> String {
    match sets_containing(endpoint).first() {
        Some(set) => format!("add \"@{}\" to `network.allow` ({})", set.name, set.because),
        None => "add the host to `network.allow`".to_owned(),
    }
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
    effect_of(node.word()?)
}

/// The effect that a word of the file stands for.
pub(crate) fn effect_of(word: &str) -> Option<Effect> {
    match word {
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

    fn floor(&self, forbidden: &Arc<Forbidden>, roots: &[Root]) -> Vec<Box<dyn Floor>> {
        let jail = find(self.table, "files.jail");
        let absolute = find(self.table, "files.absolute-paths").filter(|node| node.word() == Some("false"));
        let mut floor: Vec<Box<dyn Floor>> = vec![
            Box::new(Arc::clone(forbidden)),
            Box::new(Destructive),
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
        floor
    }

    fn forbidden(&mut self, roots: &[Root]) -> Option<Arc<Forbidden>> {
        let (mut patterns, mut bounds) = (Vec::new(), Vec::new());
        for (text, node) in find(self.table, "files.forbidden").into_iter().flat_map(Node::texts) {
            if let Some(pattern) = self.path_pattern(text, node) {
                patterns.push((pattern, Some(node.place())));
                bounds.push(matches!(node.source.scope, Scope::Managed | Scope::Project));
            }
        }
        // A person's exemptions do not open names that the administrator or the project forbids.
        let (mut all, mut own) = (Vec::new(), Vec::new());
        for (text, node) in find(self.table, "files.exempt").into_iter().flat_map(Node::texts) {
            let pattern = self.path_pattern(text, node);
            match node.source.scope {
                Scope::BuiltIn | Scope::Managed => all.extend(pattern),
                Scope::User | Scope::Project => own.extend(pattern),
            }
        }
        let problem = |error: policy::GlobError| Problem::new(Code::BadGlob, error.to_string());
        let forbidden = Forbidden::new(&patterns)
            .and_then(|forbidden| forbidden.except(&all, |_| true)?.except(&own, |id| !bounds[id]));
        let forbidden = forbidden.map_err(|error| self.problems.push(problem(error))).ok()?;
        let tops = roots.iter().map(|root| root.path.clone());
        Some(Arc::new(forbidden.in_workspace(&self.places.workspace).beneath(tops)))
    }

    fn path_pattern(&mut self, text: &str, node: &Node) -> Option<PathPattern> {
        let Some(text) = self.places.pattern(text) else {
            let problem = Problem::new(Code::BadValue, "cannot expand `~/`: the home directory is unknown");
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

    fn command_rules(&mut self) {
        let rows = [
            ("deny", Effect::Deny, "denied"),
            ("approve", Effect::Ask, "to be approved"),
            ("allow", Effect::Allow, "allowed"),
        ];
        for (key, effect, said) in rows {
            let key = format!("commands.{key}");
            let texts: Vec<_> = find(self.table, &key).into_iter().flat_map(Node::texts).collect();
            for (text, node) in texts {
                let Some(RuleString { subject, tool }) = self.command_rule(text, node, effect) else {
                    continue;
                };
                let reason = Reason::new(Code::Rule, format!("{said} by `{text}`")).by(Some(node.place()));
                let reason = match effect {
                    Effect::Allow => reason,
                    Effect::Ask | Effect::Deny => reason.remedy(format!("remove `{text}` from `{key}`")),
                };
                self.push(effect, subject, reason).tool = tool;
            }
        }
    }

    /// A pattern on commands, or a rule string.
    fn command_rule(&mut self, text: &str, node: &Node, effect: Effect) -> Option<RuleString> {
        if is_rule_string(text) {
            return self.rule_string(text, node, effect);
        }
        let pattern = self.command_pattern(text, node)?;
        Some(RuleString { subject: Subject::Command(pattern), tool: None })
    }

    fn rule_string(&mut self, text: &str, node: &Node, effect: Effect) -> Option<RuleString> {
        let problem =
            |refused: Refused| node.problem(Problem::new(refused.code, refused.message), "this text");
        rule_string::parse(text, effect, self.places)
            .map_err(|refused| self.problems.push(problem(refused)))
            .ok()
    }

    fn command_pattern(&mut self, text: &str, node: &Node) -> Option<CommandPattern> {
        let places = self.places;
        self.parsed(CommandPattern::parse_with(text, |word| places.command_path(word)), node)
    }

    fn network_rules(&mut self) {
        for (key, effect) in [("network.deny", Effect::Deny), ("network.allow", Effect::Allow)] {
            for entry in entries(find(self.table, key)) {
                self.host_entry(key, effect, &entry);
            }
        }
    }

    /// One rule for each host of an entry; they share a reason.
    fn host_entry(&mut self, key: &str, effect: Effect, entry: &HostEntry<'_>) {
        let said = if effect == Effect::Deny { "denied" } else { "allowed" };
        let about = entry.set.map_or_else(String::new, |set| format!(" ({})", set.because));
        let reason = Reason::new(Code::HostRule, format!("the host is {said} by `{}`{about}", entry.text));
        let reason = with_remedy(reason.by(Some(entry.node.place())), effect, key, entry.text);
        let hosts = entry.hosts();
        if hosts.is_empty() {
            let problem = Problem::new(Code::BadHostPattern, format!("`{}` cannot be read", entry.text));
            self.problems.push(entry.node.problem(problem, "this text"));
        }
        for host in hosts {
            self.push(effect, Subject::Host(host.pattern), reason.clone());
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
        let (subject, meant) = self.subject(node, table, effect)?;
        let reason = written_reason(node, table, effect);
        let tool = match find(table, "tool") {
            Some(node) => Some(self.parsed(own_tool_pattern(node.text()?), node)?),
            None => meant,
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

    /// Returns the subject of a rule, and the tool, if a rule string names one.
    fn subject(&mut self, node: &Node, table: &Table, effect: Effect) -> Option<(Subject, Option<Pattern>)> {
        let keys = ["rule", "command", "path", "host"];
        let mut given: Vec<_> = keys.into_iter().filter(|key| table.contains_key(*key)).collect();
        if given == ["rule"] && table.contains_key("tool") {
            given.push("tool");
        }
        let text = |key: &str| find(table, key).and_then(|node| Some((node.text()?, node)));
        match *given {
            [] if table.contains_key("tool") || table.contains_key("args") => Some((Subject::Any, None)),
            ["rule"] => {
                let (text, node) = text("rule")?;
                self.rule_string(text, node, effect).map(|rule| (rule.subject, rule.tool))
            }
            ["command"] => {
                let (text, node) = text("command")?;
                self.command_pattern(text, node).map(|pattern| (Subject::Command(pattern), None))
            }
            ["path"] => {
                let (text, node) = text("path")?;
                self.path_pattern(text, node).map(|pattern| (Subject::Path(pattern, Kinds::Both), None))
            }
            ["host"] => {
                let (text, node) = text("host")?;
                self.parsed(HostPattern::parse(text), node).map(|pattern| (Subject::Host(pattern), None))
            }
            [] => {
                let problem = Problem::new(Code::MissingKey, "the rule has no subject");
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
