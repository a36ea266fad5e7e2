//! What came of calling hooks: gathered in memory, written to their records now and then. A hook
//! that nobody answers at is turned off, and one that says it is gone at once.

use ferryhook_core::operational::Operational;
use ferryhook_core::{Hook, Id, Timestamp, limits};
use ferryhook_store::{StoreError, Stored};

use super::Call;
use crate::courier::{Courier, lock};
use crate::limits::CONFLICT_TRIES_MAX;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calls {
    /// Since the last success, or since they were last written.
    failures: u32,
    any_success: bool,
    last_status: u16,
    last_at: Timestamp,
    /// What was called about is something that Ferryhook itself has said.
    of_ours: bool,
}

impl Courier {
    pub(super) fn count_call(&self, call: Call) {
        let inner = self.inner();
        let mut calls = lock(&inner.signals.calls);
        let calls = calls.entry(call.hook).or_default();
        calls.last_at = inner.now().wall;
        calls.last_status = call.status;
        calls.of_ours = call.of_ours;
        match call.succeeded {
            true => (calls.failures, calls.any_success) = (0, true),
            false => calls.failures = calls.failures.saturating_add(1),
        }
    }

    pub(crate) async fn flush_calls(&self) {
        let calls = std::mem::take(&mut *lock(&self.inner().signals.calls));
        for (hook, calls) in calls {
            if let Err(error) = self.write_calls(hook, calls).await {
                tracing::warn!(%error, hook.id = %hook, "the calls of a hook were not counted");
            }
        }
    }

    async fn write_calls(&self, id: Id<Hook>, calls: Calls) -> Result<(), StoreError> {
        let hooks = self.inner().store.hooks();
        for _ in 0..CONFLICT_TRIES_MAX {
            let Some(was) = hooks.find(id).await? else { return Ok(()) };
            let before = if calls.any_success { 0 } else { was.failure_count };
            let now = Hook {
                last_response_code: Some(calls.last_status).filter(|status| *status > 0),
                last_called_at: Some(calls.last_at),
                failure_count: before.saturating_add(calls.failures),
                ..was.record.clone()
            };
            if now.failure_count >= limits::HOOK_FAILURES_MAX && now.is_active {
                let reason = format!("the last {} calls failed", now.failure_count);
                return self.turn_off(&was, now, reason, calls.of_ours).await;
            }
            match hooks.replace(&was, now).await {
                Err(error) if error.is_refused() => {}
                other => return other.map(drop),
            }
        }
        Ok(())
    }

    /// The one who was called said that they are gone for good.
    pub(crate) async fn unsubscribe(&self, call: Call) {
        let hooks = self.inner().store.hooks();
        let Some(Some(was)) = self.inner().until_stored(|| hooks.find(call.hook)).await else {
            return;
        };
        if !was.is_active {
            return;
        }
        let now = Hook {
            last_response_code: Some(call.status),
            last_called_at: Some(self.inner().now().wall),
            failure_count: was.failure_count.saturating_add(1),
            ..was.record.clone()
        };
        let reason = "it answered 410 Gone".to_owned();
        if let Err(error) = self.turn_off(&was, now, reason, call.of_ours).await {
            tracing::warn!(%error, hook.id = %call.hook, "cannot be turned off");
        }
    }

    async fn turn_off(
        &self,
        was: &Stored<Hook>,
        now: Hook,
        reason: String,
        of_ours: bool,
    ) -> Result<(), StoreError> {
        let (id, account) = (was.id, was.account_id);
        let now = Hook {
            is_active: false,
            status_reason: Some(reason.clone()),
            updated_at: self.inner().now().wall,
            ..now
        };
        // What fails while Ferryhook speaks of itself is not spoken of; people are told.
        let said = Operational::hook_disabled(&now, &reason);
        let prepared = self.prepare(account, &said, !of_ours).await?;
        match self.inner().store.hooks().disable(was, &now, &prepared.announcement).await {
            Ok(()) => {
                tracing::warn!(hook.id = %id, account.id = %account, reason, "a hook was turned off");
                self.hooks_changed(account).await;
                self.announced(prepared);
                Ok(())
            }
            // Somebody changed it; the next call decides again.
            Err(error) if error.is_refused() => Ok(()),
            Err(error) => Err(error),
        }
    }
}
