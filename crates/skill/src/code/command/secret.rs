//! Files that hold secrets, as commands name them.

use policy::Certainty;

use super::Step;

/// What kind of secret a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Secret {
    /// Settings with a token in them, which programs read all the time.
    Settings,
    /// Credentials of a person: for clouds, registries, browsers, wallets.
    Credentials,
    /// A private key.
    Key,
}

/// The ends of paths, and what lies there.
const FILES: &[(&str, Secret)] = &[
    (".ssh/id_rsa", Secret::Key),
    (".ssh/id_ed25519", Secret::Key),
    (".ssh/id_ecdsa", Secret::Key),
    (".ssh/id_dsa", Secret::Key),
    (".ssh", Secret::Key),
    (".ssh/", Secret::Key),
    (".ssh/*", Secret::Key),
    (".ssh/id_*", Secret::Key),
    ("id_rsa", Secret::Key),
    ("id_ed25519", Secret::Key),
    ("id_ecdsa", Secret::Key),
    (".gnupg", Secret::Key),
    (".gnupg/", Secret::Key),
    ("secring.gpg", Secret::Key),
    ("/etc/shadow", Secret::Credentials),
    ("/etc/gshadow", Secret::Credentials),
    (".aws/credentials", Secret::Credentials),
    (".aws", Secret::Credentials),
    (".aws/", Secret::Credentials),
    (".azure", Secret::Credentials),
    (".config/gcloud", Secret::Credentials),
    ("application_default_credentials.json", Secret::Credentials),
    (".kube/config", Secret::Credentials),
    (".docker/config.json", Secret::Credentials),
    (".netrc", Secret::Credentials),
    (".git-credentials", Secret::Credentials),
    (".pgpass", Secret::Credentials),
    (".npmrc", Secret::Credentials),
    (".pypirc", Secret::Credentials),
    (".config/gh/hosts.yml", Secret::Credentials),
    (".vault-token", Secret::Credentials),
    (".terraform.d/credentials.tfrc.json", Secret::Credentials),
    (".claude/.credentials.json", Secret::Credentials),
    (".codex/auth.json", Secret::Credentials),
    (".clawdbot/.env", Secret::Credentials),
    (".openclaw/.env", Secret::Credentials),
    (".openclaw/openclaw.json", Secret::Credentials),
    ("wallet.dat", Secret::Credentials),
    (".ethereum/keystore", Secret::Credentials),
    (".config/solana/id.json", Secret::Credentials),
    ("login.keychain-db", Secret::Credentials),
    ("login data", Secret::Credentials),
    ("logins.json", Secret::Credentials),
    ("key4.db", Secret::Credentials),
    ("cookies.sqlite", Secret::Credentials),
    (".bash_history", Secret::Settings),
    (".zsh_history", Secret::Settings),
    (".env", Secret::Settings),
    (".env.local", Secret::Settings),
    (".env.production", Secret::Settings),
];

/// What kind of secret lies at a path.
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
    let found = FILES.iter().find(|(end, _)| {
        plain.ends_with(end)
            && (end.starts_with('/')
                || plain.len() == end.len()
                || plain[..plain.len() - end.len()].ends_with(['/', '~', '@', '=', '}', '\\', ' ']))
    });
    found.map(|(_, secret)| *secret).or_else(|| wild(&plain))
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
    let names = ["id_rsa", "id_ed25519", "id_ecdsa"];
    let long_enough = name.bytes().filter(u8::is_ascii_alphanumeric).count() >= 3;
    (name.len() <= 32 && long_enough && names.iter().any(|key| fits(name.as_bytes(), key.as_bytes())))
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
        let shows = matches!(
            self.name().as_str(),
            "cat"
                | "head"
                | "tail"
                | "less"
                | "more"
                | "base64"
                | "base32"
                | "xxd"
                | "od"
                | "strings"
                | "tar"
                | "zip"
                | "gzip"
                | "grep"
                | "egrep"
                | "awk"
                | "sed"
                | "cp"
                | "openssl"
                | "bat"
                | "tac"
                | "nl"
                | "rev"
                | "sort"
                | "cut"
                | "jq"
                | "dd"
                | "hexdump"
                | "gpg"
                | "find"
                | "type"
                | "python"
                | "perl"
                | "xargs"
        );
        if shows { self.names_secret() } else { None }
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
