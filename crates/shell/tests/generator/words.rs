//! Words: quotes, expansions, substitutions.

use super::Grammar;

/// Text that a careless reader takes for code, or for the end of a quotation.
const BAIT: &[&str] = &[
    "a", "b c", "it", "$(pwn)", "`pwn`", "${x}", "#", "#c", ";", "|", "(", ")", "{", "}", "<(pwn)", "&&",
    "=", "~", "*", "\"", "=(pwn)", "<<EOF", "$((1))", "[", "]]", "!", "-n", "é", "pwn", "; pwn;",
];
const PLAIN: &[&str] =
    &["a", "b", "x=1", "-n", "--long=v", "a/b", "f.txt", "1", "a#b", "é", "%s", "a:b", "+x", "."];

impl Grammar {
    pub(super) fn word(&mut self) {
        for _ in 0..=self.chance.below(2) {
            self.part_of(
                &[
                    Self::plain,
                    Self::single,
                    Self::single,
                    Self::double,
                    Self::double,
                    Self::escaped,
                    Self::parameter,
                    Self::substitution,
                    Self::backticks,
                    Self::arithmetic,
                ],
                &[Self::ansi, Self::localized, Self::process, Self::brace, Self::rare],
                Self::plain,
            );
        }
    }

    fn plain(&mut self) {
        self.put_one(PLAIN);
    }

    fn single(&mut self) {
        self.put("'");
        self.bait();
        self.put_one(&["", "", "\\", "\"", "\n"]);
        self.put("'");
    }

    fn bait(&mut self) {
        for _ in 0..self.chance.below(4) {
            self.put_one(BAIT);
        }
    }

    pub(super) fn double(&mut self) {
        self.put("\"");
        for _ in 0..self.chance.below(4) {
            self.inside_double();
        }
        self.put("\"");
    }

    fn inside_double(&mut self) {
        self.part(
            &[
                |g| {
                    g.put_one(&[
                        "a", " ", "'", "it's", "#", "(", ")", ";", "<(pwn)", "{a,b}", "$'", "~", "*", "'$'",
                    ]);
                },
                |g| {
                    g.put_one(&[
                        "\\\"",
                        "\\$",
                        "\\`",
                        "\\\\",
                        "\\a",
                        "\\'",
                        "\\$(pwn)",
                        "\\`pwn\\`",
                        "\\\n",
                        "$",
                    ]);
                },
                Self::parameter,
                Self::substitution,
                Self::backticks,
                Self::arithmetic,
            ],
            |g| g.put("a"),
        );
    }

    /// `$'…'`, in which an escaped quote does not end it. dash knows no such form.
    fn ansi(&mut self) {
        self.put("$'");
        for _ in 0..self.chance.below(4) {
            self.put_one(&[
                "a", "\\'", "\\\\", "\\n", "\\x41", "\\u00e9", "\\101", "\"", "$(pwn)", "`pwn`", "#", " ",
                "\\x27", "\\cA",
            ]);
        }
        self.put("'");
    }

    fn localized(&mut self) {
        self.put("$");
        self.double();
    }

    fn escaped(&mut self) {
        self.put_one(&[
            "\\ ",
            "\\'",
            "\\\"",
            "\\$",
            "\\`",
            "\\\\",
            "\\(",
            "\\;",
            "\\#",
            "\\\n",
            "\\$\\(pwn\\)",
            "\\a",
            "\\{",
        ]);
    }

    fn parameter(&mut self) {
        self.part_of(
            &[
                |g| {
                    g.put_one(&[
                        "$x", "${x}", "$1", "${#x}", "$?", "$#", "\"$@\"", "$*", "${x%a}", "${x##*/}",
                    ]);
                },
                |g| g.defaulted(&["${x:-", "${x-", "${x:+", "${x:=", "${u:-"]),
                |g| g.defaulted(&["${x:-", "${x-"]),
                |g| g.defaulted(&["${x#", "${x%%"]),
            ],
            &[
                |g| g.defaulted(&["${x/a/", "${x//b/"]),
                Self::sliced,
                |g| g.put_one(&["${x^^}", "${x:1:2}", "${x@Q}", "${a[0]}", "${a[@]}", "${x/#a/b}"]),
            ],
            |g| g.put("$x"),
        );
    }

    /// The part after the colon is arithmetic, and may read any variable.
    fn sliced(&mut self) {
        self.wild();
        self.defaulted(&["${x:0:", "${x: "]);
    }

