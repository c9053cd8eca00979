//! Text of a file, held against the schema: every value checked, every problem found.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use jail::bridge::{Direction, Port};
use policy::{
    Code, CommandPattern, Effect, Endpoint, HostName, HostPattern, HostSet, PathGlob, PathPattern, Pattern,
    Protected, ProxyAddress, SecretPreset, SecretSource, Shown, ToolEntry, ToolError, group_names, host_set,
    host_sets, is_finding, is_metadata, least_effect, misleads, secret_preset, secret_presets, tool_names,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::place::{Places, VARIABLES, VIEW_VARIABLES};
use crate::problem::{Problem, nearest};
use crate::rule_string::{self, is_rule_string};
use crate::schema::{Key, Kind, ROOT, Text};
use crate::source::{Source, Span};
use crate::tree::{Entry, Node, Table, Value};
use crate::units;

/// Most problems that are reported for one file. A person mends the first few and looks again.
const MAX_PROBLEMS: usize = 50;
/// Longest example of a rule, in bytes. Examples are checked at every load, also those of a hostile project.
const MAX_EXAMPLE: usize = 512;
/// Most rules in one file.
const MAX_RULES: usize = 10_000;

/// Reads and checks one file. The table holds what is in order; the problems say what is not.
#[must_use]
pub(crate) fn check(source: &Arc<Source>) -> (Table, Vec<Problem>) {
    let mut checker = Checker { source, problems: Vec::new() };
    checker.raw_characters();
    let (document, errors) = DeTable::parse_recoverable(&source.text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let problem = Problem::new(Code::NotToml, format!("not valid TOML: {}", error.message()));
        checker.report(problem.at(source, span, "here"));
    }
    // A file that is not TOML is not looked at further: what was recovered may not be what was meant.
    if !checker.problems.is_empty() {
        return (Table::new(), checker.problems);
    }
    let root = document.span();
    let table = checker.table(ROOT, document.get_ref(), &root, &Trail::START);
    (table, checker.problems)
}

struct Checker<'a> {
    source: &'a Arc<Source>,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn problem(&mut self, code: Code, message: impl Into<String>, span: &Span, label: impl Into<String>) {
        self.report(Problem::new(code, message).at(self.source, span.clone(), label));
    }

    /// A reviewer must see what the file says: nothing invisible, nothing that reorders, also not in comments.
    fn raw_characters(&mut self) {
        let text = &self.source.text;
        // Most files are plain ASCII, which one pass over the bytes shows.
        if text.bytes().all(|b| matches!(b, b'\n' | b'\t' | b' '..=b'~')) {
            return;
        }
        let harmless = |at: usize, c: char| match c {
            '\n' | '\t' => true,
            '\r' => text[at + 1..].starts_with('\n'),
            '\u{feff}' => at == 0,
            _ => !misleads(c),
        };
        let bad: Vec<_> =
            text.char_indices().filter(|&(at, c)| !harmless(at, c)).take(MAX_PROBLEMS).collect();
        for (at, c) in bad {
            let message =
                format!("the file contains the invisible or control character U+{:04X}", u32::from(c));
            self.problem(
                Code::MisleadingText,
                message,
                &(at..at + c.len_utf8()),
                "not shown by most editors",
            );
        }
    }

    fn table(&mut self, keys: &'static [Key], table: &DeTable<'_>, span: &Span, path: &Trail<'_>) -> Table {
        let mut checked = Table::new();
        for (name, value) in table {
            let Some(key) = keys.iter().find(|key| key.name == name.get_ref()) else {
                self.unknown_key(keys, name, path);
                continue;
            };
            if let Some(node) = self.value(key.kind, value, &path.then(key.name)) {
                checked.insert(key.name.into(), Entry { key: name.span(), node });
            }
        }
        for key in
            keys.iter().filter(|key| key.required && !table.keys().any(|name| name.get_ref() == key.name))
        {
            let message = format!("`{}` is missing", path.then(key.name));
            let hint = format!("{} It is {}.", key.about, key.kind.words());
            let problem =
                Problem::new(Code::MissingKey, message).at(self.source, first_line(span, self.source), "");
            self.report(problem.hint(hint));
        }
        checked
    }

    fn unknown_key(&mut self, keys: &[Key], name: &Spanned<Cow<'_, str>>, path: &Trail<'_>) {
        let written = name.get_ref();
        let message = format!("unknown key `{}`", path.then(written));
        let known = format!("known here: {}", keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", "));
        let problem = Problem::new(Code::UnknownKey, message);
        let problem = match nearest(written, keys.iter().map(|key| key.name)) {
            Some(near) => problem.at(self.source, name.span(), format!("did you mean `{near}`?")).hint(known),
            None => problem.at(self.source, name.span(), known),
        };
        self.report(problem);
    }

    fn value(&mut self, kind: Kind, value: &Spanned<DeValue<'_>>, path: &Trail<'_>) -> Option<Node> {
        let span = value.span();
        let checked = match (kind, value.get_ref()) {
            (Kind::Flag | Kind::FlagOr(_), DeValue::Boolean(flag)) => Value::Flag(*flag),
            (
                Kind::Choice(words) | Kind::FlagOr(words) | Kind::ChoiceOrList(words, _),
                DeValue::String(text),
            ) => self.choice(kind, words, text, &span, path)?,
            (Kind::ChoiceOrList(_, listed), DeValue::Array(items)) => {
                self.list(Kind::Choice(listed), items.iter(), path)
            }
            (Kind::Count(min, max), DeValue::Integer(number)) => {
                let number = u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok();
                Value::Count(self.accept(number.filter(|n| (min..=max).contains(n)), kind, &span, path)?)
            }
            (Kind::Money, DeValue::Float(number)) => {
                Value::Money(self.accept(units::money(number.as_str()), kind, &span, path)?)
            }
            (Kind::Money, DeValue::Integer(number)) => {
                Value::Money(self.accept(units::money(number.as_str()), kind, &span, path)?)
            }
            (Kind::Size, DeValue::String(text)) => {
                Value::Size(self.accept(units::size(text), kind, &span, path)?)
            }
            (Kind::Time, DeValue::String(text)) => {
                Value::Time(self.accept(units::time(text), kind, &span, path)?)
            }
            (Kind::Text(meaning), DeValue::String(text)) => self.text(meaning, text, &span, path)?,
            (Kind::List(meaning), DeValue::Array(items)) => {
                self.list(Kind::Text(meaning), items.iter(), path)
            }
            (Kind::TextsOrTables(meaning, keys), DeValue::Array(items)) => {
                self.texts_or_tables(meaning, keys, items, path)
            }
            (Kind::Table(keys), DeValue::Table(table)) => Value::Table(self.table(keys, table, &span, path)),
            (Kind::Named(keys), DeValue::Table(table)) => self.named(Kind::Table(keys), table, path),
            (Kind::Findings(words), DeValue::Table(table)) => self.findings(words, table, path),
            (Kind::Map(meaning), DeValue::Table(table)) => self.named(Kind::Text(meaning), table, path),
            (Kind::Tables(keys), DeValue::Array(items)) => self.tables(keys, items, &span, path)?,
            (kind, other) => {
                self.wrong_type(kind, other, &span, path);
                return None;
            }
        };
        Some(Node { source: Arc::clone(self.source), span, value: checked })
    }

    fn wrong_type(&mut self, kind: Kind, found: &DeValue<'_>, span: &Span, path: &Trail<'_>) {
        let message = format!("`{path}` has the wrong type");
        let label = format!("expected {}, found {}", kind.words(), type_word(found));
        self.problem(Code::WrongType, message, span, label);
    }

    fn accept<T>(&mut self, value: Option<T>, kind: Kind, span: &Span, path: &Trail<'_>) -> Option<T> {
        if value.is_none() {
            let message = format!("`{path}` has a value that is not accepted");
            self.problem(Code::BadValue, message, span, format!("must be {}", kind.words()));
        }
        value
    }

    fn choice(
        &mut self,
        kind: Kind,
        words: &[&'static str],
        text: &str,
        span: &Span,
        path: &Trail<'_>,
    ) -> Option<Value> {
        if words.contains(&text) {
            return Some(Value::Text(text.to_owned()));
        }
        let message = format!("`{}` cannot be `{}`", path, Shown::text(text));
        let label = match nearest(text, words.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("must be {}", kind.words()),
        };
        self.problem(Code::BadValue, message, span, label);
        None
    }

    fn list<'v>(
        &mut self,
        kind: Kind,
        items: impl Iterator<Item = &'v Spanned<DeValue<'v>>>,
        path: &Trail<'_>,
    ) -> Value {
        Value::List(items.filter_map(|item| self.value(kind, item, path)).collect())
    }

    /// A list in which each entry is a text, or a table that says more.
    fn texts_or_tables(
        &mut self,
        meaning: Text,
        keys: &'static [Key],
        items: &toml::de::DeArray<'_>,
        path: &Trail<'_>,
    ) -> Value {
        let kind_of = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::Table(_) => Kind::Table(keys),
            _ => Kind::Text(meaning),
        };
        Value::List(items.iter().filter_map(|item| self.value(kind_of(item), item, path)).collect())
    }

    fn tables(
        &mut self,
        keys: &'static [Key],
        items: &toml::de::DeArray<'_>,
        span: &Span,
        path: &Trail<'_>,
    ) -> Option<Value> {
        if items.len() > MAX_RULES {
            let message = format!("`{path}` has {} entries, more than {MAX_RULES}", items.len());
            self.problem(Code::TooLarge, message, &first_line(span, self.source), "too many");
            return None;
        }
        Some(self.list(Kind::Table(keys), items.iter(), path))
    }

    fn named(&mut self, kind: Kind, table: &DeTable<'_>, path: &Trail<'_>) -> Value {
        let mut checked = Table::new();
        for (name, value) in table {
            let span = name.span();
            let path = path.then(name.get_ref());
            if !is_name(name.get_ref()) {
                let label = "letters, digits, `-`, `_` and `.`, at most 64";
                self.problem(Code::BadValue, "a name that is not accepted", &span, label);
            } else if let Some(node) = self.value(kind, value, &path) {
                checked.insert(name.get_ref().to_string().into(), Entry { key: span, node });
            }
        }
        Value::Table(checked)
    }

    /// Codes with what they mean. A word that would have no effect is an error.
    fn findings(&mut self, words: &'static [&'static str], table: &DeTable<'_>, path: &Trail<'_>) -> Value {
        let mut checked = Table::new();
        for (name, value) in table {
            let path = path.then(name.get_ref());
            let Some(code) = Code::from_id(name.get_ref()).filter(|code| is_finding(*code)) else {
                self.unknown_finding(name);
                continue;
            };
            let Some(node) = self.value(Kind::Choice(words), value, &path) else { continue };
            let least = least_effect(code).map(Effect::word);
            let rank = |word| words.iter().position(|known| Some(*known) == word);
            if least.is_some() && rank(node.word()) < rank(least) {
                let message = format!("`{path}` cannot be `{}`", node.word().unwrap_or_default());
                let label = format!("{} is never less than {}", code.title(), least.unwrap_or_default());
                self.problem(Code::BadValue, message, &value.span(), label);
            } else {
                checked.insert(code.id().into(), Entry { key: name.span(), node });
            }
        }
        Value::Table(checked)
    }

    fn unknown_finding(&mut self, name: &Spanned<Cow<'_, str>>) {
        let ids = Code::ALL.iter().filter(|code| is_finding(**code)).map(|code| code.id());
        let upper = name.get_ref().to_uppercase();
        let near = ids.min_by_key(|id| strsim::damerau_levenshtein(&upper, id)).filter(|_| upper.len() < 16);
        let message = format!("there is no finding `{}`", Shown::text(name.get_ref()));
        let label = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
        self.problem(Code::UnknownName, message, &name.span(), label);
    }

    fn text(&mut self, meaning: Text, text: &str, span: &Span, path: &Trail<'_>) -> Option<Value> {
        if let Some(c) = text.chars().find(|c| misleads(*c)) {
            let message =
                format!("`{}` contains the invisible or control character U+{:04X}", path, u32::from(c));
            self.problem(Code::MisleadingText, message, span, "in this text");
            return None;
        }
        match meaning_of(meaning, text) {
            Ok(()) => Some(Value::Text(text.to_owned())),
            Err((code, message)) => {
                let problem = Problem::new(code, format!("`{path}`: {}", Shown::text(&message)));
                let problem = problem.at(self.source, span.clone(), "this text");
                self.report(with_name_hint(problem, meaning, code, text));
                None
            }
        }
    }
}

