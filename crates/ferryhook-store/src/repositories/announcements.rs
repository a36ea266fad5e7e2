//! What Ferryhook has to say, as it is written: an event of the account's own source, and a
//! notification for each who should know. It goes into the commit of what it tells about, so that
//! it is said exactly if that happened.

use ferryhook_core::{Event, Notification};

use crate::batch::Batch;

#[derive(Debug, Clone, Default)]
pub struct Announcement {
    /// Absent where nobody but people should hear of it.
    pub event: Option<Event>,
    pub notifications: Vec<Notification>,
}

impl Batch {
    pub(crate) fn announcing(self, announcement: &Announcement) -> Self {
        let with = |batch: Batch, one: &Notification| batch.insert(one);
        let batch = announcement.notifications.iter().fold(self, with);
        match &announcement.event {
            Some(event) => batch.insert(event),
            None => batch,
        }
    }
}
