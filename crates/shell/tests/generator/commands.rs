//! Commands: simple and compound, with redirections and assignments.

use super::Grammar;

impl Grammar {
    pub(super) fn line(&mut self) {
        if self.chance.one_in(12) {
            self.put_one(&["# it's\n", "#!/bin/sh\n", "\n", " \t", "# $(pwn) \"\n", "\\\n"]);
        }
        self.list();
        if self.chance.one_in(6) {
            self.put_one(&[" # don't", " # $(pwn) `pwn` \"", " #", "#", " # \\"]);
        }
        if !self.bodies.is_empty() || self.chance.one_in(5) {
            self.newline();
        }
    }

    pub(super) fn list(&mut self) {
        self.command();
        for _ in 0..self.chance.below(3) {
            if self.chance.one_in(4) {
                self.newline();
            } else {
                self.put_one(&["; ", " && ", " || ", " | ", ";", "&&", "|", " & ", " |\n", " &&\n"]);
            }
            self.command();
        }
    }

    fn command(&mut self) {
        self.part_of(
            &[
                Self::simple,
                Self::simple,
                Self::simple,
                Self::simple,
                Self::grouped,
                Self::branch,
                Self::repeated,
                Self::case,
                Self::function,
                Self::assigned,
                Self::fed,
                Self::spelled,
                Self::started,
                Self::evaluated,
                Self::requoted,
            ],
            &[
                Self::evaluated,
                Self::evaluated,
                Self::requoted,
                Self::simple,
                Self::array,
                Self::test,
                Self::indirect,
            ],
            Self::leaf,
        );
    }

    fn leaf(&mut self) {
        self.put_one(&["vis", "true", ":", "vis a", "aux a", "pwn", "false"]);
    }

    fn simple(&mut self) {
        if self.chance.one_in(8) {
            self.put_one(&["A=1 ", "A='b c' ", "A= ", "A=\"a\" B=2 "]);
        }
        self.put_one(&["vis", "vis", "echo", ":", "true", "printf %s", "aux", "cat /dev/null"]);
        for _ in 0..self.chance.below(4) {
            self.put_one(&[" ", " ", " ", "\t", " \\\n "]);
            self.word();
        }
        if self.chance.one_in(5) {
            self.redirect();
        }
    }

    fn redirect(&mut self) {
        self.part_of(
            &[
                |g| {
                    g.put_one(&[
                        " >f",
                        " 2>&1",
                        " </dev/null",
                        " >>f",
                        " >|f",
                        " <>f",
                        " 3>f",
                        " >'f g'",
                        " >&2",
                    ]);
                },
                |g| g.put_one(&[" <&-", " >f\"$(pwn)\"", " >$(aux f)", " >f`pwn`", " 2>/dev/null"]),
                Self::heredoc,
                Self::heredoc,
            ],
            &[|g| g.put_one(&[" &>f", " >&f", " &>>f", " {fd}>f"]), Self::here_string],
            |g| g.put(" >f"),
        );
    }

    fn here_string(&mut self) {
        self.put(" <<<");
        self.put_one(&["", " "]);
        self.word();
    }

    /// `cat` with one or two heredocs.
    fn fed(&mut self) {
        self.put("cat");
        self.heredoc();
        if self.chance.one_in(3) {
            self.heredoc();
        }
        self.put_one(&["", "", " | cat", "; vis", " && vis", " # it's"]);
    }

    fn grouped(&mut self) {
        let (open, close) = *self.chance.of(&[
            &("(", ")"),
            &("{ ", "; }"),
            &("{\n", "\n}"),
            &("( ", " )"),
            &("! ", ""),
            &("((", ") )"),
            &("time ", ""),
        ]);
        self.enclosed(open, close);
    }

    /// A list of its own. Heredocs that begin in it end in it.
    fn enclosed(&mut self, open: &str, close: &str) {
        let before = self.bodies.len();
        self.put(open);
        self.list();
        if self.bodies.len() <= before {
            self.put(close);
        } else {
            self.newline();
            self.put(close.trim_start_matches([';', ' ']));
        }
    }

    fn branch(&mut self) {
        self.put_one(&[
            "if true; then ",
            "if ! false\nthen\n",
            "if (true) then ",
            "if [ a = a ]; then ",
            "if false; then pwn; else ",
        ]);
        self.enclosed("", "; fi");
    }

    fn repeated(&mut self) {
        self.put_some(
            &[
                "for i in a; do ",
                "for i in 'a b' c\ndo ",
                "while false; do ",
                "until true; do ",
                "for i in $(aux a); do ",
            ],
            &["for i do ", "for ((i=0;i<1;i++)); do ", "select i in; do ", "for i in {1..2}; do "],
        );
        self.enclosed("", "; done");
    }

    fn case(&mut self) {
        self.put_one(&[
            "case a in ",
            "case \"$x\" in ",
            "case a\nin\n",
            "case $(aux a) in ",
            "case 'a)' in ",
        ]);
        self.put_one(&[
            "a) ",
            "(a) ",
            "a|b) ",
            "*) ",
            "(a|'b)') ",
            "\"a\") ",
            "[ab]) ",
            "b) pwn ;; a) ",
            "\\)) ;; *) ",
        ]);
        self.enclosed("", " ;; esac");
    }

    fn function(&mut self) {
        self.put_some(&["f() { ", "f ()\n{ "], &["function f { ", "function f() { "]);
        self.enclosed("", "; }");
        self.put_one(&["; f", "; f a", "\nf", "", "; vis $(f)"]);
    }

