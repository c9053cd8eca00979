//! The script of an init process: system calls as data. Written by the supervisor, read by init.
//!
//! A script is a file in memory that init maps read-only at an address that both know. So pointers in a script, also those
//! inside its data, are plain addresses, and nothing has to be relocated:
//!
//! ```text
//! Header | data: paths, structures, arrays of pointers | operations
//! ```

/// The address of the first script of a process. Nothing else is mapped there on any architecture that we know.
pub(crate) const BASE: u64 = 0x1_0000_0000;
/// The distance from one script to the next: more than arguments and environment of a command can be.
pub(crate) const SPACING: u64 = 0x1000_0000;
/// Maximum number of scripts that a process can be given.
pub(crate) const MOST_SCRIPTS: u64 = 8;

/// The beginning of a script.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Header {
    /// Offset of its operations, from the beginning of the script.
    pub(crate) operations: u64,
    /// Number of operations.
    pub(crate) count: u64,
}

/// One operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    /// Kind of operation: one of the constants below.
    pub(crate) kind: u16,
    /// The register that the result goes to; 0 for none.
    pub(crate) result: u16,
    /// A register that has to be other than 0 for this to be done; 0 for always.
    pub(crate) condition: u16,
    /// Which arguments are numbers of registers whose values are meant, by bit; from `ADDRESS` on, whose addresses are.
    pub(crate) registers: u16,
    /// The number of the system call.
    pub(crate) call: u32,
    /// Error numbers that are no failure; 0 where there are fewer.
    pub(crate) accepted: [u16; 4],
    /// The arguments.
    pub(crate) arguments: [u64; 6],
}

/// The bit of the first argument that is the number of a register whose address is meant.
pub(crate) const ADDRESS: u16 = 1 << 8;
/// Among accepted error numbers: every one.
pub(crate) const ANY: u16 = u16::MAX;

/// Makes a system call.
pub(crate) const CALL: u16 = 1;
/// Makes a system call that has to fail with one of the accepted errors.
pub(crate) const REFUSED: u16 = 2;
/// Fails unless a descriptor (1) is the object with this device (2) and inode (3).
pub(crate) const CHECK_IDENTITY: u16 = 3;
/// Lets a Landlock ruleset (1) allow what is beneath a descriptor (2) this access (3).
pub(crate) const GRANT: u16 = 4;
/// Asks for a signal (1) when the supervisor ends, and fails if it has ended already.
pub(crate) const LIFELINE: u16 = 5;
/// Closes every descriptor from 3 on but those in these registers.
pub(crate) const CLOSE_OTHERS: u16 = 6;
/// Sends a report (1) with the descriptors in as many registers (3) as are listed, as `u16`, at an address (2).
pub(crate) const SEND: u16 = 7;
/// Waits for the release message.
pub(crate) const WAIT: u16 = 8;
/// Executes the first program of a list (1) that is there, with arguments (2) and environment (3).
pub(crate) const START: u16 = 9;
/// Starts a process in the memory of this one that goes on at another operation (1), in a cgroup (2) if that is other than
/// -1; goes on itself when that process has executed something. If the kernel cannot put it there, the register (3) becomes 1.
pub(crate) const SPAWN: u16 = 10;
/// Becomes the process that reaps: forgets every script, reports the command (1), and ends with it.
pub(crate) const REAP: u16 = 11;
/// As `REAP` without a namespace of processes: ends everything below it first, which a file (2) lists.
pub(crate) const SUBREAP: u16 = 12;
/// Waits for the end of the supervisor and removes the directories of a list (1).
pub(crate) const REMOVE_DIRECTORIES: u16 = 13;
/// Sends bytes (2) of a length (3) over a netlink socket (1), and reads as many acknowledgements (4); the first error in them counts.
/// The result is 1.
pub(crate) const NETLINK: u16 = 14;

/// Number of registers. Each holds a descriptor or a small number.
pub(crate) const REGISTERS: usize = 1280;
/// The first of those that hold descriptors which came with a script, in their order.
pub(crate) const HANDLES: usize = 256;
/// Maximum number of descriptors that can come with a script.
pub(crate) const MOST_HANDLES: usize = REGISTERS - HANDLES;
/// Maximum number of descriptors in one message.
pub(crate) const HANDLES_AT_ONCE: usize = 253;

/// The register of the socket to the supervisor: descriptor 0 from the start.
pub(crate) const CONTROL: u16 = 1;
/// The register of a handle on the supervisor's process: descriptor 1 from the start.
pub(crate) const SUPERVISOR: u16 = 2;

/// The first byte of a message to init: descriptors, and more to come.
pub(crate) const MORE: u8 = b'+';
/// The last descriptor is a script, to be run with those before it.
pub(crate) const RUN: u8 = b'>';
/// Lets the command start.
pub(crate) const RELEASE: u8 = b'!';

/// The first byte of a report of init: an operation failed. Byte 1 is the number of the script, bytes 2 and 3 that of the
/// operation, the rest the error number; 0 if it had to fail and did not.
pub(crate) const FAILED: u8 = 1;
/// Descriptors come with this.
pub(crate) const HANDED: u8 = 2;
/// The command waits for its release.
pub(crate) const READY: u8 = 3;
/// The command could not be executed; bytes 4 to 7 are the error number.
pub(crate) const NOT_STARTED: u8 = 4;
/// The command was executed.
pub(crate) const STARTED: u8 = 5;
/// The command has changed; bytes 4 to 7 are its wait status.
pub(crate) const CHANGED: u8 = 6;
