//! Table: variables that change what a program runs.

/// A variable. `*` at the end of a name: every name that begins so.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    /// Goes on after "`NAME` ".
    pub(crate) why: &'static str,
    pub(crate) free: Free,
}

/// Which values are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Free {
    /// None.
    Never,
    /// Programs that only show or do nothing, see [`PLAIN_PROGRAMS`].
    Plain,
    /// Words that begin as one of these.
    Options(&'static [&'static str]),
    /// Exactly these.
    Values(&'static [&'static str]),
    /// A text without a substitution.
    Text,
    /// Directories of the system, and those that tools install programs to below a home.
    Directories,
    /// Directories below the one the program starts in: what lies there runs anyway.
    Below,
}

const fn variable(name: &'static str, why: &'static str, free: Free) -> Variable {
    Variable { name, why, free }
}

/// Values of a variable that names a program: these show, or do nothing.
pub(crate) const PLAIN_PROGRAMS: &[&str] = &[
    "",
    ":",
    "/bin/cat",
    "/bin/echo",
    "/bin/false",
    "/bin/true",
    "/usr/bin/true",
    "/usr/bin/cat",
    "cat",
    "echo",
    "emacs",
    "false",
    "head",
    "less",
    "less -FRX",
    "less -R",
    "more",
    "nano",
    "none",
    "nvim",
    "sccache",
    "true",
    "vi",
    "vim",
];

/// Directories that the machine's owner installs programs in.
pub(crate) const PROGRAM_DIRECTORIES: &[&str] = &[
    "bin",
    "sbin",
    "usr/bin",
    "usr/sbin",
    "usr/local/**",
    "usr/lib/**",
    "usr/games",
    "opt/**",
    "snap/bin",
    "nix/**",
    "run/current-system/**",
    // Directories that tools install programs in, below a home.
    "home/*/.cargo/bin",
    "home/*/.local/bin",
    "home/*/.bun/bin",
    "home/*/.deno/bin",
    "home/*/.npm-global/bin",
    "home/*/.nvm/**",
    "home/*/.pyenv/**",
    "home/*/.rbenv/**",
    "home/*/go/bin",
    "root/.cargo/bin",
    "root/.local/bin",
    "root/.bun/bin",
    "root/.deno/bin",
    "root/.npm-global/bin",
    "root/.nvm/**",
    "root/.pyenv/**",
    "root/.rbenv/**",
    "root/go/bin",
    "Users/*/.cargo/bin",
    "Users/*/.local/bin",
    "Users/*/.bun/bin",
    "Users/*/.deno/bin",
    "Users/*/.npm-global/bin",
    "Users/*/.nvm/**",
    "Users/*/.pyenv/**",
    "Users/*/.rbenv/**",
    "Users/*/go/bin",
];

const NODE: &[&str] = &[
    "--max-old-space-size=",
    "--max_old_space_size=",
    "--max-semi-space-size=",
    "--no-warnings",
    "--no-deprecation",
    "--trace-warnings",
    "--trace-deprecation",
    "--trace-uncaught",
    "--enable-source-maps",
    "--experimental-vm-modules",
    "--openssl-legacy-provider",
    "--unhandled-rejections=",
    "--stack-trace-limit=",
    "--max-http-header-size=",
    "--dns-result-order=",
];
const JAVA: &[&str] = &[
    "-Xmx",
    "-Xms",
    "-Xss",
    "-Dfile.encoding=",
    "-XX:MaxRAMPercentage=",
    "-Djava.awt.headless=",
    "-Duser.timezone=",
];
const MAKE: &[&str] =
    &["-j", "-k", "-s", "-l", "--jobs=", "--silent", "--no-print-directory", "--keep-going"];
const STAGES: &[&str] =
    &["", "ci", "dev", "development", "local", "prod", "production", "stage", "staging", "test", "testing"];
const OFF: &[&str] = &["", "0", "1", "/dev/null"];

