//! Table: the variables that pass, those the sandbox sets, and those that never enter, each with its reason.

use std::ffi::OsStr;

use super::Kind;

/// A variable that passes from the caller.
pub(super) struct Pass {
    pub(super) name: &'static str,
    holds: Holds,
    #[cfg_attr(not(test), expect(dead_code, reason = "the reference is made of it"))]
    pub(super) reason: &'static str,
}

/// Values that a variable that passes may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Text without control characters.
    Text,
    /// Text that is no path, because libraries look files up by it.
    Name,
    /// Text that does not climb out of a directory.
    Zone,
}

const fn pass(name: &'static str, holds: Holds, reason: &'static str) -> Pass {
    Pass { name, holds, reason }
}

const LOCALE: &str = "language and notation, a name among those installed";
const COLOUR: &str = "whether output is coloured";

pub(super) const PASS: &[Pass] = &[
    pass("CI", Holds::Text, "nobody is there to answer"),
    pass("CLICOLOR", Holds::Text, COLOUR),
    pass("CLICOLOR_FORCE", Holds::Text, COLOUR),
    pass("COLORFGBG", Holds::Text, "whether the terminal is dark or light"),
    pass("COLORTERM", Holds::Text, "how many colours the terminal has"),
    pass("COLUMNS", Holds::Text, "the width of the terminal"),
    pass("FORCE_COLOR", Holds::Text, COLOUR),
    pass("LANG", Holds::Name, LOCALE),
    pass("LANGUAGE", Holds::Name, LOCALE),
    pass("LC_ADDRESS", Holds::Name, LOCALE),
    pass("LC_ALL", Holds::Name, LOCALE),
    pass("LC_COLLATE", Holds::Name, LOCALE),
    pass("LC_CTYPE", Holds::Name, LOCALE),
    pass("LC_IDENTIFICATION", Holds::Name, LOCALE),
    pass("LC_MEASUREMENT", Holds::Name, LOCALE),
    pass("LC_MESSAGES", Holds::Name, LOCALE),
    pass("LC_MONETARY", Holds::Name, LOCALE),
    pass("LC_NAME", Holds::Name, LOCALE),
    pass("LC_NUMERIC", Holds::Name, LOCALE),
    pass("LC_PAPER", Holds::Name, LOCALE),
    pass("LC_TELEPHONE", Holds::Name, LOCALE),
    pass("LC_TIME", Holds::Name, LOCALE),
    pass("LINES", Holds::Text, "the height of the terminal"),
    pass("NO_COLOR", Holds::Text, COLOUR),
    pass("TERM", Holds::Name, "what the terminal understands, a name among those installed"),
    pass("TZ", Holds::Zone, "the time zone"),
];

/// Variables that the sandbox sets. Another value is refused.
pub(super) const OWN: &[(&str, &str)] = &[
    ("HOME", "the private home directory"),
    ("LOGNAME", "the user inside"),
    ("OLDPWD", "never there: the command was nowhere before"),
    ("PATH", "the caller's, without what is not seen inside or can be filled by the agent"),
    ("PWD", "where the command starts"),
    ("RINGFENCE", "always 1, so that programs can tell"),
    ("SHELL", "the shell inside"),
    ("SHLVL", "always 1: a bash that takes itself for a remote shell reads start-up files"),
    ("TMPDIR", "the private directory for temporary files"),
    ("USER", "the user inside"),
];

/// Variables that never enter: exact names, `PREFIX*` or `*SUFFIX`, in any case.
pub(super) struct Never {
    pub(super) names: &'static str,
    pub(super) kind: Kind,
    pub(super) reason: &'static str,
}

const fn row(kind: Kind, names: &'static str, reason: &'static str) -> Never {
    Never { names, kind, reason }
}

