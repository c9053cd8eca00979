//! Problems with a policy, drawn so that a person sees the place.

use config::{Place, Problem, Problems};
use policy::Shown;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;

/// Longest piece of a line that is shown.
const WIDTH: usize = 120;

/// A failure that consists of problems. It is drawn with carets, not as a list of causes.
pub(crate) fn failure(problems: &Problems) -> Failure {
    let mut drawing = String::new();
    for problem in &problems.0 {
        drawing.push_str(&draw(problem));
        drawing.push('\n');
    }
    let count = problems.0.len();
    let message = format!("the policy has {count} {}", if count == 1 { "problem" } else { "problems" });
    let code = problems.0.first().map(|problem| problem.code);
    let failure = Failure { drawing, exit: Exit::Failed, ..Failure::new(message) };
    match code {
        Some(code) => failure.hint(format!("`ringfence explain {code}` says more")),
        None => failure,
    }
}

/// One problem as text.
pub(crate) fn draw(problem: &Problem) -> String {
    let mut lines = vec![format!("error[{}]: {}", problem.code, Shown::text(&problem.message))];
    lines.extend(problem.place.iter().flat_map(draw_place));
    lines.extend(problem.hints.iter().map(|hint| format!("hint: {}", Shown::text(hint))));
    lines.join("\n") + "\n"
}

fn draw_place(place: &Place) -> [String; 4] {
    let (source, at) = (&place.source, place.span.start);
    let (line, start) = source.line_text(at);
    let number = source.line(at).to_string();
    let gutter = " ".repeat(number.len());
    let window = Window::new(line, at - start, place.span.len());
    let marked = format!("{gutter} | {}{} {}", window.before, window.carets, Shown::text(&place.label));
    [
        format!("{gutter}--> {}:{number}:{}", Shown::path(&source.path), source.column(at)),
        format!("{gutter} |"),
        format!("{number} | {}", window.text),
        marked.trim_end().to_owned(),
    ]
}

/// The part of a line around a span, spelled out, with carets below the span.
struct Window {
    text: String,
    before: String,
    carets: String,
}

impl Window {
    fn new(line: &str, at: usize, length: usize) -> Self {
        let shown = |text: &str| Shown::text(text).to_string();
        let at = floor(line, at);
        let end = floor(line, (at + length).min(line.len())).max(at);
        // A long line is cut so that the span stays in view.
        let from = if at > WIDTH { floor(line, at - WIDTH / 2) } else { 0 };
        let until = floor(line, (from + 2 * WIDTH).min(line.len())).max(floor(line, at));
        let (head, tail) = (if from > 0 { "…" } else { "" }, if until < line.len() { "…" } else { "" });
        let before = format!("{head}{}", shown(&line[from..at]));
        let marked = shown(&line[at..end.min(until)]);
        let rest = shown(&line[end.min(until)..until]);
        Self {
            before: " ".repeat(before.chars().count()),
            carets: "^".repeat(marked.chars().count().max(1)),
            text: format!("{before}{marked}{rest}{tail}"),
        }
    }
}

/// The nearest character boundary at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// One problem for programs.
pub(crate) fn json(problem: &Problem) -> Value {
    let place = problem.place.as_ref().map(|place| {
        let (source, at) = (&place.source, place.span.start);
        json!({
            "file": source.path.to_string_lossy(),
            "line": source.line(at),
            "column": source.column(at),
            "label": place.label,
        })
    });
    json!({
        "code": problem.code.id(),
        "message": problem.message,
        "place": place,
        "hints": problem.hints,
    })
}
