//! One side of a view, addressed by path: the directory outside, or the merged view that the command sees.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path};

use rustix::io::Errno;

use crate::marks;
use git::{Directory, Look};

/// One side of a view.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    /// Directory of changes; `None` for the side outside.
    upper: Option<&'a Directory>,
    lower: &'a Directory,
}

/// The layers that together form one directory of a side.
struct Layers {
    upper: Option<Directory>,
    lower: Option<Directory>,
}

impl<'a> Side<'a> {
    /// Returns the side outside.
    pub(crate) fn before(lower: &'a Directory) -> Self {
        Self { upper: None, lower }
    }

    /// Returns the side that the command sees.
    pub(crate) fn after(upper: &'a Directory, lower: &'a Directory) -> Self {
        Self { upper: Some(upper), lower }
    }

    /// Opens a file. Returns `None` if there is no file at the path.
    pub(crate) fn file(&self, path: &Path) -> Result<Option<File>, Errno> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let Some(layers) = self.directory(path.parent().unwrap_or(Path::new("")))? else { return Ok(None) };
        let Some((directory, _)) = layers.find(name)? else { return Ok(None) };
        match directory.file(name) {
            Ok(file) => Ok(Some(file)),
            // It is a link, a directory or a pipe.
            Err(Errno::INVAL | Errno::LOOP | Errno::NOENT | Errno::NXIO) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Reads a file; fails with `EFBIG` if it is longer than `most`.
    pub(crate) fn read(&self, path: &Path, most: u64) -> Result<Option<Vec<u8>>, Errno> {
        let Some(file) = self.file(path)? else { return Ok(None) };
        let mut content = Vec::new();
        let read = file.take(most + 1).read_to_end(&mut content);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        if content.len() as u64 > most { Err(Errno::FBIG) } else { Ok(Some(content)) }
    }

    /// Returns the sorted names in a directory, or none if there is no directory.
    pub(crate) fn names(&self, path: &Path) -> Result<Vec<OsString>, Errno> {
        let Some(layers) = self.directory(path)? else { return Ok(Vec::new()) };
        let mut names = BTreeSet::new();
        for directory in [&layers.lower, &layers.upper].into_iter().flatten() {
            names.extend(directory.names()?);
        }
        let mut seen = Vec::new();
        for name in names {
            if layers.find(&name)?.is_some() {
                seen.push(name);
            }
        }
        Ok(seen)
    }

    /// Returns true if the path exists.
    pub(crate) fn has(&self, path: &Path) -> Result<bool, Errno> {
        let Some(name) = path.file_name() else { return Ok(true) };
        let layers = self.directory(path.parent().unwrap_or(Path::new("")))?;
        layers.map_or(Ok(false), |layers| Ok(layers.find(name)?.is_some()))
    }

    /// Returns true if there is a directory at a path.
    pub(crate) fn is_directory(&self, path: &Path) -> Result<bool, Errno> {
        Ok(self.directory(path)?.is_some())
    }

    fn directory(&self, path: &Path) -> Result<Option<Layers>, Errno> {
        let here = Path::new("");
        let upper = self.upper.map(|upper| upper.along(here)).transpose()?;
        let mut layers = Layers { upper, lower: Some(self.lower.along(here)?) }.without_hidden()?;
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(Errno::INVAL) };
            let Some(inner) = layers.enter(name)? else { return Ok(None) };
            layers = inner;
        }
        Ok(Some(layers))
    }
}

impl Layers {
    /// Returns the layer in which a name is visible.
    fn find(&self, name: &OsStr) -> Result<Option<(&Directory, Look)>, Errno> {
        for directory in [&self.upper, &self.lower].into_iter().flatten() {
            if let Some(look) = directory.look(name)? {
                return Ok((!look.is_whiteout()).then_some((directory, look)));
            }
        }
        Ok(None)
    }

    fn enter(&self, name: &OsStr) -> Result<Option<Self>, Errno> {
        if !self.find(name)?.is_some_and(|(_, look)| look.is_directory()) {
            return Ok(None);
        }
        let into = |directory: &Option<Directory>| -> Result<Option<Directory>, Errno> {
            let Some(directory) = directory else { return Ok(None) };
            let is_directory = directory.look(name)?.is_some_and(|look| look.is_directory());
            is_directory.then(|| directory.enter(name)).transpose()
        };
        Self { upper: into(&self.upper)?, lower: into(&self.lower)? }.without_hidden().map(Some)
    }

    /// Drops the lower layer if the upper directory is opaque.
    fn without_hidden(mut self) -> Result<Self, Errno> {
        if self.upper.as_ref().map_or(Ok(false), marks::is_opaque)? {
            self.lower = None;
        }
        Ok(self)
    }
}
