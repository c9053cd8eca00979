//! Tools, and the set of them an agent may call.

use std::fmt;

use crate::Code;
use crate::pattern::{Pattern, PatternError};
use crate::tables::tools::{ALIASES, GROUPS, PROFILES, TOOLS};

/// The name of a tool. Names that mean the same tool are one name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Box<str>);

/// Why something about tools cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// Letters, digits, `_`, `-`, `.`, `:` and `/`, at most 128 of them.
    #[error("a tool name has letters, digits and `_-.:/`, at most 128 of them")]
    Name,
    /// No tool, and no wildcard that could become one.
    #[error("there is no tool `{0}`")]
    UnknownTool(Box<str>),
    /// A misspelled group in a deny list would silently deny nothing.
    #[error("there is no group `{0}`")]
    UnknownGroup(Box<str>),
    /// A misspelled profile would silently be empty.
    #[error("there is no tool profile `{0}`")]
    UnknownProfile(Box<str>),
    /// The wildcard itself.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl ToolName {
    /// Reads a name; an alias becomes the tool it stands for.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b);
        if text.is_empty() || text.len() > 128 || !text.bytes().all(fits) {
            return Err(ToolError::Name);
        }
        Ok(Self(canonical(text).into()))
    }

    /// The tool that starts commands.
    #[must_use]
    pub fn exec() -> Self {
        Self("exec".into())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if Ringfence knows the tool: it is in the table, or it has the shape of a tool of an MCP server.
    #[must_use]
    pub fn is_known(&self) -> bool {
        TOOLS.contains(&&*self.0) || is_foreign(&self.0)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, tool)| tool)
}

/// A tool of an MCP server: it exists only while the server is connected.
fn is_foreign(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// One of the seven ready-made selections of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolProfile {
    name: &'static str,
    tools: Option<&'static [&'static str]>,
}

impl ToolProfile {
    /// Finds a profile by name.
    pub fn parse(name: &str) -> Result<Self, ToolError> {
        let found = PROFILES.iter().find(|(profile, _)| *profile == name);
        let (name, tools) = found.ok_or_else(|| ToolError::UnknownProfile(name.into()))?;
        Ok(Self { name, tools: *tools })
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The names of all profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|(name, _)| *name)
    }

    /// The tools in it; `None` is every tool there is.
    #[must_use]
    pub const fn tools(self) -> Option<&'static [&'static str]> {
        self.tools
    }
}

/// One entry of an allow or deny list: a tool, a wildcard over tools, or a group.
#[derive(Debug, Clone)]
pub struct ToolEntry {
    text: Box<str>,
    matcher: Matcher,
}

#[derive(Debug, Clone)]
enum Matcher {
    Group(&'static [&'static str]),
    Pattern(Pattern),
}

impl ToolEntry {
    /// Reads an entry. What names nothing is an error, never ignored.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        let matcher = match text.strip_prefix("group:") {
            Some(group) => Matcher::Group(group_tools(group)?),
            None => Matcher::Pattern(tool_pattern(text)?),
        };
        Ok(Self { text: text.into(), matcher })
    }

    /// Reads an entry that may also name tools that only the caller has. A group still has to exist.
    pub fn own(text: &str) -> Result<Self, ToolError> {
        match Self::parse(text) {
            Err(ToolError::UnknownTool(_)) => {
                Ok(Self { text: text.into(), matcher: Matcher::Pattern(own_tool_pattern(text)?) })
            }
            parsed => parsed,
        }
    }

    /// The entry as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if the tool is meant.
    #[must_use]
    pub fn matches(&self, tool: &ToolName) -> bool {
        match &self.matcher {
            Matcher::Group(tools) => tools.contains(&tool.as_str()),
            Matcher::Pattern(pattern) => pattern.matches(tool.as_str()),
        }
    }
}

/// The tools of a group.
pub fn group_tools(group: &str) -> Result<&'static [&'static str], ToolError> {
    let found = GROUPS.iter().find(|(name, _)| *name == group);
    found.map(|(_, tools)| *tools).ok_or_else(|| ToolError::UnknownGroup(group.into()))
}

/// The names of all groups.
pub fn group_names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().map(|(name, _)| *name)
}

/// The names of all tools in the table.
#[must_use]
pub fn tool_names() -> &'static [&'static str] {
    TOOLS
}

/// Reads a tool or a wildcard over tools. An alias becomes the tool it stands for; what names nothing is an error.
pub fn tool_pattern(text: &str) -> Result<Pattern, ToolError> {
    let pattern = Pattern::parse(text)?;
    let Some(name) = pattern.literal() else {
        let hits = TOOLS.iter().any(|tool| pattern.matches(tool));
        let foreign = is_foreign(text) || text.starts_with("re:mcp__") || pattern.is_anything();
        return if hits || foreign { Ok(pattern) } else { Err(ToolError::UnknownTool(text.into())) };
    };
    let name = ToolName::parse(&name).map_err(|_| ToolError::UnknownTool(text.into()))?;
    if name.is_known() {
        Ok(Pattern::parse(name.as_str())?)
    } else {
        Err(ToolError::UnknownTool(text.into()))
    }
}

