//! Whether settings hold a secret. A wrong yes costs a mirror or a flag, a wrong no a password: so any sign counts.

/// Words that stand beside secrets in settings of package managers.
const WORDS: &[&str] = &[
    "auth",
    "bearer",
    "cert",
    "cookie",
    "credential",
    "extraheader",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "private-key",
    "private_key",
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

/// Whether a text looks as if it held a secret.
pub(super) fn in_text(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
        || lower.lines().any(names_a_password)
        || text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_a_key)
}

/// `https://user:password@host`, also with a user alone, who may be a token.
fn names_a_password(line: &str) -> bool {
    line.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '"', '\'', ' ', '\t', '<']).next().unwrap_or_default();
        authority.contains('@')
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
