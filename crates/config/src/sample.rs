//! Requests by example: one a line, for tests, comparisons and lint.

use policy::{
    Arguments, Endpoint, Execution, Invocation, Kind, Location, Pattern, Request, Rule, Shown, Subject,
    ToolName, Want, lexical, tool_names,
};

use crate::line::read;
use crate::place::Places;

/// A request that owns what it is about.
#[derive(Debug, Clone)]
pub struct Sample {
    tool: ToolName,
    object: Object,
}

/// Lines of requests that a rule matches, as far as they can be made up.
#[must_use]
pub(crate) fn lines(rule: &Rule) -> Vec<String> {
    match &rule.subject {
        Subject::Path(pattern, kinds) => {
            let verbs = [("read", Kind::Read), ("write", Kind::Write)];
            let verbs: Vec<_> = verbs.iter().filter(|(_, kind)| kinds.contains(*kind)).collect();
            pattern
                .samples()
                .iter()
                .flat_map(|path| verbs.iter().map(move |(verb, _)| format!("{verb} {path}")))
                .collect()
        }
        Subject::Host(pattern) => {
            pattern.sample().map(|endpoint| format!("connect {endpoint}")).into_iter().collect()
        }
        Subject::Command(pattern) => {
            pattern.sample().map(|argv| format!("exec {}", argv.line())).into_iter().collect()
        }
        // A tool makes requests of several kinds; those it does not make are not matched.
        Subject::Any if rule.arguments.is_empty() => {
            let others = ["read some-name", "write some-name", "connect some-name.example", "exec some-name"]
                .map(str::to_owned);
            call_line(rule).into_iter().chain(others).collect()
        }
        Subject::Any => call_line(rule).into_iter().collect(),
    }
}

fn call_line(rule: &Rule) -> Option<String> {
    let tool = rule.tool.as_ref().map_or_else(|| Some(known_tool("read")), fitting_tool)?;
    let arguments =
        rule.arguments.iter().map(|(name, pattern)| Some(format!(" {name}={}", pattern.sample()?)));
    Some(format!("call {tool}{}", arguments.collect::<Option<String>>()?))
}

/// A tool of the table that a pattern means, or a name it would mean.
pub(crate) fn fitting_tool(pattern: &Pattern) -> Option<ToolName> {
    let listed = tool_names().iter().find(|name| pattern.matches(name)).map(ToString::to_string);
    ToolName::parse(&listed.or_else(|| pattern.sample())?).ok()
}

#[derive(Debug, Clone)]
enum Object {
    Read(Location),
    Write(Location),
    Exec(Invocation, Arguments),
    Connect(Endpoint),
    Call(Arguments),
    Load(Location),
}

impl Sample {
    /// Reads `read PATH`, `write PATH`, `load PATH`, `connect HOST`, `call TOOL [NAME=VALUE …]` or `exec COMMAND`.
    pub fn parse(line: &str, places: &Places) -> Result<Self, String> {
        let (kind, written) = line.trim_start().split_once(' ').ok_or("a request is a kind and an object")?;
        let object = written.trim();
        match kind {
            "read" => Ok(Self::file("read", Object::Read(location(object, places)?))),
            "write" => Ok(Self::file("write", Object::Write(location(object, places)?))),
            "load" => Ok(Self::file("read", Object::Load(location(object, places)?))),
            "connect" => Endpoint::parse(object, 443).map(Self::connect).map_err(|error| error.to_string()),
            "call" => Self::call(object, places),
            // The end of a command line is part of it: a blank that is none is not taken away.
            "exec" => {
                let line = written.trim_matches([' ', '\t', '\n', '\r']);
                Ok(Self::exec(ToolName::exec(), Arguments::command(line), line, places))
            }
            kind => Err(format!("`{}` is not read, write, load, connect, call or exec", Shown::text(kind))),
        }
    }

    fn file(tool: &str, object: Object) -> Self {
        Self { tool: known_tool(tool), object }
    }

    pub(crate) fn connect(endpoint: Endpoint) -> Self {
        Self { tool: known_tool("web_fetch"), object: Object::Connect(endpoint) }
    }

    fn exec(tool: ToolName, arguments: Arguments, line: &str, places: &Places) -> Self {
        Self { tool, object: Object::Exec(read(line, places), arguments) }
    }

    fn call(text: &str, places: &Places) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let tool = ToolName::parse(words.next().unwrap_or_default()).map_err(|error| error.to_string())?;
        let pair = |word: &str| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let pairs: Option<Vec<_>> = words.map(pair).collect();
        let arguments = Arguments::new(pairs.ok_or("arguments are written NAME=VALUE")?);
        // A call that runs a command line is judged by what the line would start.
        match arguments.line(&tool).map(str::to_owned) {
            Some(line) => Ok(Self::exec(tool, arguments, &line, places)),
            None => Ok(Self { tool, object: Object::Call(arguments) }),
        }
    }

    /// The same request through a tool that a rule is about.
    #[must_use]
    pub(crate) fn through(mut self, rule: &Rule) -> Self {
        if let Some(tool) = rule.tool.as_ref().and_then(fitting_tool) {
            self.tool = tool;
        }
        self
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> Request<'_> {
        let want = match &self.object {
            Object::Read(location) => Want::Read(location),
            Object::Write(location) => Want::Write(location),
            Object::Load(location) => Want::Load(location),
            Object::Exec(invocation, arguments) => Want::Exec(Execution { invocation, arguments }),
            Object::Connect(endpoint) => Want::Connect(endpoint),
            Object::Call(arguments) => Want::Call(arguments),
        };
        Request { tool: &self.tool, want }
    }
}

/// The tools named in this file are in the table.
fn known_tool(name: &str) -> ToolName {
    ToolName::parse(name).unwrap_or_else(|_| unreachable!("a tool of the table"))
}

/// A path as it would be if nothing on the way were a link: below the workspace, below home, or from the root.
pub(crate) fn location(text: &str, places: &Places) -> Result<Location, String> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => places.home.as_deref().ok_or("the home directory is not known")?.join(rest),
        None => places.workspace.join(text),
    };
    let location = Location::new(&places.workspace, &lexical(&path)).map_err(|error| error.to_string())?;
    Ok(if text.starts_with('/') { location.spelled_absolute() } else { location })
}

/// Requests that show what most policies are about.
pub(crate) const COMMON: &[&str] = &[
    "read README.md",
    "read src/main.rs",
    "write src/main.rs",
    "write Cargo.lock",
    "read .env",
    "read config/.env.local",
    "read .git/config",
    "write .git/config",
    "write .git/hooks/pre-commit",
    "write ringfence.toml",
    "read /etc/passwd",
    "read /etc/shadow",
    "write /etc/hosts",
    "read ~/.ssh/id_rsa",
    "read ~/.aws/credentials",
    "write /tmp/x",
    "connect github.com",
    "connect api.github.com",
    "connect registry.npmjs.org",
    "connect example.com:80",
    "connect localhost:8080",
    "connect 10.0.0.1",
    "connect 169.254.169.254:80",
    "exec git status",
    "exec git push --force",
    "exec rm -rf build",
    "exec curl https://example.com",
];
