//! A policy ready for use: every layer read, checked, merged and compiled.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use policy::finding::Mode;
use policy::floor::{Forbidden, Root};
use policy::{
    Answers, BreakerLimit, Chain, Code, Decision, Effect, Findings, Limits, Protected, Request, Rule,
    RuleSet, Subject, ToolSet, Trace, Windows,
};

use crate::agent;
use crate::check::check;
use crate::compile::{Compiled, compile, findings};
use crate::example::{self, Example};
use crate::file::read;
use crate::jailing::{protected, run_mode};
use crate::merge::apply;
use crate::network::{self, Network};
use crate::place::Places;
use crate::problem::{Problem, Problems};
use crate::profile::mode_of;
use crate::skills::ScanSettings;
use crate::source::{Scope, Source};
use crate::tree::{Node, Table, Value, find};

/// Text of the built-in policy file.
pub const BUILT_IN: &str = include_str!("defaults.toml");

/// The administrator's policy file.
pub const MANAGED_FILE: &str = "/etc/ringfence/policy.toml";

/// Paths of the layers. `None` leaves a layer out.
#[derive(Debug, Clone)]
pub struct Files {
    /// The administrator's file.
    pub managed: Option<PathBuf>,
    /// The user's file.
    pub user: Option<PathBuf>,
    /// The project's file.
    pub project: Option<PathBuf>,
}

/// A policy ready for use.
pub struct Settings {
    /// The merged values, each with its origin.
    pub table: Table,
    /// The layers that were found, the widest first.
    pub sources: Vec<Arc<Source>>,
    /// The chain that decides.
    pub chain: Chain,
    /// The rules in it.
    pub rules: Arc<RuleSet>,
    /// The tools the agent may call.
    pub tools: ToolSet,
    /// Directories outside the workspace that are let in.
    pub roots: Vec<Root>,
    /// The names that nothing overrules, apart from the rest of the floor.
    pub forbidden: Arc<Forbidden>,
    /// Strictness with which command lines are judged.
    pub mode: Mode,
    /// Effects of findings in command lines.
    pub findings: Findings,
    /// The examples of the rules.
    pub examples: Vec<Example>,
    /// The names that are protected.
    pub protected: Protected,
    /// Facts about the machine.
    pub places: Places,
    /// The agent that the settings are for, if they are for one in particular.
    pub agent: Option<String>,
    /// Settings of the broker.
    pub(crate) network: Network,
}

/// Reads the layers and makes them ready. Nothing runs with a broken policy: any problem is an error.
pub fn load(files: &Files, places: &Places) -> Result<Settings, Problems> {
    load_for(files, places, None)
}

/// Reads the layers and makes them ready for one agent.
pub fn load_for(files: &Files, places: &Places, agent: Option<&str>) -> Result<Settings, Problems> {
    from_sources_for(read_layers(files, places)?, places, agent)
}

/// Reads the layers and makes them ready for a run under a profile, or under that of the files: the chain is compiled once, with
/// command lines judged as the profile wants it.
pub fn load_for_run(
    files: &Files,
    places: &Places,
    agent: Option<&str>,
    profile: Option<&str>,
) -> Result<Settings, Problems> {
    let (table, sources) = merge_sources(read_layers(files, places)?, agent)?;
    // An unknown profile is refused with the other wishes.
    let mode = run_mode(&table, &sources, agent, profile);
    let mode = mode.unwrap_or_else(|| mode_of(find(&table, "commands.mode")));
    ready(table, sources, places, mode, agent.map(str::to_owned))
}

