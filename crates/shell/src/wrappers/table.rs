//! Table: the programs that are looked through, by name.

use super::prefix::Wrapper;
use super::{
    Tool, awk, builders, editors, find, git, interpreters, languages, packages, prefix, programs, remote,
    sed, shells,
};

const PLAIN: Wrapper = Wrapper::new("");
const BUSY: Wrapper = Wrapper::new("").busy();
const CHROOT: Wrapper =
    Wrapper::new("--userspec: --groups: --skip-chdir -u: -g: -G: -n --help. --version.").one().shell().busy();
const CHRT: Wrapper = Wrapper::new(
    "-a|--all-tasks -b|--batch -d|--deadline -e|--ext -f|--fifo -i|--idle -o|--other -r|--rr -R|--reset-on-fork \
     -T|--sched-runtime: -P|--sched-period: -D|--sched-deadline: -m|--max. -p|--pid. -v|--verbose -h|--help. -V|--version.",
)
.number();
const COMMAND: Wrapper = Wrapper::new("-p -v. -V.");
const DBUS: Wrapper = Wrapper::new("--config-file:! --dbus-daemon:! --help. --version.");
const DOAS: Wrapper = Wrapper::new("-a: -C:. -L. -n -s -u:").busy().shell();
const EXEC: Wrapper = Wrapper::new("-a: -c -l");
const FAKEROOT: Wrapper =
    Wrapper::new("-l|--lib:! --faked:! -s:! -i: -u|--unknown-is-real -b|--fd-base: -v. -h.").busy().shell();
const IONICE: Wrapper = Wrapper::new(
    "-c|--class: -n|--classdata: -t|--ignore -p|--pid:. -P|--pgid:. -u|--uid:. -h|--help. -V|--version.",
);
const LOADER: Wrapper = Wrapper::new(
    "--list. --verify. --inhibit-cache --library-path: --inhibit-rpath: --audit:! --preload:! --argv0: --list-tunables. \
     --list-diagnostics. --glibc-hwcaps-prepend: --glibc-hwcaps-mask: --help. --version.",
);
const LTRACE: Wrapper = Wrapper::new(
    "-a|--align: -A: -b -c -C|--demangle -D|--debug: -e: -f -F: -h|--help. -i -l|--library: -L -n|--indent: -o|--output:! \
     -p: -r -s: -S -t -T -u: -V|--version. -w|--where: -x:",
)
.busy();
const NICE: Wrapper = Wrapper::new("-n|--adjustment: --help. --version.");
const NOHUP: Wrapper = Wrapper::new("--help. --version.");
const NSENTER: Wrapper = Wrapper::new(
    "-a|--all -t|--target: -m|--mount? -u|--uts? -i|--ipc? -n|--net? -p|--pid? -C|--cgroup? -U|--user? -T|--time? \
     -S|--setuid: -G|--setgid: --preserve-credentials --keep-caps -r|--root? -w|--wd? -W|--wdns: -F|--no-fork \
     -Z|--follow-context -e|--env -c|--join-cgroup -N|--net-socket: --user-parent -h|--help. -V|--version.",
)
.busy()
.shell();
const NUMACTL: Wrapper = Wrapper::new(
    "-a|--all -b|--balancing -C|--physcpubind: -H|--hardware. -i|--interleave: -l|--localalloc -m|--membind: \
     -N|--cpunodebind: -p|--preferred: -P|--preferred-many: -s|--show. -w|--weighted-interleave:",
);
const PKEXEC: Wrapper =
    Wrapper::new("--user: --disable-internal-agent --keep-cwd --help. --version.").busy().shell();
