//! Patterns of policies: two ways to one answer, and containment.

use policy::{
    Argv, Case, CommandPattern, Effect, Endpoint, HostIndex, HostName, HostPattern, PathIndex, PathPattern,
    Pattern, Program, Reach, Word,
};

use crate::{parts, texts};

/// `PATTERN NUL NAME`: the automaton of many patterns agrees with the pattern alone, and samples match.
pub fn path_patterns(bytes: &[u8]) {
    let [text, name] = parts(bytes);
    let Ok(text) = std::str::from_utf8(text) else { return };
    if let Ok(pattern @ PathPattern::Glob(_)) = PathPattern::parse(text) {
        for reach in [Reach::Wide, Reach::Narrow] {
            let Ok(index) = PathIndex::new(&[(&pattern, reach)], Case::Exact) else { continue };
            assert_eq!(index.first(name).is_some(), pattern.matches(name, reach), "{text:?} on {name:?}");
            for sample in pattern.samples() {
                assert!(pattern.matches(sample.as_bytes(), reach), "{text:?} on its sample {sample:?}");
            }
        }
    }
    if let Ok(pattern) = Pattern::parse(text) {
        let _matches = pattern.matches(&String::from_utf8_lossy(name));
    }
}

/// `PATTERN NUL LINE`: a command that the pattern permits is restricted by the same pattern.
pub fn command_patterns(bytes: &[u8]) {
    let [text, line] = parts(bytes);
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(pattern) = CommandPattern::parse(text) else { return };
    let line = String::from_utf8_lossy(line);
    let given = Argv::new(line.split(' ').map(Word::literal).collect());
    for argv in given.into_iter().chain(pattern.sample()) {
        let program = Program::alone(argv, Some("/ws".into()));
        for pattern in [pattern.clone(), pattern.clone().exact()] {
            let permits = pattern.matches(&program, Effect::Allow);
            assert!(!permits || pattern.matches(&program, Effect::Deny), "{text:?} on {program:?}");
        }
    }
}

/// `PATTERN NUL PATTERN NUL NAME`: if one pattern is within another, it permits no name that the other does not restrict.
pub fn containment(bytes: &[u8]) {
    let Some([own, wide, name]) = texts(bytes) else { return };
    if let (Ok(own), Ok(wide)) = (PathPattern::parse(own), PathPattern::parse(wide))
        && own.is_within(&wide)
    {
        for name in own.samples().iter().map(String::as_str).chain([name]) {
            let escapes =
                own.matches(name.as_bytes(), Reach::Narrow) && !wide.matches(name.as_bytes(), Reach::Wide);
            assert!(!escapes, "{own:?} is not within {wide:?}: {name:?}");
        }
    }
    if let (Ok(own), Ok(wide)) = (Pattern::parse(own), Pattern::parse(wide))
        && own.is_within(&wide)
    {
        for name in own.sample().as_deref().into_iter().chain([name]) {
            assert!(!own.matches(name) || wide.matches(name), "{own:?} is not within {wide:?}: {name:?}");
        }
    }
    if let (Ok(own), Ok(wide)) = (HostPattern::parse(own), HostPattern::parse(wide))
        && own.is_within(&wide)
    {
        for endpoint in Endpoint::parse(name, 443).ok().into_iter().chain(own.sample()) {
            let escapes = reaches(&own, Effect::Allow, &endpoint) && !reaches(&wide, Effect::Deny, &endpoint);
            assert!(!escapes, "{own:?} is not within {wide:?}: {endpoint}");
        }
    }
    if let (Ok(own), Ok(wide)) = (CommandPattern::parse(own), CommandPattern::parse(wide))
        && own.is_within(&wide)
    {
        let given = Argv::new(name.split(' ').map(Word::literal).collect());
        for argv in given.into_iter().chain(own.sample()) {
            let program = Program::alone(argv, Some("/ws".into()));
            let escapes = own.matches(&program, Effect::Allow) && !wide.matches(&program, Effect::Deny);
            assert!(!escapes, "{own:?} is not within {wide:?}: {program:?}");
        }
    }
}

/// A host that was read reads again as itself, and a pattern matches its own sample.
pub fn hosts(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(host) = HostName::parse(text) {
        assert_eq!(HostName::parse(&host.to_string()), Ok(host.clone()));
        let _kinds = (policy::is_metadata(&host), policy::not_public(&host));
    }
    if let Ok(endpoint) = Endpoint::parse(text, 443) {
        assert_eq!(Endpoint::parse(&endpoint.to_string(), 1), Ok(endpoint));
    }
    if let Ok(pattern) = HostPattern::parse(text)
        && let Some(endpoint) = pattern.sample()
    {
        assert!(reaches(&pattern, Effect::Allow, &endpoint), "{text:?} does not match {endpoint}");
    }
}

fn reaches(pattern: &HostPattern, effect: Effect, endpoint: &Endpoint) -> bool {
    let (mut index, mut hit) = (HostIndex::default(), false);
    index.add(0, pattern, effect);
    index.matches(endpoint, |_| hit = true);
    hit
}
