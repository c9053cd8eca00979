//! Tests of what enters a jail by way of its environment.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use proptest::prelude::*;
use ringfence_jail::environment::{Kind, Place, Refused, Wanted, inside};

const VISIBLE: &[&str] = &["/usr", "/bin", "/sbin", "/opt/tools", "/home/ann/.cargo/bin"];

fn enter(outside: &[(OsString, OsString)], wanted: &[Wanted]) -> Result<Vec<(OsString, OsString)>, Refused> {
    let visible = VISIBLE.iter().map(Path::new).collect::<Vec<_>>();
    let place = Place {
        home: Path::new("/home/ann"),
        workspace: Path::new("/home/ann/shop"),
        cwd: Path::new("/home/ann/shop/api"),
        user: OsStr::new("ann"),
        shell: Path::new("/bin/bash"),
        tmp: Path::new("/tmp"),
        visible: &visible,
    };
    inside(outside, wanted, &place)
}

fn pairs(rows: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    rows.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn wanted(text: &str) -> Wanted {
    Wanted::parse(OsStr::new(text))
}

/// The value inside of a variable that the caller has, without asking for it.
fn passed(name: &str, value: &str) -> Option<String> {
    found(&enter(&pairs(&[(name, value)]), &[]).unwrap(), name)
}

/// The same, asked for as on a command line.
fn asked(outside: &[(&str, &str)], text: &str) -> Result<Option<String>, Kind> {
    let one = wanted(text);
    let name = one.name.to_str().unwrap().to_owned();
    let inside = enter(&pairs(outside), &[one]).map_err(|refused| refused.kind)?;
    Ok(found(&inside, &name))
}

fn found(inside: &[(OsString, OsString)], name: &str) -> Option<String> {
    inside.iter().find(|(known, _)| known == name).map(|(_, value)| value.to_str().unwrap().to_owned())
}

#[test]
fn the_vectors_hold() {
    let rows = include_str!("vectors/env.jsonl").lines();
    let rows = rows.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()).collect::<Vec<_>>();
    assert!(rows.len() > 90);
    for row in rows {
        let (name, verdict) = (row["name"].as_str().unwrap(), row["verdict"].as_str().unwrap());
        let canary = "canary-of-the-caller";
        let by_default = passed(name, canary);
        let by_name = asked(&[(name, canary)], name);
        match verdict {
            "keep" => assert!(by_default.is_some() && by_name == Ok(by_default), "{row}"),
            "strip" | "set-by-sandbox" => {
                assert_ne!(by_default.as_deref(), Some(canary), "{row}");
                assert_ne!(by_name, Ok(Some(canary.to_owned())), "{row}");
            }
            other => panic!("unknown verdict {other}"),
        }
    }
}

#[test]
fn an_ordinary_environment_becomes_this() {
    let outside = pairs(&[
        ("SHELL", "/usr/bin/zsh"),
        ("SESSION_MANAGER", "local/host:@/tmp/.ICE-unix/2101"),
        ("COLORTERM", "truecolor"),
        ("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"),
        ("EDITOR", "code --wait"),
        ("PWD", "/home/ann/shop"),
        ("HOME", "/home/ann"),
        ("LANG", "de_DE.UTF-8"),
        ("LC_TIME", "en_DK.UTF-8"),
        ("LS_COLORS", "rs=0:di=01;34"),
        ("NVM_DIR", "/home/ann/.nvm"),
        ("TERM", "xterm-256color"),
        ("USER", "ann"),
        ("DISPLAY", ":0"),
        ("SHLVL", "3"),
        ("OLDPWD", "/home/ann"),
        ("TZ", "Europe/Berlin"),
        ("OPENAI_API_KEY", "sk-proj-abcdefghijklmnopqrstuvwxyz"),
        ("GITHUB_TOKEN", "ghp_abcdefghijklmnopqrstuvwxyz"),
        ("HTTPS_PROXY", "http://ann:pw@proxy:3128"),
        ("LD_PRELOAD", "/home/ann/lib/hook.so"),
        ("PYTHONSTARTUP", "/home/ann/.pythonrc"),
        (
            "PATH",
            "/home/ann/shop/node_modules/.bin:/home/ann/.local/bin:/home/ann/.cargo/bin:.:/usr/bin:/bin:/usr/bin/",
        ),
        ("BASH_FUNC_ls%%", "() {  evil; }"),
        ("_", "/usr/bin/env"),
    ]);
    let inside =
        enter(&outside, &[wanted("PYTHONUNBUFFERED=1"), wanted("DEBUG=app:*"), wanted("LS_COLORS")]).unwrap();
    let lines = inside.iter().map(|(name, value)| format!("{}={}", name.display(), value.display()));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    COLORTERM=truecolor
    DEBUG=app:*
    GIT_CONFIG_COUNT=1
    GIT_CONFIG_KEY_0=core.trustctime
    GIT_CONFIG_VALUE_0=false
    HOME=/home/ann
    LANG=de_DE.UTF-8
    LC_TIME=en_DK.UTF-8
    LOGNAME=ann
    LS_COLORS=rs=0:di=01;34
    PATH=/home/ann/.cargo/bin:/usr/bin:/bin
    PWD=/home/ann/shop/api
    PYTHONUNBUFFERED=1
    RINGFENCE=1
    SHELL=/bin/bash
    SHLVL=1
    TERM=xterm-256color
    TMPDIR=/tmp
    TZ=Europe/Berlin
    USER=ann
    ");
}