const PROXYCHAINS: Wrapper = Wrapper::new("-q -f:!").busy();
const SCREEN: Wrapper = Wrapper::new(
    "-c:! -e: -h: -p: -S: -s:% -t: -T: -r? -d -m -D -R -A -a -f -i -l -L -n -O -q -Q -U -w -x -X. -ls. -list. -v.",
)
.busy();
const SETPRIV: Wrapper = Wrapper::new(
    "--ambient-caps: --clear-groups -d|--dump. --groups: --inh-caps: --init-groups --keep-groups --list-caps. \
     --nnp|--no-new-privs --pdeathsig: --ptracer: --bounding-set: --regid: --rgid: --egid: --reuid: --ruid: --euid: \
     --reset-env --securebits: --selinux-label: --apparmor-profile: --landlock-access: --landlock-rule: --seccomp-filter: \
     -h|--help. -V|--version.",
)
.busy();
const SETSID: Wrapper = Wrapper::new("-c|--ctty -f|--fork -w|--wait -h|--help. -V|--version.");
const STDBUF: Wrapper = Wrapper::new("-i|--input: -o|--output: -e|--error: --help. --version.");
const STRACE: Wrapper = Wrapper::new(
    "-a|--columns: -A|--output-append-mode -b|--detach-on: -c|--summary-only -C|--summary -d|--debug -D -e: -E|--env:! \
     -f|--follow-forks? -F -h|--help. -i|--instruction-pointer -I|--interruptible: -k|--stack-traces -n|--syscall-number \
     -o|--output:~ -O|--summary-syscall-overhead: -p|--attach: -P|--trace-path: -q -r -s|--string-limit: \
     -S|--summary-sort-by: -t -T -u|--user: -U|--summary-columns: -v|--no-abbrev -V|--version. -w|--summary-wall-clock -x \
     -X|--const-print-style: -y -Y|--decode-pids? -z|--successful-only -Z|--failed-only --trace: --signal: --status: \
     --abbrev: --raw: --read: --write: --fault:! --inject:! --kvm: --argv0: --absolute-timestamps? --timestamps? \
     --relative-timestamps? --syscall-times? --daemonize? --quiet? --silent? --silence? --strings-in-hex? --decode-fds? \
     --output-separately --seccomp-bpf --tips? --secontext?",
)
.busy();
const SYSTEMD_RUN: Wrapper = Wrapper::new(
    "--user --system --scope --no-ask-password -r|--remain-after-exit --send-sighup --no-block --wait -t|--pty -P|--pipe \
     -q|--quiet -G|--collect -S|--shell -d|--same-dir --ignore-failure --background: -v|--verbose -H|--host: -M|--machine: \
     -u|--unit: -p|--property:! --description: --slice: --slice-inherit --service-type: --uid: --gid: --nice: \
     --working-directory:@ -E|--setenv:! --on-active: --on-boot: --on-startup: --on-unit-active: --on-unit-inactive: \
     --on-calendar: --on-clock-change --on-timezone-change --path-property: --socket-property: --timer-property: \
     -T|--pty-late --expand-environment: --job-mode: --no-pager --json: -h|--help. --version.",
)
.busy()
.shell();
const TASKSET: Wrapper =
    Wrapper::new("-a|--all-tasks -p|--pid. -c|--cpu-list -h|--help. -V|--version.").one();
