//! Patterns on the programs that a command line would start.

use crate::decision::Effect;
use crate::invocation::{Argv, Certainty, Program, Word};
use crate::pattern::{Pattern, PatternError, check_length};
use crate::spelling::Spellings;
use crate::word_pattern::{Resolve, WordPattern};

/// A pattern on a command: globs on its words, or a regular expression on the whole after `re:`.
#[derive(Debug, Clone)]
pub struct CommandPattern {
    text: Box<str>,
    matcher: Matcher,
}

#[derive(Debug, Clone)]
enum Matcher {
    Words {
        words: Box<[WordPattern]>,
        /// True if no further words may follow.
        exact: bool,
        /// Other spellings of the same command, which only a restriction looks at.
        spellings: Option<Box<Spellings>>,
    },
    Whole(Pattern),
}

impl CommandPattern {
    /// Reads a pattern. A word behind the program that begins with `/` is a path; of other paths nothing is known.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Self::read(text, None)
    }

    /// Reads a pattern; `resolve` makes the path of a word that begins with `~/`, `./` or `../` absolute.
    pub fn parse_with(text: &str, resolve: impl Fn(&str) -> Option<String>) -> Result<Self, PatternError> {
        Self::read(text, Some(&resolve))
    }

    fn read(text: &str, resolve: Option<&Resolve<'_>>) -> Result<Self, PatternError> {
        check_length(text)?;
        let matcher = if text.starts_with("re:") {
            Matcher::Whole(Pattern::parse(text)?)
        } else {
            refuse_shell(text)?;
            let word = |(at, word)| WordPattern::parse(word, at > 0, resolve);
            let words = text.split_whitespace().enumerate().map(word).collect::<Result<Box<[_]>, _>>()?;
            if words.is_empty() {
                return Err(PatternError::Empty);
            }
            let spellings = Spellings::new(&words, resolve)?.map(Box::new);
            Matcher::Words { words, exact: false, spellings }
        };
        Ok(Self { text: text.into(), matcher })
    }

    /// The same pattern for a command that ends with its last word.
    #[must_use]
    pub fn exact(mut self) -> Self {
        if let Matcher::Words { exact, .. } = &mut self.matcher {
            *exact = true;
        }
        self
    }

    /// Reads a pattern whose `*` also stands for blanks: `git * main`.
    pub fn spanning(text: &str) -> Result<Self, PatternError> {
        check_length(text)?;
        refuse_shell(text)?;
        let pieces: Vec<_> = text.split('*').map(regex::escape).collect();
        let matcher = Matcher::Whole(Pattern::parse(&format!("re:(?s)^{}$", pieces.join(".*")))?);
        Ok(Self { text: text.into(), matcher })
    }

    /// Returns the same pattern under the name by which it was written.
    #[must_use]
    pub fn written(mut self, text: &str) -> Self {
        self.text = text.into();
        self
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A program with words that match; none is known for some expressions.
    #[must_use]
    pub fn sample(&self) -> Option<Argv> {
        let words = match &self.matcher {
            Matcher::Words { words, .. } => {
                words.iter().map(WordPattern::sample).collect::<Option<Vec<_>>>()?
            }
            Matcher::Whole(pattern) => pattern.sample()?.split_whitespace().map(str::to_owned).collect(),
        };
        Argv::new(words.into_iter().map(Word::literal).collect())
    }

    /// The program, if it is one.
    #[must_use]
    pub fn program(&self) -> Option<String> {
        match &self.matcher {
            Matcher::Words { words, .. } => words.first()?.pattern().literal(),
            Matcher::Whole(pattern) => {
                let start = pattern.expression_start()?;
                start.split_once(' ').map(|(program, _)| program.to_owned())
            }
        }
    }

    /// The expression on the whole line, if the pattern is one.
    pub(crate) fn expression(&self) -> Option<&str> {
        let Matcher::Whole(pattern) = &self.matcher else { return None };
        pattern.as_str().strip_prefix("re:")
    }

    /// Returns the number of words in the pattern; an expression has none.
    #[must_use]
    pub fn word_count(&self) -> usize {
        if let Matcher::Words { words, .. } = &self.matcher { words.len() } else { 0 }
    }

    /// Returns true if the pattern matches any command at all.
    #[must_use]
    pub fn is_anything(&self) -> bool {
        match &self.matcher {
            Matcher::Words { words, exact, .. } => {
                !exact && words.iter().all(|word| word.pattern().is_anything())
            }
            Matcher::Whole(pattern) => pattern.is_anything(),
        }
    }

    /// Returns true if a program matches: strictly for a permission; loosely for a restriction, which also holds for what
    /// only starts the program.
    #[must_use]
    pub fn matches(&self, program: &Program, effect: Effect) -> bool {
        match effect {
            Effect::Allow => self.permits(program),
            Effect::Ask | Effect::Deny => {
                let mut all = std::iter::once(&program.argv).chain(&program.through);
                all.any(|argv| self.restricts(argv, program.cwd.as_deref()))
            }
        }
    }

    /// Returns true if the pattern has an option that the reviewed table lacks for its program and subcommand:
    /// a restriction then meets only the spelling that it is written in, and clusters of letters.
    #[must_use]
    pub fn has_unreviewed_options(&self) -> bool {
        let Matcher::Words { spellings: Some(spellings), .. } = &self.matcher else { return false };
        spellings.has_unreviewed_options()
    }

    /// Returns true if a restriction holds for these words in this directory.
    #[must_use]
    pub fn restricts(&self, argv: &Argv, cwd: Option<&str>) -> bool {
        match &self.matcher {
            Matcher::Whole(pattern) => pattern.matches(&argv.line()) || named_line(argv, pattern),
            Matcher::Words { words, exact, spellings } => {
                let argv = argv.words();
                let spellings = spellings.as_deref();
                is_named(words, argv)
                    && spellings.is_none_or(|other| other.could_fit(words, argv, cwd))
                    && (restricts(words, argv, cwd) && (!exact || no_more_words(words, argv))
                        || spellings.is_some_and(|other| other.fit(words, argv, cwd, *exact)))
            }
        }
    }

    /// Returns true if every command that it permits is one that another pattern restricts, as far as that can be proven.
    #[must_use]
    pub fn is_within(&self, wide: &Self) -> bool {
        if wide.is_anything() {
            return true;
        }
        let (own, own_exact) = match &self.matcher {
            Matcher::Words { words, exact, .. } => (words, *exact),
            Matcher::Whole(pattern) => {
                return matches!(&wide.matcher, Matcher::Whole(wide) if pattern.is_within(wide));
            }
        };
        match &wide.matcher {
            // Words after those of the permission are free, so only a line that ends with them is known.
            Matcher::Whole(pattern) => {
                own_exact && self.literal().is_some_and(|argv| pattern.matches(&argv.line()))
            }
            Matcher::Words { exact, .. } if *exact && !own_exact => false,
            Matcher::Words { words, exact, .. } => match self.literal() {
                // No directory is called so: a path that is not known from the root is in none.
                Some(argv) => wide.restricts(&argv, Some("/\u{1}")),
                None => aligned(own, words) && !exact,
            },
        }
    }

    /// The words, if every one is known.
    fn literal(&self) -> Option<Argv> {
        let Matcher::Words { words, .. } = &self.matcher else { return None };
        let word = |pattern: &WordPattern| pattern.literal().map(Word::literal);
        Argv::new(words.iter().map(word).collect::<Option<_>>()?)
    }

    /// Returns true if a permission holds for a program.
    #[must_use]
    pub fn permits(&self, program: &Program) -> bool {
        let words = program.argv.words();
        match &self.matcher {
            Matcher::Whole(pattern) => {
                words.iter().all(Word::is_literal)
                    && pattern.matches(&program.argv.line())
                    && program.hazards.iter().all(|&at| names_in_line(pattern, words, at))
            }
            Matcher::Words { words: patterns, exact, .. } => {
                (!exact || patterns.len() == words.len())
                    && permits(patterns, words, program.cwd.as_deref())
                    && program.hazards.iter().all(|&at| names(patterns, at))
            }
        }
    }
}

