//! `make`, whose words can hold code of its own.

use policy::Word;

use super::options::{Found, Item, Options};
use super::programs::{deeper, effect};
use super::words::{is_stdin, with_text};
use super::{Launch, Start};

const MAKE: &str = "-f|--file|--makefile: -E|--eval: -C|--directory:@ -I|--include-dir: -o|--old-file|--assume-old: \
    -W|--what-if|--new-file|--assume-new: -j|--jobs? -l|--load-average? -O|--output-sync? --debug? --shuffle? \
    --jobserver-auth: --jobserver-fds: --jobserver-style: --sync-output";

/// `make`: a makefile from standard input, `--eval`, and variables that are code.
pub(super) fn make(words: &[Word], launch: &mut Launch) {
    for item in Options::new(words, MAKE) {
        match item {
            Item::Found(Found { name: "-f", value: Some(file), .. }) if is_stdin(&file.text) => {
                launch.starts.push(Start::ForeignStdin);
            }
            Item::Found(Found { name: "-C", value: Some(directory), .. }) => deeper(directory, launch),
            Item::Found(Found { name: "-E", value: Some(code), at, .. }) => evaluated(&code, at, launch),
            Item::Found(found) => effect(&found, launch),
            Item::Operand(at) => {
                if let Some(word) = words.get(at) {
                    variable(word, at, launch);
                }
            }
            Item::Strange(_) => {}
        }
    }
}

fn evaluated(code: &Word, at: usize, launch: &mut Launch) {
    launch.hazard(at);
    launch.own_code(code, "make");
    shell_calls(code, launch);
}

/// `NAME=VALUE`: the shell of all recipes, or a value that runs something when it is read.
fn variable(word: &Word, at: usize, launch: &mut Launch) {
    let Some((name, value)) = word.text.split_once('=') else { return };
    let plain = name.trim_end_matches([':', '?', '+']).trim();
    if matches!(plain, "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS" | "MAKEFILES") {
        launch.hazard(at);
        launch.own_code(word, "make");
    } else if name.ends_with('!') {
        launch.hazard(at);
        launch.own_code(word, "make");
        launch.code(with_text(word, value));
    } else if ["shell", "eval", "guile", "load"].iter().any(|call| calls(value, call)) {
        launch.hazard(at);
        launch.own_code(word, "make");
        shell_calls(word, launch);
    }
}

/// Returns true if `$(name …)` or `${name …}` stands in a text.
fn calls(text: &str, name: &str) -> bool {
    text.split('$').skip(1).any(|piece| {
        let inner = piece.strip_prefix(['(', '{']).unwrap_or_default().trim_start();
        inner.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '\t']))
    })
}

/// The code of every `$(shell …)`, up to the last bracket.
fn shell_calls(word: &Word, launch: &mut Launch) {
    for opening in ["$(shell ", "${shell "] {
        if let Some((_, behind)) = word.text.split_once(opening) {
            let code = behind.rsplit_once([')', '}']).map_or(behind, |(code, _)| code);
            launch.code(with_text(word, code));
        }
    }
}
