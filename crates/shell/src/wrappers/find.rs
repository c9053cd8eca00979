//! `find`: programs in its expression, and the actions that write.

use policy::Word;

use super::Launch;
use super::words::{anything, filled, from, may_be_option};

/// Looks through an expression.
pub(super) fn find(words: &[Word], launch: &mut Launch) {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        at += match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => command(words, at, launch),
            "-delete" | "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                launch.hazard(at);
                launch.writes.extend(words.get(at + 1).filter(|_| text != "-delete").cloned());
                write_words(text)
            }
            _ if may_be_option(word) => {
                launch.hazard(at);
                1
            }
            _ => 1 + usize::from(has_value(text)),
        };
    }
}

/// A command up to `;`, or up to `+` behind `{}`. Gives how many words it takes.
fn command(words: &[Word], at: usize, launch: &mut Launch) -> usize {
    let behind = from(words, at + 1);
    let ends = |at: usize, word: &Word| {
        let places =
            at.checked_sub(1).and_then(|before| behind.get(before)).is_some_and(|word| word.text == "{}");
        word.text == ";" || (word.text == "+" && places)
    };
    let length = behind.iter().enumerate().take_while(|(at, word)| !ends(*at, word)).count();
    let command = filled(behind.get(..length).unwrap_or_default(), "{}");
    if words.get(at).is_some_and(|word| word.text.ends_with("dir")) {
        launch.directory = words.get(at).map(anything);
    }
    launch.program(command, false);
    length + 2
}

fn write_words(action: &str) -> usize {
    match action {
        "-delete" => 1,
        "-fprintf" => 3,
        _ => 2,
    }
}

/// Returns true if a test takes the next word, so that a file called `-exec` is not an action.
fn has_value(test: &str) -> bool {
    matches!(
        test,
        "-name"
            | "-iname"
            | "-path"
            | "-ipath"
            | "-wholename"
            | "-iwholename"
            | "-regex"
            | "-iregex"
            | "-lname"
            | "-ilname"
            | "-type"
            | "-xtype"
            | "-size"
            | "-mtime"
            | "-atime"
            | "-ctime"
            | "-mmin"
            | "-amin"
            | "-cmin"
            | "-perm"
            | "-user"
            | "-group"
            | "-uid"
            | "-gid"
            | "-links"
            | "-inum"
            | "-samefile"
            | "-maxdepth"
            | "-mindepth"
            | "-fstype"
            | "-printf"
            | "-regextype"
            | "-used"
            | "-context"
            | "-anewer"
            | "-cnewer"
            | "-files0-from"
            | "-D"
    ) || test.starts_with("-newer")
}
