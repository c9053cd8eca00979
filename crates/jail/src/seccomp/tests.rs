//! The programs, run by an interpreter of our own, on both ABIs.

mod interpreter;
mod numbers;
mod paths;
mod vectors;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::program::{Instruction, compile};
use super::row::{Answer, Call, Errno, Half, Is, Row, Test, call, none_of, one_of};
use super::{Abi, NotifyOptions, Sockets, filter, listen, rows, table};
use interpreter::{Input, check, run};
use vectors::{Vector, vectors};

const PROFILES: [Sockets; 3] = [Sockets::Namespaced, Sockets::Refused, Sockets::Internet];

#[test]
fn every_vector_is_answered_as_expected() {
    for abi in Abi::ALL {
        for sockets in PROFILES {
            assert_eq!(
                wrong(&filter(abi, sockets), abi, &vectors(abi, sockets)),
                [""; 0],
                "{abi:?} {sockets:?}"
            );
        }
    }
}

/// The vectors that a program answers otherwise than expected.
fn wrong(program: &[Instruction], abi: Abi, vectors: &[Vector]) -> Vec<String> {
    let differs = |vector: &&Vector| differs(program, abi, vector);
    vectors.iter().filter(differs).map(|vector| vector.text.clone()).collect()
}

fn differs(program: &[Instruction], abi: Abi, vector: &Vector) -> bool {
    run(program, &vector.input(abi)) != vector.expected.value()
}

/// Takes away one call, one test or one value after the other: each time some vector of some profile must notice.
#[test]
fn nothing_in_the_table_is_there_for_nothing() {
    for abi in Abi::ALL {
        let noticed: Vec<_> = PROFILES.into_iter().flat_map(|sockets| noticed(abi, sockets)).collect();
        let names = |wanted| noticed.iter().filter(move |(_, it)| *it || wanted).map(|(what, _)| what);
        let (all, seen): (BTreeSet<_>, BTreeSet<_>) = (names(true).collect(), names(false).collect());
        assert!(all.len() > 150, "{}", all.len());
        assert_eq!(all.difference(&seen).collect::<Vec<_>>(), [&""; 0], "{abi:?}: nobody misses these");
    }
}

/// Every mutant of one filter, and whether a vector notices it.
fn noticed(abi: Abi, sockets: Sockets) -> Vec<(String, bool)> {
    let (rows, vectors) = (rows(sockets), vectors(abi, sockets));
    let judge = |(place, (what, mutant)): (usize, (String, &'static Row))| {
        let mut changed = rows.clone();
        changed[place] = mutant;
        let program = compile(abi, &changed);
        let name = format!("{what}, in the row: {}", mutant.because);
        (name, vectors.iter().any(|vector| differs(&program, abi, vector)))
    };
    mutants(abi, &rows).into_iter().map(judge).collect()
}

fn mutants(abi: Abi, rows: &[&'static Row]) -> Vec<(usize, (String, &'static Row))> {
    let of_row = |(place, row): (usize, &&'static Row)| {
        let all = fewer_calls(abi, row).into_iter().chain(fewer_tests(row)).chain(fewer_values(row));
        all.map(move |mutant| (place, mutant)).collect::<Vec<_>>()
    };
    rows.iter().enumerate().filter(|(_, row)| born(row, abi)).flat_map(of_row).collect()
}

fn born(row: &Row, abi: Abi) -> bool {
    row.calls.iter().any(|call| call.number(abi).is_some())
}

fn fewer_calls(abi: Abi, row: &'static Row) -> Vec<(String, &'static Row)> {
    let there = (0..row.calls.len()).filter(|&index| row.calls[index].number(abi).is_some());
    there
        .map(|index| (row.calls[index].name.to_owned(), with(row, without(row.calls, index), row.when)))
        .collect()
}

fn fewer_tests(row: &'static Row) -> Vec<(String, &'static Row)> {
    let without = |index| with(row, row.calls, without(row.when, index));
    (0..row.when.len()).map(|index| (format!("the test: {}", row.when[index].text), without(index))).collect()
}

fn fewer_values(row: &'static Row) -> Vec<(String, &'static Row)> {
    let of_test = |(index, test): (usize, &Test)| {
        let (Is::OneOf(values) | Is::NoneOf(values)) = test.is;
        // The last value of a list is the test itself.
        let values = if values.len() > 1 { values } else { &[] };
        let mutant = |place| {
            let mut when = row.when.to_vec();
            when[index].is = match test.is {
                Is::OneOf(_) => Is::OneOf(without(values, place)),
                Is::NoneOf(_) => Is::NoneOf(without(values, place)),
            };
            (format!("the value {:#x} of: {}", values[place], test.text), with(row, row.calls, when.leak()))
        };
        (0..values.len()).map(mutant).collect::<Vec<_>>()
    };
    row.when.iter().enumerate().flat_map(of_test).collect()
}

/// Rows are `'static`; a test may leak what the system takes back a moment later.
fn without<T: Copy + 'static>(all: &[T], index: usize) -> &'static [T] {
    let mut rest = all.to_vec();
    rest.remove(index);
    rest.leak()
}

fn with(row: &Row, calls: &'static [Call], when: &'static [Test]) -> &'static Row {
    Box::leak(Box::new(Row { calls, when, answer: row.answer, because: row.because }))
}