#[test]
fn a_refusal_reads_well() {
    let texts = [
        "LD_PRELOAD",
        "GH_TOKEN",
        "HOME=/root",
        "PATH=/usr/bin:bin",
        "CC",
        "a\u{1b}[2Jb=1",
        "NOTE",
        "https_proxy",
    ];
    let lines = texts.map(|text| {
        let refused = enter(&pairs(&[("CC", "gcc"), ("NOTE", "ghp_0123456789abcdefghij")]), &[wanted(text)])
            .unwrap_err();
        format!("{refused}\n  {}: {}", refused.kind.word(), refused.hint())
    });
    insta::assert_snapshot!(lines.join("\n"), @r"
    the variable `LD_PRELOAD` is not passed in: steers the dynamic loader: libraries to load first, where from, what to log
      loader: write the value out, as NAME=VALUE, if it is meant
    the variable `GH_TOKEN` is not passed in: an account of a service: its tokens, or where they are kept
      secret: everything that runs inside could read it and pass it on; if that is meant, write the value out: NAME=VALUE
    the variable `HOME` is set by the sandbox: the private home directory
      own: leave it out; to search a directory of programs, show it with --read
    the variable `PATH` is set by the sandbox: the caller's, without what is not seen inside or can be filled by the agent
      own: leave it out; to search a directory of programs, show it with --read
    the variable `CC` is not passed in: names a program that a build runs
      program: write the value out, as NAME=VALUE, if it is meant
    the variable `a\u{1b}[2Jb` is not passed in: not a name: letters, digits and `_`, no digit first
      malformed: use NAME or NAME=VALUE, with a name that a shell could set
    the variable `NOTE` is not passed in: a token of a code host
      secret: everything that runs inside could read it and pass it on; if that is meant, write the value out: NAME=VALUE
    the variable `https_proxy` is not passed in: only the sandbox says where the way out is; a proxy of the caller may hold a password
      route: the way out is chosen by the network setting; to set it all the same, write the value out: NAME=VALUE
    ");
}

#[test]
fn what_is_asked_for_enters_unless_it_never_does() {
    let outside = [
        ("CC", "/home/ann/cc"),
        ("MODE", "fast"),
        ("NUMBER", "7"),
        ("KEYBOARD", "us"),
        ("LANG", "C"),
        ("EMPTY", ""),
        ("API_TOKENS", "x"),
    ];
    let some = |value: &str| Ok(Some(value.to_owned()));
    let rows: &[(&str, Result<Option<String>, Kind>)] = &[
        ("MODE", some("fast")),
        ("MODE=slow", some("slow")),
        ("MODE=", some("")),
        ("MODE=a=b", some("a=b")),
        ("EMPTY", some("")),
        ("ABSENT", Ok(None)),
        ("KEYBOARD", some("us")),
        ("LANG=de_DE.UTF-8", some("de_DE.UTF-8")),
        ("CC", Err(Kind::Program)),
        ("CC=clang", some("clang")),
        ("EDITOR=vi", some("vi")),
        ("HOME", some("/home/ann")),
        ("HOME=/root", Err(Kind::Own)),
        ("USER=root", Err(Kind::Own)),
        ("RINGFENCE=0", Err(Kind::Own)),
        ("TMPDIR=/home/ann/shop", Err(Kind::Own)),
        ("SHLVL=0", Err(Kind::Own)),
        ("OLDPWD", Ok(None)),
        ("OLDPWD=/", Err(Kind::Own)),
        ("=x", Err(Kind::Malformed)),
        ("", Err(Kind::Malformed)),
        ("1ST=x", Err(Kind::Malformed)),
        ("A B=x", Err(Kind::Malformed)),
        ("A-B=x", Err(Kind::Malformed)),
        ("BASH_FUNC_ls%%=() { x; }", Err(Kind::Malformed)),
        ("BASH_FUNC_ls=x", some("x")),
        ("X=() { :; }; echo own", some("() { :; }; echo own")),
        ("X=a\0b", Err(Kind::Malformed)),
        ("X\0Y=a", Err(Kind::Malformed)),
        ("NODE_ENV=test", some("test")),
        ("NODE_OPTIONS=--require ./x.js", some("--require ./x.js")),
        ("PYTHONPATH=src", some("src")),
        ("TOKEN_COUNT=5", some("5")),
        ("DATABASE_URL=postgres://a:b@db/x", some("postgres://a:b@db/x")),
        ("LD_PRELOAD=x", some("x")),
        ("HTTP_PROXY=http://127.0.0.1:3128", some("http://127.0.0.1:3128")),
        ("TOKENIZERS_PARALLELISM=false", some("false")),
        ("MAX_THINKING_TOKENS=4096", some("4096")),
        ("API_TOKENS", Err(Kind::Secret)),
        ("TOKEN_COUNT", Err(Kind::Secret)),
    ];
    for (text, expected) in rows {
        assert_eq!(&asked(&outside, text), expected, "{text:?}");
    }
}

/// Names of one kind, from many worlds. None enters by its name, and each with a value that is written out.
#[test]
fn these_never_enter() {
    let rows: &[(Kind, &str)] = &[
        (
            Kind::Loader,
            "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_BIND_NOW LD_ORIGIN_PATH LD_SHOW_AUXV LD_PREFER_MAP_32BIT_EXEC \
          DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH GCONV_PATH GLIBC_TUNABLES LOCPATH NLSPATH MALLOC_TRACE MALLOC_CHECK_ TZDIR \
          ASAN_OPTIONS LLVM_PROFILE_FILE LIBPATH",
        ),
        (
            Kind::Startup,
            "BASH_ENV ENV SHELLOPTS BASHOPTS BASH_XTRACEFD BASH_LOADABLES_PATH PS1 PS4 PROMPT_COMMAND IFS CDPATH \
          FIGNORE GLOBIGNORE EXECIGNORE HISTFILE HISTCONTROL ZDOTDIR FPATH INPUTRC MAILPATH FZF_DEFAULT_COMMAND DIRENV_DIFF \
          fish_user_paths",
        ),
        (
            Kind::Code,
            "PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONEXECUTABLE PERL5LIB PERL5OPT PERL5DB PERL_MM_OPT PERLLIB \
          RUBYOPT RUBYLIB GEM_PATH BUNDLE_GEMFILE NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE npm_config_prefix \
          npm_config_node_options NPM_CONFIG_SCRIPT_SHELL YARN_RC_FILENAME DENO_DIR JAVA_TOOL_OPTIONS _JAVA_OPTIONS \
          JDK_JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS DOTNET_STARTUP_HOOKS CORECLR_PROFILER COR_PROFILER \
          COMPlus_EnableDiagnostics PHPRC PHP_INI_SCAN_DIR COMPOSER_HOME LUA_INIT LUA_PATH LUA_CPATH_5_4 TCLLIBPATH \
          R_PROFILE R_ENVIRON R_LIBS JULIA_LOAD_PATH JULIA_DEPOT_PATH GUILE_LOAD_PATH ERL_FLAGS ERL_LIBS OCAMLPATH \
          GHCRTS EMACSLOADPATH AWKPATH RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC \
          CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER GOTOOLCHAIN GOENV GOCACHEPROG MAKEFLAGS MAKEFILES GNUMAKEFLAGS \
          CMAKE_TOOLCHAIN_FILE PKG_CONFIG_PATH GCC_EXEC_PREFIX COMPILER_PATH LESS LESSOPEN LESSCLOSE LESSKEY SUDO_ASKPASS \
          RSYNC_RSH CVS_RSH SVN_SSH HGRCPATH VIMINIT EXINIT TAR_OPTIONS UNZIP ZIPOPT GREP_OPTIONS \
          RIPGREP_CONFIG_PATH WGETRC CURL_HOME TERMINFO TERMINFO_DIRS TERMCAP OPENSSL_CONF OPENSSL_MODULES \
          OPENSSL_ENGINES GTK_MODULES GTK_PATH GIO_EXTRA_MODULES QT_PLUGIN_PATH VK_LAYER_PATH TEXMFHOME TEXINPUTS \
          ANSIBLE_CONFIG TF_CLI_CONFIG_FILE PIP_INDEX_URL PIP_CONFIG_FILE UV_INDEX_URL",
        ),
        (
            Kind::Git,
            "GIT_ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_DIR \
          GIT_WORK_TREE GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_PARAMETERS GIT_CONFIG_GLOBAL GIT_TEMPLATE_DIR \
          GIT_ATTR_NOSYSTEM GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_TRACE",
        ),
        (
            Kind::Route,
            "HTTP_PROXY http_proxy HTTPS_PROXY ALL_PROXY no_proxy FTP_PROXY RSYNC_PROXY HOSTALIASES LOCALDOMAIN RES_OPTIONS \
          SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE SSLKEYLOGFILE GIT_SSL_NO_VERIFY NODE_EXTRA_CA_CERTS",
        ),
        (
            Kind::Handle,
            "SSH_AUTH_SOCK SSH_AGENT_PID SSH_CONNECTION GPG_AGENT_INFO GNUPGHOME DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY \
          XAUTHORITY XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_DIRS TMUX TMUX_PANE STY ZELLIJ KITTY_LISTEN_ON VSCODE_IPC_HOOK_CLI \
          DOCKER_HOST DOCKER_CONFIG CONTAINER_HOST KRB5CCNAME LISTEN_FDS NOTIFY_SOCKET JOURNAL_STREAM WSL_INTEROP \
          I3SOCK SWAYSOCK PULSE_SERVER PIPEWIRE_REMOTE GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT ACTIONS_RUNTIME_TOKEN \
          CI_JOB_TOKEN KUBERNETES_SERVICE_HOST LC_TERMINAL",
        ),
        (
            Kind::Secret,
            "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_PROFILE AZURE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS GH_TOKEN \
          GITHUB_TOKEN GITLAB_PRIVATE_TOKEN OPENAI_API_KEY ANTHROPIC_API_KEY MISTRAL_APIKEY geminiApiKey DB_PASSWORD \
          PGPASSWORD SSHPASS MY_PASS ROOT_PW SOME_PWD LDAP_BIND_PASSWORD_FILE WIFI_PASSPHRASE DATABASE_URL REDIS_URL MONGODB_URI APP_DSN \
          SECRET_KEY_BASE JWT_SIGNING_KEY SESSION_COOKIE BASIC_AUTH OAUTH2_CLIENT X_COOKIE LC_MY_TOKEN TOKEN TOKEN2 mytoken dbAuth signKey \
          SERVICE_CREDS STORAGE_CONNECTION_STRING GITHUB_PAT TEAM_WEBHOOK_URL WALLET_MNEMONIC VAULT_ADDR NETRC \
          DEPLOY_KEY ENCRYPTION_KEYS APP_KEY TLS_PEM",
        ),
        (
            Kind::Program,
            "EDITOR VISUAL PAGER MANPAGER BROWSER KUBE_EDITOR CC CXX LD CFLAGS LDFLAGS RUSTFLAGS GOFLAGS JAVA_HOME CPATH LIBRARY_PATH",
        ),
    ];
    for (kind, name) in
        rows.iter().flat_map(|(kind, names)| names.split_whitespace().map(move |name| (*kind, name)))
    {
        // One that is set inside has the sandbox's value.
        assert_ne!(passed(name, "x").as_deref(), Some("x"), "{name}");
        let by_name = asked(&[(name, "x")], name).expect_err(name);
        assert!(by_name == kind || kind == Kind::Secret, "{name}: {by_name:?}");
        let written_out = asked(&[], &format!("{name}=x"));
        // Settings of git are counted, and the sandbox adds one.
        if !name.starts_with("GIT_CONFIG_") || name == "GIT_CONFIG_GLOBAL" {
            assert_eq!(written_out, Ok(Some("x".to_owned())), "{name}");
        }
    }
}

#[test]
fn these_are_not_taken_for_secrets() {
    let names = "AUTHOR AUTHORITY KEYBOARD KEYMAP MONKEY TOKENIZER SECRETARY PASSENGER COMPASS BYPASS KEYNOTE PUBLIC_KEY \
        DEBUG RUST_LOG RUST_BACKTRACE LOG_LEVEL PORT HOST TEST_MODE APP_ENV FEATURE_FLAGS DEBIAN_FRONTEND \
        API_URL BASE_URL SOURCE_DATE_EPOCH LS_COLORS OMP_NUM_THREADS";
    for name in names.split_whitespace() {
        assert_eq!(asked(&[(name, "x")], name), Ok(Some("x".to_owned())), "{name}");
    }
}

#[test]
fn a_secret_under_another_name_stays_outside() {
    let rows = [
        "ghp_0123456789abcdefghij",
        "github_pat_0123456789abcdefghij",
        "sk-ant-api03-0123456789abcdef",
        "sk-0123456789abcdefghij",
        "AKIA0123456789ABCDEF",
        "xoxb-0123456789",
        // Forms that only the ledger knew.
        "xoxe-0123456789",
        "sk-ant-0123456789abcdef",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        " Bearer 0123456789",
        "postgres://app:hunter2@db/shop",
        "x https://ann:pw@host/ y",
        "redis://:pw@host",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    ];
    for value in rows {
        assert_eq!(asked(&[("NOTE", value)], "NOTE"), Err(Kind::Secret), "{value}");
        assert_eq!(asked(&[], &format!("NOTE={value}")), Ok(Some(value.to_owned())), "{value}");
        assert_eq!(passed("NO_COLOR", value), None, "{value}");
    }
    for value in [
        "https://host/a@b:c",
        "ssh://git@host/x",
        "http://host:80/",
        "sk-learn",
        "a:b@c",
        "Basic",
        "https://a:@b/",
    ] {
        assert_eq!(asked(&[("NOTE", value)], "NOTE"), Ok(Some(value.to_owned())), "{value}");
    }
}

#[test]
fn values_that_lead_to_files_do_not_pass() {
    let rows = [
        ("LANG", "/home/ann/shop/locale"),
        ("LC_ALL", "../../x"),
        ("TERM", "../../../home/ann/x"),
        ("TZ", ":../../x"),
        ("LANG", "C\nX"),
        ("NO_COLOR", "\u{1b}[2J"),
        ("CI", "() { :; }"),
        ("TERM", "a\0b"),
    ];
    for (name, value) in rows {
        assert_eq!(passed(name, value), None, "{name}={value:?}");
    }
    for (name, value) in [
        ("LANGUAGE", "de:en"),
        ("LC_ALL", "de_DE.UTF-8@euro"),
        ("TZ", ":Europe/Berlin"),
        ("TZ", "<+03>-3"),
        ("NO_COLOR", ""),
    ] {
        assert_eq!(passed(name, value).as_deref(), Some(value), "{name}");
    }
}

#[test]
fn the_search_path_leads_only_to_what_is_seen() {
    const FALLBACK: &str = "/usr/local/bin:/usr/bin:/bin";
    let rows = [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        ("/bin:/usr/bin", "/bin:/usr/bin"),
        ("", FALLBACK),
        (":", FALLBACK),
        (".:bin:./bin:../bin", FALLBACK),
        ("/usr/bin::/bin:", "/usr/bin:/bin"),
        ("/usr/bin:/usr/bin/:/usr//bin:/bin", "/usr/bin:/bin"),
        ("/usr/../home/ann/shop:/bin", "/bin"),
        ("/usr/./bin:/bin", "/bin"),
        ("/home/ann/shop/bin:/usr/bin", "/usr/bin"),
        ("/home/ann/shop:/usr/bin", "/usr/bin"),
        ("/home/ann/bin:/home/ann/.local/bin:/usr/bin", "/usr/bin"),
        ("/home/ann/.cargo/bin:/usr/bin", "/home/ann/.cargo/bin:/usr/bin"),
        ("/tmp/x:/usr/bin", "/usr/bin"),
        ("/srv/bin:/usrlocal/bin:/usr/local/bin", "/usr/local/bin"),
        ("/opt/tools/x:/opt/other:/bin", "/opt/tools/x:/bin"),
        ("~/bin:$HOME/bin:/bin", "/bin"),
        ("/usr/b\nin:/bin", "/bin"),
        ("/", FALLBACK),
    ];
    for (outside, inside) in rows {
        assert_eq!(passed("PATH", outside).as_deref(), Some(inside), "{outside:?}");
    }
    assert_eq!(found(&enter(&[], &[]).unwrap(), "PATH").as_deref(), Some(FALLBACK));
    assert_eq!(
        asked(&[("PATH", "/bin")], "PATH=/usr/bin:/opt/tools"),
        Ok(Some("/usr/bin:/opt/tools".to_owned()))
    );
    for path in ["/usr/bin:", ".", "", "/home/ann/shop/bin:/usr/bin", "/srv"] {
        assert_eq!(asked(&[], &format!("PATH={path}")), Err(Kind::Own), "{path}");
    }
}

/// The search path inside, where other directories are said to be seen.
fn searched(path: &str, visible: &[&Path]) -> Option<String> {
    let (home, workspace) = (Path::new("/home/ann"), Path::new("/srv/shop"));
    let (user, shell, tmp) = (OsStr::new("ann"), Path::new("/bin/sh"), Path::new("/tmp"));
    let place = Place { home, workspace, cwd: workspace, user, shell, tmp, visible };
    found(&inside(&pairs(&[("PATH", path)]), &[], &place).unwrap(), "PATH")
}

#[test]
fn the_workspace_is_not_searched_even_if_it_is_listed_as_seen() {
    let visible = ["/", "/srv/shop", "/home/ann"].map(Path::new);
    let path = "/srv/shop/bin:/home/ann/bin:/tmp/bin:/srv/bin";
    assert_eq!(searched(path, &visible).as_deref(), Some("/srv/bin"));
}

#[test]
fn a_directory_that_is_not_absolute_shows_nothing() {
    let visible = ["", "bin", "/bin"].map(Path::new);
    assert_eq!(searched("bin:/usr/bin:/bin", &visible).as_deref(), Some("/bin"));
}

#[test]
fn of_a_name_that_is_there_twice_nothing_passes() {
    let outside = [
        ("TERM", "a"),
        ("MODE", "a"),
        ("TERM", "b"),
        ("MODE", "a"),
        ("TERM", "c"),
        ("PATH", "/opt/tools"),
        ("PATH", "/bin"),
    ];
    let inside = enter(&pairs(&outside), &[wanted("MODE")]).unwrap();
    assert_eq!(found(&inside, "TERM"), None);
    assert_eq!(found(&inside, "MODE"), None);
    assert_eq!(found(&inside, "PATH").as_deref(), Some("/usr/local/bin:/usr/bin:/bin"));
    let twice = enter(&[], &[wanted("MODE=a"), wanted("MODE=b")]).unwrap();
    assert_eq!(found(&twice, "MODE").as_deref(), Some("b"));
}

#[test]
fn bytes_that_are_no_text_are_kept_in_values_and_refused_in_names() {
    let odd = OsString::from_vec(b"caf\xe9".to_vec());
    let name = OsString::from_vec(b"LC_\xff".to_vec());
    let outside =
        [("NO_COLOR".into(), odd.clone()), ("MODE".into(), odd.clone()), (name.clone(), "C".into())];
    let inside = enter(&outside, &[Wanted { name: "MODE".into(), value: None }]).unwrap();
    let inside = inside.into_iter().collect::<BTreeMap<_, _>>();
    assert_eq!((&inside[OsStr::new("NO_COLOR")], &inside[OsStr::new("MODE")]), (&odd, &odd));
    assert!(!inside.contains_key(&name));
    let refused = enter(&outside, &[Wanted { name, value: None }]).unwrap_err();
    assert_eq!(refused.kind, Kind::Malformed);
    assert!(refused.to_string().contains(r"LC_\xff"), "{refused}");
    let parsed = Wanted::parse(OsStr::from_bytes(b"A=\xff=b"));
    assert_eq!(parsed, Wanted { name: "A".into(), value: Some(OsString::from_vec(b"\xff=b".to_vec())) });
}

fn any_name() -> impl Strategy<Value = OsString> {
    prop_oneof![
        "[A-Z]{1,6}(_[A-Z]{1,6}){0,2}".prop_map(OsString::from),
        "(LD|GIT|PYTHON|NPM_CONFIG|MY|X)_?[A-Z]{0,6}_?(TOKEN|SECRET|PATH|KEY|OPTIONS|PASSWORD|MODE)?"
            .prop_map(OsString::from),
        prop::sample::select(vec![
            "PATH", "HOME", "TERM", "LANG", "TZ", "CI", "LC_ALL", "SHLVL", "NO_COLOR", "TMPDIR", "ENV",
            "BASH_ENV"
        ])
        .prop_map(OsString::from),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(OsString::from_vec),
    ]
}

fn any_value() -> impl Strategy<Value = OsString> {
    prop_oneof![
        "[a-z0-9/:. ]{0,12}".prop_map(OsString::from),
        "(/usr|/bin|/home/ann|/home/ann/shop|\\.|\\.\\.|:|/){0,6}".prop_map(OsString::from),
        "\\(\\) [{] [a-z]{3}; [}]".prop_map(OsString::from),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(OsString::from_vec),
    ]
}

fn any_outside() -> impl Strategy<Value = Vec<(OsString, OsString)>> {
    prop::collection::vec((any_name(), any_value()), 0..12)
}

proptest! {
    #[test]
    fn the_same_environment_enters_twice(outside in any_outside()) {
        let once = enter(&outside, &[]).unwrap();
        prop_assert_eq!(&enter(&once, &[]).unwrap(), &once);
    }

    #[test]
    fn every_name_is_there_once_in_order_and_fit_for_a_program(outside in any_outside(), names in prop::collection::vec(any_name(), 0..4)) {
        let wanted = names.into_iter().map(|name| Wanted { name, value: None }).collect::<Vec<_>>();
        let Ok(inside) = enter(&outside, &wanted) else { return Ok(()) };
        prop_assert!(inside.windows(2).all(|two| two[0].0 < two[1].0));
        for (name, value) in &inside {
            prop_assert!(!name.is_empty() && !name.as_bytes().contains(&b'=') && !name.as_bytes().contains(&0));
            prop_assert!(!value.as_bytes().contains(&0) && !value.as_bytes().starts_with(b"()"));
        }
    }

    #[test]
    fn nothing_enters_that_could_not_be_asked_for(outside in any_outside(), names in prop::collection::vec(any_name(), 0..4)) {
        let wanted = names.iter().cloned().map(|name| Wanted { name, value: None }).collect::<Vec<_>>();
        let bare = enter(&[], &[]).unwrap();
        let Ok(inside) = enter(&outside, &wanted) else { return Ok(()) };
        for (name, value) in inside {
            let own = bare.iter().any(|(known, _)| *known == name);
            let alone = enter(&[(name.clone(), value.clone())], &[]).unwrap();
            let passes = alone.contains(&(name.clone(), value.clone()));
            prop_assert!(own || passes || names.contains(&name), "{name:?}");
            let written_out = Wanted { name, value: Some(value) };
            prop_assert!(own || enter(&[], &[written_out]).is_ok());
        }
    }

    #[test]
    fn every_entry_of_the_search_path_is_steady_and_seen(path in any_value()) {
        let inside = enter(&[("PATH".into(), path)], &[]).unwrap();
        let search = &inside.iter().find(|(name, _)| name == "PATH").unwrap().1;
        for entry in std::env::split_paths(search) {
            prop_assert!(VISIBLE.iter().any(|dir| entry.starts_with(dir)), "{search:?}");
            prop_assert!(!entry.starts_with("/home/ann/shop"));
        }
    }
}
