//! The sanitizer: what a model is shown of a text.
