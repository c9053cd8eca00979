use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use policy::Limits;
use tempfile::TempDir;

use super::*;

/// A home, a workspace in it, and something beside them.
struct Stage {
    whole: TempDir,
}

impl Stage {
    fn new(files: &[(&str, &str)]) -> Self {
        let stage = Self { whole: tempfile::tempdir().unwrap() };
        for dir in ["home/ws", "beside"] {
            fs::create_dir_all(stage.path(dir)).unwrap();
        }
        for (path, text) in files {
            stage.put(path, text);
        }
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.whole.path().canonicalize().unwrap().join(name)
    }

    /// A directory if the name ends like one.
    fn put(&self, path: &str, text: &str) {
        let dir = if path.ends_with('/') { Path::new(path) } else { Path::new(path).parent().unwrap() };
        fs::create_dir_all(self.whole.path().join(dir)).unwrap();
        if !path.ends_with('/') {
            fs::write(self.whole.path().join(path), text).unwrap();
        }
    }

    fn link(&self, path: &str, to: &str) {
        symlink(self.path(to), self.path(path)).unwrap();
    }

    fn shown(&self, choose: &Choose, environment: &[(&str, &str)], views: &[(&str, Mode)]) -> Shown {
        let (home, workspace) = (self.path("home"), self.path("home/ws"));
        let environment: Vec<_> =
            environment.iter().map(|(name, value)| (name.into(), self.here(value))).collect();
        let views: Vec<_> =
            views.iter().map(|(path, mode)| View { path: self.path(path), mode: *mode }).collect();
        let ask = Ask {
            choose,
            outside: &home,
            home: &home,
            workspace: &workspace,
            environment: &environment,
            views: &views,
            closed: &[self.path("home/.local/state/ringfence")],
        };
        shown(&ask, &Disk::new(&home, vec![workspace.clone()]))
    }

    /// `@` is where the stage stands.
    fn here(&self, text: &str) -> OsString {
        text.replace('@', self.path("").to_str().unwrap().trim_end_matches('/')).into()
    }

    fn drawn(&self, environment: &[(&str, &str)], views: &[(&str, Mode)]) -> String {
        self.draw(&self.shown(&Choose::Auto, environment, views))
    }

    /// Paths outside the stage belong to the machine, and are left out.
    fn draw(&self, shown: &Shown) -> String {
        let here = self.path("");
        let short = |path: &Path| path.strip_prefix(&here).ok().map(|path| path.display().to_string());
        let views =
            shown.views.iter().filter_map(|view| Some(format!("{:?} {}", view.mode, short(&view.path)?)));
        let links =
            shown.links.iter().filter_map(|(from, to)| Some(format!("{} -> {}", short(from)?, short(to)?)));
        let variables = shown.variables.iter();
        let variables =
            variables.map(|(name, value)| format!("{}={}", name.display(), short(value.as_ref()).unwrap()));
        let left_out = shown.found.iter().flat_map(|found| &found.left_out);
        let left_out = left_out.filter_map(|(path, why)| Some(format!("without {}: {why}", short(path)?)));
        views.chain(links).chain(variables).chain(left_out).collect::<Vec<_>>().join("\n")
    }
}

const CARGO: &[(&str, &str)] = &[
    ("home/.cargo/bin/cargo", ""),
    ("home/.cargo/registry/", ""),
    ("home/.cargo/credentials.toml", "token"),
    ("home/.cargo/config.toml", "[build]\njobs = 2\n"),
];

