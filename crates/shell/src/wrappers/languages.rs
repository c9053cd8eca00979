//! Table: languages whose interpreters take code as a word.

use super::interpreters::{Habit, Language};

/// Perl.
pub(super) const PERL: Language = Language {
    spec: "-e|-E: -n -p -l -a -F? -i?! -0 -M|-m: -I: -c -C -d -D -s -S -t -T -u -U -v. -V?. -w -W -X -x? -h. -f -g",
    code: &["-e"],
    before: &["-M"],
    names: &[
        "CORE", "IPC", "eval", "exec", "fork", "qx", "readpipe", "require", "do", "syscall", "system",
        "open2", "open3", "Inline", "AUTOLOAD", "reval",
    ],
    marks: &["`", "/ee", "}ee", ")ee", "#ee", "|ee", "!ee", "]ee", ">ee", ",ee", "-|", "|-"],
    calls: &["system", "exec", "readpipe"],
    habits: &[Habit::Backticks],
    ..Language::new("Perl")
};

/// Ruby.
pub(super) const RUBY: Language = Language {
    spec: "-e: -n -p -l -a -F? -i?! -0 -r|--require: -I: -c -C:@ -d|--debug -E|--encoding: -h. -K? -s -S -T? -U -v \
        --verbose -w -W? -x? -y --version. --copyright. --enable: --disable: --external-encoding: --internal-encoding: \
        --yjit --jit --help. --dump: -X:@",
    code: &["-e"],
    before: &["-r"],
    names: &[
        "Fiddle",
        "IRB",
        "Kernel",
        "ObjectSpace",
        "Open3",
        "PTY",
        "Process",
        "RubyVM",
        "TOPLEVEL_BINDING",
        "__send__",
        "binding",
        "class_eval",
        "const_get",
        "eval",
        "exec",
        "fiddle",
        "fork",
        "instance_eval",
        "instance_exec",
        "load",
        "method",
        "module_eval",
        "open3",
        "popen",
        "pty",
        "public_send",
        "send",
        "shell",
        "spawn",
        "syscall",
        "system",
    ],
    marks: &["`", "%x"],
    calls: &["system", "exec", "spawn", "popen", "capture2", "capture2e", "capture3"],
    habits: &[Habit::Backticks],
    ..Language::new("Ruby")
};

/// PHP.
pub(super) const PHP: Language = Language {
    spec: "-r|--run: -B|--process-begin: -R|--process-code: -E|--process-end: -f|--file:. -F|--process-file: \
        -a|--interactive -c|--php-ini:! -n|--no-php-ini -d|--define: -e -l. -s -w -z|--zend-extension:! -t|--docroot: \
        -S|--server:. -i. -m. -v. -h. --ini. --rf:. --rc:. --re:. --rz:. --ri:. -H --version. --help.",
    code: &["-r", "-B", "-R", "-E"],
    before: &["-d"],
    names: &[
        "FFI",
        "assert",
        "auto_append_file",
        "auto_prepend_file",
        "call_user_func",
        "call_user_func_array",
        "create_function",
        "dl",
        "eval",
        "exec",
        "expect_popen",
        "extension",
        "forward_static_call",
        "mail",
        "passthru",
        "pcntl_exec",
        "pcntl_fork",
        "popen",
        "proc_open",
        "putenv",
        "shell_exec",
        "system",
        "unserialize",
        "ReflectionFunction",
    ],
    marks: &["`", ")(", "'(", "\"(", "](", "}("],
    calls: &["system", "exec", "passthru", "shell_exec", "popen", "proc_open"],
    habits: &[Habit::Backticks, Habit::VariablesCall],
    ..Language::new("PHP")
};

/// Lua.
pub(super) const LUA: Language = Language {
    spec: "-e: -l: -i -v. -E -W -j: -O? -b. -h.",
    code: &["-e"],
    names: &[
        "_ENV",
        "_G",
        "debug",
        "dofile",
        "execute",
        "ffi",
        "getfenv",
        "load",
        "loadfile",
        "loadstring",
        "package",
        "popen",
        "setfenv",
    ],
    marks: &["os[", "io[", "os [", "io ["],
    calls: &["execute", "popen"],
    ..Language::new("Lua")
};

/// JavaScript in `node`.
pub(super) const NODE: Language = Language {
    spec: "-e|--eval|-pe: -p --print? -i|--interactive -c|--check -r|--require:! --import:! --loader:! \
        --experimental-loader:! --input-type: -v|--version. -h|--help. -C|--conditions: --env-file: --title: \
        --stack-trace-limit: --openssl-config:! --v8-options. --completion-bash. --max-old-space-size: --inspect? \
        --no-warnings --experimental-vm-modules --test --watch --enable-source-maps --trace-warnings --expose-gc \
        --harmony --run:. --disable-warning: --unhandled-rejections: --dns-result-order: --preserve-symlinks \
        --trace-deprecation --no-deprecation --throw-deprecation --use-strict --experimental-strip-types \
        --experimental-fetch --experimental-modules --experimental-specifier-resolution: --es-module-specifier-resolution: \
        --inspect-brk? --prof --cpu-prof --heap-prof --abort-on-uncaught-exception --pending-deprecation --icu-data-dir: \
        --zero-fill-buffers --no-experimental-fetch --experimental-default-type: --experimental-json-modules \
        --experimental-wasm-modules --experimental-repl-await --experimental-network-inspection --test-reporter:",
    code: &["-e", "--print"],
    printed: "-p",
    names: JS,
    marks: JS_MARKS,
    calls: JS_CALLS,
    habits: &[Habit::Requires],
    ..Language::new("JavaScript")
};