type Refused = (Code, String);

/// Checks that a text means something here.
fn meaning_of(meaning: Text, text: &str) -> Result<(), Refused> {
    let refuse = |code: Code, error: &dyn std::error::Error| (code, error.to_string());
    let pattern_code = if text.starts_with("re:") { Code::BadRegex } else { Code::BadGlob };
    match meaning {
        Text::Words | Text::Argument | Text::Example if text.is_empty() => {
            Err((Code::BadValue, "the text is empty".into()))
        }
        Text::Example if text.len() > MAX_EXAMPLE => {
            Err((Code::BadValue, format!("an example has at most {MAX_EXAMPLE} bytes")))
        }
        Text::Words | Text::Argument | Text::Example => Ok(()),
        Text::Name | Text::Profile if is_name(text) => Ok(()),
        Text::Name | Text::Profile => {
            Err((Code::BadValue, "a name has letters, digits, `-`, `_` and `.`, at most 64".into()))
        }
        Text::ProtectedName => protected_name(text).map(drop).map_err(|message| (Code::BadValue, message)),
        Text::Path => check_path(text, VARIABLES),
        Text::ViewPath => check_path(text, VIEW_VARIABLES),
        Text::PathPattern if text.starts_with('~') && !text.starts_with("~/") => {
            Err((Code::BadGlob, "only `~/` is understood; write `\\~` for the character itself".into()))
        }
        Text::PathPattern if !text.starts_with("re:") && (text.contains("${") || text.contains("$HOME")) => {
            Err((
                Code::BadGlob,
                "variables mean nothing in patterns; write `~/` for the home directory".into(),
            ))
        }
        Text::PathPattern => {
            PathPattern::parse(pattern_text(text)).map(drop).map_err(|e| refuse(pattern_code, &e))
        }
        Text::HostEntry if text.starts_with('@') => {
            host_set_named(text).map(drop).map_err(|message| (Code::UnknownName, message))
        }
        Text::HostEntry => meaning_of(Text::HostPattern, text),
        Text::HostPattern if text.starts_with('@') => {
            Err((Code::BadHostPattern, "a set of hosts cannot stand here: name the host".into()))
        }
        Text::HostPattern => HostPattern::parse(text).map(drop).map_err(|e| refuse(host_code(text), &e)),
        Text::Endpoint => Endpoint::parse(text, 443).map(drop).map_err(|e| refuse(Code::BadHostPattern, &e)),
        Text::HostAddress => host_address(text).map(drop).map_err(|message| (Code::BadValue, message)),
        Text::Proxy => ProxyAddress::parse(text).map(drop).map_err(|e| refuse(Code::BadValue, &e)),
        Text::Method if !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase()) => Ok(()),
        Text::Method => Err((Code::BadValue, "a method is written in upper case, as in `GET`".into())),
        Text::Preset => secret_preset_named(text).map(drop).map_err(|message| (Code::UnknownName, message)),
        Text::CommandRule if !is_rule_string(text) => meaning_of(Text::CommandPattern, text),
        Text::CommandPattern => {
            let places = anywhere();
            let parsed = CommandPattern::parse_with(text, |word| places.command_path(word));
            parsed.map(drop).map_err(|e| refuse(pattern_code, &e))
        }
        Text::CommandRule | Text::RuleString => {
            let parsed = rule_string::parse(text, Effect::Deny, &anywhere());
            parsed.map(drop).map_err(|refused| (refused.code, refused.message))
        }
        Text::Pattern => Pattern::parse(text).map(drop).map_err(|e| refuse(pattern_code, &e)),
        Text::ToolEntry | Text::Tool => check_tool(meaning, text),
        Text::UrlPath => PathGlob::parse(text).map(drop).map_err(|e| refuse(Code::BadGlob, &e)),
        Text::Variable if is_variable(text) => Ok(()),
        Text::Variable => Err((Code::BadValue, "a variable has letters, digits and `_`".into())),
        Text::PortIn | Text::PortOut => {
            let way = if meaning == Text::PortIn { Direction::In } else { Direction::Out };
            Port::parse(way, text).map(drop).map_err(|e| refuse(Code::BadValue, &e))
        }
        Text::Source => SecretSource::parse(text).map(drop).map_err(|e| refuse(Code::BadValue, &e)),
    }
}

