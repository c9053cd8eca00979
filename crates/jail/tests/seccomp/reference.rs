//! `docs/reference/seccomp.md` says what the table says.

use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- rows: begin. Rendered from crates/jail/src/seccomp/table.rs -->\n";
const END: &str = "<!-- rows: end -->";

#[test]
fn the_document_is_up_to_date() {
    let document = fs::read_to_string(file()).unwrap();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}\n{}\n{END}{after}", ringfence_jail::seccomp::reference());
    if std::env::var_os("RINGFENCE_BLESS").is_some() {
        fs::write(file(), &wanted).unwrap();
    }
    let now = fs::read_to_string(file()).unwrap();
    assert!(
        now == wanted,
        "docs/reference/seccomp.md is out of date: set RINGFENCE_BLESS=1 to render it again"
    );
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/seccomp.md")
}
