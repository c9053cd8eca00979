//! Many rules at once: the link that holds what people wrote.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use regex::RegexSet;

use crate::Code;
use crate::chain::Policy;
use crate::command::{CommandPattern, installed_name};
use crate::decision::{Decision, Effect, Reason};
use crate::exceptions::{Exceptions, is_exception};
use crate::glob::GlobError;
use crate::host_pattern::HostIndex;
use crate::invocation::{Argv, Invocation, Program};
use crate::location::{Location, Pair};
use crate::operand::{self, Strangers};
use crate::path_index::{Case, PathIndex};
use crate::pattern::line_set;
use crate::request::{Execution, Kind, Request, Want};
use crate::rule::{Rule, Subject};

/// Rules in order of strictness, with an index for each thing they are about.
#[derive(Debug)]
pub struct RuleSet {
    /// Deny before ask before allow; within one effect, as written.
    rules: Vec<Rule>,
    paths: PathIndex,
    /// The rule of each path pattern.
    path_rules: Vec<usize>,
    folded: OnceLock<Option<PathIndex>>,
    hosts: HostIndex,
    commands: CommandIndex,
    any: Vec<usize>,
    exceptions: Exceptions,
    /// Directory in which the programs of commands start and stay, if that is known.
    workspace: Option<PathBuf>,
}

/// Rules on commands by the program they name.
#[derive(Debug, Default)]
struct CommandIndex {
    named: HashMap<Box<str>, Vec<usize>>,
    /// Rules whose program is a wildcard.
    others: Vec<usize>,
    /// Expressions on the whole line that do not begin with a program.
    lines: Vec<usize>,
    /// All of them at once, if there are any: most lines match none.
    any_line: Option<RegexSet>,
}

impl CommandIndex {
    fn add(&mut self, id: usize, pattern: &CommandPattern) {
        match (pattern.program(), pattern.expression()) {
            (Some(name), _) => self.named.entry(name.into()).or_default().push(id),
            (None, Some(_)) => self.lines.push(id),
            (None, None) => self.others.push(id),
        }
    }

    fn index_lines(&mut self, rules: &[Rule]) -> Result<(), GlobError> {
        let expression = |id: &usize| match &rules[*id].subject {
            Subject::Command(pattern) => pattern.expression(),
            _ => None,
        };
        let expressions: Vec<_> = self.lines.iter().filter_map(expression).collect();
        if !expressions.is_empty() {
            self.any_line = Some(line_set(&expressions)?);
        }
        Ok(())
    }

    /// The first rule that holds for a program, of those that could be about it.
    fn first(&self, argv: &Argv, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let text = argv.words().first().map(|word| word.text.as_str());
        let installed = text.and_then(installed_name);
        let named = [text, installed].map(|name| name.and_then(|name| self.named.get(name)));
        let lists = [named[0], named[1], Some(&self.others), self.lines(argv, installed)];
        let first = |list: &Vec<usize>| list.iter().copied().find(|&id| holds(id));
        lists.into_iter().flatten().filter_map(first).min()
    }

    /// The expressions, if one of them matches the line; a program may be written with its path.
    fn lines(&self, argv: &Argv, installed: Option<&str>) -> Option<&Vec<usize>> {
        if self.lines.is_empty() {
            return None;
        }
        let any = self.any_line.as_ref()?;
        let hit =
            any.is_match(&argv.line()) || installed.is_some_and(|name| any.is_match(&argv.line_as(name)));
        hit.then_some(&self.lines)
    }
}

