//! Table of secrets: variables by their names, files by their paths.

mod owners;

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

pub(crate) use owners::owner_hosts;
pub(crate) use policy::SecretStore as Store;

/// A secret, as far as code says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Secret {
    /// A variable of the environment with a name that says so.
    Variable(String),
    /// All variables.
    Environment,
    /// A file.
    File(Store, String),
}

/// Parts of paths, with the kind of secret that each leads to.
struct Fragments {
    matcher: AhoCorasick,
    stores: Vec<Store>,
}

static FRAGMENTS: LazyLock<Option<Fragments>> = LazyLock::new(|| {
    let rows = policy::credential_files()
        .filter_map(|file| Some((file.path().trim_start_matches('/'), file.store?)));
    let (paths, stores): (Vec<_>, Vec<_>) = rows.unzip();
    let matcher = AhoCorasick::builder().ascii_case_insensitive(true).build(paths).ok()?;
    Some(Fragments { matcher, stores })
});

/// Returns what a path leads to, if that is secret.
pub(crate) fn of_path(path: &str) -> Option<Store> {
    if path.len() > 4096 {
        return None;
    }
    let path = path.replace('\\', "/");
    let bytes = path.as_bytes();
    let ends = |at: usize| {
        bytes.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'-')
    };
    let begins = |at: usize| {
        at == 0
            || bytes[at] == b'/'
            || matches!(bytes[at - 1], b'/' | b'~' | b'"' | b'\'' | b' ' | b'@' | b'=' | b':' | b'}' | b',')
            || path[..at].ends_with(crate::code::script::HOLE)
    };
    let fragments = FRAGMENTS.as_ref()?;
    let found = fragments.matcher.find_overlapping_iter(&path).find(|found| {
        // A public key, an example and a template are no secrets.
        let rest = &path[found.end()..];
        let harmless = [".pub", ".example", ".sample", ".template", ".dist", ".md"];
        begins(found.start()) && ends(found.end()) && !harmless.iter().any(|end| rest.starts_with(end))
    });
    found.and_then(|found| fragments.stores.get(found.pattern().as_usize()).copied())
}

/// Returns what a directory keeps, if everything in it is secret.
pub(crate) fn of_directory(path: &str) -> Option<Store> {
    let path = path.replace('\\', "/").to_ascii_lowercase();
    let path = path.trim_end_matches('/');
    let (before, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_home = before.is_empty()
        || before.ends_with(['~', crate::code::script::HOLE])
        || before.starts_with('$')
        || before.contains("home")
        || before.contains("users")
        || before == "/root";
    let row = policy::credential_files().find(|file| file.directory.is_some() && file.path() == name)?;
    row.directory.filter(|store| is_home || *store == Store::Wallet)
}

/// Returns what files of an ending hold, if the ending is all that is written: `.pem`, `*.key`.
pub(crate) fn of_ending(text: &str) -> Option<Store> {
    let ending = text.rsplit_once('/').map_or(text, |(_, name)| name).trim_start_matches('*');
    matches!(ending, ".pem" | ".key" | ".p12" | ".pfx" | ".kdbx" | ".keystore" | ".jks" | ".ppk")
        .then_some(Store::Key)
}

/// Parts of names that say that a variable is secret.
const SECRET: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
    "MNEMONIC",
    "COOKIE",
    "PAT",
    "JWT",
    "SECRETS",
    "PRIVATEKEY",
];

/// Parts that say that it is something about a secret.
const ABOUT: &[&str] = &[
    "MAX", "LIMIT", "COUNT", "PUBLIC", "PATH", "FILE", "NAME", "TYPE", "LENGTH", "EXPIRY", "EXPIRES", "TTL",
    "ID", "DIR", "TOKENS", "ENDPOINT", "HOST", "REGION", "SOCK",
];

/// Names that are secret although no part of them says so.
const WHOLE: &[&str] =
    &["DATABASE_URL", "MONGODB_URI", "REDIS_URL", "SEED_PHRASE", "PGPASS", "KUBECONFIG", "MONGO_URI"];

/// Returns true if a variable's name says that it is secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if WHOLE.contains(&name.as_str()) || name.ends_with("CONNECTION_STRING") {
        return true;
    }
    let parts: Vec<&str> = name.split('_').collect();
    if parts.iter().any(|part| ABOUT.contains(part)) {
        return false;
    }
    parts.iter().any(|part| SECRET.contains(part)) || parts.len() > 1 && parts.last() == Some(&"KEY")
}

/// Returns true if a secret of this name is never sent to any host, not even to its issuer.
pub(crate) fn stays_at_home(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    WHOLE.contains(&name.as_str())
        || [
            "PRIVATE_KEY",
            "SECRET_ACCESS_KEY",
            "JWT_SECRET",
            "SESSION_SECRET",
            "ENCRYPTION_KEY",
            "MNEMONIC",
            "SEED",
        ]
        .iter()
        .any(|part| name.contains(part))
        || ["SERVICE_ACCOUNT_KEY", "SIGNING_KEY", "SIGNING_SECRET"].iter().any(|end| name.ends_with(end))
        || name.starts_with("SSH_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_path_leads_to() {
        let rows = [
            ("~/.ssh/id_rsa", Some(Store::Key)),
            ("/home/u/.ssh/id_ed25519", Some(Store::Key)),
            ("~/.ssh/id_rsa.pub", None),
            ("~/.ssh/known_hosts", None),
            ("~/.aws/credentials", Some(Store::Credential)),
            (r"C:\Users\a\.aws\credentials", Some(Store::Credential)),
            (".env", Some(Store::Variables)),
            (".env.example", None),
            (".environment", None),
            ("src/.envrc", None),
            ("~/.claude/settings.json", Some(Store::Agent)),
            ("/etc/shadow", Some(Store::Accounts)),
            // Paths that another copy of the table knew.
            ("/etc/gshadow-", Some(Store::Accounts)),
            ("~/.oci/config", Some(Store::Credential)),
            ("~/.config/composer/auth.json", Some(Store::Credential)),
            ("~/.thunderbird/p/key", Some(Store::Browser)),
            ("~/.bitcoin", Some(Store::Wallet)),
            ("docs/wallet.md", None),
            ("src/lib.rs", None),
        ];
        for (path, expected) in rows {
            assert_eq!(of_path(path), expected, "{path}");
        }
    }

    #[test]
    fn which_directories_are_secret() {
        for path in ["~/.ssh", "/home/u/.ssh/", "$HOME/.gnupg", ".ssh", "/root/.aws"] {
            assert!(of_directory(path).is_some(), "{path}");
        }
        for path in ["~/.ssh/config", "~/.sshd", "src/.ssh", "~/work", "~/.ssh/known_hosts"] {
            assert_eq!(of_directory(path), None, "{path}");
        }
    }

    #[test]
    fn which_variables_are_secret() {
        for name in ["OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "DATABASE_URL"]
        {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in [
            "HOME",
            "MAX_TOKENS",
            "PUBLIC_KEY",
            "KEYBOARD",
            "KEY",
            "TOKEN_LIMIT",
            "AWS_ACCESS_KEY_ID",
            "PATH",
        ] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
