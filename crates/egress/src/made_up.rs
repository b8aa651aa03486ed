//! Made-up addresses for names, so that programs which know no proxy can say by address which name they mean.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};

use crate::ranges::Cidr;

/// Which name has which address. An address is never given to a second name.
pub(crate) struct MadeUp {
    inner: Mutex<Inner>,
    /// The first address of the range, which no name gets.
    base: u32,
    limit: usize,
}

#[derive(Default)]
struct Inner {
    by_name: HashMap<String, u32>,
    /// The name of the address behind the first, that of the next address, and so on.
    names: Vec<String>,
}

impl MadeUp {
    /// Room for so many names, and for no more than the range has addresses; none in a range of IPv6.
    pub(crate) fn new(range: Cidr, limit: usize) -> Self {
        let (base, most) = match range.base() {
            IpAddr::V4(base) => {
                (base.to_bits(), (1_usize << (32 - range.length())).saturating_sub(2))
            }
            IpAddr::V6(_) => (0, 0),
        };
        Self { inner: Mutex::default(), base, limit: limit.min(most) }
    }

    /// The address of a name, the same each time; nothing if there is no room for another name.
    pub(crate) fn address_of(&self, name: &str) -> Option<Ipv4Addr> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&bits) = inner.by_name.get(name) {
            return Some(Ipv4Addr::from_bits(bits));
        }
        if inner.names.len() >= self.limit {
            return None;
        }
        inner.names.push(name.to_owned());
        let bits = self.base + u32::try_from(inner.names.len()).ok()?;
        inner.by_name.insert(name.to_owned(), bits);
        Some(Ipv4Addr::from_bits(bits))
    }

    /// The name that an address was made up for.
    pub(crate) fn name_of(&self, address: IpAddr) -> Option<String> {
        let IpAddr::V4(address) = address.to_canonical() else { return None };
        let index = address.to_bits().checked_sub(self.base)?.checked_sub(1)?;
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.names.get(usize::try_from(index).ok()?).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_address_and_no_other_gets_it() {
        let made_up = MadeUp::new("198.18.0.0/15".parse().unwrap(), 2);
        let a = made_up.address_of("a.test").unwrap();
        let b = made_up.address_of("b.test").unwrap();
        assert_ne!(a, b);
        assert_eq!(made_up.address_of("a.test"), Some(a));
        assert_eq!(made_up.address_of("c.test"), None);
        assert_eq!(made_up.name_of(a.into()).as_deref(), Some("a.test"));
        assert_eq!(made_up.name_of(a.to_ipv6_mapped().into()).as_deref(), Some("a.test"));
        for other in ["198.18.0.0", "198.18.0.3", "198.17.255.255", "10.0.0.1", "::1"] {
            assert_eq!(made_up.name_of(other.parse().unwrap()), None, "{other}");
        }
    }

    #[test]
    fn there_are_no_more_addresses_than_the_range_has() {
        let limit = |range: &str| MadeUp::new(range.parse().unwrap(), usize::MAX).limit;
        assert_eq!(limit("198.18.0.0/15"), (1 << 17) - 2);
        assert_eq!(limit("198.18.0.0/30"), 2);
        assert_eq!(limit("198.18.0.1"), 0);
        assert_eq!(limit("fd00::/64"), 0);
        assert_eq!(limit("0.0.0.0/0"), (1 << 32) - 2);
    }
}
