//! Cursors: where a list goes on, in a form that only we can make.
//!
//! What a cursor holds is the store's key of the last row seen. It is signed together with the
//! operation, the account and the filters of its list, so that it leads nowhere else: not into
//! another tenant's list, and not behind a filter it never passed.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ferryhook_core::{Account, Id};
use ferryhook_store::{Cursor, Page as Rows};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits;
use crate::page::Page;
use crate::problem::Problem;

const TAG_BYTES: usize = 16;

/// Makes and reads the cursors of this installation.
#[derive(Debug, Clone)]
pub struct Cursors(hmac::Key);

/// The list that a cursor belongs to.
#[derive(Debug, Clone)]
pub struct List {
    key: hmac::Key,
    /// What is signed with each cursor.
    scope: Vec<u8>,
}

impl Cursors {
    pub fn new(key: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// `filter` is whatever decides which rows are in the list, and in which order.
    pub fn of(&self, operation: &str, account: Id<Account>, filter: &impl Serialize) -> List {
        let filter = serde_json::to_vec(filter).unwrap_or_default();
        let scope = [operation.as_bytes(), b"\n", account.as_str().as_bytes(), b"\n", &filter];
        List { key: self.0.clone(), scope: scope.concat() }
    }
}

impl List {
    /// Where to go on, if the client has been here before.
    pub fn open(&self, cursor: Option<&str>) -> Result<Option<Cursor>, Problem> {
        let Some(text) = cursor else { return Ok(None) };
        let read = self.read_text(text).and_then(|text| Cursor::from_text(&text));
        read.map(Some).ok_or_else(not_ours)
    }

    /// The same with what was said when the list was begun.
    pub fn open_with<T: DeserializeOwned>(
        &self,
        cursor: Option<&str>,
    ) -> Result<Option<(Cursor, T)>, Problem> {
        let Some(text) = cursor else { return Ok(None) };
        let read = self.read_text(text).and_then(|text| {
            let (begun, place): (T, String) = serde_json::from_str(&text).ok()?;
            Some((Cursor::from_text(&place)?, begun))
        });
        read.map(Some).ok_or_else(not_ours)
    }

    /// A page of views, made of a page of rows.
    pub fn page<R, T>(&self, rows: Rows<R>, view: impl FnMut(R) -> T) -> Page<T> {
        let cursor = rows.next.as_ref().map(|next| self.write(next));
        let has_more = cursor.is_some();
        Page { data: rows.rows.into_iter().map(view).collect(), has_more, cursor }
    }

    pub fn write(&self, cursor: &Cursor) -> String {
        self.write_text(&cursor.to_text())
    }

    /// With something that every page of the list has to know, such as when it was begun.
    pub fn write_with<T: Serialize>(&self, cursor: &Cursor, begun: &T) -> String {
        self.write_text(&serde_json::json!([begun, cursor.to_text()]).to_string())
    }

    fn write_text(&self, text: &str) -> String {
        let mut bytes = self.tag(text)[..TAG_BYTES].to_vec();
        bytes.extend_from_slice(text.as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn read_text(&self, text: &str) -> Option<String> {
        if text.len() > limits::CURSOR_BYTES_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (tag, text) = bytes.split_at_checked(TAG_BYTES)?;
        let text = std::str::from_utf8(text).ok()?;
        let expected = self.tag(text);
        let is_ours =
            aws_lc_rs::constant_time::verify_slices_are_equal(tag, &expected[..TAG_BYTES]).is_ok();
        is_ours.then(|| text.to_owned())
    }

    fn tag(&self, text: &str) -> Vec<u8> {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(&self.scope);
        context.update(b"\n");
        context.update(text.as_bytes());
        context.sign().as_ref().to_vec()
    }
}

fn not_ours() -> Problem {
    let said = "is not one of this list with these filters; begin again without it";
    Problem::invalid("cursor", said)
}

#[cfg(test)]
mod tests;
