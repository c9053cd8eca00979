use std::fs::File;
use std::io::Write as _;

use super::*;

/// A command may have passed its streams on to a process that outlives it, such as a command in another jail.
#[test]
fn the_end_does_not_wait_for_whoever_else_writes() {
    let (ends, collectors) = Collectors::open(&Capture::keeping(100)).unwrap();
    let [_, output, _] = ends;
    let mut foreign = File::from(output);
    let writer = std::thread::spawn(move || while foreign.write_all(&[b'x'; 4096]).is_ok() {});
    let filled = |collectors: &Collectors| {
        let from = collectors.outputs[0].from.as_ref().unwrap();
        rustix::io::ioctl_fionread(from).unwrap() > 0
    };
    while !filled(&collectors) {
        std::thread::yield_now();
    }
    let [output, _] = collectors.finish();
    assert!(output.total > 0);
    writer.join().unwrap();
}

/// A command that writes without end is left alone after each turn.
#[test]
fn a_turn_has_an_end() {
    let (ends, mut collectors) = Collectors::open(&Capture::keeping(100)).unwrap();
    let [_, output, _] = ends;
    let mut endless = File::from(output);
    let writer = std::thread::spawn(move || while endless.write_all(&[b'x'; 4096]).is_ok() {});
    while collectors.outputs[0].total < 8 << 20 {
        let before = collectors.outputs[0].total;
        collectors.advance();
        assert!(collectors.outputs[0].total - before <= (TURN + (16 << 10)) as u64);
    }
    drop(collectors);
    writer.join().unwrap();
}
