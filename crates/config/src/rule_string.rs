//! A second spelling of rules: `Bash(git push:*)`, `Read(~/.ssh/**)`, `WebFetch(domain:example.com)`, `mcp__server__tool`.

use policy::{
    Code, CommandPattern, Effect, Glob, HostPattern, Kinds, PathPattern, Pattern, Subject, tool_pattern,
};

use crate::place::Places;
use crate::problem::nearest;

/// A parsed rule string.
#[derive(Debug)]
pub(crate) struct RuleString {
    pub(crate) subject: Subject,
    /// The tool, where the rule is about nothing else.
    pub(crate) tool: Option<Pattern>,
}

/// Why a rule string cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// The names that may stand before the parentheses.
const NAMES: &[(&str, Meaning)] = &[
    ("Bash", Meaning::Command),
    ("Read", Meaning::Files(Kinds::Read)),
    ("Glob", Meaning::Files(Kinds::Read)),
    ("Grep", Meaning::Files(Kinds::Read)),
    ("LS", Meaning::Files(Kinds::Read)),
    ("Edit", Meaning::Files(Kinds::Write)),
    ("Write", Meaning::Files(Kinds::Write)),
    ("MultiEdit", Meaning::Files(Kinds::Write)),
    ("NotebookEdit", Meaning::Files(Kinds::Write)),
    ("WebFetch", Meaning::Fetch),
    ("WebSearch", Meaning::Search),
];

#[derive(Debug, Clone, Copy)]
enum Meaning {
    Command,
    Files(Kinds),
    Fetch,
    Search,
}

/// Returns true if a text has the shape of a rule string and not of a command pattern.
pub(crate) fn is_rule_string(text: &str) -> bool {
    let (name, specifier) = parts(text);
    let word = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric());
    let known = NAMES.iter().any(|(known, _)| *known == name);
    text.starts_with("mcp__") || word && (specifier.is_some() || known)
}

/// Reads a rule string. What a path or a command means depends on what the rule does.
pub(crate) fn parse(text: &str, effect: Effect, places: &Places) -> Result<RuleString, Refused> {
    if text.starts_with("mcp__") {
        return mcp(text);
    }
    let (name, specifier) = parts(text);
    let Some((_, meaning)) = NAMES.iter().find(|(known, _)| *known == name) else {
        return Err(unknown(name));
    };
    let subject = match (meaning, specifier) {
        (_, Some(specifier)) if specifier.trim().is_empty() => {
            return Err(bad(format!(
                "nothing stands between the parentheses: write `{name}` for all of them"
            )));
        }
        (Meaning::Command, specifier) => {
            Subject::Command(command(specifier.unwrap_or("*"), places)?.written(text))
        }
        (Meaning::Files(kinds), specifier) => {
            Subject::Path(path(specifier.unwrap_or("//**"), effect, places)?, *kinds)
        }
        (Meaning::Fetch, Some(specifier)) => Subject::Host(host(specifier)?),
        (Meaning::Fetch, None) => return tool("web_fetch"),
        (Meaning::Search, None) => return tool("web_search"),
        (Meaning::Search, Some(_)) => {
            return Err(bad("`WebSearch` has no parentheses: a search is allowed or not".to_owned()));
        }
    };
    Ok(RuleString { subject, tool: None })
}

/// The name, and what stands between the parentheses.
fn parts(text: &str) -> (&str, Option<&str>) {
    match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, specifier)) => (name, Some(specifier)),
        None => (text, None),
    }
}

