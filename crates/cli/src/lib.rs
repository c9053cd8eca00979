//! Placeholder while the room is furnished.
