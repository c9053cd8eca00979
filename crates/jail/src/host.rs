//! Knowledge of the host, as far as a jail depends on it: what the kernel can enforce, which variables of the environment enter,
//! and which installed toolchains are shown.
//!
//! The modules here are tables and decisions about what was found; `sys/linux/host` reads the machine.

pub mod environment;
pub mod probe;
pub mod toolchain;
