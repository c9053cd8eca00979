//! Protected names: a tool is held to what a command in a jail is held to.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use policy::Code;
use ringfence_guard::{Abort, Access, Answer, Config};
use stage::{Person, Tree, guard, guards, tool};

#[test]
fn a_tool_writes_no_name_that_another_program_trusts() {
    let tree = Tree::plant();
    let git = |path: &str| fs::create_dir_all(tree.ws.join(path)).unwrap();
    for path in ["bare/objects", "bare/refs", "half/objects", "half/refs", ".vscode"] {
        git(path);
    }
    fs::write(tree.ws.join("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(tree.ws.join(".vscode/tasks.json"), "{}").unwrap();
    symlink(".vscode", tree.ws.join("editor")).unwrap();
    let guard = guard(&Config::default_in(&tree.ws), "write");
    let rows = [
        ("src.rs", true),
        ("config", true),
        ("hooks/use.ts", true),
        (".vscode/tasks.json", false),
        (".VSCode/launch.json", false),
        (".idea/x", false),
        ("a/b/.mcp.json", false),
        ("editor/tasks.json", false),
        ("bare/config", false),
        ("bare/hooks/post-checkout", false),
        ("bare/description", true),
        ("half/config", true),
        ("half/HEAD", false),
        ("half/head", false),
        ("nowhere/HEAD", true),
        ("CLAUDE.md", false),
    ];
    for (path, allowed) in rows {
        let path = Path::new(path);
        assert_eq!(guard.can_access(Access::Write(path)), allowed, "{}", path.display());
        assert_eq!(guard.write(path, &Abort::new()).is_ok(), allowed, "{}", path.display());
        assert!(guard.can_access(Access::Read(path)) || !path.exists());
    }
    assert!(!guard.can_access(Access::Remove(Path::new(".vscode/tasks.json"))));
    let judged = guard.judge(Path::new("bare/config"), &tree.ws, policy::Kind::Write).unwrap();
    assert_eq!(judged.trace.decision.reason().code, Code::ProtectedName);
}

#[test]
fn a_person_may_agree_to_instructions_and_to_nothing_that_runs() {
    let tree = Tree::plant();
    let person = Person::saying(&[Ok(Answer::AllowOnce)]);
    let guard = guards(&Config::default_in(&tree.ws), person.clone()).tool(&tool("write"));
    assert!(guard.write(Path::new("AGENTS.md"), &Abort::new()).is_ok());
    assert!(guard.write(Path::new(".envrc"), &Abort::new()).is_err());
    assert_eq!(person.asked(), 1);
}
