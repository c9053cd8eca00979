//! Paths of a policy file, made absolute with what the caller knows about the machine.

use std::path::{Path, PathBuf};

/// Facts about the machine that a policy needs. Nothing is read from the environment here.
#[derive(Debug, Clone)]
pub struct Places {
    /// The workspace, as a real path.
    pub workspace: PathBuf,
    /// The user's home directory, if there is one.
    pub home: Option<PathBuf>,
    /// Directory for state, usually `~/.local/state`.
    pub state: Option<PathBuf>,
    /// The name of this pipeline run, for directories that its nodes share.
    pub run: Option<String>,
}

/// The variables that may stand in a path.
pub(crate) const VARIABLES: &[&str] = &["RUN", "STATE"];

/// The variables that may stand in a path of a profile: also the workspace, and the directories that may be written by number. The
/// first of them is the workspace, the others are those of `jail.shared`.
pub(crate) const VIEW_VARIABLES: &[&str] =
    &["RUN", "STATE", "WORKSPACE", "RW1", "RW2", "RW3", "RW4", "RW5", "RW6", "RW7", "RW8", "RW9"];

/// The number of a writable root that a path begins with, counted from one, and what follows it.
pub(crate) fn writable_root(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.strip_prefix("${RW")?.split_once('}')?;
    Some((number.parse().ok()?, rest.trim_start_matches('/')))
}

impl Places {
    /// Makes a path absolute; `None` when a part of it is not known.
    #[must_use]
    pub fn absolute(&self, text: &str) -> Option<PathBuf> {
        let text = match &self.run {
            Some(run) if !run.contains('/') && !matches!(run.as_str(), "" | "." | "..") => {
                text.replace("${RUN}", run)
            }
            _ if text.contains("${RUN}") => return None,
            _ => text.to_owned(),
        };
        let below = |root: &Path, rest: &str| root.join(rest.trim_start_matches('/'));
        let path = if let Some(rest) = text.strip_prefix("~/") {
            below(self.home.as_deref()?, rest)
        } else if let Some(rest) = text.strip_prefix("${STATE}") {
            below(self.state.as_deref()?, rest)
        } else if let Some(rest) = text.strip_prefix("${WORKSPACE}") {
            below(&self.workspace, rest)
        } else {
            PathBuf::from(text)
        };
        path.is_absolute().then(|| without_dots(&path))
    }

    /// Makes a path in a command pattern absolute; it begins with `~/`, `./` or `../`.
    pub(crate) fn command_path(&self, text: &str) -> Option<String> {
        if text.starts_with("~/") {
            return self.pattern(text);
        }
        let workspace = policy::escape(self.workspace.to_str()?);
        policy::lexical(&Path::new(&workspace).join(text)).into_os_string().into_string().ok()
    }

    /// Puts the home directory into a pattern.
    #[must_use]
    pub fn pattern(&self, text: &str) -> Option<String> {
        let Some(rest) = text.strip_prefix("~/") else { return Some(text.to_owned()) };
        let home = self.home.as_deref()?.to_str()?;
        Some(format!("{}/{rest}", policy::escape(home.trim_end_matches('/'))))
    }
}

fn without_dots(path: &Path) -> PathBuf {
    path.components().collect()
}
