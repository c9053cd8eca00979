//! Git objects: parsing them never panics, and produces nothing beyond its limit.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| jail::read_as_git_objects(bytes));
