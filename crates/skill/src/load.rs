//! A verdict, and what a model sees of a skill that may be loaded.
