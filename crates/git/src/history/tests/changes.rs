//! New commits and what they change.

use super::*;

fn list(history: &mut History, tips: &BTreeSet<ObjectId>) -> Vec<(String, Vec<String>)> {
    let found = history.new_commits(tips, 1000, |_| true, later());
    assert!(!found.cut);
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    found
        .commits
        .iter()
        .map(|commit| (commit.id.to_string(), commit.paths.iter().map(text).collect()))
        .collect()
}

/// Returns git's answer: the names of commits, each with the paths that differ from every parent.
pub(super) fn said_by_git(sandbox: &mut Sandbox, before: &BTreeSet<ObjectId>) -> Vec<(String, Vec<String>)> {
    let mut words: Vec<_> = ["log", "--all", "-c", "--name-only", "--no-renames", "-z", "--format=commit %H"]
        .map(str::to_owned)
        .to_vec();
    words.extend(before.iter().map(|id| format!("^{id}")));
    let text = sandbox.git(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let mut commits: Vec<(String, Vec<String>)> = Vec::new();
    for part in text.split(['\0', '\n']).filter(|part| !part.is_empty()) {
        match part.strip_prefix("commit ") {
            Some(id) => commits.push((id.to_owned(), Vec::new())),
            None => commits.last_mut().unwrap().1.push(part.to_owned()),
        }
    }
    for (_, paths) in &mut commits {
        paths.sort();
    }
    commits.retain(|commit| !commit.1.is_empty());
    commits
}

#[test]
fn new_commits_are_those_that_git_lists() {
    let mut sandbox = Sandbox::new();
    sandbox.commit("a/x", "1");
    sandbox.commit("b", "1");
    let before = sandbox.tips();
    let mut history = sandbox.history();
    assert_eq!(list(&mut history, &before), []);
    sandbox.git(&["switch", "-q", "-c", "side", "HEAD~"]);
    sandbox.commit("a/y/z", "2");
    sandbox.git(&["rm", "-q", "-r", "a"]);
    sandbox.commit("a", "a file where a directory was");
    sandbox.git(&["switch", "-q", "main"]);
    sandbox.commit("b", "2");
    sandbox.git(&["merge", "-q", "--no-commit", "--no-ff", "side"]);
    sandbox.commit("b", "3 in the merge");
    sandbox.git(&["switch", "-q", "--orphan", "new"]);
    sandbox.commit("c/d", "root");
    let after = sandbox.tips();
    let said = said_by_git(&mut sandbox, &before);
    assert!(said.len() >= 5, "{said:?}");
    assert_eq!(list(&mut history, &after), said);
    assert_eq!(history.reaches(before.first().copied().unwrap(), later()), Reach::Yes);
    assert_eq!(list(&mut history, &after), said, "after the whole walk");
}

#[test]
fn only_wanted_paths_count_and_a_limit_is_told() {
    let mut sandbox = Sandbox::new();
    sandbox.commit("a", "1");
    let mut history = sandbox.history();
    for number in 0..5 {
        sandbox.commit(".envrc", &number.to_string());
        sandbox.commit("b", &number.to_string());
    }
    let tips = sandbox.tips();
    let mut count = |limit| {
        let found = history.new_commits(&tips, limit, |path| path == Path::new(".envrc"), later());
        assert!(found.commits.iter().all(|commit| commit.paths == [Path::new(".envrc")]));
        assert!(found.commits.iter().all(|commit| commit.subject == b"write .envrc"));
        (found.commits.len(), found.cut)
    };
    assert_eq!([count(10), count(5), count(4), count(0)], [(5, false), (5, false), (4, true), (0, true)]);
}

#[test]
fn a_new_commit_that_cannot_be_read_is_told() {
    let mut sandbox = Sandbox::new();
    sandbox.commit("a", "1");
    let mut history = sandbox.history();
    let hidden = sandbox.commit(".envrc", "1");
    sandbox.commit("b", "1");
    let tips = sandbox.tips();
    fs::remove_file(sandbox.loose(hidden)).unwrap();
    let found = history.new_commits(&tips, 10, |path| path == Path::new(".envrc"), later());
    assert!(found.cut);
}

#[test]
fn commits_with_dates_that_go_backwards_are_told_apart() {
    let mut sandbox = Sandbox::new();
    sandbox.set_clock(2_000_000_000);
    for number in 0..20 {
        sandbox.commit("a", &number.to_string());
    }
    let mut history = sandbox.history();
    let before = sandbox.tips();
    for (clock, path) in [(1_000, "old"), (4_000_000_000, "future"), (10, "older")] {
        sandbox.set_clock(clock);
        sandbox.git(&["switch", "-q", "--detach", "main~5"]);
        sandbox.commit(path, "1");
        sandbox.git(&["branch", path]);
    }
    let after = sandbox.tips();
    assert_eq!(list(&mut history, &after), said_by_git(&mut sandbox, &before));
}
