//! Table: what toolchains have in a home directory, what of it a jail shows and how, and why.

/// One toolchain, or one family of tools.
#[derive(Debug, Clone, Copy)]
pub struct Toolchain {
    /// The word of the policy file.
    pub name: &'static str,
    /// Which tools are meant.
    pub about: &'static str,
    /// Directories in which they keep things.
    pub dirs: &'static [Dir],
}

/// A directory, or a single file, that tools look for.
#[derive(Debug, Clone, Copy)]
pub struct Dir {
    /// The variable that names another place for it; empty where there is none.
    pub variable: &'static str,
    /// Path below the home directory otherwise, or from the root; empty where only the variable says it.
    pub path: &'static str,
    /// Parts of it that are of interest. The rest is not shown: it is a private directory.
    pub parts: &'static [Part],
}

/// A part of a directory.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Its path in the directory; empty for the whole of it. In what is hidden, `*` stands for any one name.
    pub path: &'static str,
    /// Mode in which it is seen.
    pub show: Show,
    /// Why.
    pub because: &'static str,
}

/// Mode in which a part is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Installed programs: as they are, and nothing can be changed.
    Installed,
    /// A cache: as it is, and changes stay in a private layer that ends with the jail.
    Cache,
    /// Settings: as they are, unless they look as if they held a secret.
    Settings,
    /// Settings inside something that is shown: hidden if they look as if they held a secret.
    Checked,
    /// Credentials: never.
    Never,
}

const fn dir(variable: &'static str, path: &'static str, parts: &'static [Part]) -> Dir {
    Dir { variable, path, parts }
}

const fn installed(path: &'static str, because: &'static str) -> Part {
    Part { path, show: Show::Installed, because }
}

const fn cache(path: &'static str, because: &'static str) -> Part {
    Part { path, show: Show::Cache, because }
}

const fn settings(path: &'static str, because: &'static str) -> Part {
    Part { path, show: Show::Settings, because }
}

const fn checked(path: &'static str, because: &'static str) -> Part {
    Part { path, show: Show::Checked, because }
}

const fn never(path: &'static str, because: &'static str) -> Part {
    Part { path, show: Show::Never, because }
}

/// Every name, in the order of the table.
pub const NAMES: &[&str] = &["rust", "node", "python", "go", "java", "c", "ruby", "dotnet", "mise", "brew"];

/// Every toolchain that is known.
pub static TOOLCHAINS: &[Toolchain] = &[
    Toolchain { name: "rust", about: "cargo, rustup", dirs: RUST },
    Toolchain { name: "node", about: "npm, pnpm, yarn, bun, deno, nvm, fnm, volta", dirs: NODE },
    Toolchain { name: "python", about: "pip, uv, poetry, pipx, pdm, pyenv, conda, pre-commit", dirs: PYTHON },
    Toolchain { name: "go", about: "go, golangci-lint", dirs: GO },
    Toolchain { name: "java", about: "maven, gradle, sbt, coursier, sdkman, jenv, android", dirs: JAVA },
    Toolchain { name: "c", about: "ccache, sccache, conan, vcpkg, bazel, zig", dirs: C },
    Toolchain { name: "ruby", about: "gem, bundler, rbenv, rvm", dirs: RUBY },
    Toolchain { name: "dotnet", about: "dotnet, nuget", dirs: DOTNET },
    Toolchain { name: "mise", about: "mise, asdf", dirs: MISE },
    Toolchain { name: "brew", about: "homebrew", dirs: BREW },
];

static RUST: &[Dir] = &[
    dir(
        "CARGO_HOME",
        ".cargo",
        &[
            installed("bin", "cargo, rustc and what cargo install has put there"),
            installed("env", "start-up files of shells read it"),
            cache("registry", "packages of registries: index, archives, sources"),
            cache("git", "packages that come from git"),
            settings("config.toml", "mirrors, linkers, flags; may hold the token of a registry"),
            settings("config", "the same under its old name"),
            never("credentials.toml", "tokens of registries"),
            never("credentials", "the same under its old name"),
        ],
    ),
    dir(
        "RUSTUP_HOME",
        ".rustup",
        &[
            installed("toolchains", "compilers and standard libraries"),
            installed("settings.toml", "which toolchain is the default"),
            installed("update-hashes", "which version of each is installed"),
        ],
    ),
];

