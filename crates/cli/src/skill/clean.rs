//! `ringfence skill clean`: a text without anything that hides in it.

use std::path::{Path, PathBuf};

use policy::{Code, Shown};
use serde_json::{Value, json};
use skill::clean::{Clean, Counts, clean};
use skill::{Tree, main_file};

use super::gather::{Gathered, gather};
use super::read::read;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Format, Terminal};

/// What a person types after `ringfence skill clean`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CleanArgs {
    /// A skill or a file; `-` for standard input
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

/// Prints the text as a model would read it, and says what was taken out.
pub(crate) fn run(args: &CleanArgs, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let tree = one_tree(&args.path)?;
    let (path, text) =
        main_file(&tree).ok_or_else(|| unreadable(&args.path, "there is no SKILL.md in it"))?;
    let cleaned = clean(&text);
    match terminal.format {
        Format::Json => terminal.json(&json(path, &cleaned))?,
        Format::Text => {
            terminal.out.write_all(cleaned.text.as_bytes())?;
            terminal.out.flush()?;
            writeln!(terminal.err, "{}", said(&cleaned.counts))?;
        }
    }
    Ok(Exit::Ok)
}

/// The one tree at a place that a person typed. What cannot be read is not half read.
pub(crate) fn one_tree(path: &Path) -> Result<Tree, Failure> {
    let Gathered { spots, troubles, .. } = gather(std::slice::from_ref(&path.to_owned()));
    if let Some(trouble) = troubles.first() {
        return Err(unreadable(&trouble.path, &trouble.why));
    }
    let [spot] = spots.as_slice() else {
        let message = format!("{} has {} skills or manifests in it", Shown::path(path), spots.len());
        return Err(Failure::usage(message).hint("name one of them"));
    };
    let (tree, troubles) = read(spot);
    match troubles.first() {
        Some(trouble) => Err(unreadable(&trouble.path, &trouble.why)),
        None => Ok(tree),
    }
}

/// A skill that cannot be read.
pub(crate) fn unreadable(path: &Path, why: &str) -> Failure {
    let mut failure = Failure::coded(Code::SkillUnreadable, format!("{} cannot be read", Shown::path(path)));
    failure.causes.push(why.to_owned());
    failure
}

fn json(path: &Path, cleaned: &Clean) -> Value {
    let Counts { comments, normalised, invisible, tags, controls } = cleaned.counts;
    json!({
        "version": 1,
        "path": super::json::path(path),
        "text": cleaned.text,
        "removed": {
            "comments": comments,
            "normalised": normalised,
            "invisible": invisible,
            "tags": tags,
            "controls": controls,
        },
    })
}

fn said(counts: &Counts) -> String {
    let Counts { comments, normalised, invisible, tags, controls } = *counts;
    if *counts == Counts::default() {
        return "nothing was hidden in it".to_owned();
    }
    format!(
        "taken out: {comments} comments, {invisible} invisible characters, {tags} tags, {controls} control characters; \
         {normalised} stretches in plain letters"
    )
}