/// The first row that matches counts.
pub(super) const NEVER: &[Never] = &[
    // ── Loader and C library ───────────────────────────────────────────────────────────────────────────────────
    row(
        Kind::Loader,
        "LD_* LDR_*",
        "steers the dynamic loader: libraries to load first, where from, what to log",
    ),
    row(Kind::Loader, "DYLD_* LIBPATH SHLIB_PATH _RLD_*", "steers the dynamic loader of other systems"),
    row(
        Kind::Loader,
        "GCONV_PATH LOCPATH NLSPATH TZDIR GETCONF_DIR ICU_DATA",
        "the C library loads files, some of them code, from there",
    ),
    row(
        Kind::Loader,
        "\
         GLIBC_* MALLOC_* TCMALLOC_* JEMALLOC_* HEAPPROFILE CPUPROFILE MALLOCSTATS",
        "changes how memory is checked, or writes files named here",
    ),
    row(
        Kind::Loader,
        "\
         *SAN_OPTIONS LLVM_PROFILE_FILE GCOV_* GMON_OUT_PREFIX SEGFAULT_* PCPROFILE_OUTPUT SOTRUSS_*",
        "makes instrumented programs write files or load libraries",
    ),
    row(
        Kind::Loader,
        "\
         FAKEROOT* FAKECHROOT* QEMU_* PROOT_* COWBUILDER_* LIBFAKETIME* FAKETIME* NSS_WRAPPER_* \
         SOCKET_WRAPPER_*",
        "makes programs run under another one, with its libraries",
    ),
    // ── Network ────────────────────────────────────────────────────────────────────────────────────────────────
    row(
        Kind::Route,
        "\
         *_PROXY PROXY PROXY_* PROXYCHAINS_* TSOCKS_* TORSOCKS_* SOCKS* WEBPROXY",
        "only the sandbox says where the way out is; a proxy of the caller may hold a password",
    ),
    row(
        Kind::Route,
        "HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_* NSS_HOSTS NIS_* HESIOD_*",
        "makes a host name mean another host",
    ),
    row(
        Kind::Route,
        "\
         SSL_* *_CA_BUNDLE *_CA_CERTS *_CA_CERT *_CAINFO *_CAFILE *_CA_FILE *_CA_PATH *_CAPATH \
         *_CERT_FILE *_CERT_DIR *_SSL_CERT *_SSL_VERIFY *_SSL_NO_VERIFY *_TLS_VERIFY *_SKIP_VERIFY \
         SYSTEM_CERTIFICATE_PATH GRPC_* SSLKEYLOGFILE *_REJECT_UNAUTHORIZED REQUESTS_* HTTPLIB2_* \
         URLLIB3_*",
        "whom connections trust, or a file that their keys are written to",
    ),
    // ── Shells ─────────────────────────────────────────────────────────────────────────────────────────────────
    row(Kind::Startup, "BASH_FUNC_* __BASH_FUNC*", "a function that every bash defines on start"),
    row(
        Kind::Startup,
        "BASH_* BASH BASHOPTS SHELLOPTS POSIXLY_CORRECT",
        "a file that shells read on start, or options they start with",
    ),
    row(
        Kind::Startup,
        "\
         ENV ZDOTDIR FPATH MODULE_PATH ZSH ZSH_* ZSHENV FISH_* __FISH_* KSH_* KSHRC YASH_* INPUTRC NU_* \
         XONSH* ELVISH_*",
        "a file or a directory that shells read on start",
    ),
    row(
        Kind::Startup,
        "\
         PS0 PS1 PS2 PS3 PS4 PROMPT PROMPT2 PROMPT3 PROMPT4 RPROMPT RPS1 PROMPT_* PSVAR STARSHIP_* POSH_* \
         P9K_* POWERLEVEL9K_*",
        "prompts and traces run the commands in them",
    ),
    row(
        Kind::Startup,
        "\
         IFS CDPATH FIGNORE GLOBIGNORE EXECIGNORE NULLCMD READNULLCMD FUNCNEST CHILD_MAX",
        "changes what commands mean in a shell",
    ),
    row(
        Kind::Startup,
        "HIST* SAVEHIST MAIL MAILPATH MAILCHECK AUTO_RESUME COPROC PROFILEREAD",
        "files that shells read, write or announce",
    ),
    row(
        Kind::Startup,
        "\
         BATS_* SHUNIT_* COMP_* COMPREPLY FZF_* DIRENV_* MISE_* __MISE_* ASDF_* RTX_* ATUIN_* ZOXIDE_* \
         _ZO_* AUTOENV_* LMOD_* MODULEPATH MODULESHOME",
        "extensions of shells run what it says",
    ),
    // ── Version control ────────────────────────────────────────────────────────────────────────────────────────
    row(
        Kind::Git,
        "GIT_* GITK_* GITPERLLIB GCM_* GITLAB_HOST",
        "git runs programs, reads settings and finds its repository by these",
    ),
    row(
        Kind::Program,
        "\
         EDITOR VISUAL FCEDIT PAGER BROWSER TERMINAL OPENER *EDITOR *_PAGER *_BROWSER *_VISUAL MANPAGER \
         MANOPT MANPATH INFOPATH MANROFFOPT MANLESS",
        "names a program that others start",
    ),
    row(
        Kind::Code,
        "HG* CHGHG CVS* SVN_* BZR_* BRZ_* P4* JJ_* FOSSIL_* DARCS_*",
        "other version control runs programs or reads settings by these",
    ),
    // ── Directories in which tools were installed; before the rows of their prefixes ───────────────────────────────
    row(
        Kind::Program,
        "\
         JAVA_HOME JDK_HOME JRE_HOME ANDROID_HOME CARGO_HOME RUSTUP_HOME GOROOT GOPATH GOBIN GOCACHE \
         GOMODCACHE GOTMPDIR VIRTUAL_ENV CONDA_PREFIX NVM_DIR PNPM_HOME GEM_HOME CARGO_TARGET_DIR \
         MAVEN_HOME GRADLE_USER_HOME GRADLE_HOME DOTNET_ROOT CUDA_HOME XDG_CACHE_HOME",
        "a directory of programs or packages, elsewhere inside",
    ),
    // ── Interpreters and their package tools ───────────────────────────────────────────────────────────────────
    row(
        Kind::Code,
        "\
         PYTHON* PYENV_* IPYTHON* JUPYTER* PYPY* CONDA_* MAMBA_* VIRTUALENV_* __PYVENV_LAUNCHER__ \
         PYTEST_* TOX_* MPLCONFIGDIR MPLBACKEND MATPLOTLIBRC NUMBA_* COVERAGE_* SCRAPY_*",
        "Python loads modules from there or runs what it says",
    ),
    row(
        Kind::Code,
        "\
         PIP_* PIPX_* PIPENV_* UV_* POETRY_* PDM_* HATCH_* RYE_* FLIT_* TWINE_* EASY_INSTALL_* \
         DISTUTILS_* SETUPTOOLS_*",
        "where packages come from, or the password for it",
    ),
    row(Kind::Code, "PERL*", "Perl loads modules from there or runs what it says"),
    row(
        Kind::Code,
        "\
         RUBY* GEM_* BUNDLE_* BUNDLER_* RBENV_* RVM_* _RUBY_* RAKE* IRBRC PRYRC JRUBY_* TRUFFLERUBY* \
         BOOTSNAP_* RAILS_MASTER_KEY",
        "Ruby loads libraries from there or runs what it says",
    ),
    row(
        Kind::Code,
        "\
         NODE_* NPM_* NVM_* NPX_* YARN_* PNPM_* COREPACK_* BUN_* DENO_* TS_NODE_* TSX_* ELECTRON_* \
         VOLTA_* FNM_* N_PREFIX ESBUILD_* SWC_* BABEL_* JEST_* PUPPETEER_* PLAYWRIGHT_* CYPRESS_* \
         CHROME_* CHROMIUM_* NAPI_* PREBUILD_*",
        "JavaScript programs load code from there, or packages come from there",
    ),
    row(
        Kind::Code,
        "\
         JAVA_* _JAVA_* JDK_* JRE_* JVM_* CLASSPATH MAVEN_* M2_* MVN_* GRADLE_* ORG_GRADLE_* ANT_* SBT_* \
         IVY_* COURSIER_* SCALA_* KOTLIN_* GROOVY_* CLJ_* CLOJURE_* LEIN_* IBM_JAVA_* OPENJ9_* J2SDKDIR \
         CATALINA_* JETTY_* JBOSS_* SPARK_* HADOOP_* *_JAVA_OPTS *_JVM_OPTS JAVAWS_* SDKMAN_* JBANG_*",
        "Java loads agents and classes by these",
    ),
    row(
        Kind::Code,
        "\
         DOTNET_* CORECLR_* COR_* COMPLUS_* MONO_* NUGET* MSBUILD* ASPNETCORE_* POWERSHELL_* PSMODULEPATH \
         PSMODULE*",
        ".NET loads profilers, hooks and packages by these",
    ),
    row(
        Kind::Code,
        "\
         PHP* COMPOSER* XDEBUG_* LUA* TCL* EXPECT_* R_* RSCRIPT* RENV_* RSTUDIO_* JULIA_* GUILE_* ERL_* \
         ERLC_* ELIXIR_* IEX_* MIX_* HEX_* REBAR* ESCRIPT* OCAML* CAML* OPAM* DUNE_* GHC* HASKELL* \
         CABAL_* EMACSLOADPATH EMACSDATA EMACSPATH EMACSDOC PLT* RACKET* SBCL_* CHICKEN_* GAMBIT* SCHEME* \
         MATLAB* MLM_* OCTAVE_* DUB_* DMD* SWIFT* TOOLCHAINS DART_* FLUTTER_* CRYSTAL_* VFLAGS ZIG_* \
         AWKPATH AWKLIBPATH GAWK* FORTH* SWIPL* GPROLOG* RAKU* MOARVM* WASMTIME_* WASMER_* COBC* \
         COB_*",
        "an interpreter loads code from there or runs what it says",
    ),
    // ── Compilers and build tools ──────────────────────────────────────────────────────────────────────────────
    row(
        Kind::Code,
        "\
         RUSTC* RUSTDOC* RUSTFMT RUSTUP_* CARGO CARGO_* CLIPPY_* MIRI* SCCACHE_* CCACHE_* DISTCC_* ICECC* \
         CACHEPOT_* FASTBUILD_*",
        "compilers are replaced or wrapped by these",
    ),
    row(
        Kind::Code,
        "\
         GOENV GOROOT* GOTOOLDIR GOTOOLCHAIN GOPROXY GONOPROXY GONOSUMDB GONOSUMCHECK GOSUMDB GOINSECURE \
         GOPRIVATE GOVCS GOAUTH GODEBUG GOCACHEPROG GOEXPERIMENT GOCOVERDIR GO_EXTLINK_ENABLED \
         GO111MODULE GCCGO* GOWORK GOPACKAGESDRIVER",
        "Go fetches or runs programs by these",
    ),
    row(
        Kind::Code,
        "\
         GCC_* COMPILER_PATH COLLECT_* CLANG_* CCC_* LLVM_* DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES \
         QA_OVERRIDE_GCC3_OPTIONS NVCC_* CUDA_* HIP_* ROCM_*",
        "compilers find their parts there, or write files named here",
    ),
    row(
        Kind::Code,
        "\
         MAKEFILES MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKESHELL MAKEOVERRIDES CMAKE_* CTEST_* NINJA_* MESON* \
         SCONS* BAZEL* BUILDKITE_* BUCK* PKG_CONFIG* ACLOCAL* AUTOM4TE* AUTOCONF* AUTOMAKE* AUTOHEADER \
         M4* LIBTOOL* CONFIG_SITE CONFIG_SHELL DESTDIR NIX_* GUIX_* HOMEBREW_* CONAN_* VCPKG_* XMAKE_* \
         PREMAKE_* TURBO_* LERNA_* PANTS_* EARTHLY_* PRE_COMMIT* HUSKY* LEFTHOOK* OVERCOMMIT_*",
        "build tools run what it says, or reach the jobs of another one",
    ),
    row(
        Kind::Program,
        "\
         CC CXX CPP FC F77 LD AR AS NM RANLIB STRIP OBJCOPY OBJDUMP LEX YACC MAKE CC_* CXX_* AR_* HOSTCC \
         HOST_CC TARGET_CC CROSS_COMPILE",
        "names a program that a build runs",
    ),
    row(
        Kind::Program,
        "\
         CFLAGS* CXXFLAGS* CPPFLAGS* FFLAGS FCFLAGS LDFLAGS* LDLIBS LIBS ASFLAGS ARFLAGS YFLAGS RUSTFLAGS \
         GOFLAGS CGO_* CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH OBJC_INCLUDE_PATH INCLUDE LIB LIBRARY_PATH",
        "options of compilers load plugins and files",
    ),
    // ── Programs that other programs start ─────────────────────────────────────────────────────────────────────
    row(Kind::Code, "LESS* PERUSE*", "pagers run the commands in it, for every file shown"),
    row(
        Kind::Code,
        "\
         *_ASKPASS *_ASKPASS_REQUIRE *_RSH RSH *_SSH *_SSH_COMMAND SSH_SK_* RSYNC_* SCP_* SFTP_* BORG_* \
         RESTIC_* RCLONE_* DUPLICITY_*",
        "a program that is run to connect or to ask for a password",
    ),
    row(
        Kind::Code,
        "\
         VIMINIT GVIMINIT EXINIT NEXINIT MYVIMRC MYGVIMRC VIM VIMRUNTIME VIM_* NVIM_* NVIM NANORC \
         SCREENRC SYSSCREENRC SCREENDIR KAKOUNE_* HELIX_* EMACS_SERVER_FILE GDB* \
         LLDB_* STRACE_* LTRACE_* VALGRIND_*",
        "commands or a file of commands that an editor or a debugger runs",
    ),
    row(
        Kind::Code,
        "\
         TAR_OPTIONS TAPE UNZIP UNZIPOPT ZIP ZIPOPT ZIPINFO* GZIP BZIP BZIP2 XZ_* LZMA_* ZSTD_* LZOP \
         CPIO_* GREP_OPTIONS LS_OPTIONS DIFF_OPTIONS PATCH_* SIMPLE_BACKUP_SUFFIX VERSION_CONTROL ACK_* \
         ACKRC RIPGREP_CONFIG_PATH BAT_* DELTA_* EXA_* EZA_* JQ_* WGETRC SYSTEM_WGETRC CURL_* ARIA2_* \
         HTTPIE_* LYNX_* WWW_* LFTP_* MAGIC MAGICK_* GS_* GHOSTSCRIPT_* XML_CATALOG_FILES \
         SGML_CATALOG_FILES XMLLINT_* GROFF_* TROFF* TEXMF* TEXINPUTS* BIBINPUTS* BSTINPUTS* MFINPUTS \
         MPINPUTS TEXFONTS TEXEDIT MFEDIT LATEX* PANDOC_* GNUPLOT_* GNUTERM PARALLEL* XARGS_* \
         CRON_* SUDO_* DOAS_* PKEXEC_* MC_* RANGER_* NNN_* DIALOGRC SHELLCHECK_OPTS ANSIBLE_* PUPPET_* \
         CHEF_* SALT_* TF_* TERRAFORM_* TERRAGRUNT_* PACKER_* PULUMI_* HELM_* KUBECTL_* KUBE_* K9S_* SKAFFOLD_* \
         VAGRANT_* COMPOSE_* BUILDX_* BUILDAH_* APT_* DPKG_* DEBCONF_* RPM_* DNF_* PACMAN_* MAKEPKG_* \
         SNAP_* FLATPAK_* APPIMAGE* APPDIR",
        "a tool takes options from it, some of which run programs or name files of settings",
    ),
    row(
        Kind::Code,
        "TERMINFO* TERMCAP TERMPATH NCURSES_* SLANG_*",
        "descriptions of terminals are read from there",
    ),
    row(
        Kind::Code,
        "\
         OPENSSL_* GNUTLS_* NSS_* P11_KIT_* PKCS11_* SOFTHSM* LIBGCRYPT_* SASL_* LDAP* ODBC* PGSYSCONFDIR \
         PGSERVICE* PGOPTIONS MYSQL_* MARIADB_* SQLITE_* PSQLRC PSQL_* ORACLE_* TNS_ADMIN FREETDS* \
         MONGOSH_*",
        "cryptographic and database libraries load modules and settings by these",
    ),
    row(
        Kind::Code,
        "\
         GTK_* GTK2_* GTK3_* GDK_* GIO_* GI_* GSETTINGS_* GST_* GVFS_* QT_* QT4_* QT5_* QML* KDE* \
         FONTCONFIG_* VK_* VULKAN_* MESA_* EGL_* __EGL_* GBM_* __GL_* __GLX_* LIBGL_* LIBVA_* VDPAU_* \
         OCL_* OPENCL_* SDL_* ALSA_* LADSPA_* LV2_* FREI0R_* CUPS_* PRINTER SANE_* IBUS_* XMODIFIERS \
         IM_CONFIG_* WINE* PROTON_* STEAM_* ESPEAK_* ASPELL_* HUNSPELL_* ENCHANT_* GEGL_* BABL_* GIMP* \
         OMPI_* PMIX_* UCX_* I_MPI_* KMP_* HDF5_* GDAL_* PROJ_* NETCDF_*",
        "libraries load plugins by these",
    ),
    // ── Ways to the host ───────────────────────────────────────────────────────────────────────────────────────
    row(
        Kind::Handle,
        "\
         SSH_* SSH2_* GPG_* GNUPG* PINENTRY_* *_AUTH_SOCK *_AGENT_PID *_AGENT_INFO *_SOCK *_SOCKET \
         *_SOCKET_PATH GNOME_KEYRING_* KEYCHAIN_* KRB5* KRB_* GSS_* GSSAPI_* X509_* YUBI*",
        "gives access to an agent that signs for you (ssh, gpg), or to its tickets",
    ),
    row(
        Kind::Handle,
        "\
         DBUS_* DISPLAY *_DISPLAY XAUTHORITY ICEAUTHORITY SESSION_MANAGER WAYLAND_* SWAYSOCK I3SOCK \
         HYPRLAND_* NIRI_* XDG_RUNTIME_DIR XDG_SESSION_* XDG_SEAT* XDG_VTNR XDG_ACTIVATION_* \
         DESKTOP_STARTUP_ID AT_SPI_* GNOME_* GDMSESSION PULSE_* PIPEWIRE_* JACK_* WINDOWID WINDOWPATH \
         XPRA_* VNC*",
        "the desktop of the person: keys, screen and services",
    ),
    row(Kind::Handle, "XDG_*", "directories of the person that are not inside; the private home has its own"),
    row(
        Kind::Handle,
        "\
         TMUX TMUX_* STY ZELLIJ* BYOBU_* DVTM* ABDUCO_* KITTY_* WEZTERM_* ALACRITTY_* GHOSTTY_* \
         ITERM_* TERM_SESSION_ID KONSOLE_* VTE_* TILIX_* TERMINATOR_* WT_* CONEMU* SHELL_SESSION_* \
         SECURITYSESSIONID VSCODE_* WINDSURF_* ZED_* INTELLIJ_* JETBRAINS_* IDEA_* PYCHARM_* NEOVIM_* \
         SUBLIME_* TERMINAL_EMULATOR LC_TERMINAL* CLAUDE_CODE_SSE_PORT",
        "the terminal or the editor that the caller sits in takes commands there",
    ),
    row(
        Kind::Handle,
        "\
         DOCKER_* CONTAINER_* CONTAINERD_* CONTAINERS_* PODMAN_* BUILDKIT_* CRI_* NERDCTL_* LXC_* LXD_* \
         INCUS_* LIBVIRT_* VIRSH_* TESTCONTAINERS_* REGISTRY_* KUBERNETES_* NOMAD_* CONSUL_* ETCDCTL_* \
         DBX_* TOOLBOX_* DISTROBOX_*",
        "a service that starts containers on the host, or its cluster",
    ),
    row(
        Kind::Handle,
        "\
         LISTEN_* WATCHDOG_* MAINPID MANAGERPID INVOCATION_ID JOURNAL_STREAM SYSTEMD_* \
         MONITOR_* PIDFILE FDSTORE* UPSTART_* S6_* SUPERVISOR_* PM2_* WSL* JOB_SERVER* \
         CODESPACE* GITPOD_* REMOTE_CONTAINERS* SELENIUM_* WDB_* ADB_* USBMUXD_*",
        "descriptors, sockets and files of a service that started the caller",
    ),
    row(
        Kind::Handle,
        "\
         GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_EVENT_PATH GITEA_* \
         FORGEJO_* ACTIONS_* RUNNER_* CI_* CIRCLE_* TRAVIS_* JENKINS_* HUDSON_* TEAMCITY_* BITBUCKET_* \
         DRONE_* SEMAPHORE_* APPVEYOR_* SYSTEM_ACCESSTOKEN VSS_* WOODPECKER_*",
        "files and services by which a build step steers the following ones",
    ),
    // ── Secrets by name ────────────────────────────────────────────────────────────────────────────────────────
    row(
        Kind::Secret,
        "\
         AWS_* AMAZON_* AZURE_* ARM_* MSI_* IDENTITY_* IMDS_* GOOGLE_* GCP_* GCLOUD_* CLOUDSDK_* GAE_* \
         FIREBASE_* BOTO_* S3_* S3CFG OCI_* IBMCLOUD_* ALICLOUD_* ALIBABA_* TENCENTCLOUD_* HCLOUD_* \
         LINODE_* SCW_* DIGITALOCEAN_* CLOUDFLARE_* CF_* FASTLY_* FLY_* HEROKU_* NETLIFY_* VERCEL_* \
         RAILWAY_* SUPABASE_* PLANETSCALE_* MINIO_* B2_* OVH_* VULTR_* ECS_* EKS_* FARGATE_* CDK_*",
        "an account of a cloud: its keys, its profiles, where they are kept",
    ),
    row(
        Kind::Secret,
        "\
         VAULT_* BAO_* OP_* BW_* BWS_* LPASS_* DOPPLER_* INFISICAL_* SOPS_* AGE_* KEEPASS* PASS_* \
         PASSAGE_* CHAMBER_* TELEPORT_* TSH_* BOUNDARY_* CYBERARK_* CONJUR_* AKEYLESS_* SECRETHUB_* \
         DOTENV_*",
        "a store of secrets",
    ),
    row(
        Kind::Secret,
        "\
         PGPASSFILE PGUSER PGHOST* PGSSL* NETRC *_NETRC KUBECONFIG GH_* GITHUB_* GLAB_* \
         GITLAB_* HF_* HUGGING* WANDB_* KAGGLE_* COMET_* NEPTUNE_* SENTRY_* DATADOG_* NEW_RELIC_* \
         HONEYCOMB_* OTEL_EXPORTER_* TWILIO_* SENDGRID_* MAILGUN_* STRIPE_* PAYPAL_* SLACK_* DISCORD_* \
         TELEGRAM_* JIRA_* CONFLUENCE_* ATLASSIAN_* NOTION_* AIRTABLE_* SNOWFLAKE_* DATABRICKS_* \
         BIGQUERY_* SNYK_* SONAR_* CODECOV_* COVERALLS_* ARTIFACTORY_* JFROG_* NEXUS_* OKTA_* AUTH0_* \
         CLERK_* PLAID_* SHOPIFY_* ALGOLIA_* PINECONE_* WEAVIATE_* QDRANT_* NGROK_* TAILSCALE_* \
         TS_AUTHKEY WG_* ENCFS* LUKS_* SMTP_* IMAP_* MAIL_* FTP_* WEB3_* INFURA_* ETHERSCAN_*",
        "an account of a service: its tokens, or where they are kept",
    ),
];

