//! What a program embeds: a sandbox, its sessions, and the commands that run in them.

pub mod job;
