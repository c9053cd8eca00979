//! The pattern of a search.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ringfence::policy::Shown;

use super::{Case, GrepParameters};
use crate::error::{ErrorKind, ToolError};

/// Bytes of a pattern.
const MAX_PATTERN: usize = 16 << 10;
/// Memory that a pattern may take when it is compiled.
const MAX_COMPILED: usize = 16 << 20;
/// Memory for the part of the automaton that is in use.
const MAX_AUTOMATON: usize = 64 << 20;

/// Builds the matcher of the pattern.
pub(super) fn matcher(parameters: &GrepParameters) -> Result<RegexMatcher, ToolError> {
    if parameters.pattern.len() > MAX_PATTERN {
        let message = format!("the pattern is longer than {MAX_PATTERN} bytes");
        return Err(ToolError::new(ErrorKind::Malformed, message));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .fixed_strings(parameters.fixed)
        .word(parameters.word)
        .case_smart(parameters.case == Case::Smart)
        .case_insensitive(parameters.case == Case::Insensitive)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_AUTOMATON);
    if !parameters.multiline {
        // A file with a NUL byte is not searched, so no match has one.
        builder.line_terminator(Some(b'\n')).ban_byte(Some(0));
    }
    builder.build(&parameters.pattern).map_err(|error| malformed(parameters, &error))
}

fn malformed(parameters: &GrepParameters, error: &grep_regex::Error) -> ToolError {
    let read = if parameters.fixed { Ok(()) } else { regex_syntax::parse(&parameters.pattern).map(drop) };
    let (place, why) = match read {
        Err(regex_syntax::Error::Parse(error)) => (Some(error.span().start.offset), error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => {
            (Some(error.span().start.offset), error.kind().to_string())
        }
        _ => (None, one_line(&error.to_string())),
    };
    let hint = if parameters.pattern.contains("\\n") || parameters.pattern.contains('\n') {
        "`multiline: true` lets a match span lines"
    } else {
        "`fixed: true` takes the pattern as plain text"
    };
    let place = place.map_or_else(String::new, |offset| {
        let characters = parameters.pattern.get(..offset).map_or(0, |before| before.chars().count());
        format!(" at character {}", characters + 1)
    });
    ToolError::new(ErrorKind::Malformed, format!("the pattern cannot be read{place}: {why}")).hint(hint)
}

fn one_line(text: &str) -> String {
    Shown::text(&text.split_whitespace().collect::<Vec<_>>().join(" ")).to_string()
}
