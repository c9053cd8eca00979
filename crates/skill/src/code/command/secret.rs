//! Files that hold secrets, as commands name them.

use std::sync::LazyLock;

pub(crate) use policy::SecretClass as Secret;
use policy::{Certainty, ProgramClass};

use super::Step;

/// The ends of paths in lower case, with the class of secret that lies there.
static FILES: LazyLock<Vec<(String, Secret)>> = LazyLock::new(|| {
    let files = policy::credential_files();
    files.filter_map(|file| Some((file.path().to_ascii_lowercase(), file.command?))).collect()
});

/// Returns the kind of secret at a path.
pub(crate) fn secret(path: &str) -> Option<Secret> {
    let path = path.trim_matches(|c| c == '"' || c == '\'').to_ascii_lowercase();
    if path.rsplit_once('.').is_some_and(|(_, ending)| ending == "pub")
        || path.contains("example")
        || path.contains("sample")
        || path.contains("template")
    {
        return None;
    }
    let plain = without_classes(&path);
    let plain = plain.trim_end_matches('/');
    let found = FILES.iter().filter(|(end, _)| {
        plain.ends_with(end)
            && (end.starts_with('/')
                || plain.len() == end.len()
                || plain[..plain.len() - end.len()].ends_with(['/', '~', '@', '=', '}', '\\', ' ']))
    });
    found.map(|(_, secret)| *secret).max().or_else(|| wild(plain))
}

/// `id_r[s]a` is every name that fits, which is `id_rsa`.
fn without_classes(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('[') {
        plain.push_str(&rest[..at]);
        let inner = &rest[at + 1..];
        let Some(end) = inner.find(']').filter(|end| *end > 0) else {
            rest = &rest[at..];
            break;
        };
        plain.extend(inner[..end].chars().next());
        rest = &inner[end + 1..];
    }
    plain.push_str(rest);
    plain
}

/// Names with question marks and stars that fit a key.
fn wild(path: &str) -> Option<Secret> {
    if !path.contains(['?', '*']) {
        return None;
    }
    let name = path.rsplit('/').next()?;
    let mut names = FILES.iter().filter(|(name, secret)| *secret == Secret::Key && name.starts_with("id_"));
    let long_enough = name.bytes().filter(u8::is_ascii_alphanumeric).count() >= 3;
    (name.len() <= 32 && long_enough && names.any(|(key, _)| fits(name.as_bytes(), key.as_bytes())))
        .then_some(Secret::Key)
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => fits(rest, name) || !name.is_empty() && fits(pattern, &name[1..]),
        (Some((b'?', rest)), Some((_, others))) => fits(rest, others),
        (Some((a, rest)), Some((b, others))) => a == b && fits(rest, others),
        _ => false,
    }
}

impl Step<'_> {
    /// The worst secret that its words and redirections name.
    pub(crate) fn names_secret(self) -> Option<Secret> {
        let words = self.words().iter().chain(
            self.redirects()
                .iter()
                .filter(|redirect| redirect.direction == policy::Direction::Read)
                .map(|redirect| &redirect.target),
        );
        words
            .filter_map(|word| {
                let spelled =
                    if word.certainty == Certainty::Literal { None } else { secret(self.spelled(word)) };
                secret(&word.text).or(spelled)
            })
            .max()
    }

    /// The worst secret that it writes to its output.
    pub(crate) fn shows_secret(self) -> Option<Secret> {
        if ProgramClass::Feeds.has(&self.name()) { self.names_secret() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_files_hold_secrets() {
        let rows = [
            ("~/.ssh/id_rsa", Some(Secret::Key)),
            ("$HOME/.ssh/id_r[s]a", Some(Secret::Key)),
            ("/home/x/.ssh/id_r?a", Some(Secret::Key)),
            ("~/.ssh/id_rsa.pub", None),
            ("~/.ssh/config", None),
            ("~/.aws/credentials", Some(Secret::Credentials)),
            // Paths that another copy of the table knew.
            ("~/.ssh/", Some(Secret::Key)),
            ("~/.azure/", Some(Secret::Credentials)),
            ("~/.cargo/credentials.toml", Some(Secret::Credentials)),
            ("~/.databrickscfg", Some(Secret::Credentials)),
            ("~/.openclaw/.env", Some(Secret::Credentials)),
            ("~/Library/Application Support/Firefox/x", None),
            (".env", Some(Secret::Settings)),
            (".env.example", None),
            ("my.env", None),
            ("*", None),
            ("*.md", None),
        ];
        for (path, expected) in rows {
            assert_eq!(secret(path), expected, "{path}");
        }
    }
}
