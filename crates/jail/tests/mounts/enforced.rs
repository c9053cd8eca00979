//! What is enforced is known before foreign code runs.

use jail::{Choice, JailError, Layer, Level, Require, hold};

use crate::place::{NATIVE, Place, REQUIRE, command, works};

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

/// Nobody can have more than there is; whoever asks for it gets nothing.
#[test]
fn less_than_required_is_refused() {
    if !works("a level that is not reached") {
        return;
    }
    let place = Place::new();
    let mut spec = place.spec(&[]);
    // Not bounded by anybody: no limit is asked for, so all of it is full, or a watchdog looks after it.
    spec.limits.memory = Some(1 << 30);
    let go = command(&["sh", "-c", "echo >ran"], &place.work());
    let reached = hold(NATIVE, &spec, &go).unwrap().enforcement().clone();
    for layer in Layer::ALL.into_iter().filter(|layer| reached.reached(*layer).level < Level::Full) {
        let mut strict = spec.clone();
        strict.require = REQUIRE.with(layer, Level::Full);
        let error = hold(NATIVE, &strict, &go).err().unwrap();
        let JailError::Below { layer: named, wanted, reached, gap } = &error else { panic!("{error}") };
        assert_eq!((*named, *wanted, *reached, gap.is_some()), (layer, Level::Full, Level::Partial, true));
        assert!(!place.path("work/ran").exists() && error.hint().unwrap().contains(layer.word()));
    }
    assert_eq!(children(), 0, "a process is left");
}

/// Where every provider falls short, the strongest says by how much.
#[test]
fn no_provider_is_better_than_all() {
    if !works("providers that fall short") {
        return;
    }
    let place = Place::new();
    let mut spec = place.spec(&[(&place.work(), jail::Mode::ReadOnly)]);
    spec.limits.memory = Some(1 << 30);
    spec.require = Require::FULL.with(Layer::Resources, Level::Full);
    let go = command(&["sh", "-c", "echo >ran"], &place.work());
    match hold(Choice::Auto, &spec, &go) {
        Ok(held) => assert_eq!(held.enforcement().below(&spec.require), None),
        Err(error) => assert!(matches!(error, JailError::Below { .. }), "{error}"),
    }
    assert!(!place.path("work/ran").exists());
}
