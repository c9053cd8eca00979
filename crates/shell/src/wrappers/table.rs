//! The programs that are looked through: the reader of each, by the word of `tables/programs.toml`.

use policy::{KnownProgram, Word};

use super::prefix::Wrapper;
use super::{
    Launch, Tool, awk, builders, editors, find, git, interpreters, languages, packages, prefix, programs,
    remote, sed, shells,
};

/// The options of `parallel`.
pub(super) const PARALLEL: &str = "-0|--null -a|--arg-file: --bar --eta --progress -j|--jobs|-P|--max-procs: -k|--keep-order -n|--max-args: -N: \
     -L|--max-lines: -l? -I: -i? -q|--quote -r|--no-run-if-empty -s|--max-chars: -S|--sshlogin:! --slf|--sshloginfile:! \
     -t|--verbose -u|--ungroup -v -X|--xargs -x -m -d|--delimiter: -C|--colsep: -E: --dry-run|--dryrun. --joblog:! \
     --results:! --resume --resume-failed --retries: --timeout: --halt: --tag --tagstring: --line-buffer|--lb --pipe \
     --block: --recstart: --recend: --tmpdir: --wd|--workdir: --env: --nice: --delay: --memfree: --load: --noswap --no-notice \
     --will-cite --plus --header: --link --shuf --group --rpl:! --tmux --semaphore --sem --fg --bg --id: --wait --files \
     --gnu --citation. --version. --help. --shellquote --trim: --bibtex. --use-cpus-instead-of-cores --linebuffer";

/// The options of `bwrap` by the number of their values, from none to three.
const BWRAP: [&str; 4] = [
    "--unshare-all --unshare-user --unshare-user-try --unshare-ipc --unshare-pid --unshare-net --unshare-uts \
    --unshare-cgroup --unshare-cgroup-try --share-net --new-session --die-with-parent --as-pid-1 --clearenv \
    --disable-userns --assert-userns-disabled --level-prefix --help --version",
    "--args --argv0 --userns --userns2 --pidns --uid --gid --hostname --chdir --unsetenv --lock-file --sync-fd \
    --exec-label --file-label --proc --dev --tmpfs --mqueue --dir --remount-ro --seccomp --add-seccomp-fd \
    --block-fd --userns-block-fd --info-fd --json-status-fd --cap-add --cap-drop --perms --size --overlay-src \
    --tmp-overlay --ro-overlay",
    "--bind --bind-try --ro-bind --ro-bind-try --dev-bind --dev-bind-try --symlink --setenv --file --bind-data \
    --ro-bind-data --bind-fd --ro-bind-fd --chmod",
    "--overlay",
];

/// Returns the number of values of an option of `bwrap`.
pub(super) fn bwrap_values(option: &str) -> Option<usize> {
    BWRAP.iter().position(|options| options.split(' ').any(|known| known == option))
}

/// Returns the syntax of a program of the table; `None` when it starts nothing.
pub(super) fn tool(program: KnownProgram) -> Option<Tool> {
    Some(match program.starts {
        "wrapper" => Tool::Wrapper(Wrapper::of(program)),
        "options" => Tool::Options(program.options),
        word => Tool::Own(reader(word)?),
    })
}

/// Returns the name in the table of the loader of the system, for every machine and version.
pub(super) fn loader(name: &str) -> Option<&'static str> {
    let known = ["ld.so", "ld-linux", "ld-musl", "ld64.so"].iter().any(|known| name.starts_with(known));
    known.then_some("ld.so")
}

fn reader(word: &str) -> Option<fn(&[Word], &mut Launch)> {
    Some(match word {
        "applets" => programs::applets,
        "at" => programs::at,
        "awk" => awk::awk,
        "bun" => interpreters::bun,
        "bwrap" => prefix::bwrap,
        "capsh" => prefix::capsh,
        "cargo" => packages::cargo,
        "daemon" => prefix::daemon,
        "deno" => interpreters::deno,
        "ed" => editors::ed,
        "entr" => prefix::entr,
        "env" => prefix::env,
        "ex-mode" => editors::ex_mode,
        "fd" => prefix::fd,
        "find" => find::find,
        "firejail" => prefix::firejail,
        "flock" => prefix::flock,
        "foreign-shell" => shells::foreign_shell,
        "gdb" => editors::gdb,
        "git" => git::git,
        "hyperfine" => programs::hyperfine,
        "language-always" => |words, launch| languages::ALWAYS.inspect(words, launch),
        "language-applescript" => |words, launch| languages::APPLESCRIPT.inspect(words, launch),
        "language-expect" => |words, launch| languages::EXPECT.inspect(words, launch),
        "language-haskell" => |words, launch| languages::HASKELL.inspect(words, launch),
        "language-julia" => |words, launch| languages::JULIA.inspect(words, launch),
        "language-lua" => |words, launch| languages::LUA.inspect(words, launch),
        "language-node" => |words, launch| languages::NODE.inspect(words, launch),
        "language-php" => |words, launch| languages::PHP.inspect(words, launch),
        "language-r" => |words, launch| languages::R.inspect(words, launch),
        "language-ruby" => |words, launch| languages::RUBY.inspect(words, launch),
        "language-tcl" => |words, launch| languages::TCL.inspect(words, launch),
        "less" => programs::less,
        "m4" => programs::m4,
        "make" => builders::make,
        "nix" => packages::nix,
        "npm" => packages::npm,
        "npx" => packages::npx,
        "parallel" => prefix::parallel,
        "perl" => interpreters::perl,
        "pnpm" => packages::pnpm,
        "psql" => editors::psql,
        "python" => interpreters::python,
        "runner-direnv" => |words, launch| packages::DIRENV.inspect(words, launch),
        "runner-exec-after-dashes" => |words, launch| packages::EXEC_AFTER_DASHES.inspect(words, launch),
        "runner-project" => |words, launch| packages::PROJECT.inspect(words, launch),
        "runner-uv" => |words, launch| packages::UV.inspect(words, launch),
        "runner-yarn" => |words, launch| packages::YARN.inspect(words, launch),
        "script" => prefix::script,
        "sed" => sed::sed,
        "setarch" => prefix::setarch,
        "shell" => shells::shell,
        "socat" => prefix::socat,
        "sqlite" => editors::sqlite,
        "ssh" => remote::ssh,
        "su" => prefix::su,
        "sudo" => prefix::sudo,
        "tar" => programs::tar,
        "tmux" => prefix::tmux,
        "vi" => editors::vi,
        "watch" => prefix::watch,
        "xargs" => prefix::xargs,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_the_table_has_a_reader() {
        for program in KnownProgram::all().filter(|program| !program.starts.is_empty()) {
            assert!(tool(program).is_some(), "{program:?}");
        }
    }
}
