//! Objects that a command was approved with, behind its names, so that another object under the same name is noticed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use guard::{Abort, Failed, Guard, ObjectId, Refusal, Trouble, Version};
use jail::Spec;
use policy::{Arguments, Invocation};

use crate::command::{NotStarted, Task};

/// The directory where a command starts, and the programs that its line names.
#[derive(Debug)]
pub(crate) struct Approved {
    /// Directory in which it starts. It does not bound where the command may go: only the jail does.
    pub(crate) cwd: PathBuf,
    /// Object that was there when the command was judged.
    directory: ObjectId,
    invocation: Invocation,
    search: Vec<PathBuf>,
    programs: Vec<(PathBuf, Option<Version>)>,
}

/// Opens the directory where a command is to start.
pub(crate) fn directory(
    guard: &Guard,
    cwd: Option<&Path>,
    abort: &Abort,
) -> Result<(PathBuf, ObjectId), NotStarted> {
    let workspace = guard.workspace();
    let failed = |trouble, path: &Path| NotStarted::from(Refusal::from(Failed::new(trouble, path)));
    let Some(cwd) = cwd else {
        let object = guard.workspace_object().map_err(|trouble| failed(trouble, workspace))?;
        return Ok((workspace.to_owned(), object));
    };
    let opened = guard.read(cwd, abort)?;
    let real = opened.location().path();
    if !opened.is_directory() {
        return Err(failed(Trouble::NotADirectory, cwd));
    }
    if !real.starts_with(workspace) {
        return Err(NotStarted::Outside(cwd.to_owned()));
    }
    Ok((real.to_owned(), opened.object()))
}

impl Approved {
    /// Looks at the programs that a line names. A program that the line makes, or that only the jail has, is not there and counts as that.
    pub(crate) fn new((cwd, directory): (PathBuf, ObjectId), invocation: Invocation, spec: &Spec) -> Self {
        let path = spec.environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_os_str());
        let search = std::env::split_paths(path.unwrap_or(OsStr::new(""))).collect();
        let mut approved = Self { cwd, directory, invocation, search, programs: Vec::new() };
        approved.programs = approved.look();
        approved
    }

    pub(crate) fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    /// The arguments that the command is judged by, bound to everything that changes what it does.
    pub(crate) fn arguments(&self, task: &Task<'_>, workspace: &Path) -> Arguments {
        let mut arguments = task.arguments.clone();
        let short = self.cwd.strip_prefix(workspace).unwrap_or(&self.cwd);
        let short = if short.as_os_str().is_empty() { Path::new(".") } else { short };
        arguments.also("command", task.line);
        arguments.also("cwd", short.to_string_lossy());
        arguments.bind("line", task.line.as_bytes());
        arguments.bind("input", task.input);
        arguments.bind("cwd", self.cwd.as_os_str().as_encoded_bytes());
        arguments.bind("directory", format!("{:?}", self.directory).as_bytes());
        if !task.input.is_empty() {
            arguments.also("input", String::from_utf8_lossy(task.input));
        }
        for (name, value) in task.variables {
            arguments.also("env", format!("{name}={value}"));
            arguments.bind(name, value.as_bytes());
        }
        for (path, version) in &self.programs {
            arguments.bind("program", path.as_os_str().as_encoded_bytes());
            arguments.bind("version", format!("{version:?}").as_bytes());
        }
        arguments
    }

    /// Returns `Ok` if all names still lead to what was approved; else the first one that does not.
    pub(crate) fn verify(&self) -> Result<(), PathBuf> {
        if ObjectId::at(&self.cwd) != Ok(self.directory) {
            return Err(self.cwd.clone());
        }
        let now = self.look();
        let changed = now.iter().zip(&self.programs).find(|(now, before)| now != before);
        changed.map_or(Ok(()), |((path, _), _)| Err(path.clone()))
    }

    /// The file of every program whose name is known, and the state that it is in.
    fn look(&self) -> Vec<(PathBuf, Option<Version>)> {
        let programs = self.invocation.programs.iter();
        let named = programs.flat_map(|program| {
            let from = program.cwd.as_deref().map_or(self.cwd.as_path(), Path::new);
            let all = std::iter::once(&program.argv).chain(&program.through);
            all.filter_map(move |argv| {
                argv.words().first().filter(|word| word.is_literal()).map(|word| (from, word))
            })
        });
        named.map(|(from, word)| self.find(from, &word.text)).collect()
    }

    fn find(&self, from: &Path, name: &str) -> (PathBuf, Option<Version>) {
        let state = |path: PathBuf| {
            let version = Version::at(&path).ok();
            (path, version)
        };
        if name.contains('/') {
            return state(self.cwd.join(from).join(name));
        }
        let mut found = self.search.iter().map(|directory| state(self.cwd.join(directory).join(name)));
        found.find(|(_, version)| version.is_some()).unwrap_or_else(|| (PathBuf::from(name), None))
    }
}
