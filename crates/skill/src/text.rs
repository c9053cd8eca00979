//! Reads bytes as text: encodings, cleaning, decoding, and the division of a file into units.
//!
//! [`view`] yields each file in every form that a reader can see: as it came, cleaned, and decoded. [`unit`] is the piece of a view
//! that a rule looks at. Every step keeps a [`map`] to the bytes of the file.

pub mod clean;
pub(crate) mod decode;
pub(crate) mod encoding;
pub(crate) mod frame;
pub(crate) mod front;
pub(crate) mod json;
pub(crate) mod language;
pub(crate) mod link;
pub(crate) mod map;
pub(crate) mod markdown;
pub(crate) mod mention;
pub(crate) mod phrase;
pub(crate) mod skeleton;
pub(crate) mod unit;
pub(crate) mod view;