static NODE: &[Dir] = &[
    dir(
        "NPM_CONFIG_CACHE",
        ".npm",
        &[
            cache("_cacache", "packages of registries"),
            cache("_npx", "packages that npx has installed"),
            never("_logs", "command lines of earlier runs"),
        ],
    ),
    dir(
        "NPM_CONFIG_USERCONFIG",
        ".npmrc",
        &[settings("", "the registry and whom to trust; may hold its token")],
    ),
    dir("", "/etc/npmrc", &[settings("", "the machine's settings of npm")]),
    dir("", "/usr/etc/npmrc", &[checked("", NPMRC)]),
    dir("", "/usr/local/etc/npmrc", &[checked("", NPMRC)]),
    dir(
        "NPM_CONFIG_PREFIX",
        ".npm-global",
        &[installed("bin", "programs installed with npm -g"), installed("lib", "their packages")],
    ),
    dir(
        "NVM_DIR",
        ".nvm",
        &[
            installed("", "versions of node, and nvm itself"),
            checked("versions/node/*/etc/npmrc", NPMRC),
            checked("versions/node/*/lib/node_modules/npm/npmrc", NPMRC),
        ],
    ),
    dir(
        "FNM_DIR",
        ".local/share/fnm",
        &[
            installed("", "versions of node"),
            checked("node-versions/*/installation/etc/npmrc", NPMRC),
            checked("node-versions/*/installation/lib/node_modules/npm/npmrc", NPMRC),
        ],
    ),
    dir(
        "VOLTA_HOME",
        ".volta",
        &[
            installed("bin", "volta's names for node, npm and others"),
            installed("tools", "versions of node, npm and others"),
            cache("cache", "what is known of them"),
            checked("tools/image/node/*/etc/npmrc", NPMRC),
            checked("tools/image/node/*/lib/node_modules/npm/npmrc", NPMRC),
            checked("tools/image/npm/*/npmrc", NPMRC),
            never("log", "reports of earlier crashes"),
        ],
    ),
    dir(
        "PNPM_HOME",
        ".local/share/pnpm",
        &[
            installed("", "pnpm, and programs installed with pnpm -g"),
            cache("store", "packages of registries, linked into projects"),
            checked("nodejs/*/etc/npmrc", NPMRC),
            checked("global/*/.npmrc", NPMRC),
        ],
    ),
    dir("", ".cache/pnpm", &[cache("", "what registries say of packages")]),
    dir("YARN_CACHE_FOLDER", ".cache/yarn", &[cache("", "packages of registries")]),
    dir(
        "",
        ".yarn",
        &[
            installed("bin", "programs installed with yarn global"),
            installed("releases", "versions of yarn"),
            cache("berry", "packages of registries, and what is known of them"),
        ],
    ),
    dir("", ".yarnrc.yml", &[settings("", "the registry and its options; may hold its token")]),
    dir(
        "BUN_INSTALL",
        ".bun",
        &[
            installed("bin", "bun"),
            installed("install/global", "programs installed with bun -g"),
            cache("install/cache", "packages of registries"),
        ],
    ),
    dir("DENO_INSTALL", ".deno", &[installed("bin", "deno, and programs installed with it")]),
    dir("DENO_DIR", ".cache/deno", &[cache("", "modules and what was compiled from them")]),
    dir("COREPACK_HOME", ".cache/node/corepack", &[cache("", "versions of npm, pnpm and yarn")]),
    dir("", ".cache/node-gyp", &[cache("", "headers of node, for packages with C in them")]),
    dir(
        "PLAYWRIGHT_BROWSERS_PATH",
        ".cache/ms-playwright",
        &[installed("", "browsers for tests, without anybody's profile")],
    ),
    dir(
        "PUPPETEER_CACHE_DIR",
        ".cache/puppeteer",
        &[installed("", "browsers for tests, without anybody's profile")],
    ),
    dir(
        "CYPRESS_CACHE_FOLDER",
        ".cache/Cypress",
        &[installed("", "browsers for tests, without anybody's profile")],
    ),
];