/// Names that a row above or a word below would catch, and that hold a plain setting. They enter when asked for.
pub(super) const HARMLESS: &[(&str, &str)] = &[
    ("AWS_DEFAULT_REGION", "a place"),
    ("AWS_REGION", "a place"),
    ("CARGO_INCREMENTAL", "a switch"),
    ("CARGO_NET_OFFLINE", "a switch"),
    ("CARGO_TERM_COLOR", COLOUR),
    ("DOTNET_CLI_TELEMETRY_OPTOUT", "a switch"),
    ("DOTNET_NOLOGO", "a switch"),
    ("GIT_TERMINAL_PROMPT", "whether git may ask"),
    ("GOOGLE_CLOUD_LOCATION", "a place"),
    ("GOOGLE_CLOUD_PROJECT", "a name"),
    ("HF_HUB_OFFLINE", "a switch"),
    ("NODE_ENV", "development or production"),
    ("NODE_NO_WARNINGS", "a switch"),
    ("NPM_CONFIG_AUDIT", "a switch"),
    ("NPM_CONFIG_FUND", "a switch"),
    ("NPM_CONFIG_OFFLINE", "a switch"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "a switch"),
    ("PIP_NO_INPUT", "a switch"),
    ("PYTHONDONTWRITEBYTECODE", "a switch"),
    ("PYTHONFAULTHANDLER", "a switch"),
    ("PYTHONHASHSEED", "a number"),
    ("PYTHONIOENCODING", "an encoding"),
    ("PYTHONNOUSERSITE", "a switch"),
    ("PYTHONUNBUFFERED", "a switch"),
    ("PYTHONUTF8", "a switch"),
    ("UV_OFFLINE", "a switch"),
];

