//! The programs and findings of a command line, as they are shown.

use std::io;

use policy::{
    Argv, Certainty, Direction, Effect, Finding, Findings, Invocation, Program, Redirect, Shown, Span, Word,
    misleads,
};
use serde_json::{Value, json};

use crate::caret::Window;
use crate::terminal::Terminal;

/// Findings in a command line.
pub(super) struct Found<'a> {
    /// Text that positions refer to.
    pub(super) text: &'a [u8],
    pub(super) invocation: &'a Invocation,
    /// Directory in which the line would start.
    pub(super) cwd: Option<&'a str>,
    /// Effects of findings.
    pub(super) findings: &'a Findings,
}

/// A person reads no further; a program gets all.
const MOST_SHOWN: usize = 50;
const LONGEST_PROGRAM: usize = 400;

impl Found<'_> {
    /// For people.
    pub(super) fn text(&self, columns: usize, terminal: &mut Terminal<'_>) -> io::Result<()> {
        let Invocation { programs, findings } = self.invocation;
        if !programs.is_empty() {
            writeln!(terminal.out, "programs:")?;
        }
        for program in programs.iter().take(MOST_SHOWN) {
            writeln!(terminal.out, "  {}", cut(self.program(program)))?;
        }
        rest(programs.len(), terminal)?;
        if !findings.is_empty() {
            writeln!(terminal.out, "findings:")?;
        }
        for finding in findings.iter().take(MOST_SHOWN) {
            terminal.out.write_all(self.finding(finding, columns).as_bytes())?;
        }
        rest(findings.len(), terminal)
    }

    /// One program with its words, and how it is reached.
    fn program(&self, program: &Program) -> String {
        let words = program.argv.words();
        let mut notes = Vec::new();
        let through: Vec<_> =
            program.through.iter().filter_map(|argv| argv.words().first()).map(shown).collect();
        if !through.is_empty() {
            notes.push(format!("through {}", through.join(", ")));
        }
        match program.cwd.as_deref() {
            None if self.cwd.is_some() => notes.push("in a directory that is not known".to_owned()),
            Some(cwd) if Some(cwd) != self.cwd => notes.push(format!("in {}", quoted(cwd))),
            _ => {}
        }
        notes.extend(program.assignments.iter().map(|set| format!("sets {}", Shown::text(&set.name))));
        notes.extend(program.redirects.iter().map(redirect));
        let hazards = program.hazards.iter().filter_map(|&at| words.get(usize::try_from(at).ok()?));
        notes.extend(hazards.map(|word| format!("hazard {}", shown(word))));
        let line = words.iter().map(shown).collect::<Vec<_>>().join(" ");
        if notes.is_empty() { line } else { format!("{line} ({})", notes.join("; ")) }
    }

    /// One finding with its sentence, its place and what to write instead.
    fn finding(&self, finding: &Finding, columns: usize) -> String {
        let effect = self.findings.effect(finding.code).map_or("noted", Effect::word);
        let (code, title) = (finding.code, finding.code.title());
        let sentence = format!("  {code} {title}: {} ({effect})\n", Shown::text(&finding.text));
        let instead = finding.remedy.iter().map(|remedy| format!("    instead: {}\n", Shown::text(remedy)));
        sentence + &draw(self.text, finding.span, columns) + &instead.collect::<String>()
    }

    /// For programs.
    pub(super) fn programs_json(&self) -> Value {
        self.invocation.programs.iter().map(program_json).collect()
    }

    /// For programs.
    pub(super) fn findings_json(&self) -> Value {
        let json = |found: &Finding| {
            json!({
                "code": found.code.id(),
                "span": span_json(found.span),
                "text": &*found.text,
                "remedy": found.remedy.as_deref(),
                "effect": self.findings.effect(found.code).map(Effect::word),
            })
        };
        self.invocation.findings.iter().map(json).collect()
    }
}

