//! Writes scripts for init: system calls as data. `init/ops.rs` says what a script is.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::ops::{self, Header, Operation};
use super::report::SetupStep;
use crate::sys::linux::memory_file;

/// A number that init remembers: a descriptor, a process, a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Register(pub(crate) u16);

impl Register {
    /// The socket to the supervisor.
    pub(crate) const CONTROL: Self = Self(ops::CONTROL);

    /// One that came with the script, by its place.
    pub(crate) fn handle(place: usize) -> Self {
        Self(u16::try_from(ops::HANDLES.saturating_add(place)).unwrap_or(u16::MAX))
    }
}

/// An argument of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument {
    /// A number, or an address in the script.
    Value(u64),
    /// The value of a register.
    In(Register),
    /// The address of a register, for calls that take a number by its address.
    At(Register),
}

impl From<Register> for Argument {
    fn from(register: Register) -> Self {
        Self::In(register)
    }
}

impl From<u16> for Argument {
    fn from(value: u16) -> Self {
        Self::Value(value.into())
    }
}

impl From<u64> for Argument {
    fn from(value: u64) -> Self {
        Self::Value(value)
    }
}

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        Self::Value(value.into())
    }
}

impl From<i32> for Argument {
    fn from(value: i32) -> Self {
        Self::Value(i64::from(value).cast_unsigned())
    }
}

impl From<usize> for Argument {
    fn from(value: usize) -> Self {
        Self::Value(value as u64)
    }
}

/// The arguments of a call.
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => {
        [$($crate::sys::linux::init::script::Argument::from($argument)),*]
    };
}
pub(crate) use arguments;

/// A script that is being written.
pub(crate) struct Script {
    /// Number of the script among those that a process is given.
    number: u64,
    data: Vec<u8>,
    operations: Vec<Operation>,
    /// Steps that operations belong to, by the first of them.
    steps: Vec<(usize, SetupStep)>,
}

impl Script {
    /// The script that a process is given as its first (0), second and so on.
    pub(crate) fn new(number: u64) -> Self {
        Self {
            number,
            data: Vec::with_capacity(16 << 10),
            operations: Vec::with_capacity(256),
            steps: Vec::new(),
        }
    }

    /// Sets the step that the operations that follow belong to.
    pub(crate) fn step(&mut self, step: SetupStep) {
        self.steps.push((self.operations.len(), step));
    }

    /// Returns the step that an operation belongs to.
    pub(crate) fn step_of(&self, operation: u16) -> SetupStep {
        let before = self.steps.iter().rev().find(|(first, _)| *first <= usize::from(operation));
        before.map_or(SetupStep::Report, |(_, step)| *step)
    }

    /// Marks the operations that follow as done by the process that the script spawns.
    pub(crate) fn begin_spawned(&mut self) {
        let next = self.operations.len() as u64;
        let spawns = self.operations.iter_mut().filter(|operation| operation.kind == ops::SPAWN);
        spawns.for_each(|operation| operation.arguments[0] = next);
    }