/// Whole words of names whose values are secrets.
pub(super) const WORDS: &[(&str, &str)] = &[
    ("AUTH", "a way to sign in"),
    ("AUTHORIZATION", "a way to sign in"),
    ("OAUTH", "a way to sign in"),
    ("BASICAUTH", "a way to sign in"),
    ("PASS", "a password"),
    ("PWD", "a password, unless it is the working directory"),
    ("PW", "a password"),
    ("PIN", "a password of digits"),
    ("OTP", "a password for one use"),
    ("TOTP", "what passwords for one use are made from"),
    ("MFA", "a second factor"),
    ("COOKIE", "a session"),
    ("COOKIES", "a session"),
    ("SESSION", "a session"),
    ("SESSIONID", "a session"),
    ("SID", "a session"),
    ("CSRF", "a session"),
    ("JWT", "a signed token"),
    ("BEARER", "a token"),
    ("PAT", "a personal access token"),
    ("SAS", "a signed address"),
    ("CRED", "a credential"),
    ("CREDS", "a credential"),
    ("CERT", "a certificate, usually with its key"),
    ("PEM", "a key or a certificate"),
    ("PFX", "a key with its certificate"),
    ("PKCS", "a key with its certificate"),
    ("KEYFILE", "where a key is kept"),
    ("KEYRING", "where keys are kept"),
    ("KEYSTORE", "where keys are kept"),
    ("KEYTAB", "where keys are kept"),
    ("DSN", "the address of a store with its password"),
    ("CONNSTR", "the address of a store with its password"),
    ("WEBHOOK", "an address that is a secret itself"),
    ("WEBHOOKS", "an address that is a secret itself"),
    ("MNEMONIC", "the words of a wallet"),
    ("WALLET", "a wallet"),
    ("SALT", "what hashes are protected by"),
    ("PEPPER", "what hashes are protected by"),
    ("HMAC", "what signatures are made from"),
];

