//! `ringfence review`: what a command changed.

use ::overlay::{Change, Kind, Node, Overlay, State, Verb};
use policy::Shown;
use serde_json::{Value, json};

use super::diff::{self, Line};
use super::{chosen, failure, shown, store};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::surroundings::Surroundings;
use crate::terminal::{Format, Terminal};

/// What a person types after `ringfence review`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReviewArgs {
    /// The overlay, by the beginning of its id [default: the newest of this directory]
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// One line for each change, without what is in it
    #[arg(long)]
    stat: bool,
    /// List all overlays instead
    #[arg(long, conflicts_with_all = ["id", "stat"])]
    list: bool,
}

/// Shows what a command changed. Looking changes nothing.
pub(crate) fn run(
    args: &ReviewArgs,
    around: &Surroundings,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let store = store(around)?;
    if args.list {
        return list(&store, terminal);
    }
    let overlay = chosen(&store, around, args.id.as_deref())?;
    let changes = overlay.changes().map_err(|error| failure(&error))?;
    let review = Review { overlay: &overlay, stat: args.stat, color: terminal.color };
    match terminal.format {
        Format::Text => {
            writeln!(terminal.out, "{}", review.heading(&changes))?;
            for change in changes.iter().filter(|change| !is_only_on_the_way(change, &changes)) {
                write!(terminal.out, "{}", review.text(change)?)?;
            }
        }
        Format::Json => {
            let all: Vec<_> = changes.iter().map(|change| review.json(change)).collect::<Result<_, _>>()?;
            let mut told = about(&overlay);
            told["changes"] = Value::Array(all);
            terminal.json(&told)?;
        }
    }
    Ok(Exit::Ok)
}

fn list(store: &::overlay::Store, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let all = store.list().map_err(|error| failure(&error))?;
    if terminal.format == Format::Json {
        let told = all.iter().map(|found| match found {
            Ok(overlay) => about(overlay),
            Err(error) => json!({ "damaged": error.to_string() }),
        });
        terminal.json(&json!({ "version": 1, "overlays": told.collect::<Vec<_>>() }))?;
        return Ok(Exit::Ok);
    }
    for found in &all {
        match found {
            Ok(overlay) => {
                let Overlay { id, manifest, .. } = overlay;
                let (state, workspace) = (state(overlay), Shown::path(&manifest.workspace));
                writeln!(terminal.out, "{id}  {state:<10}  {workspace}  {}", Shown::text(&manifest.command))?;
            }
            Err(error) => writeln!(terminal.out, "{error}")?,
        }
    }
    Ok(Exit::Ok)
}

/// What became of the command.
fn state(overlay: &Overlay) -> &'static str {
    match (overlay.is_held(), overlay.manifest.state) {
        (true, _) => "running",
        (false, State::Running) => "unfinished",
        (false, State::Ended) => "ended",
    }
}

fn about(overlay: &Overlay) -> Value {
    let manifest = &overlay.manifest;
    json!({
        "version": 1,
        "overlay": overlay.id,
        "workspace": Shown::path(&manifest.workspace).to_string(),
        "began": manifest.began.seconds,
        "command": manifest.command,
        "state": state(overlay),
    })
}

/// A new directory is told by what is in it.
fn is_only_on_the_way(change: &Change, all: &[Change]) -> bool {
    let place = all.partition_point(|other| (other.view, &other.path) <= (change.view, &change.path));
    let inside =
        all.get(place).is_some_and(|next| next.view == change.view && next.path.starts_with(&change.path));
    change.carries() && change.before.is_none() && change.protected.is_none() && inside
}

struct Review<'a> {
    overlay: &'a Overlay,
    stat: bool,
    color: bool,
}

/// Longer files are told by their size.
const LONGEST: u64 = 1 << 20;