/// The set that an entry names, or the sentence about an entry that names none.
pub(crate) fn host_set_named(text: &str) -> Result<&'static HostSet, String> {
    let name = text.strip_prefix('@').unwrap_or(text);
    host_set(name).ok_or_else(|| {
        let names: Vec<_> = host_sets().iter().map(|set| set.name).collect();
        unknown_name(&format!("there is no host set `@{}`", Shown::text(name)), name, &names, "@")
    })
}

/// The preset of a name, or the sentence about a name that is none.
pub(crate) fn secret_preset_named(name: &str) -> Result<&'static SecretPreset, String> {
    secret_preset(name).ok_or_else(|| {
        let names: Vec<_> = secret_presets().iter().map(|preset| preset.name).collect();
        unknown_name(&format!("there is no preset `{}`", Shown::text(name)), name, &names, "")
    })
}

fn unknown_name(message: &str, name: &str, known: &[&str], sign: &str) -> String {
    let near = nearest(name, known.iter().copied()).map(|near| format!("; did you mean `{sign}{near}`?"));
    let known: Vec<_> = known.iter().map(|name| format!("{sign}{name}")).collect();
    format!("{message}{} (known: {})", near.unwrap_or_default(), known.join(", "))
}

/// An address with or without a port. Servers that hand out credentials of the machine are none.
pub(crate) fn host_address(text: &str) -> Result<(IpAddr, Option<u16>), String> {
    let alone = text.parse::<IpAddr>().ok().map(|address| (address, None));
    let with_port = || text.parse::<SocketAddr>().ok().map(|socket| (socket.ip(), Some(socket.port())));
    match alone.or_else(with_port) {
        Some((address, _)) if is_metadata(&HostName::Address(address)) => {
            Err("this address hands out credentials of the machine, which nothing overrules".to_owned())
        }
        Some((_, Some(0))) => Err("the port must be a number from 1 to 65535".to_owned()),
        Some(found) => Ok(found),
        None => {
            Err("an address is written `10.0.0.7`, `10.0.0.7:8443`, `fd00::7` or `[fd00::7]:8443`".to_owned())
        }
    }
}