#[test]
fn the_kernel_takes_the_programs() {
    for abi in Abi::ALL {
        let filters = PROFILES.map(|sockets| filter(abi, sockets));
        for program in filters.iter().chain([&listen(abi, NotifyOptions { kept: false, observed: true })]) {
            println!("{abi:?}: {} instructions", program.len());
            assert_eq!(check(program), Ok(()));
        }
    }
}

#[test]
fn every_row_has_calls_and_a_reason_and_no_empty_list() {
    for row in PROFILES.into_iter().flat_map(rows).chain(table::OBSERVED) {
        assert!(!row.calls.is_empty() && row.because.len() > 10, "{}", row.because);
        assert!(!row.because.ends_with('.') && !row.because.contains('|'), "{}", row.because);
        for test in row.when {
            let (Is::OneOf(values) | Is::NoneOf(values)) = test.is;
            assert!(
                !values.is_empty() && values.iter().all(|value| value & !test.mask == 0),
                "{}",
                test.text
            );
        }
    }
}

#[test]
fn the_observer_tells_and_never_decides() {
    let rows: Vec<&Row> = table::OBSERVED.iter().collect();
    assert!(rows.iter().all(|row| row.answer == Answer::Notify));
    let null = [0; 6];
    let low = [0, 0, 0, 0, 0x1000, 0];
    let high = [0, 0, 0, 0, 0x7f00_0000_0000, 0];
    let expected = [
        ("execve", null, Answer::Notify),
        ("execveat", null, Answer::Notify),
        ("openat", null, Answer::Notify),
        ("connect", null, Answer::Notify),
        ("sendto", null, Answer::Allow),
        ("sendto", low, Answer::Notify),
        ("sendto", high, Answer::Notify),
    ];
    for abi in Abi::ALL {
        for (name, arguments, answer) in expected {
            let call = rows.iter().flat_map(|row| row.calls).find(|call| call.name == name).unwrap();
            let input = Input::new(abi, call.number(abi).unwrap(), arguments);
            assert_eq!(
                run(&listen(abi, NotifyOptions { kept: false, observed: true }), &input),
                answer.value(),
                "{abi:?} {name}"
            );
        }
    }
}

/// Rows so many and so long that no comparison could skip them.
#[test]
fn far_jumps_land() {
    const MANY: &[u32] = &[1; 300];
    let wide = Row {
        calls: &[const { call("wide", 100, 100) }],
        when: &[const { none_of(0, MANY, "") }, const { one_of(1, &[7], "") }],
        answer: Answer::Kill,
        because: "",
    };
    let rows = [&wide];
    for abi in Abi::ALL {
        let program = compile(abi, &rows);
        assert_eq!(check(&program), Ok(()));
        for number in [0, 99, 100, 101, 243, u32::MAX] {
            for arguments in [[0, 7], [1, 7], [0, 6], [1, 6]] {
                let input = Input::new(abi, number, [arguments[0], arguments[1], 0, 0, 0, 0]);
                assert_eq!(run(&program, &input), by_hand(abi, &rows, &input).value());
            }
        }
    }
}

