//! Command lines of examples and cases, read as the shells would.

use std::path::Path;

use policy::Invocation;
use shell::{Dialect, Surroundings};

use crate::place::Places;

/// Reads a command line that starts in the workspace.
pub(crate) fn read(line: &str, places: &Places) -> Invocation {
    let around = Surroundings {
        dialects: Dialect::ALL,
        cwd: places.workspace.to_str(),
        home: places.home.as_deref().and_then(Path::to_str),
        stdin: None,
    };
    shell::read(line.as_bytes(), &around)
}