/// Parts that make a word a secret at any position in it: `PGPASSWORD`, `npmtoken`.
pub(super) const PARTS: &[(&str, &str)] = &[
    ("TOKEN", "a token"),
    ("SECRET", "a secret"),
    ("PASSWORD", "a password"),
    ("PASSWD", "a password"),
    ("PASSPHRASE", "a password"),
    ("PASSCODE", "a password"),
    ("PASSFILE", "where a password is kept"),
    ("SSHPASS", "a password"),
    ("USERPASS", "a password"),
    ("CREDENTIAL", "a credential"),
    ("APIKEY", "a key of a service"),
    ("ACCESSKEY", "a key of a service"),
    ("AUTHKEY", "a key of a service"),
    ("ACCOUNTKEY", "a key of a service"),
    ("MASTERKEY", "the key to other keys"),
    ("PRIVATEKEY", "a private key"),
    ("PRIVKEY", "a private key"),
    ("SIGNKEY", "a private key"),
    ("SIGNINGKEY", "a private key"),
    ("ENCRYPTIONKEY", "a private key"),
    ("SSHKEY", "a private key"),
    ("GPGKEY", "a private key"),
    ("DEPLOYKEY", "a private key"),
    ("HOSTKEY", "a private key"),
    ("DATABASEURL", "the address of a store with its password"),
    ("CONNECTIONSTRING", "the address of a store with its password"),
];

