//! Writes the operations that build the file tree of a jail, step by step.
//!
//! **Invariant.** Every view is opened again in the jail's own mount namespace and has to be the object that was judged. Where
//! others can change a path meanwhile, it is looked up beneath the new root without links, and what is found is used by
//! handle. The working directory of the caller is never used.

mod layer;

use std::ffi::CStr;

use rustix::io::Errno;

use super::steps::{BLANK, CONTENT, MASK_DIRECTORY, MASK_FILE, Options, Step, VOID};
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::init::script::{Register, Script, arguments};

/// The root of the jail, once it is made.
pub(crate) const ROOT: Register = Register(3);

/// Registers that a step uses for a moment.
const TREE: Register = Register(16);
const CONTEXT: Register = Register(17);
const POINT: Register = Register(18);

const HERE: i32 = libc::AT_FDCWD;

/// The one private file system, mounted over the old root, where only its handle leads.
pub(crate) fn private_root(script: &mut Script, options: &Options) {
    script.step(SetupStep::Root);
    private_file_system(script, options, ROOT);
    let (none, top) = (script.text(c""), script.text(c"/"));
    script.call(libc::SYS_move_mount, arguments![ROOT, none, HERE, top, MOVE_F_EMPTY]);
}

fn private_file_system(script: &mut Script, options: &Options, into: Register) {
    open_context(script, c"tmpfs");
    bounds(script, options);
    set(script, c"mode", c"0755");
    mount(script, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV, into);
}

fn open_context(script: &mut Script, name: &CStr) {
    let name = script.text(name);
    script.call(libc::SYS_fsopen, arguments![name, FSOPEN_CLOEXEC]).into(CONTEXT);
}

fn set(script: &mut Script, key: &CStr, value: &CStr) {
    let (key, value) = (script.text(key), script.text(value));
    script.call(libc::SYS_fsconfig, arguments![CONTEXT, FSCONFIG_SET_STRING, key, value, 0]);
}

fn bounds(script: &mut Script, options: &Options) {
    set(script, c"size", &options.size);
    set(script, c"nr_inodes", &options.inodes);
}

/// Makes a mount of what is configured.
fn mount(script: &mut Script, attributes: u64, into: Register) {
    script.call(libc::SYS_fsconfig, arguments![CONTEXT, FSCONFIG_CMD_CREATE, 0, 0, 0]);
    script.call(libc::SYS_fsmount, arguments![CONTEXT, FSMOUNT_CLOEXEC, attributes]).into(into);
    close(script, CONTEXT);
}

pub(crate) fn close(script: &mut Script, register: Register) {
    script.call(libc::SYS_close, arguments![register]);
}

/// Gives the private file system other bounds.
pub(crate) fn resize(script: &mut Script, options: &Options) {
    script.step(SetupStep::Root);
    let none = script.text(c"");
    script.call(libc::SYS_fspick, arguments![ROOT, none, FSPICK_CLOEXEC | FSPICK_EMPTY_PATH]).into(CONTEXT);
    bounds(script, options);
    script.call(libc::SYS_fsconfig, arguments![CONTEXT, FSCONFIG_CMD_RECONFIGURE, 0, 0, 0]);
    close(script, CONTEXT);
}

/// Parameters of the build of a tree.
pub(crate) struct Rootfs<'a> {
    pub(crate) options: &'a Options,
    /// True if paths lie in what others can change meanwhile.
    pub(crate) shared: bool,
}

