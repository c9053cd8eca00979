//! Archives that come out the same from the same files: no times, no owners.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// One file of an archive.
pub(super) struct Entry<'a> {
    pub(super) path: String,
    pub(super) bytes: &'a [u8],
    pub(super) mode: u32,
}

/// Compresses without a name and a time.
pub(super) fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Makes a compressed tar with every directory on the way.
pub(super) fn tarball(entries: &[Entry<'_>]) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    let directories: BTreeSet<_> = entries
        .iter()
        .flat_map(|entry| Path::new(&entry.path).ancestors().skip(1))
        .filter(|directory| !directory.as_os_str().is_empty())
        .collect();
    for directory in directories {
        add(&mut builder, EntryType::Directory, &format!("{}/", directory.display()), &[], 0o755)?;
    }
    for entry in entries {
        add(&mut builder, EntryType::Regular, &entry.path, entry.bytes, entry.mode)?;
    }
    gzip(&builder.into_inner()?)
}

fn add(
    builder: &mut Builder<Vec<u8>>,
    kind: EntryType,
    path: &str,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(bytes.len() as u64);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    // `append_data` would drop the leading `./` that dpkg writes and expects.
    let name = header.as_old_mut();
    let place =
        name.name.get_mut(..path.len()).ok_or_else(|| io::Error::other(format!("{path} is too long")))?;
    place.copy_from_slice(path.as_bytes());
    header.set_cksum();
    builder.append(&header, bytes)
}

/// Makes a Debian package: an `ar` archive of the format's version, the description and the files.
pub(super) fn deb(control: &str, entries: &[Entry<'_>]) -> io::Result<Vec<u8>> {
    let description = [Entry { path: "./control".into(), bytes: control.as_bytes(), mode: 0o644 }];
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", tarball(&description)?),
        ("data.tar.gz", tarball(entries)?),
    ];
    let mut package = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        writeln!(package, "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 0, 100_644, bytes.len())?;
        package.extend(&bytes);
        if bytes.len() % 2 == 1 {
            package.push(b'\n');
        }
    }
    Ok(package)
}
