//! Files that have other names.

use policy::{Code, Decision, Policy, Reason, Request, Want};

/// A write to a file with hard links changes it under names that were not judged: a person decides.
pub(crate) struct SharedFiles;

impl Policy for SharedFiles {
    fn name(&self) -> &'static str {
        "files with other names"
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        let Want::Write(location) = request.want else { return None };
        let text = "the file has other names, hard links, which may lie outside the workspace";
        location.is_shared().then(|| {
            Decision::Ask(
                Reason::new(Code::SharedFile, text).remedy("make a copy of it that has one name only"),
            )
        })
    }
}
