//! One word of a command pattern: a glob on a word, an option, or a path.

use std::path::Path;

use crate::glob::Glob;
use crate::invocation::{Certainty, Word};
use crate::location::lexical;
use crate::path_index::Reach;
use crate::pattern::{Pattern, PatternError};

/// Makes a path absolute; `None` when it is not known where it lies.
pub(crate) type Resolve<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A pattern on one word.
#[derive(Debug, Clone)]
pub(crate) struct WordPattern {
    pattern: Pattern,
    role: Role,
}

/// Role of a word in a pattern.
#[derive(Debug, Clone)]
enum Role {
    /// `push`
    Plain,
    /// `-r`, `--force*`, `--output=*`
    Option(Spelling),
    /// `/etc/**`
    Path(Glob),
    /// `.`, `..` or `~`: the word itself, and the directory it stands for if that is known.
    Directory(Option<Glob>),
}

/// Other spellings of an option.
#[derive(Debug, Clone)]
struct Spelling {
    /// The letter, if it has just one and may stand among others: `-r` in `-rf`.
    letter: Option<char>,
    /// The beginning that is no wildcard. Many programs take a shorter one for the same option.
    stem: Box<str>,
    /// `--name=value` as two words.
    apart: Option<(Pattern, Pattern)>,
}

impl WordPattern {
    /// Reads a word; only an argument can be a path.
    pub(crate) fn parse(
        text: &str,
        is_argument: bool,
        resolve: Option<&Resolve<'_>>,
    ) -> Result<Self, PatternError> {
        let pattern = Pattern::parse(text)?;
        let elsewhere = ["~/", "./", "../"].iter().any(|start| text.starts_with(start));
        let role = match (is_argument, resolve) {
            (true, _) if text.starts_with('-') => Role::Option(Spelling::parse(text, &pattern)?),
            (true, _) if text.starts_with('/') => Role::Path(glob(text)?),
            (true, Some(resolve)) if elsewhere => {
                let unknown = || PatternError::Path(format!("where `{text}` lies is not known").into());
                Role::Path(glob(&resolve(text).ok_or_else(unknown)?)?)
            }
            (true, _) if matches!(text, "." | ".." | "~") => {
                let path = resolve.and_then(|resolve| resolve(&format!("{text}/")));
                Role::Directory(path.map(|path| glob(&path)).transpose()?)
            }
            _ => Role::Plain,
        };
        Ok(Self { pattern, role })
    }

    pub(crate) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    pub(crate) fn is_path(&self) -> bool {
        matches!(self.role, Role::Path(_))
    }

    /// Returns true if the word is a path, or a directory by another name.
    pub(crate) fn is_location(&self) -> bool {
        matches!(self.role, Role::Path(_) | Role::Directory(_))
    }

    pub(crate) fn is_option(&self) -> bool {
        matches!(self.role, Role::Option(_))
    }

    /// Returns true if the place of the word in the line does not matter to a restriction.
    pub(crate) fn stands_anywhere(&self) -> bool {
        matches!(self.role, Role::Option(_) | Role::Path(_))
    }

    /// The only word that matches, if there is just one.
    pub(crate) fn literal(&self) -> Option<String> {
        match &self.role {
            Role::Path(glob) => glob.is_literal().then(|| glob.as_str().to_owned()),
            // A directory has other names.
            Role::Directory(_) => None,
            Role::Plain | Role::Option(_) => self.pattern.literal(),
        }
    }

    /// A word that matches.
    pub(crate) fn sample(&self) -> Option<String> {
        match &self.role {
            Role::Path(glob) => glob.samples().into_iter().find(|sample| sample.starts_with('/')),
            Role::Plain | Role::Option(_) | Role::Directory(_) => self.pattern.sample(),
        }
    }

    /// Returns true if a permission holds for a word. A path has to be known from the root.
    pub(crate) fn permits(&self, word: &Word, cwd: Option<&str>) -> bool {
        match &self.role {
            Role::Path(glob) => {
                let path = word.is_literal().then(|| absolute(&word.text, cwd)).flatten();
                path.is_some_and(|path| glob.matches(path.as_bytes(), Reach::Narrow))
            }
            // A pattern is many words, of which only the free ones may be ignored.
            Role::Plain | Role::Option(_) | Role::Directory(_) if !word.is_literal() => {
                self.pattern.is_anything()
            }
            Role::Plain | Role::Option(_) | Role::Directory(_) => self.pattern.matches(&word.text),
        }
    }

    /// Returns true if a restriction could hold for a word. One that is not known could be anything.
    pub(crate) fn fits(&self, word: &Word, next: Option<&Word>, cwd: Option<&str>) -> bool {
        match (&self.role, word.certainty) {
            (_, Certainty::Unknown) => true,
            (Role::Path(glob), _) => path_fits(glob, word, cwd),
            (_, Certainty::Pattern) => self.pattern.could_match(&word.text),
            (Role::Plain, Certainty::Literal) => {
                let is_value = |value| self.pattern.matches(value);
                self.pattern.matches(&word.text)
                    || word.text.starts_with('-') && option_value(&word.text).is_some_and(is_value)
            }
            (Role::Directory(path), Certainty::Literal) => {
                let is_directory = |text: &str| {
                    same_dots(self.pattern.as_str(), text)
                        || path.as_ref().is_some_and(|path| literal_fits(path, text, cwd))
                };
                is_directory(&word.text) || option_value(&word.text).is_some_and(is_directory)
            }
            (Role::Option(spelling), Certainty::Literal) => {
                self.pattern.matches(&word.text) || spelling.fits(&self.pattern, &word.text, next)
            }
        }
    }
}

