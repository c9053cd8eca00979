//! Routes that make every address local.

use std::net::IpAddr;

use super::{ACK, Attributes, Batch, CREATE};

/// The interface of the loopback: the first of every network namespace.
const LOOPBACK: u32 = 1;

/// Makes every address of a family local. `source` is the address from which connections to them come.
pub(crate) fn everything_is_local(source: IpAddr) -> Batch {
    const NEW_ROUTE: u16 = 24;
    const OUTPUT_INTERFACE: u16 = 4;
    const PREFERRED_SOURCE: u16 = 7;
    const TABLE_LOCAL: u8 = 255;
    const MADE_BY_BOOT: u8 = 3;
    const SCOPE_HOST: u8 = 254;
    const TYPE_LOCAL: u8 = 2;
    let (family, address) = match source {
        IpAddr::V4(address) => (libc::AF_INET, address.octets().to_vec()),
        IpAddr::V6(address) => (libc::AF_INET6, address.octets().to_vec()),
    };
    let family = u8::try_from(family).unwrap_or_default();
    let header = [family, 0, 0, 0, TABLE_LOCAL, MADE_BY_BOOT, SCOPE_HOST, TYPE_LOCAL, 0, 0, 0, 0];
    let attributes = Attributes::default()
        .with(OUTPUT_INTERFACE, &LOOPBACK.to_ne_bytes())
        .with(PREFERRED_SOURCE, &address);
    let mut batch = Batch::default();
    batch.message(NEW_ROUTE, CREATE | ACK, &header, &attributes);
    batch
}
