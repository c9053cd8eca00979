//! Changes as programs read them.

use ::overlay::{Change, GitChanges, Head, Kind, Node, Touched};
use policy::Shown;
use serde_json::{Value, json};

use super::draw::Drawing;
use super::listing::Entry;
use super::{shown, shown_path};
use crate::failure::Failure;

impl Drawing<'_> {
    /// The same entries as in the text: changes one by one, repositories and ignored names each as a whole.
    pub(crate) fn json(&self, entries: &[Entry<'_>]) -> Result<[(&'static str, Value); 3], Failure> {
        let (mut changes, mut repositories, mut ignored) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries {
            match entry {
                Entry::Change(change) => changes.push(self.change_json(change, change)?),
                Entry::Renamed { from, to, alike } => {
                    let mut told = self.change_json(from, to)?;
                    told["change"] = json!("renamed");
                    told["from"] = json!(shown(self.overlay, from));
                    told["before"] = json!(from.before.as_ref().map(node));
                    told["alike"] = json!(alike);
                    told["outside"] = json!(from.outside || to.outside);
                    changes.push(told);
                }
                Entry::Repository { git, changes } => {
                    let mut told = self.repository_json(git, changes);
                    told["files"] = json!(entry.files());
                    repositories.push(told);
                }
                Entry::Ignored { path, changes } => {
                    let view = changes.first().map_or(0, |change| change.view);
                    let files = changes.iter().filter_map(|change| change.after.as_ref());
                    let sizes = files.filter(|node| node.kind != Kind::Directory).map(|node| node.size);
                    ignored.push(json!({
                        "path": shown_path(self.overlay, view, path),
                        "files": entry.files(),
                        "size": sizes.sum::<u64>(),
                        "outside": changes.iter().filter(|change| change.outside).count(),
                    }));
                }
            }
        }
        let [changes, repositories, ignored] = [changes, repositories, ignored].map(Value::Array);
        Ok([("changes", changes), ("repositories", repositories), ("ignored", ignored)])
    }

    fn change_json(&self, from: &Change, change: &Change) -> Result<Value, Failure> {
        let lines = if self.stat { None } else { self.lines(from, change)? };
        let lines = lines.map(|lines| {
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

    fn repository_json(&self, git: &GitChanges, changes: &[&Change]) -> Value {
        let head = |head: &Option<Head>| match head {
            Some(Head::Object(name) | Head::Reference(name)) => json!(name),
            None => Value::Null,
        };
        let refs = git.refs.iter().map(|it| {
            json!({ "name": it.name, "before": head(&it.before), "after": head(&it.after), "commits": it.commits })
        });
        let commits = git.commits.iter().map(|commit| {
            json!({ "id": commit.id, "subject": commit.subject, "protected": touched(&commit.touched) })
        });
        json!({
            "path": shown_path(self.overlay, git.view, &git.path),
            "objects": git.objects,
            "refs": refs.collect::<Vec<_>>(),
            "commits": commits.collect::<Vec<_>>(),
            "staged": touched(&git.staged),
            "unreadable": git.unreadable,
            "outside": changes.iter().filter(|change| change.outside).count(),
        })
    }
}

fn touched(all: &[Touched]) -> Value {
    let each =
        all.iter().map(|it| json!({ "path": Shown::path(&it.path).to_string(), "because": it.name.because }));
    each.collect()
}

fn node(node: &Node) -> Value {
    let target = match &node.kind {
        Kind::Link(target) => Some(Shown::path(target).to_string()),
        _ => None,
    };
    json!({ "kind": node.kind.word(), "mode": format!("{:o}", node.mode), "size": node.size, "target": target })
}
