//! Tables of names, hosts and addresses that other tools were beaten with.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use proptest::prelude::*;
use ringfence_policy::{
    Case, Endpoint, Glob, HostIndex, HostName, HostPattern, PathIndex, PathPattern, Reach, not_public,
};
use ringfence_policy::{Effect, is_metadata};
use serde_json::Value;
use std::collections::BTreeSet;

fn rows(table: &str) -> impl Iterator<Item = Value> {
    table.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

fn matches(glob: &str, reach: Reach, case: Case, path: &str) -> bool {
    // A pattern that is refused at load never matches.
    let Ok(pattern) = PathPattern::parse(glob) else { return false };
    PathIndex::new(&[(&pattern, reach)], case).unwrap().first(path.as_bytes()).is_some()
}

#[test]
fn globs() {
    for row in rows(include_str!("vectors/globs.jsonl")) {
        let expected = row["match"].as_bool().unwrap();
        for reach in [Reach::Wide, Reach::Narrow] {
            let found = matches(text(&row, "glob"), reach, Case::Exact, text(&row, "path"));
            assert_eq!(found, expected, "{} {reach:?}: {}", row["id"], row["note"]);
            let alone = PathPattern::parse(text(&row, "glob"))
                .is_ok_and(|pattern| pattern.matches(text(&row, "path").as_bytes(), reach));
            assert_eq!(alone, expected, "{} alone", row["id"]);
        }
    }
}

#[test]
fn globs_of_our_own() {
    let rows = [
        ("src/**", "src/a/b", true, true),
        ("src/**", "src", true, false),
        ("src/**", "srcx", false, false),
        ("**", "a/b", true, true),
        ("**", ".", true, true),
        ("**", "/etc/passwd", true, false),
        ("**", "/", true, false),
        ("**/*", "/etc/passwd", true, false),
        ("**/id_rsa", "/home/me/.ssh/id_rsa", true, false),
        ("**/id_rsa", "id_rsa", true, true),
        ("/etc/**", "/etc/passwd", true, true),
        ("/etc/**", "etc/passwd", true, true),
        ("etc/**", "/etc/passwd", false, false),
        ("a/**/b", "a/b", true, true),
        ("**/**/b", "x/b", true, true),
        ("a/**/**", "a/x", true, true),
        ("*", "a/b", false, false),
        ("a?b", "a/b", false, false),
        ("a[!x]b", "a/b", false, false),
        ("a[.-0]b", "a/b", false, false),
        ("{a/b,c}/d", "a/b/d", true, true),
        ("{a,{b,c}}.rs", "c.rs", true, true),
        ("a{,.bak}", "a", true, true),
        ("[]]", "]", true, true),
        ("[a\\]]", "]", true, true),
        ("[a-]", "-", true, true),
        ("?.txt", "\u{e9}.txt", true, true),
        ("[\u{e0}-\u{ef}].txt", "\u{e9}.txt", true, true),
        ("re:src/.*\\.rs", "src/a.rs", true, true),
        ("re:src", "src/a.rs", true, true),
        ("re:^src$", "src/a.rs", false, false),
        (".", ".", true, true),
        ("[[:digit:]x].txt", "7.txt", true, true),
        ("[[:digit:]x].txt", "x.txt", true, true),
        ("[![:alpha:]].txt", "a.txt", false, false),
        ("[[:punct:]]", "/", false, false),
        ("[[:]", ":", true, true),
        ("\\!a", "!a", true, true),
        ("{a..b,c}", "a..b", true, true),
    ];
    for (glob, path, wide, narrow) in rows {
        assert_eq!(matches(glob, Reach::Wide, Case::Exact, path), wide, "wide {glob} on {path}");
        assert_eq!(matches(glob, Reach::Narrow, Case::Exact, path), narrow, "narrow {glob} on {path}");
    }
}

fn any_glob() -> impl Strategy<Value = String> {
    let part = "[ab]{1,2}|\\*|a\\*|\\?|[ab]\\*[ab]|\\[ab\\]|\\[!a\\]|\\{a,b[ab]\\}|\\*\\*|\\*\\*";
    ("/?", proptest::collection::vec(part, 1..5))
        .prop_map(|(root, parts)| format!("{root}{}", parts.join("/")))
}

proptest! {
    /// Two ways to the same answer: the automaton of many patterns, and one pattern followed step by step.
    #[test]
    fn the_automaton_agrees_with_each_pattern_alone(
        globs in proptest::collection::vec(any_glob(), 1..6),
        name in "/?[ab]{1,3}(/[ab]{1,2}){0,4}",
        reach in prop_oneof![Just(Reach::Wide), Just(Reach::Narrow)],
    ) {
        let patterns: Vec<_> = globs.iter().map(|glob| PathPattern::parse(glob).unwrap()).collect();
        let listed: Vec<_> = patterns.iter().map(|pattern| (pattern, reach)).collect();
        let mut together = BTreeSet::new();
        PathIndex::new(&listed, Case::Exact).unwrap().matches(name.as_bytes(), |id| { together.insert(id); });
        let alone = (0..globs.len()).filter(|id| patterns[*id].matches(name.as_bytes(), reach)).collect();
        prop_assert_eq!(together, alone, "{:?} on {}", globs, name);
    }

    /// Earlier questions to an index do not count.
    #[test]
    fn names_in_a_row_match_as_each_alone(
        globs in proptest::collection::vec(any_glob(), 1..6),
        names in proptest::collection::vec("/?[abA]{1,9}(/[abB]{1,2}){0,4}", 1..12),
        case in prop_oneof![Just(Case::Exact), Just(Case::Ignored)],
    ) {
        let patterns: Vec<_> = globs.iter().map(|glob| PathPattern::parse(glob).unwrap()).collect();
        let listed: Vec<_> = patterns.iter().map(|pattern| (pattern, Reach::Wide)).collect();
        let matches = |index: &PathIndex, name: &str| {
            let mut ids = BTreeSet::new();
            index.matches(name.as_bytes(), |id| { ids.insert(id); });
            ids
        };
        let index = PathIndex::new(&listed, case).unwrap();
        for name in &names {
            let alone = matches(&PathIndex::new(&listed, case).unwrap(), name);
            prop_assert_eq!(matches(&index, name), alone, "{:?} on {} of {:?}", globs, name, names);
        }
    }

    #[test]
    fn a_pattern_matches_its_samples(glob in any_glob(), reach in prop_oneof![Just(Reach::Wide), Just(Reach::Narrow)]) {
        let pattern = PathPattern::parse(&glob).unwrap();
        for sample in pattern.samples() {
            prop_assert!(pattern.matches(sample.as_bytes(), reach), "{glob} on {sample}");
        }
    }

    #[test]
    fn reading_a_pattern_never_panics(text in "\\PC{0,40}|[{}\\[\\]*?\\\\!^,/a-]{0,30}") {
        drop(PathPattern::parse(&text).map(|pattern| pattern.matches(b"a/b", Reach::Wide)));
        drop(HostPattern::parse(&text));
        drop(ringfence_policy::CommandPattern::parse(&text));
    }
}

#[test]
fn case_can_be_ignored() {
    for (glob, path) in [("**/.env*", "a/.ENV.local"), (".git/**", ".GIT/config"), ("[a-c].pem", "B.PEM")] {
        assert!(matches(glob, Reach::Wide, Case::Ignored, path), "{glob} on {path}");
        assert!(!matches(glob, Reach::Wide, Case::Exact, path), "{glob} on {path}");
    }
}

#[test]
fn names_of_any_bytes_match() {
    let pattern = PathPattern::parse("**/*.pem").unwrap();
    let index = PathIndex::new(&[(&pattern, Reach::Wide)], Case::Exact).unwrap();
    assert_eq!(index.first(b"d\xff/\xfe\n.pem"), Some(0));
}

#[test]
fn globs_that_cannot_be_meant_are_refused() {
    let rows = [
        "",
        "a**",
        "**a",
        "a/**b",
        "a/../b",
        "..",
        "[",
        "[a",
        "[]",
        "[z-a]",
        "[/]",
        "!a",
        "{1..9}",
        "{a..z}",
        "[[:alhpa:]]",
        "{a",
        "a}",
        "{a/**,b}",
        "a/",
        "a\\",
        "a\0b",
    ];
    for bad in rows {
        assert!(Glob::parse(bad).is_err(), "{bad:?}");
    }
    assert!(Glob::parse(&"*".repeat(10_000)).is_err());
    assert!(Glob::parse(&"{".repeat(100)).is_err());
    assert!(Glob::parse(&"{a,".repeat(50)).is_err());
}

#[test]
fn hosts() {
    for row in rows(include_str!("vectors/hosts.jsonl")) {
        let mut index = HostIndex::default();
        let mut effects = Vec::new();
        for rule in row["rules"].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()) {
            let (text, effect) =
                rule.strip_prefix('!').map_or((rule, Effect::Allow), |text| (text, Effect::Deny));
            if let Ok(pattern) = HostPattern::parse(text) {
                index.add(effects.len(), &pattern, effect);
                effects.push(effect);
            }
        }
        let mut strictest = None;
        if let Ok(endpoint) = Endpoint::parse(text(&row, "host"), 443) {
            index.matches(&endpoint, |id| strictest = strictest.max(Some(effects[id])));
        }
        let expected = row["allow"].as_bool().unwrap();
        assert_eq!(strictest == Some(Effect::Allow), expected, "{}: {}", row["id"], row["note"]);
    }
}