/// Returns true if the words of a wider pattern stand at the same places and mean at least as much.
fn aligned(own: &[WordPattern], wide: &[WordPattern]) -> bool {
    let plain = |words: &[WordPattern]| words.iter().all(|word| !word.is_path() && !word.is_option());
    wide.len() <= own.len()
        && plain(wide)
        && plain(&own[..wide.len()])
        && own.iter().zip(wide).all(|(own, wide)| own.pattern().is_within(wide.pattern()))
}

/// Refuses text that a shell would act on, which is part of no word: such a pattern would load and never match.
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

/// A restriction on the whole line also holds when the program is written with its path.
fn named_line(argv: &Argv, pattern: &Pattern) -> bool {
    let name = argv.words().first().and_then(|program| installed_name(&program.text));
    name.is_some_and(|name| pattern.matches(&argv.line_as(name)))
}

/// Returns true if an expression speaks of one word: without that word it would not match.
fn names_in_line(pattern: &Pattern, words: &[Word], at: u32) -> bool {
    let other = |(index, word): (usize, &'_ Word)| {
        if u32::try_from(index) == Ok(at) { "\u{1}".to_owned() } else { word.text.clone() }
    };
    let line = words.iter().enumerate().map(other).collect::<Vec<_>>().join(" ");
    !pattern.matches(&line)
}

