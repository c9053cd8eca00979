//! Messages with descriptors over the socket to the supervisor.

use crate::arch::{self, number};
use crate::{EINTR, EMFILE, exit, ops, result};

/// A message with descriptors.
#[repr(C)]
pub(super) struct Message {
    text: [u8; 8],
    control: Control,
}

/// A control message as the kernel has it: length, level, type, descriptors.
#[repr(C, align(8))]
struct Control {
    length: usize,
    level: i32,
    kind: i32,
    handles: [i32; ops::HANDLES_AT_ONCE + 1],
}

#[repr(C)]
struct MessageHeader {
    name: usize,
    name_length: u32,
    text: usize,
    texts: usize,
    control: usize,
    control_length: usize,
    flags: i32,
}

const SOL_SOCKET: i32 = 1;
const SCM_RIGHTS: i32 = 1;
/// `MSG_CTRUNC`
const CTRUNC: i32 = 8;
/// The length of a control message without descriptors.
const EMPTY: usize = 16;

impl Message {
    pub(super) const fn new(text: [u8; 8]) -> Self {
        let handles = [-1; ops::HANDLES_AT_ONCE + 1];
        Self { text, control: Control { length: EMPTY, level: SOL_SOCKET, kind: SCM_RIGHTS, handles } }
    }

    pub(super) fn add(&mut self, handle: i32) {
        let at = (self.control.length - EMPTY) / 4;
        if let Some(place) = self.control.handles.get_mut(at) {
            *place = handle;
            self.control.length += 4;
        }
    }

    pub(super) fn send(&mut self, to: i32) -> Result<i32, i32> {
        const NOSIGNAL: usize = 0x4000;
        let length = if self.control.length > EMPTY { (self.control.length + 7) & !7 } else { 0 };
        self.exchange(number::SENDMSG, to, NOSIGNAL, length)
    }

    /// Receives a message. Returns how many bytes of text it has.
    fn receive(&mut self, from: i32) -> Result<i32, i32> {
        const CMSG_CLOEXEC: usize = 0x4000_0000;
        self.control.length = 0;
        self.exchange(number::RECVMSG, from, CMSG_CLOEXEC, size_of::<Control>())
    }

    fn exchange(
        &mut self,
        call: usize,
        socket: i32,
        flags: usize,
        control_length: usize,
    ) -> Result<i32, i32> {
        let text = [&raw mut self.text as usize, self.text.len()];
        let control = if control_length == 0 { 0 } else { &raw mut self.control as usize };
        let mut header = MessageHeader {
            name: 0,
            name_length: 0,
            text: &raw const text as usize,
            texts: 1,
            control,
            control_length,
            flags: 0,
        };
        // SAFETY: one `msghdr` that leads to one `iovec` and to a buffer for control messages, all of the sizes given.
        let moved =
            result(unsafe { arch::call(call, [socket as usize, &raw mut header as usize, flags, 0, 0, 0]) });
        // With too few descriptors left the kernel drops some of those that came.
        if header.flags & CTRUNC == 0 { moved } else { Err(EMFILE) }
    }

    /// The descriptors that came.
    fn handles(&self) -> &[i32] {
        let rights = self.control.level == SOL_SOCKET && self.control.kind == SCM_RIGHTS;
        let count = if rights { self.control.length.saturating_sub(EMPTY) / 4 } else { 0 };
        self.control.handles.get(..count).unwrap_or_default()
    }
}

/// Receives one message of the supervisor. Its descriptors are added to those that came before.
pub(super) fn receive_message(
    control: i32,
    registers: &mut [i32; ops::REGISTERS],
    count: &mut usize,
) -> Result<u8, i32> {
    let mut message = Message::new([0; 8]);
    loop {
        match message.receive(control) {
            Ok(length) if length > 0 => break,
            Err(EINTR) => {}
            // The supervisor is gone.
            Ok(_) => exit(0),
            Err(errno) => return Err(errno),
        }
    }
    for handle in message.handles() {
        if let Some(place) = registers.get_mut(ops::HANDLES + *count) {
            *place = *handle;
            *count += 1;
        }
    }
    Ok(message.text[0])
}
