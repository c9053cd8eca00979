//! What is encoded in a text, made readable.