/// The meaning of rows, without a program.
fn by_hand(abi: Abi, rows: &[&Row], input: &Input) -> Answer {
    if input.abi != abi.word() {
        return Answer::Kill;
    }
    let holds = |row: &&&Row| {
        row.calls.iter().any(|call| call.number(abi) == Some(input.number))
            && row.when.iter().all(|test| test_holds(test, input))
    };
    let span = || abi.spans().iter().rfind(|span| span.first <= input.number).unwrap().answer;
    rows.iter().find(holds).map_or_else(span, |row| row.answer)
}

fn test_holds(test: &Test, input: &Input) -> bool {
    let bytes = match test.half {
        Half::Low(index) => &input.arguments[index as usize].to_le_bytes()[..4],
        Half::High(index) => &input.arguments[index as usize].to_le_bytes()[4..],
    };
    let half = u32::from_le_bytes(bytes.try_into().unwrap()) & test.mask;
    match test.is {
        Is::OneOf(values) => values.contains(&half),
        Is::NoneOf(values) => !values.contains(&half),
    }
}

/// Compiled once: the laws below ask thousands of times.
static FILTERS: LazyLock<Vec<(Abi, Sockets, Vec<Instruction>)>> = LazyLock::new(|| {
    let of_abi = |abi| PROFILES.map(|sockets| (abi, sockets, filter(abi, sockets)));
    Abi::ALL.into_iter().flat_map(of_abi).collect()
});

fn compiled(abi: Abi, sockets: Sockets) -> &'static [Instruction] {
    let found = FILTERS.iter().find(|(its_abi, its_sockets, _)| (*its_abi, *its_sockets) == (abi, sockets));
    &found.unwrap().2
}

fn any_abi() -> impl Strategy<Value = Abi> {
    prop::sample::select(&Abi::ALL[..])
}

/// Numbers and arguments near those that matter, and anything.
fn any_input() -> impl Strategy<Value = (u32, [u64; 6])> {
    let number = prop_oneof![8 => 0..480_u32, 1 => any::<u32>(), 1 => 0x3fff_fff0..0x4000_0200_u32];
    let known: Vec<u64> = PROFILES
        .into_iter()
        .flat_map(rows)
        .flat_map(|row| row.when)
        .flat_map(|test| match test.is {
            Is::OneOf(values) | Is::NoneOf(values) => values.iter().copied().chain([test.mask]),
        })
        .flat_map(|value| [u64::from(value), u64::from(value) | 1 << 32, u64::from(value) + 1])
        .collect();
    let argument = prop_oneof![4 => prop::sample::select(known), 1 => Just(0), 1 => any::<u64>()];
    (number, prop::array::uniform6(argument))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_program_means_what_the_rows_say(
        abi in any_abi(), sockets in prop::sample::select(&PROFILES[..]), (number, arguments) in any_input()
    ) {
        let input = Input::new(abi, number, arguments);
        prop_assert_eq!(run(compiled(abi, sockets), &input), by_hand(abi, &rows(sockets), &input).value());
    }

    #[test]
    fn another_abi_is_killed(abi in any_abi(), word in any::<u32>(), (number, arguments) in any_input()) {
        prop_assume!(word != abi.word());
        let input = Input { abi: word, ..Input::new(abi, number, arguments) };
        prop_assert_eq!(run(compiled(abi, Sockets::Namespaced), &input), Answer::Kill.value());
        prop_assert_eq!(run(&listen(abi, NotifyOptions { kept: false, observed: true }), &input), Answer::Kill.value());
    }

    /// A filter that compares what the kernel throws away can be walked around: CVE-2019-10063.
    #[test]
    fn the_high_half_never_softens_an_answer(
        abi in any_abi(), sockets in prop::sample::select(&PROFILES[..]), (number, arguments) in any_input(),
        high in any::<u32>()
    ) {
        let program = compiled(abi, sockets);
        let low = arguments.map(|argument| argument & u64::from(u32::MAX));
        let wide = low.map(|argument| argument | u64::from(high) << 32);
        let [narrow, wide] = [low, wide].map(|arguments| run(program, &Input::new(abi, number, arguments)));
        prop_assert!(narrow == wide || wide == Answer::Refuse(Errno::Perm).value());
    }
}
