//! Problems with a policy, drawn so that a person sees the place.

use config::{Place, Problem, Problems};
use policy::Shown;
use serde_json::{Value, json};

use crate::caret::Window;
use crate::exit::Exit;
use crate::failure::Failure;

/// Longest piece of a line that is shown, in columns.
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
    let from = at - start;
    let window = Window::new(line.as_bytes(), from..from + place.span.len(), WIDTH);
    let marked = format!("{gutter} | {}{} {}", window.before, window.carets, Shown::text(&place.label));
    [
        format!("{gutter}--> {}:{number}:{}", Shown::path(&source.path), source.column(at)),
        format!("{gutter} |"),
        format!("{number} | {}", window.text),
        marked.trim_end().to_owned(),
    ]
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
