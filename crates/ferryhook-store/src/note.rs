//! A line for the audit log that waits for the change it tells of.
//!
//! The next commit of the handle takes it along: both are written or neither is. It is written
//! once. A commit that fails gives it back, so that the next try tells it.

use std::sync::{Arc, Mutex, PoisonError};

use ferryhook_core::Activity;

/// Clones are the same note.
#[derive(Debug, Clone)]
pub(crate) struct Note(Arc<Mutex<Option<Activity>>>);

impl Note {
    pub(crate) fn new(activity: Activity) -> Self {
        Self(Arc::new(Mutex::new(Some(activity))))
    }

    /// Whoever takes it writes it, or gives it back.
    pub(crate) fn take(&self) -> Option<Activity> {
        self.lock().take()
    }

    pub(crate) fn give_back(&self, activity: Activity) {
        *self.lock() = Some(activity);
    }

    pub(crate) fn is_written(&self) -> bool {
        self.lock().is_none()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Activity>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