/// Places for texts that are checked before it is known where they are used.
fn anywhere() -> Places {
    Places {
        workspace: "/workspace/here".into(),
        home: Some("/home/somebody".into()),
        state: None,
        run: None,
    }
}

/// A pattern below the home directory is checked without it: home is known only when the policy is used.
fn pattern_text(text: &str) -> &str {
    text.strip_prefix('~').filter(|rest| rest.starts_with('/')).unwrap_or(text)
}

fn host_code(text: &str) -> Code {
    if text.starts_with("re:") { Code::BadRegex } else { Code::BadHostPattern }
}

/// The name of a row of the table, or what is wrong with a text that names none.
pub(crate) fn protected_name(text: &str) -> Result<&'static str, String> {
    let names = || Protected::names().map(|row| row.name);
    let known = names().find(|name| *name == text.trim_end_matches('/'));
    known.ok_or_else(|| {
        let lower: Vec<_> = names().map(|name| (name.to_ascii_lowercase(), name)).collect();
        let near = nearest(text, lower.iter().map(|(lower, _)| lower.as_str()));
        let meant = lower.iter().find(|(lower, _)| Some(lower.as_str()) == near);
        let meant = meant.map(|(_, name)| format!("; do you mean `{name}`?"));
        format!("`{}` is not a protected name{}", Shown::text(text), meant.unwrap_or_default())
    })
}

