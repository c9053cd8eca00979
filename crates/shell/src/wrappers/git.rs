//! `git`: settings, subcommands and options that start programs.

use policy::Word;

use super::Launch;
use super::options::{Found, Item, Options};
use super::programs::{deeper, effect, in_options, unknown_option};
use super::split;
use super::words::{from, unknown, with_text};

const GIT: &str = "-C:@ -c: --config-env: --exec-path?! --git-dir: --work-tree: --namespace: --super-prefix: --list-cmds:. \
    --attr-source: -p|--paginate -P|--no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs \
    --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --html-path. --man-path. \
    --info-path. -v|--version. -h|--help.";

/// Looks at the options of `git` itself, then at those of the subcommand.
pub(super) fn git(words: &[Word], launch: &mut Launch) {
    let mut aliases = Vec::new();
    for item in Options::new(words, GIT) {
        match item {
            Item::Found(Found { effect: Some('.'), .. }) => return,
            Item::Found(Found { name: "-C", value: Some(directory), .. }) => deeper(directory, launch),
            Item::Found(Found { name: "-c", value: Some(setting), at, .. }) => {
                set(&setting, at, launch);
                aliases.push(setting);
            }
            Item::Found(Found { name: "--config-env", value: Some(setting), at, .. }) => {
                set_unknown(&setting, at, launch);
            }
            Item::Found(found) => effect(&found, launch),
            Item::Strange(at) => super::prefix::strange(words, at, launch),
            Item::Operand(at) => return subcommand(words, at, &aliases, launch),
        }
    }
}

fn subcommand(words: &[Word], at: usize, settings: &[Word], launch: &mut Launch) {
    let Some(name) = words.get(at) else { return };
    if !name.is_literal() {
        return launch.unprovable(name, "the subcommand of `git` is not known");
    }
    alias(words, at, settings, launch);
    match name.text.as_str() {
        "bisect" if is(words, at + 1, "run") => launch.program(from(words, at + 2).to_vec(), false),
        "submodule" => submodule(words, at, launch),
        "config" => config(words, at, launch),
        "merge-index" => merge_index(words, at, launch),
        "remote-ext" => launch.joined(from(words, at + 2)),
        other => by_name(other, words, at, launch),
    }
}

fn is(words: &[Word], at: usize, text: &str) -> bool {
    words.get(at).is_some_and(|word| word.text == text)
}

/// An alias of this very line stands for another subcommand.
fn alias(words: &[Word], at: usize, settings: &[Word], launch: &mut Launch) {
    let Some(name) = words.get(at) else { return };
    for setting in settings {
        let Some((key, value)) = setting.text.split_once('=') else { continue };
        let named = key.get(..6).is_some_and(|section| section.eq_ignore_ascii_case("alias."))
            && key.get(6..).is_some_and(|alias| alias.eq_ignore_ascii_case(&name.text));
        if named && !value.trim_start().starts_with('!') {
            let mut command = vec![Word::literal("git")];
            command.extend(split::at_blanks(&with_text(setting, value)));
            command.extend_from_slice(from(words, at + 1));
            launch.program(command, true);
        }
    }
}

/// The options of a subcommand.
fn by_name(name: &str, words: &[Word], at: usize, launch: &mut Launch) {
    let mut operands = Vec::new();
    for item in Options::starting(words, spec(name), at + 1) {
        match item {
            Item::Found(Found { name: "-c", value: Some(setting), at, .. }) if name == "clone" => {
                set(&setting, at, launch);
            }
            // A pager gets the names of files behind its own words, so what it is told is not a command of its own.
            Item::Found(Found { name: "-O", value: Some(pager), at, .. }) => {
                launch.hazard(at);
                launch.own_code(&pager, "pager");
            }
            Item::Found(found) => effect(&found, launch),
            Item::Operand(at) => operands.push(at),
            Item::Strange(at) => unknown_option(words, at, launch),
        }
    }
    if reaches_out(name) {
        for at in operands {
            external(words, at, launch);
        }
    }
}

/// Subcommands that take the address of a repository.
fn reaches_out(name: &str) -> bool {
    matches!(
        name,
        "clone" | "fetch" | "pull" | "push" | "ls-remote" | "remote" | "archive" | "fetch-pack" | "send-pack"
    )
}

