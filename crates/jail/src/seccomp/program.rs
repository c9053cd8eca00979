//! Rows become a program of classic BPF: a search over the numbers, then the rows of one call.
//!
//! Every part ends in a return on every path and jumps only inside itself, so that parts are put together without moving a jump.

use std::collections::BTreeMap;

use super::Abi;
use super::abi::Span;
use super::row::{Answer, Half, Is, Row, Test};

/// One instruction, laid out as the kernel's `struct sock_filter`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// Operation code.
    pub code: u16,
    /// Number of instructions to skip when a comparison holds.
    pub jt: u8,
    /// Number of instructions to skip when it does not.
    pub jf: u8,
    /// The constant.
    pub k: u32,
}

impl Instruction {
    /// As the kernel has it in memory.
    #[must_use]
    pub fn bytes(self) -> [u8; 8] {
        let (code, k) = (self.code.to_ne_bytes(), self.k.to_ne_bytes());
        [code[0], code[1], self.jt, self.jf, k[0], k[1], k[2], k[3]]
    }
}

pub(super) fn compile(abi: Abi, rows: &[&Row]) -> Vec<Instruction> {
    // Another ABI gives numbers another meaning: nothing is known about such a call but that it goes around the filter.
    let foreign = [vec![load(ABI)], branch(EQUAL, abi.word(), 1, 0), vec![answer(Answer::Kill)]].concat();
    [foreign, vec![load(NUMBER)], search(&parts(abi, rows))].concat()
}

/// The program for all numbers from `first` up to the next part's.
struct Part {
    first: u32,
    code: Vec<Instruction>,
}

/// Every number belongs to exactly one part; neighbours differ.
fn parts(abi: Abi, rows: &[&Row]) -> Vec<Part> {
    let mut starts: BTreeMap<u32, Vec<Instruction>> =
        abi.spans().iter().map(|span| (span.first, vec![answer(span.answer)])).collect();
    for (number, mut code) in named(abi, rows) {
        code.push(unnamed(abi, number));
        starts.insert(number, code);
        if let Some(next) = number.checked_add(1) {
            starts.entry(next).or_insert_with(|| vec![unnamed(abi, next)]);
        }
    }
    let mut parts: Vec<_> = starts.into_iter().map(|(first, code)| Part { first, code }).collect();
    parts.dedup_by(|next, before| next.code == before.code);
    parts
}

/// The rows of every number that has some, in the order of the table. In ascending order: what follows a number is
/// overwritten if it has rows itself.
fn named(abi: Abi, rows: &[&Row]) -> BTreeMap<u32, Vec<Instruction>> {
    let mut named: BTreeMap<u32, Vec<Instruction>> = BTreeMap::new();
    for row in rows {
        let code = row_code(row);
        for number in row.calls.iter().filter_map(|call| call.number(abi)) {
            named.entry(number).or_default().extend(&code);
        }
    }
    named
}

/// Returns the answer for a number when no row answers.
fn unnamed(abi: Abi, number: u32) -> Instruction {
    let span = |span: &&Span| span.first <= number;
    answer(abi.spans().iter().rfind(span).map_or(Answer::Kill, |span| span.answer))
}

/// Answers if every test holds, otherwise ends where the next row begins.
fn row_code(row: &Row) -> Vec<Instruction> {
    row.when.iter().rev().fold(vec![answer(row.answer)], |rest, test| {
        [vec![load(place(test.half)), and(test.mask)], compare(test, rest.len()), rest].concat()
    })
}

/// Goes on if the test holds, otherwise skips `skip` more.
fn compare(test: &Test, skip: usize) -> Vec<Instruction> {
    let (values, equal, different) = match test.is {
        Is::OneOf(values) => (values, 0, skip),
        Is::NoneOf(values) => (values, skip, 0),
    };
    values.iter().rev().fold(Vec::new(), |later, &value| {
        let different = if later.is_empty() { different } else { 0 };
        [branch(EQUAL, value, later.len() + equal, different), later].concat()
    })
}

fn search(parts: &[Part]) -> Vec<Instruction> {
    match parts {
        [] => vec![answer(Answer::Kill)],
        [part] => part.code.clone(),
        _ => {
            let (low, high) = parts.split_at(parts.len() / 2);
            let first = high[0].first;
            let (low, high) = (search(low), search(high));
            [branch(AT_LEAST, first, low.len(), 0), low, high].concat()
        }
    }
}

/// Skips `yes` or `no` instructions. A comparison can skip 255; a jump without one can skip the rest.
fn branch(code: u16, k: u32, yes: usize, no: usize) -> Vec<Instruction> {
    match (u8::try_from(yes), u8::try_from(no)) {
        (Ok(jt), Ok(jf)) => vec![Instruction { code, jt, jf, k }],
        _ => vec![Instruction { code, jt: 0, jf: 1, k }, jump(yes.saturating_add(1)), jump(no)],
    }
}

fn jump(skip: usize) -> Instruction {
    // No program is that long; if one were, the kernel would refuse a jump past its end.
    plain(JUMP, u32::try_from(skip).unwrap_or(u32::MAX))
}

const fn load(place: u32) -> Instruction {
    plain(LOAD, place)
}

const fn and(mask: u32) -> Instruction {
    plain(AND, mask)
}

const fn answer(answer: Answer) -> Instruction {
    plain(RETURN, answer.value())
}

const fn plain(code: u16, k: u32) -> Instruction {
    Instruction { code, jt: 0, jf: 0, k }
}

/// Returns the offset of half an argument in `struct seccomp_data`. Every machine we know is little-endian: the low half comes first.
const fn place(half: Half) -> u32 {
    match half {
        Half::Low(index) => ARGUMENTS + 8 * index,
        Half::High(index) => ARGUMENTS + 8 * index + 4,
    }
}

const NUMBER: u32 = 0;
const ABI: u32 = 4;
const ARGUMENTS: u32 = 16;

// linux/bpf_common.h: class, size or operation, and source in one number.
pub(super) const LOAD: u16 = 0x20;
pub(super) const AND: u16 = 0x54;
pub(super) const JUMP: u16 = 0x05;
pub(super) const EQUAL: u16 = 0x15;
pub(super) const AT_LEAST: u16 = 0x35;
pub(super) const RETURN: u16 = 0x06;
