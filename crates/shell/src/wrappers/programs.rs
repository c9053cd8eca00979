//! Programs of which single options start or write something.

use policy::Word;

use super::options::{Found, Item, Options};
use super::words::{from, is_stdin, may_be_option, with_text};
use super::{Look, Start, remote, split};

/// Looks only at the options that a specification names.
pub(super) fn by_options(spec: &'static str, words: &[Word], look: &mut Look) {
    for item in Options::new(words, spec) {
        match item {
            Item::Found(found) => effect(&found, look),
            Item::Strange(at) => unknown_option(words, at, look),
            Item::Operand(_) => {}
        }
    }
}

/// An option that is not all known could be one that starts something.
pub(super) fn unknown_option(words: &[Word], at: usize, look: &mut Look) {
    if words.get(at).is_some_and(may_be_option) {
        look.hazard(at);
    }
}

/// The same for options that begin somewhere else. Gives the operands.
pub(super) fn in_options(options: Options<'_>, look: &mut Look) -> Vec<usize> {
    let mut operands = Vec::new();
    for item in options {
        match item {
            Item::Found(found) => effect(&found, look),
            Item::Operand(at) => operands.push(at),
            Item::Strange(_) => {}
        }
    }
    operands
}

/// Applies the additional effect of an option, as its specification says.
pub(super) fn effect(found: &Found, look: &mut Look) {
    let Some(effect) = found.effect else { return };
    if effect == '@' {
        look.directory.clone_from(&found.value);
        return;
    }
    if !matches!(effect, '.' | '=' | '~') {
        look.hazard(found.at);
    }
    if let Some(value) = &found.value {
        value_effect(effect, value, found.at, look);
    }
}

/// A directory that is looked up from the one before: `-C a -C b`.
pub(super) fn deeper(value: Word, look: &mut Look) {
    look.directory = Some(match look.directory.take() {
        Some(before) if !value.text.starts_with('/') => {
            let certainty = before.certainty.max(value.certainty);
            Word { certainty, ..with_text(&value, format!("{}/{}", before.text, value.text)) }
        }
        _ => value,
    });
}

fn value_effect(effect: char, value: &Word, at: usize, look: &mut Look) {
    match effect {
        '$' => look.code(value.clone()),
        '%' => look.program(split::at_blanks(value), false),
        '=' => remote::ssh_option(value, at, look),
        '~' => file_or_pipe(value, at, look),
        _ => {}
    }
}

/// A file that is written, or a program when it begins like a pipe.
fn file_or_pipe(value: &Word, at: usize, look: &mut Look) {
    look.hazard(at);
    if let Some(code) = value.text.strip_prefix(['|', '!']) {
        look.code(with_text(value, code));
    }
}

const TAR: &str = "--checkpoint-action: --to-command:$ -I|--use-compress-program:% -F|--info-script|--new-volume-script:$ \
    --rsh-command:% --rmt-command:% -T|--files-from:! -b: -C|--directory: -f|--file: -g|--listed-incremental:! -H: -K: \
    -L: -N: -V: -X: --checkpoint? --index-file:! --volno-file:!";

/// `tar`, also with its options as one word without a dash.
pub(super) fn tar(words: &[Word], look: &mut Look) {
    let old = words.get(1).filter(|word| !word.text.starts_with('-'));
    let next = old.map_or(1, |letters| old_letters(words, letters, look));
    for item in Options::starting(words, TAR, next) {
        match item {
            Item::Found(Found { name: "--checkpoint-action", value: Some(value), at, .. }) => {
                checkpoint(&value, at, look);
            }
            Item::Found(found) => effect(&found, look),
            Item::Operand(at) | Item::Strange(at) => unknown_option(words, at, look),
        }
    }
}