const TIME: Wrapper = Wrapper::new(
    "-f|--format: -o|--output:! -a|--append -p|--portability -v|--verbose -q|--quiet -l -h --help. -V|--version.",
);
const TIMEOUT: Wrapper = Wrapper::new(
    "-f|--foreground -p|--preserve-status -k|--kill-after: -s|--signal: -v|--verbose --help. --version.",
)
.one();
const UNBUFFER: Wrapper = Wrapper::new("-p");
const UNSHARE: Wrapper = Wrapper::new(
    "-m --mount? -u --uts? -i --ipc? -n --net? -p --pid? -U --user? -C --cgroup? -T --time? -f|--fork --mount-proc? \
     --mount-binfmt? -r|--map-root-user -c|--map-current-user --map-auto --map-subids --map-user: --map-users: --map-group: \
     --map-groups: --propagation: --setgroups: -R|--root: -w|--wd:@ -S|--setuid: -G|--setgid: --monotonic: --boottime: \
     --kill-child? --keep-caps -l|--load-interp:! -h|--help. -V|--version.",
)
.busy()
.shell();
const VALGRIND: Wrapper = Wrapper::new(
    "--tool: --log-file:! --xml-file:! --suppressions: --leak-check: --error-exitcode: --trace-children: -q|--quiet \
     -v|--verbose --track-origins: --show-leak-kinds: --num-callers: --massif-out-file:! --callgrind-out-file:! \
     --cachegrind-out-file:! --vgdb: --vgdb-error: --track-fds: --gen-suppressions: --xml: --read-var-info: --help. \
     --version. -h. --show-reachable: --undef-value-errors: --child-silent-after-fork: --errors-for-leak-kinds:",
)
.busy();
const XVFB: Wrapper = Wrapper::new(
    "-a|--auto-servernum -d|--auto-display -e|--error-file:! -f|--auth-file:! -l|--listen-tcp -n|--server-num: \
     -p|--xauth-protocol: -s|--server-args: -w|--wait: -h|--help.",
);

/// `linux32` and the like; `setarch` behind the machine.
pub(super) const LINUX32: Wrapper = Wrapper::new(
    "-B|--32bit -F|--fdpic-funcptrs -I|--short-inode -L|--addr-compat-layout -R|--addr-no-randomize -S|--whole-seconds \
     -T|--sticky-timeouts -X|--read-implies-exec -Z|--mmap-page-zero -3|--3gb --4gb -v|--verbose -p|--pid:. --list. \
     --show? -h|--help. -V|--version.",
)
.shell();

/// The options of `parallel`.
pub(super) const PARALLEL: &str = "-0|--null -a|--arg-file: --bar --eta --progress -j|--jobs|-P|--max-procs: -k|--keep-order -n|--max-args: -N: \
     -L|--max-lines: -l? -I: -i? -q|--quote -r|--no-run-if-empty -s|--max-chars: -S|--sshlogin:! --slf|--sshloginfile:! \
     -t|--verbose -u|--ungroup -v -X|--xargs -x -m -d|--delimiter: -C|--colsep: -E: --dry-run|--dryrun. --joblog:! \
     --results:! --resume --resume-failed --retries: --timeout: --halt: --tag --tagstring: --line-buffer|--lb --pipe \
     --block: --recstart: --recend: --tmpdir: --wd|--workdir: --env: --nice: --delay: --memfree: --load: --noswap --no-notice \
     --will-cite --plus --header: --link --shuf --group --rpl:! --tmux --semaphore --sem --fg --bg --id: --wait --files \
     --gnu --citation. --version. --help. --shellquote --trim: --bibtex. --use-cpus-instead-of-cores --linebuffer";

/// Returns the number of values of an option of `bwrap`.
pub(super) fn bwrap_values(option: &str) -> Option<usize> {
    Some(match option {
        "--unshare-all"
        | "--unshare-user"
        | "--unshare-user-try"
        | "--unshare-ipc"
        | "--unshare-pid"
        | "--unshare-net"
        | "--unshare-uts"
        | "--unshare-cgroup"
        | "--unshare-cgroup-try"
        | "--share-net"
        | "--new-session"
        | "--die-with-parent"
        | "--as-pid-1"
        | "--clearenv"
        | "--disable-userns"
        | "--assert-userns-disabled"
        | "--level-prefix"
        | "--help"
        | "--version" => 0,
        "--args" | "--argv0" | "--userns" | "--userns2" | "--pidns" | "--uid" | "--gid" | "--hostname"
        | "--chdir" | "--unsetenv" | "--lock-file" | "--sync-fd" | "--exec-label" | "--file-label"
        | "--proc" | "--dev" | "--tmpfs" | "--mqueue" | "--dir" | "--remount-ro" | "--seccomp"
        | "--add-seccomp-fd" | "--block-fd" | "--userns-block-fd" | "--info-fd" | "--json-status-fd"
        | "--cap-add" | "--cap-drop" | "--perms" | "--size" | "--overlay-src" | "--tmp-overlay"
        | "--ro-overlay" => 1,
        "--bind" | "--bind-try" | "--ro-bind" | "--ro-bind-try" | "--dev-bind" | "--dev-bind-try"
        | "--symlink" | "--setenv" | "--file" | "--bind-data" | "--ro-bind-data" | "--bind-fd"
        | "--ro-bind-fd" | "--chmod" => 2,
        "--overlay" => 3,
        _ => return None,
    })
}

