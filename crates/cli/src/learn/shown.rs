//! A proposal as a person and a program see it.

use jail::{End, Network};
use policy::Shown;
use ringfence::learn::{MOST_REFUSED, Proposal, Report};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Renders a report.
pub(crate) trait Render {
    /// Returns whether there is an addition to write.
    fn changes(&self) -> bool;

    /// Describes the change in words, for the ledger.
    fn change(&self) -> String;

    /// Renders the change as a unified diff.
    fn diff(&self, color: bool) -> String;

    /// Renders everything besides the diff.
    fn said(&self) -> String;

    /// Renders everything for programs.
    fn json(&self) -> Value;
}

impl Render for Report {
    fn changes(&self) -> bool {
        self.text.is_some()
    }

    fn change(&self) -> String {
        let lists = self.added.iter().map(|(key, texts)| format!("{key} += {texts:?}"));
        format!("learned: {}", lists.collect::<Vec<_>>().join("; "))
    }

    fn diff(&self, color: bool) -> String {
        let Some(text) = &self.text else { return String::new() };
        let old = self.before.as_deref().unwrap_or_default();
        let file = Shown::path(&self.file).to_string();
        let diff = TextDiff::from_lines(old, text);
        let mut out = format!("--- {}\n+++ {file}\n", if old.is_empty() { "/dev/null" } else { &file });
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            out.push_str(&painted(color, "36", &hunk.header().to_string()));
            for change in hunk.iter_changes() {
                let (sign, paint) = match change.tag() {
                    ChangeTag::Equal => (' ', ""),
                    ChangeTag::Delete => ('-', "31"),
                    ChangeTag::Insert => ('+', "32"),
                };
                let line = Shown::text(change.value().trim_end_matches('\n')).to_string();
                out.push_str(&painted(color, paint, &format!("{sign}{line}")));
            }
        }
        out
    }

    fn said(&self) -> String {
        let mut out = format!("the command {}", ended(self.end));
        out.push_str(if self.end.code() == 0 {
            "\n"
        } else {
            ": what it would have used after that is not known\n"
        });
        let Proposal { refused, notes, hosts, .. } = &self.proposal;
        let lines = refused
            .iter()
            .map(|refused| format!("{} {}: {}", refused.want, refused.object, Shown::text(&refused.because)));
        section(&mut out, "refused, and stays refused:", &lines.collect::<Vec<_>>());
        section(&mut out, "to know:", notes);
        match self.network {
            Network::Open if !hosts.is_empty() => out.push_str(
                "addresses are what was called, names are not seen: put names in their place where you know them\n",
            ),
            Network::None => {
                out.push_str("there was no network: `--network broker` finds out which hosts are called\n");
            }
            Network::Broker | Network::Open => {}
        }
        if !self.changes() {
            out.push_str("nothing to add: the policy allows what was used, but for what is listed here\n");
        }
        out
    }

    fn json(&self) -> Value {
        let added: serde_json::Map<_, _> =
            self.added.iter().map(|(key, texts)| (key.clone(), json!(texts))).collect();
        let refused = self.proposal.refused.iter().map(
            |refused| json!({ "want": refused.want, "object": refused.object, "because": refused.because }),
        );
        json!({
            "version": 1,
            "exit": self.end.code(),
            "file": self.file.to_string_lossy(),
            "add": added,
            "diff": self.diff(false),
            "refused": refused.collect::<Vec<_>>(),
            "notes": self.proposal.notes,
        })
    }
}

fn ended(end: End) -> String {
    match end {
        End::Exited(code) => format!("ended with {code}"),
        End::Signaled(signal) => format!("was ended by signal {signal}"),
        End::Limit(overrun) => format!("was ended: {}", overrun.message()),
        End::Stopped => "was stopped".to_owned(),
    }
}

fn painted(color: bool, paint: &str, line: &str) -> String {
    if color && !paint.is_empty() { format!("\x1b[{paint}m{line}\x1b[0m\n") } else { format!("{line}\n") }
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let more = lines.len().saturating_sub(MOST_REFUSED);
    let more = (more > 0).then(|| format!("and {more} more"));
    out.push_str(title);
    out.push('\n');
    for line in lines.iter().take(MOST_REFUSED).chain(&more) {
        out.extend(["  ", line, "\n"]);
    }
}

#[cfg(test)]
mod tests {
    use config::{Files, Places};
    use ringfence::learn::RefusedUse;
    use ringfence::run::Host;

    use super::*;

    fn host() -> Host {
        let places = Places { workspace: "/ws".into(), home: None, state: None, run: None };
        let files = Files { managed: None, user: None, project: None };
        let environment = Vec::new();
        Host { cwd: "/ws".into(), places, files, runtime: None, agent: None, environment }
    }

    fn report() -> Report {
        let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let refused = RefusedUse {
            want: "read",
            object: "/home/me/.ssh/id_rsa".to_owned(),
            because: "keys that open other machines".to_owned(),
        };
        let notes = (0..MOST_REFUSED + 2).map(|number| format!("note {number}")).collect();
        Report {
            file: "/home/me/.config/ringfence/policy.toml".into(),
            before: Some("# mine\nversion = 1\n".to_owned()),
            text: Some("# mine\nversion = 1\njail.shared = [\"~/a\u{202e}b\"]\n".to_owned()),
            added: vec![("jail.shared".to_owned(), texts(&["~/a\u{202e}b"]))],
            proposal: Proposal {
                refused: vec![refused],
                notes,
                hosts: texts(&["192.0.2.1:443"]),
                ..Proposal::default()
            },
            end: End::Exited(1),
            network: Network::Open,
            host: host(),
        }
    }

    #[test]
    fn a_person_sees_the_change_and_what_else_there_is() {
        insta::assert_snapshot!(report().diff(false), @r#"
        --- /home/me/.config/ringfence/policy.toml
        +++ /home/me/.config/ringfence/policy.toml
        @@ -1,2 +1,3 @@
         # mine
         version = 1
        +jail.shared = ["~/a\u{202e}b"]
        "#);
        let said = report().said();
        let (said, cut) = said.split_once("  note 2\n").unwrap();
        let cut = cut.split_once("note 29\n").unwrap().1;
        insta::assert_snapshot!(format!("{said}  …\n{cut}"), @r"
        the command ended with 1: what it would have used after that is not known
        refused, and stays refused:
          read /home/me/.ssh/id_rsa: keys that open other machines
        to know:
          note 0
          note 1
          …
          and 2 more
        addresses are what was called, names are not seen: put names in their place where you know them
        ");
        insta::assert_snapshot!(report().change(), @r#"learned: jail.shared += ["~/a\u{202e}b"]"#);
        let nothing = Report {
            text: None,
            added: Vec::new(),
            proposal: Proposal::default(),
            network: Network::None,
            end: End::Exited(0),
            ..report()
        };
        insta::assert_snapshot!(nothing.said(), @r"
        the command ended with 0
        there was no network: `--network broker` finds out which hosts are called
        nothing to add: the policy allows what was used, but for what is listed here
        ");
        assert!(nothing.diff(true).is_empty() && report().diff(true).contains("\u{1b}[32m+jail.shared"));
    }
}