fn checkpoint(value: &Word, at: usize, look: &mut Look) {
    if let Some(code) = value.text.strip_prefix("exec=") {
        look.hazard(at);
        look.own_code(value, "checkpoint");
        look.code(with_text(value, code));
    } else if !value.is_literal() {
        look.hazard(at);
        look.unprovable(value, "what `tar` does at a checkpoint is not known");
    }
}

/// Letters without a dash take their values from the words behind, in order. Gives the first word that is left.
fn old_letters(words: &[Word], letters: &Word, look: &mut Look) -> usize {
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
                look.hazard(next);
                value_effect(effect, value, next, look);
            }
        }
        next += 1;
    }
    next
}

/// `less`: what follows `+` is typed at the beginning.
pub(super) fn less(words: &[Word], look: &mut Look) {
    const LESS: &str = "-o|--log-file:! -O|--LOG-FILE:! -k|--lesskey-file:! --lesskey-src:! --lesskey-content:! -b: -h: \
        -j: -p: -P: -t: -T: -x: -y: -z: -D:";
    for at in in_options(Options::new(words, LESS), look) {
        let Some(word) = words.get(at).filter(|word| word.text.starts_with('+')) else { continue };
        if let Some((_, code)) = word.text.split_once(['!', '|', '#']) {
            look.hazard(at);
            look.code(with_text(word, code));
        }
    }
}

/// `at` and `batch` read shell code.
pub(super) fn at(words: &[Word], look: &mut Look) {
    const AT: &str = "-f: -q: -t: -l. -r. -d. -c. -m -M -v -V. -b";
    for item in Options::new(words, AT) {
        match item {
            Item::Found(Found { effect: Some('.'), .. }) => return,
            Item::Found(Found { name: "-f", value: Some(file), .. }) => {
                return look.starts.push(Start::Script { file, dialect: crate::Dialect::Sh });
            }
            _ => {}
        }
    }
    look.starts.push(Start::Stdin(crate::Dialect::Sh));
}

/// `hyperfine`: every operand is shell code.
pub(super) fn hyperfine(words: &[Word], look: &mut Look) {
    const HYPERFINE: &str = "-w|--warmup: -m|--min-runs: -M|--max-runs: -r|--runs: -s|--setup:$ --reference:$ \
        -p|--prepare:$ -C|--conclude:$ -c|--cleanup:$ -P|--parameter-scan: -D|--parameter-step-size: \
        -L|--parameter-list: -S|--shell:! -N -i|--ignore-failure --style: --sort: -u|--time-unit: --export-json:! \
        --export-csv:! --export-markdown:! --export-asciidoc:! --export-orgmode:! --show-output --output:! --input: \
        -n|--command-name:";
    for at in in_options(Options::new(words, HYPERFINE), look) {
        look.joined(words.get(at..=at).unwrap_or_default());
    }
}

/// `m4` without a file reads its program from standard input.
pub(super) fn m4(words: &[Word], look: &mut Look) {
    const M4: &str = "-D|--define: -U: -I|--include: -B: -H: -L: -N: -S: -T: -d? -F:! -R: -o: -l: -t: -E -e -P -Q -G -g \
        -s --help. --version.";
    let mut files = 0;
    for item in Options::new(words, M4) {
        match item {
            Item::Found(Found { name: "-D", value: Some(value), .. }) if value.text.contains("syscmd") => {
                look.own_code(&value, "m4");
            }
            Item::Found(found) => effect(&found, look),
            Item::Operand(at) => {
                files += usize::from(words.get(at).is_some_and(|word| !is_stdin(&word.text)));
            }
            Item::Strange(_) => {}
        }
    }
    if files == 0 {
        look.starts.push(Start::ForeignStdin);
    }
}

/// `busybox` and `toybox` start what their first word names.
pub(super) fn applets(words: &[Word], look: &mut Look) {
    match words.get(1).map(|word| word.text.as_str()) {
        Some("--install") => look.hazard(1),
        Some(option) if option.starts_with("--") => {}
        _ => look.program(from(words, 1).to_vec(), true),
    }
}
