//! Git inside a jail: the repository, also outside the workspace, and settings, so that a commit has an author; no credentials.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use config::{JailSettings, Settings};
use jail::environment::{SYSTEM, set_git};
use jail::toolchain::{Disk, Files as _};
use jail::{Mode, Repository, View};
use policy::Shown;

/// Settings files of git in a home directory.
const FILES: &[&str] = &[".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/// Returns the repository of the workspace, if it lies elsewhere and the policy admits it, and a note about it.
pub(crate) fn show_repository<'a>(
    found: &'a Repository,
    policy: &Settings,
    settings: &JailSettings,
) -> (Option<&'a Path>, Option<String>) {
    let Repository::Outside(path) = found else { return (None, found.note()) };
    let mode = if settings.writable { Mode::ReadWrite } else { Mode::ReadOnly };
    if policy.admits(&View { path: path.clone(), mode }) {
        return (Some(path), None);
    }
    let shown = Shown::path(path);
    (None, Some(format!("the git repository {shown} is not shown: the policy keeps it out")))
}

/// Settings files of git that a jail shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GitSettings {
    /// The files, by their real paths.
    pub(crate) files: Vec<PathBuf>,
    /// Links in the private home directory to those of them that lie elsewhere.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// The settings themselves, by their real path.
    global: Option<PathBuf>,
    /// True if they or the repository have commits or tags signed.
    signs: bool,
}

impl GitSettings {
    /// Finds the files of a home directory that can be shown. A link is followed unless the agent could have made it: one that
    /// leads through `foreign`, which the agent can write.
    pub(crate) fn find(home: &Path, workspace: &Path, foreign: Vec<PathBuf>) -> Self {
        let disk = Disk::new(home, foreign);
        let mut found = Self::default();
        for path in FILES.iter().map(|file| home.join(file)) {
            let Some((real, false)) = disk.real(&path) else { continue };
            let Some(text) = disk.text(&real).filter(|text| !holds_credentials(text)) else { continue };
            found.signs |= wants_signatures(&text);
            if path.ends_with(FILES[0]) || path.ends_with(FILES[1]) {
                found.global.get_or_insert_with(|| real.clone());
            }
            if real != path {
                found.links.push((path, real.clone()));
            }
            if !SYSTEM.iter().any(|shown| real.starts_with(shown)) {
                found.files.push(real);
            }
        }
        let others = [workspace.join(".git/config"), PathBuf::from("/etc/gitconfig")];
        let signs = |path: &PathBuf| disk.text(path).is_some_and(|text| wants_signatures(&text));
        found.signs |= others.iter().any(signs);
        found
    }

    /// Has git find them where the home directory is another one inside.
    pub(crate) fn lead(&self, environment: &mut Vec<(OsString, OsString)>) {
        let known = environment.iter().any(|(name, _)| name == GLOBAL);
        if let Some(file) = self.global.as_ref().filter(|_| !known) {
            environment.push((GLOBAL.into(), file.into()));
            environment.sort();
        }
    }

    /// Turns signing off where it is wanted by settings: the keys are not inside, so every commit would fail. Returns a
    /// sentence about it.
    pub(crate) fn without_signatures(&self, environment: &mut Vec<(OsString, OsString)>) -> Option<String> {
        if !self.signs {
            return None;
        }
        let set = UNSIGNED.iter().all(|key| set_git(environment, key, "false"));
        set.then(|| {
            "git signs nothing in this run: your keys are not inside (commit.gpgSign is off)".to_owned()
        })
    }
}

const GLOBAL: &str = "GIT_CONFIG_GLOBAL";

/// Settings that have git sign by itself.
const UNSIGNED: &[&str] = &["commit.gpgSign", "tag.gpgSign", "tag.forceSignAnnotated", "push.gpgSign"];

/// Returns whether a settings file has git sign by itself, in any section.
fn wants_signatures(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.lines().any(|line| {
        // `[commit] gpgsign` is one line as well.
        let line = line.rsplit_once(']').map_or(line, |(_, rest)| rest).trim();
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        let off = ["false", "no", "off", "0", ""].contains(&value.trim().trim_matches('"'));
        matches!(key.trim(), "gpgsign" | "forcesignannotated") && !off
    })
}

