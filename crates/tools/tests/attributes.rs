//! Tools that replace a file keep who may do what with it: its access control list and its extended attributes.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desk;
#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use desk::Desk;
use ringfence_tools::{AnyTool, ApplyPatch, Edit, Write};
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use serde_json::{Value, json};
use skip::skipped;

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// Encodes an access control list as the kernel has it: owner, one other user, group, mask, and others.
fn list(owner: u16, other_user: u16, group: u16, most: u16, others: u16) -> Vec<u8> {
    let none = u32::MAX;
    let entries = [
        (1_u16, owner, none),
        (2, other_user, 12_345),
        (4, group, none),
        (16, most, none),
        (32, others, none),
    ];
    let bytes = entries.iter().flat_map(|(tag, rights, id)| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    });
    2_u32.to_le_bytes().into_iter().chain(bytes).collect()
}

fn get(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 4096];
    match rustix::fs::getxattr(path, name, &mut value[..]) {
        Ok(length) => Some(value[..length].to_vec()),
        Err(Errno::NODATA) => None,
        Err(errno) => panic!("{name}: {errno}"),
    }
}

fn set(path: &Path, name: &str, value: &[u8]) -> Result<(), Errno> {
    rustix::fs::setxattr(path, name, value, XattrFlags::empty())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// `None` where the file system has no lists, which is said.
fn desk(what: &str) -> Option<Desk> {
    let desk = Desk::new();
    let path = desk.put("try", "");
    match set(&path, ACCESS, &list(6, 6, 0, 6, 0)).and_then(|()| set(&path, "user.try", b"x")) {
        Ok(()) => Some(desk),
        Err(errno) => {
            skipped(what, &format!("no lists or attributes here: {errno}"));
            None
        }
    }
}

fn calls() -> [(&'static str, &'static dyn AnyTool, Value); 3] {
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-old\n+new\n*** End Patch\n";
    [
        ("edit", &Edit, json!({ "path": "f", "old": "old", "new": "new" })),
        ("write", &Write, json!({ "path": "f", "content": "new\n" })),
        ("apply_patch", &ApplyPatch, json!({ "patch": patch })),
    ]
}

/// The group may do nothing, and another user may write: the bits of the mode say something else.
#[test]
fn a_list_is_kept_and_widens_nothing() {
    for (name, tool, arguments) in calls() {
        let Some(desk) = desk("lists of files that are replaced") else { return };
        let path = desk.put("f", "old\n");
        let acl = list(6, 6, 0, 6, 0);
        set(&path, ACCESS, &acl).unwrap();
        set(&path, "user.note", b"kept").unwrap();
        assert_eq!(mode(&path), 0o660, "the bits of the group are the most that the list gives");
        desk.call(tool, arguments).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n", "{name}");
        assert_eq!(get(&path, ACCESS), Some(acl), "{name}");
        assert_eq!((get(&path, "user.note"), mode(&path)), (Some(b"kept".to_vec()), 0o660), "{name}");
    }
}

/// A file that was there before its directory got a list for new files does not get that list.
#[test]
fn the_list_for_new_files_is_not_for_old_ones() {
    for (name, tool, arguments) in calls() {
        let Some(desk) = desk("lists of directories") else { return };
        let path = desk.put("f", "old\n");
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        set(path.parent().unwrap(), DEFAULT, &list(7, 7, 7, 7, 0)).unwrap();
        desk.call(tool, arguments).unwrap();
        assert_eq!((get(&path, ACCESS), mode(&path)), (None, 0o640), "{name}");
        // One that is made gets it, as with every program.
        desk.call(&Write, json!({ "path": "made", "content": "x" })).unwrap();
        assert!(get(&path.with_file_name("made"), ACCESS).is_some(), "{name}");
    }
}

/// A program that changed does not keep the rights that it was given as another.
#[test]
fn capabilities_are_not_kept() {
    let Some(desk) = desk("capabilities of files") else { return };
    let path = desk.put("f", "old\n");
    let capability: Vec<u8> =
        [0x0200_0000_u32, 1 << 13, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    if let Err(errno) = set(&path, "security.capability", &capability) {
        return skipped("capabilities of files", &format!("they cannot be set: {errno}"));
    }
    desk.call(&Edit, json!({ "path": "f", "old": "old", "new": "new" })).unwrap();
    assert_eq!(get(&path, "security.capability"), None);
}
