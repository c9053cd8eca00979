//! Variables of the environment in code: one, or all.

use super::{FactKind, Reading};
use crate::code::script::{Script, TokenKind};
use crate::code::secret::{Secret, is_secret_variable};

/// Finds every use of the environment: the token where it begins, and its fact.
pub(super) fn sources(script: &Script<'_>, reading: &mut Reading) -> Vec<(usize, usize)> {
    let mut sources = Vec::new();
    for at in 0..script.len() {
        if script.kind(at) != TokenKind::Name {
            continue;
        }
        let Some((start, used)) = used_at(script, at) else { continue };
        let range = script.range(&(start..at + 1));
        for secret in used {
            if let Secret::Variable(name) = &secret {
                reading.push(FactKind::Variable(name.clone()), range.clone());
                if !is_secret_variable(name) {
                    continue;
                }
            }
            let fact = reading.push(FactKind::ReadsSecret(secret), range.clone());
            sources.extend(fact.map(|fact| (start, fact)));
        }
    }
    sources
}

/// Returns the part of the environment that a name stands for, and the start of its expression.
fn used_at(script: &Script<'_>, at: usize) -> Option<(usize, Vec<Secret>)> {
    let token = script.token(at);
    let dotted = at >= 2 && script.token(at - 1) == ".";
    let base = if dotted { script.token(at - 2) } else { "" };
    match token {
        "environ" if base == "os" || !dotted && script.resolved("environ") == "os.environ" => {
            let start = if dotted { at - 2 } else { at };
            Some((start, mapping(script, start, at)?))
        }
        "env" if base == "process" || base == "Bun" => Some((at - 2, mapping(script, at - 2, at)?)),
        "env" if base == "Deno" => Some((at - 2, called(script, at)?)),
        "ENV" if !dotted && matches!(script.token(at + 1), "[" | ".") => Some((at, mapping(script, at, at)?)),
        "getenv" | "Getenv" | "getEnvironmentVariable" | "GetEnvironmentVariable"
            if script.token(at + 1) == "(" =>
        {
            let name = text_at(script, at + 2)?;
            Some((if dotted { at - 2 } else { at }, vec![Secret::Variable(name)]))
        }
        _ => {
            let name =
                token.get(..5).filter(|start| start.eq_ignore_ascii_case("$env:")).map(|_| &token[5..])?;
            Some((at, vec![Secret::Variable(name.to_owned())]))
        }
    }
}

fn text_at(script: &Script<'_>, at: usize) -> Option<String> {
    matches!(script.kind(at), TokenKind::Text { .. }).then(|| script.token(at).to_owned())
}

/// `Deno.env.get("X")`, `Deno.env.toObject()`.
fn called(script: &Script<'_>, at: usize) -> Option<Vec<Secret>> {
    match script.token(at + 2) {
        "get" => Some(vec![Secret::Variable(text_at(script, at + 4)?)]),
        "toObject" => Some(vec![Secret::Environment]),
        _ => None,
    }
}

/// One key of the environment, or all of it.
fn mapping(script: &Script<'_>, start: usize, at: usize) -> Option<Vec<Secret>> {
    let one = |name: Option<String>| name.map(|name| vec![Secret::Variable(name)]);
    match (script.token(at + 1), script.token(at + 2)) {
        ("[", _) => one(text_at(script, at + 2)).or(Some(Vec::new())),
        (".", "get" | "pop" | "setdefault" | "fetch") => one(text_at(script, at + 4)).or(Some(Vec::new())),
        (".", "copy" | "items" | "values" | "to_h" | "to_a" | "each" | "select") => {
            Some(vec![Secret::Environment])
        }
        (".", "update" | "keys") => None,
        (".", name) if script.kind(at + 2) == TokenKind::Name => {
            Some(vec![Secret::Variable(name.to_owned())])
        }
        // `value_of(os.environ, "X")`
        (",", _) if script.token(start.saturating_sub(1)) == "(" && text_at(script, at + 2).is_some() => {
            one(text_at(script, at + 2))
        }
        _ => whole(script, start),
    }
}

/// All of the environment, unless it is only asked whether something is in it, or some names are taken out of it.
fn whole(script: &Script<'_>, start: usize) -> Option<Vec<Secret>> {
    let before = |back: usize| start.checked_sub(back).map_or("", |at| script.token(at));
    if before(1) == "in" {
        let looped = before(3) == "for" || before(3) == ",";
        return looped.then(|| vec![Secret::Environment]);
    }
    if before(1) == "=" && before(2) == "}" {
        let names = script.taken_out(start - 2);
        return Some(names.into_iter().map(Secret::Variable).collect());
    }
    Some(vec![Secret::Environment])
}