/// Returns the loader of the system, for every machine and version.
pub(super) fn loader(name: &str) -> Option<&'static Tool> {
    const TOOL: Tool = Tool::Wrapper(&LOADER);
    let known = ["ld.so", "ld-linux", "ld-musl", "ld64.so"].iter().any(|known| name.starts_with(known));
    known.then_some(&TOOL)
}

macro_rules! language {
    ($language:ident) => {
        Tool::Own(|words, launch| languages::$language.inspect(words, launch))
    };
}

macro_rules! runner {
    ($runner:ident) => {
        Tool::Own(|words, launch| packages::$runner.inspect(words, launch))
    };
}

const SHELL: Tool = Tool::Own(shells::shell);
const FOREIGN_SHELL: Tool = Tool::Own(shells::foreign_shell);

/// Index of the first tool for each first byte: most programs are none of them, and this says so at once.
pub(super) static FIRSTS: [usize; 257] = firsts();

const fn firsts() -> [usize; 257] {
    let (mut firsts, mut byte, mut at) = ([0; 257], 0, 0);
    while byte < firsts.len() {
        firsts[byte] = at;
        while at < TOOLS.len() && TOOLS[at].0.as_bytes()[0] as usize == byte {
            at += 1;
        }
        byte += 1;
    }
    firsts
}

