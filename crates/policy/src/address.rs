//! Which hosts lie on the public network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::host::HostName;
use crate::tables::hosts::{LOCAL_NAMES, LOCAL_SUFFIXES, METADATA_ADDRESSES, METADATA_NAMES, RANGES};

/// Returns true if a host is a cloud metadata service, which hands out credentials to every process that asks.
#[must_use]
pub fn is_metadata(host: &HostName) -> bool {
    match host {
        HostName::Name(name) => METADATA_NAMES.contains(&&**name),
        HostName::Address(address) => METADATA_ADDRESSES.contains(&effective(*address)),
    }
}

/// Why a host is not on the public network; `None` when it may be.
///
/// A name is only judged by its spelling here: the code that resolves it judges the addresses again.
#[must_use]
pub fn not_public(host: &HostName) -> Option<&'static str> {
    match host {
        HostName::Name(name) => local_name(name),
        HostName::Address(address) => reserved(effective(*address)),
    }
}

fn local_name(name: &str) -> Option<&'static str> {
    if LOCAL_NAMES.contains(&name) || LOCAL_SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
        return Some("a name that stays on this machine or site");
    }
    (!name.contains('.')).then_some("a name without a domain: what it means depends on the machine")
}

fn reserved(address: IpAddr) -> Option<&'static str> {
    RANGES.iter().find(|(network, prefix, _)| contains(*network, *prefix, address)).map(|(_, _, why)| *why)
}

/// The IPv4 address that a translator would make of this one, or the address itself.
///
/// `64:ff9b::8.8.8.8` is as public as `8.8.8.8`, and `64:ff9b::127.0.0.1` as private as `127.0.0.1`.
fn effective(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => embedded(v6).map_or(address, IpAddr::V4),
    }
}

fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let high = |a: u16, b: u16| Some(Ipv4Addr::from((u32::from(a) << 16) | u32::from(b)));
    match address.segments() {
        // Mapped, stateless translation, NAT64 with the well-known prefix, 6to4.
        [0, 0, 0, 0, 0, 0xffff, a, b]
        | [0, 0, 0, 0, 0xffff, 0, a, b]
        | [0x64, 0xff9b, 0, 0, 0, 0, a, b]
        | [0x2002, a, b, ..] => high(a, b),
        _ => None,
    }
}

fn contains(network: IpAddr, prefix: u8, address: IpAddr) -> bool {
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            same_prefix(u32::from(network).into(), u32::from(address).into(), 32, prefix)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            same_prefix(network.into(), address.into(), 128, prefix)
        }
        _ => false,
    }
}

fn same_prefix(network: u128, address: u128, bits: u32, prefix: u8) -> bool {
    let shift = bits - u32::from(prefix);
    network.checked_shr(shift).unwrap_or(0) == address.checked_shr(shift).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_and_not() {
        let rows = [
            ("93.184.216.34", true),
            ("172.32.0.1", true),
            ("100.63.255.255", true),
            ("100.128.0.1", true),
            ("2606:4700::1111", true),
            ("2001:200::1", true),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::8.8.8.8", true),
            ("2002:808:808::1", true),
            ("example.com", true),
            ("localhost.example.com", true),
            ("127.0.0.1", false),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("172.31.255.255", false),
            ("192.168.0.1", false),
            ("169.254.1.1", false),
            ("100.64.0.1", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::127.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b:1::1", false),
            ("2002:7f00:1::", false),
            ("2001::1", false),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", false),
            ("2001:0:7f00:1::", false),
            ("::ffff:0:127.0.0.1", false),
            ("::ffff:0:8.8.8.8", true),
            ("64:ff9b:1::8.8.8.8", false),
            ("2002:c0a8:101::1", false),
            ("fc00::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("localhost", false),
            ("a.localhost", false),
            ("printer.local", false),
            ("intranet", false),
            ("db.internal", false),
        ];
        for (host, public) in rows {
            assert_eq!(not_public(&HostName::parse(host).unwrap()).is_none(), public, "{host}");
        }
    }

    #[test]
    fn metadata_in_every_spelling() {
        let rows = [
            "169.254.169.254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::",
            "fd00:ec2::254",
        ];
        for host in rows.into_iter().chain(["metadata.google.internal", "METADATA.google.internal."]) {
            assert!(is_metadata(&HostName::parse(host).unwrap()), "{host}");
        }
        assert!(!is_metadata(&HostName::parse("169.254.1.1").unwrap()));
    }
}
