//! What a command line would start, and patterns on it.

use crate::Code;
use crate::decision::Effect;
use crate::invocation::{Argv, Finding, Invocation, Program, Span, Word};
use crate::pattern::{Pattern, PatternError, check_length};

impl Invocation {
    /// Reads a line that needs no shell: words, quotes without substitutions, assignments in front, `env` before it.
    ///
    /// `None`: the line needs the shell reader.
    #[must_use]
    pub fn plain(line: &str) -> Option<Self> {
        let mut words = plain_words(line)?;
        let assignments = words.iter().take_while(|word| is_assignment(word)).count();
        let mut assigned = assignments > 0;
        words.drain(..assignments);
        while words.first().is_some_and(|word| word == "env") {
            let after = words.iter().skip(1).take_while(|word| is_assignment(word)).count();
            assigned |= after > 0;
            words.drain(..=after);
            if words.first()?.starts_with('-') {
                return None;
            }
        }
        let words = words.into_iter().map(Word::literal).collect();
        let unprovable =
            || Finding::new(Code::Unprovable, Span::default(), "a variable is set for the program");
        Some(Self {
            programs: vec![Program::alone(Argv::new(words)?, None)],
            findings: assigned.then(unprovable).into_iter().collect(),
        })
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Splits at blanks; `None` as soon as a character means something to a shell.
fn plain_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => word.get_or_insert_default().push_str(&quoted(&mut chars, c)?),
            c if c.is_alphanumeric() || "-_./:,+@%=^".contains(c) => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

fn quoted(chars: &mut std::str::Chars<'_>, quote: char) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            c if c == quote => return Some(text),
            '$' | '`' | '\\' | '!' if quote == '"' => return None,
            c => text.push(c),
        }
    }
}

/// A pattern on a command: globs on its words, or a regular expression on the whole after `re:`.
#[derive(Debug, Clone)]
pub struct CommandPattern {
    text: Box<str>,
    matcher: Matcher,
}

#[derive(Debug, Clone)]
enum Matcher {
    Words(Box<[Pattern]>),
    Whole(Pattern),
}

impl CommandPattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        check_length(text)?;
        let matcher = if text.starts_with("re:") {
            Matcher::Whole(Pattern::parse(text)?)
        } else {
            refuse_shell(text)?;
            let words = text.split_whitespace().map(Pattern::parse).collect::<Result<Box<[_]>, _>>()?;
            if words.is_empty() {
                return Err(PatternError::Empty);
            }
            Matcher::Words(words)
        };
        Ok(Self { text: text.into(), matcher })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A program with words that match; none is known for an expression.
    #[must_use]
    pub fn sample(&self) -> Option<Argv> {
        let Matcher::Words(patterns) = &self.matcher else { return None };
        let word = |pattern: &Pattern| Some(Word::literal(pattern.sample()?));
        Argv::new(patterns.iter().map(word).collect::<Option<_>>()?)
    }

    /// The program, if it is one.
    #[must_use]
    pub fn program(&self) -> Option<String> {
        let Matcher::Words(patterns) = &self.matcher else { return None };
        patterns.first()?.literal()
    }

    /// How many words the pattern has; an expression has none.
    #[must_use]
    pub fn word_count(&self) -> usize {
        if let Matcher::Words(patterns) = &self.matcher { patterns.len() } else { 0 }
    }

    /// Whether the pattern matches any command at all.
    #[must_use]
    pub fn is_anything(&self) -> bool {
        match &self.matcher {
            Matcher::Words(words) => words.iter().all(Pattern::is_anything),
            Matcher::Whole(pattern) => pattern.is_anything(),
        }
    }

    /// Whether the program matches: loosely for a restriction, strictly for a permission.
    #[must_use]
    pub fn matches(&self, argv: &Argv, effect: Effect) -> bool {
        let words = argv.words();
        match (&self.matcher, effect) {
            (Matcher::Whole(pattern), Effect::Allow) => {
                words.iter().all(Word::is_literal) && pattern.matches(&argv.line())
            }
            (Matcher::Whole(pattern), _) => pattern.matches(&argv.line()),
            (Matcher::Words(patterns), Effect::Allow) => permits(patterns, words),
            (Matcher::Words(patterns), _) => restricts(patterns, words),
        }
    }
}

