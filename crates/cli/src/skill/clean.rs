//! `ringfence skill clean`: a text without anything that hides in it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skill::clean::{Clean, Counts, clean};
use skill::main_file;

use super::one::{One, unreadable};
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
    let one = One::at(&args.path)?;
    let (path, text) =
        main_file(one.skill()).map_err(|refused| unreadable(&args.path, &refused.to_string()))?;
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