/// Every tool, sorted by name.
pub(super) static TOOLS: &[(&str, Tool)] = &[
    ("-", Tool::Wrapper(&PLAIN)),
    ("R", language!(R)),
    ("Rscript", language!(R)),
    ("asdf", runner!(PROJECT)),
    ("ash", SHELL),
    ("at", Tool::Own(programs::at)),
    ("awk", Tool::Own(awk::awk)),
    ("bash", SHELL),
    ("batch", Tool::Own(programs::at)),
    ("bsdtar", Tool::Own(programs::tar)),
    ("builtin", Tool::Wrapper(&PLAIN)),
    ("bun", Tool::Own(interpreters::bun)),
    ("bundle", runner!(PROJECT)),
    ("busybox", Tool::Own(programs::applets)),
    ("bwrap", Tool::Own(prefix::bwrap)),
    ("capsh", Tool::Own(prefix::capsh)),
    ("cargo", Tool::Own(packages::cargo)),
    ("catchsegv", Tool::Wrapper(&PLAIN)),
    ("chronic", Tool::Wrapper(&PLAIN)),
    ("chroot", Tool::Wrapper(&CHROOT)),
    ("chrt", Tool::Wrapper(&CHRT)),
    ("clojure", language!(ALWAYS)),
    ("command", Tool::Wrapper(&COMMAND)),
    ("conda", runner!(PROJECT)),
    ("csh", FOREIGN_SHELL),
    (
        "curl",
        Tool::Options(
            "-o|--output:! -O|--remote-name! --remote-name-all! --output-dir:! -K|--config:! -D|--dump-header:! \
             -c|--cookie-jar:! --trace:! --trace-ascii:! --stderr:! --libcurl:! --etag-save:! --hsts:! --alt-svc:! -A: -b: \
             -C: -d: -e: -E: -F: -H: -m: -P: -Q: -r: -t: -T: -u: -U: -w: -x: -X: -y: -Y: -z: --trace-time --trace-ids \
             --trace-config: -h",
        ),
    ),
    ("dash", SHELL),
    ("date", Tool::Options("-s|--set:! -d|--date: -f|--file: -r|--reference: -I -R -u")),
    ("dbus-run-session", Tool::Wrapper(&DBUS)),
    ("deno", Tool::Own(interpreters::deno)),
    ("direnv", runner!(DIRENV)),
    ("doas", Tool::Wrapper(&DOAS)),
    ("eatmydata", Tool::Wrapper(&PLAIN)),
    ("ed", Tool::Own(editors::ed)),
    ("elixir", language!(ALWAYS)),
    ("elvish", FOREIGN_SHELL),
    ("emacs", language!(ALWAYS)),
    ("emacsclient", language!(ALWAYS)),
    ("entr", Tool::Own(prefix::entr)),
    ("env", Tool::Own(prefix::env)),
    ("erl", language!(ALWAYS)),
    ("evim", Tool::Own(editors::vi)),
    ("ex", Tool::Own(editors::ex_mode)),
    ("exec", Tool::Wrapper(&EXEC)),
    ("expect", language!(EXPECT)),
    ("fakeroot", Tool::Wrapper(&FAKEROOT)),
    ("fd", Tool::Own(prefix::fd)),
    ("fdfind", Tool::Own(prefix::fd)),
    ("file", Tool::Options("-C|--compile! -m|--magic-file: -f|--files-from: -F: -e: -P:")),
    ("find", Tool::Own(find::find)),
    ("firejail", Tool::Own(prefix::firejail)),
    ("fish", FOREIGN_SHELL),
    ("flock", Tool::Own(prefix::flock)),
    ("gawk", Tool::Own(awk::awk)),
    ("gdb", Tool::Own(editors::gdb)),
    ("genv", Tool::Own(prefix::env)),
    ("gfind", Tool::Own(find::find)),
    ("ghc", language!(HASKELL)),
    ("ghci", language!(HASKELL)),
    ("git", Tool::Own(git::git)),
    ("gmake", Tool::Own(builders::make)),
    ("gnuplot", language!(ALWAYS)),
    ("go", Tool::Options("-exec|--exec:% -toolexec|--toolexec:% -vettool|--vettool:% -C:@")),
    ("groovy", language!(ALWAYS)),
    ("gsed", Tool::Own(sed::sed)),
    ("gtar", Tool::Own(programs::tar)),
    ("gtimeout", Tool::Wrapper(&TIMEOUT)),
    ("guile", language!(ALWAYS)),
    ("gview", Tool::Own(editors::vi)),
    ("gvim", Tool::Own(editors::vi)),
    ("gxargs", Tool::Own(prefix::xargs)),
    ("hatch", runner!(PROJECT)),
    ("hush", SHELL),
    ("hyperfine", Tool::Own(programs::hyperfine)),
    ("i386", Tool::Wrapper(&LINUX32)),
    ("install", Tool::Options("--strip-program:% -g: -m: -o: -S: -t:")),
    ("ionice", Tool::Wrapper(&IONICE)),
    ("julia", language!(JULIA)),
    ("ksh", SHELL),
    ("ksh93", SHELL),
    ("less", Tool::Own(programs::less)),
    ("linux32", Tool::Wrapper(&LINUX32)),
    ("linux64", Tool::Wrapper(&LINUX32)),
    ("lksh", SHELL),
    ("ltrace", Tool::Wrapper(&LTRACE)),
    ("lua", language!(LUA)),
    ("luajit", language!(LUA)),
    ("m4", Tool::Own(programs::m4)),
    ("make", Tool::Own(builders::make)),
    ("mamba", runner!(PROJECT)),
    (
        "man",
        Tool::Options("-P|--pager:$ -H|--html?$ -C|--config-file:! -L: -m: -M: -S: -s: -e: -r: -R: -E: -p:"),
    ),
    ("mawk", Tool::Own(awk::awk)),
    ("mise", runner!(EXEC_AFTER_DASHES)),
    ("mksh", SHELL),
    ("more", Tool::Own(programs::less)),
    ("mvim", Tool::Own(editors::vi)),
    ("nawk", Tool::Own(awk::awk)),
    ("nc", Tool::Options("-e:% -c:$ -i: -p: -q: -s: -w: -X: -x: -I: -O: -P: -T: -V: -m: -M: -o:!")),
    (
        "ncat",
        Tool::Options(
            "-e|--exec:% -c|--sh-exec:$ --lua-exec:! -o|--output:! -x|--hex-dump:! -i: -p: -s: -w: -m: -d:",
        ),
    ),
    ("nice", Tool::Wrapper(&NICE)),
    ("nix", Tool::Own(packages::nix)),
    ("nix-shell", Tool::Own(packages::nix)),
    (
        "nmap",
        Tool::Options(
            "--script:! --script-args: --script-args-file: --script-help: --script-updatedb! \
        --script-trace --datadir:! -oN:! -oX:! -oS:! -oG:! -oA:! --servicedb:! --versiondb:!",
        ),
    ),
    ("nocorrect", Tool::Wrapper(&PLAIN)),
    ("node", language!(NODE)),
    ("nodejs", language!(NODE)),
    ("nodenv", runner!(PROJECT)),
    ("noglob", Tool::Wrapper(&PLAIN)),
    ("nohup", Tool::Wrapper(&NOHUP)),
    ("npm", Tool::Own(packages::npm)),
    ("npx", Tool::Own(packages::npx)),
    ("nsenter", Tool::Wrapper(&NSENTER)),
    ("nu", FOREIGN_SHELL),
    ("numactl", Tool::Wrapper(&NUMACTL)),
    ("nvim", Tool::Own(editors::vi)),
    ("ocaml", language!(ALWAYS)),
    ("octave", language!(ALWAYS)),
    ("oksh", SHELL),
    ("opam", runner!(PROJECT)),
    ("openrc-run", SHELL),
    ("original-awk", Tool::Own(awk::awk)),
    ("osascript", language!(APPLESCRIPT)),
    ("osh", SHELL),
    ("parallel", Tool::Own(prefix::parallel)),
    ("pdm", runner!(PROJECT)),
    ("perl", Tool::Own(interpreters::perl)),
    ("php", language!(PHP)),
    ("pipenv", runner!(PROJECT)),
    ("pkexec", Tool::Wrapper(&PKEXEC)),
    ("pnpm", Tool::Own(packages::pnpm)),
    ("poetry", runner!(PROJECT)),
    ("posh", SHELL),
    ("powershell", FOREIGN_SHELL),
    ("proxychains", Tool::Wrapper(&PROXYCHAINS)),
    ("psql", Tool::Own(editors::psql)),
    ("pwsh", FOREIGN_SHELL),
    ("pyenv", runner!(PROJECT)),
    ("pypy", Tool::Own(interpreters::python)),
    ("python", Tool::Own(interpreters::python)),
    ("racket", language!(ALWAYS)),
    ("raku", language!(ALWAYS)),
    ("rbash", SHELL),
    ("rbenv", runner!(PROJECT)),
    (
        "rg",
        Tool::Options(
            "--pre:% --pre-glob: --hostname-bin:% -e: -f: -g: -t: -T: -A: -B: -C: -m: -j: -M: -r: -E: -d:",
        ),
    ),
    ("rksh", SHELL),
    (
        "rsync",
        Tool::Options(
            "-e|--rsh:% --rsync-path:$ -M|--remote-option:! -B: -f: -T: --log-file:! --write-batch:! --daemon!",
        ),
    ),
    ("ruby", language!(RUBY)),
    ("runuser", Tool::Own(prefix::su)),
    ("rview", Tool::Own(editors::vi)),
    ("rye", runner!(PROJECT)),
    ("rzsh", SHELL),
    ("sbcl", language!(ALWAYS)),
    ("scala", language!(ALWAYS)),
    ("scp", Tool::Options("-S:% -o:= -D:% -F:! -c: -i: -J: -l: -P: -X:")),
    ("screen", Tool::Wrapper(&SCREEN)),
    ("script", Tool::Own(prefix::script)),
    ("sed", Tool::Own(sed::sed)),
    ("setarch", Tool::Own(prefix::setarch)),
    ("setpriv", Tool::Wrapper(&SETPRIV)),
    ("setsid", Tool::Wrapper(&SETSID)),
    ("sftp", Tool::Options("-S:% -o:= -D:% -F:! -b:! -B: -c: -i: -J: -l: -P: -R: -s:! -X:")),
    ("sh", SHELL),
    ("socat", Tool::Own(prefix::socat)),
    ("sort", Tool::Options("-o|--output:! --compress-program:% -k: -S: -t: -T:")),
    ("split", Tool::Options("--filter:$ -a: -b: -C: -l: -n: -t:")),
    ("sqlite3", Tool::Own(editors::sqlite)),
    ("ssh", Tool::Own(remote::ssh)),
    ("start-stop-daemon", Tool::Own(prefix::daemon)),
    ("stdbuf", Tool::Wrapper(&STDBUF)),
    ("strace", Tool::Wrapper(&STRACE)),
    ("su", Tool::Own(prefix::su)),
    ("sudo", Tool::Own(prefix::sudo)),
    ("swift", language!(ALWAYS)),
    ("systemd-run", Tool::Wrapper(&SYSTEMD_RUN)),
    ("tar", Tool::Own(programs::tar)),
    ("taskset", Tool::Wrapper(&TASKSET)),
    ("tclsh", language!(TCL)),
    (
        "tcpdump",
        Tool::Options("-z:% -w:! -B: -c: -C: -E: -F: -G: -i: -j: -M: -Q: -r: -s: -T: -V: -W: -y: -Z:"),
    ),
    ("tcsh", FOREIGN_SHELL),
    ("time", Tool::Wrapper(&TIME)),
    ("timeout", Tool::Wrapper(&TIMEOUT)),
    ("tmux", Tool::Own(prefix::tmux)),
    ("torify", Tool::Wrapper(&BUSY)),
    ("torsocks", Tool::Wrapper(&BUSY)),
    ("toybox", Tool::Own(programs::applets)),
    ("unbuffer", Tool::Wrapper(&UNBUFFER)),
    ("unshare", Tool::Wrapper(&UNSHARE)),
    ("uv", runner!(UV)),
    ("valgrind", Tool::Wrapper(&VALGRIND)),
    ("vi", Tool::Own(editors::vi)),
    ("view", Tool::Own(editors::vi)),
    ("vim", Tool::Own(editors::vi)),
    ("vimdiff", Tool::Own(editors::vi)),
    ("watch", Tool::Own(prefix::watch)),
    (
        "wget",
        Tool::Options(
            "-O|--output-document:! -o|--output-file:! -a|--append-output:! --use-askpass:% -P|--directory-prefix:! \
             -e|--execute:! --config:! --post-file: -i: -t: -T: -w: -Q: -U: -A: -R: -D: -I: -X: -l: -B: --save-cookies:! \
             --warc-file:! --hsts-file:!",
        ),
    ),
    ("wish", language!(TCL)),
    ("x86_64", Tool::Wrapper(&LINUX32)),
    ("xargs", Tool::Own(prefix::xargs)),
    ("xonsh", FOREIGN_SHELL),
    ("xvfb-run", Tool::Wrapper(&XVFB)),
    ("yarn", runner!(YARN)),
    ("yash", SHELL),
    ("yq", Tool::Options("-i|--inplace|--in-place! -I: -o: -p: -s:!")),
    ("zip", Tool::Options("-TT|--unzip-command:$ -b: -n: -t: -O: -P: -s: -i: -x:")),
    ("zsh", SHELL),
];
