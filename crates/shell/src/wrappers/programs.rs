//! Programs of which single options start or write something.

use policy::Word;

use super::options::{Found, Item, Options};
use super::words::{from, is_stdin, may_be_option, with_text};
use super::{Launch, Start, remote, split};

/// Looks only at the options that a specification names.
pub(super) fn by_options(spec: &'static str, words: &[Word], launch: &mut Launch) {
    for item in Options::new(words, spec) {
        match item {
            Item::Found(found) => effect(&found, launch),
            Item::Strange(at) => unknown_option(words, at, launch),
            Item::Operand(_) => {}
        }
    }
}

/// An option that is not all known could be one that starts something.
pub(super) fn unknown_option(words: &[Word], at: usize, launch: &mut Launch) {
    if words.get(at).is_some_and(may_be_option) {
        launch.hazard(at);
    }
}

/// The same for options that begin somewhere else. Gives the operands.
pub(super) fn in_options(options: Options<'_>, launch: &mut Launch) -> Vec<usize> {
    let mut operands = Vec::new();
    for item in options {
        match item {
            Item::Found(found) => effect(&found, launch),
            Item::Operand(at) => operands.push(at),
            Item::Strange(_) => {}
        }
    }
    operands
}

/// Applies the additional effect of an option, as its specification says.
pub(super) fn effect(found: &Found, launch: &mut Launch) {
    let Some(effect) = found.effect else { return };
    if effect == '@' {
        launch.directory.clone_from(&found.value);
        return;
    }
    if !matches!(effect, '.' | '=' | '~') {
        launch.hazard(found.at);
    }
    if let Some(value) = &found.value {
        value_effect(effect, value, found.at, launch);
    }
}

/// A directory that is looked up from the one before: `-C a -C b`.
pub(super) fn deeper(value: Word, launch: &mut Launch) {
    launch.directory = Some(match launch.directory.take() {
        Some(before) if !value.text.starts_with('/') => {
            let certainty = before.certainty.max(value.certainty);
            Word { certainty, ..with_text(&value, format!("{}/{}", before.text, value.text)) }
        }
        _ => value,
    });
}

fn value_effect(effect: char, value: &Word, at: usize, launch: &mut Launch) {
    match effect {
        '$' => launch.code(value.clone()),
        '%' => launch.program(split::at_blanks(value), false),
        '=' => remote::ssh_option(value, at, launch),
        '~' => file_or_pipe(value, at, launch),
        _ => {}
    }
}

/// A file that is written, or a program when it begins like a pipe.
fn file_or_pipe(value: &Word, at: usize, launch: &mut Launch) {
    launch.hazard(at);
    if let Some(code) = value.text.strip_prefix(['|', '!']) {
        launch.code(with_text(value, code));
    }
}

const TAR: &str = "--checkpoint-action: --to-command:$ -I|--use-compress-program:% -F|--info-script|--new-volume-script:$ \
    --rsh-command:% --rmt-command:% -T|--files-from:! -b: -C|--directory: -f|--file: -g|--listed-incremental:! -H: -K: \
    -L: -N: -V: -X: --checkpoint? --index-file:! --volno-file:!";

/// `tar`, also with its options as one word without a dash.
pub(super) fn tar(words: &[Word], launch: &mut Launch) {
    let old = words.get(1).filter(|word| !word.text.starts_with('-'));
    let next = old.map_or(1, |letters| old_letters(words, letters, launch));
    for item in Options::starting(words, TAR, next) {
        match item {
            Item::Found(Found { name: "--checkpoint-action", value: Some(value), at, .. }) => {
                checkpoint(&value, at, launch);
            }
            Item::Found(found) => effect(&found, launch),
            Item::Operand(at) | Item::Strange(at) => unknown_option(words, at, launch),
        }
    }
}

fn checkpoint(value: &Word, at: usize, launch: &mut Launch) {
    if let Some(code) = value.text.strip_prefix("exec=") {
        launch.hazard(at);
        launch.own_code(value, "checkpoint");
        launch.code(with_text(value, code));
    } else if !value.is_literal() {
        launch.hazard(at);
        launch.unprovable(value, "what `tar` does at a checkpoint is not known");
    }
}