/// A place with carets below it, indented; nothing for what stands nowhere.
pub(crate) fn draw(text: &[u8], span: Span, columns: usize) -> String {
    let byte = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
    if span == Span::default() {
        return String::new();
    }
    // Of several lines, the one is numbered.
    let line = text.get(..byte(span.start)).unwrap_or(text).split(|&byte| byte == b'\n').count();
    let number = if text.contains(&b'\n') { format!("{line} | ") } else { String::new() };
    let width = columns.saturating_sub(4 + number.len());
    let window = Window::new(text, byte(span.start)..byte(span.end), width);
    let margin = " ".repeat(number.len());
    format!("    {number}{}\n    {margin}{}{}\n", window.text, window.before, window.carets)
}

/// As much of a line as a person reads.
fn cut(line: String) -> String {
    match line.char_indices().nth(LONGEST_PROGRAM) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn rest(count: usize, terminal: &mut Terminal<'_>) -> io::Result<()> {
    match count.checked_sub(MOST_SHOWN) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(terminal.out, "  and {more} more: `--format json` has all"),
    }
}

/// A word whose end can be seen, and how much of it is known.
fn shown(word: &Word) -> String {
    match word.certainty {
        Certainty::Literal => quoted(&word.text),
        Certainty::Pattern if word.text.chars().all(|c| is_plain(c) || "*?[]".contains(c)) => {
            Shown::text(&word.text).to_string()
        }
        Certainty::Pattern => format!("<* {}>", Shown::text(&word.text)),
        Certainty::Unknown if word.text.is_empty() => "<?>".to_owned(),
        Certainty::Unknown => format!("<? {}>", Shown::text(&word.text)),
    }
}

fn quoted(text: &str) -> String {
    let plain = !text.is_empty() && text.chars().all(is_plain);
    let shown = Shown::text(text).to_string();
    if plain { shown } else { format!("'{}'", shown.replace('\'', r"'\''")) }
}

fn is_plain(c: char) -> bool {
    (c.is_alphanumeric() && !misleads(c)) || "-_./:,+@%=^~".contains(c)
}

fn redirect(redirect: &Redirect) -> String {
    let target = shown(&redirect.target);
    match redirect.direction {
        Direction::Read => format!("reads {target}"),
        Direction::Write => format!("writes {target}"),
        Direction::Both => format!("reads and writes {target}"),
        Direction::Text => "reads a text of the line".to_owned(),
    }
}

fn program_json(program: &Program) -> Value {
    let redirect = |redirect: &Redirect| {
        json!({
            "direction": direction_word(redirect.direction),
            "descriptor": redirect.descriptor,
            "target": word_json(&redirect.target),
        })
    };
    let assignment = |set: &policy::Assignment| json!({ "name": set.name, "value": word_json(&set.value) });
    json!({
        "argv": argv_json(&program.argv),
        "through": program.through.iter().map(argv_json).collect::<Vec<_>>(),
        "hazards": program.hazards,
        "redirects": program.redirects.iter().map(redirect).collect::<Vec<_>>(),
        "assignments": program.assignments.iter().map(assignment).collect::<Vec<_>>(),
        "cwd": program.cwd.as_deref(),
        "stage": program.stage,
        "piped": program.piped,
        "span": span_json(program.span),
    })
}

fn argv_json(argv: &Argv) -> Value {
    argv.words().iter().map(word_json).collect()
}

fn word_json(word: &Word) -> Value {
    json!({ "text": word.text, "known": word.is_literal() })
}

fn span_json(span: Span) -> Value {
    json!({ "start": span.start, "end": span.end })
}

