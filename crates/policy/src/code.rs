//! Every code a person can meet, and its manual page.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $title:literal;)*) => {
        /// A stable name for one cause. Codes are never renumbered and never reused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* #[doc = $title] $name,)* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name people see and search for, such as `RF-F003`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// The cause in a few words.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// The manual page, in Markdown.
            #[must_use]
            pub const fn manual(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("../manual/", $id, ".md")),)* }
            }
        }
    };
}

codes! {
    OutsideWorkspace = "RF-F001", "outside the workspace";
    AbsolutePath = "RF-F002", "absolute path";
    ForbiddenName = "RF-F003", "forbidden name";
    FilesRule = "RF-F004", "a pattern of `files` decided";
    FilesDefault = "RF-F005", "the default of `files` decided";
    OwnPolicyFile = "RF-F006", "the policy's own file";
    MagicLink = "RF-F007", "link that leads out of the file system";
    SharedFile = "RF-F008", "file with other names";
    ProtectedName = "RF-F009", "protected name";

    BadHost = "RF-N001", "not a host name";
    MetadataAddress = "RF-N002", "cloud metadata address";
    PrivateAddress = "RF-N003", "address that is not public";
    HostRule = "RF-N004", "a host in `network` decided";
    UnknownHost = "RF-N005", "host that no rule names";
    NameMismatch = "RF-N006", "names that disagree";
    UnreadableTraffic = "RF-N007", "traffic that cannot be judged";
    Unreachable = "RF-N008", "host that cannot be reached";
    BadRequest = "RF-N009", "request with more than one reading";
    TrafficLimit = "RF-N010", "limit of the broker reached";
    RequestScope = "RF-N011", "request outside the permitted methods and paths";
    PlaceholderElsewhere = "RF-N012", "placeholder of a secret at another host";
    SecretUnavailable = "RF-N013", "secret that cannot be used";

    Rule = "RF-R001", "a rule decided";
    NobodyAnswered = "RF-R002", "nobody answered";
    Unprovable = "RF-R003", "command whose meaning is not certain";
    SessionAnswer = "RF-R004", "a person answered for this session";
    Typed = "RF-R005", "a person typed the command";
    CommandDefault = "RF-R006", "the default of `commands` decided";
    AskUnanswered = "RF-R007", "a question that nobody answered";
    AskAborted = "RF-R008", "a question that was called off";
    AnsweredNo = "RF-R009", "a person said no";
    AnsweredYes = "RF-R010", "a person said yes";
    Approved = "RF-R011", "approved on the command line";

    Unreadable = "RF-S001", "command line that cannot be read";
    MisleadingCharacter = "RF-S002", "character that misleads";
    TooComplex = "RF-S003", "command line too large to be read";
    CommandSubstitution = "RF-S004", "command substitution";
    Backtick = "RF-S005", "backticks";
    ProcessSubstitution = "RF-S006", "process substitution";
    ZshForm = "RF-S007", "form that only zsh knows";
    PipeTarget = "RF-S008", "pipe into a program that acts on what it reads";
    CodeOfItsOwn = "RF-S009", "code that an interpreter or option would run";
    Brace = "RF-S010", "brace expansion";
    FieldSeparator = "RF-S011", "the field separator is used or changed";
    ProcessEnvironment = "RF-S012", "environment of a process";
    ProtectedPath = "RF-S013", "path of the system is changed";
    RedirectTarget = "RF-S014", "redirection to a protected file";
    ZshBuiltin = "RF-S015", "builtin that only zsh knows";
    EnvironmentOverride = "RF-S016", "variable that changes what a program runs";
    Evaluation = "RF-S017", "text that is evaluated as code";
    Destructive = "RF-S018", "destructive command";
    CredentialRead = "RF-S019", "file with credentials";
    ForcedPush = "RF-S020", "forced push";
    RaisedRights = "RF-S021", "more rights than the caller has";
    NetworkSender = "RF-S022", "data piped to a network program";

    ToolGranted = "RF-T001", "tool in the tool set";
    ToolNotInProfile = "RF-T002", "tool not in the profile";
    ToolDenied = "RF-T003", "tool denied by name or group";
    ToolNarrowed = "RF-T004", "tool not wanted by the skill";

    NotToml = "RF-C001", "not valid TOML";
    UnknownKey = "RF-C002", "unknown key";
    WrongType = "RF-C003", "wrong type";
    BadValue = "RF-C004", "value not accepted";
    BadGlob = "RF-C005", "pattern that cannot be read";
    BadRegex = "RF-C006", "regular expression that cannot be used";
    BadHostPattern = "RF-C007", "host pattern that cannot be used";
    FailingExample = "RF-C008", "rule that fails its own example";
    OverlappingViews = "RF-C009", "views that overlap";
    LayerWidens = "RF-C010", "layer that widens";
    TooLarge = "RF-C011", "policy too large";
    UntrustedFile = "RF-C012", "policy file that others could change";
    UnknownName = "RF-C013", "unknown tool, group or profile";
    MissingKey = "RF-C014", "missing key";
    UnreadableFile = "RF-C015", "policy file that cannot be read";
    MisleadingText = "RF-C016", "invisible or control characters";

    NeverMatches = "RF-L001", "rule that can never match";
    Shadowed = "RF-L002", "rule that never decides";
    WideAllow = "RF-L003", "allow rule wider than it looks";
    UncheckedExample = "RF-L004", "example that could not be checked";
    NotBuilt = "RF-L005", "setting whose feature is not built yet";
    NarrowDeny = "RF-L006", "deny rule narrower than it looks";
    NoEffect = "RF-L007", "rule that changes nothing";

    LedgerUnwritable = "RF-A001", "ledger that cannot be written";
    RecordChanged = "RF-A002", "record that was changed";
    RecordRemoved = "RF-A003", "records that were removed";
    RecordReordered = "RF-A004", "record out of order";
    LedgerTruncated = "RF-A005", "ledger that ends too early";
    RecordTorn = "RF-A006", "record cut off by a crash";
    LedgerUntrusted = "RF-A007", "ledger file that others could change";
    LedgerUnreadable = "RF-A008", "ledger that cannot be read";

    JailConflict = "RF-J001", "views that contradict each other";
    JailMissingPath = "RF-J002", "path that is not there";
    JailUnavailable = "RF-J003", "no jail on this machine";
    JailBelowRequired = "RF-J004", "enforcement below what is required";
    JailNoBroker = "RF-J005", "no network through the broker";
    JailStepFailed = "RF-J006", "the jail could not be made";
    JailNotFound = "RF-J007", "command not found";
    JailNotExecutable = "RF-J008", "command not executable";
    JailLimit = "RF-J009", "limit reached";
    JailEnvironment = "RF-J010", "variable that is not passed in";
    JailDenied = "RF-J011", "denied inside the jail";
    JailUnjailed = "RF-J012", "without a jail";
    JailTripped = "RF-J013", "a protected name has changed";

    OverlayBusy = "RF-O001", "overlay in use";
    OverlayConflict = "RF-O002", "changed outside meanwhile";
    OverlayProtected = "RF-O003", "protected names in an overlay";
    OverlayUnusable = "RF-O004", "overlay that cannot be used";

    SkillBlocked = "RF-K001", "skill blocked";
    SkillFlagged = "RF-K002", "skill loaded, but flagged";
    SkillOversize = "RF-K003", "skill that is too long";
    SkillUnreadable = "RF-K004", "skill that cannot be read";
    SkillChanged = "RF-K005", "skill changed since it was pinned";
    SkillUnscanned = "RF-K006", "skill that was not scanned";
}

impl Code {
    /// Returns true if a finding with this code means that what would start is not all known.
    #[must_use]
    pub const fn is_uncertain(self) -> bool {
        matches!(self, Self::Unprovable | Self::Unreadable | Self::TooComplex | Self::MisleadingCharacter)
    }

    /// Finds a code by its name, ignoring case.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.id().eq_ignore_ascii_case(id))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_unique_and_each_has_a_manual_page() {
        let mut seen = BTreeSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.id()), "{code} is used twice");
            assert_eq!(Code::from_id(&code.id().to_lowercase()), Some(*code));
            let first = format!("# {code}: {}", code.title());
            assert_eq!(code.manual().lines().next(), Some(first.as_str()), "manual/{code}.md");
            assert!(code.manual().contains("\n## "), "manual/{code}.md says nothing to do");
        }
    }

    #[test]
    fn no_manual_page_is_left_over() {
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/manual")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(Code::from_id(name.trim_end_matches(".md")).is_some(), "manual/{name} has no code");
        }
    }
}