/// Returns whether settings carry a secret themselves: a password in an address, a header, a helper with the words in it. The
/// name of a helper is harmless; its files are not inside.
fn holds_credentials(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words = ["extraheader", "password", "passwd", "token", "authorization", "cookie"];
    words.iter().any(|word| lower.contains(word)) || lower.lines().any(names_a_password)
}

/// `https://user:password@host`, also percent-encoded, also without a user.
fn names_a_password(line: &str) -> bool {
    line.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '"', ' ', '\t']).next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':') || user.len() >= 20)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_a_secret_in_them_are_recognised() {
        let rows = [
            ("[user]\n\tname = A\n\temail = a@example.org\n", false),
            ("[credential]\n\thelper = store\n", false),
            ("[url \"git@github.com:\"]\n\tinsteadOf = https://github.com/\n", false),
            ("[url \"ssh://git@github.com/\"]\n\tinsteadOf = gh:\n", false),
            ("[url \"https://me:hunter2@github.com/\"]\n\tinsteadOf = https://github.com/\n", true),
            ("[url \"https://ghp_0123456789abcdefghij@github.com\"]\n", true),
            ("[http]\n\textraHeader = X-Key: 1\n", true),
            ("[http]\n\tcookieFile = ~/.cookies\n", true),
            ("[credential]\n\thelper = \"!f() { echo password=x; }; f\"\n", true),
        ];
        for (text, expected) in rows {
            assert_eq!(holds_credentials(text), expected, "{text}");
        }
    }

    #[test]
    fn settings_that_sign_are_recognised() {
        let rows = [
            ("[commit]\n\tgpgsign = true\n", true),
            ("[commit]\n\tgpgSign\n", true),
            ("[commit] gpgSign = 1\n", true),
            ("[tag]\nforceSignAnnotated=yes\n", true),
            ("[commit]\n\tgpgsign = false\n", false),
            ("[commit]\n\tgpgsign = \"off\"\n", false),
            ("[user]\n\tsigningkey = gpgsign\n", false),
            ("# gpgsign = true\n", false),
        ];
        for (text, expected) in rows {
            assert_eq!(wants_signatures(text), expected, "{text}");
        }
    }

    #[test]
    fn harmless_files_are_shown_where_they_really_are() {
        let stage = tempfile::tempdir().unwrap();
        let top = stage.path().canonicalize().unwrap();
        let path = |name: &str| top.join(name);
        for name in ["home/.config/git", "home/dot", "home/ws"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        std::fs::write(path("home/dot/gitconfig"), "[user]\n\tname = A\n[commit]\ngpgsign\n").unwrap();
        std::os::unix::fs::symlink("dot/gitconfig", path("home/.gitconfig")).unwrap();
        std::fs::write(path("home/.config/git/config"), "[http]\n\textraHeader = a\n").unwrap();
        std::fs::write(path("home/.config/git/attributes"), [0xff, 0xfe]).unwrap();
        std::os::unix::fs::symlink(path("home/dot/gitconfig"), path("home/ws/planted")).unwrap();
        std::os::unix::fs::symlink(path("home/ws/planted"), path("home/.config/git/ignore")).unwrap();
        let (home, workspace) = (path("home"), path("home/ws"));
        let found = GitSettings::find(&home, &workspace, vec![workspace.clone()]);
        assert_eq!(found.files, [path("home/dot/gitconfig")]);
        assert_eq!(found.links, [(path("home/.gitconfig"), path("home/dot/gitconfig"))]);
        let mut environment = Vec::new();
        assert!(found.without_signatures(&mut environment).is_some());
        assert_eq!(environment.len(), 1 + 2 * UNSIGNED.len());
        // After what is there: the last one counts.
        assert!(found.without_signatures(&mut environment).is_some());
        assert_eq!(environment.len(), 1 + 4 * UNSIGNED.len());
        assert!(GitSettings::default().without_signatures(&mut Vec::new()).is_none());
    }
}