const NPMRC: &str = "settings of npm for every project; may hold the token of a registry";
const PIP: &str = "the index and its options; may hold a password";
const CHANNELS: &str = "channels of conda; may hold their tokens";
const VARIABLES: &str = "variables of an environment; may hold secrets";

/// An installation of conda.
static CONDA: &[Part] = &[
    installed("", "an installation of conda with its environments"),
    checked(".condarc", CHANNELS),
    checked("condarc", CHANNELS),
    checked("condarc.d/*", CHANNELS),
    checked("pip.conf", PIP),
    checked("etc/npmrc", NPMRC),
    checked("conda-meta/state", VARIABLES),
    checked("etc/conda/activate.d/*", VARIABLES),
    checked("envs/*/.condarc", CHANNELS),
    checked("envs/*/condarc", CHANNELS),
    checked("envs/*/pip.conf", PIP),
    checked("envs/*/etc/npmrc", NPMRC),
    checked("envs/*/conda-meta/state", VARIABLES),
    checked("envs/*/etc/conda/activate.d/*", VARIABLES),
];

static PYTHON: &[Dir] = &[
    dir(
        "PYENV_ROOT",
        ".pyenv",
        &[
            installed("", "versions of python, and pyenv itself"),
            checked("versions/*/pip.conf", PIP),
            checked("versions/*/envs/*/pip.conf", PIP),
        ],
    ),
    dir("PIP_CACHE_DIR", ".cache/pip", &[cache("", "packages, and wheels that were built from them")]),
    dir(
        "PIP_CONFIG_FILE",
        ".config/pip/pip.conf",
        &[settings("", "the index and its options; may hold a password")],
    ),
    dir("", "/etc/pip.conf", &[settings("", "the machine's settings of pip")]),
    dir("", ".pip/pip.conf", &[settings("", "the same at its old place")]),
    dir("", ".pypirc", &[never("", "passwords and tokens for uploading packages")]),
    dir("UV_CACHE_DIR", ".cache/uv", &[cache("", "packages, and what was built from them")]),
    dir("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", &[installed("", "versions of python")]),
    dir(
        "UV_TOOL_DIR",
        ".local/share/uv/tools",
        &[installed("", "programs installed with uv tool"), checked("*/pip.conf", PIP)],
    ),
    dir("", ".local/share/uv/credentials", &[never("", "passwords of indexes")]),
    dir("", ".config/uv/uv.toml", &[settings("", "the index and its options; may hold a password")]),
    dir("POETRY_CACHE_DIR", ".cache/pypoetry", &[cache("", "packages, and the environments of projects")]),
    dir("POETRY_HOME", ".local/share/pypoetry", &[installed("venv", "poetry itself")]),
    dir(
        "POETRY_CONFIG_DIR",
        ".config/pypoetry",
        &[
            settings("config.toml", "options of poetry; may hold the address of an index with a password"),
            never("auth.toml", "passwords and tokens of indexes"),
        ],
    ),
    dir(
        "PIPX_HOME",
        ".local/share/pipx",
        &[
            installed("venvs", "programs installed with pipx"),
            installed("shared", "what they have in common"),
            installed("py", "versions of python for them"),
            checked("venvs/*/pip.conf", PIP),
        ],
    ),
    dir("PDM_CACHE_DIR", ".cache/pdm", &[cache("", "packages of indexes")]),
    dir(
        "RYE_HOME",
        ".rye",
        &[
            installed("shims", "rye's names for python and tools"),
            installed("py", "versions of python"),
            installed("tools", "programs installed with rye"),
            installed("self", "rye itself"),
        ],
    ),
    dir("", ".local/bin", &[installed("", "programs installed with pip --user, uv tool, pipx and others")]),
    dir("PYTHONUSERBASE", ".local", &[installed("lib", "packages installed with pip --user")]),
    dir("", "miniconda3", CONDA),
    dir("", "anaconda3", CONDA),
    dir("", "miniforge3", CONDA),
    dir("", "mambaforge", CONDA),
    dir("PRE_COMMIT_HOME", ".cache/pre-commit", &[cache("", "the environments of hooks")]),
];