/// Reads a tool or a wildcard over tools, also over tools that only the caller has.
pub fn own_tool_pattern(text: &str) -> Result<Pattern, ToolError> {
    match tool_pattern(text) {
        Err(ToolError::UnknownTool(_)) => {
            let pattern = Pattern::parse(text)?;
            let named = pattern.literal().is_none_or(|name| ToolName::parse(&name).is_ok());
            if named && text.is_ascii() { Ok(pattern) } else { Err(ToolError::Name) }
        }
        parsed => parsed,
    }
}

/// The tools one agent may call: a profile, what is added, what is taken away, what skills leave of it.
#[derive(Debug, Clone)]
pub struct ToolSet {
    profile: ToolProfile,
    allow: Vec<ToolEntry>,
    deny: Vec<ToolEntry>,
    /// Each narrowing keeps only the tools it names.
    narrowed: Vec<Vec<ToolName>>,
    /// Each bound keeps only the tools that it contains.
    bounds: Vec<ToolSet>,
}

/// Why a tool is not in a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excluded {
    /// Neither the profile nor the allow list has it.
    NotInProfile(&'static str),
    /// This entry of the deny list names it.
    Denied(Box<str>),
    /// A skill did not ask for it.
    Narrowed,
}

impl Excluded {
    /// The code that says so.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NotInProfile(_) => Code::ToolNotInProfile,
            Self::Denied(_) => Code::ToolDenied,
            Self::Narrowed => Code::ToolNarrowed,
        }
    }
}

impl ToolSet {
    /// Profile, then allow, then deny. Deny wins.
    #[must_use]
    pub fn new(profile: ToolProfile, allow: Vec<ToolEntry>, deny: Vec<ToolEntry>) -> Self {
        Self { profile, allow, deny, narrowed: Vec::new(), bounds: Vec::new() }
    }

    /// Returns the tools of a profile, by its name.
    pub fn of_profile(name: &str) -> Result<Self, ToolError> {
        Ok(Self::new(ToolProfile::parse(name)?, Vec::new(), Vec::new()))
    }

    /// Adds a tool, a wildcard or a group; tools of the caller are added by their own names.
    pub fn allow(mut self, entry: &str) -> Result<Self, ToolError> {
        self.allow.push(ToolEntry::own(entry)?);
        Ok(self)
    }

    /// Takes a tool, a wildcard or a group away. A denied tool stays denied, however it is added.
    pub fn deny(mut self, entry: &str) -> Result<Self, ToolError> {
        self.deny.push(ToolEntry::own(entry)?);
        Ok(self)
    }

    /// Keeps only the tools that another set contains, too.
    #[must_use]
    pub fn within(mut self, bound: Self) -> Self {
        self.bounds.push(bound);
        self
    }

    /// Returns an error with the reason if the tool may not be called.
    pub fn judge(&self, tool: &ToolName) -> Result<(), Excluded> {
        if let Some(entry) = self.deny.iter().find(|entry| entry.matches(tool)) {
            return Err(Excluded::Denied(entry.as_str().into()));
        }
        let in_profile = self.profile.tools().is_none_or(|tools| tools.contains(&tool.as_str()));
        if !in_profile && !self.allow.iter().any(|entry| entry.matches(tool)) {
            return Err(Excluded::NotInProfile(self.profile.name()));
        }
        self.bounds.iter().try_for_each(|bound| bound.judge(tool))?;
        let wanted = self.narrowed.iter().all(|names| names.contains(tool));
        if wanted { Ok(()) } else { Err(Excluded::Narrowed) }
    }

    /// Returns true if the tool may be called.
    #[must_use]
    pub fn contains(&self, tool: &ToolName) -> bool {
        self.judge(tool).is_ok()
    }

    /// Keeps only the tools that a skill wants. A skill takes away, it never adds; wanting none leaves none.
    #[must_use]
    pub fn narrow(&self, wanted: &[ToolName]) -> Self {
        let mut narrowed = self.clone();
        narrowed.narrowed.push(wanted.to_vec());
        narrowed
    }

