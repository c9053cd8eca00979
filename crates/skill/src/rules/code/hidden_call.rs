//! Built-in functions by computed names.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::{ANYWHERE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "CODE_HIDDEN_CALL",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "a built-in function is called by a hidden name",
    why: "A name is computed so that nobody finds it by looking for it.",
    fix: "write the call as what it is",
    places: ANYWHERE,
    anchors: &["getattr", "__getattribute__", "__builtins__", "__dict__", "vars("],
    check: Check::Unit(check),
    hits: &[
        file("x.py", "run = vars(__import__('built' + 'ins'))['ex' + 'ec']\nrun(code)\n"),
        file("x.py", "getattr(__builtins__, 'ex' + 'ec')(code)\n"),
        file("x.py", "f = getattr(__import__('os'), 'sys' + 'tem')\nf(cmd)\n"),
        file(
            "x.py",
            "P = ['o', 's', 'pop', 'en']\nm = __import__(P[0] + P[1])\ngetattr(m, P[2] + P[3])('ls')\n",
        ),
        file("x.py", "e = __builtins__.__dict__['ev' + 'al']\ne(text)\n"),
    ],
    misses: &[
        file("x.py", "value = getattr(options, name)\nerror = getattr(builtins, name)\n"),
        text("`getattr(obj, name)` looks up an attribute."),
        file("x.py", "getattr(self, 'do_' + verb)(line)\ngetattr(runner, 'run')(job)\n"),
    ],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::HiddenCall)
}