impl Rootfs<'_> {
    /// Performs steps. They have numbers, by which the one that failed is found.
    pub(crate) fn build(&self, script: &mut Script, steps: &[Step], first: usize) {
        for (step, number) in steps.iter().zip(first..) {
            script.step(SetupStep::Tree(u16::try_from(number).unwrap_or(u16::MAX)));
            self.perform(script, step);
        }
    }

    fn perform(&self, script: &mut Script, step: &Step) {
        match step {
            Step::Directory { path, mode } => directory(script, ROOT, path, *mode),
            Step::Link { path, to } => {
                let (to, path) = (script.text(to), script.text(path));
                script.call(libc::SYS_symlinkat, arguments![to, ROOT, path]);
            }
            Step::File { path, text, mode } => file(script, path, text, *mode),
            Step::Bind { from, path, attributes, id } => {
                tree(script, HERE.into(), from, TREE);
                same(script, TREE, *id);
                self.place_as(script, *attributes, path);
            }
            Step::Ready { mount, path } => self.place(script, Register::handle(*mount), path),
            Step::Layer { lower, changes, path } => {
                layer::layer(script, lower, changes, TREE);
                self.place_owned(script, path);
            }
            Step::Device { from, path } => {
                tree(script, HERE.into(), from, TREE);
                let device = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
                self.place_as(script, device, path);
            }
            Step::Scratch { path } => {
                tree(script, ROOT.into(), path, TREE);
                self.place_owned(script, path);
            }
            Step::Fresh { path } => {
                private_file_system(script, self.options, TREE);
                self.place_owned(script, path);
            }
            Step::Empty { path, of } => {
                tree(script, ROOT.into(), of, TREE);
                self.place_as(script, libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOEXEC, path);
            }
            Step::Content { path, bytes } => {
                file(script, CONTENT, bytes, 0o444);
                tree(script, ROOT.into(), CONTENT, TREE);
                let plain = INERT | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY;
                self.place_as(script, plain, path);
                let name = script.text(CONTENT);
                script.call(libc::SYS_unlinkat, arguments![ROOT, name, 0]);
            }
            Step::Processes { path } => {
                open_context(script, c"proc");
                mount(script, INERT | libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV, TREE);
                self.place_owned(script, path);
            }
            Step::Terminals { path } => {
                open_context(script, c"devpts");
                set(script, c"ptmxmode", c"0666");
                set(script, c"mode", c"0600");
                mount(script, INERT, TREE);
                self.place_owned(script, path);
            }
            Step::Lock { path } => {
                open(script, ROOT, path, libc::O_PATH, TREE);
                lock(script, TREE);
                close(script, TREE);
            }
        }
    }

    /// Mounts the tree with attributes for everything in it.
    fn place_as(&self, script: &mut Script, attributes: u64, path: &CStr) {
        let change = MountChange { set: attributes, propagation: libc::MS_PRIVATE };
        set_attributes(script, TREE, change, libc::AT_RECURSIVE);
        self.place_owned(script, path);
    }

    fn place_owned(&self, script: &mut Script, path: &CStr) {
        self.place(script, TREE, path);
        if self.shared {
            // The others are few, and are closed with everything else in the end.
            close(script, TREE);
        }
    }

    /// Mounts at a path of the new root. A link that has appeared on the way since the path was judged would lead out of it.
    fn place(&self, script: &mut Script, tree: Register, path: &CStr) {
        let none = script.text(c"");
        if !self.shared {
            let path = script.text(path);
            script.call(libc::SYS_move_mount, arguments![tree, none, ROOT, path, MOVE_F_EMPTY]);
            return;
        }
        open_beneath(script, path, POINT);
        script.call(libc::SYS_move_mount, arguments![tree, none, POINT, none, MOVE_F_EMPTY | MOVE_T_EMPTY]);
        close(script, POINT);
    }
}

/// Opens what a path beneath the new root leads to without links.
pub(crate) fn open_beneath(script: &mut Script, path: &CStr, into: Register) {
    const NO_SYMLINKS: u64 = 0x04;
    const BENEATH: u64 = 0x08;
    let path = script.text(path);
    let flags = libc::O_PATH | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    let how = script.words(&[u64::from(flags.cast_unsigned()), 0, BENEATH | NO_SYMLINKS]);
    script.call(libc::SYS_openat2, arguments![ROOT, path, how, 24]).into(into);
}

fn open(script: &mut Script, at: Register, path: &CStr, flags: i32, into: Register) {
    let path = script.text(path);
    script.call(libc::SYS_openat, arguments![at, path, flags | libc::O_CLOEXEC, 0]).into(into);
}

fn directory(script: &mut Script, at: Register, path: &CStr, mode: u32) {
    let path = script.text(path);
    script.call(libc::SYS_mkdirat, arguments![at, path, mode]).accept(&[Errno::EXIST]);
}

