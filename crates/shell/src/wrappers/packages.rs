//! Package managers and environments: subcommands that start the command behind them.
//!
//! Containers are not looked into: what runs there does not run here.

use policy::Word;

use super::Launch;
use super::options::{Found, Item, Options};
use super::prefix::strange;
use super::programs::effect;
use super::words::{from, with_text};

/// A tool with subcommands that start a command.
pub(super) struct Runner {
    /// The options before the subcommand.
    pub(super) global: &'static str,
    /// The names of the subcommand, its options, and how many words stand before the command.
    pub(super) runs: &'static [(&'static [&'static str], &'static str, usize)],
}

pub(super) const UV: Runner = Runner {
    global: "-q|--quiet -v|--verbose --offline --no-cache --cache-dir: --directory:@ --project: --config-file: --no-config \
        --color: --no-progress --native-tls --help. -V|--version.",
    runs: &[(
        &["run"],
        "--with: --with-editable: --with-requirements: -p|--python: --extra: --all-extras --no-extra: --group: --no-group: \
         --only-group: --all-groups --dev --no-dev --only-dev --isolated --active --no-sync --locked --frozen -s|--script \
         --gui-script -m|--module: --env-file: --no-env-file --package: --all-packages --no-project --no-editable --exact \
         -q|--quiet -v|--verbose --offline --no-cache --directory:@ --project: -i|--index-url: --index: \
         --default-index: --extra-index-url: --refresh -U|--upgrade --no-config --color: --no-progress --help.",
        0,
    )],
};
pub(super) const PROJECT: Runner = Runner {
    global: "-q|--quiet -v|--verbose --no-ansi --ansi -n|--no-interaction --no-plugins --no-cache -C|--directory:@ \
        -P|--project: --python: --help. --version.",
    runs: &[(
        &["run", "exec"],
        "-n|--name: -p|--prefix: --no-capture-output --live-stream --cwd:@ -v -q --help.",
        0,
    )],
};
pub(super) const EXEC_AFTER_DASHES: Runner = Runner {
    global: "-C|--cd:@ -E|--env: -q|--quiet -v|--verbose -y|--yes --help. --version.",
    runs: &[(&["exec", "x"], "-q|--quiet -v|--verbose -j|--jobs: --raw -y|--yes", 0)],
};
pub(super) const DIRENV: Runner = Runner { global: "", runs: &[(&["exec"], "", 1)] };
pub(super) const YARN: Runner = Runner {
    global: "--cwd:@ -s|--silent --verbose --json --offline --frozen-lockfile --help. -v|--version.",
    runs: &[(&["exec"], "", 0)],
};

impl Runner {
    /// Looks for the subcommand and starts what stands behind it.
    pub(super) fn inspect(&self, words: &[Word], launch: &mut Launch) {
        let mut odd = None;
        for item in Options::new(words, self.global) {
            match item {
                Item::Found(Found { effect: Some('.'), .. }) => return,
                Item::Found(found) => effect(&found, launch),
                Item::Strange(at) => odd = Some(at),
                Item::Operand(at) => return self.subcommand(words, at, odd, launch),
            }
        }
    }

    fn subcommand(&self, words: &[Word], at: usize, odd: Option<usize>, launch: &mut Launch) {
        let name = words.get(at).map(|word| word.text.as_str()).unwrap_or_default();
        let run = self.runs.iter().find(|(names, ..)| names.contains(&name));
        let Some((_, spec, before)) = run else {
            // Behind an option that is not known, the operand may be its value.
            let hidden = self
                .runs
                .iter()
                .flat_map(|(names, ..)| *names)
                .any(|name| words.iter().skip(at + 1).any(|word| word.text == *name));
            if let Some(odd) = odd.filter(|_| hidden) {
                strange(words, odd, launch);
            }
            return;
        };
        Self::command(words, Options::starting(words, spec, at + 1), *before, launch);
    }

    fn command(words: &[Word], options: Options<'_>, before: usize, launch: &mut Launch) {
        for item in options {
            match item {
                Item::Found(Found { effect: Some('.'), .. }) => return,
                Item::Found(found) => effect(&found, launch),
                Item::Strange(at) => strange(words, at, launch),
                Item::Operand(at) => return launch.program(from(words, at + before).to_vec(), false),
            }
        }
    }
}

const NPX: &str = "-c|--call:$ -p|--package: -y|--yes -n|--no --no-install -q|--quiet -w|--workspace: --workspaces \
    --include-workspace-root --prefix:@ --cache: --registry: --userconfig:! --node-arg: -s|--silent --loglevel: \
    --script-shell:% --shell:% --ignore-existing --help. -v|--version.";

/// `npx -c CODE`.
pub(super) fn npx(words: &[Word], launch: &mut Launch) {
    call(words, 1, launch);
}

