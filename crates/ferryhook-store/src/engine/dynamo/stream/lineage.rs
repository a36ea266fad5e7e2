//! Which shards are to be read next: those whose parents have been read.
//!
//! A shard is closed after some hours, or when the table grows, and its children go on; a row's
//! changes are found in one line of shards. So whoever reads all parents before their children
//! hears of each row in order. Nothing here asks the server: it has told which shards there are.

use std::collections::BTreeSet;

use super::checkpoint::{Sequence, Spot, Spots};

/// By short names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shard {
    pub(super) name: String,
    /// Which may be gone by now.
    pub(super) parent: Option<String>,
    pub(super) first: Option<Sequence>,
    /// Only of one that is closed.
    pub(super) last: Option<Sequence>,
}

/// Something that was not read yet is no longer kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone;

/// Brings a place up to date. What was read to its end is replaced by its children, and shards
/// that nobody knew of are begun. Those with a spot are then to be read, and no others.
pub(super) fn settle(shards: &[Shard], mut spots: Spots) -> Result<Spots, Gone> {
    let is_there = |name: &str| shards.iter().any(|shard| shard.name == name);
    // One that was read may go, but where its children are gone as well nobody has read those.
    let is_missed = |(name, spot): (&String, &Spot)| {
        let has_followers = *spot == Spot::Over && children(shards, name).next().is_some();
        !is_there(name) && !has_followers
    };
    if spots.iter().any(is_missed) {
        return Err(Gone);
    }
    // Its children are among those that nobody has begun, below.
    spots.retain(|name, _| is_there(name));

    while let Some(ended) = ended_with_children(shards, &spots) {
        spots.remove(&ended);
        let begun = begun(shards, &spots);
        for child in children(shards, &ended).filter(|child| !begun.contains(&*child.name)) {
            spots.insert(child.name.clone(), Spot::Start);
        }
    }

    let known = begun(shards, &spots);
    let is_new = |shard: &&Shard| {
        !known.contains(&*shard.name)
            && !ancestors(shards, shard).any(|above| spots.contains_key(&above.name))
    };
    let new: Vec<_> = shards.iter().filter(is_new).collect();
    // Of several that follow each other only the first.
    let first = new
        .iter()
        .filter(|shard| !new.iter().any(|other| shard.parent.as_deref() == Some(&*other.name)));
    let first: Vec<_> = first.map(|shard| (shard.name.clone(), Spot::Start)).collect();
    spots.extend(first);
    Ok(spots)
}

/// Where one stands who has read everything up to a number. With several shards beside each other
/// the number alone cannot tell how far each of them was read: each is read from behind it.
pub(super) fn behind(shards: &[Shard], number: &Sequence) -> Result<Spots, Gone> {
    let begins_later = |shard: &Shard| shard.first.as_ref().is_some_and(|first| first > number);
    if shards.iter().all(begins_later) {
        return Err(Gone);
    }
    let before = shards.iter().filter(|shard| !begins_later(shard));
    let spots = before.map(|shard| {
        let spot = match &shard.last {
            Some(last) if last < number => Spot::Over,
            _ => Spot::After(number.clone()),
        };
        (shard.name.clone(), spot)
    });
    settle(shards, spots.collect())
}

/// Those without children. One of them that is closed may still get some.
pub(super) fn youngest(shards: &[Shard]) -> impl Iterator<Item = &Shard> {
    shards.iter().filter(|shard| children(shards, &shard.name).next().is_none())
}

/// A shard has ended and nobody knows what follows: the server may, by now.
pub(super) fn is_waiting(spots: &Spots) -> bool {
    spots.values().any(|spot| *spot == Spot::Over)
}

fn ended_with_children(shards: &[Shard], spots: &Spots) -> Option<String> {
    let mut ended = spots.iter().filter(|(_, spot)| **spot == Spot::Over).map(|(name, _)| name);
    ended.find(|name| children(shards, name).next().is_some()).cloned()
}

fn children<'a>(shards: &'a [Shard], name: &'a str) -> impl Iterator<Item = &'a Shard> {
    shards.iter().filter(move |shard| shard.parent.as_deref() == Some(name))
}

/// From the parent upwards, as far as they are still there.
fn ancestors<'a>(shards: &'a [Shard], shard: &'a Shard) -> impl Iterator<Item = &'a Shard> {
    let above = move |shard: &&'a Shard| {
        let parent = shard.parent.as_deref()?;
        shards.iter().find(|other| other.name == parent)
    };
    // A line cannot be longer than all of them, whatever the server says.
    std::iter::successors(above(&shard), above).take(shards.len())
}

/// What has a spot, and everything before it.
fn begun<'a>(shards: &'a [Shard], spots: &Spots) -> BTreeSet<&'a str> {
    let at = shards.iter().filter(|shard| spots.contains_key(&shard.name));
    at.flat_map(|shard| std::iter::once(shard).chain(ancestors(shards, shard)))
        .map(|shard| &*shard.name)
        .collect()
}

#[cfg(test)]
mod tests;