/// `ext::COMMAND` is an address that starts a program.
fn external(words: &[Word], at: usize, launch: &mut Launch) {
    let Some(word) = words.get(at) else { return };
    if let Some(code) = word.text.strip_prefix("ext::") {
        launch.hazard(at);
        launch.code(with_text(word, code));
    } else if let Some((helper, _)) =
        word.text.split_once("::").filter(|(helper, _)| !helper.contains(['/', '[', '@']))
    {
        launch.hazard(at);
        launch.program(vec![with_text(word, format!("git-remote-{helper}"))], false);
    }
}

/// Returns the specification of the options of a subcommand.
fn spec(name: &str) -> &'static str {
    match name {
        "grep" => "-O|--open-files-in-pager?! -A: -B: -C: -e: -f: -m: --textconv! --text --ext-grep!",
        "rebase" => "-x|--exec:$ -s: -X: -C: -S? --onto:",
        "filter-branch" => {
            "--setup:$ --subdirectory-filter: --env-filter:$ --tree-filter:$ --index-filter:$ --parent-filter:$ \
             --msg-filter:$ --commit-filter:$ --tag-name-filter:$ -d: --original: --state-branch:"
        }
        "difftool" => "-x|--extcmd:$ -t|--tool: -g -y -d",
        "clone" => {
            "-u|--upload-pack:$ -c|--config: --template:! -o: -b: -j: --depth: --reference: --separate-git-dir:!"
        }
        "fetch" | "pull" | "ls-remote" | "fetch-pack" => {
            "--upload-pack|--exec:$ -o: -j: -s: -X: -S? --depth:"
        }
        "push" | "send-pack" => "--receive-pack|--exec:$ -o:",
        "archive" => "--exec:$ --remote: -o|--output:! --format: --prefix:",
        "init" => "--template:! --separate-git-dir:! -b:",
        "send-email" => "--smtp-server:! --to-cmd:$ --cc-cmd:$ --header-cmd:$ --sendmail-cmd:$",
        "format-patch" => "-o|--output-directory:! --output:! --ext-diff! --textconv! --text",
        "instaweb" => "-d|--httpd:! -b|--browser:! -m: -p:",
        "daemon" => "--access-hook:$",
        "upload-pack" | "receive-pack" | "shell" => "-c:!",
        "cat-file" => "--textconv! --filters!",
        _ => {
            "--output:! --output-indicator-new: --output-indicator-old: --output-indicator-context: --ext-diff! --textconv! \
             --text"
        }
    }
}

/// `git submodule foreach CODE`.
fn submodule(words: &[Word], at: usize, launch: &mut Launch) {
    let Some(each) = words.iter().skip(at).position(|word| word.text == "foreach") else {
        return in_options(Options::starting(words, "--reference: -b:", at + 1), launch)
            .into_iter()
            .for_each(|at| external(words, at, launch));
    };
    let mut first = at + each + 1;
    while words.get(first).is_some_and(|word| word.text.starts_with('-')) {
        first += 1;
    }
    let Some(code) = words.get(first) else { return };
    let rest = from(words, first);
    let text = if rest.len() > 1 { format!("{} \"$@\"", code.text) } else { code.text.clone() };
    let start = with_text(code, text);
    launch.starts.push(super::Start::Code {
        code: start,
        dialect: crate::Dialect::Sh,
        arguments: rest.to_vec(),
    });
}

/// `git config KEY VALUE`: a program that starts later.
fn config(words: &[Word], at: usize, launch: &mut Launch) {
    const CONFIG: &str = "-f|--file: --blob: -t|--type: --default: --get. --get-all. --get-regexp. -l|--list. --unset. \
        --unset-all. --remove-section. --add --replace-all -e|--edit";
    let mut operands = Vec::new();
    for item in Options::starting(words, CONFIG, at + 1) {
        match item {
            Item::Found(Found { effect: Some('.'), .. }) => return,
            Item::Operand(at) => operands.extend(words.get(at).map(|word| (at, word))),
            Item::Found(_) | Item::Strange(_) => {}
        }
    }
    let skipped = usize::from(operands.first().is_some_and(|(_, word)| word.text == "set"));
    if let [(at, key), (_, value), ..] = operands.get(skipped..).unwrap_or_default()
        && !matches!(key_kind(&key.text), Key::Plain)
        && !is_harmless(&value.text)
    {
        launch.hazard(*at);
        launch.own_code(value, "git");
    }
}

