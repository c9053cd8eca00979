//! A process that removes the cgroups that would be left behind if this one were killed.

use std::ffi::CString;

use crate::sys::linux::init::Init;
use crate::sys::linux::init::ops;
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::init::script::arguments;
use crate::sys::linux::provider::native::SetupError;

/// Lives until this process ends, however that happens, and then removes directories.
pub(crate) struct Sweeper(Init);

impl Sweeper {
    /// Starts one for these directories; without any there is nothing to do.
    ///
    /// If it cannot be started, what is left is found by the process that starts the next jail.
    pub(crate) fn start(directories: &[CString]) -> Option<Self> {
        if directories.is_empty() { None } else { Self::spawn(directories).ok() }
    }

    fn spawn(directories: &[CString]) -> Result<Self, SetupError> {
        let mut init = Init::start(0)?;
        let mut script = init.script();
        script.step(SetupStep::Session);
        // A signal that ends the process group of the supervisor does not end this.
        script.call(libc::SYS_setsid, []);
        let directories = script.texts(directories);
        script.add(ops::REMOVE_DIRECTORIES, arguments![directories]);
        init.run(script, &[])?;
        Ok(Self(init))
    }

    /// Ends it: nothing is left to be removed. It is reaped when dropped, while others have time to end, too.
    pub(crate) fn dismissed(self) -> Self {
        self.0.kill();
        self
    }
}
