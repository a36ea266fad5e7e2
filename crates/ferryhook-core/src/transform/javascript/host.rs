//! The few functions of ours that a script can reach. None of them reaches outside.

use std::cell::RefCell;
use std::rc::Rc;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use rquickjs::{Array, Ctx, Exception, Function, Object};

use super::pieces::Needs;
use crate::Event;
use crate::signature::push_hex;
use crate::transform::limits::{CONSOLE_BYTES_MAX, CONSOLE_LINE_BYTES_MAX, CONSOLE_LINES_MAX};

/// What the script said. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Console(Rc<RefCell<Vec<String>>>);

impl Console {
    /// Keeps a line, while there is room. The last one says that there was more.
    fn keep(&self, mut line: String) {
        const MORE: &str = "… the rest was not kept";
        let mut lines = self.0.borrow_mut();
        let bytes: usize = lines.iter().map(String::len).sum();
        if lines.len() > CONSOLE_LINES_MAX || bytes > CONSOLE_BYTES_MAX {
            return;
        }
        if lines.len() == CONSOLE_LINES_MAX || bytes + line.len() > CONSOLE_BYTES_MAX {
            // Fills both bounds, so that this is said once.
            lines.resize(CONSOLE_LINES_MAX, String::new());
            lines.push(MORE.to_owned());
            return;
        }
        if line.len() > CONSOLE_LINE_BYTES_MAX {
            line.truncate(line.floor_char_boundary(CONSOLE_LINE_BYTES_MAX));
            line.push('…');
        }
        lines.push(line);
    }

    pub(super) fn take(&self) -> Vec<String> {
        let mut lines = self.0.take();
        lines.retain(|line| !line.is_empty());
        lines
    }
}

/// What the pieces are handed, as far as the script needs it.
pub(super) fn object<'js>(
    ctx: &Ctx<'js>,
    needs: Needs,
    event: &Event,
    console: &Console,
) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    if needs.dates {
        host.set("now", event.received_at.as_millis() as f64)?;
    }
    if needs.random {
        let seed = Array::new(ctx.clone())?;
        let hash = digest(&SHA256, event.id.as_str().as_bytes());
        for (place, bytes) in hash.as_ref().chunks_exact(4).take(4).enumerate() {
            let number = bytes.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte));
            seed.set(place, number.cast_signed())?;
        }
        host.set("seed", seed)?;
    }
    if needs.console {
        let console = console.clone();
        host.set("log", Function::new(ctx.clone(), move |line: String| console.keep(line))?)?;
    }
    if needs.helpers {
        helpers(ctx, &host, event)?;
    }
    Ok(host)
}

fn helpers<'js>(ctx: &Ctx<'js>, host: &Object<'js>, event: &Event) -> rquickjs::Result<()> {
    host.set(
        "sha256",
        Function::new(ctx.clone(), |text: String| hex(digest(&SHA256, text.as_bytes()).as_ref()))?,
    )?;
    host.set(
        "hmac",
        Function::new(ctx.clone(), |key: String, text: String| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
            hex(hmac::sign(&key, text.as_bytes()).as_ref())
        })?,
    )?;
    host.set(
        "atob",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| {
            let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            let bytes = STANDARD_NO_PAD.decode(text.trim_end_matches('='));
            let bytes =
                bytes.map_err(|_| Exception::throw_type(&ctx, "atob: this is not base64"))?;
            Ok::<_, rquickjs::Error>(bytes.into_iter().map(char::from).collect::<String>())
        })?,
    )?;
    host.set(
        "btoa",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| {
            let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
            let message = "btoa: characters beyond U+00FF; encode them first, with TextEncoder";
            let bytes = bytes.map_err(|_| Exception::throw_type(&ctx, message))?;
            Ok::<_, rquickjs::Error>(STANDARD.encode(bytes))
        })?,
    )?;
    let (id, counter) = (event.id, std::cell::Cell::new(0u32));
    host.set(
        "uuid",
        Function::new(ctx.clone(), move || {
            counter.set(counter.get().wrapping_add(1));
            uuid(id.as_str(), counter.get())
        })?,
    )?;
    Ok(())
}

/// Looks like a random one, and is the same whenever the same event asks for its nth.
fn uuid(id: &str, number: u32) -> String {
    let hash = digest(&SHA256, format!("uuid {number} of {id}").as_bytes());
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&hash.as_ref()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex(&bytes);
    format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    push_hex(&mut text, bytes);
    text
}