fn merge_index(words: &[Word], at: usize, launch: &mut Launch) {
    let program = from(words, at + 1).iter().find(|word| !word.text.starts_with('-'));
    launch.program(program.cloned().into_iter().collect(), false);
}

/// Effect of a setting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Plain,
    /// Its value is shell code.
    Code,
    /// Its value is shell code when it begins with `!`, else a name of a part of `git`.
    Bang,
    /// It names files that hold code or settings, or opens a way for programs.
    Hazard,
}

/// The setting behind `-c`.
fn set(setting: &Word, at: usize, launch: &mut Launch) {
    let Some((key, value)) = setting.text.split_once('=') else {
        if !setting.is_literal() {
            launch.unprovable(setting, "this setting of `git` is not known before it runs");
        }
        return;
    };
    let kind = key_kind(key);
    let off =
        if kind == Key::Hazard { matches!(value, "" | "never" | "/dev/null") } else { is_harmless(value) };
    if kind == Key::Plain || (off && setting.is_literal()) {
        return;
    }
    let bang = value.trim_start().strip_prefix('!');
    if kind == Key::Bang && bang.is_none() && !value.starts_with('/') && setting.is_literal() {
        return;
    }
    launch.hazard(at);
    if kind != Key::Hazard {
        launch.own_code(setting, "git");
        launch.code(with_text(setting, bang.unwrap_or(value)));
    }
}

/// A setting whose value stands in a variable.
fn set_unknown(setting: &Word, at: usize, launch: &mut Launch) {
    let (key, _) = setting.text.split_once('=').unwrap_or((&setting.text, ""));
    if key_kind(key) != Key::Plain {
        launch.hazard(at);
        launch.code(unknown(setting, ""));
    }
}

/// Values that switch something off or start nothing that matters.
fn is_harmless(value: &str) -> bool {
    matches!(
        value,
        "" | "cat"
            | "less"
            | "more"
            | "delta"
            | "vi"
            | "vim"
            | "nvim"
            | "nano"
            | "emacs"
            | "code --wait"
            | "true"
            | "false"
            | ":"
            | "yes"
            | "no"
            | "on"
            | "off"
            | "0"
            | "1"
            | "never"
            | "always"
            | "auto"
    )
}

/// Only the section and the name of a key count, ignoring case and everything between them.
fn key_kind(key: &str) -> Key {
    let key = key.trim().to_ascii_lowercase();
    let (section, rest) = key.split_once('.').unwrap_or((&key, ""));
    let name = rest.rsplit_once('.').map_or(rest, |(_, name)| name);
    match (section, name) {
        ("alias" | "credential" | "submodule", _)
            if section == "alias" || matches!(name, "helper" | "update") =>
        {
            Key::Bang
        }
        (
            "core",
            "pager" | "editor" | "sshcommand" | "askpass" | "fsmonitor" | "gitproxy" | "alternaterefscommand",
        )
        | ("diff", "external" | "command" | "textconv")
        | ("difftool" | "mergetool" | "browser" | "man" | "guitool", "cmd" | "path")
        | ("merge", "driver")
        | ("filter", "clean" | "smudge" | "process")
        | ("gpg", "program" | "defaultkeycommand")
        | ("sequence", "editor")
        | ("uploadpack", "packobjectshook")
        | ("pager", _)
        | ("interactive", "difffilter")
        | ("sendemail", "tocmd" | "cccmd" | "headercmd" | "sendmailcmd" | "smtpserver")
        | ("remote", "uploadpack" | "receivepack")
        | ("tar" | "hook", "command")
        | ("trailer", "command" | "cmd")
        | ("imap", "tunnel")
        | ("gc", "recentobjectshook")
        | ("lfs", "path" | "clean" | "smudge" | "standalonetransferagent")
        | ("instaweb", "httpd" | "browser")
        | ("web" | "help", "browser") => Key::Code,
        ("core", "hookspath" | "attributesfile" | "worktree" | "gitdir")
        | ("init", "templatedir")
        | ("include" | "includeif", "path")
        | ("protocol", "allow")
        | ("remote", "vcs")
        | ("url", "insteadof" | "pushinsteadof") => Key::Hazard,
        _ => Key::Plain,
    }
}