    fn defaulted(&mut self, openings: &[&str]) {
        self.put_one(openings);
        for _ in 0..self.chance.below(3) {
            self.part(
                &[
                    |g| {
                        g.put_one(&[
                            "a", "'", "'a'", "\"", "\"a\"", "\\}", "\\'", " ", "#", "'}'", "\"}\"", "$'\\''",
                            "'$(pwn)'", "(", ")",
                        ]);
                    },
                    Self::single,
                    Self::double,
                    Self::substitution,
                    Self::backticks,
                    Self::parameter,
                    Self::ansi,
                ],
                |g| g.put("a"),
            );
        }
        self.put("}");
    }

    pub(super) fn substitution(&mut self) {
        self.put("$(");
        self.part(
            &[
                |g| g.hidden(),
                |g| g.list(),
                |g| g.list(),
                |g| g.put("case a in a) aux a ;; esac"),
                |g| g.put("# it's (\npwn\n"),
                |g| g.put("pwn # ) '\n"),
                |g| g.put("(pwn) "),
                |g| g.heredoc_inside(),
            ],
            Self::hidden,
        );
        self.put(")");
    }

    fn hidden(&mut self) {
        self.put_one(&[
            "pwn",
            "aux a",
            "aux '('",
            "aux \")\"",
            " pwn ",
            "\npwn\n",
            "pwn;",
            "aux \\)",
            "pwn 2>&1",
            "aux `pwn`",
        ]);
    }

    /// Within backticks a backslash takes quotes from backticks, dollars and itself.
    fn backticks(&mut self) {
        let inner = [
            "pwn",
            "aux a",
            "aux \\`pwn\\`",
            "aux '\\$x'",
            "aux \"\\$(pwn)\"",
            "aux \\\\\\`",
            "aux \\\\\\$x",
            "aux '#'",
            "pwn # c",
            "aux \\\"a\\\"",
        ];
        self.put("`");
        self.put_one(&inner);
        self.put("`");
    }

    fn arithmetic(&mut self) {
        self.part(
            &[
                |g| {
                    g.put_one(&[
                        "$((1))",
                        "$((1+2))",
                        "$(( (1) ))",
                        "$(((1)))",
                        "$((1 ? 2 : 3))",
                        "$((16#ff))",
                    ]);
                },
                |g| {
                    g.put_one(&[
                        "$((pwn) )",
                        "$((pwn); aux)",
                        "$( (pwn))",
                        "$(( $(aux 1) ))",
                        "$((`aux 1`))",
                        "$(($(pwn; aux 1)))",
                    ]);
                },
                |g| g.put_one(&["$((x=1))", "$((\"1\"))", "$((1<<2))", "$((1)) $(pwn)", "$(('1'))"]),
            ],
            |g| g.put("$((1))"),
        );
    }

    fn process(&mut self) {
        self.put_one(&["<(", ">("]);
        self.part(&[Self::hidden, |g| g.list()], Self::hidden);
        self.put(")");
    }

    fn brace(&mut self) {
        self.put_one(&[
            "{a,b}",
            "{1..3}",
            "{a,'b,c'}",
            "{a,{b,c}}",
            "{a",
            "a}",
            "{a,$(pwn)}",
            "{}",
            "{a}",
            "x{,y}",
            "{a,\"}\"}",
            "\\{a,b}",
        ]);
    }

    /// Writes constructs of one shell, or with more meaning than they show.
    fn rare(&mut self) {
        self.wild();
        self.put_one(&[
            "=(pwn)",
            "=vis",
            "=pwn",
            "${(e)x}",
            "${(e):-'$(pwn)'}",
            "*(N)",
            "${${x}:-$(pwn)}",
            "${x:s/a/b/}",
            "<->",
            "${(%):-%n}",
            "$[1+1]",
            "$[$(aux 1)]",
            "${x@P}",
            "${a[$(aux 0)]}",
            "${a['$(pwn)']}",
            "${x:$(aux 1)}",
            "$((a[$(aux 0)]))",
            "${!a*}",
            "*(e:pwn:)",
            "~+",
            "!(a)",
            "@(a|b)",
            "${!x}",
            "$((x))",
            "$((a[0]))",
            "${x:$((0)):1}",
            "${#a[@]}",
            "$\\\n(pwn)",
            "$\\\n{x}",
            "`\\\npwn`",
            "${=x}",
            "${~x}",
            "$+x",
            "${+x}",
            "$x[1]",
            "$x[$(pwn)]",
            "^a",
            "a~b",
            "${^a}",
            "${ pwn; }",
            "${|pwn}",
            "$x:t",
            "${(f)\"$(pwn)\"}",
            "$==x",
            "\"${(@)a}\"",
            "''$(pwn)",
            "\"\"`pwn`",
        ]);
    }
}