fn check_tool(meaning: Text, text: &str) -> Result<(), Refused> {
    if meaning == Text::Tool && text.starts_with("group:") {
        return Err((Code::BadValue, "a rule names tools, not groups: use [tools] for groups".into()));
    }
    // A tool that only the caller has is accepted, unless it looks like a misspelling.
    let parsed = match near_tool(text) {
        Some(_) => ToolEntry::parse(text),
        None => ToolEntry::own(text),
    };
    parsed.map(drop).map_err(|error| {
        let unknown = matches!(error, ToolError::UnknownTool(_) | ToolError::UnknownGroup(_));
        (if unknown { Code::UnknownName } else { Code::BadGlob }, error.to_string())
    })
}

/// The tool that a text is probably a misspelling of.
fn near_tool(text: &str) -> Option<&'static str> {
    nearest(&text.trim_matches('*').replace('_', "-"), tool_names().iter().copied())
}

fn check_path(text: &str, known: &[&str]) -> Result<(), Refused> {
    let bad = |message: String| Err((Code::BadValue, message));
    let mut variables = text.split("${").skip(1).map(|part| part.split('}').next().unwrap_or_default());
    let shown =
        |names: &[&str]| names.iter().map(|name| format!("${{{name}}}")).collect::<Vec<_>>().join(", ");
    if variables.any(|name| !known.contains(&name)) {
        return bad(format!("the variables in a path are {}", shown(known)));
    }
    let roots: Vec<_> = known.iter().copied().filter(|name| *name != "RUN").collect();
    let below = roots.iter().find_map(|name| text.strip_prefix(&format!("${{{name}}}")));
    let begins = ["/", "~/"].iter().any(|start| text.starts_with(start));
    if !begins && !below.is_some_and(|rest| rest.starts_with('/')) {
        return bad(format!("a path begins with `/`, `~/` or one of {}, and `/`", shown(&roots)));
    }
    if below.unwrap_or(text).split("${").skip(1).any(|part| !part.starts_with("RUN}")) {
        return bad("only ${RUN} may stand in the middle of a path".to_owned());
    }
    if text.split('/').any(|part| matches!(part, "." | "..")) {
        return bad("a path must not contain `.` or `..`".to_owned());
    }
    Ok(())
}