    fn array(&mut self) {
        self.put_one(&[
            "a=(x y)",
            "a=(x 'y z' \"$(aux w)\")",
            "a=($(pwn))",
            "a=([0]=x [1]=`pwn`)",
            "a+=(x)",
            "a=(\nx # it's\ny\n)",
            "a[0]=x",
            "declare a=(x)",
            "local a=b",
            "export A='b c'",
            "readonly R=1",
        ]);
        self.put_one(&["", "; echo \"${a[@]}\"", "; vis \"${a[0]}\""]);
    }

    fn test(&mut self) {
        self.put_one(&[
            "[[ -n a ]]",
            "[[ a == b* && -z '' ]]",
            "[[ -n $(pwn) ]]",
            "[[ a =~ (b|c) ]]",
            "[[ a < b ]]",
            "[[ ( a == a ) ]]",
            "[ -n \"$(aux a)\" ]",
            "((1))",
            "(( x = 1 ))",
            "(( $(aux 1) > 0 ))",
            "[[ ! -e f ]]",
            "[[ -v x ]]",
            "[[ a =~ ^[a-z]+$ ]]",
            "test -n '$(pwn)'",
            "[[ a == $'\\'' ]]",
            "let x=1",
        ]);
        self.put_one(&["", " && vis", " || vis"]);
    }

    fn assigned(&mut self) {
        self.put_one(&["x=", "x=a", "y=", "A_1="]);
        self.word();
        self.put_one(&["", "; vis", "; echo \"$x\""]);
    }

    /// A program by another spelling of its name.
    fn spelled(&mut self) {
        self.put_some(
            &[
                "p'w'n",
                "\"pwn\"",
                "p\\wn",
                "\\pwn",
                "'pwn' a",
                "p\\\nwn",
                "command pwn",
                "env pwn",
                "env A=1 pwn",
                "A=1 pwn",
                ">f pwn",
                "pwn</dev/null",
                "! pwn",
                "{ pwn; }",
                "(pwn)",
                "exec pwn",
                "''pwn",
                "pwn''",
                "\"\"pwn",
                "env -i pwn",
                "command -p env pwn",
                "2>&1 aux b",
                "time pwn",
            ],
            &["$'pwn'", "$'\\x70wn'", "$\"pwn\"", "p{w,}n", "{pwn,a}", "pw{n,x}"],
        );
    }

    /// Writes a program that another one starts. A pipe into a shell is refused with any content.
    fn started(&mut self) {
        self.wild();
        self.put_one(&[
            "sh -c pwn",
            "sh -c 'aux a'",
            "echo a | xargs pwn",
            "echo pwn | sh",
            "sh <<E\npwn\nE\n",
            "env sh -c \"pwn\"",
        ]);
    }

    /// A program that shows only when the line runs.
    fn indirect(&mut self) {
        self.wild();
        self.put_one(&[
            "((x++)) || vis",
            "eval pwn",
            "eval 'aux a'",
            "eval \"$x\"",
            "x=pwn; $x",
            "x=pwn; \"$x\" a",
            "$x pwn",
            "${u} pwn",
            "${u:-pwn}",
            "trap pwn EXIT",
            "trap 'pwn' 0",
            "x='pwn a'; $x",
            "x='a[$(pwn)]'; ((x))",
            "[[ 'a[$(pwn)]' -eq 0 ]]",
            "alias v=pwn\nv",
            "coproc pwn",
            "set -- pwn; \"$@\"",
            "x=$(echo pwn); $x",
            "$(echo pwn)",
            "`echo pwn` a",
            "read x <<<pwn; $x",
            "PS4='$(pwn)'; set -x; :",
            "x='$(pwn)'; echo \"${x@P}\"",
            "IFS=,; x=pwn,a; $x",
            "builtin eval pwn",
            "command eval pwn",
            ". /dev/stdin <<<pwn",
            "source <(echo pwn)",
            "eval $'\\x70wn'",
            "printf -v x pwn; $x",
            "declare -n r=x; x=pwn; $r",
            "pwn() { :; }; pwn",
            "unset x; ${x-pwn}",
            "echo() { pwn; }; echo a",
            "repeat 1 pwn",
            "if [[ -n a ]] { pwn }",
            "for i (a) pwn",
            "noglob pwn",
            "{ pwn } always { : }",
            "() { pwn }",
            "nocorrect pwn",
            "- pwn",
            "print -P '$(pwn)'",
            "emulate sh -c pwn",
            "exec env pwn",
            "let 'a[$(pwn)]=1'",
            "test -v 'a[$(pwn)]'",
            "declare 'a[$(pwn)]=1'",
            "export 'A'=$(pwn)",
            "read 'a[$(pwn)]' <<<1",
            "x=a; echo ${x/a/$(pwn)}",
            "set -- a; echo ${@:$(aux 1)}",
            "echo ${x:-${y:-$(pwn)}}",
            "aux pwn | sh",
            "cat <<E | sh\npwn\nE\n",
            "echo a | while read x; do pwn; done",
            "mapfile -C pwn -c 1 m <<<a",
            "wait; pwn",
            "x=1 eval pwn",
            "sh <(echo pwn)",
            "hash -p /canary/pwn v; v",
            "functions[v]=pwn; v",
            "aliases[v]=pwn; eval v",
            "\\eval pwn",
            "e''val pwn",
            "xargs -I{} {} <<<pwn",
            "env $(echo pwn)",
            "function a b { pwn }; b",
            "case a { a) pwn ;; }",
            "true; () pwn",
            "f() pwn; f",
            "f() { \"$@\"; }; f pwn",
            "exec <<<pwn; read x; $x",
            "a=(pwn); ${a[0]}",
            "a=(pwn b); \"${a[@]}\"",
            "cd /canary; ./pwn",
            "PATH=/canary v=1 pwn",
            "/canary/pwn",
            "/canary/pw?",
        ]);
    }
}