/// `git push:*` is a beginning, `git push` the whole, and a `*` before the end also stands for blanks.
fn command(text: &str, places: &Places) -> Result<CommandPattern, Refused> {
    let refuse =
        |error: policy::PatternError| Refused { code: Code::BadGlob, message: error.to_string(), hint: None };
    let resolve = |word: &str| places.command_path(word);
    let words = |text: &str| CommandPattern::parse_with(&text.replace('?', "\\?"), resolve).map_err(refuse);
    let beginning = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
    match beginning.map(str::trim_end) {
        _ if text == "*" => words("*"),
        Some(text) if !text.contains('*') => words(text),
        _ if text.ends_with(":*") => {
            Err(bad("`:*` stands behind words without `*`: write one or the other".to_owned()))
        }
        _ => match text.split_once('*') {
            None => words(text).map(CommandPattern::exact),
            Some((before, "")) if !ends_in_path(before) => words(text),
            Some((before, "")) if before.ends_with('/') => words(&format!("{before}**")),
            _ => CommandPattern::spanning(text).map_err(refuse),
        },
    }
}

/// Returns true if the last word is a path, in which our `*` would stop at a slash.
fn ends_in_path(text: &str) -> bool {
    let last = text.rsplit(' ').next().unwrap_or_default();
    ["/", "~/", "./", "../"].iter().any(|start| last.starts_with(start))
}

/// `//x` from the root, `~/x` from home, `/x` and `./x` from the workspace. A bare name is meant at any depth by a
/// restriction, and a restriction on a directory is one on everything in it.
fn path(text: &str, effect: Effect, places: &Places) -> Result<PathPattern, Refused> {
    let restricts = effect != Effect::Allow;
    let text = text.trim();
    if text.starts_with('!') {
        return Err(bad("a leading `!` is not an exception here".to_owned()));
    }
    let anchored = if let Some(rest) = text.strip_prefix("//") {
        format!("/{rest}")
    } else if text.starts_with("~/") {
        places.pattern(text).ok_or_else(no_home)?
    } else if text.starts_with('~') {
        return Err(bad("only `~/` is understood".to_owned()));
    } else if let Some(rest) = text.strip_prefix("./").or_else(|| text.strip_prefix('/')) {
        rest.to_owned()
    } else if restricts && !text.starts_with("**") {
        format!("**/{text}")
    } else {
        text.to_owned()
    };
    let bare = anchored.trim_end_matches('/');
    let below = (restricts || bare.len() < anchored.len()) && bare != "**" && !bare.ends_with("/**");
    let pattern = match (bare, below) {
        ("" | "/**", _) if restricts || text.starts_with("//") && anchored == "/**" => {
            if restricts {
                "**".to_owned()
            } else {
                "/**".to_owned()
            }
        }
        ("", _) => "**".to_owned(),
        (bare, true) => format!("{bare}/**"),
        (bare, false) => bare.to_owned(),
    };
    Glob::parse(&pattern).map(PathPattern::Glob).map_err(|error| bad(error.to_string()))
}

fn host(text: &str) -> Result<HostPattern, Refused> {
    let Some(host) = text.strip_prefix("domain:") else {
        return Err(bad("a host is written `WebFetch(domain:example.com)`".to_owned()));
    };
    let refuse = |error: policy::HostPatternError| Refused {
        code: Code::BadHostPattern,
        message: error.to_string(),
        hint: None,
    };
    HostPattern::parse(host.trim()).map_err(refuse)
}

/// A server, or one of its tools, in both spellings of the separator.
fn mcp(text: &str) -> Result<RuleString, Refused> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_-.*".contains(&b);
    let rest = text.strip_prefix("mcp__").unwrap_or_default();
    let (server, name) = rest.split_once("__").or_else(|| rest.split_once("--")).unwrap_or((rest, "*"));
    if server.is_empty() || server.contains('*') || name.is_empty() || !rest.bytes().all(fits) {
        return Err(bad(
            "a tool of an MCP server is written `mcp__SERVER__TOOL`, a server `mcp__SERVER`".to_owned()
        ));
    }
    let escape = |text: &str| text.replace('.', "\\.").replace('*', ".*");
    tool(&format!("re:mcp__{}(--|__){}", escape(server), escape(name)))
}

