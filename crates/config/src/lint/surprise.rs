//! Rules that mean something else than a quick reader takes them for.

use std::path::{Path, PathBuf};

use policy::{Code, CommandPattern, Decision, Effect, Pattern, Rule, Shown, Subject};

use super::{Remark, remark, samples, subject_words};
use crate::settings::Settings;
use crate::tree::Node;

/// Returns remarks on surprises in one rule.
pub(super) fn surprises(rule: &Rule) -> Vec<Remark> {
    [unanchored(rule), any_registration(rule), operators(rule), one_spelling(rule)]
        .into_iter()
        .flatten()
        .collect()
}

/// An expression is searched for, so a permission without anchors is one for everything around it.
fn unanchored(rule: &Rule) -> Option<Remark> {
    if rule.effect != Effect::Allow {
        return None;
    }
    let open = |pattern: &Pattern| !pattern.is_anchored() && !pattern.is_anything();
    let written = |text: &str| Pattern::parse(text).is_ok_and(|pattern| open(&pattern));
    let subject = match &rule.subject {
        Subject::Any => false,
        Subject::Path(pattern, _) => written(&pattern.text()),
        Subject::Host(pattern) => written(pattern.as_str()),
        Subject::Command(pattern) => written(pattern.as_str()),
    };
    let conditions = rule.arguments.iter().map(|(_, pattern)| pattern).chain(&rule.tool);
    if !subject && !conditions.into_iter().any(open) {
        return None;
    }
    let message = format!(
        "{} is wider than it looks: an expression is found anywhere in the text; write `^` before it and `$` behind it",
        subject_words(rule)
    );
    Some(remark(Code::WideAllow, rule, message))
}

/// An expression on hosts that also fits names open to registration by the public.
fn any_registration(rule: &Rule) -> Option<Remark> {
    let Subject::Host(pattern) = &rule.subject else { return None };
    let wide = rule.effect == Effect::Allow && pattern.is_anchored() && !pattern.is_anything();
    if !wide || !pattern.matches_any_registration() {
        return None;
    }
    let message = format!(
        "{} is wider than it looks: it matches names that are open to public registration; name the domain",
        subject_words(rule)
    );
    Some(remark(Code::WideAllow, rule, message))
}

/// A restriction with options of a program whose other spellings are not known.
fn one_spelling(rule: &Rule) -> Option<Remark> {
    let Subject::Command(pattern) = &rule.subject else { return None };
    if rule.effect == Effect::Allow || !pattern.has_unreviewed_options() {
        return None;
    }
    let message = format!(
        "{} may be narrower than it looks: other names of its options are not known; list them too, or leave the options out",
        subject_words(rule)
    );
    Some(remark(Code::NarrowDeny, rule, message))
}

/// Syntax between programs, or removed before a program gets its words.
const BETWEEN: &[(&str, &str)] = &[
    ("&&", "`&&` stands between programs"),
    (r"\|", "`|` stands between programs"),
    (";", "`;` stands between programs"),
    ("  ", "one blank stands between words"),
    (r"\t", "one blank stands between words"),
    (r"\n", "a line break stands between programs"),
    (r"\$\(", "a substitution is a program of its own"),
    ("`", "a substitution is a program of its own"),
];

/// An expression on the words of one program with what is never among them.
fn operators(rule: &Rule) -> Option<Remark> {
    let Subject::Command(pattern) = &rule.subject else { return None };
    let expression = expression(pattern)?;
    let outside = without_classes(expression);
    let (_, why) = BETWEEN.iter().find(|(text, _)| outside.contains(text))?;
    let message = format!(
        "{} can hardly match: it is held against the words of one program, and {why}; `args = {{ command = … }}` sees \
         the line as it was written",
        subject_words(rule)
    );
    Some(remark(Code::NeverMatches, rule, message))
}

/// An expression without what stands in brackets: that is often what must not be there.
fn without_classes(expression: &str) -> String {
    let (mut depth, mut outside) = (0_usize, String::new());
    for c in expression.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside
}

fn expression(pattern: &CommandPattern) -> Option<&str> {
    pattern.as_str().strip_prefix("re:")
}

/// Questions before which no permission of their kind is ever heard.
pub(super) fn shadowing(settings: &Settings, rules: &[&Rule]) -> Vec<Remark> {
    let kind_of = |rule: &Rule| match rule.subject {
        Subject::Command(_) => Some("commands"),
        Subject::Path(..) => Some("files"),
        Subject::Host(_) => Some("hosts"),
        Subject::Any => None,
    };
    let mut remarks = Vec::new();
    for kind in ["commands", "files", "hosts"] {
        let allows = rules.iter().filter(|rule| rule.effect == Effect::Allow && kind_of(rule) == Some(kind));
        let decided: Vec<_> = allows.flat_map(|allow| decisions(settings, allow)).collect();
        let mut asks = rules.iter().filter(|rule| rule.effect == Effect::Ask);
        let all_by = |ask: &&&Rule| {
            let asks =
                |decision: &Decision| matches!(decision, Decision::Ask(reason) if *reason == ask.reason);
            decided.iter().all(asks)
        };
        if let Some(ask) = asks.find(all_by).filter(|_| !decided.is_empty()) {
            let message =
                format!("{} comes before every allow on {kind}: none of them decides", subject_words(ask));
            remarks.push(remark(Code::Shadowed, ask, message));
        }
    }
    remarks
}

/// Decides the requests that a rule matches.
fn decisions(settings: &Settings, rule: &Rule) -> Vec<Decision> {
    samples(settings, rule).iter().map(|sample| settings.decide(&sample.request())).collect()
}

/// Directories that the agent may change and that hold a directory of `PATH`: what is put there is run outside the jail.
#[must_use]
pub fn programs_in_reach(settings: &Settings, path: &[PathBuf]) -> Vec<Remark> {
    let shared = settings.get("jail.shared").into_iter().flat_map(Node::texts);
    let places = shared.filter_map(|(text, node)| {
        Some((settings.places.absolute(text)?, text.to_owned(), Some(node.place())))
    });
    let workspace = settings.places.workspace.clone();
    let own = (workspace.clone(), Shown::path(&workspace).to_string(), None);
    let within = |root: &Path| path.iter().find(|directory| directory.starts_with(root));
    let message = |text: &str, directory: &Path| {
        format!(
            "the agent may change `{}`, and `{}` in it is on your PATH: what is put there runs outside the jail",
            Shown::text(text),
            Shown::path(directory)
        )
    };
    let remarks = places.chain([own]).filter_map(|(root, text, place)| {
        Some(Remark { code: Code::WideAllow, message: message(&text, within(&root)?), place })
    });
    remarks.collect()
}
