//! Rules that load but probably do not do what was meant.

mod secret;
mod surprise;

use policy::{
    Code, Decision, Effect, KnownProgram, PathPattern, Phase, ProgramClass, Rule, RuleRef, Shown, Subject,
    Trace, tool_names,
};

pub use surprise::programs_in_reach;

use crate::example::Outcome;
use crate::sample::{Sample, lines};
use crate::settings::Settings;
use crate::source::Scope;
use crate::tree::Node;
use crate::unbuilt::{Unbuilt, unbuilt};

/// Something worth a second look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Kind of remark.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// The line it is about.
    pub place: Option<RuleRef>,
}

/// Looks at every rule and every key of the layers that people wrote.
#[must_use]
pub fn lint(settings: &Settings) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let written: Vec<_> = settings.rules.rules().iter().filter(|rule| is_written(settings, rule)).collect();
    for rule in &written {
        remarks.extend(wide(rule).or_else(|| narrow(rule)));
        remarks.extend(surprise::surprises(rule));
        remarks.extend(effectless(settings, rule));
    }
    remarks.extend(surprise::shadowing(settings, &written));
    remarks.extend(forbidden_remarks(settings));
    remarks.extend(secret::remarks(settings));
    remarks.extend(unchecked_examples(settings));
    remarks.extend(wide_scan_allows(settings));
    remarks.extend(unbuilt(settings).into_iter().map(Unbuilt::remark));
    remarks.sort_by_key(|remark| {
        let place = remark.place.as_ref().map(|place| (place.file.to_path_buf(), place.line));
        (place, remark.code)
    });
    remarks
}

/// Returns true if a rule comes from a policy file, not from the built-in layer.
fn is_written(settings: &Settings, rule: &Rule) -> bool {
    let built_in = settings.sources.iter().find(|source| source.scope == Scope::BuiltIn);
    rule.reason.rule.as_ref().is_some_and(|place| built_in.is_none_or(|source| source.path != place.file))
}

fn remark(code: Code, rule: &Rule, message: String) -> Remark {
    Remark { code, message, place: rule.reason.rule.clone() }
}

/// Returns the subject of the rule, in the words it was written in.
#[must_use]
pub fn subject_words(rule: &Rule) -> String {
    let text = match &rule.subject {
        Subject::Path(pattern, _) => pattern.text(),
        Subject::Command(pattern) => pattern.as_str().to_owned(),
        Subject::Host(pattern) => pattern.as_str().to_owned(),
        Subject::Any => rule.tool.as_ref().map_or("any tool", |tool| tool.as_str()).to_owned(),
    };
    format!("{} `{}`", rule.effect.word(), Shown::text(&text))
}

fn wide(rule: &Rule) -> Option<Remark> {
    if rule.effect != Effect::Allow {
        return None;
    }
    let why = match &rule.subject {
        Subject::Any => any_tool(rule)?,
        Subject::Path(pattern, _) => wide_path(pattern)?,
        Subject::Host(pattern) if pattern.is_anything() => {
            "it matches every host, also private addresses".to_owned()
        }
        Subject::Host(pattern) => {
            format!("anybody can receive data there: {}", pattern.shared_with_anybody()?)
        }
        Subject::Command(pattern) if pattern.is_anything() => "it matches every command".to_owned(),
        Subject::Command(pattern) => {
            let program = pattern.program()?;
            let alone = pattern.word_count() == 1 && runs_anything(&program);
            alone.then(|| format!("`{program}` can run anything that is written behind it"))?
        }
    };
    Some(remark(Code::WideAllow, rule, format!("{} is wider than it looks: {why}", subject_words(rule))))
}

/// Returns true if a program runs or starts what is written behind it.
fn runs_anything(program: &str) -> bool {
    let classes = [ProgramClass::Arbitrary, ProgramClass::Shell, ProgramClass::Interpreter];
    KnownProgram::called(program)
        .is_some_and(|known| known.starts == "wrapper" || classes.iter().any(|class| known.is(*class)))
}

fn any_tool(rule: &Rule) -> Option<String> {
    let all = rule.tool.as_ref().is_none_or(policy::Pattern::is_anything) && rule.arguments.is_empty();
    all.then(|| "it matches every request of every tool".to_owned())
}

fn wide_path(pattern: &PathPattern) -> Option<String> {
    let text = pattern.text();
    match pattern {
        PathPattern::Glob(glob) if glob.is_everything() => {
            Some("it matches every file in the workspace".into())
        }
        PathPattern::Glob(glob) if text.starts_with('/') && !glob.is_literal() => {
            Some("a leading `/` means the root of the file system and the root of the workspace".into())
        }
        PathPattern::Regex(expression) if expression.starts_with(".*") => {
            Some("`.*` crosses directories and also reaches outside the workspace".into())
        }
        _ => None,
    }
}

/// A deny that protects only the top directory, though its name suggests more.
fn narrow(rule: &Rule) -> Option<Remark> {
    let Subject::Path(PathPattern::Glob(glob), _) = &rule.subject else { return None };
    if rule.effect == Effect::Allow || !glob.is_top_level() {
        return None;
    }
    let message = format!(
        "{} is narrower than it looks: it names files in the top directory only",
        subject_words(rule)
    );
    Some(remark(Code::NarrowDeny, rule, format!("{message}; write `**/{}` for any depth", glob.as_str())))
}

