//! Enforcement by the kernel, by layer, and the least that is accepted.

use std::fmt;

/// Degree to which a layer is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not at all.
    None,
    /// With gaps that are named.
    Partial,
    /// As the spec says.
    Full,
}

/// One kind of enforcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Which files are seen and changed.
    Files,
    /// Which connections are made.
    Network,
    /// Which system calls are answered.
    Syscalls,
    /// Which processes are seen and reached, and as whom they run.
    Processes,
    /// Use of resources.
    Resources,
}

impl Layer {
    /// Every layer, in the order they are shown.
    pub const ALL: [Self; 5] = [Self::Files, Self::Network, Self::Syscalls, Self::Processes, Self::Resources];

    /// The word of the policy file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Network => "network",
            Self::Syscalls => "syscalls",
            Self::Processes => "processes",
            Self::Resources => "resources",
        }
    }
}

/// Enforcement that was reached in one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// Degree of enforcement.
    pub level: Level,
    /// By what: `mount namespace, Landlock 7`.
    pub by: String,
    /// Missing part, if any.
    pub gap: Option<String>,
}

/// Enforcement by the kernel, measured before foreign code runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// One entry per layer, in the order of [`Layer::ALL`].
    pub layers: [Reached; 5],
}

impl Enforcement {
    /// Returns the enforcement that was reached in one layer.
    #[must_use]
    pub fn reached(&self, layer: Layer) -> &Reached {
        &self.layers[layer as usize]
    }

    /// The first layer that is weaker than demanded.
    #[must_use]
    pub fn below(&self, require: &Require) -> Option<Layer> {
        Layer::ALL.into_iter().find(|&layer| self.reached(layer).level < require.least(layer))
    }
}

/// The least enforcement that is accepted, by layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Require([Level; 5]);

impl Require {
    /// Everything that a spec can ask for. Resources may have gaps: a watchdog is slower than a cgroup.
    pub const FULL: Self = Self([Level::Full, Level::Full, Level::Full, Level::Full, Level::Partial]);

    /// The least level of a layer.
    #[must_use]
    pub const fn least(&self, layer: Layer) -> Level {
        self.0[layer as usize]
    }

    /// Demands another level of a layer.
    #[must_use]
    pub const fn with(mut self, layer: Layer, level: Level) -> Self {
        self.0[layer as usize] = level;
        self
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Full => "full",
        })
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
