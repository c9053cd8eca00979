//! The library without its features: few packages, no TLS, and it compiles.

use std::collections::BTreeSet;
use std::path::Path;

use crate::command;
use crate::step::Outcome;
use crate::workspace::cargo;

/// Most packages, its own ones and those of macros included.
const MOST: usize = 42;

/// Words in names of packages for TLS, and of runtimes that bring it.
const UNWANTED: &[&str] = &["openssl", "ring", "aws-lc", "webpki", "hyper", "tokio"];

/// Counts the packages, then compiles them.
pub(crate) fn check(root: &Path) -> Outcome {
    let words = ["--package", "ringfence", "--no-default-features"];
    let tree = cargo()
        .arg("tree")
        .args(words)
        .args(["--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .current_dir(root)
        .output();
    let problems = match tree {
        Ok(tree) if tree.status.success() => judge(&String::from_utf8_lossy(&tree.stdout)),
        Ok(tree) => vec![String::from_utf8_lossy(&tree.stderr).into_owned()],
        Err(error) => vec![error.to_string()],
    };
    if problems.is_empty() {
        return command::step(cargo().args(["check", "--quiet"]).args(words).current_dir(root));
    }
    Outcome::Failed(problems)
}

/// Returns what is wrong with the packages that cargo lists, one a line.
fn judge(tree: &str) -> Vec<String> {
    let names: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    let is_unwanted =
        |name: &&&str| name.contains("tls") || name.split('-').any(|word| UNWANTED.contains(&word));
    let unwanted = names.iter().filter(is_unwanted).map(|name| format!("ringfence alone needs {name}"));
    let count = (names.len() > MOST)
        .then(|| format!("ringfence alone needs {} packages, over {MOST}: make one optional", names.len()));
    unwanted.chain(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_counted_once_and_tls_is_named() {
        let many = (0..MOST).map(|at| format!("p{at} v1\np{at} v1 (*)\n")).collect::<Vec<_>>().concat();
        assert_eq!(judge(&many), [""; 0]);
        let over = format!("ringfence alone needs {} packages, over {MOST}: make one optional", MOST + 1);
        assert_eq!(judge(&format!("{many}serde_core v1\n")), [over]);
        let rows =
            [("rustls", true), ("tokio", true), ("native-tls", true), ("ring", true), ("ringfence", false)];
        for (name, expected) in rows {
            assert_eq!(!judge(&format!("{name} v1")).is_empty(), expected, "{name}");
        }
    }
}