fn forbidden_remarks(settings: &Settings) -> Vec<Remark> {
    let texts = settings.get("files.forbidden").into_iter().flat_map(Node::texts);
    let top_level = texts.filter(|(text, node)| {
        let pattern = PathPattern::parse(text);
        node.source.scope != Scope::BuiltIn
            && matches!(pattern, Ok(PathPattern::Glob(glob)) if glob.is_top_level())
    });
    let message = |text: &str| {
        format!(
            "forbidden `{0}` is narrower than it looks: it names files in the top directory only; write `**/{0}` for any depth",
            Shown::text(text)
        )
    };
    top_level
        .map(|(text, node)| Remark {
            code: Code::NarrowDeny,
            message: message(text),
            place: Some(node.place()),
        })
        .collect()
}

/// Accepted findings that were not reviewed, because they are in any file.
fn wide_scan_allows(settings: &Settings) -> Vec<Remark> {
    let wide = settings.skills().allow.into_iter().filter_map(|allow| {
        let why = wide_path(&allow.path).filter(|_| !allow.path.text().starts_with('/'))?;
        let (rule, path) = (allow.rule, allow.path.text());
        let message = format!(
            "allow `{}` in `{}` is wider than it looks: {why}",
            Shown::text(&rule),
            Shown::text(&path)
        );
        Some(Remark { code: Code::WideAllow, message, place: Some(allow.place) })
    });
    wide.collect()
}

/// Rules that never match, never decide, or change nothing when they do.
fn effectless(settings: &Settings, rule: &Rule) -> Option<Remark> {
    if let Some(why) = wrong_tool(rule) {
        return Some(remark(
            Code::NeverMatches,
            rule,
            format!("{} can never match: {why}", subject_words(rule)),
        ));
    }
    let traces: Vec<_> =
        samples(settings, rule).iter().map(|sample| settings.explain(&sample.request())).collect();
    let decides = |trace: &Trace| {
        let reason = trace.decision.reason();
        (&reason.rule, &reason.text) == (&rule.reason.rule, &rule.reason.text)
    };
    if rule.effect == Effect::Allow && !traces.is_empty() && traces.iter().all(allowed_by_default) {
        let message = format!("{} changes nothing: the default allows it already", subject_words(rule));
        return Some(remark(Code::NoEffect, rule, message));
    }
    // One text that an expression matches says little about the others.
    let is_known = rule.effect == Effect::Allow || !subject_words(rule).contains("`re:");
    if traces.is_empty() || traces.iter().any(decides) || !is_known {
        return None;
    }
    let by = deciders(&traces);
    Some(remark(Code::Shadowed, rule, format!("{} never decides: {by} comes before it", subject_words(rule))))
}

/// Returns true if a rule decided what the default of the section would have decided alike.
fn allowed_by_default(trace: &Trace) -> bool {
    let default = trace
        .said
        .iter()
        .any(|said| said.is_default && said.decision.as_ref().map(Decision::effect) == Some(Effect::Allow));
    // Without an exception, a question would be asked.
    trace.phase == Phase::RuleAllow && default && trace.decision.reason().exception_to.is_none()
}

fn deciders(traces: &[Trace]) -> String {
    let name = |trace: &Trace| match (&trace.decision.reason().rule, &trace.decision) {
        (Some(place), decision) => format!("{} at {place}", decision.effect().word()),
        (None, Decision::Deny(reason)) => format!("deny {}", reason.code),
        (None, decision) => decision.effect().word().to_owned(),
    };
    let mut names: Vec<_> = traces.iter().map(name).collect();
    names.dedup();
    names.join(", ")
}

/// A tool that never makes the kind of request the rule is about.
fn wrong_tool(rule: &Rule) -> Option<String> {
    const EXEC: &[&str] = &["exec", "process", "subagents", "pipeline", "cron"];
    const FILES: &[&str] = &["read", "write", "edit", "grep", "find", "ls", "apply_patch", "exec", "process"];
    const NETWORK: &[&str] = &["web_fetch", "web_search", "browser", "exec", "process"];
    let (known, what) = match &rule.subject {
        Subject::Any => return None,
        Subject::Command(_) => (EXEC, "starts commands"),
        Subject::Path(..) => (FILES, "opens files"),
        Subject::Host(_) => (NETWORK, "opens connections"),
    };
    let tool = rule.tool.as_ref()?;
    let fits = tool_names().iter().filter(|name| tool.matches(name)).any(|name| known.contains(name));
    let own = !tool_names().iter().any(|name| tool.matches(name));
    let foreign = own || tool.as_str().starts_with("mcp__") || tool.as_str().starts_with("re:");
    (!fits && !foreign).then(|| format!("`{}` never {what}", Shown::text(tool.as_str())))
}

/// Requests that the rule matches.
fn samples(settings: &Settings, rule: &Rule) -> Vec<Sample> {
    let parsed = lines(rule).into_iter().filter_map(|line| Sample::parse(&line, &settings.places).ok());
    parsed.map(|sample| sample.through(rule)).filter(|sample| fits(settings, rule, sample)).collect()
}

/// A pattern can have samples that its own conditions exclude; those say nothing.
fn fits(settings: &Settings, rule: &Rule, sample: &Sample) -> bool {
    let request = sample.request();
    match (&rule.subject, request.want) {
        (Subject::Command(_), policy::Want::Exec(execution)) => rule.matches_invocation(execution.invocation),
        _ => settings.rules.matching(&request).iter().any(|found| found.id == rule.id),
    }
}

fn unchecked_examples(settings: &Settings) -> Vec<Remark> {
    let unchecked = settings.examples.iter().filter(|example| example.outcome == Outcome::Unchecked);
    let message =
        |text: &str| format!("the example `{}` was not checked: it cannot be read", Shown::text(text));
    unchecked
        .map(|example| Remark {
            code: Code::UncheckedExample,
            message: message(example.node.text().unwrap_or_default()),
            place: Some(example.node.place()),
        })
        .collect()
}