/// Returns true if a permission is about one word: a word of the pattern is at its position and is no mere wildcard.
fn names(patterns: &[WordPattern], at: u32) -> bool {
    let pattern = usize::try_from(at).ok().and_then(|at| patterns.get(at));
    pattern.is_some_and(|pattern| !pattern.pattern().is_anything())
}

/// A permission holds for the words in their order, from the first on; what follows them is free, as far as it is known.
/// Behind a path, only options and further paths that fit may follow.
fn permits(patterns: &[WordPattern], words: &[Word], cwd: Option<&str>) -> bool {
    let (Some((first, rest)), Some((program, arguments))) = (patterns.split_first(), words.split_first())
    else {
        return false;
    };
    let Some((named, free)) = arguments.split_at_checked(rest.len()) else { return false };
    let only = rest.last().filter(|last| last.is_path());
    is_program(first.pattern(), program)
        && rest.iter().zip(named).all(|(pattern, word)| pattern.permits(word, cwd))
        && free.iter().all(|word| only.is_none_or(|path| is_bare_option(word) || path.permits(word, cwd)))
        && are_known(arguments)
}

/// An option that carries no path.
fn is_bare_option(word: &Word) -> bool {
    word.is_literal() && word.text.starts_with('-') && !word.text.contains(['/', '='])
}

/// Returns true if no word can turn out to be something else: a file may be called `-x`, so a word that begins with a wildcard
/// may be an option, unless `--` stands before it.
fn are_known(words: &[Word]) -> bool {
    let mut operands_only = false;
    words.iter().all(|word| {
        operands_only |= word.is_literal() && word.text == "--";
        match word.certainty {
            Certainty::Literal => true,
            Certainty::Pattern => operands_only || !word.text.starts_with(['*', '?', '[', '{', '(']),
            Certainty::Unknown => false,
        }
    })
}

/// Returns true if a restriction is about the program.
fn is_named(patterns: &[WordPattern], words: &[Word]) -> bool {
    let first = patterns.first().zip(words.first());
    first
        .is_some_and(|(first, program)| is_program(first.pattern(), program) || first.pattern().is_anything())
}

/// A restriction holds for options and paths anywhere, and for other words with options and their values in between.
/// Without a table of options, every option may have a value.
fn restricts(patterns: &[WordPattern], words: &[Word], cwd: Option<&str>) -> bool {
    let (Some(patterns), Some(rest)) = (patterns.get(1..), words.get(1..)) else { return false };
    let is_there = |pattern: &WordPattern| {
        rest.iter().enumerate().any(|(at, word)| pattern.fits(word, rest.get(at + 1), cwd))
    };
    let ordered = patterns.iter().filter(|pattern| !pattern.stands_anywhere());
    let is_option = |at: usize| rest[at].text.starts_with('-');
    let can_skip = |at: usize| is_option(at) || at > 0 && is_option(at - 1);
    stand_in_place(patterns, rest, cwd)
        || patterns.iter().all(is_there) && in_order(ordered, rest, cwd, |_| true, can_skip)
}

/// Returns true if each word fits the pattern in its place. A permission asks for no less, so that a command which a pattern
/// permits is one which it restricts.
fn stand_in_place(patterns: &[WordPattern], words: &[Word], cwd: Option<&str>) -> bool {
    let mut places = patterns.iter().zip(words).enumerate();
    patterns.len() <= words.len()
        && places.all(|(at, (pattern, word))| pattern.fits(word, words.get(at + 1), cwd))
}