fn with_name_hint(problem: Problem, meaning: Text, code: Code, text: &str) -> Problem {
    if code != Code::UnknownName || matches!(meaning, Text::HostEntry | Text::Preset) {
        return problem;
    }
    if matches!(meaning, Text::CommandRule | Text::RuleString) {
        let refused = rule_string::parse(text, Effect::Deny, &anywhere()).err();
        let hint = refused.and_then(|refused| refused.hint);
        return hint.into_iter().fold(problem, Problem::hint);
    }
    let near = match text.strip_prefix("group:") {
        Some(group) => nearest(group, group_names()).map(|near| format!("group:{near}")),
        None => near_tool(text).map(str::to_owned),
    };
    match near {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint("tools of MCP servers are written `mcp__SERVER--TOOL`"),
    }
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

fn is_variable(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn type_word(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The way to a value through the tables above it, spelled out only when there is something to say.
#[derive(Clone, Copy)]
struct Trail<'a> {
    parent: Option<&'a Trail<'a>>,
    name: &'a str,
}

impl<'a> Trail<'a> {
    const START: Self = Self { parent: None, name: "" };

    fn then(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), name }
    }
}

impl fmt::Display for Trail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent.filter(|parent| !parent.name.is_empty()) {
            write!(f, "{parent}.")?;
        }
        Shown::text(self.name).fmt(f)
    }
}

/// A table can be long; a caret points at its first line.
fn first_line(span: &Span, source: &Source) -> Span {
    let (line, start) = source.line_text(span.start);
    span.start..(start + line.len()).max(span.start)
}
