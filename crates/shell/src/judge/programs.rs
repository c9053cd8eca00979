//! Table: programs, and what their words mean.

/// Effect of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Not in the table.
    Other,
    /// It prints or takes names, and never shows what is in the files.
    Names,
    /// It starts the rest with the rights of another user.
    Raise,
    /// It sets variables of the shell.
    Assign,
    /// It reads fields, so a field separator for it alone is ordinary.
    Fields,
    /// It deletes.
    Remove,
    /// It overwrites, and may delete.
    Shred,
    /// It changes rights or owners.
    Rights,
    /// It moves.
    Move,
    /// It copies or links to its last word.
    Copy,
    /// It copies a tree.
    Mirror,
    /// It writes every file it names.
    Write,
    /// It makes directories.
    MakeDirectory,
    /// It edits files if asked to.
    EditStream,
    /// It runs code over files, in place if asked to.
    EditCode,
    /// It copies blocks.
    Blocks,
    /// It searches, and may delete.
    Find,
    /// Git.
    Git,
    /// It packs or unpacks.
    Archive,
    /// It makes a new file system, or removes the old one, with any words.
    Format,
    /// It changes a disk unless it only lists.
    Partition,
    /// Its first word says what happens to a disk.
    DiskVerb,
    /// One of its options ruins a disk.
    DiskOption,
    /// It stops the machine.
    Power,
    /// It stops the machine at some levels.
    Level,
    /// It stops the machine with some verbs.
    Service,
    /// It sends signals.
    Kill,
    /// It sends signals to everything.
    KillAll,
    /// It changes what runs by the clock.
    Clock,
    /// It carries its input to another machine.
    Send,
    /// It carries data to another machine if asked to.
    Transfer,
    /// A builtin of zsh that reaches around the programs.
    Zsh,
    /// It edits and runs earlier commands.
    History,
    /// It prints, and can expand what it prints.
    Print,
}

/// The role of a program, by the name without its directory.
pub(crate) fn role(name: &str) -> Role {
    match TABLE.binary_search_by(|(row, _)| (*row).cmp(name)) {
        Ok(at) => TABLE.get(at).map_or(Role::Other, |(_, role)| *role),
        Err(_) if name.starts_with("mkfs.") || name.starts_with("newfs") => Role::Format,
        Err(_) if name.starts_with("zf_") => Role::Zsh,
        Err(_) => Role::Other,
    }
}

