//! Definition of a rule and of its hits.

use std::fmt;

use crate::text::phrase::Phrases;
use crate::text::unit::{Places, Unit};
use crate::text::view::Skill;
use crate::words::Words;

/// Severity of a finding. The larger, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; changes nothing.
    Note,
    /// Loaded, but flagged.
    Warning,
    /// Blocked.
    Critical,
}

impl Severity {
    /// Its name, as it is written in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// Subject of a rule. The first six are those of the base rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Commands in text that a shell would run.
    ExecInjection,
    /// The environment is read as a whole.
    EnvHarvesting,
    /// Mining for a third party.
    CryptoMining,
    /// Connections that bring code or let an attacker in.
    NetworkExfil,
    /// Obfuscated code.
    Obfuscation,
    /// Text that ends the frame it is put into.
    XmlBreakout,
    /// Instructions against the user of the agent.
    PromptInjection,
    /// Text that a person does not see.
    HiddenText,
    /// Secrets are read or collected.
    CredentialAccess,
    /// Secrets or files are sent away.
    Exfiltration,
    /// Changes that stay after the skill has gone.
    Persistence,
    /// Code is fetched and run.
    Download,
    /// A person is talked into running something.
    Lure,
    /// Code of a language that runs code which is not part of its source.
    DynamicCode,
    /// More rights, or protection taken away.
    Privilege,
    /// Destruction of data and systems.
    Destruction,
    /// A tool that says itself that it attacks.
    AttackTool,
    /// Packages and settings that bring in something else.
    SupplyChain,
    /// Files that do not belong in a skill.
    Tree,
    /// The front matter.
    Front,
}

impl Category {
    /// Its name, as it is written in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ExecInjection => "exec_injection",
            Self::EnvHarvesting => "env_harvesting",
            Self::CryptoMining => "crypto_mining",
            Self::NetworkExfil => "network_exfiltration",
            Self::Obfuscation => "obfuscation",
            Self::XmlBreakout => "xml_breakout",
            Self::PromptInjection => "prompt_injection",
            Self::HiddenText => "hidden_text",
            Self::CredentialAccess => "credential_access",
            Self::Exfiltration => "exfiltration",
            Self::Persistence => "persistence",
            Self::Download => "download",
            Self::Lure => "lure",
            Self::DynamicCode => "dynamic_code",
            Self::Privilege => "privilege",
            Self::Destruction => "destruction",
            Self::AttackTool => "attack_tool",
            Self::SupplyChain => "supply_chain",
            Self::Tree => "tree",
            Self::Front => "front_matter",
        }
    }
}

/// A rule: what it looks for, and why that matters. `tests/samples` holds texts that it finds and texts that it leaves alone.
pub struct Rule {
    /// Stable identifier in upper case.
    pub id: &'static str,
    /// Subject of the rule.
    pub category: Category,
    /// Severity of a finding that nothing lowers.
    pub severity: Severity,
    /// Description of the finding, in a few words.
    pub title: &'static str,
    /// Why it matters, in a sentence or two.
    pub why: &'static str,
    /// Advice on how to fix it.
    pub fix: &'static str,
    /// Places that the rule examines.
    pub(crate) places: Places,
    /// Words one of which is in everything that it finds, lower case; the scan tries the rule only where one occurs. Empty: always.
    pub(crate) anchors: Words,
    /// Method by which the rule searches.
    pub(crate) check: Check,
}

/// Method by which a rule searches.
pub(crate) enum Check {
    /// A regular expression, ignoring case, `\s` also between lines; a hit does not count if one of the others matches in the
    /// same unit around it (on its line and the one before).
    Pattern {
        /// Expression that is searched for.
        finds: &'static str,
        /// Expressions that revoke a hit.
        unless: &'static [&'static str],
    },
    /// Function that examines one unit.
    Unit(fn(&Unit<'_>) -> Vec<Hit>),
    /// The same, but it finds only these phrases, with an anchor in each.
    Phrases(&'static [&'static Phrases], fn(&Unit<'_>) -> Vec<Hit>),
    /// The same, but it finds nothing in a unit that does not match each of these.
    Requiring(&'static [&'static Phrases], fn(&Unit<'_>) -> Vec<Hit>),
    /// Function that examines everything that was read of the skill. Its places and anchors do not count.
    Skill(fn(&Skill<'_>) -> Vec<SkillHit>),
}

/// Hit of a check in a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Byte range in the text of the unit.
    pub(crate) range: std::ops::Range<usize>,
    /// Additional sentence, if the title of the rule is not enough.
    pub(crate) note: Option<String>,
    /// Severity of this hit, if lower than that of the rule.
    pub(crate) severity: Option<Severity>,
}

impl Hit {
    /// Creates a hit that the title of the rule describes.
    pub(crate) fn at(range: std::ops::Range<usize>) -> Self {
        Self { range, note: None, severity: None }
    }
}

/// Hit of a check in a skill: the file, and the range in its original bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillHit {
    /// Index of the entry in the tree.
    pub(crate) entry: usize,
    /// Byte range in the file.
    pub(crate) span: std::ops::Range<usize>,
    /// Additional sentence, if the title of the rule is not enough.
    pub(crate) note: Option<String>,
    /// Severity of this hit, if lower than that of the rule.
    pub(crate) severity: Option<Severity>,
}

impl Rule {
    /// Returns the words that make a scan try the rule.
    pub fn anchors(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.anchors.iter()
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}
