//! What is known of one path, in samples. Stored as a plain list of numbers: there are hundreds of
//! them in a record.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::survey::Seen;
use crate::event_type::JsonType;
use crate::limits;

/// Nothing in here overflows: a count that is full stays so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field {
    /// Samples in which it was of this type, by [`JsonType`].
    types: [u32; 7],
    /// Since it is known: samples in which it was something, and in which it was nothing though it
    /// could have been there.
    present: u32,
    absent: u32,
    /// Samples in which its name was missing in at least one place.
    lacking: u32,
    /// The last of `absent`, in a row.
    missing: u32,
    /// How often it has been something since its types last changed.
    settled: u32,
    /// How often it has been an object since it last had a new name in it.
    quiet: u32,
    marks: u32,
}

/// It was told that it has vanished.
const TOLD: u32 = 1;
/// An object whose names mean nothing.
const OPEN: u32 = 2;

impl Field {
    /// As it was seen for the first time.
    pub(super) fn first(seen: &Seen, is_everywhere: bool) -> Self {
        let mut field = Self { lacking: u32::from(!is_everywhere), ..Self::default() };
        field.note_types(seen, true);
        match seen.is_something() {
            true => field.present = 1,
            false => field.absent = 1,
        }
        field
    }

    pub(super) fn types(&self) -> impl Iterator<Item = JsonType> + '_ {
        JsonType::ALL.into_iter().filter(|one| self.types[*one as usize] > 0)
    }

    /// As they are shown: an integer is a number.
    pub(in crate::event_type) fn shown_types(&self) -> Vec<JsonType> {
        let has_numbers = self.types[JsonType::Number as usize] > 0;
        self.types().filter(|one| !(has_numbers && *one == JsonType::Integer)).collect()
    }

    /// Wherever it could have been, it was.
    pub(in crate::event_type) fn is_required(&self) -> bool {
        self.lacking == 0
    }

    pub(in crate::event_type) fn is_open(&self) -> bool {
        self.marks & OPEN != 0
    }

    pub(super) fn open(&mut self) {
        self.marks |= OPEN;
    }

    /// Its types have been the same for long enough to be told from others.
    pub(super) fn is_settled(&self) -> bool {
        self.settled >= limits::TYPE_SETTLED_SAMPLES
    }

    /// The same for the names in it.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet >= limits::TYPE_SETTLED_SAMPLES
    }

    pub(super) fn was_object_before(&self) -> bool {
        // The sample at hand is among these.
        self.types[JsonType::Object as usize] > 1
    }

    pub(super) fn note_types(&mut self, seen: &Seen, is_new: bool) {
        for one in seen.types() {
            let count = &mut self.types[one as usize];
            *count = count.saturating_add(1);
        }
        match (is_new, seen.is_something()) {
            (true, _) => self.settled = 0,
            (false, true) => self.settled = self.settled.saturating_add(1),
            (false, false) => {}
        }
    }

    pub(super) fn note_key(&mut self, is_everywhere: bool) {
        self.lacking = self.lacking.saturating_add(u32::from(!is_everywhere));
    }

    /// Whether it has vanished with this sample.
    pub(super) fn note_presence(&mut self, is_present: bool) -> bool {
        if is_present {
            self.present = self.present.saturating_add(1);
            self.missing = 0;
            return false;
        }
        self.absent = self.absent.saturating_add(1);
        self.missing = self.missing.saturating_add(1);
        let has_vanished = self.missing >= limits::TYPE_VANISHED_SAMPLES
            && self.marks & TOLD == 0
            && self.was_nearly_always_there();
        if has_vanished {
            self.marks |= TOLD;
        }
        has_vanished
    }

    /// Before it was missing.
    fn was_nearly_always_there(&self) -> bool {
        let before = u64::from(self.absent.saturating_sub(self.missing));
        let all = u64::from(self.present) + before;
        let percent = u64::from(self.present) * 100 / all.max(1);
        self.present >= limits::TYPE_SETTLED_SAMPLES && percent >= limits::TYPE_NEARLY_ALL_PERCENT
    }

    pub(super) fn note_object(&mut self, has_grown: bool) {
        self.quiet = if has_grown { 0 } else { self.quiet.saturating_add(1) };
    }

    fn numbers(&self) -> Vec<u32> {
        let Self { types, present, absent, lacking, missing, settled, quiet, marks } = self;
        let rest = [*present, *absent, *lacking, *missing, *settled, *quiet, *marks];
        let mut numbers = [&types[..], &rest[..]].concat();
        let length = numbers.iter().rposition(|number| *number > 0).map_or(0, |last| last + 1);
        numbers.truncate(length);
        numbers
    }
}

/// Zeros at the end are left out.
impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.numbers().serialize(serializer)
    }
}

/// What a later version notes behind is left alone.
impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<u32>::deserialize(deserializer)?;
        let at = |place: usize| numbers.get(place).copied().unwrap_or(0);
        Ok(Self {
            types: std::array::from_fn(at),
            present: at(7),
            absent: at(8),
            lacking: at(9),
            missing: at(10),
            settled: at(11),
            quiet: at(12),
            marks: at(13),
        })
    }
}