impl RuleSet {
    /// Sorts and indexes the rules.
    pub fn new(mut rules: Vec<Rule>) -> Result<Self, GlobError> {
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.effect));
        let (mut path_rules, mut patterns) = (Vec::new(), Vec::new());
        let mut hosts = HostIndex::default();
        let (mut commands, mut any) = (CommandIndex::default(), Vec::new());
        for (id, rule) in rules.iter().enumerate() {
            match &rule.subject {
                Subject::Path(pattern, _) => {
                    path_rules.push(id);
                    patterns.push((pattern, rule.effect.reach()));
                }
                Subject::Host(pattern) => hosts.add(id, pattern, rule.effect),
                Subject::Command(pattern) => commands.add(id, pattern),
                Subject::Any => any.push(id),
            }
        }
        commands.index_lines(&rules)?;
        let paths = PathIndex::new(&patterns, Case::Exact)?;
        let (folded, exceptions) = (OnceLock::new(), Exceptions::default());
        Ok(Self { rules, paths, path_rules, folded, hosts, commands, any, exceptions, workspace: None })
    }

    /// Says where the workspace is: a permission on a command covers only what starts and writes there.
    #[must_use]
    pub fn in_workspace(mut self, workspace: &Path) -> Self {
        self.workspace = Some(workspace.to_owned());
        self
    }

    /// The rules, strictest first.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule that decides: the strictest that matches, and of those the one written first; or the exception to it.
    #[must_use]
    pub fn deciding(&self, request: &Request<'_>) -> Option<&Rule> {
        self.settle(request).map(|settled| settled.rule)
    }

    fn settle(&self, request: &Request<'_>) -> Option<Settled<'_>> {
        let mut first = None;
        self.candidates(request, &mut |id| {
            if first.is_none_or(|first| id < first) && self.rules[id].conditions_hold(request) {
                first = Some(id);
            }
        });
        match &self.rules[first?] {
            // Only a question has exceptions, and they are looked for when one is asked.
            rule if rule.effect == Effect::Ask => self.excepted(&self.matching_ids(request)),
            rule => Some(Settled { rule, exception_to: None }),
        }
    }

    /// The rule that decides among those that match, the strictest first.
    fn strictest(&self, matched: &[usize]) -> Option<Settled<'_>> {
        match &self.rules[*matched.first()?] {
            rule if rule.effect == Effect::Ask => self.excepted(matched),
            rule => Some(Settled { rule, exception_to: None }),
        }
    }

    /// Returns the rule that decides among matches without a deny: the first ask that has no exception, or else the exception.
    fn excepted(&self, matched: &[usize]) -> Option<Settled<'_>> {
        let effect = |id: usize| self.rules[id].effect;
        let mut exception = None;
        for &ask in matched.iter().filter(|id| effect(**id) == Effect::Ask) {
            let excepts = |allow: &&usize| self.exceptions.holds(&self.rules, **allow, ask);
            match matched.iter().filter(|id| effect(**id) == Effect::Allow).find(excepts) {
                Some(allow) => exception = exception.or(Some((allow, ask))),
                None => return Some(Settled { rule: &self.rules[ask], exception_to: None }),
            }
        }
        exception
            .map(|(allow, ask)| Settled { rule: &self.rules[*allow], exception_to: Some(&self.rules[ask]) })
    }

    /// Every permission that is an exception to a question, with the question.
    #[must_use]
    pub fn exceptions(&self) -> Vec<(&Rule, &Rule)> {
        let of = |effect| self.rules.iter().filter(move |rule| rule.effect == effect);
        let pairs = of(Effect::Ask).flat_map(|ask| of(Effect::Allow).map(move |allow| (allow, ask)));
        pairs.filter(|(allow, ask)| is_exception(allow, ask)).collect()
    }

    /// Every rule that matches, strictest first.
    #[must_use]
    pub fn matching(&self, request: &Request<'_>) -> Vec<&Rule> {
        self.matching_ids(request).into_iter().map(|id| &self.rules[id]).collect()
    }

    fn matching_ids(&self, request: &Request<'_>) -> Vec<usize> {
        let mut ids = Vec::new();
        self.candidates(request, &mut |id| ids.push(id));
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| self.rules[*id].conditions_hold(request));
        ids
    }

    /// Calls `hit` with every rule that is about the object of the request; its other conditions are not looked at.
    fn candidates(&self, request: &Request<'_>, hit: &mut impl FnMut(usize)) {
        self.any.iter().for_each(|&id| hit(id));
        match request.want {
            Want::Read(location) | Want::Write(location) | Want::Load(location) => {
                self.path_candidates(request.want.kind(), location, hit);
            }
            Want::Connect(endpoint) => self.hosts.matches(endpoint, hit),
            Want::Exec(_) | Want::Call(_) => {}
        }
    }

    /// Restrictions look at every name of the object, permissions only at its real ones.
    fn path_candidates(&self, kind: Kind, location: &Location, hit: &mut impl FnMut(usize)) {
        self.look_up(&self.paths, location.real_pair(), (kind, Effect::Allow), hit);
        for alias in location.alias_pairs() {
            self.look_up(&self.paths, alias, (kind, Effect::Ask), hit);
        }
        if location.folds_case() {
            match self.folded() {
                Some(folded) => {
                    for names in std::iter::once(location.real_pair()).chain(location.alias_pairs()) {
                        self.look_up(folded, names, (kind, Effect::Ask), hit);
                    }
                }
                // A restriction must not be lost: all match.
                None => self
                    .path_rules
                    .iter()
                    .filter(|id| self.is_about(**id, kind, Effect::Ask))
                    .for_each(|id| hit(*id)),
            }
        }
    }

    /// Calls `hit` with the rules that match a name and are at least so strict.
    fn look_up(
        &self,
        index: &PathIndex,
        names: Pair<'_>,
        (kind, at_least): (Kind, Effect),
        hit: &mut impl FnMut(usize),
    ) {
        index.matches_either(names, |path| {
            let id = self.path_rules[path];
            if self.is_about(id, kind, at_least) {
                hit(id);
            }
        });
    }

    fn is_about(&self, id: usize, kind: Kind, at_least: Effect) -> bool {
        let rule = &self.rules[id];
        rule.effect >= at_least && matches!(&rule.subject, Subject::Path(_, kinds) if kinds.contains(kind))
    }

    /// The same patterns without regard to case, made when the first file system needs them. `None`: it could not be made.
    fn folded(&self) -> Option<&PathIndex> {
        let pattern = |id: &usize| match &self.rules[*id].subject {
            Subject::Path(pattern, _) => Some((pattern, self.rules[*id].effect.reach())),
            _ => None,
        };
        let make = || {
            let patterns: Vec<_> = self.path_rules.iter().filter_map(pattern).collect();
            PathIndex::new(&patterns, Case::Ignored).ok()
        };
        self.folded.get_or_init(make).as_ref()
    }

    /// Denied if any program is, allowed only if every one is and there are certainly no others.
    fn decide_exec(&self, request: &Request<'_>, invocation: &Invocation) -> Option<Decision> {
        // Rules that are about no program hold for each of them; without any, they hold for the line.
        let alone = invocation.programs.is_empty();
        let mut strictest =
            self.settle(request).filter(|settled| alone || settled.rule.effect == Effect::Deny);
        let mut all_named = !alone;
        for program in &invocation.programs {
            let settled = self.settle_command(request, invocation, program);
            all_named &= settled.is_some() || self.only_redirects(program);
            strictest = match (strictest, settled) {
                (Some(first), Some(next)) if next.rule.effect <= first.rule.effect => Some(first),
                (first, next) => next.or(first),
            };
        }
        let settled = strictest?;
        match settled.rule.effect {
            // No rule names one of the programs: silence is not consent, however uncertain the rest is.
            Effect::Allow if !all_named => None,
            Effect::Allow if !invocation.is_certain() => Some(Decision::Ask(unprovable())),
            _ => Some(settled.decision()),
        }
    }

    /// Returns true if rules speak of some programs of a command line and not of others.
    #[must_use]
    pub fn names_a_part(&self, request: &Request<'_>) -> bool {
        let Want::Exec(Execution { invocation, .. }) = request.want else { return false };
        let named = |program: &Program| self.settle_command(request, invocation, program).is_some();
        let programs = || invocation.programs.iter().filter(|program| !self.only_redirects(program));
        let count = programs().filter(|program| named(program)).count();
        count > 0 && count < programs().count()
    }

    /// Returns true if this is no program but redirections of a compound command or of nothing, which stay inside: any
    /// command may have them.
    fn only_redirects(&self, program: &Program) -> bool {
        let is_nothing = matches!(program.argv.words(), [word] if word.text == ":");
        let inside = |workspace: &PathBuf| operand::stays_inside(program, workspace);
        is_nothing && !program.redirects.is_empty() && self.workspace.as_ref().is_none_or(inside)
    }

    /// Returns the rule that decides about one program: the strictest on it or on what only starts it, or the exception to that.
    fn settle_command(
        &self,
        request: &Request<'_>,
        invocation: &Invocation,
        program: &Program,
    ) -> Option<Settled<'_>> {
        let holds =
            |id: usize| self.rules[id].conditions_hold(request) && self.rules[id].covers_line(invocation);
        let own = |id: usize| self.fits_program(id, program) && holds(id);
        let started = |id: usize, argv: &Argv| self.restricts(id, argv, program.cwd.as_deref()) && holds(id);
        let first = self.commands.first(&program.argv, own);
        let through =
            program.through.iter().filter_map(|argv| self.commands.first(argv, |id| started(id, argv)));
        let any = self.any.iter().copied().find(|&id| holds(id));
        let rule = &self.rules[first.into_iter().chain(through).chain(any).min()?];
        if rule.effect != Effect::Ask {
            return Some(Settled { rule, exception_to: None });
        }
        let mut matched: Vec<_> = self.any.iter().copied().filter(|&id| holds(id)).collect();
        let commands =
            (0..self.rules.len()).filter(|id| matches!(self.rules[*id].subject, Subject::Command(_)));
        matched
            .extend(commands.filter(|&id| own(id) || program.through.iter().any(|argv| started(id, argv))));
        matched.sort_unstable();
        self.excepted(&matched)
    }

    fn fits_program(&self, id: usize, program: &Program) -> bool {
        let rule = &self.rules[id];
        match &rule.subject {
            Subject::Command(pattern) if rule.effect == Effect::Allow => {
                let inside = |workspace: &PathBuf| operand::stays_inside(program, workspace);
                pattern.permits(program) && self.workspace.as_ref().is_none_or(inside)
            }
            _ => self.restricts(id, &program.argv, program.cwd.as_deref()),
        }
    }

    fn restricts(&self, id: usize, argv: &Argv, cwd: Option<&str>) -> bool {
        let rule = &self.rules[id];
        let Subject::Command(pattern) = &rule.subject else { return false };
        rule.effect > Effect::Allow && pattern.restricts(argv, cwd)
    }

    /// The strictest restriction on a file that a command would touch.
    fn restricting_path(&self, request: &Request<'_>, invocation: &Invocation) -> Option<&Rule> {
        let workspace = self.workspace.as_deref().filter(|_| !self.path_rules.is_empty())?;
        let mut strictest: Option<&Rule> = None;
        let ways = &[Kind::Read, Kind::Write];
        operand::files::<()>(invocation, workspace, ways, Strangers::Read, |kind, file| {
            let mut matched = Vec::new();
            self.look_up(&self.paths, file.pair(), (kind, Effect::Allow), &mut |id| {
                if self.rules[id].conditions_hold(request) {
                    matched.push(id);
                }
            });
            matched.sort_unstable();
            matched.dedup();
            let rule = self.strictest(&matched).map(|settled| settled.rule);
            let restricting = rule.filter(|rule| rule.effect > Effect::Allow);
            if strictest.is_none_or(|first| restricting.is_some_and(|rule| rule.effect > first.effect)) {
                strictest = restricting.or(strictest);
            }
            None
        });
        strictest
    }
}

