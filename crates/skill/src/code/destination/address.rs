//! Addresses in every form that programs read.

use std::net::{IpAddr, Ipv4Addr};

/// The address that a host is, however its numbers are written: `134744072`, `0x8080808`, `010.8.8.8`, `127.1`.
pub(super) fn read(host: &str) -> Option<IpAddr> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Some(mapped(address));
    }
    if !host.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let parts: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 255) {
        return None;
    }
    // The last number fills all bytes that are left.
    let left = 4 - u32::try_from(first.len()).ok()?;
    if left < 4 && *last >= 1 << (8 * left) {
        return None;
    }
    let high = first.iter().zip([24, 16, 8]).fold(0, |all, (part, shift)| all | part << shift);
    Some(IpAddr::V4(Ipv4Addr::from(high | last)))
}

/// An address of version 4 within one of version 6 is that address.
fn mapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn number(text: &str) -> Option<u32> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u32::from_str_radix(hex, 16).ok();
    }
    match text.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u32::from_str_radix(octal, 8).ok(),
        _ => text.parse().ok(),
    }
}
