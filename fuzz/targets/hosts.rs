//! Hosts: what is read reads again as itself, and a pattern matches its own sample.
#![no_main]

use libfuzzer_sys::fuzz_target;
use policy::{Effect, Endpoint, HostIndex, HostName, HostPattern};

fuzz_target!(|text: &str| {
    if let Ok(host) = HostName::parse(text) {
        assert_eq!(HostName::parse(&host.to_string()), Ok(host.clone()));
        policy::is_metadata(&host);
        policy::not_public(&host);
    }
    if let Ok(endpoint) = Endpoint::parse(text, 443) {
        assert_eq!(Endpoint::parse(&endpoint.to_string(), 1), Ok(endpoint));
    }
    if let Ok(pattern) = HostPattern::parse(text) {
        let mut index = HostIndex::default();
        index.add(0, &pattern, Effect::Allow);
        if let Some(endpoint) = pattern.sample() {
            let mut hit = false;
            index.matches(&endpoint, |_| hit = true);
            assert!(hit, "{text:?} does not match {endpoint}");
        }
    }
});
