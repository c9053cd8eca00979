//! Archives that a script fills: what goes into one is in the buffer or the file that it was opened on.

use super::{Assign, Script};

/// Functions that open an archive.
const OPENS: &[&str] =
    &["tarfile.open", "tarfile.TarFile", "zipfile.ZipFile", "ZipFile", "gzip.GzipFile", "TarFile"];

/// Methods that put a file into one.
const FILLS: &[&str] =
    &["add", "write", "addfile", "writestr", "file", "addLocalFile", "addLocalFolder", "directory"];

/// An archive that is being filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pack {
    /// Name.
    pub(crate) name: String,
    /// The file that it is written to, if that is known; empty otherwise.
    pub(crate) file: String,
}

impl Script<'_> {
    /// Finds archives, and lets what is put into them reach what they are opened on.
    pub(super) fn find_packs(&mut self) {
        let opened: Vec<usize> = (0..self.calls.len())
            .filter(|at| {
                OPENS.contains(&self.calls[*at].name.as_str()) || self.calls[*at].name.ends_with(".ZipFile")
            })
            .take(64)
            .collect();
        for at in opened {
            let call = self.calls[at].clone();
            let holds =
                |assign: &&Assign| assign.tokens.contains(&call.tokens.start) && !assign.name.contains('.');
            let Some(name) = self.assigns.iter().find(holds).map(|assign| assign.name.clone()) else {
                continue;
            };
            let buffers: Vec<String> = call
                .args
                .iter()
                .filter(|arg| arg.tokens.len() == 1 && self.is_name(arg.tokens.start))
                .map(|arg| self.token(arg.tokens.start).to_owned())
                .collect();
            let file =
                self.first(&call).filter(|file| file.is_known).map(|file| file.text).unwrap_or_default();
            let fills: Vec<_> = self
                .calls
                .iter()
                .filter(|call| is_filled(&call.name, &name))
                .map(|call| call.tokens.clone())
                .take(64)
                .collect();
            for buffer in &buffers {
                let given =
                    fills.iter().map(|tokens| Assign { name: buffer.clone(), tokens: tokens.clone() });
                self.assigns.extend(given);
            }
            self.packs.push(Pack { name, file });
        }
    }

    /// The archive that a call puts something into.
    pub(crate) fn pack_of(&self, call: &str) -> Option<&Pack> {
        self.packs.iter().find(|pack| is_filled(call, &pack.name))
    }
}

/// Returns true if a call puts something into an archive of a name.
fn is_filled(call: &str, name: &str) -> bool {
    call.rsplit_once('.').is_some_and(|(base, method)| base == name && FILLS.contains(&method))
}