/// Two words beside each other that make a secret together.
pub(super) const PAIRS: &[(&str, &str, &str)] = &[
    ("CONNECTION", "STRING", "the address of a store with its password"),
    ("CONN", "STR", "the address of a store with its password"),
    ("CONN", "STRING", "the address of a store with its password"),
    ("SEED", "PHRASE", "the words of a wallet"),
    ("RECOVERY", "PHRASE", "the words of a wallet"),
    ("RECOVERY", "CODE", "a password for one use"),
    ("RECOVERY", "CODES", "a password for one use"),
    ("PASS", "WORD", "a password"),
    ("PASS", "PHRASE", "a password"),
    ("SERVICE", "ACCOUNT", "an account of a service with its key"),
    ("ID", "RSA", "a private key"),
    ("RESULT", "BACKEND", "the address of a store with its password"),
];

/// Words before `KEY` with which the key is no secret.
pub(super) const OPEN_KEYS: &[&str] =
    &["PUBLIC", "PRIMARY", "FOREIGN", "SORT", "PARTITION", "CACHE", "PUBLISHABLE"];

/// Words that hold one of the parts above and mean something else.
pub(super) const LOOK_ALIKES: &[&str] = &["TOKENIZ", "TOKENIS", "DETOKENIZ", "SECRETAR"];