#[test]
fn programs_and_caches_are_shown_and_the_rest_is_not() {
    let stage = Stage::new(CARGO);
    stage.put("home/.rustup/toolchains/stable/bin/rustc", "");
    stage.put("home/.npm/_cacache/", "");
    stage.put("home/.npmrc", "cafile=/etc/ssl/corp.crt\n");
    stage.put("home/.m2/repository/", "");
    stage.put("home/.m2/settings.xml", "<settings/>");
    stage.put("home/.m2/toolchains.xml", "<toolchains/>");
    stage.put("home/.config/pip/pip.conf", "index-url = https://me:x@pypi.example/simple");
    insta::assert_snapshot!(stage.drawn(&[], &[]), @"
    ReadOnly home/.cargo/bin
    Layered home/.cargo/registry
    ReadOnly home/.cargo/config.toml
    ReadOnly home/.rustup/toolchains
    Layered home/.npm/_cacache
    ReadOnly home/.npmrc
    Layered home/.m2/repository
    ReadOnly home/.m2/toolchains.xml
    without home/.config/pip/pip.conf: it looks as if it held a secret
    ");
}

#[test]
fn certificates_that_settings_name_are_shown_with_them() {
    let stage = Stage::new(&[]);
    let certificate = "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----\n";
    let key = "-----BEGIN PRIVATE KEY-----\nMIID\n-----END PRIVATE KEY-----\n";
    stage.put("beside/ca.crt", certificate);
    stage.put("beside/both.crt", &format!("{certificate}{key}"));
    stage.put("home/.ssh/ca", certificate);
    let here = |text: &str| stage.here(text).into_string().unwrap();
    stage.put("home/.config/pip/pip.conf", &here("[global]\ncert = @/beside/ca.crt\n"));
    stage.put("home/.npmrc", &here("cafile=@/beside/both.crt\n"));
    stage.put("home/.cargo/config.toml", &here("[http]\ncainfo = \"@/home/.ssh/ca\"\n"));
    insta::assert_snapshot!(stage.drawn(&[], &[]), @"
    ReadOnly home/.cargo/config.toml
    ReadOnly home/.npmrc
    ReadOnly home/.config/pip/pip.conf
    ReadOnly beside/ca.crt
    without home/.ssh/ca: it is or holds something that is never shown
    without beside/both.crt: it holds more than certificates, or none
    ");
}

#[test]
fn credentials_inside_installations_are_hidden() {
    let stage = Stage::new(&[
        ("home/miniconda3/bin/conda", ""),
        ("home/miniconda3/.condarc", "channels:\n  - https://conda.example/t/ab-12/corp\n"),
        ("home/miniconda3/envs/a/pip.conf", "[global]\nindex-url = https://me:x@pypi.example/simple\n"),
        ("home/miniconda3/envs/b/pip.conf", "[global]\nindex-url = https://pypi.example/simple\n"),
        ("home/miniconda3/envs/b/conda-meta/state", "{\"env_vars\": {\"API_TOKEN\": \"x\"}}"),
        ("home/.nvm/versions/node/v22/etc/npmrc", "//registry.example/:_authToken=x\n"),
        ("home/.nvm/versions/node/v24/etc/npmrc", "registry=https://registry.example/\n"),
        ("home/.local/share/fnm/node-versions/v22/installation/etc/npmrc", "_auth=x\n"),
        ("home/.volta/tools/image/node/22/etc/npmrc", "_password=x\n"),
        ("home/.asdf/installs/nodejs/22/etc/npmrc", "_authToken=x\n"),
        ("home/.sdkman/candidates/maven/3/conf/settings.xml", "<password>x</password>"),
    ]);
    insta::assert_snapshot!(stage.drawn(&[], &[]), @"
    ReadOnly home/.nvm
    Hidden home/.nvm/versions/node/v22/etc/npmrc
    ReadOnly home/.local/share/fnm
    Hidden home/.local/share/fnm/node-versions/v22/installation/etc/npmrc
    ReadOnly home/.volta/tools
    Hidden home/.volta/tools/image/node/22/etc/npmrc
    ReadOnly home/miniconda3
    Hidden home/miniconda3/.condarc
    Hidden home/miniconda3/envs/a/pip.conf
    Hidden home/miniconda3/envs/b/conda-meta/state
    ReadOnly home/.sdkman/candidates
    Hidden home/.sdkman/candidates/maven/3/conf/settings.xml
    ReadOnly home/.asdf
    Hidden home/.asdf/installs/nodejs/22/etc/npmrc
    without home/.nvm/versions/node/v22/etc/npmrc: it looks as if it held a secret
    without home/.local/share/fnm/node-versions/v22/installation/etc/npmrc: it looks as if it held a secret
    without home/.volta/tools/image/node/22/etc/npmrc: it looks as if it held a secret
    without home/miniconda3/.condarc: it looks as if it held a secret
    without home/miniconda3/envs/a/pip.conf: it looks as if it held a secret
    without home/miniconda3/envs/b/conda-meta/state: it looks as if it held a secret
    without home/.sdkman/candidates/maven/3/conf/settings.xml: it looks as if it held a secret
    without home/.asdf/installs/nodejs/22/etc/npmrc: it looks as if it held a secret
    ");
}

#[test]
fn only_what_is_wanted_is_shown() {
    let stage = Stage::new(CARGO);
    stage.put("home/.npm/_cacache/", "");
    let only = |names: &[&str]| {
        let choose = Choose::Only(names.iter().map(ToString::to_string).collect());
        stage.draw(&stage.shown(&choose, &[], &[]))
    };
    assert_eq!(only(&[]), "");
    assert_eq!(only(&["node"]), "Layered home/.npm/_cacache");
    assert_eq!(only(&["go"]), "");
}

/// Around parts that lie outside the private home there is a private directory, so that what is not named is not there.
#[test]
fn a_variable_moves_a_directory() {
    let stage = Stage::new(&[
        ("beside/cargo/bin/", ""),
        ("beside/cargo/registry/", ""),
        ("beside/cargo/credentials", ""),
        ("beside/npm/_cacache/", ""),
        ("beside/cache/pip/", ""),
    ]);
    let variables = [
        ("CARGO_HOME", "@/beside/cargo"),
        ("npm_config_cache", "@/beside/npm"),
        ("XDG_CACHE_HOME", "@/beside/cache"),
        ("GOCACHE", "relative"),
        ("GOPATH", "@/beside/nowhere"),
        ("RUSTUP_HOME", "@/beside/../home"),
    ];
    insta::assert_snapshot!(stage.drawn(&variables, &[]), @r"
    ReadOnly beside/cargo/bin
    Layered beside/cargo/registry
    Private beside/cargo
    Layered beside/npm/_cacache
    Private beside/npm
    Layered beside/cache/pip
    home/.cache/pip -> beside/cache/pip
    CARGO_HOME=beside/cargo
    NPM_CONFIG_CACHE=beside/npm
    ");
}

#[test]
fn no_variable_and_no_link_shows_what_is_not_a_toolchain() {
    let rows =
        ["@/home", "@", "@/home/.ssh", "@/home/.config", "@/home/.local/state", "/", "/etc", "/proc/self"];
    for value in rows {
        let stage = Stage::new(&[("home/.ssh/id", ""), ("home/.config/gh/", "")]);
        stage.put("home/.local/state/ringfence/ledger", "");
        let shown = stage.shown(&Choose::Auto, &[("PIP_CACHE_DIR", value), ("PYENV_ROOT", value)], &[]);
        assert_eq!(
            stage.draw(&shown).lines().filter(|line| !line.starts_with("without")).count(),
            0,
            "{value}"
        );
        let stage = Stage::new(&[("home/.ssh/id", ""), ("home/.config/gh/", ""), ("home/.cache/", "")]);
        stage.put("home/.local/state/ringfence/ledger", "");
        symlink(Path::new(&stage.here(value)), stage.path("home/.cache/pip")).unwrap();
        let shown = stage.shown(&Choose::Auto, &[], &[]);
        let by = shown.found.iter().flat_map(|found| &found.by);
        assert_eq!(by.filter(|path| path.starts_with(stage.path(""))).count(), 0, "{value}");
    }
}

#[test]
fn linked_directories_are_found_where_they_are() {
    let stage = Stage::new(&[("home/dotfiles/cargo/bin/", ""), ("beside/registry/", "")]);
    stage.link("home/.cargo", "home/dotfiles/cargo");
    stage.link("home/dotfiles/cargo/registry", "beside/registry");
    let drawn = stage.drawn(&[], &[]);
    insta::assert_snapshot!(drawn, @r"
    ReadOnly home/dotfiles/cargo/bin
    Layered beside/registry
    home/.cargo/bin -> home/dotfiles/cargo/bin
    home/.cargo/registry -> beside/registry
    ");
    let shown = stage.shown(&Choose::Auto, &[], &[]);
    let mut environment = vec![("PATH".into(), stage.here("@/home/.cargo/bin:/usr/bin:@/home/bin"))];
    shown.lead(&mut environment, &Disk::new(&stage.path("home"), Vec::new()));
    assert_eq!(environment[0].1, stage.here("@/home/dotfiles/cargo/bin:/usr/bin:@/home/bin"));
}

/// A cache in the workspace: the agent can put a link there that leads to the keys.
#[test]
fn links_of_the_agent_are_not_followed() {
    let stage = Stage::new(&[("home/ws/cargo/", ""), ("beside/secret/", "")]);
    stage.link("home/.cargo", "home/ws/cargo");
    stage.link("home/ws/cargo/registry", "beside/secret");
    stage.put("home/ws/cargo/bin/", "");
    assert_eq!(stage.drawn(&[], &[]), "home/.cargo/bin -> home/ws/cargo/bin");
    let named = stage.drawn(&[("CARGO_HOME", "@/home/ws/cargo")], &[]);
    assert_eq!(named, "CARGO_HOME=home/ws/cargo");
}

#[test]
fn views_that_were_asked_for_are_never_changed() {
    let stage = Stage::new(CARGO);
    let rows = [
        (("home/.cargo", Mode::Hidden), ""),
        (
            ("home/.cargo/registry", Mode::ReadWrite),
            "ReadOnly home/.cargo/bin\nReadOnly home/.cargo/config.toml",
        ),
    ];
    for (view, expected) in rows {
        assert_eq!(stage.drawn(&[], &[view]), expected);
    }
}

/// Every directory of the table is there, with everything in it, in all places where it can be.
#[test]
fn nothing_can_be_changed_and_credentials_are_never_seen() {
    let stage = Stage::new(&[]);
    let mut variables: Vec<(&str, String)> = Vec::new();
    let mut secrets = Vec::new();
    for (number, dir) in TOOLCHAINS.iter().flat_map(|toolchain| toolchain.dirs).enumerate() {
        let named = number % 2 == 0 && !dir.variable.is_empty();
        if dir.path.starts_with('/') || dir.path.is_empty() && !named {
            continue;
        }
        let base = if named { format!("beside/{number}") } else { format!("home/{}", dir.path) };
        if named {
            variables.push((dir.variable, format!("@/{base}")));
        }
        for part in dir.parts {
            let path = joined(Path::new(&base), part.path);
            let directory = matches!(part.show, Show::Installed | Show::Cache);
            stage.put(&format!("{}{}", path.display(), if directory { "/" } else { "" }), "token = 1\n");
            if !directory {
                secrets.push(stage.path(path.to_str().unwrap()));
            }
        }
    }
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let shown = stage.shown(&Choose::Auto, &variables, &[]);
    assert!(shown.views.len() > 60 && secrets.len() > 20);
    assert!(shown.views.iter().all(|view| view.mode != Mode::ReadWrite));
    let mut spec = Spec::for_workspace(&stage.path("home/ws"), &stage.path("home"), Limits::none());
    spec.toolchains = shown;
    for provider in Provider::ALL {
        let spec = spec.toolchains.put_into(&spec, provider);
        for secret in &secrets {
            let seen = spec.mode_at(secret);
            assert!(
                matches!(seen, None | Some(Mode::Private | Mode::Hidden)),
                "{} {seen:?}",
                secret.display()
            );
        }
        let layers = spec.views.iter().filter(|view| view.mode == Mode::Layered).count();
        assert_eq!(layers > 0, provider == Provider::Native);
    }
}

#[test]
fn every_row_has_a_reason_and_stands_once() {
    assert!(TOOLCHAINS.iter().map(|toolchain| toolchain.name).eq(NAMES.iter().copied()));
    for toolchain in TOOLCHAINS {
        let mut seen = BTreeSet::new();
        for dir in toolchain.dirs {
            assert!(!dir.parts.is_empty());
            assert!(!dir.path.is_empty() || !dir.variable.is_empty());
            for part in dir.parts {
                let place = joined(Path::new(dir.path), part.path);
                assert!(seen.insert((place, dir.variable)), "{} {}", dir.path, part.path);
                assert!(part.because.len() > 2 && !part.because.ends_with('.'), "{}", part.because);
                assert!(!part.path.starts_with('/'), "{}", part.path);
            }
        }
    }
}