/// Returns true if words come in their order, separated only by words that can be skipped. It follows every way at once:
/// the time is words times patterns.
pub(crate) fn in_order<'p>(
    patterns: impl Iterator<Item = &'p WordPattern>,
    words: &[Word],
    cwd: Option<&str>,
    can_fit: impl Fn(usize) -> bool,
    can_skip: impl Fn(usize) -> bool,
) -> bool {
    let mut patterns = patterns.peekable();
    if patterns.peek().is_none() {
        return true;
    }
    let mut reached = vec![false; words.len() + 1];
    reached[0] = true;
    for pattern in patterns {
        let mut next = vec![false; words.len() + 1];
        let mut active = false;
        for (at, word) in words.iter().enumerate() {
            active |= reached[at];
            let unknown = word.certainty == Certainty::Unknown;
            if active && can_fit(at) && pattern.fits(word, None, cwd) {
                next[at + 1] = true;
                // An unknown word may be several words.
                next[at] |= unknown;
            }
            active &= can_skip(at) || unknown;
        }
        reached = next;
    }
    reached.contains(&true)
}

/// Returns true if every word that is no option is named by the pattern.
fn no_more_words(patterns: &[WordPattern], words: &[Word]) -> bool {
    let operands = words.iter().filter(|word| !word.text.starts_with('-')).count();
    operands <= patterns.iter().filter(|pattern| !pattern.is_option()).count()
}

/// A program is meant by its name when it is spelled so, or when it lies where programs are installed.
fn is_program(pattern: &Pattern, program: &Word) -> bool {
    if !program.is_literal() {
        return false;
    }
    pattern.matches(&program.text) || installed_name(&program.text).is_some_and(|name| pattern.matches(name))
}

