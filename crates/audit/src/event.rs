//! Macros that turn the table of events (`tables/events.rs`) into the type, the JSON fields and the reference.

use crate::field::{Body, Field, Name};
use crate::redact::Redactor;
use crate::tables::events::Event;

/// On whose behalf something happened, and which records belong together.
#[derive(Debug, Clone, Copy, Default)]
pub struct By<'a> {
    /// The session.
    pub session: Option<&'a str>,
    /// The agent.
    pub agent: Option<&'a str>,
    /// The same in all records about one request, from the decision to the end of its effect.
    pub id: Option<&'a str>,
}

/// The OCSF class that an event is exported as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Class {
    /// File system activity.
    File = 1001,
    /// Process activity.
    Process = 1007,
    /// Detection finding.
    Detection = 2004,
    /// Network activity.
    Network = 4001,
    /// HTTP activity.
    Http = 4002,
    /// Device configuration state change.
    Config = 5019,
    /// Application lifecycle.
    Lifecycle = 6002,
    /// API activity.
    Api = 6003,
}

/// Importance of an event for monitoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Business as usual.
    Informational,
    /// Something was refused or went wrong.
    Low,
    /// A protection did its work, or a protection is less than it could be.
    Medium,
    /// A person should look.
    High,
}

/// One row of the reference: an event.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventShape {
    /// Its name in the ledger.
    pub name: &'static str,
    /// When it is recorded.
    pub doc: &'static str,
    /// The OCSF class it is exported as.
    pub class: Class,
    /// The activity within that class.
    pub activity: u8,
    /// Importance.
    pub severity: Severity,
    /// Fields beyond those that every record has.
    pub fields: &'static [FieldShape],
}

/// One row of the reference: a field of an event.
#[derive(Debug)]
#[non_exhaustive]
pub struct FieldShape {
    /// Its name in the ledger.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Its type.
    pub kind: &'static str,
    /// The words it can hold, if they are few.
    pub words: &'static [&'static str],
    /// True if it may be absent.
    pub optional: bool,
    /// The most bytes its value takes in a line.
    pub most: usize,
}

macro_rules! events {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident = $name:literal, $class:ident / $activity:literal, $severity:ident
        { $( #[doc = $field_doc:literal] $field:ident: $type:ty, )* }
    )*) => {
        /// One thing that happened.
        ///
        /// `docs/events.md` lists all of them with their fields.
        #[derive(Debug, Clone, Copy)]
        #[non_exhaustive]
        pub enum Event<'a> {$(
            $(#[doc = $doc])+
            $variant {
                /// On whose behalf.
                by: By<'a>,
                $( #[doc = $field_doc] $field: $type, )*
            },
        )*}

        impl<'a> Event<'a> {
            pub(crate) const SHAPES: &'static [EventShape] = &[$(EventShape {
                name: $name,
                doc: concat!($($doc),+),
                class: Class::$class,
                activity: $activity,
                severity: Severity::$severity,
                fields: &[$(FieldShape {
                    name: stringify!($field),
                    doc: $field_doc,
                    kind: <$type as Field>::KIND,
                    words: <$type as Field>::WORDS,
                    optional: <$type as Field>::OPTIONAL,
                    most: <$type as Field>::MOST,
                },)*],
            },)*];

            /// The name of the event in the ledger.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $name,)* }
            }

            /// On whose behalf it happened.
            #[must_use]
            pub const fn by(&self) -> &By<'a> {
                match self { $(Self::$variant { by, .. } => by,)* }
            }

            pub(crate) fn put_fields(&self, body: &mut Body<'_>) {
                match self {$(
                    Self::$variant { by: _, $($field,)* } => { $( $field.put(stringify!($field), body); )* }
                )*}
            }
        }
    };
}

pub(crate) use events;

/// All events, in the order of the reference.
pub static EVENTS: &[EventShape] = Event::SHAPES;

impl Event<'_> {
    /// Writes the event's part of the line.
    pub(crate) fn put(&self, out: &mut Vec<u8>, redactor: &Redactor) {
        let mut body = Body::start(out, redactor, self.name());
        let by = self.by();
        by.session.map(Name).put("session", &mut body);
        by.agent.map(Name).put("agent", &mut body);
        by.id.map(Name).put("id", &mut body);
        self.put_fields(&mut body);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::field::Arguments;
    use crate::record::MAX_RECORD;

    /// Largest size of the envelope and the keys of one field.
    const ENVELOPE: usize = 512;
    const KEY: usize = 24;

    #[test]
    fn names_are_unique_and_follow_one_pattern() {
        let mut seen = BTreeSet::new();
        for event in EVENTS {
            assert!(seen.insert(event.name), "{} is there twice", event.name);
            let (area, what) = event.name.split_once('.').unwrap();
            assert!(area.bytes().all(|b| b.is_ascii_lowercase()), "{}", event.name);
            assert!(what.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", event.name);
            assert!(event.doc.trim().ends_with('.'), "{}: {}", event.name, event.doc);
        }
    }

    #[test]
    fn no_field_takes_the_name_of_another_or_of_the_envelope() {
        for event in EVENTS {
            let mut seen: BTreeSet<String> =
                ["v", "seq", "time", "event", "session", "agent", "id", "prev", "hash"]
                    .map(str::to_owned)
                    .into();
            for field in event.fields {
                assert!(seen.insert(field.name.to_owned()), "{}: {}", event.name, field.name);
                assert!(field.name.len() + 4 <= KEY, "{}: {}", event.name, field.name);
                if field.kind == Arguments::KIND {
                    assert!(seen.insert(format!("{}_sha256", field.name)), "{}: {}", event.name, field.name);
                }
            }
        }
    }

    #[test]
    fn the_longest_form_of_every_event_fits_into_a_record() {
        for event in EVENTS {
            let shared = 3 * (<Name<'_> as Field>::MOST + KEY);
            let own: usize = event.fields.iter().map(|field| field.most + KEY).sum();
            assert!(ENVELOPE + shared + own <= MAX_RECORD, "{}: {}", event.name, ENVELOPE + shared + own);
        }
    }
}
