//! Denials that nothing overrules.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Code;
use crate::address::is_metadata;
use crate::chain::Floor;
use crate::decision::{Reason, RuleRef};
use crate::glob::GlobError;
use crate::location::{Location, Pair};
use crate::operand::{File, Strangers, files};
use crate::path_index::{Case, PathIndex, PathPattern, Reach};
use crate::request::{Execution, Kind, Request, Want};

/// The border of the workspace, for a policy that lets nothing cross it.
#[derive(Debug)]
pub struct Border {
    /// Directories outside the workspace that belong to it all the same.
    roots: Vec<Root>,
    rule: Option<RuleRef>,
}

/// A directory outside the workspace that the policy lets in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its real path.
    pub path: PathBuf,
    /// True if it may be written.
    pub writable: bool,
}

impl Border {
    /// Draws the border around the workspace and these directories.
    #[must_use]
    pub fn new(roots: Vec<Root>, rule: Option<RuleRef>) -> Self {
        Self { roots, rule }
    }
}

impl Floor for Border {
    fn name(&self) -> &'static str {
        "border"
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        let location = request.want.location()?;
        let writes = matches!(request.want, Want::Write(_));
        if location.is_inside() || in_roots(&self.roots, location, writes) {
            return None;
        }
        Some(outside(self.rule.clone()))
    }
}

/// Returns true if a location lies in one of the directories that were let in.
#[must_use]
pub fn in_roots(roots: &[Root], location: &Location, writes: bool) -> bool {
    roots.iter().any(|root| (root.writable || !writes) && location.is_at_or_below(&root.path))
}

/// The reason for stopping at the border.
#[must_use]
pub fn outside(rule: Option<RuleRef>) -> Reason {
    Reason::new(Code::OutsideWorkspace, "the file is outside the workspace")
        .by(rule)
        .remedy("add its directory to `jail.read-only` or `jail.shared` in your own policy file")
}

/// Refuses paths spelled from the root.
#[derive(Debug)]
pub struct NoAbsolute(pub Option<RuleRef>);

impl Floor for NoAbsolute {
    fn name(&self) -> &'static str {
        "absolute paths"
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        request.want.location().filter(|location| location.is_spelled_absolute())?;
        let reason = Reason::new(Code::AbsolutePath, "the path is absolute").by(self.0.clone());
        Some(reason.remedy("write it relative to the workspace, or set `files.absolute-paths = true`"))
    }
}

/// Names that must not be reached by any spelling, nor must files in a directory of such a name.
#[derive(Debug)]
pub struct Forbidden {
    index: PathIndex,
    reasons: Vec<Reason>,
    /// Names that patterns do not mean, and for each pattern whether it is one of these.
    exempt: Vec<(PathIndex, Box<[bool]>)>,
    /// Directories outside the workspace: what they are called themselves, and what they lie in, does not count.
    tops: Vec<PathBuf>,
    /// Everything that the answers depend on.
    text: Vec<u8>,
    /// For the files that commands name; where it is not known, they are not looked at.
    workspace: Option<PathBuf>,
}

impl Forbidden {
    /// Takes patterns with the place each is written at.
    pub fn new(patterns: &[(PathPattern, Option<RuleRef>)]) -> Result<Self, GlobError> {
        let wide: Vec<_> = patterns.iter().map(|(pattern, _)| (pattern, Reach::Wide)).collect();
        let reason = |(pattern, rule): &(PathPattern, Option<RuleRef>)| {
            let text = format!("the name is forbidden by `{}`", pattern.text());
            let remedy = "no rule can: change `files.forbidden`, or exempt the name with `files.exempt` in your own policy file";
            Reason::new(Code::ForbiddenName, text).by(rule.clone()).remedy(remedy)
        };
        Ok(Self {
            index: PathIndex::new(&wide, Case::Ignored)?.with_directories(),
            reasons: patterns.iter().map(reason).collect(),
            exempt: Vec::new(),
            tops: Vec::new(),
            text: format!("{:?}\n", patterns.iter().map(|(pattern, _)| pattern.text()).collect::<Vec<_>>())
                .into_bytes(),
            workspace: None,
        })
    }

    /// Names that the forbidding patterns do not mean, as far as `yields` says so of the place of one. What lies in a forbidden directory
    /// stays forbidden.
    pub fn except(
        mut self,
        patterns: &[PathPattern],
        yields: impl Fn(usize) -> bool,
    ) -> Result<Self, GlobError> {
        if !patterns.is_empty() {
            let wide: Vec<_> = patterns.iter().map(|pattern| (pattern, Reach::Wide)).collect();
            let yields: Box<[bool]> = (0..self.reasons.len()).map(yields).collect();
            let texts: Vec<_> = patterns.iter().map(PathPattern::text).collect();
            self.text.extend(format!("{texts:?} {yields:?}\n").into_bytes());
            self.exempt.push((PathIndex::new(&wide, Case::Exact)?, yields));
        }
        Ok(self)
    }