/// The name of a program that is written with the path of a directory where programs are installed.
pub(crate) fn installed_name(path: &str) -> Option<&str> {
    let (directory, name) = path.rsplit_once('/').filter(|_| path.starts_with('/'))?;
    let mut parts = [""; 4];
    let mut depth = 0;
    for part in directory.split('/') {
        match part {
            "" | "." => {}
            ".." => depth = usize::saturating_sub(depth, 1),
            part => {
                *parts.get_mut(depth)? = part;
                depth += 1;
            }
        }
    }
    let installed = matches!(
        parts.get(..depth)?,
        ["bin" | "sbin"] | ["usr", "bin" | "sbin"] | ["usr", "local", "bin" | "sbin"]
    );
    (installed && !matches!(name, "" | "." | "..")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of plain words in `/ws`. `$x` is not known, `*` a pattern, `!x` the hazard `x`.
    fn program(line: &str) -> Program {
        let hazard = |(at, word): (usize, &str)| word.starts_with('!').then(|| u32::try_from(at).unwrap());
        let word = |text: &str| {
            let certainty = match text {
                _ if text.contains('$') => Certainty::Unknown,
                _ if text.contains(['*', '?']) => Certainty::Pattern,
                _ => Certainty::Literal,
            };
            Word { certainty, ..Word::literal(text.trim_start_matches('!')) }
        };
        let argv = Argv::new(line.split(' ').map(word).collect()).unwrap();
        let hazards = line.split(' ').enumerate().filter_map(hazard).collect();
        Program { hazards, ..Program::alone(argv, Some("/ws".into())) }
    }

    fn check(rows: &[(&str, Effect, &str, bool)]) {
        for (pattern, effect, line, expected) in rows {
            let found = CommandPattern::parse(pattern).unwrap().matches(&program(line), *effect);
            assert_eq!(found, *expected, "{effect:?} {pattern} on {line}");
        }
    }

    #[test]
    fn patterns_on_words() {
        use Effect::{Allow, Deny};
        check(&[
            ("git push --force*", Deny, "git push --force origin main", true),
            ("git push --force*", Deny, "git push origin --force-with-lease", true),
            ("git push --force*", Deny, "git push", false),
            ("git push", Deny, "git --no-pager push", true),
            ("git push", Deny, "git -C dir push", true),
            ("git push", Deny, "git log push", false),
            ("git status", Allow, "git status --porcelain", true),
            ("git status", Allow, "git -c core.pager=x status", false),
            ("npm test", Allow, "npm testx", false),
            ("npm test", Allow, "npm", false),
            ("re:git (status|log).*", Allow, "git log -p", true),
            ("re:^git (status|log)$", Allow, "git log -p", false),
            ("re:rm .*", Deny, "/bin/rm x", true),
            ("re:^rm .*", Allow, "/bin/rm x", false),
        ]);
    }

    #[test]
    fn programs_by_name() {
        use Effect::Deny;
        check(&[
            ("git push", Deny, "/usr/bin/git push", true),
            ("rm", Deny, "./rm x", false),
            ("rm", Deny, "bin/rm x", false),
            ("rm", Deny, "/ws/bin/rm x", false),
            ("rm", Deny, "//usr/./bin/rm x", true),
            ("rm", Deny, "//usr//bin/rm x", true),
            ("rm", Deny, "/usr/bin/../bin/rm x", true),
            ("rm", Deny, "/bin/../usr/local/sbin/rm x", true),
            ("rm", Deny, "/../../bin/rm x", true),
            ("rm", Deny, "/usr/bin/../rm x", false),
            ("rm", Deny, "/bin/rm/.. x", false),
            ("rm", Deny, "RM x", false),
            ("rm", Deny, "$x x", false),
            ("*", Deny, "$x x", true),
            ("*", Effect::Allow, "$x x", false),
        ]);
    }

    #[test]
    fn options_anywhere_and_in_any_spelling() {
        use Effect::{Allow, Deny};
        check(&[
            ("rm -r", Deny, "rm -rf x", true),
            ("rm -r", Deny, "rm -fr x", true),
            ("rm -r", Deny, "rm x -vr", true),
            ("tar -x", Deny, "tar -xf/tmp/a", true),
            ("rm -r", Deny, "rm -f x", false),
            ("rm -r", Deny, "rm --recursive x", true),
            ("rm -rf", Deny, "rm -fr x", true),
            ("rm -r", Allow, "rm -rf x", false),
            ("curl --output=*", Deny, "curl --output x", true),
            ("curl --output=a", Deny, "curl --output b", false),
            ("curl --output=a", Deny, "curl --outp=a", true),
            ("curl --output=a", Deny, "curl --output $x", true),
            ("curl --output", Deny, "curl --output=x", true),
            ("curl --output a", Deny, "curl --output=a", true),
            ("curl --output a", Deny, "curl --output=b", false),
            ("git push --force*", Deny, "git push --forc", true),
            ("git push --force*", Deny, "git push --follow-tags", false),
            ("git push --force", Deny, "git push --", false),
        ]);
    }

    #[test]
    fn paths_are_resolved_where_the_program_starts() {
        use Effect::{Allow, Deny};
        check(&[
            ("rm /etc/**", Deny, "rm /etc/hosts", true),
            ("rm /etc/**", Deny, "rm a /etc/hosts", true),
            ("rm /etc/**", Deny, "rm ../etc/hosts", true),
            ("rm /etc/**", Deny, "rm /var/../etc//hosts", true),
            ("rm /etc/**", Deny, "rm /etc", true),
            ("rm /etc/**", Deny, "rm etc/hosts", false),
            ("rm /etc/**", Deny, "rm /etc/*", true),
            ("rm /etc/**", Deny, "rm /*/hosts", true),
            ("rm /etc/**", Deny, "rm /var/*", false),
            ("rm /etc/**", Deny, "rm $x", true),
            ("rm /ws/a", Deny, "rm a", true),
            ("dd /dev/**", Deny, "dd of=/dev/sda", true),
            ("cat /ws/docs/**", Allow, "cat docs/a", true),
            ("cat /ws/docs/**", Allow, "cat docs/../src/a", false),
            ("cat /ws/docs/**", Allow, "cat docs/a docs/b -n", true),
            ("cat /ws/docs/**", Allow, "cat docs/a /etc/passwd", false),
            ("cat /ws/docs/**", Allow, "cat docs/a --file=/etc/passwd", false),
            ("cat /ws/docs/**", Allow, "cat docs/*", false),
            // Found by the fuzz target `patterns`: a path before another word, permitted and not restricted.
            ("*\n ////**\n?", Allow, "a /!\n\u{fffd}\n /", true),
            ("*\n ////**\n?", Deny, "a /!\n\u{fffd}\n /", true),
            ("* /rm {} \\-n//*a", Allow, "a /rm {} -n//ba", true),
            ("* /rm {} \\-n//*a", Deny, "a /rm {} -n//ba", true),
        ]);
        let elsewhere = |line| Program { cwd: None, ..program(line) };
        let rows = [
            ("rm /etc/**", Deny, "rm hosts", true),
            ("rm /etc/hosts", Deny, "rm hosts", true),
            ("rm /etc/hosts", Deny, "rm passwd", false),
            ("rm /etc/**", Deny, "rm /var/x", false),
            ("cat /ws/docs/**", Allow, "cat docs/a", false),
            ("cat /ws/docs/**", Allow, "cat /ws/docs/a", true),
        ];
        for (pattern, effect, line, expected) in rows {
            let found = CommandPattern::parse(pattern).unwrap().matches(&elsewhere(line), effect);
            assert_eq!(found, expected, "{effect:?} {pattern} on {line}, somewhere");
        }
    }

    #[test]
    fn a_permission_names_what_is_hazardous() {
        use Effect::{Allow, Deny};
        check(&[
            ("sed", Allow, "sed s/a/b/ f", true),
            ("sed", Allow, "sed !-i s/a/b/ f", false),
            ("sed *", Allow, "sed !-i s/a/b/ f", false),
            ("sed -i*", Allow, "sed !-i s/a/b/ f", true),
            ("sed -i*", Allow, "sed -n !-i f", false),
            ("find . -delete", Allow, "find . !-delete", true),
            ("find", Allow, "find . !-delete", false),
            ("find", Deny, "find . !-delete", true),
            ("re:sed .*", Allow, "sed !-i f", false),
            ("re:sed -i .*", Allow, "sed !-i f", true),
        ]);
    }

    #[test]
    fn what_starts_a_program_is_restricted_and_permits_nothing() {
        let through = Program { through: vec![program("sudo -n").argv], ..program("make all") };
        let rows = [
            ("sudo", Effect::Deny, true),
            ("make", Effect::Deny, true),
            ("sudo", Effect::Allow, false),
            ("make", Effect::Allow, true),
        ];
        for (pattern, effect, expected) in rows {
            let pattern = CommandPattern::parse(pattern).unwrap();
            assert_eq!(pattern.matches(&through, effect), expected, "{effect:?} {}", pattern.as_str());
        }
    }

    #[test]
    fn exact_and_spanning_patterns() {
        let exact = |text: &str| CommandPattern::parse(text).unwrap().exact();
        let spanning = |text: &str| CommandPattern::spanning(text).unwrap();
        let rows = [
            (exact("git push"), "git push", true, true),
            (exact("git push"), "git push origin", false, false),
            (exact("git push"), "git --no-pager push", true, false),
            (spanning("git * main"), "git push origin main", true, true),
            (spanning("git * main"), "git push origin main x", false, false),
            (spanning("git * main"), "/usr/bin/git push main", true, false),
        ];
        for (pattern, line, restricts, permits) in rows {
            let program = program(line);
            let found = (pattern.matches(&program, Effect::Deny), pattern.matches(&program, Effect::Allow));
            assert_eq!(found, (restricts, permits), "{} on {line}", pattern.as_str());
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
        use Effect::{Allow, Deny};
        check(&[
            ("git push", Deny, "git $x", true),
            ("git push", Deny, "git $x push", true),
            ("git remote add", Deny, "git $x", true),
            ("git push", Deny, "git commit $x", false),
            ("git push", Allow, "git $x", false),
            ("git", Allow, "git $x", false),
            // A pattern is what its fixed ends allow.
            ("git push", Deny, "git p*", true),
            ("git push", Deny, "git *.txt", false),
            ("rm -r", Deny, "rm *", true),
            ("rm -r", Deny, "rm a*", false),
            ("ls", Allow, "ls src/*", true),
            ("ls", Allow, "ls *", false),
            ("ls", Allow, "ls -- *", true),
            ("ls *", Allow, "ls ?x", false),
            ("ls src", Allow, "ls s*", false),
        ]);
    }

    #[test]
    fn many_words_take_no_longer_than_they_must() {
        let words = vec!["-a"; 20_000].join(" ");
        let pattern = CommandPattern::parse("git a b c d e f g").unwrap();
        assert!(!pattern.matches(&program(&format!("git {words}")), Effect::Deny));
    }
}
