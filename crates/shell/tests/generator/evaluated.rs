//! Places where a shell evaluates a value once more: arithmetic, indexes, and quotes inside `${…}`.

use super::Grammar;

/// Values that hold a command for a shell that evaluates them.
const VALUES: &[&str] = &[
    "'a[$(pwn)]'",
    "'x[$(pwn)]'",
    "\"a[\\$(pwn)]\"",
    "a[\\$\\(pwn\\)]",
    "'a[`pwn`]'",
    "$'a[\\x24(pwn)]'",
    "'1+a[$(pwn)]'",
    "'$(pwn)'",
    "'`pwn`'",
    "y",
    "$y",
    "\"$y\"",
    "1",
    "1+1",
    "'a[0]'",
    "\"${u:-a[\\$(pwn)]}\"",
    "\"${u:-$'a[$(pwn)]'}\"",
    "'a[a[$(pwn)]]'",
    "'a[${y}]'",
    "'y'",
    "$(aux 'a[$(pwn)]')",
    "\"$(aux 'a[$(pwn)]')\"",
    "`aux 'a[$(pwn)]'`",
    "$(aux '$(pwn)')",
    "$(echo 1)",
    "$(wc -c </dev/null)",
    "$(nproc)",
    "$#",
    "${#y}",
    "$(aux 'a[$(pwn)]' | wc -l)",
    "1$n",
    "x$n",
];

/// Variables, some of which are numbers from the start.
const NAMES: &[&str] =
    &["x", "x", "n", "a[0]", "RANDOM", "SECONDS", "OPTIND", "HISTCMD", "HISTSIZE", "SHLVL", "LINENO", "r"];

impl Grammar {
    /// A value and a place that evaluates it.
    pub(super) fn evaluated(&mut self) {
        self.wild();
        self.put_some(
            &["", "", "y='a[$(pwn)]'; ", "x='a[$(pwn)]'; "],
            &[
                "a=(1); ",
                "a=(1); y='a[$(pwn)]'; ",
                "declare -i x; ",
                "typeset -i n; ",
                "integer n; ",
                "declare -n r=x; ",
                "declare -n r=RANDOM; ",
                "declare -ia a; ",
                "declare -A a; ",
                "declare -i n; a=(1); ",
                "declare -A a; y='$(pwn)'; ",
            ],
        );
        let (before, behind) = *self.chance.of(&[
            &("", ""),
            &("", ""),
            &("", ""),
            &("", ""),
            &("", "; echo $((x)) $((n))"),
            &("x=1; f() { echo $((x)) $((n)); }; ", "; f"),
            &("x=1; for j in 1 2; do echo $((x)); ", "; done"),
            &("x=1; false && ", "; echo $((x))"),
            &("", "; false && x=1; echo $((x))"),
            &("", "; if false; then x=1; fi; echo $((x))"),
            &("x=1; if true; then ", "; fi; echo $((x))"),
            &("x=1; g() { echo $((x)); }; f() { ", "; g; }; f"),
            &("x=1; f() { ", "; }; f; echo $((x))"),
            &("x=1; nproc() { aux 'a[$(pwn)]'; }; ", "; echo $((x))"),
            &("f() { echo $(($(nproc))); }; nproc() { ", "; echo $x; }; f"),
            &("n=$(", "); echo $((n))"),
            &("x=1; g() { eval \"$1\"; }; ", "; g 'echo $((x))'"),
            &("x=1; y=$x; ", "; y=$x; echo $((y))"),
            &("x=1; ", "; y=x; echo $((y))"),
        ]);
        self.put(before);
        self.part_of(
            &[Self::computed, Self::set_plainly],
            &[Self::set_by_builtin, Self::compared],
            Self::computed,
        );
        self.put_one(&["", "", "; echo $x", "; echo ${x}", "; ((x))", "; vis"]);
        self.put(behind);
    }

    fn value(&mut self) {
        self.put_one(VALUES);
    }

    fn name(&mut self) {
        self.put_one(NAMES);
    }

    fn set_plainly(&mut self) {
        self.name();
        self.put_some(&["="], &["+=", "="]);
        self.value();
        self.put_one(&["", "", " :", " vis", " eval :"]);
    }

