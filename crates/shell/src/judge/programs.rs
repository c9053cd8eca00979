//! Effects of programs, by which their words are judged.

use policy::KnownProgram;

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
    match KnownProgram::named(name) {
        Some(program) => Role::read(program.effect).unwrap_or(Role::Other),
        None if name.starts_with("mkfs.") || name.starts_with("newfs") => Role::Format,
        None if name.starts_with("zf_") => Role::Zsh,
        None => Role::Other,
    }
}

impl Role {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "names" => Self::Names,
            "raise" => Self::Raise,
            "assign" => Self::Assign,
            "fields" => Self::Fields,
            "remove" => Self::Remove,
            "shred" => Self::Shred,
            "rights" => Self::Rights,
            "move" => Self::Move,
            "copy" => Self::Copy,
            "mirror" => Self::Mirror,
            "write" => Self::Write,
            "make-directory" => Self::MakeDirectory,
            "edit-stream" => Self::EditStream,
            "edit-code" => Self::EditCode,
            "blocks" => Self::Blocks,
            "find" => Self::Find,
            "git" => Self::Git,
            "archive" => Self::Archive,
            "format" => Self::Format,
            "partition" => Self::Partition,
            "disk-verb" => Self::DiskVerb,
            "disk-option" => Self::DiskOption,
            "power" => Self::Power,
            "level" => Self::Level,
            "service" => Self::Service,
            "kill" => Self::Kill,
            "kill-all" => Self::KillAll,
            "clock" => Self::Clock,
            "send" => Self::Send,
            "transfer" => Self::Transfer,
            "zsh" => Self::Zsh,
            "history" => Self::History,
            "print" => Self::Print,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_of_the_table_is_a_role() {
        for program in KnownProgram::all().filter(|program| !program.effect.is_empty()) {
            assert!(Role::read(program.effect).is_some(), "{program:?}");
        }
    }
}
