//! Protected names as links of a chain: what a tool writes is held to the same table as what a command makes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::rule::in_repository;
use super::{
    Act, Ground, MAKES_REPOSITORY, Protected, ProtectedName, Standing, Verdict, is, is_repository, parts,
};
use crate::Code;
use crate::chain::{Floor, Policy};
use crate::decision::{Decision, Reason};
use crate::location::{Location, Pair};
use crate::request::{Request, Want};

/// Denies or asks where a protected name would be written, removed or moved.
///
/// As a floor it forbids what only a setting permits, as a policy it asks where a person may agree.
#[derive(Debug, Clone)]
pub struct ProtectedNames(pub Protected);

/// A directory to look at before a name in it can be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The directory.
    pub directory: PathBuf,
    /// A name that would be added; without it, only the existing ones count.
    pub name: Option<OsString>,
}

impl Beside {
    /// The directories to look at before a place is written. A caller that finds a repository at one of them says so: see
    /// [`Location::in_repository`].
    #[must_use]
    pub fn of(location: &Location) -> Vec<Self> {
        let below = below(location.real_pair());
        let names = parts(below);
        let verdict = Protected::all().judge(Ground::Tree, below, Act::File);
        if !matches!(verdict, Verdict::KeptInRepository { .. } | Verdict::KeptIfComplete(_)) {
            return Vec::new();
        }
        let above = |depth: usize| location.path().ancestors().nth(names.len() - depth).map(Path::to_owned);
        let inside = in_repository(&names, Ground::Tree, Act::File).map(|(depth, _)| (depth, None));
        let last = below.file_name().filter(|name| is(name.as_bytes(), MAKES_REPOSITORY));
        let completing = last.map(|name| (names.len() - 1, Some(name.to_owned())));
        let all = inside.chain(completing);
        all.filter_map(|(depth, name)| Some(Self { directory: above(depth)?, name })).collect()
    }

    /// Returns true if the directory is one of a repository, or would be with the name; `has` tells its other entries.
    #[must_use]
    pub fn is_repository(&self, has: impl Fn(&str) -> bool) -> bool {
        let has = |name: &str| {
            self.name.as_ref().is_some_and(|own| own.as_bytes().eq_ignore_ascii_case(name.as_bytes()))
                || has(name)
        };
        is_repository(has)
    }
}

impl ProtectedNames {
    fn row(&self, request: &Request<'_>, standing: Standing) -> Option<&'static ProtectedName> {
        let Want::Write(location) = request.want else { return None };
        let names = std::iter::once(location.real_pair()).chain(location.alias_pairs());
        let judged = names.filter_map(|name| match self.0.judge(Ground::Tree, below(name), Act::File) {
            // A tool is not git, and has nothing to finish.
            Verdict::Free => self.0.unfinished(Ground::Tree, below(name)),
            Verdict::KeptInRepository { name, .. } | Verdict::KeptIfComplete(name) => {
                location.is_in_repository().then_some(name)
            }
            Verdict::Kept(row) | Verdict::Pointer(row) | Verdict::Common(row) | Verdict::Settings(row) => {
                Some(row)
            }
        });
        judged.into_iter().find(|row| row.standing == standing)
    }
}

impl Floor for ProtectedNames {
    fn name(&self) -> &'static str {
        "protected names"
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        self.row(request, Standing::Never).map(reason)
    }
}

impl Policy for ProtectedNames {
    fn name(&self) -> &'static str {
        "protected names"
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        self.row(request, Standing::Ask).map(|row| Decision::Ask(reason(row)))
    }
}

/// Returns the part of a location that is judged: its path below the workspace, or all of it outside.
fn below((below, absolute): Pair<'_>) -> &Path {
    let name = below.unwrap_or(absolute);
    let name = name.strip_prefix(b"/").unwrap_or(name);
    Path::new(OsStr::from_bytes(if name == b"." { b"" } else { name }))
}

