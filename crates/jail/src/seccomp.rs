//! Which system calls the kernel refuses inside a jail: reviewed rows, compiled to classic BPF.
//!
//! Everything is allowed except what a row refuses and what has not been reviewed: calls of a foreign ABI end the process, numbers
//! above the highest reviewed one do not exist. `docs/reference/seccomp.md` lists the rows.
//!
//! **Invariant.** The filter judges numbers, never what stands behind a pointer: the program could change that after the
//! judgement. A call whose power stands behind a pointer is refused whole.
//!
//! **Invariant.** Pure: the program is made from tables alone, so that every machine can test every machine's program.

mod abi;
mod brokered_syscalls;
mod program;
mod reference;
mod row;
mod table;

#[cfg(test)]
mod tests;

pub use abi::Abi;
pub use program::Instruction;
pub use reference::reference;

use row::Row;

/// Which sockets a process may make. That depends on what a socket could reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// The jail has namespaces of its own: local and internet sockets reach what was put there.
    Namespaced,
    /// No namespaces and no network: only pairs of connected streams, which can never be pointed elsewhere.
    Refused,
    /// No namespaces, the host's network opened on purpose: internet sockets, but still none that reach a daemon of the
    /// host by path.
    Internet,
}

/// The filter of a jail.
#[must_use]
pub fn filter(abi: Abi, sockets: Sockets) -> Vec<Instruction> {
    program::compile(abi, &rows(sockets))
}

/// Which calls a listener hears of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotifyOptions {
    /// Those that make a name or open a file for writing: the listener does them itself.
    pub kept: bool,
    /// Programs started, files opened, addresses called: to explain what is refused.
    pub observed: bool,
}

/// A filter that has calls told to a listener.
///
/// It stands beside [`filter`] and softens nothing: the kernel takes the strictest answer of all filters, so that a refusal stays
/// a refusal, unseen by the listener.
#[must_use]
pub fn listen(abi: Abi, heard: NotifyOptions) -> Vec<Instruction> {
    let parts = [(heard.kept, brokered_syscalls::BROKERED), (heard.observed, table::OBSERVED)];
    let rows = parts.into_iter().filter(|(wanted, _)| *wanted).flat_map(|(_, rows)| rows);
    program::compile(abi, &rows.collect::<Vec<_>>())
}

/// The rows that make up a filter, in the order in which they are asked.
fn rows(sockets: Sockets) -> Vec<&'static Row> {
    let parts: &[&'static [Row]] = match sockets {
        Sockets::Namespaced => &[table::ALWAYS, table::NAMESPACED, table::INTERNET],
        Sockets::Refused => &[table::ALWAYS, table::SHARED, table::REFUSED],
        Sockets::Internet => &[table::ALWAYS, table::SHARED, table::OPENED, table::INTERNET],
    };
    parts.iter().copied().flatten().collect()
}
