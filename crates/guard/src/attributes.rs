//! Access control list and extended attributes of a file.

use std::ffi::CString;
use std::os::fd::AsFd;

use rustix::fs::{OFlags, Stat, XattrFlags};
use rustix::io::Errno;

use crate::resolve::{Here, Workspace};
use crate::trouble::Trouble;

/// The most bytes that the kernel has for the names or for one value.
const MOST: usize = 64 << 10;
/// The access control list.
const LIST: &[u8] = b"system.posix_acl_access";
/// Attributes that belong to the content or give it rights: a program that changed does not keep the rights of the old one.
const OF_CONTENT: &[&[u8]] = &[b"security.capability", b"security.ima", b"security.evm"];

/// The file that another is to be like.
#[derive(Debug, Clone)]
pub(crate) struct Like {
    pub(crate) stat: Stat,
    attributes: Vec<(CString, Vec<u8>)>,
}

impl Like {
    /// Looks at a file through its handle. One whose attributes cannot be read cannot be replaced: they would be lost.
    pub(crate) fn of(here: &Here, workspace: &Workspace) -> Result<Self, Trouble> {
        let write = workspace.handles.open(&here.handle, OFlags::WRONLY);
        let file = write.or_else(|_| workspace.handles.open(&here.handle, OFlags::RDONLY))?;
        let mut attributes = Vec::new();
        for name in names(&file)? {
            if OF_CONTENT.contains(&name.as_bytes()) {
                continue;
            }
            let mut value = vec![0; MOST];
            let length =
                rustix::fs::fgetxattr(&file, &name, &mut value[..]).map_err(|_| Trouble::Attributes)?;
            value.truncate(length);
            attributes.push((name, value));
        }
        Ok(Self { stat: here.stat, attributes })
    }

    /// Gives a new file the attributes, and none that it got from its directory. Its mode comes afterwards: with a list, the bits of the
    /// group are the most that the list gives.
    pub(crate) fn give_to(&self, file: impl AsFd) -> Result<(), Trouble> {
        let has_list = self.attributes.iter().any(|(name, _)| name.as_bytes() == LIST);
        if !has_list && let Some(list) = names(&file)?.iter().find(|name| name.as_bytes() == LIST) {
            rustix::fs::fremovexattr(&file, list)?;
        }
        for (name, value) in &self.attributes {
            if rustix::fs::fsetxattr(&file, name, value, XattrFlags::empty()).is_err() {
                has(&file, name, value)?;
            }
        }
        Ok(())
    }
}

/// An attribute that cannot be set may be there already: labels come from the directory.
fn has(file: impl AsFd, name: &CString, value: &[u8]) -> Result<(), Trouble> {
    let mut now = vec![0; MOST];
    match rustix::fs::fgetxattr(file, name, &mut now[..]) {
        Ok(length) if now[..length] == *value => Ok(()),
        _ => Err(Trouble::Attributes),
    }
}

/// The names of all attributes; none where the file system has no attributes.
fn names(file: impl AsFd) -> Result<Vec<CString>, Trouble> {
    let mut names = vec![0; MOST];
    let length = match rustix::fs::flistxattr(file, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP | Errno::NOSYS) => 0,
        Err(_) => return Err(Trouble::Attributes),
    };
    let names = names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.filter_map(|name| CString::new(name).ok()).collect())
}
