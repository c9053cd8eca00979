//! Reads the machine: what the kernel offers, what surrounds it, and what a plan has to know of its files.
//!
//! `crate::host` decides about what is read here. Files are read beneath a root that is passed in, so that recorded machines
//! read like this one.

pub(crate) mod bounded_process;
pub(crate) mod bubblewrap;
pub(crate) mod cgroup_support;
mod container_detection;
pub(crate) mod facts;
pub(crate) mod namespaces;
pub(crate) mod object;
pub(crate) mod plan_host;
pub(crate) mod root_files;
