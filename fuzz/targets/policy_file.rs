//! Policy files: loading never panics, and a project file that loads allows nothing that was not allowed.
#![no_main]

use std::path::Path;

use config::{Places, Sample, Scope, Source, from_sources, lint, rows};
use libfuzzer_sys::fuzz_target;

const REQUESTS: &[&str] = &[
    "read src/a", "write src/a", "read .env", "read /etc/hosts", "write ringfence.toml", "connect a.com", "connect 10.0.0.1",
    "call exec", "call browser", "exec make",
];

fuzz_target!(|text: &str| {
    let home = Some("/home/me".into());
    let places = Places { workspace: "/ws".into(), state: home.clone(), home, run: None };
    let load = |scope| from_sources(vec![Source::new(scope, Path::new("p.toml"), text.to_owned())], &places);
    if let Ok(settings) = load(Scope::User) {
        lint(&settings);
        rows(&settings);
    }
    let Ok(narrow) = load(Scope::Project) else { return };
    let Ok(wide) = from_sources(vec![], &places) else { return };
    for line in REQUESTS {
        let Ok(sample) = Sample::parse(line, &places) else { continue };
        let (before, after) = (wide.decide(&sample.request()).effect(), narrow.decide(&sample.request()).effect());
        assert!(after >= before, "{line}: {before:?} became {after:?} by\n{text}");
    }
});