#[test]
fn hosts_of_our_own() {
    let rows = [
        ("**.example.com", Effect::Allow, "example.com", true),
        ("*.example.com", Effect::Allow, "a.b.example.com", true),
        ("example.com:443", Effect::Allow, "example.com:80", false),
        ("example.com:443", Effect::Deny, "example.com:80", false),
        ("example.com", Effect::Allow, "a.example.com", false),
        ("example.com", Effect::Deny, "a.example.com", true),
        ("10.0.0.1", Effect::Allow, "::ffff:10.0.0.1", false),
        ("10.0.0.1", Effect::Deny, "::ffff:10.0.0.1", true),
        ("[::1]:80", Effect::Allow, "[::1]:80", true),
        ("re:[a-z]+\\.example\\.com", Effect::Allow, "abc.example.com", true),
        ("re:example", Effect::Allow, "example.com", true),
        ("re:^example$", Effect::Allow, "example.com", false),
    ];
    for (pattern, effect, host, expected) in rows {
        let mut index = HostIndex::default();
        index.add(0, &HostPattern::parse(pattern).unwrap(), effect);
        let mut hit = false;
        index.matches(&Endpoint::parse(host, 443).unwrap(), |_| hit = true);
        assert_eq!(hit, expected, "{effect:?} {pattern} on {host}");
    }
    for bad in [
        "*",
        "**",
        "*.*",
        "*.com",
        "*.co.uk",
        "**.uk",
        "a.*",
        "*.1.2.3.4",
        "*.",
        "http://a.b",
        "a.b/c",
        "re:(",
    ] {
        assert!(HostPattern::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn addresses() {
    for row in rows(include_str!("vectors/ips.jsonl")) {
        let verdict = match HostName::parse(text(&row, "address")) {
            Err(_) => "reject",
            Ok(host) if is_metadata(&host) || not_public(&host).is_some() => "deny",
            Ok(_) => "allow",
        };
        assert_eq!(verdict, text(&row, "verdict"), "{}: {}", row["id"], row["note"]);
    }
}