/// Sorted by what they belong to. The first row that fits counts.
pub(crate) const VARIABLES: &[Variable] = &[
    // The loader.
    variable("LD_*", "tells the loader which code every program runs first", Free::Never),
    variable("DYLD_*", "tells the loader which code every program runs first", Free::Never),
    variable("GCONV_PATH", "names code that the C library loads", Free::Never),
    variable("GLIBC_TUNABLES", "changes how the C library behaves", Free::Never),
    // Shells.
    variable("PATH", "decides which file a program name stands for", Free::Directories),
    variable("BASH_ENV", "names a file that every bash script runs first", Free::Never),
    variable("ENV", "names a file that a shell runs first", Free::Values(STAGES)),
    variable("ZDOTDIR", "names the directory of files that every zsh runs first", Free::Never),
    variable("PROMPT_COMMAND", "is run by bash before every prompt", Free::Never),
    variable("PS0", "is expanded like code by the shell", Free::Text),
    variable("PS1", "is expanded like code by the shell", Free::Text),
    variable("PS2", "is expanded like code by the shell", Free::Text),
    variable("PS4", "is expanded like code by the shell", Free::Text),
    variable("PROMPT", "is expanded like code by the shell", Free::Text),
    variable("RPROMPT", "is expanded like code by the shell", Free::Text),
    variable("SHELLOPTS", "switches options of every bash that starts", Free::Never),
    variable("BASHOPTS", "switches options of every bash that starts", Free::Never),
    variable("BASH_FUNC_*", "defines a function in every bash that starts", Free::Never),
    variable("BASH_LOADABLES_PATH", "names code that bash loads", Free::Never),
    variable("FCEDIT", "names a program that the shell starts", Free::Plain),
    variable("HOME", "moves every start-up and configuration file", Free::Never),
    variable("XDG_CONFIG_HOME", "moves the configuration of every program", Free::Never),
    variable("XDG_CONFIG_DIRS", "moves the configuration of every program", Free::Never),
    // Interpreters.
    variable("PYTHONSTARTUP", "names a file that Python runs first", Free::Values(&[""])),
    variable("PYTHONPATH", "names directories that Python takes its modules from", Free::Below),
    variable("PYTHONHOME", "names the directory that Python takes its library from", Free::Values(&[""])),
    variable("PYTHONINSPECT", "makes Python read commands after the program", Free::Values(&["", "0"])),
    variable("PYTHONBREAKPOINT", "names code that Python runs", Free::Values(&["", "0"])),
    variable("PYTHONUSERBASE", "names the directory that Python takes its modules from", Free::Never),
    variable("PYTHONPLATLIBDIR", "names the directory that Python takes its library from", Free::Never),
    variable("PERL5OPT", "is options of every Perl program, which can be code", Free::Never),
    variable("PERL5LIB", "names directories that Perl takes its modules from", Free::Below),
    variable("PERLLIB", "names directories that Perl takes its modules from", Free::Below),
    variable("PERL5DB", "is code that Perl runs", Free::Never),
    variable("PERL5SHELL", "names the shell that Perl starts", Free::Never),
    variable("RUBYOPT", "is options of every Ruby program, which can be code", Free::Options(&["-W", "-w"])),
    variable("RUBYLIB", "names directories that Ruby takes its modules from", Free::Below),
    variable("NODE_OPTIONS", "is options of every Node program, which can be code", Free::Options(NODE)),
    variable("NODE_PATH", "names directories that Node takes its modules from", Free::Below),
    variable("NODE_REPL_EXTERNAL_MODULE", "names code that Node runs", Free::Never),
    variable("JAVA_TOOL_OPTIONS", "is options of every Java program, which can be code", Free::Options(JAVA)),
    variable("_JAVA_OPTIONS", "is options of every Java program, which can be code", Free::Options(JAVA)),
    variable("JDK_JAVA_OPTIONS", "is options of every Java program, which can be code", Free::Options(JAVA)),
    variable("LUA_INIT*", "is code that Lua runs first", Free::Never),
    variable("LUA_PATH*", "names where Lua takes its modules from", Free::Never),
    variable("LUA_CPATH*", "names where Lua takes its modules from", Free::Never),
    variable("PHPRC", "names the configuration of PHP", Free::Never),
    variable("PHP_INI_SCAN_DIR", "names the configuration of PHP", Free::Never),
    variable("R_PROFILE*", "names a file that R runs first", Free::Never),
    // Git and ssh.
    variable("GIT_SSH", "names a program that git starts", Free::Never),
    variable("GIT_SSH_COMMAND", "is a command that git starts", Free::Never),
    variable("GIT_ASKPASS", "names a program that git starts", Free::Plain),
    variable("GIT_EDITOR", "is a command that git starts", Free::Plain),
    variable("GIT_SEQUENCE_EDITOR", "is a command that git starts", Free::Plain),
    variable("GIT_PAGER", "is a command that git starts", Free::Plain),
    variable("GIT_EXTERNAL_DIFF", "is a command that git starts", Free::Plain),
    variable("GIT_CONFIG_NOSYSTEM", "changes the configuration of git", Free::Values(OFF)),
    variable("GIT_CONFIG*", "is configuration of git, which can name programs", Free::Values(OFF)),
    variable("GIT_PROXY_COMMAND", "is a command that git starts", Free::Never),
    variable("GIT_EXEC_PATH", "names the directory of the programs of git", Free::Never),
    variable("GIT_TEMPLATE_DIR", "names a directory of hooks that git installs", Free::Values(&[""])),
    variable("SSH_ASKPASS", "names a program that ssh starts", Free::Plain),
    variable("SUDO_ASKPASS", "names a program that sudo starts", Free::Plain),
    // Programs that are started to show or edit something.
    variable("EDITOR", "is a command that other programs start", Free::Plain),
    variable("VISUAL", "is a command that other programs start", Free::Plain),
    variable("PAGER", "is a command that other programs start", Free::Plain),
    variable("MANPAGER", "is a command that `man` starts", Free::Plain),
    variable("SYSTEMD_PAGER", "is a command that systemctl starts", Free::Plain),
    variable("BROWSER", "is a command that other programs start", Free::Plain),
    variable("LESSOPEN", "is a command that `less` starts", Free::Values(&[""])),
    variable("LESSCLOSE", "is a command that `less` starts", Free::Values(&[""])),
    // Building.
    variable("MAKEFLAGS", "is options of every make, which can be code", Free::Options(MAKE)),
    variable("MAKEFILES", "names files that every make reads first", Free::Never),
    variable("RUSTC", "names the program that cargo starts as its compiler", Free::Values(&["", "rustc"])),
    variable("RUSTC_WRAPPER", "names a program that cargo starts", Free::Plain),
    variable("RUSTC_WORKSPACE_WRAPPER", "names a program that cargo starts", Free::Plain),
    variable("RUSTDOC", "names a program that cargo starts", Free::Values(&["", "rustdoc"])),
    variable("CARGO_BUILD_RUSTC*", "names a program that cargo starts", Free::Plain),
    variable("CARGO_TARGET_*_RUNNER", "names a program that cargo starts", Free::Never),
    variable("CARGO_TARGET_*_LINKER", "names a program that cargo starts", Free::Never),
    variable("npm_config_script_shell", "names the shell that npm starts", Free::Never),
    variable("npm_config_script-shell", "names the shell that npm starts", Free::Never),
    variable("NPM_CONFIG_SCRIPT_SHELL", "names the shell that npm starts", Free::Never),
    variable("npm_config_node_options", "is options of every Node program", Free::Options(NODE)),
    variable("npm_config_userconfig", "names the configuration of npm", Free::Never),
];