/// `npm exec -c CODE`, and settings that name a program.
pub(super) fn npm(words: &[Word], launch: &mut Launch) {
    let at = words.iter().position(|word| matches!(word.text.as_str(), "exec" | "x"));
    call(words, 1, launch);
    if let Some(at) = at.filter(|_| launch.starts.is_empty()) {
        call(words, at + 1, launch);
    }
}

/// Code behind `-c`, before the first operand. Behind an option that is not known, an operand may be its value.
fn call(words: &[Word], next: usize, launch: &mut Launch) {
    let mut strange = false;
    for item in Options::starting(words, NPX, next) {
        match item {
            Item::Found(found) => effect(&found, launch),
            Item::Strange(_) => strange = true,
            Item::Operand(_) if !std::mem::take(&mut strange) => return,
            Item::Operand(_) => {}
        }
    }
}

/// `pnpm exec COMMAND…`; with `-c` a shell reads it.
pub(super) fn pnpm(words: &[Word], launch: &mut Launch) {
    const PNPM: &str = "-C|--dir:@ -F|--filter: -r|--recursive -w|--workspace-root -s|--silent --parallel --no-color --stream \
        --reporter: --loglevel: --aggregate-output --color -c|--shell-mode --resume-from: --no-reporter-hide-prefix \
        --report-summary --no-bail --package: --allow-build: --script-shell:% --shell-emulator";
    let (mut shell, mut runs) = (false, false);
    for item in Options::new(words, PNPM) {
        match item {
            Item::Found(found) => {
                shell |= found.name == "-c";
                effect(&found, launch);
            }
            Item::Strange(_) => {}
            Item::Operand(at) if runs && shell => return launch.joined(from(words, at)),
            Item::Operand(at) if runs => return launch.program(from(words, at).to_vec(), false),
            Item::Operand(at) => match words.get(at).map(|word| word.text.as_str()) {
                Some("exec") => runs = true,
                Some("dlx") => return dlx(words, at, shell, launch),
                _ => return,
            },
        }
    }
}

/// The program of a package has a name of its own; code is code.
fn dlx(words: &[Word], at: usize, shell: bool, launch: &mut Launch) {
    let shell =
        shell || from(words, at).iter().any(|word| matches!(word.text.as_str(), "-c" | "--shell-mode"));
    let first = words.iter().enumerate().skip(at + 1).find(|(_, word)| !word.text.starts_with('-'));
    if let Some((first, _)) = first.filter(|_| shell) {
        launch.joined(from(words, first));
    }
}

/// `cargo --config KEY=VALUE`: some keys name programs.
pub(super) fn cargo(words: &[Word], launch: &mut Launch) {
    for item in Options::new(words, "--config: -C:@ -Z: --target: -p: --features: --manifest-path: -j: -F:") {
        match item {
            Item::Found(Found { name: "--config", value: Some(setting), at, .. }) => {
                cargo_setting(&setting, at, launch);
            }
            Item::Found(found) => effect(&found, launch),
            Item::Strange(at) => super::programs::unknown_option(words, at, launch),
            Item::Operand(_) => {}
        }
    }
}

fn cargo_setting(setting: &Word, at: usize, launch: &mut Launch) {
    launch.hazard(at);
    let (key, value) = setting.text.split_once('=').unwrap_or((&setting.text, ""));
    let name = key.trim().rsplit('.').next().unwrap_or_default().trim_matches(['"', '\'']);
    let names_program = matches!(
        name,
        "rustc"
            | "rustdoc"
            | "rustc-wrapper"
            | "rustc-workspace-wrapper"
            | "runner"
            | "linker"
            | "credential-provider"
            | "global-credential-providers"
            | "browser"
            | "rustflags"
            | "rustdocflags"
    );
    if !setting.is_literal() {
        return launch.unprovable(setting, "this setting of `cargo` is not known before it runs");
    }
    if names_program {
        launch.own_code(setting, "cargo");
        let value = value.trim().trim_start_matches('[').trim_end_matches(']').replace(['"', '\'', ','], " ");
        let flags = name.ends_with("flags");
        let program =
            if flags { Vec::new() } else { super::split::at_blanks(&with_text(setting, value.trim())) };
        launch.program(program, false);
    }
}

/// `nix-shell --run CODE`, `nix develop -c COMMAND…`.
pub(super) fn nix(words: &[Word], launch: &mut Launch) {
    for (at, word) in words.iter().enumerate().skip(1) {
        let shell = words.first().is_some_and(|name| name.text.ends_with("nix-shell"));
        match word.text.as_str() {
            "--run" | "--command" if shell => {
                launch.hazard(at);
                return launch.code(words.get(at + 1).cloned().unwrap_or_else(|| word.clone()));
            }
            "-c" | "--command" => return launch.program(from(words, at + 1).to_vec(), false),
            "--expr" | "-E" | "--eval" => {
                launch.hazard(at);
                launch.own_code(word, "Nix");
            }
            _ => {}
        }
    }
}