    /// Adds directories outside the workspace whose real names count.
    #[must_use]
    pub fn beneath(mut self, tops: impl IntoIterator<Item = PathBuf>) -> Self {
        self.tops.extend(tops);
        self.text.extend(format!("{:?}\n", self.tops).into_bytes());
        self
    }

    /// Everything that its answers depend on: two with the same text give the same answers.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Looks at the files that commands name, too.
    #[must_use]
    pub fn in_workspace(mut self, workspace: &Path) -> Self {
        self.workspace = Some(workspace.to_owned());
        self
    }

    /// Returns true if a location is forbidden: it has such a name, or lies in a directory that has one.
    #[must_use]
    pub fn holds(&self, location: &Location) -> bool {
        self.first(location).is_some()
    }

    fn first(&self, location: &Location) -> Option<usize> {
        let mut first = self.first_of(location.real_pair());
        for alias in location.alias_pairs() {
            first = self.first_of(alias).into_iter().chain(first).min();
        }
        first
    }

    fn first_of(&self, names: Pair<'_>) -> Option<usize> {
        let mut first: Option<usize> = None;
        self.index.parts(names, |part, id| {
            if first.is_none_or(|first| id < first) && self.counts(names, part, id) {
                first = Some(id);
            }
        });
        first
    }

    /// Returns true if the matching part is a file or directory below the workspace or a top, and is not left out.
    fn counts(&self, names: Pair<'_>, part: &[u8], id: usize) -> bool {
        let (below, absolute) = names;
        let top = self.top(names);
        // By slashes: letters may be of another length without case.
        let depth =
            if part.first() == Some(&b'/') { slashes(part).checked_sub(top) } else { Some(slashes(part)) };
        depth.is_some_and(|depth| {
            let object = (below.map(|below| cut(below, depth)), cut(absolute, top + depth));
            self.exempt.iter().all(|(exempt, yields)| !yields[id] || exempt.first_of(object).is_none())
        })
    }

    /// Returns the number of slashes before the first name that counts.
    fn top(&self, (below, absolute): Pair<'_>) -> usize {
        match below {
            Some(b".") => slashes(absolute) + 1,
            Some(below) => slashes(&absolute[..absolute.len() - below.len()]),
            None => {
                let path = Path::new(OsStr::from_bytes(absolute));
                let tops = self.tops.iter().filter(|top| path.starts_with(top));
                tops.map(|top| slashes(top.as_os_str().as_bytes()) + 1).max().unwrap_or(1)
            }
        }
    }
}

fn slashes(name: &[u8]) -> usize {
    name.iter().map(|byte| usize::from(*byte == b'/')).sum()
}

/// A name up to the slash after so many.
fn cut(name: &[u8], count: usize) -> &[u8] {
    let end = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at).nth(count);
    &name[..end.unwrap_or(name.len())]
}

impl Floor for Forbidden {
    fn name(&self) -> &'static str {
        "forbidden names"
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        let first = match (request.want, &self.workspace) {
            (Want::Exec(Execution { invocation, .. }), Some(workspace)) => {
                files(invocation, workspace, &[Kind::Read, Kind::Write], Strangers::Ignored, |_, file| {
                    self.first_of(file.pair())
                })
            }
            (want, _) => self.first(want.location()?),
        };
        first.map(|index| self.reasons[index].clone())
    }
}

/// One that is also used apart from the chain.
impl Floor for Arc<Forbidden> {
    fn name(&self) -> &'static str {
        Forbidden::name(self)
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        Forbidden::forbid(self, request)
    }
}

/// Cloud metadata services hand out the machine's own credentials.
#[derive(Debug)]
pub struct NoMetadata;

impl Floor for NoMetadata {
    fn name(&self) -> &'static str {
        "metadata services"
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        let Want::Connect(endpoint) = request.want else { return None };
        let text = "this is a cloud metadata service, which hands out the machine's credentials";
        is_metadata(&endpoint.host).then(|| Reason::new(Code::MetadataAddress, text))
    }
}

/// The project's own policy file: an agent that could write it could take its restrictions away.
#[derive(Debug)]
pub struct OwnFile(pub PathBuf);

impl Floor for OwnFile {
    fn name(&self) -> &'static str {
        "own file"
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        let own = self.0.as_os_str().as_encoded_bytes();
        let is_own = |name: &[u8]| name.eq_ignore_ascii_case(own);
        let hit = match request.want {
            Want::Write(location) => location.names().any(is_own),
            Want::Exec(Execution { invocation, .. }) => {
                let workspace = self.0.parent().unwrap_or(Path::new("/"));
                let own = |_, file: &File| file.names().any(is_own).then_some(());
                files(invocation, workspace, &[Kind::Write], Strangers::Ignored, own).is_some()
            }
            _ => false,
        };
        hit.then(|| {
            Reason::new(Code::OwnPolicyFile, "this is the project's policy, which the agent may not change")
        })
    }
}
