//! More views than the kernel hands over at once, or than a process may have files open.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use policy::Limits;
use ringfence_jail::{Capture, Choice, Command, End, Mode, Provider, Spec, Streams, hold};

#[test]
fn many_views_are_seen_or_refused() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    let (workspace, outside) = (place.join("workspace"), place.join("outside"));
    std::fs::create_dir(&workspace).unwrap();
    std::fs::create_dir(&outside).unwrap();
    for (count, refused_for_root) in [(600, false), (1200, true)] {
        let mut spec = Spec::for_workspace(&workspace, "/home/agent".as_ref(), Limits::none());
        spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        for number in 0..count {
            let path = outside.join(number.to_string());
            std::fs::write(&path, format!("{number}\n")).unwrap();
            spec = spec.view(&path, Mode::ReadOnly);
        }
        let last = outside.join((count - 1).to_string());
        let command = Command {
            argv: vec!["cat".into(), last.into()],
            cwd: workspace.clone(),
            streams: Streams::Captured(Capture::keeping(100)),
            observe: false,
        };
        let held = hold(Choice::Only(Provider::Native), &spec, &command);
        if refused_for_root && rustix::process::geteuid().is_root() {
            assert!(held.err().unwrap().to_string().contains("cannot be given all its views"));
            continue;
        }
        let outcome = held.unwrap().release().unwrap().wait().unwrap();
        let [output, _] = outcome.captured.unwrap();
        assert_eq!((outcome.end, output.head), (End::Exited(0), format!("{}\n", count - 1).into_bytes()));
    }
}
