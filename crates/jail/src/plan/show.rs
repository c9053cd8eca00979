//! A plan as a person reads it: one line per step.

use std::fmt;

use policy::Shown;

use super::Plan;
use super::tree::{Access, Kind, Skeleton};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = &self.identity;
        let (inside, outside) = (who.inside, who.outside);
        writeln!(f, "user {} {}:{} is {}:{}", who.user, inside.uid, inside.gid, outside.uid, outside.gid)?;
        if let Some(shows) = who.shows {
            writeln!(f, "files of {}:{} are its own", shows.uid, shows.gid)?;
        }
        let network = match (self.own_network, self.broker) {
            (_, true) => "broker",
            (true, false) => "own",
            (false, false) => "host",
        };
        writeln!(f, "network {network}")?;
        writeln!(f, "scratch {}", self.scratch)?;
        self.skeleton.iter().try_for_each(|(path, thing)| writeln!(f, "{thing} {}", Shown::path(path)))?;
        for mount in &self.mounts {
            mount
                .makes
                .iter()
                .try_for_each(|(path, thing)| writeln!(f, "  {thing} {}", Shown::path(path)))?;
            writeln!(f, "{} {}", mount.kind, Shown::path(&mount.path))?;
        }
        for (path, thing) in &self.late {
            writeln!(f, "{thing} {}", Shown::path(path))?;
        }
        for kept in &self.kept {
            writeln!(f, "changes of {} to {}", Shown::path(&kept.path), Shown::path(&kept.directory))?;
        }
        self.grants
            .iter()
            .try_for_each(|grant| writeln!(f, "grant {} {}", grant.access, Shown::path(&grant.path)))?;
        self.absent.iter().try_for_each(|path| writeln!(f, "absent {}", Shown::path(path)))
    }
}

impl fmt::Display for Skeleton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(mode) => write!(f, "directory {mode:04o}"),
            Self::Link(to) => write!(f, "link to {} as", Shown::path(to)),
            Self::File(text) => write!(f, "file of {} bytes", text.len()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bind { write: true, .. } => "writable",
            Self::Bind { write: false, .. } => "read-only",
            Self::Layered { .. } => "layered",
            Self::Device => "device",
            Self::Scratch => "scratch",
            Self::Parent => "parent",
            Self::Mask { directory: true } => "masked directory",
            Self::Mask { directory: false } => "masked file",
            Self::Void => "void",
            Self::Blank => "blank",
            Self::Content { .. } => "content",
            Self::Processes => "processes",
            Self::Terminals => "terminals",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Device => "device",
            Self::Write => "write",
        })
    }
}
