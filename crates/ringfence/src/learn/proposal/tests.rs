//! The law of what is proposed to be written, over made-up uses on a made-up disk.

use std::ffi::OsString;
use std::sync::LazyLock;

use jail::Spec;
use policy::Limits;
use policy::floor::Forbidden;
use proptest::prelude::*;

use super::super::executed::Finder;
use super::super::table::{
    CREDENTIALS, EXECUTED, EXECUTED_AT_HOME, EXECUTED_BY_ROOT, EXECUTED_WHOLE, STORES,
};
use super::*;

const HOME: &str = "/home/rf-me";
const WORKSPACE: &str = "/srv/rf-ws";

/// Every place that the tables name, as the law sees it: without the code that is tested.
fn places() -> Vec<(PathBuf, bool)> {
    let home = |rows: &'static [Row]| rows.iter().map(|row| (Path::new(HOME).join(row.name), false));
    let fixed = EXECUTED.iter().map(|row| (PathBuf::from(row.name), false));
    let wholes = EXECUTED_WHOLE.iter().chain(EXECUTED_BY_ROOT).map(|row| (PathBuf::from(row.name), true));
    let named = [("/data/tool", false), ("/data/tool/bin", false), ("/data/modules", false)];
    let named = named.map(|(path, whole)| (PathBuf::from(path), whole));
    home(&CREDENTIALS)
        .chain(home(EXECUTED_AT_HOME))
        .chain(home(STORES))
        .chain(fixed)
        .chain(wholes)
        .chain(named)
        .collect()
}

/// A path that something uses: near a place of the tables, in the home directory, or anywhere.
fn path() -> impl Strategy<Value = PathBuf> {
    let places: Vec<_> = places().into_iter().map(|(path, _)| path).collect();
    let part = || prop::sample::select(vec!["a", "b", "c", ".x", ".config", "bin", "lib", "data"]);
    let near = (prop::sample::select(places), 0..3_usize, prop::collection::vec(part(), 0..3)).prop_map(
        |(place, up, below)| {
            let above = place.ancestors().nth(up).unwrap_or(Path::new("/"));
            above.join(below.join("/"))
        },
    );
    let tops = prop::sample::select(vec![HOME, WORKSPACE, "/data", "/mnt", "/opt", "/srv"]);
    let free = (tops, prop::collection::vec(part(), 0..4))
        .prop_map(|(top, below)| Path::new(top).join(below.join("/")));
    prop_oneof![near, free]
}

/// A path, whether it is written by name, whether it is a directory, and where a link there leads.
type UsedPath = (PathBuf, bool, Option<bool>, Option<PathBuf>);

fn used() -> impl Strategy<Value = Vec<UsedPath>> {
    let row = (path(), any::<bool>(), any::<Option<bool>>(), prop::option::weighted(0.2, path()));
    prop::collection::vec(row, 0..40)
}

/// Paths that the jail shows by itself, and those that may be an entry: to be read, to be written.
static MACHINE: LazyLock<(Sight, Borders, Borders)> = LazyLock::new(|| {
    let (home, workspace) = (Path::new(HOME), Path::new(WORKSPACE));
    // The jail shows a directory that has nothing to do with what is used: everything else would have to be proposed.
    let shown = tempfile::tempdir().unwrap();
    let base = jail::sight(&Spec::for_workspace(shown.path(), home, Limits::none())).unwrap();
    let variables = [("PATH", "/usr/bin:/data/tool/bin"), ("PYTHONPATH", "/data/modules")];
    let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let executed = Finder { home, workspace, own: &[], root: true, variables: &variables }.find();
    let closed = CREDENTIALS.iter().map(|row| (home.join(row.name), row.because)).collect();
    let wide = home.ancestors().chain(workspace.ancestors()).map(Path::to_owned).collect();
    let stores = STORES.iter().map(|row| home.join(row.name)).collect();
    let borders = Borders { closed, wide, stores, executed: None };
    let writing = borders.for_writing(executed);
    (base, borders, writing)
});

/// Returns the paths proposed to be written when everything that was used was read and written.
fn proposed(rows: &[UsedPath]) -> Vec<String> {
    let (home, workspace) = (Path::new(HOME), Path::new(WORKSPACE));
    let (base, borders, writing) = &*MACHINE;
    let places =
        Places { workspace: workspace.to_owned(), home: Some(home.to_owned()), state: None, run: None };
    let look = |path: &Path| {
        let row = rows.iter().find(|(known, ..)| known == path);
        let directory = row.and_then(|(_, _, directory, _)| *directory);
        let real = row.and_then(|(.., real)| real.clone()).unwrap_or_else(|| path.to_owned());
        // A directory that something else lies in is one.
        let above = rows.iter().any(|(known, ..)| known != path && known.starts_with(path));
        (above || directory.is_some()).then_some((real, above || directory == Some(true)))
    };
    let judge = Judge {
        base,
        borders,
        writing,
        names: &Forbidden::new(&[]).unwrap(),
        home,
        places: &places,
        look: &look,
        connections: None,
    };
    let mut uses = Uses::default();
    for (path, named, ..) in rows {
        uses.add(Use::Read(path.clone()));
        uses.add(if *named { Use::Name(path.clone()) } else { Use::Write(path.clone()) });
    }
    judge.proposal(&uses).write
}

proptest! {
    #[test]
    fn nothing_from_which_the_host_executes_is_proposed_to_be_written(rows in used()) {
        for text in proposed(&rows) {
            let entry = text.strip_prefix("~/").map_or_else(|| PathBuf::from(&text), |below| Path::new(HOME).join(below));
            for (place, whole) in places() {
                let own = whole && [HOME, WORKSPACE].iter().any(|own| Path::new(own).starts_with(&place) && entry.starts_with(own));
                prop_assert!(own || !entry.starts_with(&place), "{entry:?} lies in {place:?}");
                prop_assert!(!place.starts_with(&entry), "{entry:?} holds {place:?}");
            }
            if let Ok(below) = entry.strip_prefix(HOME) {
                let first = below.components().next().unwrap().as_os_str();
                prop_assert!(!first.as_encoded_bytes().starts_with(b".") || first == ".cache", "{entry:?}");
            }
        }
    }
}

/// The law would hold if nothing were proposed at all.
#[test]
fn what_is_nobodys_is_proposed() {
    let row = |path: &str, directory| (PathBuf::from(path), false, Some(directory), None);
    let rows = [
        row("/data/free/x", false),
        row("/home/rf-me/results/x", false),
        row("/home/rf-me/.cache/tool", true),
        row("/home/rf-me/.cache/tool/x", false),
    ];
    assert_eq!(proposed(&rows), ["/data/free/x", "~/.cache/tool/x", "~/results/x"]);
}

#[test]
fn only_hosts_that_no_rule_has_decided_about_are_proposed() {
    let rows = [
        (Code::UnknownHost, true),
        (Code::AskUnanswered, true),
        (Code::HostRule, false),
        (Code::PrivateAddress, false),
        (Code::UnreadableTraffic, false),
    ];
    for (code, proposed) in rows {
        let mut sorted = Sorted::default();
        sorted.refused_host(&broker::RefusedHost {
            endpoint: Some(policy::Endpoint::parse("files.test-host.org", 8443).unwrap()),
            code,
            reason: "because".to_owned(),
            remedy: Some("a line".to_owned()),
            count: 1,
        });
        assert_eq!(
            (sorted.hosts.len(), sorted.refused.len()),
            (usize::from(proposed), usize::from(!proposed)),
            "{code}"
        );
    }
}
