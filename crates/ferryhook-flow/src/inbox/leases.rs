//! Leases: what was handed out lately, so that a reply to it need not read anything.
//!
//! Never more than a guess. What is written because of it is refused if the item or its event has
//! moved since, and then both are read.

use std::collections::{HashMap, VecDeque};
use std::mem::take;
use std::sync::Mutex;

use ferryhook_core::{Delivery, Event};
use ferryhook_store::Stored;

use super::moves::is_alone;
use super::{Item, name};
use crate::courier::lock;
use crate::limits;

#[derive(Debug, Default)]
pub(crate) struct Leases(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    items: HashMap<Item, (Stored<Delivery>, Stored<Event>)>,
    /// As they came, some of them gone by now.
    order: VecDeque<Item>,
}

impl Leases {
    /// Only where a reply can tell from these two alone where the event stands then. What the event
    /// carries is not kept.
    pub(super) fn remember(&self, item: Stored<Delivery>, event: &mut Stored<Event>) {
        if !is_alone(&item, event) {
            return;
        }
        let bare = without_content(event);
        let mut remembered = lock(&self.0);
        let Remembered { items, order } = &mut *remembered;
        while order.len() >= limits::INBOX_LEASES_REMEMBERED {
            order.pop_front().map(|oldest| items.remove(&oldest));
        }
        order.push_back(name(&item));
        items.insert(name(&item), (item, bare));
    }

    /// Once: whatever the reply comes to, the item is another one then.
    pub(super) fn take(&self, item: &Item) -> Option<(Stored<Delivery>, Stored<Event>)> {
        lock(&self.0).items.remove(item)
    }
}

/// Not what its sender has a say in, which may be large.
fn without_content(event: &mut Stored<Event>) -> Stored<Event> {
    let full = &mut event.record;
    let request = (full.path.take(), full.query.take(), full.content_type.take());
    let carried = (take(&mut full.headers), take(&mut full.body));
    let posted = (full.metadata.take(), full.payload.take());
    let bare = event.clone();
    let full = &mut event.record;
    (full.path, full.query, full.content_type) = request;
    (full.headers, full.body) = carried;
    (full.metadata, full.payload) = posted;
    bare
}
