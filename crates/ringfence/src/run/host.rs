//! Facts about the caller and its machine. A front end collects them; a run reads no environment itself.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use broker::{FileStore, SecretStore, Sources};
use config::{Files, JailSettings, Places, Problems, Settings};
use jail::Mode;

/// Describes the caller and the machine that a run is prepared for.
#[derive(Debug, Clone)]
pub struct Host {
    /// Directory of the caller.
    pub cwd: PathBuf,
    /// Directories that a policy may name.
    pub places: Places,
    /// Policy files.
    pub files: Files,
    /// Runtime directory of the user, if there is one.
    pub runtime: Option<PathBuf>,
    /// Agent that the policy is read for.
    pub agent: Option<String>,
    /// Environment of the caller. Variables enter a jail by allow-list.
    pub environment: Vec<(OsString, OsString)>,
}

impl Host {
    /// Loads the policy that applies to the agent.
    pub fn load(&self) -> Result<Settings, Problems> {
        config::load_for(&self.files, &self.places, self.agent.as_deref())
    }

    /// Loads the policy for a run under a profile, or under that of the files; its chain is compiled once.
    pub fn load_for_run(&self, profile: Option<&str>) -> Result<Settings, Problems> {
        config::load_for_run(&self.files, &self.places, self.agent.as_deref(), profile)
    }

    /// Returns the real home directory, which is private in a jail; without one, a name for it.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        let known = self.places.home.as_deref().filter(|home| *home != Path::new("/"));
        let real = known.map(|home| std::fs::canonicalize(home).unwrap_or_else(|_| home.to_owned()));
        real.unwrap_or_else(|| PathBuf::from("/home/agent"))
    }

    /// Returns the files and directories of Ringfence that exist on this machine.
    #[must_use]
    pub fn own_files(&self, ledger: &Path) -> Vec<PathBuf> {
        let state = self.places.state.iter().map(|state| state.join("ringfence"));
        let runtime = self.runtime.iter().map(|runtime| runtime.join("ringfence"));
        let policies = [&self.files.managed, &self.files.user].into_iter().flatten().map(|file| {
            // The whole directory, if it is ours: files that appear beside the policy belong to it.
            let parent = file.parent().filter(|parent| parent.file_name() == Some(OsStr::new("ringfence")));
            parent.unwrap_or(file).to_owned()
        });
        let all = state.chain(runtime).chain(policies).chain([ledger.to_owned()]);
        let mut real: Vec<_> = all.filter_map(|path| std::fs::canonicalize(path).ok()).collect();
        real.sort();
        // A path below another one is hidden with it.
        real.dedup_by(|path, before| path.starts_with(before));
        real
    }

    /// Returns the directory a command starts in: the caller's, if the jail shows it.
    pub(crate) fn start_directory(&self, settings: &JailSettings) -> PathBuf {
        let workspace = &self.places.workspace;
        let shown = settings.views.iter().filter(|view| view.mode.shows_host());
        let mut seen = shown.map(|view| &view.path).chain([workspace]);
        if seen.any(|path| self.cwd.starts_with(path)) { self.cwd.clone() } else { workspace.clone() }
    }

    /// Returns the directories the agent can make links in; no link through them is followed from outside.
    pub(crate) fn agent_writable(&self, settings: &JailSettings) -> Vec<PathBuf> {
        let writable = settings.views.iter().filter(|view| view.mode == Mode::ReadWrite);
        writable.map(|view| view.path.clone()).chain([self.places.workspace.clone()]).collect()
    }

    /// Returns the user's name inside a jail, where root is mapped to an ordinary user.
    pub(crate) fn user(&self) -> OsString {
        let root = rustix::process::geteuid().is_root();
        let variable = |wanted: &str| self.environment.iter().find(|(name, _)| name == wanted);
        let known = variable("USER").or_else(|| variable("LOGNAME")).map(|(_, value)| value);
        let known = known.filter(|name| !root && !name.is_empty());
        known.cloned().unwrap_or_else(|| OsString::from("agent"))
    }

    /// Returns the sources of secrets: the store of Ringfence, the caller's environment, commands and files.
    pub(crate) fn secrets(&self) -> Arc<dyn SecretStore> {
        let store = self.secret_directory().map(FileStore::new);
        let variables = self.environment.clone();
        let value = move |wanted: &str| {
            variables.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
        };
        // Programs and files that the agent can write must not become part of what runs outside.
        let closed = [self.places.workspace.clone()];
        Arc::new(Sources::new(store, self.places.home.clone(), value).without(closed))
    }

    /// Returns the directory that `ringfence secret` keeps secrets in.
    #[must_use]
    pub fn secret_directory(&self) -> Option<PathBuf> {
        self.places.state.as_ref().map(|state| state.join("ringfence/secrets"))
    }

    /// Returns the project's policy file, if there is one.
    pub(crate) fn project_file(&self) -> Option<&Path> {
        let is_file = |path: &&Path| path.symlink_metadata().is_ok_and(|found| found.is_file());
        self.files.project.as_deref().filter(is_file)
    }
}
