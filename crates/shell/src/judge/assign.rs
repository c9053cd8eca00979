//! Variables that change what a program runs, or how the shell reads words.

use policy::{Assignment, Code, Finding, Word};

use super::name::{fits, meets};
use super::shown;
use super::variables::{Free, PLAIN_PROGRAMS, PROGRAM_DIRECTORIES, VARIABLES, Variable};

/// Judges one variable that is set. `global`: it stays set, or is set for a program that is not known to read fields.
pub(crate) fn judge_assignment(assignment: &Assignment, global: bool, found: &mut Vec<Finding>) {
    let (name, value) = (assignment.name.trim_end_matches('+'), &assignment.value);
    if name == "IFS" {
        if global && !is_line_feed(value) {
            found.push(field_separator(value));
        }
        return;
    }
    let variable = VARIABLES.iter().find(|row| names(row, name));
    found.extend(variable.filter(|row| !is_free(row.free, value)).map(|row| override_of(row, name, value)));
}

/// Splitting at line ends is everyday, and cannot make one word of a line into a program and its options.
fn is_line_feed(value: &Word) -> bool {
    value.is_literal() && value.text == "\n"
}

fn field_separator(value: &Word) -> Finding {
    let text = "`IFS` is changed, so the words of later commands are not where they seem to be";
    Finding::new(Code::FieldSeparator, value.span, text)
        .remedy("set it for one `read` only: `IFS=, read -r a b`; or split with `cut`, `tr` or `awk`")
}

fn override_of(variable: &Variable, name: &str, value: &Word) -> Finding {
    let text = format!("`{name}` is set to `{}`, and it {}", shown(&value.text), variable.why);
    let remedy = match variable.free {
        Free::Directories => "call the program by its path, and leave `PATH` alone",
        Free::Plain => "leave it out, or set it to `cat` or `true`",
        _ => "leave it out, or use an option of the program that says the same",
    };
    Finding::new(Code::EnvironmentOverride, value.span, text).remedy(remedy)
}

fn names(row: &Variable, name: &str) -> bool {
    row.name.as_bytes().first() == name.as_bytes().first() && meets(row.name, name, false)
}

fn is_free(free: Free, value: &Word) -> bool {
    let text = value.text.as_str();
    let known = value.is_literal();
    match free {
        Free::Never => false,
        Free::Plain => known && PLAIN_PROGRAMS.contains(&text),
        Free::Values(values) => known && values.contains(&text),
        Free::Options(options) => {
            known && text.split_whitespace().all(|word| options.iter().any(|option| word.starts_with(option)))
        }
        Free::Text => known && !text.contains("$(") && !text.contains('`') && !text.contains("@P}"),
        Free::Directories => known && text.split(':').all(is_program_directory),
        Free::Below => known && text.split(':').all(is_below),
    }
}

/// A directory that is named from here and does not lead away.
fn is_below(path: &str) -> bool {
    !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..")
}

/// A directory that only the owner of the machine writes to.
fn is_program_directory(path: &str) -> bool {
    let plain = path.starts_with('/') && !path.contains("/..");
    plain && PROGRAM_DIRECTORIES.iter().any(|row| fits(row, path, false))
}
