//! What looks like a secret: the rows of `tables/secrets.toml`, which holds the reason for each.

/// A token that announces itself.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) name: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) minimum: usize,
    pub(crate) alphabet: Alphabet,
    pub(crate) anywhere: bool,
    pub(crate) random: bool,
}

/// The characters a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alphabet {
    Alnum,
    Upper,
    Word,
    Dash,
}

impl Alphabet {
    pub(crate) const COUNT: usize = 4;

    pub(crate) const fn holds(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dash => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
        }
    }
}

/// A name whose value is a secret.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) word: &'static str,
    pub(crate) name: &'static str,
    pub(crate) whole: bool,
    pub(crate) cautious: bool,
}

const fn token(
    name: &'static str,
    prefix: &'static str,
    minimum: usize,
    alphabet: Alphabet,
    anywhere: bool,
    random: bool,
) -> Token {
    Token { name, prefix, minimum, alphabet, anywhere, random }
}

const fn key(word: &'static str, name: &'static str, whole: bool, cautious: bool) -> Key {
    Key { word, name, whole, cautious }
}

/// Tokens that announce themselves. A longer prefix stands before a shorter one that it begins with.
#[rustfmt::skip]
pub(crate) const TOKENS: &[Token] = &[
    token("anthropic-key", "sk-ant-", 16, Alphabet::Dash, true, false),
    token("api-key", "sk-", 20, Alphabet::Dash, false, true),
    token("stripe-key", "sk_live_", 16, Alphabet::Alnum, true, false),
    token("stripe-key", "sk_test_", 16, Alphabet::Alnum, true, false),
    token("stripe-key", "rk_live_", 16, Alphabet::Alnum, true, false),
    token("google-key", "AIza", 30, Alphabet::Dash, false, false),
    token("aws-key-id", "AKIA", 16, Alphabet::Upper, false, false),
    token("aws-key-id", "ASIA", 16, Alphabet::Upper, false, false),
    token("github-token", "ghp_", 20, Alphabet::Word, true, false),
    token("github-token", "gho_", 20, Alphabet::Word, true, false),
    token("github-token", "ghu_", 20, Alphabet::Word, true, false),
    token("github-token", "ghs_", 20, Alphabet::Word, true, false),
    token("github-token", "ghr_", 20, Alphabet::Word, true, false),
    token("github-token", "github_pat_", 20, Alphabet::Word, true, false),
    token("gitlab-token", "glpat-", 16, Alphabet::Dash, true, false),
    token("slack-token", "xoxb-", 10, Alphabet::Dash, true, false),
    token("slack-token", "xoxp-", 10, Alphabet::Dash, true, false),
    token("slack-token", "xoxa-", 10, Alphabet::Dash, true, false),
    token("slack-token", "xoxe-", 10, Alphabet::Dash, true, false),
    token("slack-token", "xoxr-", 10, Alphabet::Dash, true, false),
    token("slack-token", "xoxs-", 10, Alphabet::Dash, true, false),
    token("slack-token", "xapp-", 10, Alphabet::Dash, true, true),
    token("npm-token", "npm_", 30, Alphabet::Alnum, true, false),
    token("pypi-token", "pypi-", 50, Alphabet::Dash, true, true),
    token("huggingface-token", "hf_", 30, Alphabet::Alnum, true, false),
    token("age-key", "AGE-SECRET-KEY-1", 40, Alphabet::Upper, true, false),
];

/// Forms that are more than a prefix.
pub(crate) const SHAPES: &[&str] =
    &["private-key", "jwt", "bearer", "basic", "url-password", "authorization"];

/// Names whose value is a secret.
#[rustfmt::skip]
pub(crate) const KEYS: &[Key] = &[
    key("password", "password", false, false),
    key("passwd", "password", false, false),
    key("passphrase", "password", false, false),
    key("passcode", "password", false, false),
    key("pwd", "password", true, false),
    key("pass", "password", true, true),
    key("token", "token", false, true),
    key("secret", "secret", false, true),
    key("apikey", "api-key", false, false),
    key("accesskey", "access-key", false, false),
    key("secretkey", "secret-key", false, false),
    key("privatekey", "private-key", false, false),
    key("encryptionkey", "encryption-key", false, false),
    key("signingkey", "signing-key", false, false),
    key("accountkey", "account-key", false, false),
    key("credential", "credential", false, true),
    key("credentials", "credential", false, true),
];

/// Names that end like one of [`KEYS`] and are none.
pub(crate) const NOT_KEYS: &[&str] = &["PWD", "OLDPWD"];

/// Values that are no secret, whatever their name.
pub(crate) const NOT_VALUES: &[&str] = &[
    "true",
    "false",
    "yes",
    "no",
    "null",
    "none",
    "nil",
    "undefined",
    "string",
    "str",
    "&str",
    "bytes",
    "bool",
    "boolean",
    "int",
    "number",
    "required",
    "optional",
];

#[cfg(test)]
mod tests {
    use super::*;
    use toml::{Table, Value};

    fn table() -> Table {
        include_str!("../../../../tables/secrets.toml").parse().unwrap()
    }

    fn rows<'t>(table: &'t Table, kind: &str) -> Vec<&'t Table> {
        table[kind].as_array().unwrap().iter().map(|row| row.as_table().unwrap()).collect()
    }

    fn text<'t>(row: &'t Table, key: &str) -> &'t str {
        row[key].as_str().unwrap()
    }

    #[test]
    fn the_rows_are_those_of_the_table() {
        let table = table();
        let tokens = rows(&table, "token").into_iter().map(|row| {
            let flags = [&row["anywhere"], &row["random"]].map(|flag| flag.as_bool().unwrap());
            let minimum = row["minimum"].as_integer().unwrap();
            (text(row, "name"), text(row, "prefix"), minimum, text(row, "alphabet").to_owned(), flags)
        });
        let ours = TOKENS.iter().map(|row| {
            let alphabet = format!("{:?}", row.alphabet).to_lowercase();
            (row.name, row.prefix, i64::try_from(row.minimum).unwrap(), alphabet, [row.anywhere, row.random])
        });
        assert_eq!(ours.collect::<Vec<_>>(), tokens.collect::<Vec<_>>());

        let keys = rows(&table, "key").into_iter().map(|row| {
            let flags = [&row["whole"], &row["cautious"]].map(|flag| flag.as_bool().unwrap());
            (text(row, "word"), text(row, "name"), flags)
        });
        let ours = KEYS.iter().map(|row| (row.word, row.name, [row.whole, row.cautious]));
        assert_eq!(ours.collect::<Vec<_>>(), keys.collect::<Vec<_>>());

        for (kind, column, ours) in
            [("shape", "name", SHAPES), ("not-a-key", "word", NOT_KEYS), ("not-a-value", "word", NOT_VALUES)]
        {
            let rows: Vec<_> = rows(&table, kind).into_iter().map(|row| text(row, column)).collect();
            assert_eq!(ours, rows, "{kind}");
        }
    }

    #[test]
    fn every_row_has_a_reason() {
        for (kind, rows) in table() {
            for row in rows.as_array().unwrap() {
                let because = row.get("because").and_then(Value::as_str).unwrap_or_default();
                assert!(because.len() > 10, "{kind}: {row:?}");
            }
        }
    }

    #[test]
    fn a_longer_prefix_comes_first() {
        for (at, row) in TOKENS.iter().enumerate() {
            for later in &TOKENS[at + 1..] {
                assert!(!later.prefix.starts_with(row.prefix), "{} hides {}", row.prefix, later.prefix);
            }
        }
    }
}