impl Spelling {
    fn parse(text: &str, pattern: &Pattern) -> Result<Self, PatternError> {
        let mut chars = text.chars().skip(1);
        let letter = chars.next().filter(|c| c.is_ascii_alphanumeric() && chars.next().is_none());
        let apart = match text.split_once('=').filter(|(_, value)| !value.is_empty()) {
            Some((name, value)) => Some((Pattern::parse(name)?, Pattern::parse(value)?)),
            None => None,
        };
        let stem = apart.as_ref().map_or(pattern, |(name, _)| name).stem().into();
        Ok(Self { letter, stem, apart })
    }

    fn fits(&self, pattern: &Pattern, text: &str, next: Option<&Word>) -> bool {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        match (&self.apart, value) {
            (None, _) => pattern.matches(name) || self.is_among(name) || self.is_shortened(name),
            (Some((own, _)), _) if !own.matches(name) && !self.is_shortened(name) => false,
            (Some((_, wanted)), Some(value)) => wanted.matches(value),
            (Some((_, wanted)), None) => {
                next.is_some_and(|next| !next.is_literal() || wanted.matches(&next.text))
            }
        }
    }

    /// `-r` in `-vrf`, also when a value is written right behind.
    fn is_among(&self, text: &str) -> bool {
        let Some(letter) = self.letter else { return false };
        let letters = text.strip_prefix('-').unwrap_or_default().chars();
        letters.take_while(char::is_ascii_alphanumeric).any(|c| c == letter)
    }

    /// `--forc` for `--force`.
    fn is_shortened(&self, name: &str) -> bool {
        name.len() > 2 && name.starts_with("--") && self.stem.starts_with(name)
    }
}

/// Returns true if two words are the same directory however they are spelled: `.` and `./.`.
fn same_dots(wanted: &str, text: &str) -> bool {
    let parts = |text| str::split(text, '/').filter(|part| !matches!(*part, "" | "."));
    !text.is_empty() && !text.starts_with('/') && parts(wanted).eq(parts(text))
}

/// A final slash says that a path is a directory, which a name does not.
fn glob(text: &str) -> Result<Glob, PatternError> {
    let trimmed = text.trim_end_matches('/');
    let text = if trimmed.is_empty() { "/" } else { trimmed };
    Glob::parse(text).map_err(|error| PatternError::Path(error.to_string().into()))
}

/// The value in `--name=value` or `name=value`.
pub(crate) fn option_value(text: &str) -> Option<&str> {
    text.split_once('=').map(|(_, value)| value).filter(|value| !value.is_empty())
}

/// A path from the root, as if nothing on the way were a link; `None` when the directory is not known.
pub(crate) fn absolute(text: &str, cwd: Option<&str>) -> Option<String> {
    let path =
        if text.starts_with('/') { lexical(Path::new(text)) } else { lexical(&Path::new(cwd?).join(text)) };
    path.into_os_string().into_string().ok()
}

fn path_fits(glob: &Glob, word: &Word, cwd: Option<&str>) -> bool {
    let one = |text: &str| match word.certainty {
        Certainty::Literal => literal_fits(glob, text, cwd),
        Certainty::Pattern | Certainty::Unknown => pattern_fits(glob, text, cwd),
    };
    one(&word.text) || option_value(&word.text).is_some_and(one)
}

/// Compares only the last name if the directory is not known.
fn literal_fits(glob: &Glob, text: &str, cwd: Option<&str>) -> bool {
    if let Some(path) = absolute(text, cwd) {
        // The root has no name that a pattern could match.
        if path == "/" && glob.as_str() == "/" {
            return true;
        }
        return glob.matches(path.as_bytes(), Reach::Wide);
    }
    let last = |text: &str| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let (wanted, given) = (last(glob.as_str()), last(text));
    if text.starts_with('-') || text.is_empty() {
        return false;
    }
    let open = wanted == "**" || wanted.contains(['[', '{']) || matches!(given.as_str(), "." | "..");
    open || Pattern::parse(&wanted).is_ok_and(|pattern| pattern.matches(&given))
}

/// A pattern of the shell fits when what stands before the wildcards of both can be the same.
fn pattern_fits(glob: &Glob, text: &str, cwd: Option<&str>) -> bool {
    const WILD: [char; 6] = ['*', '?', '[', '{', '\\', '~'];
    let fixed = text.split(WILD).next().unwrap_or_default();
    let directory = fixed.rsplit_once('/').map_or("", |(directory, _)| directory);
    let absolute = match (text.starts_with('/'), directory) {
        (true, "") => Some("/".to_owned()),
        _ => absolute(if directory.is_empty() { "." } else { directory }, cwd),
    };
    let Some(given) = absolute else { return true };
    let given = format!("{}/", given.trim_end_matches('/'));
    let wanted = glob.as_str().split(WILD).next().unwrap_or_default();
    given.starts_with(wanted) || wanted.starts_with(&given)
}
