//! What a command can leave in a repository for git outside.

use super::*;

fn has_git() -> bool {
    let there = Command::new("git").arg("--version").output().is_ok();
    if !there {
        skip::skipped("names in repositories", "git is not installed");
    }
    there
}

#[test]
fn no_directory_moves_between_the_lookup_of_a_name_and_its_use() {
    if !has_python() || !has_git() {
        return;
    }
    let place = Place::new();
    place.outside("git init -q --bare holder/bare; rm -f holder/bare/hooks/*");
    let ended = place.script("races.py", include_str!("races.py"), &[]);
    let said = format!("{}\n{}", text(&ended.stdout), text(&ended.stderr));
    assert!(said.contains("end\n") && !said.contains("won"), "{said}");
}
