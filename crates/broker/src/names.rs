//! Synthetic addresses: one for every name that was looked up inside, so that a connection tells its name.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

use policy::HostName;

/// First address of 198.18.0.0/15, the network for benchmarks (RFC 2544), which no public host has.
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 0]);
/// Number of addresses in it.
const SIZE: u32 = 1 << 17;

/// Table of names and their synthetic addresses. Grows up to a limit and forgets nothing.
pub(crate) struct Names {
    limit: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    numbers: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

impl Names {
    pub(crate) fn new(limit: usize) -> Self {
        // The first and the last address stay unused.
        Self { limit: limit.min(SIZE as usize - 2), table: Mutex::default() }
    }

    /// Returns the address of a name, a new one if it has none; `None` if the table is full.
    pub(crate) fn address(&self, name: &str) -> Option<Ipv4Addr> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = table.numbers.get(name) {
            return Some(Ipv4Addr::from(FIRST + number));
        }
        if table.names.len() >= self.limit {
            return None;
        }
        table.names.push(name.into());
        let number = u32::try_from(table.names.len()).ok()?;
        table.numbers.insert(name.into(), number);
        Some(Ipv4Addr::from(FIRST + number))
    }

    /// Returns the name of a synthetic address.
    pub(crate) fn name(&self, address: Ipv4Addr) -> Option<HostName> {
        let number = u32::from(address).checked_sub(FIRST)?.checked_sub(1)?;
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.names.get(usize::try_from(number).ok()?).map(|name| HostName::Name(name.clone()))
    }
}

/// Returns true if an address is one of those that only stand for a name.
pub(crate) fn is_synthetic(address: Ipv4Addr) -> bool {
    (FIRST..FIRST + SIZE).contains(&u32::from(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_back_to_names() {
        let names = Names::new(2);
        let first = names.address("a.example").unwrap();
        assert_eq!(first, Ipv4Addr::new(198, 18, 0, 1));
        let second = names.address("b.example").unwrap();
        assert_eq!(names.address("a.example"), Some(first), "the same name again");
        assert_eq!(names.address("c.example"), None, "the table is full");
        assert_eq!(names.name(second), Some(HostName::Name("b.example".into())));
        for unknown in
            [Ipv4Addr::new(198, 18, 0, 0), Ipv4Addr::new(198, 18, 0, 3), Ipv4Addr::new(10, 0, 0, 1)]
        {
            assert_eq!(names.name(unknown), None, "{unknown}");
        }
        assert!(
            is_synthetic(Ipv4Addr::new(198, 19, 255, 255)) && !is_synthetic(Ipv4Addr::new(198, 20, 0, 0))
        );
    }
}
