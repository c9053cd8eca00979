//! The words of which the table is made.

use super::Abi;

/// One reviewed row: the answer to some calls when every test holds. The first row that holds answers.
pub(super) struct Row {
    pub(super) calls: &'static [Call],
    pub(super) when: &'static [Test],
    pub(super) answer: Answer,
    pub(super) because: &'static str,
}

/// Action of the kernel on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Allow,
    Notify,
    Refuse(Errno),
    Kill,
}

impl Answer {
    /// The value a filter returns (`SECCOMP_RET_*`).
    pub(super) const fn value(self) -> u32 {
        match self {
            Self::Allow => 0x7fff_0000,
            Self::Notify => 0x7fc0_0000,
            Self::Refuse(errno) => 0x0005_0000 | errno as u32,
            Self::Kill => 0x8000_0000,
        }
    }
}

/// Errors with which calls are refused; the numbers are the same on every machine we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Errno {
    Perm = 1,
    NotTty = 25,
    NoSys = 38,
    ProtoNoSupport = 93,
    AfNoSupport = 97,
}

/// One system call. A machine on which it was never born has no number for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) name: &'static str,
    x86_64: Option<u32>,
    aarch64: Option<u32>,
}

impl Call {
    pub(super) const fn number(&self, abi: Abi) -> Option<u32> {
        match abi {
            Abi::X86_64 => self.x86_64,
            Abi::Aarch64 => self.aarch64,
        }
    }
}

pub(super) const fn call(name: &'static str, x86_64: u32, aarch64: u32) -> Call {
    Call { name, x86_64: Some(x86_64), aarch64: Some(aarch64) }
}

/// A call with the same number everywhere, as all are since 424.
pub(super) const fn new(name: &'static str, number: u32) -> Call {
    call(name, number, number)
}

/// A call of x86 alone: older than the machines that number calls together.
pub(super) const fn x86(name: &'static str, number: u32) -> Call {
    Call { name, x86_64: Some(number), aarch64: None }
}

/// A question about one half of one argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub(super) half: Half,
    pub(super) mask: u32,
    pub(super) is: Is,
    /// The question in words, for the reference.
    pub(super) text: &'static str,
}

/// An argument is 64 bits wide and a filter reads 32. Most calls read an `int` and never see the high half: testing it would
/// open a way past the filter, because the kernel ignores what the filter compared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Half {
    Low(u32),
    High(u32),
}

/// Condition on the masked half. A list is never empty.
#[derive(Debug, Clone, Copy)]
pub(super) enum Is {
    OneOf(&'static [u32]),
    NoneOf(&'static [u32]),
}

pub(super) const fn one_of(index: u32, values: &'static [u32], text: &'static str) -> Test {
    Test { half: Half::Low(index), mask: u32::MAX, is: Is::OneOf(values), text }
}

pub(super) const fn none_of(index: u32, values: &'static [u32], text: &'static str) -> Test {
    Test { half: Half::Low(index), mask: u32::MAX, is: Is::NoneOf(values), text }
}

pub(super) const fn any_bit(index: u32, mask: u32, text: &'static str) -> Test {
    Test { half: Half::Low(index), mask, is: Is::NoneOf(&[0]), text }
}

pub(super) const fn any_high_bit(index: u32, text: &'static str) -> Test {
    Test { half: Half::High(index), mask: u32::MAX, is: Is::NoneOf(&[0]), text }
}

impl Test {
    pub(super) const fn masked(self, mask: u32) -> Self {
        Self { mask, ..self }
    }
}
