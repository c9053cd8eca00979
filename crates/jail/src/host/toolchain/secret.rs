//! Detection of secrets in settings. A wrong yes costs a mirror or a flag, a wrong no a password: so any sign counts.
//!
//! Certificates are public: which of them are trusted, and where they are kept, is no secret.

use std::borrow::Cow;

/// Words that stand beside secrets in settings of package managers.
const WORDS: &[&str] = &[
    "auth",
    "bearer",
    "cookie",
    "credential",
    "extraheader",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "private-key",
    "private_key",
    "private key",
    "pwd",
    "secret",
    "token",
    "api-key",
    "api_key",
    "apikey",
    "access-key",
    "access_key",
    "accesskey",
    "signing.key",
    "signing_key",
];
/// A row of letters and digits as long as this is a key or a hash, and both are none of a jail's business.
const LONGEST_WORD: usize = 20;

/// Keys that hold one of the words and name something public. Their values are looked at like any other for passwords and keys.
const PUBLIC: &[&str] = &[
    "always-auth",
    "author",
    "authors",
    "credential-alias",
    "credential-provider",
    "global-credential-providers",
    "init-author-email",
    "init-author-name",
    "init-author-url",
    "keyring-provider",
];
/// Common users of addresses: no token looks like this.
const USERS: &[&str] = &["git", "hg", "svn"];
const CERTIFICATE: [&str; 2] = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"];

/// Returns true if a text looks as if it held a secret.
pub(super) fn in_text(text: &str) -> bool {
    let text = without_certificates(text);
    let lower = text.to_ascii_lowercase();
    let words = |line: &str| WORDS.iter().any(|word| line.contains(word));
    lower.lines().any(|line| words(line) && !is_public(line) || names_a_password(line))
        || text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_a_key)
}

/// The files with certificates that settings name: `cert` of pip, `cafile` of npm, `cainfo` of cargo, `native-tls`'s and others.
pub(super) fn authorities(text: &str) -> impl Iterator<Item = &str> {
    const KEYS: &[&str] = &[
        "cert",
        "cafile",
        "cainfo",
        "ca-bundle",
        "ca_bundle",
        "httpscafilepath",
        "ssl_verify",
        "ssl-ca-cert",
    ];
    text.lines()
        .filter_map(setting)
        .filter(|(key, _)| KEYS.contains(&key.to_ascii_lowercase().as_str()))
        .map(|(_, value)| value)
}

/// Returns true if a text has certificates in it and nothing that is kept secret with them.
pub(super) fn is_certificates(text: &str) -> bool {
    text.contains(CERTIFICATE[0]) && !text.to_ascii_lowercase().contains("private key")
}

fn is_public(line: &str) -> bool {
    setting(line).is_some_and(|(key, _)| PUBLIC.contains(&key))
}

/// The key and the value of a line `key = value` or `key: value`, without quotes.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(['=', ':'])?;
    Some((key.trim().trim_matches(QUOTES), value.trim().trim_matches(QUOTES)))
}

const QUOTES: [char; 2] = ['"', '\''];

/// Settings of npm hold certificates themselves.
fn without_certificates(text: &str) -> Cow<'_, str> {
    let [begin, end] = CERTIFICATE;
    let mut left = Cow::Borrowed(text);
    while let Some(from) = left.find(begin) {
        let Some(length) = left[from..].find(end) else { break };
        left = Cow::Owned([&left[..from], &left[from + length + end.len()..]].concat());
    }
    left
}

/// `https://user:password@host`, also with a user alone, who may be a token; and `https://host/t/token/channel` of conda.
fn names_a_password(line: &str) -> bool {
    line.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '"', '\'', ' ', '\t', '<']).next().unwrap_or_default();
        let channel = rest.split_once("/t/").is_some_and(|(_, token)| !token.is_empty());
        channel || authority.rsplit_once('@').is_some_and(|(user, _)| !USERS.contains(&user))
    })
}

/// Long, with letters and digits both.
fn is_a_key(word: &str) -> bool {
    let has = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
    word.len() >= LONGEST_WORD && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_sign_of_a_secret_counts() {
        let rows = [
            ("registry=https://registry.npmjs.org/\nfund=false\n", false),
            ("[build]\nrustflags = [\"-C\", \"link-arg=-fuse-ld=lld\"]\n", false),
            ("[source.crates-io]\nreplace-with = \"mirror\"\n", false),
            (
                "<settings><mirrors><mirror><url>https://repo.example/</url></mirror></mirrors></settings>",
                false,
            ),
            ("org.gradle.jvmargs=-Xmx2g\n", false),
            ("[global]\nindex-url = https://pypi.example/simple\n", false),
            ("[global]\ncert = /etc/ssl/certs/corp.pem\nclient-cert = /x\n", false),
            ("cafile=/usr/local/share/ca-certificates/corp.crt\nstrict-ssl=true\nalways-auth=true\n", false),
            (
                "ca[]=\"-----BEGIN CERTIFICATE-----\\nMIID0123456789abcdefghij==\\n-----END CERTIFICATE-----\"\n",
                false,
            ),
            (
                "[http]\ncainfo = \"/etc/ssl/certs/ca-certificates.crt\"\n[registries.m]\nindex = \"sparse+https://m.example/\"\n\
                 credential-provider = [\"cargo:token\"]\n[source.git]\nregistry = \"ssh://git@m.example/index\"\n",
                false,
            ),
            ("credential-provider = \"x --key https://a:b@host/\"\n", true),
            ("key=\"-----BEGIN PRIVATE KEY-----\\nx\"\n", true),
            ("-----BEGIN CERTIFICATE-----\nMIID0123456789abcdefghij\n", true),
            ("ssh://gitx@m.example/\n", true),
            ("channels:\n  - https://conda.example/t/ab-12-cd/corp\n", true),
            ("channels:\n  - https://conda.example/corp\nssl_verify: /etc/ssl/corp.crt\n", false),
            ("author = a\npassword = b\n", true),
            ("//registry.npmjs.org/:_authToken=abc\n", true),
            ("[registries.x]\ntoken = \"abc\"\n", true),
            ("<server><id>a</id><password>{x}</password></server>", true),
            ("signing.keyId=1\nsigning.password=x\n", true),
            ("index-url = https://me:hunter2@pypi.example/simple\n", true),
            ("index-url = https://abcdef@pypi.example/simple\n", true),
            ("x = 0123456789abcdef0123456789abcdef\n", true),
        ];
        for (text, expected) in rows {
            assert_eq!(in_text(text), expected, "{text}");
        }
    }
}
