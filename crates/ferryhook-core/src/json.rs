//! JSON that is only looked at: a flat list of marks over the text, no tree.
//!
//! Made for filters, which look at a few places of a body that has many. Reading allocates one
//! list and copies nothing; numbers stay as they were written, so that long ones never become
//! equal to their neighbours; what is escaped is unescaped when somebody asks for it. Nothing here
//! recurses deeper than [`DEPTH_MAX`], whatever a stranger sent.

mod compare;
mod number;
mod read;

use std::borrow::Cow;
use std::collections::HashMap;

pub use number::Decimal;

/// Lists and objects inside of each other. One more than other readers of JSON allow would make a
/// body pass here that the rest of the gateway cannot read.
pub const DEPTH_MAX: usize = 127;
/// Values and names of one text. A body of the largest size has up to five times as many if it is
/// made to; looking at it would take more memory than it is worth.
pub const NODES_MAX: usize = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotJson {
    #[error("not JSON: {1} at byte {0}")]
    Malformed(usize, &'static str),
    #[error("nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    #[error("more than {NODES_MAX} values")]
    TooLarge,
}

/// A text and where its values are.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    text: Cow<'a, str>,
    nodes: Vec<Node>,
}

/// An object has its names and values in turns, each name followed by its value.
#[derive(Debug, Clone, Copy)]
struct Node {
    kind: Mark,
    /// Where it is in the text; without the quotes if it is a text.
    at: u32,
    bytes: u32,
    /// The first node behind it and all that is in it.
    end: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Null,
    False,
    True,
    Number,
    Text,
    /// A text with backslashes in it.
    Escaped,
    List,
    Object,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Null,
    Bool,
    Number,
    Text,
    List,
    Object,
}

/// One value of a document.
#[derive(Debug, Clone, Copy)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    at: u32,
}

impl<'a> Document<'a> {
    pub fn read(text: impl Into<Cow<'a, str>>) -> Result<Self, NotJson> {
        let text = text.into();
        let nodes = read::nodes(&text)?;
        Ok(Self { text, nodes })
    }

    /// One text, whatever it says.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Result<Self, NotJson> {
        let text = text.into();
        let bytes = u32::try_from(text.len()).map_err(|_| NotJson::TooLarge)?;
        Ok(Self { text, nodes: vec![Node { kind: Mark::Text, at: 0, bytes, end: 1 }] })
    }

    /// An object of texts; a name that comes several times has the list of its values.
    pub fn fields<N: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Document<'static>, NotJson> {
        let mut grouped: Vec<(N, Vec<V>)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (name, value) in pairs {
            let next = grouped.len();
            let at = *known.entry(name.as_ref().to_owned()).or_insert(next);
            if at == next {
                grouped.push((name, Vec::with_capacity(1)));
            }
            grouped[at].1.push(value);
        }
        let mut made = Made::default();
        made.open(Mark::Object);
        for (name, values) in &grouped {
            made.text(name.as_ref())?;
            match &values[..] {
                [value] => made.text(value.as_ref())?,
                values => {
                    let list = made.open(Mark::List);
                    for value in values {
                        made.text(value.as_ref())?;
                    }
                    made.close(list);
                }
            }
        }
        made.close(0);
        Ok(Document { text: Cow::Owned(made.text), nodes: made.nodes })
    }

    pub fn root(&self) -> Value<'_> {
        Value { document: self, at: 0 }
    }
}

/// A document that is put together instead of read.
#[derive(Default)]
struct Made {
    text: String,
    nodes: Vec<Node>,
}

impl Made {
    fn open(&mut self, kind: Mark) -> usize {
        self.nodes.push(Node { kind, at: 0, bytes: 0, end: 0 });
        self.nodes.len() - 1
    }

    fn text(&mut self, text: &str) -> Result<(), NotJson> {
        if self.nodes.len() >= NODES_MAX {
            return Err(NotJson::TooLarge);
        }
        let short = |length: usize| u32::try_from(length).map_err(|_| NotJson::TooLarge);
        let (at, bytes) = (short(self.text.len())?, short(text.len())?);
        self.text.push_str(text);
        let end = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { kind: Mark::Text, at, bytes, end });
        Ok(())
    }

    fn close(&mut self, opened: usize) {
        self.nodes[opened].end = self.nodes.len() as u32;
    }
}

impl<'d> Value<'d> {
    pub fn kind(self) -> Kind {
        match self.node().kind {
            Mark::Null => Kind::Null,
            Mark::False | Mark::True => Kind::Bool,
            Mark::Number => Kind::Number,
            Mark::Text | Mark::Escaped => Kind::Text,
            Mark::List => Kind::List,
            Mark::Object => Kind::Object,
        }
    }

    /// Tells values of one document apart.
    pub fn place(self) -> u32 {
        self.at
    }

    #[cfg(test)]
    pub(crate) fn shares_document(self, other: Value<'_>) -> bool {
        std::ptr::addr_eq(self.document, other.document)
    }

