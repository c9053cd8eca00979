//! Properties that hold for every plan.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use policy::Limits;
use proptest::prelude::*;
use proptest::sample::Index;
use ringfence_jail::plan::{Access, Entry, Host, Kind, Plan, Skeleton, plan, questions, questions_about};
use ringfence_jail::{Mode, Spec};

use crate::machine::{ADA, ROOT, as_root, merged, owned};

/// Few names, so that paths meet: some that sort oddly, some that look odd, some of the system's.
fn name() -> impl Strategy<Value = OsString> {
    const FEW: &[&str] = &["a", "b", "a b", "a-b"];
    const SYSTEM: &[&str] = &["etc", "ssl", "private", "usr", "bin", "tmp", "var", "run", "home"];
    const ODD: &[&[u8]] = &[b"it's \"q\"", b"new\nline", b"\xff\xfe", b"\x1b[2J"];
    prop_oneof![
        8 => prop::sample::select(FEW).prop_map(OsString::from),
        4 => prop::sample::select(SYSTEM).prop_map(OsString::from),
        1 => prop::sample::select(ODD).prop_map(|name| OsString::from_vec(name.to_vec())),
    ]
}

/// A path in the workspace or beside it.
fn path() -> impl Strategy<Value = PathBuf> {
    let start = prop::sample::select(vec!["/", "/w", "/w/a", "/usr"]);
    (start, prop::collection::vec(name(), 1..4))
        .prop_map(|(start, names)| Path::new(start).join(names.iter().collect::<PathBuf>()))
}

fn workspace() -> impl Strategy<Value = PathBuf> {
    prop::sample::select(vec!["/w", "/w", "/tmp/w", "/var/tmp/w", "/home/ada/w", "/usr/w"])
        .prop_map(PathBuf::from)
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::ReadOnly, Mode::ReadWrite, Mode::Hidden, Mode::Private, Mode::Layered])
}

/// Generates the type of a path on a machine, seldom one that cannot be shown.
fn kind() -> impl Strategy<Value = u8> {
    prop_oneof![12 => Just(0), 4 => Just(1), 1 => Just(2), 1 => Just(3)]
}

/// A spec, and a machine that has everything the spec names or is made of.
fn case() -> impl Strategy<Value = (Spec, Host)> {
    let views = prop::collection::vec((path(), mode(), kind()), 0..8);
    let bent = prop::collection::vec(any::<(Index, Index)>(), 0..2);
    (workspace(), path(), views, 0..3, bent).prop_map(|(workspace, home, views, caller, bent)| {
        let mut host = match caller {
            0 => merged(),
            1 => as_root(owned(merged(), "/w", ROOT), true),
            _ => as_root(merged(), false),
        };
        let kinds = views.iter().map(|(path, _, kind)| (path.clone(), *kind));
        host.entries.extend(kinds.zip(100..).map(|((path, kind), inode)| (path, entry(kind, inode))));
        host.entries.insert(workspace.clone(), entry(0, 99));
        let spec = Spec::for_workspace(&workspace, &home, Limits::none());
        let spec = views.iter().fold(spec, |spec, (path, mode, _)| spec.view(path, *mode));
        for (view, above) in bent {
            bend(&spec, &mut host, view, above);
        }
        complete(&spec, &mut host);
        (spec, host)
    })
}

/// Makes a link of something on the way to a view.
fn bend(spec: &Spec, host: &mut Host, view: Index, above: Index) {
    let all: Vec<_> = view.get(&spec.views).path.ancestors().collect();
    host.entries.insert(above.get(&all[..all.len() - 1]).to_path_buf(), entry(2, 0));
}

fn entry(kind: u8, inode: u64) -> Entry {
    match kind {
        0 => Entry::Directory(ADA, (1, inode)),
        1 => Entry::File(ADA, (1, inode)),
        2 => Entry::Link("/usr".into()),
        _ => Entry::Other((1, inode)),
    }
}

