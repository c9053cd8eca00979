//! Many rules at once: the link that holds what people wrote.

use crate::Code;
use crate::chain::Policy;
use crate::decision::{Decision, Effect, Reason};
use crate::glob::GlobError;
use crate::host_pattern::HostIndex;
use crate::invocation::{Argv, Invocation};
use crate::location::Location;
use crate::path_index::{Case, PathIndex};
use crate::request::{Kind, Request, Want};
use crate::rule::{Rule, Subject};

/// Rules in order of strictness, with an index for each thing they are about.
#[derive(Debug)]
pub struct RuleSet {
    /// Deny before ask before allow; within one effect, as written.
    rules: Vec<Rule>,
    paths: PathIndex,
    /// The rule of each path pattern.
    path_rules: Vec<usize>,
    hosts: HostIndex,
    commands: Vec<usize>,
    any: Vec<usize>,
}

impl RuleSet {
    /// Sorts and indexes the rules.
    pub fn new(mut rules: Vec<Rule>) -> Result<Self, GlobError> {
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.effect));
        let (mut path_rules, mut patterns) = (Vec::new(), Vec::new());
        let mut hosts = HostIndex::default();
        let (mut commands, mut any) = (Vec::new(), Vec::new());
        for (id, rule) in rules.iter().enumerate() {
            match &rule.subject {
                Subject::Path(pattern, _) => {
                    path_rules.push(id);
                    patterns.push((pattern, rule.effect.reach()));
                }
                Subject::Host(pattern) => hosts.add(id, pattern, rule.effect),
                Subject::Command(_) => commands.push(id),
                Subject::Any => any.push(id),
            }
        }
        let paths = PathIndex::new(&patterns, Case::Exact)?;
        Ok(Self { rules, paths, path_rules, hosts, commands, any })
    }

    /// The rules, strictest first.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The first rule that matches: the strictest, and of those the one written first.
    #[must_use]
    pub fn deciding(&self, request: &Request<'_>) -> Option<&Rule> {
        let mut first = None;
        self.candidates(request, &mut |id| {
            if first.is_none_or(|first| id < first) && self.rules[id].conditions_hold(request) {
                first = Some(id);
            }
        });
        first.map(|id| &self.rules[id])
    }

    /// Every rule that matches, strictest first.
    #[must_use]
    pub fn matching(&self, request: &Request<'_>) -> Vec<&Rule> {
        let mut ids = Vec::new();
        self.candidates(request, &mut |id| ids.push(id));
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter().map(|id| &self.rules[id]).filter(|rule| rule.conditions_hold(request)).collect()
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
        let mut look_up = |name: &[u8], at_least: Effect| {
            self.paths.matches(name, |path| {
                let id = self.path_rules[path];
                let rule = &self.rules[id];
                let about = matches!(&rule.subject, Subject::Path(_, kinds) if kinds.contains(kind));
                if about && rule.effect >= at_least {
                    hit(id);
                }
            });
        };
        location.real_names().for_each(|name| look_up(name, Effect::Allow));
        location.aliases().for_each(|name| look_up(name, Effect::Ask));
    }

    /// Denied if any program is, allowed only if every one is and there are certainly no others.
    fn decide_exec(&self, request: &Request<'_>, invocation: &Invocation) -> Option<Decision> {
        let whole = self.deciding(request).map(decision);
        let each = invocation.programs.iter().map(|program| self.deciding_command(request, &program.argv));
        let mut all_allowed = !invocation.programs.is_empty();
        let mut strictest = whole;
        for rule in each {
            all_allowed &= rule.is_some();
            if let Some(rule) = rule {
                strictest =
                    Some(strictest.map_or_else(|| decision(rule), |other| other.stricter(decision(rule))));
            }
        }
        match strictest? {
            // One of the programs is nobody's business yet: silence is not consent, however uncertain the rest is.
            Decision::Allow(_) if !all_allowed => None,
            Decision::Allow(_) if !invocation.is_certain() => Some(Decision::Ask(unprovable())),
            decided => Some(decided),
        }
    }

    fn deciding_command(&self, request: &Request<'_>, argv: &Argv) -> Option<&Rule> {
        self.commands
            .iter()
            .chain(&self.any)
            .copied()
            .filter(|&id| self.fits_command(id, request, argv))
            .min()
            .map(|id| &self.rules[id])
    }

    fn fits_command(&self, id: usize, request: &Request<'_>, argv: &Argv) -> bool {
        let rule = &self.rules[id];
        let about = match &rule.subject {
            Subject::Command(pattern) => pattern.matches(argv, rule.effect),
            _ => true,
        };
        about && rule.conditions_hold(request)
    }
}

impl Policy for RuleSet {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        match request.want {
            Want::Exec(invocation) => self.decide_exec(request, invocation),
            _ => self.deciding(request).map(decision),
        }
    }
}

fn decision(rule: &Rule) -> Decision {
    Decision::new(rule.effect, rule.reason.clone())
}

fn unprovable() -> Reason {
    Reason::new(Code::Unprovable, "what this command line would start is not certain")
        .remedy("write the command without assignments, substitutions or values known only at run time")
}
