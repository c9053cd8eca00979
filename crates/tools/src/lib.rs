//! What an agent calls.

pub mod web;