/// A machine has the directories above everything it has; a file among them was none.
fn complete(spec: &Spec, host: &mut Host) {
    let all: Vec<_> = host.entries.keys().chain([&spec.workspace]).cloned().collect();
    for above in all.iter().flat_map(|path| path.ancestors().skip(1)).filter(|path| *path != Path::new("/")) {
        let entry = host.entries.entry(above.to_owned()).or_insert(Entry::Directory(ADA, (3, 1)));
        if let Entry::File(..) | Entry::Other(_) = entry {
            *entry = Entry::Directory(ADA, (3, 2));
        }
    }
}

fn beneath(path: &Path, above: &Path) -> bool {
    path != above && path.starts_with(above)
}

/// The mount that a path lies in, and its place in the order.
fn around<'a>(plan: &'a Plan, path: &Path) -> Option<&'a ringfence_jail::plan::Mount> {
    plan.mounts
        .iter()
        .filter(|mount| beneath(path, &mount.path))
        .max_by_key(|mount| mount.path.components().count())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn parents_come_first((spec, host) in case()) {
        prop_assume!(plan(&spec, &host).is_ok());
        let plan = plan(&spec, &host).unwrap();
        for (place, mount) in plan.mounts.iter().enumerate() {
            let later = plan.mounts[place + 1..].iter().find(|later| mount.path.starts_with(&later.path));
            prop_assert!(later.is_none(), "{:?} after {:?}", later, mount.path);
        }
    }

    /// Performs the plan on paper: every step finds what it needs, and nothing goes through a link or into the host.
    #[test]
    fn every_step_finds_what_it_needs((spec, host) in case()) {
        prop_assume!(plan(&spec, &host).is_ok());
        let plan = plan(&spec, &host).unwrap();
        let mut made: HashSet<PathBuf> = HashSet::from([PathBuf::from("/")]);
        let mut links = HashSet::new();
        for (path, thing) in &plan.skeleton {
            prop_assert!(made.contains(path.parent().unwrap()), "no parent: {:?}\n{}", path, plan);
            prop_assert!(made.insert(path.clone()), "twice: {path:?}\n{plan}");
            if !matches!(thing, Skeleton::Directory(_)) {
                links.insert(path.clone());
            }
        }
        for mount in &plan.mounts {
            for (path, _) in &mount.makes {
                prop_assert!(made.contains(path.parent().unwrap()), "no parent: {:?}\n{}", path, plan);
                prop_assert!(path.ancestors().all(|above| !links.contains(above)), "through {path:?}\n{plan}");
                prop_assert!(!matches!(around(&plan, path).map(|mount| mount.kind), Some(Kind::Bind { .. } | Kind::Layered { .. })), "made on the host: {path:?}\n{plan}");
                made.insert(path.clone());
            }
            let on_host = matches!(around(&plan, &mount.path).map(|mount| mount.kind), Some(Kind::Bind { .. } | Kind::Layered { .. }));
            let there = if on_host { host.entries.contains_key(&mount.path) } else { made.contains(&mount.path) };
            prop_assert!(there || mount.path.starts_with("/proc/"), "no mount point: {:?}\n{}", mount.path, plan);
            made.insert(mount.path.clone());
        }
    }

    /// A mount on top of something of the host goes where its path says: no part of it is a link there.
    #[test]
    fn no_mount_is_led_astray((spec, host) in case()) {
        prop_assume!(plan(&spec, &host).is_ok());
        let plan = plan(&spec, &host).unwrap();
        for mount in &plan.mounts {
            let Some(holder) = around(&plan, &mount.path).filter(|holder| matches!(holder.kind, Kind::Bind { .. } | Kind::Layered { .. })) else { continue };
            let between = mount.path.ancestors().take_while(|above| *above != holder.path);
            for above in between {
                prop_assert!(!matches!(host.entries.get(above), Some(Entry::Link(_))), "{:?} through {:?}\n{}", mount.path, above, plan);
            }
        }
    }

    #[test]
    fn nothing_is_shown_that_nobody_asked_for((spec, host) in case()) {
        prop_assume!(plan(&spec, &host).is_ok());
        let plan = plan(&spec, &host).unwrap();
        let system: HashSet<_> = questions(true).collect();
        for mount in &plan.mounts {
            let Kind::Bind { write, id, .. } = mount.kind else { continue };
            let view = spec.views.iter().find(|view| view.path == mount.path);
            match view {
                Some(view) => {
                    prop_assert!(matches!(view.mode, Mode::ReadOnly | Mode::ReadWrite), "{}", plan);
                    prop_assert_eq!(write, view.mode == Mode::ReadWrite);
                }
                None => prop_assert!(!write && system.contains(&mount.path), "{:?}\n{}", mount.path, plan),
            }
            prop_assert!(matches!(host.entries.get(&mount.path), Some(Entry::Directory(_, it) | Entry::File(_, it)) if *it == id));
        }
    }

    /// Every view is there as it was asked for, and nothing lies over it at the same path.
    #[test]
    fn every_view_counts((spec, host) in case()) {
        prop_assume!(plan(&spec, &host).is_ok());
        let plan = plan(&spec, &host).unwrap();
        for view in &spec.views {
            let mounts: Vec<_> = plan.mounts.iter().filter(|mount| mount.path == view.path).map(|mount| mount.kind).collect();
            let right = match (view.mode, &mounts[..]) {
                (Mode::ReadOnly, [Kind::Bind { write, .. }]) => !write,
                (Mode::ReadWrite, [Kind::Bind { write, .. }]) => *write,
                (Mode::Layered, [Kind::Layered { id }]) => matches!(host.entries.get(&view.path), Some(Entry::Directory(_, it)) if it == id),
                (Mode::Hidden, [Kind::Void | Kind::Blank]) | (Mode::Private, [Kind::Scratch]) => true,
                _ => false,
            };
            prop_assert!(right, "{:?} {:?}", view, mounts);
        }
    }

    #[test]
    fn only_what_may_be_changed_is_granted_so((spec, host) in case()) {
        prop_assume!(plan(&spec, &host).is_ok());
        let plan = plan(&spec, &host).unwrap();
        let own = ["/tmp", "/var/tmp", "/dev/shm"].map(Path::new);
        for grant in plan.grants.iter().filter(|grant| grant.access == Access::Write) {
            let view = spec.views.iter().find(|view| view.path == grant.path);
            let private = own.contains(&grant.path.as_path()) || grant.path == spec.home;
            let may = view.map_or(private, |view| matches!(view.mode, Mode::ReadWrite | Mode::Private | Mode::Layered));
            prop_assert!(may, "{:?}\n{}", grant, plan);
        }
        let devices = plan.grants.iter().filter(|grant| grant.access == Access::Device);
        prop_assert!(devices.clone().all(|grant| grant.path.starts_with("/dev")), "{}", plan);
    }

    /// One line per step, regardless of the bytes in a path.
    #[test]
    fn is_shown_without_control_characters((spec, host) in case()) {
        let said = plan(&spec, &host).map_or_else(|conflict| conflict.to_string(), |plan| plan.to_string());
        prop_assert!(said.chars().all(|char| char == '\n' || !char.is_control()), "{said:?}");
    }

    #[test]
    fn never_panics(paths in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6), home in prop::collection::vec(any::<u8>(), 0..9)) {
        let raw = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let mut host = merged();
        host.entries.extend(paths.iter().map(|path| (raw(path), entry(0, 1))));
        let spec = Spec::for_workspace(Path::new("/w"), &raw(&home), Limits::none());
        let spec = paths.iter().fold(spec, |spec, path| spec.view(&raw(path), Mode::Hidden));
        prop_assert!(questions_about(&spec).count() > paths.len());
        drop(plan(&spec, &host).map(|plan| plan.to_string()));
    }
}

#[test]
fn long_paths_are_paths() {
    for length in [4090, 4096, 8192] {
        let long = PathBuf::from(format!("/{}", "a/".repeat(length / 2))).join("b");
        let mut host = merged();
        host.entries.insert(long.clone(), entry(0, 1));
        let spec = Spec::for_workspace(Path::new("/w"), &long, Limits::none()).view(&long, Mode::ReadWrite);
        assert!(plan(&spec, &host).is_ok());
    }
}