static GO: &[Dir] = &[
    dir(
        "GOPATH",
        "go",
        &[
            installed("bin", "programs installed with go install"),
            cache("pkg/mod", "modules"),
            cache("pkg/sumdb", "what is known of their checksums"),
        ],
    ),
    dir("GOMODCACHE", "", &[cache("", "modules")]),
    dir("GOCACHE", ".cache/go-build", &[cache("", "what was compiled before")]),
    dir("GOROOT", "", &[installed("", "a version of go")]),
    dir("", "sdk", &[installed("", "versions of go, as go install golang.org/dl puts them")]),
    dir("GOENV", ".config/go/env", &[settings("", "settings of go; may hold the address of a proxy")]),
    dir("GOLANGCI_LINT_CACHE", ".cache/golangci-lint", &[cache("", "what was found before")]),
];

const MAVEN: &str = "mirrors and profiles of every user; may hold passwords";

static JAVA: &[Dir] = &[
    dir("JAVA_HOME", "", &[installed("", "a version of java")]),
    dir("MAVEN_HOME", "", &[installed("", "a version of maven"), checked("conf/settings.xml", MAVEN)]),
    dir("", "/etc/java-8-openjdk", &[installed("", "Debian's Java links its settings to here")]),
    dir("", "/etc/java-11-openjdk", &[installed("", "Debian's Java links its settings to here")]),
    dir(
        "",
        "/etc/maven",
        &[
            installed("m2.conf", "Debian's maven does not start without it"),
            installed("logging", "how maven writes its messages"),
            settings("settings.xml", "the machine's mirrors and profiles; may hold passwords"),
            settings("toolchains.xml", "where versions of java are"),
        ],
    ),
    dir(
        "",
        ".m2",
        &[
            cache("repository", "packages of repositories"),
            cache("wrapper", "versions of maven that projects ask for"),
            never("settings.xml", "mirrors and profiles, and most often passwords"),
            settings("toolchains.xml", "where versions of java are"),
            never("settings-security.xml", "the password that the other passwords are encrypted with"),
        ],
    ),
    dir(
        "GRADLE_USER_HOME",
        ".gradle",
        &[
            cache("caches", "packages, and what was built before"),
            cache("wrapper", "versions of gradle that projects ask for"),
            cache("native", "gradle's own libraries"),
            installed("jdks", "versions of java"),
            never("gradle.properties", "options of gradle, and most often passwords"),
        ],
    ),
    dir(
        "SDKMAN_DIR",
        ".sdkman",
        &[
            installed("candidates", "versions of java, maven, gradle and others"),
            installed("bin", "sdkman itself"),
            installed("src", "sdkman itself"),
            installed("etc", "its options"),
            checked("candidates/maven/*/conf/settings.xml", MAVEN),
        ],
    ),
    dir("JENV_ROOT", ".jenv", &[installed("", "jenv, and its names for versions of java")]),
    dir("", ".jdks", &[installed("", "versions of java, as an editor installs them")]),
    dir(
        "",
        ".ivy2",
        &[
            cache("cache", "packages of repositories"),
            cache("local", "packages that were published here"),
            never(".credentials", "passwords of repositories"),
        ],
    ),
    dir("", ".sbt", &[cache("boot", "versions of sbt and scala"), never(".credentials", "passwords")]),
    dir("COURSIER_CACHE", ".cache/coursier", &[cache("", "packages of repositories")]),
    dir("KONAN_DATA_DIR", ".konan", &[cache("", "compilers and libraries of Kotlin/Native")]),
    dir("ANDROID_HOME", "Android/Sdk", &[installed("", "the Android SDK")]),
    dir("", ".android", &[never("", "the keys that devices trust and packages are signed with")]),
];

static C: &[Dir] = &[
    dir("CCACHE_DIR", ".cache/ccache", &[cache("", "what was compiled before")]),
    dir("", ".ccache", &[cache("", "the same at its old place")]),
    dir("SCCACHE_DIR", ".cache/sccache", &[cache("", "what was compiled before")]),
    dir(
        "CONAN_HOME",
        ".conan2",
        &[
            cache("p", "packages"),
            installed("profiles", "compilers and their options"),
            installed("settings.yml", "which values these may have"),
            never(".conan.db", "tokens of servers"),
            never("credentials.json", "passwords of servers"),
        ],
    ),
    dir("VCPKG_ROOT", "", &[installed("", "vcpkg and its recipes")]),
    dir("VCPKG_DEFAULT_BINARY_CACHE", ".cache/vcpkg", &[cache("", "what was compiled before")]),
    dir("", ".cache/bazel", &[cache("", "what was fetched and built before")]),
    dir("BAZELISK_HOME", ".cache/bazelisk", &[cache("", "versions of bazel")]),
    dir("ZIG_GLOBAL_CACHE_DIR", ".cache/zig", &[cache("", "what was fetched and compiled before")]),
];

