//! Maps that are looked into many times for every event.
//!
//! Their hash is seeded by chance and takes a tenth of the time of the usual one, which withstands
//! more: what others may choose freely, and in numbers, is no key of these.

use std::collections::{HashMap, HashSet};

pub use foldhash::fast::RandomState;

pub type QuickMap<K, V> = HashMap<K, V, RandomState>;
pub type QuickSet<K> = HashSet<K, RandomState>;