/// Letters without a dash take their values from the words behind, in order. Gives the first word that is left.
fn old_letters(words: &[Word], letters: &Word, launch: &mut Launch) -> usize {
    let mut next = 2;
    for letter in letters.text.chars() {
        if !"bCfFgHIKLNTVX".contains(letter) {
            continue;
        }
        if let Some(value) = words.get(next) {
            let effect = match letter {
                'F' => '$',
                'I' => '%',
                'T' | 'g' => '!',
                _ => ' ',
            };
            if effect != ' ' {
                launch.hazard(next);
                value_effect(effect, value, next, launch);
            }
        }
        next += 1;
    }
    next
}

/// `less`: what follows `+` is typed at the beginning.
pub(super) fn less(words: &[Word], launch: &mut Launch) {
    const LESS: &str = "-o|--log-file:! -O|--LOG-FILE:! -k|--lesskey-file:! --lesskey-src:! --lesskey-content:! -b: -h: \
        -j: -p: -P: -t: -T: -x: -y: -z: -D:";
    for at in in_options(Options::new(words, LESS), launch) {
        let Some(word) = words.get(at).filter(|word| word.text.starts_with('+')) else { continue };
        if let Some((_, code)) = word.text.split_once(['!', '|', '#']) {
            launch.hazard(at);
            launch.code(with_text(word, code));
        }
    }
}

/// `at` and `batch` read shell code.
pub(super) fn at(words: &[Word], launch: &mut Launch) {
    const AT: &str = "-f: -q: -t: -l. -r. -d. -c. -m -M -v -V. -b";
    for item in Options::new(words, AT) {
        match item {
            Item::Found(Found { effect: Some('.'), .. }) => return,
            Item::Found(Found { name: "-f", value: Some(file), .. }) => {
                return launch.starts.push(Start::Script { file, dialect: crate::Dialect::Sh });
            }
            _ => {}
        }
    }
    launch.starts.push(Start::Stdin(crate::Dialect::Sh));
}

/// `hyperfine`: every operand is shell code.
pub(super) fn hyperfine(words: &[Word], launch: &mut Launch) {
    const HYPERFINE: &str = "-w|--warmup: -m|--min-runs: -M|--max-runs: -r|--runs: -s|--setup:$ --reference:$ \
        -p|--prepare:$ -C|--conclude:$ -c|--cleanup:$ -P|--parameter-scan: -D|--parameter-step-size: \
        -L|--parameter-list: -S|--shell:! -N -i|--ignore-failure --style: --sort: -u|--time-unit: --export-json:! \
        --export-csv:! --export-markdown:! --export-asciidoc:! --export-orgmode:! --show-output --output:! --input: \
        -n|--command-name:";
    for at in in_options(Options::new(words, HYPERFINE), launch) {
        launch.joined(words.get(at..=at).unwrap_or_default());
    }
}

/// `m4` without a file reads its program from standard input.
pub(super) fn m4(words: &[Word], launch: &mut Launch) {
    const M4: &str = "-D|--define: -U: -I|--include: -B: -H: -L: -N: -S: -T: -d? -F:! -R: -o: -l: -t: -E -e -P -Q -G -g \
        -s --help. --version.";
    let mut files = 0;
    for item in Options::new(words, M4) {
        match item {
            Item::Found(Found { name: "-D", value: Some(value), .. }) if value.text.contains("syscmd") => {
                launch.own_code(&value, "m4");
            }
            Item::Found(found) => effect(&found, launch),
            Item::Operand(at) => {
                files += usize::from(words.get(at).is_some_and(|word| !is_stdin(&word.text)));
            }
            Item::Strange(_) => {}
        }
    }
    if files == 0 {
        launch.starts.push(Start::ForeignStdin);
    }
}

/// `busybox` and `toybox` start what their first word names.
pub(super) fn applets(words: &[Word], launch: &mut Launch) {
    match words.get(1).map(|word| word.text.as_str()) {
        Some("--install") => launch.hazard(1),
        Some(option) if option.starts_with("--") => {}
        _ => launch.program(from(words, 1).to_vec(), true),
    }
}