    /// The tools of the table that may be called; tools of MCP servers come on top when they are connected.
    pub fn tools(&self) -> impl Iterator<Item = &'static str> {
        TOOLS.iter().copied().filter(|name| ToolName::parse(name).is_ok_and(|tool| self.contains(&tool)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(profile: &str, allow: &[&str], deny: &[&str]) -> ToolSet {
        let entries = |list: &[&str]| list.iter().map(|text| ToolEntry::parse(text).unwrap()).collect();
        ToolSet::new(ToolProfile::parse(profile).unwrap(), entries(allow), entries(deny))
    }

    fn tool(name: &str) -> ToolName {
        ToolName::parse(name).unwrap()
    }

    #[test]
    fn the_seven_profiles() {
        let rows = [
            ("minimal", "read write"),
            ("coding", "apply_patch edit exec find grep ls process read write"),
            ("messaging", "message session_status"),
            (
                "supervisor",
                "agents_manage channels_manage heartbeat_manage mcp_manage memory_manage models_manage obs_query \
                 sessions_manage skills_manage tokens_manage",
            ),
            ("cron-minimal", "cron discover ls memory_search memory_store message read web_search write"),
            ("heartbeat-minimal", "discover memory_search memory_store message"),
        ];
        for (profile, expected) in rows {
            let mut tools: Vec<_> = set(profile, &[], &[]).tools().collect();
            tools.sort_unstable();
            assert_eq!(tools.join(" "), expected, "{profile}");
        }
        assert_eq!(set("full", &[], &[]).tools().count(), TOOLS.len());
        assert_eq!(ToolProfile::names().count(), 7);
        assert_eq!(ToolProfile::parse("codign"), Err(ToolError::UnknownProfile("codign".into())));
    }

    #[test]
    fn allow_then_deny_and_deny_wins() {
        let rows = [
            ("minimal", &["exec"][..], &[][..], "exec", Ok(())),
            ("minimal", &["group:web"], &[], "browser", Ok(())),
            ("minimal", &[], &[], "exec", Err(Excluded::NotInProfile("minimal"))),
            ("coding", &["exec"], &["exec"], "exec", Err(Excluded::Denied("exec".into()))),
            ("full", &[], &["group:memory"], "memory_get", Err(Excluded::Denied("group:memory".into()))),
            (
                "full",
                &[],
                &["mcp__github--*"],
                "mcp__github--push",
                Err(Excluded::Denied("mcp__github--*".into())),
            ),
            ("full", &[], &[], "mcp__github--push", Ok(())),
            ("coding", &[], &[], "mcp__github--push", Err(Excluded::NotInProfile("coding"))),
            ("coding", &["mcp__github--*"], &[], "mcp__github--push", Ok(())),
            ("cron-minimal", &[], &[], "read_file", Ok(())),
            ("cron-minimal", &[], &[], "list_dir", Ok(())),
            ("cron-minimal", &[], &[], "discover_tools", Ok(())),
            ("coding", &[], &["read_file"], "read", Err(Excluded::Denied("read_file".into()))),
        ];
        for (profile, allow, deny, name, expected) in rows {
            assert_eq!(set(profile, allow, deny).judge(&tool(name)), expected, "{profile} {name}");
        }
    }

    #[test]
    fn a_bound_keeps_what_both_sets_contain() {
        let own = ToolSet::of_profile("coding").unwrap().allow("corp_*").unwrap().deny("exec").unwrap();
        let bound = ToolSet::of_profile("minimal").unwrap().allow("corp_publish").unwrap();
        let both = own.within(bound);
        let rows = [
            ("read", Ok(())),
            ("corp_publish", Ok(())),
            ("corp_delete", Err(Excluded::NotInProfile("minimal"))),
            ("grep", Err(Excluded::NotInProfile("minimal"))),
            ("exec", Err(Excluded::Denied("exec".into()))),
        ];
        for (name, expected) in rows {
            assert_eq!(both.judge(&tool(name)), expected, "{name}");
        }
        assert_eq!(both.tools().collect::<Vec<_>>(), ["read", "write"]);
    }

    #[test]
    fn what_names_nothing_is_an_error() {
        let rows = [
            ("exce", ToolError::UnknownTool("exce".into())),
            ("group:memroy", ToolError::UnknownGroup("memroy".into())),
            ("exce*", ToolError::UnknownTool("exce*".into())),
            ("Exec", ToolError::UnknownTool("Exec".into())),
            ("ex\u{200b}ec", ToolError::UnknownTool("ex\u{200b}ec".into())),
            ("", ToolError::Pattern(PatternError::Empty)),
        ];
        for (text, expected) in rows {
            assert_eq!(ToolEntry::parse(text).unwrap_err(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_skill_takes_away_and_never_adds() {
        let coding = set("coding", &[], &["exec"]);
        let narrowed = coding.narrow(&[tool("read"), tool("exec"), tool("browser")]);
        assert_eq!(narrowed.tools().collect::<Vec<_>>(), ["read"]);
        assert_eq!(narrowed.judge(&tool("grep")), Err(Excluded::Narrowed));
        assert_eq!(narrowed.narrow(&[tool("grep")]).tools().count(), 0);
        assert_eq!(coding.narrow(&[]).tools().count(), 0);
    }

    #[test]
    fn groups_and_profiles_name_tools_of_the_table() {
        for (group, tools) in GROUPS {
            assert!(tools.iter().all(|name| TOOLS.contains(name)), "{group}");
        }
        for (profile, tools) in PROFILES {
            assert!(tools.unwrap_or_default().iter().all(|name| TOOLS.contains(name)), "{profile}");
        }
        assert!(ALIASES.iter().all(|(alias, name)| !TOOLS.contains(alias) && TOOLS.contains(name)));
    }
}