    fn set_by_builtin(&mut self) {
        let (before, between, behind) = *self.chance.of(&[
            &("read ", " <<<", ""),
            &("read -r ", " <<<", ""),
            &("read -a ", " <<<", ""),
            &("printf -v ", " %s ", ""),
            &("for ", " in ", "; do :; done"),
            &("for ", " in 1 ", "; do vis; done"),
            &("select ", " in ", "; do break; done <<<1"),
            &("mapfile -t ", " <<<", ""),
            &("declare ", "=", ""),
            &("declare -i ", "=", ""),
            &("typeset -i ", "=", ""),
            &("integer ", "=", ""),
            &("export ", "=", ""),
            &("readonly ", "=", ""),
            &("declare -n ", "=", "; echo $r"),
            &("f() { local -i ", "=", "; }; f"),
            &("f() { local ", "=", "; }; f"),
            &("f() { ", "=", "; }; declare -i x n; f"),
            &(": ${", ":=", "}"),
            &("let ", "=", ""),
            &("", "=(", ")"),
            &("", "=([", "]=1)"),
            &("echo ", " | read ", ""),
            &("getopts a ", " ", ""),
        ]);
        self.put(before);
        self.name();
        self.put(between);
        self.value();
        self.put(behind);
    }

    fn compared(&mut self) {
        let (before, behind) = *self.chance.of(&[
            &("[[ ", " -eq 0 ]]"),
            &("[[ 1 -lt ", " ]]"),
            &("[ ", " -eq 0 ]"),
            &("test -v ", ""),
            &("[[ -v ", " ]]"),
            &("unset ", ""),
            &("echo ${x:", "}"),
            &("echo ${x:0:", "}"),
            &("echo \"${x:", "}\""),
            &("echo ${a[", "]}"),
            &("echo \"${a[", "]}\""),
            &("a[", "]=1"),
            &("echo $[", "]"),
            &("echo $a[", "]"),
            &("((", "))"),
            &("for ((;", ";)); do break; done"),
            &("let ", ""),
            &("repeat ", " vis"),
            &("printf %d ", ""),
            &("printf %s ", ""),
            &("set b c; shift ", ""),
            &("f() { return ", "; }; f"),
            &("(exit ", ")"),
            &("x=", "; echo ${!x}"),
            &("x=", "; echo \"${x@P}\""),
            &("x=", "; echo ${(P)x}"),
            &("echo ${(l:", ":)x}"),
            &("wait -p ", " -n"),
            &("echo /*([", "])"),
        ]);
        self.put(before);
        self.value();
        self.put(behind);
    }

    fn computed(&mut self) {
        let (before, behind) = *self.chance.of(&[
            &("echo $((", "))"),
            &("echo \"$((", "))\""),
            &("echo $((x=", "))"),
            &("echo $((1 + ", "))"),
            &("echo $((a[", "]))"),
            &("cat <<E\n$((", "))\nE\n"),
        ]);
        self.put(before);
        self.value();
        self.put(behind);
    }

    /// `${…}` in double quotes or a here-document, with quotes of every kind in it.
    pub(super) fn requoted(&mut self) {
        self.wild();
        let heredoc = self.chance.one_in(4);
        self.put(if heredoc { "cat <<E\n" } else { "echo \"" });
        self.put_some(
            &["${u:-", "${u-", "${u:=", "${x:+", "${x#", "${x%%", "${u:-a"],
            &["${x/a/", "${x//", "${x^^", "${a[", "${x:", "${u:?", "${@:-", "${!u:-", "${(e)u:-", "${${u}:-"],
        );
        for _ in 0..=self.chance.below(3) {
            self.put_one(&[
                "$'\\x24(pwn)'",
                "$'$(pwn)'",
                "$'$'",
                "$'\\x60'",
                "(pwn)",
                "pwn",
                "`pwn`",
                "\\`pwn\\`",
                "'$(pwn)'",
                "\"$(pwn)\"",
                "\\$(pwn)",
                "\\\\$(pwn)",
                "'",
                "''",
                "\\'",
                "\\\"",
                "\"'\"",
                "$\"a\"",
                "\"",
                "$'\\''",
                "$'\\\\'",
                "${v:-$'$(pwn)'}",
                "\"${v:-$'\\x24(pwn)'}\"",
                "${v:-'$(pwn)'}",
                "\\}",
                "'}'",
                "$'}'",
                "a",
                " ",
                "$'('",
                "$",
                "$'a'",
                "$'\\n'",
                "<(pwn)",
                "~",
                "{a,b}",
            ]);
        }
        self.put(if heredoc { "}\nE\n" } else { "}\"" });
    }
}