    pub fn is_true(self) -> bool {
        self.node().kind == Mark::True
    }

    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.is_true())
    }

    pub fn as_text(self) -> Option<Cow<'d, str>> {
        match self.node().kind {
            Mark::Text => Some(Cow::Borrowed(self.written())),
            Mark::Escaped => Some(Cow::Owned(read::unescaped(self.written()))),
            _ => None,
        }
    }

    /// As it was written.
    pub fn as_number(self) -> Option<&'d str> {
        (self.node().kind == Mark::Number).then(|| self.written())
    }

    /// The elements of a list; nothing otherwise.
    pub fn items(self) -> Items<'d> {
        match self.node().kind {
            Mark::List => Items { document: self.document, at: self.at + 1, end: self.node().end },
            _ => Items { document: self.document, at: 0, end: 0 },
        }
    }

    /// The value of this name. When a name comes twice the last one counts, as it does for other
    /// readers.
    pub fn get(self, name: &str) -> Option<Value<'d>> {
        self.get_counting(name, &mut 0)
    }

    /// Counts the names that were looked at. Most names differ in length already.
    pub(crate) fn get_counting(self, name: &str, looked: &mut usize) -> Option<Value<'d>> {
        let Node { kind: Mark::Object, end, .. } = *self.node() else { return None };
        let (nodes, text) = (&self.document.nodes, self.document.text.as_bytes());
        let mut found = None;
        let mut at = self.at + 1;
        while at < end {
            let own = &nodes[at as usize];
            let written = own.at as usize..(own.at + own.bytes) as usize;
            let is_it = match own.kind {
                Mark::Text => written.len() == name.len() && text[written] == *name.as_bytes(),
                _ => Value { document: self.document, at }.is_text(name),
            };
            if is_it {
                found = Some(Value { document: self.document, at: at + 1 });
            }
            *looked += 1;
            at = nodes[at as usize + 1].end;
        }
        found
    }

    /// About how many bytes there are to look at.
    pub(crate) fn weight(self) -> usize {
        let Node { bytes, end, .. } = *self.node();
        (bytes as usize).max((end - self.at) as usize * 16)
    }

    pub fn item(self, index: usize) -> Option<Value<'d>> {
        self.items().nth(index)
    }

    /// How many elements or names there are, or how many characters in a text.
    pub fn size(self) -> Option<usize> {
        match self.kind() {
            Kind::Text => self.as_text().map(|text| text.chars().count()),
            Kind::List => Some(self.items().count()),
            Kind::Object => Some(self.members().len()),
            _ => None,
        }
    }

    /// The names of an object and their values, each name once and where it stood first.
    pub fn members(self) -> Vec<(Cow<'d, str>, Value<'d>)> {
        let mut members: Vec<(Cow<'d, str>, Value<'d>)> = Vec::new();
        let mut known: HashMap<Cow<'d, str>, usize> = HashMap::new();
        self.each_member(|own, value| {
            let name = own.as_text().unwrap_or_default();
            let next = members.len();
            // A map pays only for objects that are too large to be looked through.
            let at = if next < 16 {
                members.iter().position(|(known, _)| *known == name).unwrap_or(next)
            } else {
                if known.is_empty() {
                    known.extend(members.iter().enumerate().map(|(at, (n, _))| (n.clone(), at)));
                }
                *known.entry(name.clone()).or_insert(next)
            };
            match members.get_mut(at) {
                Some(member) => member.1 = value,
                None => members.push((name, value)),
            }
        });
        members
    }

    /// Every name as it comes, repeats included.
    fn each_member(self, mut visit: impl FnMut(Value<'d>, Value<'d>)) {
        let Node { kind: Mark::Object, end, .. } = *self.node() else { return };
        let mut at = self.at + 1;
        while at < end {
            let value = Value { document: self.document, at: at + 1 };
            visit(Value { document: self.document, at }, value);
            at = value.node().end;
        }
    }

    /// The first name that an object has twice.
    pub fn repeated_name(self) -> Option<Cow<'d, str>> {
        let mut known = std::collections::HashSet::new();
        let mut repeated = None;
        self.each_member(|own, _| {
            let name = own.as_text().unwrap_or_default();
            if !known.insert(name.clone()) && repeated.is_none() {
                repeated = Some(name);
            }
        });
        repeated
    }

    /// A copy that stands by itself. Of a document that was read, not put together.
    pub fn detached(self) -> Document<'static> {
        let node = *self.node();
        let start = node.at;
        let text = self.written().to_owned();
        let own = &self.document.nodes[self.at as usize..node.end as usize];
        let nodes = own
            .iter()
            .map(|node| Node { at: node.at - start, end: node.end - self.at, ..*node })
            .collect();
        Document { text: Cow::Owned(text), nodes }
    }

    fn is_text(self, text: &str) -> bool {
        match self.node().kind {
            Mark::Text => self.written() == text,
            Mark::Escaped => read::unescaped(self.written()) == text,
            _ => false,
        }
    }

    fn written(self) -> &'d str {
        let Node { at, bytes, .. } = *self.node();
        &self.document.text[at as usize..][..bytes as usize]
    }

    fn node(self) -> &'d Node {
        &self.document.nodes[self.at as usize]
    }
}

#[derive(Debug, Clone)]
pub struct Items<'d> {
    document: &'d Document<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Value<'d>> {
        if self.at >= self.end {
            return None;
        }
        let value = Value { document: self.document, at: self.at };
        self.at = value.node().end;
        Some(value)
    }
}

#[cfg(test)]
mod tests;
