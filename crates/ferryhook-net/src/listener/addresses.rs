//! How many connections each address has, so that no single one takes all.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Default)]
pub(super) struct Addresses(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection's place, given back when it ends.
#[derive(Debug)]
pub(super) struct Place {
    addresses: Addresses,
    address: IpAddr,
}

impl Addresses {
    /// `None` when the address has `most` already.
    pub(super) fn enter(&self, address: IpAddr, most: usize) -> Option<Place> {
        let address = owner(address);
        let mut counts = self.counts();
        let count = counts.entry(address).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Place { addresses: self.clone(), address })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.addresses.counts();
        match counts.get_mut(&self.address) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(counts.remove(&self.address)),
        }
    }
}

/// Who has one address of a /64 has all of them.
fn owner(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share() {
        let addresses = Addresses::default();
        let enter = |text: &str| addresses.enter(text.parse().unwrap(), 2);
        let (first, second) = (enter("192.0.2.1"), enter("::ffff:192.0.2.1"));
        assert!(first.is_some() && second.is_some());
        assert!(enter("192.0.2.1").is_none());
        assert!(enter("192.0.2.2").is_some());
        drop(first);
        assert!(enter("192.0.2.1").is_some());
        let _both = (enter("2001:db8::1"), enter("2001:db8::2"));
        assert!(enter("2001:db8::3").is_none() && enter("2001:db8:0:1::1").is_some());
        drop((second, _both));
        assert!(addresses.counts().is_empty());
    }
}
