//! Netlink messages as bytes: built here, sent by init inside the jail's network.

pub(crate) mod nat;
pub(crate) mod route;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// A request.
pub(crate) const REQUEST: u16 = 1;
/// Asks for an acknowledgement.
pub(crate) const ACK: u16 = 4;
/// Makes something new.
pub(crate) const CREATE: u16 = 0x400;
/// Adds something at the end.
const APPEND: u16 = 0x800;
/// The kind of attribute that holds others.
const NESTED: u16 = 0x8000;

/// Messages that are sent at once, and how many of them are acknowledged.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) acks: u64,
}

impl Batch {
    /// Adds a message: its kind, its flags, the header of its family, and its attributes.
    pub(crate) fn message(&mut self, kind: u16, flags: u16, header: &[u8], attributes: &Attributes) {
        let length = 16 + header.len() + attributes.0.len();
        self.bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_ne_bytes());
        self.bytes.extend([kind, flags | REQUEST].map(u16::to_ne_bytes).as_flattened());
        // A number of the message and the sender; the kernel fills in the second.
        self.bytes.extend([0; 8]);
        self.bytes.extend(header);
        self.bytes.extend(&attributes.0);
        self.acks += u64::from(flags & ACK != 0);
    }
}

/// Sends messages from this process, and fails with the first error that they are answered with.
pub(crate) fn exchange(protocol: Protocol, batch: &Batch) -> Result<(), Errno> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(protocol))?;
    send(&socket, &batch.bytes, SendFlags::empty())?;
    for _ in 0..batch.acks {
        let mut answer = [0; 64];
        recv(&socket, &mut answer[..], RecvFlags::DONTWAIT)?;
        let [.., a, b, c, d] = *answer.first_chunk::<20>().ok_or(Errno::IO)?;
        let errno = i32::from_ne_bytes([a, b, c, d]);
        if errno != 0 {
            return Err(Errno::from_raw_os_error(-errno));
        }
    }
    Ok(())
}

/// A list of attributes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Attributes(Vec<u8>);

impl Attributes {
    /// With one more.
    pub(crate) fn with(mut self, kind: u16, value: &[u8]) -> Self {
        let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
        self.0.extend([length, kind].map(u16::to_ne_bytes).as_flattened());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// With one more: a number, in the byte order of the network.
    fn number(self, kind: u16, value: u32) -> Self {
        self.with(kind, &value.to_be_bytes())
    }

    /// With one more: a text.
    fn text(self, kind: u16, text: &str) -> Self {
        self.with(kind, &[text.as_bytes(), &[0]].concat())
    }

    /// With one more that holds others.
    fn nested(self, kind: u16, inner: &Self) -> Self {
        self.with(kind | NESTED, &inner.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_messages_are_counted() {
        let inner = Attributes::default().with(1, b"abc");
        assert_eq!(inner.0, [7, 0, 1, 0, b'a', b'b', b'c', 0]);
        let outer = Attributes::default().nested(2, &inner).number(3, 1);
        assert_eq!(outer.0, [12, 0, 2, 0x80, 7, 0, 1, 0, b'a', b'b', b'c', 0, 8, 0, 3, 0, 0, 0, 0, 1]);
        let mut batch = Batch::default();
        batch.message(16, 0, &[9; 4], &outer);
        batch.message(16, ACK, &[9; 4], &Attributes::default());
        assert_eq!((batch.bytes.len(), batch.acks), (40 + 20, 1));
        assert_eq!(&batch.bytes[..8], [40, 0, 0, 0, 16, 0, 1, 0]);
    }
}
