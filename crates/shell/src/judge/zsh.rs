//! Builtins that only zsh knows.

use policy::Code;

use super::programs::Role;
use super::{Trial, shown};

pub(crate) fn judge(trial: &mut Trial<'_>) {
    let (word, what) = match trial.role {
        Role::Zsh => (Some(trial.first), "reaches files, terminals or the network without a program"),
        Role::History => {
            (trial.parts("", &[]).option("es", &[]).map(|piece| piece.word), "runs earlier commands again")
        }
        Role::Print => (expanding(trial), "runs the substitution in what it prints"),
        _ => return,
    };
    let Some(word) = word else { return };
    let text = format!("`{}` is a builtin of zsh that {what}", shown(&trial.first.text));
    let remedy = "use an ordinary program for it, such as `rm`, `cat` or `printf`";
    trial.report(Code::ZshBuiltin, word, text, remedy);
}

/// `print -P` reads its words like a prompt.
fn expanding<'a>(trial: &Trial<'a>) -> Option<&'a policy::Word> {
    let parts = trial.parts("CfRuxX", &[]);
    let substitutes = |word: &&policy::Word| word.text.contains("$(") || word.text.contains('`');
    trial.words.iter().find(substitutes).filter(|_| parts.has("P", &[]))
}
