//! What git needs inside: the repository, wherever it lies, and its own settings, so that a commit has an author; never its
//! credentials.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use config::{JailSettings, Settings};
use jail::{Mode, Repository, View};
use policy::Shown;

use super::RunArgs;

/// Where git looks in a home directory.
const FILES: &[&str] = &[".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];
/// Nobody's settings are longer; what is longer is not looked at, so it is not shown.
const LONGEST: u64 = 1 << 20;

/// The repository of the workspace, if it lies elsewhere and the policy lets it in; and what a person should know about it.
pub(crate) fn repository<'a>(
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

/// That there is a repository further up matters only to git, and to whoever wants to know everything.
pub(crate) fn is_worth_saying(found: &Repository, args: &RunArgs) -> bool {
    let program = args.command.first().and_then(|program| Path::new(program).file_name());
    !matches!(found, Repository::Above(_)) || args.verbose || program == Some(OsStr::new("git"))
}

/// The files of a home directory that can be shown. A link is left out: the jail shows a path where it is, and what the
/// link leads to would have to be shown elsewhere.
pub(crate) fn settings(home: &Path) -> Vec<PathBuf> {
    FILES.iter().map(|file| home.join(file)).filter(|path| is_harmless(path)).collect()
}

fn is_harmless(path: &Path) -> bool {
    let plain = path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    let mut text = String::new();
    plain
        && File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text)).is_ok()
        && !holds_credentials(&text)
}

/// Whether settings carry a secret themselves: a password in an address, a header, a helper with the words in it. That
/// a helper is named is harmless; what it would read is not there.
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
    fn only_plain_harmless_files_are_shown() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        std::fs::create_dir_all(path(".config/git")).unwrap();
        std::fs::write(path(".gitconfig"), "[user]\n\tname = A\n").unwrap();
        std::fs::write(path(".config/git/config"), "[http]\n\textraHeader = a\n").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", path(".config/git/ignore")).unwrap();
        std::fs::write(path(".config/git/attributes"), [0xff, 0xfe]).unwrap();
        assert_eq!(settings(home.path()), [path(".gitconfig")]);
    }
}