/// Sorted by name.
const TABLE: &[(&str, Role)] = &[
    (":", Role::Names),
    ("[", Role::Names),
    ("[[", Role::Names),
    ("alias", Role::Names),
    ("badblocks", Role::DiskOption),
    ("basename", Role::Names),
    ("blkdiscard", Role::Format),
    ("bsdtar", Role::Archive),
    ("cd", Role::Names),
    ("cfdisk", Role::Partition),
    ("cgdisk", Role::Partition),
    ("chattr", Role::Rights),
    ("chgrp", Role::Rights),
    ("chmod", Role::Rights),
    ("chown", Role::Rights),
    ("command", Role::Names),
    ("cp", Role::Copy),
    ("crontab", Role::Clock),
    ("cryptsetup", Role::DiskVerb),
    ("curl", Role::Transfer),
    ("dd", Role::Blocks),
    ("declare", Role::Assign),
    ("df", Role::Names),
    ("dirname", Role::Names),
    ("diskutil", Role::DiskVerb),
    ("doas", Role::Raise),
    ("du", Role::Names),
    ("echo", Role::Names),
    ("emulate", Role::Zsh),
    ("exa", Role::Names),
    ("exit", Role::Names),
    ("export", Role::Assign),
    ("eza", Role::Names),
    ("false", Role::Names),
    ("fc", Role::History),
    ("fdisk", Role::Partition),
    ("file", Role::Names),
    ("find", Role::Find),
    ("flash_erase", Role::Format),
    ("flash_eraseall", Role::Format),
    ("gdisk", Role::Partition),
    ("getfacl", Role::Names),
    ("gfind", Role::Find),
    ("git", Role::Git),
    ("gosu", Role::Raise),
    ("gsed", Role::EditStream),
    ("gtar", Role::Archive),
    ("halt", Role::Power),
    ("hash", Role::Names),
    ("hdparm", Role::DiskOption),
    ("help", Role::Names),
    ("init", Role::Level),
    ("install", Role::Copy),
    ("kexec", Role::Power),
    ("kill", Role::Kill),
    ("killall5", Role::KillAll),
    ("ll", Role::Names),
    ("ln", Role::Copy),
    ("local", Role::Assign),
    ("locate", Role::Names),
    ("loginctl", Role::Service),
    ("ls", Role::Names),
    ("lsattr", Role::Names),
    ("lvremove", Role::Format),
    ("mapfile", Role::Fields),
    ("mdadm", Role::DiskOption),
    ("mkdir", Role::MakeDirectory),
    ("mkdosfs", Role::Format),
    ("mke2fs", Role::Format),
    ("mkfifo", Role::Write),
    ("mkfs", Role::Format),
    ("mknod", Role::Write),
    ("mkntfs", Role::Format),
    ("mkswap", Role::Format),
    ("mv", Role::Move),
    ("nc", Role::Send),
    ("nc.openbsd", Role::Send),
    ("nc.traditional", Role::Send),
    ("ncat", Role::Send),
    ("netcat", Role::Send),
    ("nvme", Role::DiskVerb),
    ("nwipe", Role::Format),
    ("parted", Role::Partition),
    ("patch", Role::Write),
    ("perl", Role::EditCode),
    ("pkexec", Role::Raise),
    ("popd", Role::Names),
    ("poweroff", Role::Power),
    ("print", Role::Print),
    ("printf", Role::Names),
    ("pushd", Role::Names),
    ("pvcreate", Role::Format),
    ("pvremove", Role::Format),
    ("pwd", Role::Names),
    ("read", Role::Fields),
    ("readarray", Role::Fields),
    ("readlink", Role::Names),
    ("readonly", Role::Assign),
    ("realpath", Role::Names),
    ("reboot", Role::Power),
    ("return", Role::Names),
    ("rm", Role::Remove),
    ("rmdir", Role::Remove),
    ("rsync", Role::Mirror),
    ("ruby", Role::EditCode),
    ("run0", Role::Raise),
    ("runuser", Role::Raise),
    ("scrub", Role::Format),
    ("sed", Role::EditStream),
    ("set", Role::Names),
    ("setfacl", Role::Rights),
    ("sfdisk", Role::Partition),
    ("sg_format", Role::Format),
    ("sgdisk", Role::Partition),
    ("shift", Role::Names),
    ("shopt", Role::Names),
    ("shred", Role::Shred),
    ("shutdown", Role::Power),
    ("sleep", Role::Names),
    ("socat", Role::Send),
    ("ssh", Role::Names),
    ("ssh-add", Role::Names),
    ("ssh-copy-id", Role::Names),
    ("ssh-keygen", Role::Names),
    ("stat", Role::Names),
    ("su", Role::Raise),
    ("su-exec", Role::Raise),
    ("sudo", Role::Raise),
    ("sudoedit", Role::Raise),
    ("sysopen", Role::Zsh),
    ("sysread", Role::Zsh),
    ("sysseek", Role::Zsh),
    ("systemctl", Role::Service),
    ("syswrite", Role::Zsh),
    ("tar", Role::Archive),
    ("tee", Role::Write),
    ("telinit", Role::Level),
    ("telnet", Role::Send),
    ("test", Role::Names),
    ("touch", Role::Write),
    ("tree", Role::Names),
    ("true", Role::Names),
    ("truncate", Role::Write),
    ("type", Role::Names),
    ("typeset", Role::Assign),
    ("umask", Role::Names),
    ("unlink", Role::Remove),
    ("unset", Role::Names),
    ("unzip", Role::Archive),
    ("vgremove", Role::Format),
    ("wait", Role::Names),
    ("wget", Role::Transfer),
    ("whereis", Role::Names),
    ("which", Role::Names),
    ("wipefs", Role::Format),
    ("zcompile", Role::Zsh),
    ("zmodload", Role::Zsh),
    ("zpool", Role::DiskVerb),
    ("zpty", Role::Zsh),
    ("zsocket", Role::Zsh),
    ("ztcp", Role::Zsh),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(TABLE.is_sorted_by(|one, next| one.0 < next.0));
    }
}