/// Rules on files, held against the files that a command names. They can only stop it: where they ask, a denial stays a
/// denial, so the link belongs among those that narrow.
#[derive(Debug)]
pub struct CommandFiles(pub Arc<RuleSet>);

impl Policy for CommandFiles {
    fn name(&self) -> &'static str {
        "files of commands"
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        let Want::Exec(Execution { invocation, .. }) = request.want else { return None };
        self.0.restricting_path(request, invocation).map(decision)
    }
}

impl Policy for RuleSet {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        match request.want {
            Want::Exec(execution) => self.decide_exec(request, execution.invocation),
            _ => self.settle(request).map(Settled::decision),
        }
    }

    fn effect(&self, request: &Request<'_>) -> Option<Effect> {
        match request.want {
            Want::Exec(_) => self.decide(request).map(|decision| decision.effect()),
            _ => self.deciding(request).map(|rule| rule.effect),
        }
    }
}

/// The rule that decides, and the question that it is an exception to.
#[derive(Debug, Clone, Copy)]
struct Settled<'a> {
    rule: &'a Rule,
    exception_to: Option<&'a Rule>,
}

impl Settled<'_> {
    fn decision(self) -> Decision {
        let ask = self.exception_to.and_then(|ask| ask.reason.rule.clone());
        Decision::new(self.rule.effect, self.rule.reason.clone().except(ask))
    }
}

fn decision(rule: &Rule) -> Decision {
    Decision::new(rule.effect, rule.reason.clone())
}

/// Why a line that is not certain is not allowed.
#[must_use]
pub fn unprovable() -> Reason {
    Reason::new(Code::Unprovable, "what this command line would start is not certain")
        .remedy("write the command without assignments, substitutions or values known only at run time")
}