fn file(script: &mut Script, path: &CStr, text: &[u8], mode: u32) {
    let path = script.text(path);
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    script.call(libc::SYS_openat, arguments![ROOT, path, flags, mode]).into(TREE);
    if !text.is_empty() {
        if text.len() > PAGE {
            // A write that does not fit would be cut short without an error.
            script.call(libc::SYS_fallocate, arguments![TREE, 0, 0, text.len()]);
        }
        let address = script.bytes(text);
        // Into memory of the kernel, all at once.
        script.call(libc::SYS_write, arguments![TREE, address, text.len()]);
    }
    close(script, TREE);
}

/// A copy of everything mounted at and below a path, attached nowhere.
fn tree(script: &mut Script, at: crate::sys::linux::init::script::Argument, path: &CStr, into: Register) {
    let path = script.text(path);
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC | libc::AT_RECURSIVE | libc::AT_SYMLINK_NOFOLLOW;
    script.call(libc::SYS_open_tree, [at, path.into(), flags.into()]).into(into);
}

/// Fails unless a tree is of the object that was judged.
fn same(script: &mut Script, tree: Register, (device, inode): (u64, u64)) {
    script.add(crate::sys::linux::init::ops::CHECK_IDENTITY, arguments![tree.0, device, inode]);
}

/// Change of a mount's attributes.
#[derive(Clone, Copy)]
struct MountChange {
    set: u64,
    propagation: u64,
}

fn set_attributes(script: &mut Script, tree: Register, change: MountChange, flags: i32) {
    let (none, attributes) = (script.text(c""), script.words(&[change.set, 0, change.propagation, 0]));
    let flags = libc::AT_EMPTY_PATH | flags;
    script.call(libc::SYS_mount_setattr, arguments![tree, none, flags, attributes, 32]);
}

fn lock(script: &mut Script, mount: Register) {
    set_attributes(script, mount, MountChange { set: libc::MOUNT_ATTR_RDONLY, propagation: 0 }, 0);
}

/// Removes what masks were made of, closes the root to changes, and makes it the only one. The old root is stacked on it for
/// a moment and then let go.
pub(crate) fn enter(script: &mut Script) {
    script.step(SetupStep::Root);
    let (blank, void) = (script.text(BLANK), script.text(VOID));
    script.call(libc::SYS_unlinkat, arguments![ROOT, blank, 0]);
    script.call(libc::SYS_unlinkat, arguments![ROOT, void, libc::AT_REMOVEDIR]);
    let (file, directory) = (script.text(MASK_FILE), script.text(MASK_DIRECTORY));
    script.call(libc::SYS_unlinkat, arguments![ROOT, file, 0]).accept(&[Errno::NOENT]);
    script.call(libc::SYS_unlinkat, arguments![ROOT, directory, libc::AT_REMOVEDIR]).accept(&[Errno::NOENT]);
    lock(script, ROOT);
    script.step(SetupStep::Pivot);
    let (here, top) = (script.text(c"."), script.text(c"/"));
    script.call(libc::SYS_fchdir, arguments![ROOT]);
    script.call(libc::SYS_pivot_root, arguments![here, here]);
    script.call(libc::SYS_umount2, arguments![here, libc::MNT_DETACH]);
    script.call(libc::SYS_chdir, arguments![top]);
}

/// Size up to which a write to a private file system succeeds as a whole or fails.
const PAGE: usize = 4096;
const FSOPEN_CLOEXEC: u32 = 1;
const FSMOUNT_CLOEXEC: u32 = 1;
const FSPICK_CLOEXEC: u32 = 1;
const FSPICK_EMPTY_PATH: u32 = 8;
const FSCONFIG_SET_FLAG: u32 = 0;
const FSCONFIG_SET_STRING: u32 = 1;
const FSCONFIG_CMD_CREATE: u32 = 6;
const FSCONFIG_CMD_RECONFIGURE: u32 = 7;
const MOVE_F_EMPTY: u32 = 0x04;
const MOVE_T_EMPTY: u32 = 0x40;
const OPEN_TREE_CLONE: i32 = 1;
/// Nothing on it gives rights or is executed.
const INERT: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
