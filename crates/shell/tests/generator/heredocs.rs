//! Heredocs: quoted or not, several on a line, inside a substitution.

use super::Grammar;

const LINES: &[&str] = &[
    "a",
    "it's",
    "\"",
    "$(pwn)",
    "`pwn`",
    "\\$(pwn)",
    "\\`pwn\\`",
    "$x",
    "${x:-$(pwn)}",
    "${x:-'}",
    "# $(pwn)",
    "EOF ",
    " EOF",
    "EOFX",
    "\\",
    "a\\",
    "$((1))",
    "'$(pwn)'",
    "\"$(pwn)\"",
    "$(aux ')')",
    ")",
    "pwn",
    "",
    "<<EOF",
    "\\\\$(pwn)",
    "$'\\''",
    "${x-`pwn`}",
    "$(# it's\npwn)",
];

impl Grammar {
    pub(super) fn heredoc(&mut self) {
        let (tag, quoted) = (self.chance.of(&["EOF", "E", "END_1"]), self.chance.below(7));
        let dash = self.chance.one_in(4);
        self.put(if dash { " <<-" } else { " <<" });
        self.put_one(&["", "", " "]);
        let written = match quoted {
            0 | 1 => format!("'{tag}'"),
            2 => format!("\"{tag}\""),
            3 => format!("\\{tag}"),
            _ => tag.to_owned(),
        };
        self.put(&written);
        let body = self.body(tag, dash);
        self.bodies.push(body);
    }

    fn body(&mut self, tag: &str, dash: bool) -> String {
        let mut body = String::new();
        for _ in 0..self.chance.below(4) {
            if dash && self.chance.one_in(2) {
                body.push('\t');
            }
            body.push_str(self.chance.of(LINES));
            body.push('\n');
        }
        if dash && self.chance.one_in(2) {
            body.push_str("\t\t");
        }
        body + tag + "\n"
    }

    /// A whole heredoc where only one command may stand: its body must end before the closing parenthesis.
    pub(super) fn heredoc_inside(&mut self) {
        let outside = std::mem::take(&mut self.bodies);
        self.put("cat");
        self.heredoc();
        self.newline();
        self.bodies = outside;
    }
}
