//! Reviewed data, generated from `tables/`.

pub(crate) mod hosts;