impl Review<'_> {
    fn heading(&self, changes: &[Change]) -> String {
        let Overlay { id, manifest, .. } = self.overlay;
        let protected = changes.iter().filter(|change| change.protected.is_some()).count();
        let outside = changes.iter().filter(|change| change.outside).count();
        let counted =
            [(changes.len(), "changed"), (protected, "protected"), (outside, "changed outside, too")];
        let counted = counted.iter().filter(|(count, _)| *count > 0);
        let counted: Vec<_> = counted.map(|(count, what)| format!(", {count} {what}")).collect();
        let workspace = Shown::path(&manifest.workspace);
        format!("overlay {id} of {workspace}, {}{}", state(self.overlay), counted.concat())
    }

    fn text(&self, change: &Change) -> Result<String, Failure> {
        let (verb, path) = (change.verb(), shown(self.overlay, change));
        let line = format!("{:<7} {path}{}", verb.word(), detail(change));
        let mut lines = vec![match (change.protected, verb) {
            (Some(_), _) => self.painted("1;31", &line),
            (None, Verb::Added) => self.painted("1;32", &line),
            (None, _) => self.painted("1", &line),
        }];
        let because = change.protected.map(|name| format!("        protected: {}", name.because));
        lines.extend(because.map(|text| self.painted("31", &text)));
        lines.extend(
            change.outside.then(|| "        changed outside, too, since the command began".to_owned()),
        );
        lines.extend(change.cannot.map(|why| format!("        cannot be applied: {why}")));
        lines.extend(self.lines(change)?.unwrap_or_default().iter().map(|line| self.line(line)));
        Ok(lines.join("\n") + "\n")
    }

    fn line(&self, line: &Line) -> String {
        let color = match line {
            Line::Place(_) => "36",
            Line::Same(_) => "",
            Line::Gone(_) => "31",
            Line::New(_) => "32",
        };
        let (sign, text) = line.parts();
        // Each line is escaped on its own: a text cannot draw a line of ours.
        self.painted(color, &format!("  {sign}{}", Shown::text(text)))
    }

    fn painted(&self, color: &str, text: &str) -> String {
        if self.color && !color.is_empty() { format!("\x1b[{color}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// The lines that differ. What was removed is told by its name alone.
    fn lines(&self, change: &Change) -> Result<Option<Vec<Line>>, Failure> {
        let is_file = |node: &Option<Node>| matches!(node, Some(Node { kind: Kind::File, .. }));
        if self.stat || !change.content || !is_file(&change.after) {
            return Ok(None);
        }
        let [before, after] = self.overlay.contents(change, LONGEST).map_err(|error| failure(&error))?;
        let before = if is_file(&change.before) { before } else { Some(Vec::new()) };
        Ok(before.zip(after).and_then(|(before, after)| diff::lines(&before, &after)))
    }

    fn json(&self, change: &Change) -> Result<Value, Failure> {
        let lines = self.lines(change)?.map(|lines| {
            let lines = lines.iter().map(|line| format!("{}{}", line.parts().0, line.parts().1));
            lines.collect::<Vec<_>>()
        });
        Ok(json!({
            "path": shown(self.overlay, change),
            "change": change.verb().word(),
            "before": change.before.as_ref().map(node),
            "after": change.after.as_ref().map(node),
            "protected": change.protected.map(|name| json!({ "name": name.name, "because": name.because })),
            "outside": change.outside,
            "cannot": change.cannot,
            "diff": lines,
        }))
    }
}

fn node(node: &Node) -> Value {
    let target = match &node.kind {
        Kind::Link(target) => Some(Shown::path(target).to_string()),
        _ => None,
    };
    json!({ "kind": node.kind.word(), "mode": format!("{:o}", node.mode), "size": node.size, "target": target })
}

fn bytes(count: u64) -> String {
    format!("{count} {}", if count == 1 { "byte" } else { "bytes" })
}

/// What differs besides the text of a file.
fn detail(change: &Change) -> String {
    let said = |node: &Node| match &node.kind {
        Kind::Link(target) => format!("link to {}", Shown::path(target)),
        Kind::File => format!("file of {}", bytes(node.size)),
        other => other.word().to_owned(),
    };
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if before.kind.word() == after.kind.word() => {
            let mut parts = Vec::new();
            if before.mode != after.mode && !matches!(after.kind, Kind::Link(_)) {
                parts.push(format!("mode {:o} -> {:o}", before.mode, after.mode));
            }
            if change.content {
                parts.push(match (&before.kind, &after.kind) {
                    (Kind::File, Kind::File) => format!("{} -> {}", before.size, bytes(after.size)),
                    _ => format!("{} -> {}", said(before), said(after)),
                });
            }
            if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
        }
        (Some(before), Some(after)) => format!(": {} -> {}", said(before), said(after)),
        (None, Some(after)) if after.kind == Kind::File => {
            let runs = if after.mode & 0o111 == 0 { "" } else { ", executable" };
            format!(": {}{runs}", bytes(after.size))
        }
        (None, Some(node)) | (Some(node), None) => format!(": {}", said(node)),
        (None, None) => String::new(),
    }
}
