//! A directory for one test, and commands in a jail around it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use policy::Limits;
use ringfence_jail::{
    Capture, Choice, Command, End, JailError, Layer, Level, Mode, Outcome, Provider, Require, Spec, Streams,
    hold,
};
use tempfile::TempDir;

use crate::skip::skipped;

/// A directory for one test, removed with everything in it. `work` in it is the workspace.
pub(crate) struct Place {
    whole: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    pub(crate) fn within(parent: &Path) -> Self {
        let whole = tempfile::tempdir_in(parent).unwrap();
        fs::set_permissions(whole.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(whole.path().join("work")).unwrap();
        Self { whole }
    }

    /// A path in it that nothing is made at.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.whole.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// A directory in it.
    pub(crate) fn directory(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn spec(&self, views: &[(&Path, Mode)]) -> Spec {
        let spec = spec(&self.work());
        views.iter().fold(spec, |spec, (path, mode)| spec.view(path, *mode))
    }
}

/// Level for every caller: root on a file system that cannot show files as another's is enforced with a gap.
pub(crate) const REQUIRE: Require = Require::FULL.with(Layer::Processes, Level::Partial);

pub(crate) fn spec(workspace: &Path) -> Spec {
    let mut spec = Spec::for_workspace(workspace, Path::new("/home/agent"), Limits::none());
    spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec.require = REQUIRE;
    spec
}

pub(crate) fn command(words: &[&str], cwd: &Path) -> Command {
    Command {
        argv: words.iter().map(Into::into).collect(),
        cwd: cwd.to_owned(),
        streams: Streams::Captured(Capture::keeping(64 << 10)),
        observe: false,
    }
}

/// The native provider, whose mounts these are.
pub(crate) const NATIVE: Choice = Choice::Only(Provider::Native);

pub(crate) fn run(spec: &Spec, command: &Command) -> Result<Outcome, JailError> {
    hold(NATIVE, spec, command)?.release()?.wait()
}

/// Returns the standard output of a script, which has to end well.
pub(crate) fn said(spec: &Spec, script: &str) -> Vec<u8> {
    let outcome = run(spec, &command(&["sh", "-ec", script], &spec.workspace)).unwrap();
    let [output, errors] = outcome.captured.unwrap();
    let errors = String::from_utf8_lossy(&errors.head).into_owned();
    assert_eq!(outcome.end, End::Exited(0), "{script}\n{}{errors}", String::from_utf8_lossy(&output.head));
    [output.head, output.tail].concat()
}

/// Returns true if a jail can be made here at all. A machine that forbids namespaces has other providers.
pub(crate) fn works(what: &str) -> bool {
    let place = Place::new();
    match hold(NATIVE, &place.spec(&[]), &command(&["true"], &place.work())) {
        Err(error @ JailError::Unavailable { .. }) => {
            skipped(what, &error.to_string());
            false
        }
        _ => true,
    }
}