/// Words beside which `TOKENS` are counted, not presented.
pub(super) const COUNTS: &[&str] = &["MAX", "MIN", "NUM", "COUNT", "LIMIT", "BUDGET", "TOTAL"];

/// Stores whose address usually holds a password.
pub(super) const STORES: &str = "\
    DATABASE DATABASES DB SQL JDBC ODBC SQLALCHEMY POSTGRES POSTGRESQL PG MYSQL MARIADB MSSQL \
    SQLSERVER ORACLE COCKROACH COCKROACHDB CLICKHOUSE SNOWFLAKE REDSHIFT REDIS REDISCLOUD VALKEY KV \
    CACHE MEMCACHED MEMCACHIER MONGO MONGODB COUCHDB CASSANDRA SCYLLA NEO INFLUX INFLUXDB ELASTIC \
    ELASTICSEARCH OPENSEARCH SOLR BONSAI AMQP CLOUDAMQP RABBIT RABBITMQ KAFKA NATS MQTT STOMP PULSAR \
    BROKER CELERY SMTP MAIL MAILER EMAIL IMAP FTP SFTP LDAP STORAGE BUCKET CLOUDINARY PRISMA TURSO \
    NEON SUPABASE REGISTRY";

/// Returns true if a variable of the caller passes without being asked for.
pub(super) fn passes(name: &OsStr, value: &OsStr) -> bool {
    PASS.iter().any(|row| name == row.name && row.holds.fits(value.as_encoded_bytes()))
}