fn tool(pattern: &str) -> Result<RuleString, Refused> {
    let tool = tool_pattern(pattern).map_err(|error| bad(error.to_string()))?;
    Ok(RuleString { subject: Subject::Any, tool: Some(tool) })
}

fn unknown(name: &str) -> Refused {
    let lower: Vec<_> = NAMES.iter().map(|(name, _)| name.to_lowercase()).collect();
    let near = nearest(name, lower.iter().map(String::as_str));
    let near = near.and_then(|near| NAMES.iter().find(|(name, _)| name.to_lowercase() == near));
    let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
    let hint = match near {
        Some((near, _)) => format!("did you mean `{near}`?"),
        None => format!("known here: {}, mcp__SERVER__TOOL", names.join(", ")),
    };
    Refused { code: Code::UnknownName, message: format!("there is no rule on `{name}`"), hint: Some(hint) }
}

fn no_home() -> Refused {
    let message = "cannot expand `~/`: the home directory is unknown".to_owned();
    Refused { code: Code::BadValue, message, hint: None }
}

fn bad(message: String) -> Refused {
    Refused { code: Code::BadGlob, message, hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places { workspace: "/ws".into(), home: Some("/home/me".into()), state: None, run: None }
    }

    #[test]
    fn shapes() {
        let rows = [
            ("Bash", true),
            ("Bash(git push:*)", true),
            ("Bsah(git push:*)", true),
            ("Read(a)", true),
            ("mcp__a__b", true),
            ("WebSearch", true),
            ("Xvfb", false),
            ("git push", false),
            ("git log (x)", false),
            ("re:Bash(a)", false),
            ("bash", false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_rule_string(text), expected, "{text}");
        }
    }

    #[test]
    fn paths() {
        let rows = [
            ("//etc/x", "/etc/x/**", "/etc/x"),
            ("~/.ssh/**", "/home/me/.ssh/**", "/home/me/.ssh/**"),
            ("/src/**", "src/**", "src/**"),
            ("./.env", ".env/**", ".env"),
            (".env", "**/.env/**", ".env"),
            ("src/**", "**/src/**", "src/**"),
            ("src/", "**/src/**", "src/**"),
            ("**/*.pem", "**/*.pem/**", "**/*.pem"),
            ("**", "**", "**"),
            ("//**", "**", "/**"),
            ("/", "**", "**"),
        ];
        for (text, deny, allow) in rows {
            for (effect, expected) in [(Effect::Deny, deny), (Effect::Ask, deny), (Effect::Allow, allow)] {
                assert_eq!(path(text, effect, &places()).unwrap().text(), expected, "{text} {effect:?}");
            }
        }
        for bad in ["../x", "!x", "~root/x", "a**"] {
            assert!(path(bad, Effect::Deny, &places()).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_cannot_be_used_says_so() {
        let rows = [
            ("Bsah(git push:*)", Code::UnknownName, Some("did you mean `Bash`?")),
            ("read(x)", Code::UnknownName, Some("did you mean `Read`?")),
            ("Skill(x)", Code::UnknownName, Some("known here: ")),
            ("Bash()", Code::BadGlob, None),
            ("Bash(a && b)", Code::BadGlob, None),
            ("Bash(git * main:*)", Code::BadGlob, None),
            ("WebFetch(example.com)", Code::BadGlob, None),
            ("WebFetch(domain:*)", Code::BadHostPattern, None),
            ("WebSearch(x)", Code::BadGlob, None),
            ("mcp__", Code::BadGlob, None),
            ("mcp__*", Code::BadGlob, None),
        ];
        for (text, code, hint) in rows {
            let refused = parse(text, Effect::Deny, &places()).unwrap_err();
            assert_eq!(refused.code, code, "{text}");
            assert_eq!(refused.hint.is_some(), hint.is_some(), "{text}");
            assert!(hint.is_none_or(|hint| refused.hint.unwrap().starts_with(hint)), "{text}");
        }
    }
}