/// What a shell would act on can be no part of a word: such a pattern would load and never match.
fn refuse_shell(text: &str) -> Result<(), PatternError> {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '"' | '\'' | '`' | '$' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => {
                return Err(PatternError::Shell(c));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A permission holds for the words in their order, from the first on; what follows them is free.
fn permits(patterns: &[Pattern], words: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    patterns.len() <= words.len()
        && words.iter().all(Word::is_literal)
        && is_program(&patterns[0], program)
        && patterns[1..].iter().zip(rest).all(|(pattern, word)| pattern.matches(&word.text))
}

/// A restriction holds for options anywhere, and for other words with options and their values in between.
fn restricts(patterns: &[Pattern], words: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let (options, positional): (Vec<_>, Vec<_>) =
        patterns[1..].iter().partition(|p| p.as_str().starts_with('-'));
    let anywhere = |pattern: &&Pattern| rest.iter().any(|word| fits(pattern, word));
    is_program(&patterns[0], program) && options.iter().all(anywhere) && in_order(&positional, rest)
}

fn in_order(patterns: &[&Pattern], words: &[Word]) -> bool {
    let is_option = |word: &Word| word.text.starts_with('-');
    let skippable = |at: usize| is_option(&words[at]) || (at > 0 && is_option(&words[at - 1]));
    let mut reached = vec![0];
    for pattern in patterns {
        let mut next = Vec::new();
        for &from in &reached {
            for (at, word) in words.iter().enumerate().skip(from) {
                if fits(pattern, word) && !next.contains(&(at + 1)) {
                    next.push(at + 1);
                }
                if !skippable(at) {
                    break;
                }
            }
        }
        reached = next;
    }
    !reached.is_empty()
}

/// A word that is not known could be anything, so a restriction takes it for a match.
fn fits(pattern: &Pattern, word: &Word) -> bool {
    !word.is_literal() || pattern.matches(&word.text)
}

/// A program is meant by its name when it is spelled so, or when it lies where programs are installed.
fn is_program(pattern: &Pattern, program: &Word) -> bool {
    if !program.is_literal() {
        return false;
    }
    pattern.matches(&program.text) || installed_name(&program.text).is_some_and(|name| pattern.matches(name))
}

fn installed_name(path: &str) -> Option<&str> {
    let (directory, name) = path.rsplit_once('/')?;
    let directory: Vec<_> = directory.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let installed =
        matches!(&*directory, ["bin" | "sbin"] | ["usr", "bin" | "sbin"] | ["usr", "local", "bin" | "sbin"]);
    (path.starts_with('/') && installed).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Certainty;

    #[test]
    fn plain_lines() {
        let rows = [
            ("git push", Some(("git|push", true))),
            ("git  commit -m 'a b'", Some(("git|commit|-m|a b", true))),
            ("env X=1 git push --force", Some(("git|push|--force", false))),
            ("X=1 git push", Some(("git|push", false))),
            ("env git push", Some(("git|push", true))),
            ("env -i git push", None),
            ("a | b", None),
            ("a $b", None),
            ("a \"$b\"", None),
            ("a 'b", None),
            ("", None),
            ("X=1", None),
        ];
        for (line, expected) in rows {
            let read = Invocation::plain(line);
            let words = |i: &Invocation| {
                i.programs[0].argv.words().iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join("|")
            };
            let read = read.as_ref().map(|i| (words(i), i.is_certain()));
            assert_eq!(read, expected.map(|(words, certain)| (words.to_owned(), certain)), "{line}");
        }
    }

    #[test]
    fn patterns_on_words() {
        let rows = [
            ("git push --force*", Effect::Deny, "git push --force origin main", true),
            ("git push --force*", Effect::Deny, "git push origin --force-with-lease", true),
            ("git push --force*", Effect::Deny, "env X=1 git push --force", true),
            ("git push --force*", Effect::Deny, "git push", false),
            ("git push", Effect::Deny, "git --no-pager push", true),
            ("git push", Effect::Deny, "git -C dir push", true),
            ("git push", Effect::Deny, "/usr/bin/git push", true),
            ("git push", Effect::Deny, "git log push", false),
            ("rm", Effect::Deny, "./rm x", false),
            ("rm", Effect::Deny, "//usr/./bin/rm x", true),
            ("git status", Effect::Allow, "git status --porcelain", true),
            ("git status", Effect::Allow, "git -c core.pager=x status", false),
            ("npm test", Effect::Allow, "npm testx", false),
            ("npm test", Effect::Allow, "npm", false),
            ("re:git (status|log).*", Effect::Allow, "git log -p", true),
            ("re:git (status|log)", Effect::Allow, "git log -p", false),
        ];
        for (pattern, effect, line, expected) in rows {
            let argv = &Invocation::plain(line).unwrap().programs[0].argv;
            let pattern = CommandPattern::parse(pattern).unwrap();
            assert_eq!(pattern.matches(argv, effect), expected, "{} on {line}", pattern.as_str());
        }
    }

    #[test]
    fn patterns_that_a_shell_would_act_on_are_refused() {
        for bad in [
            "git log && rm",
            "a; b",
            "a | b",
            "echo \"x\"",
            "echo 'x'",
            "rm $x",
            "a > b",
            "$(a)",
            "`a`",
            "a &",
        ] {
            assert!(matches!(CommandPattern::parse(bad), Err(PatternError::Shell(_))), "{bad}");
        }
        for good in ["find . -exec rm {} \\;", "git log --format=%h", "re:a (b|c) && d", "awk \\$1"] {
            assert!(CommandPattern::parse(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn what_is_not_known_is_never_permitted_and_always_restricted() {
        let unknown = Word { certainty: Certainty::Unknown, ..Word::literal("$x") };
        let argv = Argv::new(vec![Word::literal("git"), unknown]).unwrap();
        let pattern = CommandPattern::parse("git push").unwrap();
        assert!(pattern.matches(&argv, Effect::Deny));
        assert!(!pattern.matches(&argv, Effect::Allow));
        assert!(!CommandPattern::parse("git").unwrap().matches(&argv, Effect::Allow));
    }
}
