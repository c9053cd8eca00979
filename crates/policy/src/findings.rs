//! Links that judge what the shell reader noticed.

use crate::Code;
use crate::chain::{Floor, Policy};
use crate::decision::{Decision, Effect, Reason, RuleRef};
use crate::finding::{Mode, effect, is_floor};
use crate::invocation::Finding;
use crate::request::{Request, Want};

/// Commands that destroy more than their author can mean.
#[derive(Debug)]
pub struct Destructive;

impl Floor for Destructive {
    fn name(&self) -> &'static str {
        "destructive commands"
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        findings(request).iter().find(|finding| is_floor(finding.code)).map(|finding| reason(finding, None))
    }
}

/// Effects of findings under a policy: a mode, and effects of single codes.
///
/// It belongs among the links that can only narrow: a finding is never a reason to ask where the answer is no.
#[derive(Debug, Clone)]
pub struct Findings {
    mode: Mode,
    mode_rule: Option<RuleRef>,
    own: Vec<(Code, Effect, Option<RuleRef>)>,
}

impl Findings {
    /// Judges by a mode, which is written somewhere.
    #[must_use]
    pub fn new(mode: Mode, rule: Option<RuleRef>) -> Self {
        Self { mode, mode_rule: rule, own: Vec::new() }
    }

    /// Sets the effect of one code in every mode. A code with a least effect keeps it.
    #[must_use]
    pub fn with(mut self, code: Code, effect: Effect, rule: Option<RuleRef>) -> Self {
        let effect = least_effect(code).map_or(effect, |least| least.max(effect));
        self.own.push((code, effect, rule));
        self
    }

    /// Returns the effect of a finding with this code; `None` when it has none.
    #[must_use]
    pub fn effect(&self, code: Code) -> Option<Effect> {
        self.judge(code).map(|(effect, _)| effect)
    }

    fn judge(&self, code: Code) -> Option<(Effect, Option<&RuleRef>)> {
        match self.own.iter().find(|(own, ..)| *own == code) {
            Some((_, effect, rule)) => Some((*effect, rule.as_ref())),
            None => effect(code, self.mode).map(|effect| (effect, self.mode_rule.as_ref())),
        }
    }
}

/// The least that a finding can mean in any policy; `None` when it may mean nothing.
#[must_use]
pub const fn least_effect(code: Code) -> Option<Effect> {
    match code {
        Code::Unreadable | Code::MisleadingCharacter | Code::TooComplex => Some(Effect::Deny),
        Code::Unprovable => Some(Effect::Ask),
        code if is_floor(code) => Some(Effect::Deny),
        _ => None,
    }
}

/// Returns true if findings can have this code.
#[must_use]
pub fn is_finding(code: Code) -> bool {
    code == Code::Unprovable || code.id().starts_with("RF-S")
}

impl Policy for Findings {
    fn name(&self) -> &'static str {
        "findings"
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        let judged = findings(request).iter().filter_map(|finding| {
            let (effect, rule) = self.judge(finding.code).filter(|(effect, _)| *effect > Effect::Allow)?;
            Some((effect, rule, finding))
        });
        // Of equally strict ones, the first in the text.
        let strictest = judged.reduce(|first, next| if next.0 > first.0 { next } else { first });
        strictest.map(|(effect, rule, finding)| Decision::new(effect, reason(finding, rule.cloned())))
    }
}

fn findings<'a>(request: &Request<'a>) -> &'a [Finding] {
    if let Want::Exec(execution) = request.want { &execution.invocation.findings } else { &[] }
}

fn reason(finding: &Finding, rule: Option<RuleRef>) -> Reason {
    let reason = Reason::new(finding.code, &*finding.text).by(rule);
    match &finding.remedy {
        Some(remedy) => reason.remedy(&**remedy),
        None => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, Execution, Invocation, Span, ToolName};

    fn invocation(codes: &[Code]) -> Invocation {
        let finding = |code: &Code| Finding::new(*code, Span::default(), code.id()).remedy("otherwise");
        Invocation { programs: Vec::new(), findings: codes.iter().map(finding).collect() }
    }

    /// Codes that were found, the mode, words of one's own; what is decided, and by which code.
    type Row = (&'static [Code], Mode, &'static [(Code, Effect)], Option<(Effect, Code)>);

    #[test]
    fn the_strictest_finding_decides_and_the_own_word_counts() {
        use Code::{CommandSubstitution, EnvironmentOverride, ForcedPush, Unprovable, Unreadable};
        use Effect::{Allow, Ask, Deny};
        let rows: [Row; 12] = [
            (&[], Mode::Strict, &[], None),
            (&[CommandSubstitution], Mode::Standard, &[], None),
            (&[CommandSubstitution], Mode::Strict, &[], Some((Deny, CommandSubstitution))),
            (
                &[CommandSubstitution],
                Mode::Standard,
                &[(CommandSubstitution, Deny)],
                Some((Deny, CommandSubstitution)),
            ),
            (&[EnvironmentOverride], Mode::Standard, &[], Some((Ask, EnvironmentOverride))),
            (&[EnvironmentOverride], Mode::Standard, &[(EnvironmentOverride, Allow)], None),
            (&[EnvironmentOverride], Mode::Off, &[], None),
            (&[EnvironmentOverride, ForcedPush], Mode::Standard, &[], Some((Ask, EnvironmentOverride))),
            (&[EnvironmentOverride, Unreadable], Mode::Standard, &[], Some((Deny, Unreadable))),
            (&[Unprovable], Mode::Standard, &[], Some((Ask, Unprovable))),
            (&[Unprovable], Mode::Standard, &[(Unprovable, Allow)], Some((Ask, Unprovable))),
            (&[Unreadable], Mode::Off, &[(Unreadable, Allow)], Some((Deny, Unreadable))),
        ];
        let tool = ToolName::parse("exec").unwrap();
        for (codes, mode, own, expected) in rows {
            let invocation = invocation(codes);
            let request = Request {
                tool: &tool,
                want: Want::Exec(Execution { invocation: &invocation, arguments: Arguments::NONE }),
            };
            let link = own
                .iter()
                .fold(Findings::new(mode, None), |link, (code, effect)| link.with(*code, *effect, None));
            let found = link.decide(&request).map(|decision| (decision.effect(), decision.reason().code));
            assert_eq!(found, expected, "{codes:?} {mode:?} {own:?}");
        }
    }

    #[test]
    fn the_floor_takes_what_is_destructive() {
        let tool = ToolName::parse("exec").unwrap();
        for code in Code::ALL.iter().copied().filter(|code| is_finding(*code)) {
            let invocation = invocation(&[Code::Brace, code]);
            let request = Request {
                tool: &tool,
                want: Want::Exec(Execution { invocation: &invocation, arguments: Arguments::NONE }),
            };
            let found = Destructive.forbid(&request);
            assert_eq!(found.as_ref().map(|reason| reason.code), is_floor(code).then_some(code));
            assert!(found.is_none_or(|reason| reason.remedy.is_some()));
        }
    }
}
