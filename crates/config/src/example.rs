//! The examples of rules: a rule that fails its own does not load.

use policy::{Code, Endpoint, Rule, RuleSet, Shown, Subject};

use crate::line::read;
use crate::place::Places;
use crate::problem::Problem;
use crate::sample::{Sample, location};
use crate::tree::{Node, find};

/// Result of an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// As the rule claims.
    Holds,
    /// Otherwise than the rule claims.
    Fails,
    /// It cannot be read, so nothing can be said.
    Unchecked,
}

/// One example of a rule.
#[derive(Debug, Clone)]
pub struct Example {
    /// The text.
    pub node: Node,
    /// True if the rule should match it.
    pub expected: bool,
    /// Result.
    pub outcome: Outcome,
}

/// Checks all examples of all rules.
pub(crate) fn examples(
    rules: &RuleSet,
    written: &[Node],
    from_sections: usize,
    places: &Places,
) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut by_id: Vec<_> = rules.rules().iter().filter(|rule| rule.id >= from_sections).collect();
    by_id.sort_unstable_by_key(|rule| rule.id);
    for (node, rule) in written.iter().zip(by_id) {
        let Some(table) = node.table() else { continue };
        for (key, expected) in [("match", true), ("not-match", false)] {
            for (text, node) in find(table, key).into_iter().flat_map(Node::texts) {
                let outcome = match matches(rules, rule, text, places) {
                    None => Outcome::Unchecked,
                    Some(found) if found == expected => Outcome::Holds,
                    Some(_) => Outcome::Fails,
                };
                examples.push(Example { node: node.clone(), expected, outcome });
            }
        }
    }
    examples
}

/// Describes an example that fails.
pub(crate) fn problem(example: &Example) -> Option<Problem> {
    if example.outcome != Outcome::Fails {
        return None;
    }
    let (said, is) =
        if example.expected { ("should match", "it does not") } else { ("should not match", "it does") };
    let text = example.node.text().unwrap_or_default();
    let message = format!("the rule {said} `{}`, but {is}", Shown::text(text));
    Some(
        example
            .node
            .problem(Problem::new(Code::FailingExample, message), said)
            .hint("change the rule or the example"),
    )
}

/// Returns true if a rule matches an example; `None` when the example cannot be read.
fn matches(rules: &RuleSet, rule: &Rule, text: &str, places: &Places) -> Option<bool> {
    let sample = match &rule.subject {
        Subject::Command(_) => {
            let invocation = read(text, places);
            let unread = invocation.findings.iter().any(|finding| finding.code == Code::Unreadable);
            return (!unread).then(|| rule.matches_invocation(&invocation));
        }
        Subject::Path(..) => {
            return location(text, places).ok().map(|location| rule.matches_location(&location));
        }
        Subject::Host(_) => match Endpoint::parse(text, 443) {
            Ok(endpoint) => Sample::connect(endpoint),
            // Text that is no host is matched by no rule.
            Err(_) => return Some(false),
        },
        Subject::Any => match Sample::parse(&format!("call {text}"), places) {
            Ok(sample) => return Some(hit(rules, rule, &sample)),
            Err(_) => return Some(false),
        },
    };
    Some(hit(rules, rule, &sample.through(rule)))
}

fn hit(rules: &RuleSet, rule: &Rule, sample: &Sample) -> bool {
    rules.matching(&sample.request()).iter().any(|found| found.id == rule.id)
}
