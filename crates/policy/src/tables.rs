//! Reviewed data: generated from `tables/`, or kept here where code and data are one.

pub(crate) mod agents;
pub(crate) mod characters;
pub(crate) mod credentials;
pub(crate) mod host_sets;
pub(crate) mod hosts;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod programs;
pub(crate) mod tokens;
pub(crate) mod tools;