impl Holds {
    fn fits(self, value: &[u8]) -> bool {
        let text = !value.iter().any(u8::is_ascii_control);
        text && match self {
            Self::Text => true,
            Self::Name => !value.contains(&b'/'),
            Self::Zone => !value.windows(2).any(|two| two == b".."),
        }
    }
}

/// Why the sandbox sets a variable, if it does.
pub(super) fn own(name: &OsStr) -> Option<&'static str> {
    OWN.iter().find(|(own, _)| name == *own).map(|(_, reason)| *reason)
}

/// Returns true if a name holds a plain setting although its neighbours do not.
pub(super) fn harmless(name: &str) -> bool {
    let known = HARMLESS.iter().any(|(harmless, _)| name.eq_ignore_ascii_case(harmless));
    known || PASS.iter().any(|row| row.name == name)
}

/// Why a name never enters, if a row says so.
pub(super) fn never(name: &str) -> Option<(Kind, &'static str)> {
    let name = name.to_ascii_uppercase();
    let row = NEVER.iter().find(|row| row.names.split(' ').any(|pattern| matches(pattern, &name)))?;
    Some((row.kind, row.reason))
}

fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(suffix), _) => name.ends_with(suffix),
        (None, Some(prefix)) => name.starts_with(prefix),
        (None, None) => pattern == name,
    }
}
