//! `ssh` and what uses it.

use policy::Word;

use super::options::{Found, Item, Options};
use super::prefix::{strange, uncertain_before};
use super::programs::effect;
use super::words::{from, with_text};
use super::{Launch, Start};
use crate::Dialect;

const SSH: &str = "-4 -6 -A -a -C -f -G. -g -K -k -M -N -n -q -s -T -t -V. -v -X -x -Y -y -B: -b: -c: -D: -E:! -e: \
    -F:! -I:! -i: -J: -L: -l: -m: -O:. -o:= -p: -P: -Q:. -R: -S: -W:. -w:";

/// `ssh HOST WORDS…`: the words are joined and read by a shell on the other side.
pub(super) fn ssh(words: &[Word], launch: &mut Launch) {
    let options = Options::new(words, SSH);
    let (mut host, mut shell) = (false, true);
    for item in options {
        match item {
            Item::Found(Found { effect: Some('.'), .. }) => return,
            Item::Found(found) => {
                shell &= !matches!(found.name, "-N" | "-s");
                effect(&found, launch);
            }
            Item::Strange(at) => strange(words, at, launch),
            Item::Operand(at) if host => {
                uncertain_before(words, at, launch);
                return launch.joined(from(words, at));
            }
            Item::Operand(_) => host = true,
        }
    }
    if host && shell {
        launch.starts.push(Start::Stdin(Dialect::Sh));
    }
}

/// The value of `-o`: some settings are programs.
pub(super) fn ssh_option(value: &Word, at: usize, launch: &mut Launch) {
    let text = value.text.trim_start();
    let (key, code) = text.split_once(['=', ' ', '\t']).unwrap_or((text, ""));
    let code = code.trim_start_matches(['=', ' ', '\t', '"']).trim_end_matches('"');
    match key.to_ascii_lowercase().as_str() {
        "proxycommand" | "localcommand" | "knownhostscommand" | "remotecommand" if code != "none" => {
            launch.hazard(at);
            launch.code(with_text(value, code));
        }
        "match"
        | "include"
        | "pkcs11provider"
        | "securitykeyprovider"
        | "xauthlocation"
        | "permitlocalcommand" => {
            launch.hazard(at);
        }
        "" if !value.is_literal() => {
            launch.unprovable(value, "this option of `ssh` is not known before it runs");
        }
        _ => {}
    }
}