const fn direction_word(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
        Direction::Both => "both",
        Direction::Text => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Format;
    use policy::{Assignment, Code};

    fn argv(words: &[&str]) -> Argv {
        Argv::new(words.iter().map(|word| Word::literal(*word)).collect()).unwrap()
    }

    /// The words of a program are marked by a sign in front: `*` a pattern, `?` unknown.
    fn marked(words: &[&str]) -> Argv {
        let word = |text: &&str| match (text.strip_prefix('*'), text.strip_prefix('?')) {
            (Some(rest), _) => Word { certainty: Certainty::Pattern, ..Word::literal(rest) },
            (_, Some(rest)) => Word { certainty: Certainty::Unknown, ..Word::literal(rest) },
            _ => Word::literal(*text),
        };
        Argv::new(words.iter().map(word).collect()).unwrap()
    }

    fn found(text: &str, code: Code, token: &str) -> Finding {
        let start = text.find(token).unwrap();
        let byte = |at: usize| u32::try_from(at).unwrap();
        Finding::new(code, Span::new(byte(start), byte(start + token.len())), "a sentence")
    }

    fn drawn(text: &str, invocation: &Invocation) -> String {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut terminal = Terminal { out: &mut out, err: &mut err, format: Format::Text, color: false };
        let found = Found {
            text: text.as_bytes(),
            invocation,
            cwd: Some("/ws"),
            findings: &Findings::new(policy::finding::Mode::Standard, None),
        };
        found.text(60, &mut terminal).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn programs_are_shown_with_how_they_are_reached() {
        let here = || Some("/ws".into());
        let target = |text: &str| Word::literal(text);
        let redirect =
            |direction, text: &str| Redirect { direction, descriptor: Some(1), target: target(text) };
        let reached = Program {
            through: vec![argv(&["env", "A=1"]), argv(&["nice"])],
            hazards: vec![1],
            redirects: vec![
                redirect(Direction::Write, "a b"),
                redirect(Direction::Read, "/in"),
                redirect(Direction::Text, "text"),
            ],
            assignments: vec![Assignment { name: "A".to_owned(), value: target("1") }],
            ..Program::alone(argv(&["sed", "-i", "s/a/b/", "it's\u{1b}"]), Some("/ws/sub".into()))
        };
        let invocation = Invocation {
            programs: vec![
                Program::alone(argv(&["git", "push"]), here()),
                reached,
                Program::alone(
                    marked(&["rm", "*src/*.c", "*a b*", "?", "?pre", "<?>", "(x)", "*\u{3164}", "\u{3164}"]),
                    None,
                ),
            ],
            findings: Vec::new(),
        };
        insta::assert_snapshot!(drawn("", &invocation), @r"
        programs:
          git push
          sed -i s/a/b/ 'it'\''s\u{1b}' (through env, nice; in /ws/sub; sets A; writes 'a b'; reads /in; reads a text of the line; hazard -i)
          rm src/*.c <* a b*> <?> <? pre> '<?>' '(x)' <* \u{3164}> '\u{3164}' (in a directory that is not known)
        ");
    }

    #[test]
    fn findings_are_shown_with_their_place() {
        let long = format!("echo {}$(id){}", "a".repeat(90), "z".repeat(90));
        let texts = [
            "echo \"$(id)\"",
            "echo\t日本 $(id)",
            "\u{1b}[2Jx $(id)",
            "one\ntwo $(id)\nthree",
            long.as_str(),
        ];
        let findings = texts.map(|text| {
            let findings =
                vec![found(text, Code::CommandSubstitution, "$(id)").remedy("write `id` on its own")];
            drawn(text, &Invocation { programs: Vec::new(), findings })
        });
        insta::assert_snapshot!(findings.concat().replace("findings:\n", ""), @r#"
          RF-S004 command substitution: a sentence (noted)
            echo "$(id)"
                  ^^^^^
            instead: write `id` on its own
          RF-S004 command substitution: a sentence (noted)
            echo\t日本 $(id)
                       ^^^^^
            instead: write `id` on its own
          RF-S004 command substitution: a sentence (noted)
            \u{1b}[2Jx $(id)
                       ^^^^^
            instead: write `id` on its own
          RF-S004 command substitution: a sentence (noted)
            2 | two $(id)
                    ^^^^^
            instead: write `id` on its own
          RF-S004 command substitution: a sentence (noted)
            …aaaaaaaaaaaaaaaaaa$(id)zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…
                               ^^^^^
            instead: write `id` on its own
        "#);
        let nowhere = Finding::new(Code::Unprovable, Span::default(), "a sentence");
        let invocation = Invocation { programs: Vec::new(), findings: vec![nowhere] };
        insta::assert_snapshot!(drawn("x", &invocation), @r"
        findings:
          RF-R003 command whose meaning is not certain: a sentence (ask)
        ");
    }

    #[test]
    fn a_person_is_not_flooded() {
        let text = "x".repeat(60);
        let findings = (0..60).map(|_| found(&text, Code::Brace, "x")).collect();
        let shown = drawn(&text, &Invocation { programs: Vec::new(), findings });
        assert!(shown.ends_with("  and 10 more: `--format json` has all\n"), "{shown}");
    }
}