fn read_layers(files: &Files, places: &Places) -> Result<Vec<Source>, Problems> {
    let layers =
        [(Scope::Managed, &files.managed), (Scope::User, &files.user), (Scope::Project, &files.project)];
    let (mut sources, mut problems) = (Vec::new(), Vec::new());
    for (scope, path) in layers {
        let Some(path) = path else { continue };
        match read(scope, path, &places.workspace) {
            Ok(source) => sources.extend(source),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(sources) } else { Err(Problems(problems)) }
}

/// Makes layers ready that were read already, the widest first.
pub fn from_sources(sources: Vec<Source>, places: &Places) -> Result<Settings, Problems> {
    from_sources_for(sources, places, None)
}

/// Makes layers ready for one agent.
pub fn from_sources_for(
    sources: Vec<Source>,
    places: &Places,
    agent: Option<&str>,
) -> Result<Settings, Problems> {
    let (table, sources) = merge_sources(sources, agent)?;
    let mode = mode_of(find(&table, "commands.mode"));
    ready(table, sources, places, mode, agent.map(str::to_owned))
}

/// Checks the layers and merges them for one agent.
fn merge_sources(sources: Vec<Source>, agent: Option<&str>) -> Result<(Table, Vec<Arc<Source>>), Problems> {
    let built_in = Source::new(Scope::BuiltIn, "built-in".as_ref(), BUILT_IN.to_owned());
    let sources: Vec<_> = std::iter::once(built_in).chain(sources).map(Arc::new).collect();
    let (mut layers, mut problems, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    for (index, source) in sources.iter().enumerate() {
        let (layer, found) = check(source);
        layers.push(layer);
        broken.extend((!found.is_empty()).then_some(index));
        problems.extend(found);
    }
    problems.extend(agent::unlisted_tools(&layers));
    // A layer with problems is not merged: the same mistake would be reported twice.
    for index in broken {
        layers[index].clear();
    }
    let names = agent::names(layers.iter());
    problems.extend(agent::too_many(&names));
    if problems.is_empty() {
        problems.extend(agent.and_then(|agent| agent::unknown(agent, &names)));
    }
    // A mistake in the settings of an agent is one for every choice of agent.
    if problems.is_empty() {
        problems.extend(
            names
                .iter()
                .filter(|name| agent != Some(name))
                .flat_map(|name| wrong_for(name, &sources, &layers)),
        );
        problems.dedup_by_key(|problem| problem.to_string());
    }
    let agents: Vec<_> = layers.iter().filter_map(|layer| layer.get("agents").cloned()).collect();
    let (mut table, found) = merged(&sources, layers.into_iter(), agent);
    problems.extend(found);
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    if agent.is_none() {
        agent::put_agents(&mut table, agents);
    }
    Ok((table, sources))
}

/// One layer on top of the other, as they hold for an agent.
fn merged(
    sources: &[Arc<Source>],
    layers: impl Iterator<Item = Table>,
    agent: Option<&str>,
) -> (Table, Vec<Problem>) {
    let (mut table, mut problems) = (Table::new(), Vec::new());
    for (source, layer) in sources.iter().zip(layers) {
        apply(&mut table, agent::layer_for(layer, agent), source.scope, &mut problems);
    }
    problems.extend(inner_problems(&table));
    (table, problems)
}

/// Finds problems of one agent that are not those of all agents. Rules of all agents are left out: there may be thousands,
/// and they are looked at once.
fn wrong_for(agent: &str, sources: &[Arc<Source>], layers: &[Table]) -> Vec<Problem> {
    let without_rules = |layer: &Table| {
        let kept = layer.iter().filter(|(name, _)| *name != "rules");
        kept.map(|(name, entry)| (name.clone(), entry.clone())).collect()
    };
    let (_, everybody) = merged(sources, layers.iter().map(without_rules), None);
    let (_, mut problems) = merged(sources, layers.iter().map(without_rules), Some(agent));
    let known: Vec<_> = everybody.iter().map(ToString::to_string).collect();
    problems.retain(|problem| !known.contains(&problem.to_string()));
    problems
}

fn ready(
    table: Table,
    sources: Vec<Arc<Source>>,
    places: &Places,
    mode: Mode,
    agent: Option<String>,
) -> Result<Settings, Problems> {
    let Compiled { chain, rules, from_sections, tools, roots, forbidden } =
        compile(&table, places, mode).map_err(Problems)?;
    let written = find(&table, "rules").map(Node::list).unwrap_or_default();
    let examples = example::examples(&rules, written, from_sections, places);
    let failing: Vec<_> = examples.iter().filter_map(example::problem).collect();
    if !failing.is_empty() {
        return Err(Problems(failing));
    }
    let network = network::compile(&table, places).map_err(Problems)?;
    let (findings, places) = (findings(&table, mode), places.clone());
    let protected = protected(&table);
    Ok(Settings {
        table,
        sources,
        chain,
        rules,
        tools,
        roots,
        forbidden,
        mode,
        findings,
        examples,
        protected,
        places,
        agent,
        network,
    })
}

/// Finds problems that only show when a section is complete.
fn inner_problems(table: &Table) -> Vec<Problem> {
    let profiles = crate::profile::problems(table);
    unjailed_by_another(table).chain(unexplained(table)).chain(profiles).collect()
}

/// An accepted finding needs a reason, so that it can be judged later.
fn unexplained(table: &Table) -> impl Iterator<Item = Problem> {
    let allow = find(table, "skills.scan.allow").map(Node::list).unwrap_or_default();
    allow.iter().filter_map(|node| {
        let reason = find(node.table()?, "reason")?;
        let problem = Problem::new(Code::BadValue, "an accepted finding needs a `reason`");
        reason
            .text()?
            .trim()
            .is_empty()
            .then(|| reason.problem(problem, "say who looked at it, and why it is fine"))
    })
}

/// Running without a jail is the user's own risk, so no other layer may decide it.
fn unjailed_by_another(table: &Table) -> impl Iterator<Item = Problem> {
    let keys = [("jail.enabled", "never"), ("jail.on-unavailable", "run-unjailed")];
    keys.into_iter().filter_map(|(key, word)| {
        let node = find(table, key).filter(|node| node.word() == Some(word))?;
        let message = format!("`{key} = \"{word}\"` is for the user's own file");
        let foreign = node.source.scope != Scope::User;
        foreign.then(|| node.problem(Problem::new(Code::BadValue, message), "not here"))
    })
}

impl Settings {
    /// Decides a request. No person has answered anything.
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        self.chain.decide(request, &Answers::none())
    }

    /// Decides a request and says what led to it.
    #[must_use]
    pub fn explain(&self, request: &Request<'_>) -> Trace {
        self.chain.explain(request, &Answers::none())
    }

    /// Names of all profiles, the built-in ones first.
    #[must_use]
    pub fn profiles(&self) -> Vec<&str> {
        crate::profile::names(&self.table)
    }

    /// The same policy with command lines judged as a profile wants it.
    pub fn in_mode(self, mode: Mode) -> Result<Self, Problems> {
        if mode == self.mode {
            Ok(self)
        } else {
            ready(self.table, self.sources, &self.places, mode, self.agent)
        }
    }

    /// The same policy, compiled from its changed values.
    pub(crate) fn again(self) -> Result<Self, Problems> {
        ready(self.table, self.sources, &self.places, self.mode, self.agent)
    }

    /// Returns true if a rule or the default stops commands, or asks about them.
    #[must_use]
    pub fn restricts_commands(&self) -> bool {
        let about = |rule: &Rule| {
            let tool = rule.tool.as_ref().is_none_or(|tool| tool.matches("exec"));
            tool && matches!(rule.subject, Subject::Command(_) | Subject::Any)
        };
        let rules = self.rules.rules().iter().any(|rule| rule.effect > Effect::Allow && about(rule));
        rules || self.get("commands.default").and_then(Node::word) != Some("allow")
    }

    /// Returns true if the policy sets the effect of a finding.
    #[must_use]
    pub fn sets_finding(&self, code: Code) -> bool {
        let set = find(&self.table, "commands.findings").and_then(Node::table);
        set.is_some_and(|set| set.contains_key(code.id()))
    }

    /// A value by its dotted path.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Node> {
        find(&self.table, path)
    }

    /// The file of the ledger; `None` when neither home nor state directory is known.
    #[must_use]
    pub fn ledger(&self) -> Option<PathBuf> {
        self.places.absolute(self.get("audit.path")?.text()?)
    }

    /// Returns the settings for scanning and loading skills.
    #[must_use]
    pub fn skills(&self) -> ScanSettings {
        ScanSettings::of(&self.table, &self.places)
    }

    /// The limits of a session.
    #[must_use]
    pub fn limits(&self) -> Limits {
        limits(find(&self.table, "limits").and_then(Node::table).unwrap_or(&Table::new()))
    }
}

