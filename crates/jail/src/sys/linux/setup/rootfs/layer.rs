//! A layer over a directory: what is below is seen as it is, what is changed goes above.
//!
//! The kernel takes the parts of a layer by name, and only such as are mounted where the mounter is. So each is put for a
//! moment at a place in the new root whose name is ours, which is the working directory meanwhile. The layer then holds them
//! by itself, and the places are cleared.

use std::ffi::CStr;

use super::{
    CONTEXT, FSCONFIG_SET_FLAG, HERE, MOVE_F_EMPTY, MountChange, OPEN_TREE_CLONE, ROOT, close, directory,
    mount, open, open_context, same, set, set_attributes, tree,
};
use crate::sys::linux::init::script::{Register, Script, arguments};
use crate::sys::linux::setup::steps::{Changes, Source, attributes};

/// Directory that the parts are put in for a moment, relative to the new root, and their names there.
const PLACE: &CStr = c".layer";
const LOWER: &CStr = c"lower";
const SPACE: &CStr = c"space";

/// Directory at which private space is covered in every jail: a name beneath it leads nowhere.
const COVERED: &CStr = c"proc";

const AT: Register = Register(20);
const BELOW: Register = Register(21);
const ABOVE: Register = Register(22);
const BARE: Register = Register(23);
const HIDDEN: Register = Register(24);
const OWN: Register = Register(25);

/// A layer, mounted nowhere yet.
pub(super) fn layer(script: &mut Script, lower: &Source, changes: &Changes, into: Register) {
    directory(script, ROOT, PLACE, 0o700);
    open(script, ROOT, PLACE, libc::O_PATH | libc::O_NOFOLLOW, AT);
    script.call(libc::SYS_fchdir, arguments![AT]);
    let below = source(script, lower, false, BELOW);
    let above = match changes {
        Changes::Kept(kept) => source(script, kept, true, ABOVE),
        Changes::Private { name, mode } => private(script, name, *mode),
    };
    put(script, LOWER, below);
    put(script, SPACE, above);
    overlay(script, into);
    clear(script, SPACE);
    clear(script, LOWER);
    script.call(libc::SYS_fchdir, arguments![ROOT]);
    let place = script.text(PLACE);
    script.call(libc::SYS_unlinkat, arguments![ROOT, place, libc::AT_REMOVEDIR]);
    for register in [AT, below, above] {
        close(script, register);
    }
}

/// A part of a layer: one that was mounted before, or a copy of what is at a path.
fn source(script: &mut Script, source: &Source, write: bool, into: Register) -> Register {
    match source {
        Source::Ready(slot) => Register::handle(*slot),
        Source::Named { from, id } => {
            tree(script, HERE.into(), from, into);
            same(script, into, *id);
            let change = MountChange { set: attributes(write), propagation: libc::MS_PRIVATE };
            set_attributes(script, into, change, libc::AT_RECURSIVE);
            into
        }
    }
}

fn put(script: &mut Script, name: &CStr, tree: Register) {
    directory(script, AT, name, 0o700);
    let (none, name) = (script.text(c""), script.text(name));
    script.call(libc::SYS_move_mount, arguments![tree, none, AT, name, MOVE_F_EMPTY]);
}

/// Takes a part away. The name is relative to the working directory.
fn clear(script: &mut Script, name: &CStr) {
    const UMOUNT_NOFOLLOW: i32 = 8;
    let name = script.text(name);
    script.call(libc::SYS_umount2, arguments![name, libc::MNT_DETACH | UMOUNT_NOFOLLOW]);
    script.call(libc::SYS_unlinkat, arguments![AT, name, libc::AT_REMOVEDIR]);
}

/// The overlay of the parts in the working directory.
///
/// Its marks are attributes that every user may set on files of their own: the others need powers over the host. A layer
/// that follows no marks for moved directories and half copied files cannot be led elsewhere by them.
fn overlay(script: &mut Script, into: Register) {
    open_context(script, c"overlay");
    set(script, c"lowerdir", LOWER);
    set(script, c"upperdir", c"space/upper");
    set(script, c"workdir", c"space/work");
    let key = script.text(c"userxattr");
    script.call(libc::SYS_fsconfig, arguments![CONTEXT, FSCONFIG_SET_FLAG, key, 0, 0]);
    mount(script, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV, into);
}

/// A place for changes in the one private file system, which shares its size. A copy of the root's mount alone shows what is
/// beneath the others. What is above gives the whole its mode.
fn private(script: &mut Script, name: &CStr, mode: u32) -> Register {
    let path_only = libc::O_PATH | libc::O_NOFOLLOW;
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC | libc::AT_EMPTY_PATH;
    let none = script.text(c"");
    script.call(libc::SYS_open_tree, arguments![ROOT, none, flags]).into(BARE);
    open(script, BARE, COVERED, path_only, HIDDEN);
    directory(script, HIDDEN, name, 0o700);
    open(script, HIDDEN, name, path_only, OWN);
    directory(script, OWN, c"upper", mode & 0o777);
    directory(script, OWN, c"work", 0o700);
    script.call(libc::SYS_open_tree, arguments![OWN, none, flags]).into(ABOVE);
    for register in [BARE, HIDDEN, OWN] {
        close(script, register);
    }
    ABOVE
}
