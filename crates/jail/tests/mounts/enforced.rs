//! Enforcement is known before foreign code runs.

use policy::Code;
use ringfence_jail::{Choice, JailError, Layer, Level, Provider, Require, hold};

use crate::place::{NATIVE, Place, REQUIRE, command, works};
use crate::skip::skipped;

#[test]
fn nothing_runs_before_it_is_released() {
    if !works("a jail that is held") {
        return;
    }
    let place = Place::new();
    let held = hold(NATIVE, &place.spec(&[]), &command(&["sh", "-c", "echo >ran"], &place.work())).unwrap();
    for layer in Layer::ALL {
        assert!(held.enforcement().reached(layer).level >= REQUIRE.least(layer), "{layer}");
    }
    drop(held);
    assert!(!place.path("work/ran").exists());
    assert_eq!(children(), 0, "a process is left");
}

/// Children of this thread. Tests that run beside this one have threads of their own.
fn children() -> usize {
    let path = format!("/proc/self/task/{}/children", rustix::thread::gettid().as_raw_nonzero());
    std::fs::read_to_string(path).unwrap().split_whitespace().count()
}

/// No caller can have more than there is; one that asks for it gets nothing.
#[test]
fn less_than_required_is_refused() {
    let place = Place::new();
    let mut spec = place.spec(&[]);
    // The mechanism that bounds memory depends on the machine, and on the caller.
    spec.limits.memory = Some(1 << 30);
    spec.require = ANYTHING;
    let go = command(&["sh", "-c", "echo >ran"], &place.work());
    for provider in Provider::ALL {
        let Ok(held) = hold(Choice::Only(provider), &spec, &go) else {
            skipped(&format!("less than required by {}", provider.word()), "it does not work here");
            continue;
        };
        let reached = held.enforcement().clone();
        drop(held);
        for layer in Layer::ALL.into_iter().filter(|layer| reached.reached(*layer).level < Level::Full) {
            let mut strict = spec.clone();
            strict.require = ANYTHING.with(layer, Level::Full);
            let error = match hold(Choice::Only(provider), &strict, &go) {
                Err(error) => error,
                Ok(held) => panic!("{layer} by {}: {:?}", provider.word(), held.enforcement()),
            };
            let JailError::Below { layer: named, wanted, reached: level, gap } = &error else {
                panic!("{error}")
            };
            assert_eq!((*named, *wanted, *level), (layer, Level::Full, reached.reached(layer).level));
            assert!(gap.is_some() && error.hint().unwrap().contains(layer.word()), "{error}");
            assert_eq!(error.code(), Code::JailBelowRequired);
        }
    }
    assert!(!place.path("work/ran").exists());
    assert_eq!(children(), 0, "a process is left");
}

/// No layer has to be there.
const ANYTHING: Require = Require::FULL
    .with(Layer::Files, Level::None)
    .with(Layer::Network, Level::None)
    .with(Layer::Syscalls, Level::None)
    .with(Layer::Processes, Level::None)
    .with(Layer::Resources, Level::None);

/// If every provider falls short, the strongest says by how much.
#[test]
fn no_provider_is_better_than_all() {
    if !works("providers that fall short") {
        return;
    }
    let place = Place::new();
    let mut spec = place.spec(&[(&place.work(), ringfence_jail::Mode::ReadOnly)]);
    spec.limits.memory = Some(1 << 30);
    spec.require = Require::FULL.with(Layer::Resources, Level::Full);
    let go = command(&["sh", "-c", "echo >ran"], &place.work());
    match hold(Choice::Auto, &spec, &go) {
        Ok(held) => assert_eq!(held.enforcement().below(&spec.require), None),
        Err(error) => assert!(matches!(error, JailError::Below { .. }), "{error}"),
    }
    assert!(!place.path("work/ran").exists());
}
