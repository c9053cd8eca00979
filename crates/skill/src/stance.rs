//! Whether a text tells somebody to do a thing, or tells about it.
