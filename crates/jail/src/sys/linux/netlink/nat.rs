//! Rules of `nf_tables` that lead connections to the broker: one table, one chain, and a few rules for each family.

use super::{ACK, APPEND, Attributes, Batch, CREATE};
use crate::broker_network::{RESOLVER, RESOLVER_PORT, TRANSPARENT_PORT};
use std::net::{IpAddr, Ipv6Addr};

/// Name of the table.
const TABLE: &str = "ringfence";
/// Name of the chain.
const CHAIN: &str = "output";

/// The subsystem of netfilter, in the upper byte of the kind of a message.
const NF_TABLES: u16 = 10;
const NEW_TABLE: u16 = NF_TABLES << 8;
const NEW_CHAIN: u16 = NEW_TABLE | 3;
const NEW_RULE: u16 = NEW_TABLE | 6;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// The rules of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    const fn number(self) -> u8 {
        match self {
            Self::V4 => 2,
            Self::V6 => 10,
        }
    }

    /// Loopback addresses: the offset of the destination in a packet, and the bytes that it begins with.
    fn loopback(self) -> (u32, Vec<u8>) {
        match self {
            Self::V4 => (16, vec![127]),
            Self::V6 => (24, Ipv6Addr::LOCALHOST.octets().to_vec()),
        }
    }
}

/// Redirects the connections of a family that are not for a loopback address.
pub(crate) fn redirect(family: Family) -> Batch {
    let mut batch = Batch::default();
    border(&mut batch, BATCH_BEGIN);
    let header = [family.number(), 0, 0, 0];
    batch.message(NEW_TABLE, CREATE, &header, &Attributes::default().text(1, TABLE));
    batch.message(NEW_CHAIN, CREATE, &header, &chain());
    let rules = rules(family);
    for (rule, left) in rules.iter().zip((0..rules.len()).rev()) {
        let attributes = Attributes::default().text(1, TABLE).text(2, CHAIN).nested(4, &rule.0);
        // The answer to the last one comes when all of it is in force.
        let ack = if left == 0 { ACK } else { 0 };
        batch.message(NEW_RULE, CREATE | APPEND | ack, &header, &attributes);
    }
    border(&mut batch, BATCH_END);
    batch
}

/// The first or last message of what is done as a whole or not at all.
fn border(batch: &mut Batch, kind: u16) {
    let [high, low] = NF_TABLES.to_be_bytes();
    batch.message(kind, 0, &[0, 0, high, low], &Attributes::default());
}

/// A chain that sees the first packet of each connection that a process makes.
fn chain() -> Attributes {
    const LOCAL_OUT: u32 = 3;
    const PRIORITY: i32 = -100;
    let hook = Attributes::default().number(1, LOCAL_OUT).number(2, PRIORITY.cast_unsigned());
    Attributes::default().text(1, TABLE).text(3, CHAIN).nested(4, &hook).text(7, "nat")
}

fn rules(family: Family) -> Vec<Rule> {
    let (offset, loopback) = family.loopback();
    let stays = Rule::default().packet(Part::Network, offset, &loopback).accept();
    let redirected = Rule::default().protocol(TCP).redirect(TRANSPARENT_PORT);
    let names = |protocol| {
        let asked = Rule::default().protocol(protocol);
        asked.packet(Part::Transport, 2, &RESOLVER_PORT.to_be_bytes()).resolve()
    };
    match family {
        Family::V4 => vec![stays, names(UDP), names(TCP), redirected],
        // The resolver has no IPv6 address.
        Family::V6 => vec![stays, redirected],
    }
}

/// A part of a packet.
#[derive(Clone, Copy)]
enum Part {
    Network = 1,
    Transport = 2,
}

/// A rule: expressions, one after the other.
#[derive(Default)]
struct Rule(Attributes);

impl Rule {
    fn expression(self, name: &str, data: &Attributes) -> Self {
        let expression = Attributes::default().text(1, name).nested(2, data);
        Self(self.0.nested(1, &expression))
    }

    /// Goes on if the first register holds a value.
    fn equals(self, value: &[u8]) -> Self {
        const EQUAL: u32 = 0;
        let value = Attributes::default().with(1, value);
        self.expression("cmp", &Attributes::default().number(1, 1).number(2, EQUAL).nested(3, &value))
    }

    /// Goes on if a packet has a value at an offset.
    fn packet(self, part: Part, offset: u32, value: &[u8]) -> Self {
        let length = u32::try_from(value.len()).unwrap_or_default();
        let load =
            Attributes::default().number(1, 1).number(2, part as u32).number(3, offset).number(4, length);
        self.expression("payload", &load).equals(value)
    }

    /// Goes on if a packet is of a protocol.
    fn protocol(self, protocol: u8) -> Self {
        const L4_PROTOCOL: u32 = 16;
        self.expression("meta", &Attributes::default().number(1, 1).number(2, L4_PROTOCOL))
            .equals(&[protocol])
    }

    /// Loads a value into a register.
    fn load(self, register: u32, value: &[u8]) -> Self {
        let value = Attributes::default().with(1, value);
        self.expression("immediate", &Attributes::default().number(1, register).nested(2, &value))
    }

    /// Leaves the packet as it is.
    fn accept(self) -> Self {
        const ACCEPT: u32 = 1;
        let verdict = Attributes::default().nested(2, &Attributes::default().number(1, ACCEPT));
        self.expression("immediate", &Attributes::default().number(1, 0).nested(2, &verdict))
    }

    /// Redirects the packet to a port of the loopback.
    fn redirect(self, port: u16) -> Self {
        self.load(1, &port.to_be_bytes()).expression("redir", &Attributes::default().number(1, 1))
    }

    /// Redirects the packet to the resolver.
    fn resolve(self) -> Self {
        const DESTINATION: u32 = 1;
        let IpAddr::V4(address) = RESOLVER.ip() else { return self };
        let nat = Attributes::default().number(1, DESTINATION).number(2, Family::V4.number().into());
        let loaded = self.load(1, &address.octets()).load(2, &RESOLVER_PORT.to_be_bytes());
        loaded.expression("nat", &nat.number(3, 1).number(5, 2))
    }
}