fn reason(row: &'static ProtectedName) -> Reason {
    Reason::new(Code::ProtectedName, format!("`{}` is protected: {}", row.name, row.because))
        .remedy(format!("add `{}` to `jail.unprotected` in your own policy file", row.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answers, Chain, Effect, Link, ToolName};

    fn decided(protected: Protected, location: &Location) -> (Effect, Code) {
        let allow =
            Link::new("all", |_: &Request<'_>| Some((Effect::Allow, Reason::new(Code::FilesDefault, ""))));
        let names = ProtectedNames(protected);
        let chain = Chain::new(vec![]).then(allow).forbidden_by(names.clone()).narrowed_by(names);
        let tool = ToolName::parse("write").unwrap();
        let decision = chain.decide(&Request { tool: &tool, want: Want::Write(location) }, &Answers::none());
        (decision.effect(), decision.reason().code)
    }

    #[test]
    fn tools_are_held_to_the_table() {
        let rows = [
            ("/ws/src/main.rs", false, Effect::Allow),
            ("/ws/.vscode/tasks.json", false, Effect::Deny),
            ("/ws/a/CLAUDE.md", false, Effect::Ask),
            ("/ws/.git", false, Effect::Deny),
            ("/ws/.git/config", false, Effect::Deny),
            ("/ws/.git/index", false, Effect::Allow),
            ("/ws/x/config", false, Effect::Allow),
            ("/ws/x/config", true, Effect::Deny),
            ("/ws/x/HEAD", true, Effect::Deny),
            ("/other/.envrc", false, Effect::Deny),
            ("/ws", false, Effect::Allow),
        ];
        for (path, in_repository, expected) in rows {
            let mut location = Location::new(Path::new("/ws"), Path::new(path)).unwrap();
            if in_repository {
                location = location.in_repository();
            }
            let (effect, code) = decided(Protected::all(), &location);
            assert_eq!(effect, expected, "{path}");
            assert_eq!(code == Code::ProtectedName, expected != Effect::Allow, "{path}");
        }
        // Parents of the workspace say nothing about it.
        let inside = Location::new(Path::new("/me/.claude/ws"), Path::new("/me/.claude/ws/a")).unwrap();
        assert_eq!(decided(Protected::all(), &inside).0, Effect::Allow);
    }

    #[test]
    fn every_name_of_a_place_counts_and_what_is_left_out_is_free() {
        let place = || {
            let location = Location::new(Path::new("/ws"), Path::new("/ws/plain")).unwrap();
            location.also(Path::new("/ws"), Path::new("/ws/.vscode/x")).unwrap()
        };
        assert_eq!(decided(Protected::all(), &place()).0, Effect::Deny);
        let mut without = Protected::all();
        assert!(without.leave_out(".vscode"));
        assert_eq!(decided(without, &place()).0, Effect::Allow);
    }

    #[test]
    fn what_has_to_be_looked_at_is_named() {
        let beside = |path: &str| Beside::of(&Location::new(Path::new("/ws"), Path::new(path)).unwrap());
        let one = |directory: &str, name: Option<&str>| Beside {
            directory: directory.into(),
            name: name.map(Into::into),
        };
        let expected = |directory: &str, name: Option<&str>| vec![one(directory, name)];
        assert_eq!(beside("/ws/a/config"), expected("/ws/a", None));
        assert_eq!(beside("/ws/config"), expected("/ws", None));
        assert_eq!(beside("/ws/a/hooks/x/y"), expected("/ws/a", None));
        assert_eq!(beside("/ws/a/HEAD"), expected("/ws/a", Some("HEAD")));
        assert_eq!(beside("/out/b/HEAD"), expected("/out/b", Some("HEAD")));
        assert_eq!(beside("/ws/a/main.rs"), []);
        assert_eq!(beside("/ws/hooks/b/config"), [one("/ws", None), one("/ws/hooks/b", None)]);
        assert_eq!(beside("/ws/hooks/refs"), [one("/ws", None), one("/ws/hooks", Some("refs"))]);
        assert_eq!(beside("/ws/a/commondir"), [one("/ws/a", None), one("/ws/a", Some("commondir"))]);
        let head = one("/ws/a", Some("head"));
        assert!(head.is_repository(|name| name != "HEAD") && !head.is_repository(|_| false));
    }
}