static RUBY: &[Dir] = &[
    dir(
        "RBENV_ROOT",
        ".rbenv",
        &[
            installed("", "versions of ruby, and rbenv itself"),
            checked("versions/*/etc/gemrc", "settings of gem; may hold keys of servers"),
        ],
    ),
    dir(
        "rvm_path",
        ".rvm",
        &[
            installed("rubies", "versions of ruby"),
            installed("gems", "packages of each"),
            installed("bin", "rvm's names for them"),
            installed("scripts", "rvm itself"),
            installed("environments", "the variables of each"),
            installed("wrappers", "rvm's names for programs of packages"),
        ],
    ),
    dir("GEM_HOME", "", &[cache("", "packages")]),
    dir("", ".gem", &[cache("ruby", "packages"), never("credentials", "keys for uploading packages")]),
    dir(
        "",
        ".local/share/gem",
        &[cache("ruby", "packages"), never("credentials", "keys for uploading packages")],
    ),
    dir("", "/etc/gemrc", &[settings("", "the machine's settings of gem")]),
    dir("BUNDLE_PATH", "", &[cache("", "packages of a project")]),
    dir(
        "BUNDLE_USER_HOME",
        ".bundle",
        &[cache("cache", "what servers say of packages"), never("config", "often holds keys of servers")],
    ),
];

static DOTNET: &[Dir] = &[
    dir("NUGET_PACKAGES", ".nuget/packages", &[cache("", "packages of feeds")]),
    dir("", ".nuget/NuGet/NuGet.Config", &[never("", "feeds, and most often their passwords")]),
    dir("", "/etc/dotnet", &[installed("", "where dotnet is installed")]),
    dir("", ".local/share/NuGet", &[cache("http-cache", "what feeds say of packages")]),
    dir(
        "DOTNET_ROOT",
        ".dotnet",
        &[
            installed("dotnet", "dotnet itself"),
            installed("host", "what finds the right version"),
            installed("sdk", "compilers and build rules"),
            installed("sdk-manifests", "which workloads there are"),
            installed("shared", "what programs run on"),
            installed("packs", "what programs are compiled against"),
            installed("templates", "new projects"),
            installed("tools", "programs installed with dotnet tool"),
            never("corefx", "private keys of certificates for development"),
        ],
    ),
];

static MISE: &[Dir] = &[
    dir(
        "MISE_DATA_DIR",
        ".local/share/mise",
        &[
            installed("installs", "versions of tools"),
            installed("shims", "mise's names for them"),
            installed("plugins", "how they are installed"),
            checked("installs/node/*/etc/npmrc", NPMRC),
            checked("installs/python/*/pip.conf", PIP),
            checked("installs/maven/*/conf/settings.xml", MAVEN),
        ],
    ),
    dir("MISE_CACHE_DIR", ".cache/mise", &[cache("", "what is known of versions")]),
    dir("", ".config/mise/config.toml", &[settings("", "which versions; may set variables to secrets")]),
    dir(
        "ASDF_DATA_DIR",
        ".asdf",
        &[
            installed("", "asdf, versions of tools, and names for them"),
            checked("installs/nodejs/*/etc/npmrc", NPMRC),
            checked("installs/nodejs/*/.npm/etc/npmrc", NPMRC),
            checked("installs/python/*/pip.conf", PIP),
            checked("installs/maven/*/conf/settings.xml", MAVEN),
        ],
    ),
    dir("", ".tool-versions", &[installed("", "which versions")]),
    dir("", ".local/bin", &[installed("", "mise itself, and programs of other installers")]),
];

static BREW: &[Dir] = &[dir(
    "HOMEBREW_PREFIX",
    "/home/linuxbrew/.linuxbrew",
    &[
        installed("", "programs and libraries of homebrew"),
        checked("etc/*", "settings of programs and services; may hold passwords"),
    ],
)];
