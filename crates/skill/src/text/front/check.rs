//! Validates front matter: as the reference validator wants it, or as agents load it.

use unicode_normalization::UnicodeNormalization as _;

use super::{Front, FrontError, SPECIFICATION, Spot, Value};

/// Strictness of the validation of front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// As the reference validator accepts it: six keys, and its rules on each.
    Strict,
    /// As agents load it: any key, but a name and a description that can be used.
    Lenient,
}

/// Something that is wrong with front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Description of the problem.
    pub message: String,
    /// Position.
    pub spot: Spot,
}

/// The rules on lengths, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

/// Returns the problems of the front matter of a skill that lies in a directory of this name.
#[must_use]
pub fn validate(text: &str, directory: &str, level: Level) -> Vec<Problem> {
    let front = match level {
        Level::Strict => strict_front(text),
        Level::Lenient => {
            Front::read(text).map_err(Problem::from).and_then(|front| front.ok_or_else(missing))
        }
    };
    let front = match front {
        Ok(front) => front,
        Err(problem) => return vec![problem],
    };
    let mut problems = Problems { start: Spot { byte: 0, line: 1, column: 1 }, list: Vec::new() };
    match level {
        Level::Strict => problems.strict(&front, directory),
        Level::Lenient => problems.lenient(&front),
    }
    problems.list
}

impl From<FrontError> for Problem {
    fn from(error: FrontError) -> Self {
        Self { message: error.to_string(), spot: error.spot() }
    }
}

fn missing() -> Problem {
    Problem { message: "there is no front matter".to_owned(), spot: Spot { byte: 0, line: 1, column: 1 } }
}

/// The reference ends front matter at the next `---`, at any position.
fn strict_front(text: &str) -> Result<Front, Problem> {
    let rest = text.strip_prefix("---").ok_or_else(missing)?;
    let end = rest.find("---").ok_or_else(missing)?;
    let front = Front::read_in(text, 3..3 + end)?;
    if let Some(spot) = front.flow {
        return Err(Problem { message: "lists and mappings in brackets are not accepted".to_owned(), spot });
    }
    if front.fields.is_empty() {
        return Err(missing());
    }
    Ok(front)
}

struct Problems {
    start: Spot,
    list: Vec<Problem>,
}

impl Problems {
    fn add(&mut self, message: impl Into<String>, value: Option<&Value>) {
        let spot = value.map_or(self.start, |value| value.spot);
        self.list.push(Problem { message: message.into(), spot });
    }

    fn strict(&mut self, front: &Front, directory: &str) {
        for field in front.fields.iter().filter(|field| !SPECIFICATION.contains(&field.key.as_str())) {
            self.list.push(Problem {
                message: format!("the key `{}` is not accepted", field.key),
                spot: field.spot,
            });
        }
        match front.get("name") {
            None => self.add("there is no name", None),
            Some(value) => self.name(value, directory),
        }
        self.description(front, Some(MAX_DESCRIPTION));
        if let Some(value) = front.get("compatibility") {
            match value.text() {
                None => self.add("the compatibility has to be a text", Some(value)),
                Some(text) if text.chars().count() > MAX_COMPATIBILITY => {
                    self.add("the compatibility has more than 500 characters", Some(value));
                }
                Some(_) => {}
            }
        }
    }

    fn name(&mut self, value: &Value, directory: &str) {
        let Some(name) = value.text().map(str::trim).filter(|name| !name.is_empty()) else {
            return self.add("the name has to be a text", Some(value));
        };
        let name: String = name.nfkc().collect();
        if name.chars().count() > MAX_NAME {
            self.add("the name has more than 64 characters", Some(value));
        }
        if name != name.to_lowercase() {
            self.add("the name has to be lower case", Some(value));
        }
        if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
            self.add("the name has a hyphen at an end, or two together", Some(value));
        }
        if !name.chars().all(|c| c.is_alphanumeric() || c == '-') {
            self.add("the name has letters, digits and hyphens only", Some(value));
        }
        if directory.nfkc().collect::<String>() != name {
            self.add("the name is not the name of the directory", Some(value));
        }
    }

    fn description(&mut self, front: &Front, most: Option<usize>) {
        let value = front.get("description");
        match value.and_then(Value::text) {
            None if value.is_none() => self.add("there is no description", None),
            None => self.add("the description has to be a text", value),
            Some(text) if text.trim().is_empty() => self.add("the description is empty", value),
            Some(text) if most.is_some_and(|most| text.chars().count() > most) => {
                self.add("the description has more than 1024 characters", value);
            }
            Some(_) => {}
        }
    }

    /// A name is shown and becomes a path; a description is put before a model.
    fn lenient(&mut self, front: &Front) {
        if let Some(value) = front.get("name") {
            let fits = |c: char| c.is_alphanumeric() || "-_.: ".contains(c);
            match value.text().map(str::trim) {
                None | Some("") => self.add("the name has to be a text", Some(value)),
                Some(name) if name.chars().count() > MAX_NAME => {
                    self.add("the name has more than 64 characters", Some(value));
                }
                Some(name) if !name.chars().all(fits) || name.starts_with('.') => {
                    self.add("the name has characters that no name needs", Some(value));
                }
                Some(_) => {}
            }
        }
        self.description(front, None);
        for key in ["disable-model-invocation", "user-invocable", "userInvocable", "disableModelInvocation"] {
            if front.get(key).is_some() && front.flag(key).is_none() {
                self.add(format!("`{key}` has to be true or false"), front.get(key));
            }
        }
    }
}