/// The limits of a table of limits.
pub(crate) fn limits(table: &Table) -> Limits {
    Limits {
        wall_clock: time(table, "wall-clock"),
        idle: time(table, "idle"),
        memory: number(table, "memory"),
        processes: number(table, "processes"),
        cpu: time(table, "cpu"),
        open_files: number(table, "open-files"),
        file_size: number(table, "file-size"),
        output: number(table, "output"),
        tmp: number(table, "tmp"),
        tokens: windows(table, "tokens"),
        cost: windows(table, "cost-usd"),
        steps: number(table, "steps"),
        breaker: breaker(table),
    }
}

fn breaker(table: &Table) -> Option<BreakerLimit> {
    let failures = u32::try_from(number(table, "breaker.failures")?).ok()?;
    Some(BreakerLimit { failures, cooldown: time(table, "breaker.cooldown")? })
}

fn windows(table: &Table, path: &str) -> Windows<u64> {
    let number = |window: &str| number(table, &format!("{path}.{window}"));
    Windows { execution: number("execution"), hour: number("hour"), day: number("day") }
}

fn number(table: &Table, path: &str) -> Option<u64> {
    u64::try_from(find(table, path)?.amount()?).ok()
}

fn time(table: &Table, path: &str) -> Option<Duration> {
    if let Value::Time(time) = find(table, path)?.value { Some(time) } else { None }
}