/// JavaScript in `bun` and `deno`, which are told by a subcommand.
pub(super) const BUN: Language = Language {
    spec: "-e|--eval: -p|--print: -r|--preload:! --silent --watch --hot --smol -b|--bun -i --cwd:@ -c|--config? \
        --version. -v. -h|--help. --env-file: --inspect? --if-present --filter: -F: --port: --define: -d: --tsconfig-override:",
    code: &["-e", "-p"],
    habits: &[Habit::Requires, Habit::Deaf],
    ..NODE
};

/// Names with which JavaScript can start programs or evaluate text.
const JS: &[&str] = &[
    "Function",
    "GeneratorFunction",
    "AsyncFunction",
    "_linkedBinding",
    "_load",
    "binding",
    "child_process",
    "Command",
    "constructor",
    "createRequire",
    "cluster",
    "dlopen",
    "eval",
    "execSync",
    "execFileSync",
    "ffi",
    "getBuiltinModule",
    "mainModule",
    "runInContext",
    "runInNewContext",
    "runInThisContext",
    "spawn",
    "spawnSync",
    "vm",
    "Worker",
    "worker_threads",
    "Reflect",
    "fork",
    "execFile",
    "execvp",
    "process_wrap",
    "spawn_sync",
    "inspector",
];

const JS_MARKS: &[&str] = &["](", "Bun.$", "Deno.run", "\\u00", "\\u{", "globalThis[", "global[", "process["];

const JS_CALLS: &[&str] = &["exec", "execSync", "spawn", "spawnSync", "execFile", "execFileSync"];

/// Julia.
pub(super) const JULIA: Language = Language {
    spec: "-e|--eval: -E|--print: -L|--load:! -i -q|--quiet -p|--procs: -t|--threads: -J|--sysimage:! -H: -v. -h. \
        --project? --startup-file: -C: -O? -g? --color: --history-file: --compile: --machine-file:",
    code: &["-e", "-E"],
    names: &[
        "Cmd",
        "Meta",
        "ccall",
        "eval",
        "include",
        "include_string",
        "llvmcall",
        "run",
        "Libdl",
        "dlopen",
    ],
    marks: &["`"],
    ..Language::new("Julia")
};

/// R.
pub(super) const R: Language = Language {
    spec: "-e: -f|--file: -g|--gui: -d|--debugger:! --args. --version. --help. --no-save --save --vanilla --slave \
        --no-echo --quiet -q -s --no-restore --no-environ --no-site-file --no-init-file --interactive --verbose \
        --default-packages:",
    code: &["-e"],
    names: &[
        "Call",
        "External",
        "callr",
        "dll",
        "eval",
        "evalq",
        "do",
        "dyn",
        "get",
        "getFunction",
        "match",
        "parse",
        "pipe",
        "processx",
        "shell",
        "source",
        "str2expression",
        "str2lang",
        "sys",
        "system",
        "system2",
        "get0",
        "getNamespace",
    ],
    marks: &[],
    calls: &["system", "shell"],
    ..Language::new("R")
};

/// Haskell in `ghci -e`.
pub(super) const HASKELL: Language = Language {
    spec: "-e: -i? -x: -o: --version. --help. -v? --interactive -ghci-script:!",
    code: &["-e"],
    names: &[
        "callCommand",
        "callProcess",
        "createProcess",
        "executeFile",
        "proc",
        "rawSystem",
        "readCreateProcess",
        "readProcess",
        "readProcessWithExitCode",
        "runCommand",
        "runProcess",
        "shell",
        "spawnCommand",
        "spawnProcess",
        "system",
        "Process",
        "unsafePerformIO",
        "cmd",
        "script",
        "def",
        "foreign",
    ],
    marks: &[":!"],
    calls: &["callCommand", "system"],
    ..Language::new("Haskell")
};

/// `AppleScript`, and JavaScript in `osascript`.
pub(super) const APPLESCRIPT: Language = Language {
    spec: "-e: -l: -s: -i",
    code: &["-e"],
    names: &[
        "shell",
        "script",
        "doShellScript",
        "NSTask",
        "ObjC",
        "system",
        "eval",
        "Function",
        "keystroke",
        "popen",
    ],
    marks: &[],
    calls: &["script", "doShellScript"],
    ..Language::new("AppleScript")
};

/// Tcl with `expect`.
pub(super) const EXPECT: Language = Language {
    spec: "-c: -f: -b -d -D: -i -n -N -v.",
    code: &["-c"],
    habits: &[Habit::Always],
    ..Language::new("Tcl")
};

/// Tcl.
pub(super) const TCL: Language = Language { spec: "-encoding:", ..Language::new("Tcl") };

/// Languages whose code is always taken for code that starts programs.
pub(super) const ALWAYS: Language = Language {
    spec: "-e|-E|--eval|--evaluate|-eval|--execute|-c|--command: -f|--file|--load|-l|--script|-s: -i -r|--require: \
        -pa: -noshell -noinput --no-init-file --noprint --non-interactive --batch -batch -Q -q --no-site-file --version. \
        -v --help. -h -n -S: -sname: -name: -cp: -classpath: -I: -L: -M: --no-sysinit --no-userinit --disable-debugger \
        --quiet --no-gui --no-window-system --norc -nw --warnings --no-warnings -run: -s:",
    code: &["-e"],
    habits: &[Habit::Always],
    ..Language::new("its")
};