    /// A system call.
    pub(crate) fn call<const N: usize>(&mut self, call: libc::c_long, arguments: [Argument; N]) -> Added<'_> {
        let added = self.add(ops::CALL, arguments);
        added.0.call = u32::try_from(call).unwrap_or(u32::MAX);
        added
    }

    /// A system call that has to fail; for any reason, unless some are named.
    pub(crate) fn refused<const N: usize>(
        &mut self,
        call: libc::c_long,
        arguments: [Argument; N],
    ) -> Added<'_> {
        let added = self.call(call, arguments);
        added.0.kind = ops::REFUSED;
        added
    }

    /// An operation of init's own. Its arguments are as `ops` says: registers by their numbers.
    pub(crate) fn add<const N: usize>(&mut self, kind: u16, arguments: [Argument; N]) -> Added<'_> {
        let mut operation = Operation {
            kind,
            result: 0,
            condition: 0,
            registers: 0,
            call: 0,
            accepted: [0; 4],
            arguments: [0; 6],
        };
        let places = operation.arguments.iter_mut().zip(arguments).enumerate();
        for (at, (place, argument)) in places {
            (*place, operation.registers) = match argument {
                Argument::Value(value) => (value, operation.registers),
                Argument::In(register) => (register.0.into(), operation.registers | 1 << at),
                Argument::At(register) => (register.0.into(), operation.registers | ops::ADDRESS << at),
            };
        }
        self.operations.push(operation);
        let last = self.operations.len() - 1;
        Added(&mut self.operations[last])
    }

    /// The address of bytes, aligned for every structure.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> u64 {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
        let address = self.address();
        self.data.extend(bytes);
        address
    }

    /// The address of numbers.
    pub(crate) fn words(&mut self, words: &[u64]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.bytes(&bytes)
    }

    /// The address of a text.
    pub(crate) fn text(&mut self, text: &CStr) -> u64 {
        let address = self.address();
        self.data.extend(text.to_bytes_with_nul());
        address
    }

    /// The address of a list of texts, ended by null.
    pub(crate) fn texts(&mut self, texts: &[CString]) -> u64 {
        let mut addresses: Vec<u64> = texts.iter().map(|text| self.text(text)).collect();
        addresses.push(0);
        self.words(&addresses)
    }

    fn address(&self) -> u64 {
        ops::BASE + self.number * ops::SPACING + (size_of::<Header>() + self.data.len()) as u64
    }

    /// The script as a file that can no longer be changed.
    pub(crate) fn file(&self) -> Result<OwnedFd, Errno> {
        let begin = (size_of::<Header>() + self.data.len()).next_multiple_of(8);
        let size = begin + self.operations.len() * size_of::<Operation>();
        if size as u64 > ops::SPACING || self.operations.len() > usize::from(u16::MAX) {
            return Err(Errno::TOOBIG);
        }
        let mut bytes = Vec::with_capacity(size);
        bytes.extend([begin as u64, self.operations.len() as u64].map(u64::to_ne_bytes).as_flattened());
        bytes.extend(&self.data);
        bytes.resize(begin, 0);
        self.operations.iter().for_each(|operation| encode(operation, &mut bytes));
        memory_file::sealed(&bytes)
    }
}

/// An operation as init has it in memory.
fn encode(operation: &Operation, bytes: &mut Vec<u8>) {
    let Operation { kind, result, condition, registers, call, accepted, arguments } = operation;
    bytes.extend([*kind, *result, *condition, *registers].map(u16::to_ne_bytes).as_flattened());
    bytes.extend(call.to_ne_bytes());
    bytes.extend(accepted.map(u16::to_ne_bytes).as_flattened());
    bytes.extend([0; 4]);
    bytes.extend(arguments.map(u64::to_ne_bytes).as_flattened());
}

/// An operation that was added, to say more about it.
pub(crate) struct Added<'a>(&'a mut Operation);

impl Added<'_> {
    /// Sets the register that its result goes to.
    pub(crate) fn into(self, register: Register) {
        self.0.result = register.0;
    }

    /// It is done only if a register holds more than 0.
    pub(crate) fn only_if(self, register: Register) -> Self {
        self.0.condition = register.0;
        self
    }

    /// Errors that are no failure: four at most.
    pub(crate) fn accept(self, errors: &[Errno]) -> Self {
        let numbers = errors.iter().map(|errno| u16::try_from(errno.raw_os_error()).unwrap_or(u16::MAX));
        self.0.accepted.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        self
    }

    /// Every error is what was expected.
    pub(crate) fn accept_any(self) -> Self {
        self.0.accepted[0] = ops::ANY;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_the_layout_that_init_reads() {
        let mut bytes = Vec::new();
        let operation = Operation {
            kind: 1,
            result: 2,
            condition: 3,
            registers: 4,
            call: 5,
            accepted: [6, 7, 8, 9],
            arguments: [10, 11, 12, 13, 14, 15],
        };
        encode(&operation, &mut bytes);
        assert_eq!(bytes.len(), size_of::<Operation>());
        assert_eq!(std::mem::offset_of!(Operation, arguments), 24);
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        assert_eq!([0, 2, 4, 6, 8, 12, 14, 16, 18, 24].map(word), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn a_failure_is_told_by_what_it_belongs_to() {
        let mut script = Script::new(0);
        for part in [SetupStep::Lifeline, SetupStep::Namespaces] {
            script.step(part);
            script.call(libc::SYS_getpid, []);
            script.call(libc::SYS_getpid, []);
        }
        let rows = [
            (0, SetupStep::Lifeline),
            (1, SetupStep::Lifeline),
            (2, SetupStep::Namespaces),
            (9, SetupStep::Namespaces),
        ];
        for (operation, part) in rows {
            assert_eq!(script.step_of(operation), part);
        }
    }
}
