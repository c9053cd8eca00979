//! Settings of one jail, with the wishes of the command line on top.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use jail::bridge::Direction;
use jail::toolchain::Choose;
use jail::{Layer, Level, Mode, Network, View};
use policy::Code;
use ringfence_config::{Jailing, Places, Problems, Scope, Settings, Source, Wish, from_sources};

fn load(layers: &[(Scope, &str)]) -> Result<Settings, Problems> {
    let places = Places {
        workspace: PathBuf::from("/ws"),
        home: Some(PathBuf::from("/home/me")),
        state: Some(PathBuf::from("/home/me/.local/state")),
        run: None,
    };
    let source = |(scope, text): &(Scope, &str)| {
        let path = format!("{}.toml", scope.word());
        Source::new(*scope, Path::new(&path), format!("version = 1\n{text}\n"))
    };
    from_sources(layers.iter().map(source).collect(), &places)
}

fn user(text: &str) -> Settings {
    load(&[(Scope::User, text)]).unwrap()
}

fn view(path: &str, mode: Mode) -> View {
    View { path: path.into(), mode }
}

fn profile(name: &str) -> Wish {
    Wish { profile: Some(name.into()), ..Wish::default() }
}

fn network(network: Network) -> Wish {
    Wish { network: Some(network), ..Wish::default() }
}

fn views(views: &[View]) -> Wish {
    Wish { views: views.to_vec(), ..Wish::default() }
}

fn limit(name: &str, value: &str) -> Wish {
    Wish { limits: vec![(name.into(), value.into())], ..Wish::default() }
}

fn toolchains(names: &[&str]) -> Wish {
    let names = names.iter().map(ToString::to_string).collect();
    Wish { toolchains: Some(Choose::Only(names)), ..Wish::default() }
}

fn port(way: Direction, text: &str) -> Wish {
    Wish { ports: vec![(way, text.into())], ..Wish::default() }
}

#[test]
fn toolchains_and_ports_come_from_the_files() {
    let rows = [("", Choose::Auto), ("jail.toolchains = \"none\"", Choose::NONE)];
    for (text, expected) in rows {
        assert_eq!(user(text).jail(&Wish::default()).unwrap().toolchains, expected, "{text}");
    }
    let settings = user("jail.ports-in = [\"3000\"]\njail.ports-out = [\"5432:1\", \"80\"]");
    let jail = settings.jail(&port(Direction::In, "3000:3000")).unwrap();
    let drawn: Vec<_> = jail.ports.iter().map(ToString::to_string).collect();
    assert_eq!(drawn, ["in 3000:3000", "out 80:80", "out 5432:1"]);
    let many: Vec<_> = (1..=17).map(|number| format!("\"{number}\"")).collect();
    assert!(user(&format!("jail.ports-out = [{}]", many.join(", "))).jail(&Wish::default()).is_err());
    let unknown = user("").jail(&toolchains(&["pyhton"])).unwrap_err();
    assert_eq!(unknown.0[0].hints, ["did you mean `python`?"]);
}

#[test]
fn built_in_profiles_demand_everything_and_differ_in_two_things() {
    let rows = [
        ("readonly", false, Network::None),
        ("workspace-write-no-network", true, Network::None),
        ("workspace-write", true, Network::Broker),
    ];
    for (name, writable, network) in rows {
        let jail = user("").jail(&profile(name)).unwrap();
        assert_eq!((jail.writable, jail.network, jail.network_rule), (writable, network, None), "{name}");
        assert_eq!(jail.require, jail::Require::FULL);
        assert_eq!(jail.jailing, Jailing::Always);
        assert_eq!((jail.provider.as_str(), jail.views.len()), ("auto", 0));
    }
    assert_eq!(user("").jail(&Wish::default()).unwrap().profile, "workspace-write");
}

#[test]
fn a_profile_says_how_closely_commands_are_judged() {
    use policy::finding::Mode::{Off, Standard, Strict};
    let own = "[profiles.a]\nextends = \"readonly\"\ncommands = \"strict\"\n[profiles.b]\nextends = \"a\"\n[profiles.c]\nextends = \"a\"\ncommands = \"off\"";
    let rows = [
        ("", "readonly", Standard),
        ("", "a", Strict),
        ("", "b", Strict),
        ("", "c", Off),
        ("commands.mode = \"off\"", "readonly", Off),
        ("commands.mode = \"off\"", "a", Strict),
    ];
    for (text, name, expected) in rows {
        assert_eq!(
            user(&format!("{text}\n{own}")).jail(&profile(name)).unwrap().commands,
            expected,
            "{text} {name}"
        );
    }
    // A setting of the administrator for all commands is not taken back by a profile of the user.
    let settings = load(&[(Scope::Managed, "commands.mode = \"strict\""), (Scope::User, own)]).unwrap();
    assert_eq!(settings.jail(&profile("c")).unwrap().commands, Strict);
}

#[test]
fn a_profile_takes_over_what_it_does_not_say() {
    let settings = user(
        r#"
        [jail]
        profile = "b"
        read-only = ["/opt/data", "/opt/tool"]
        [profiles.a]
        extends = "readonly"
        network = "open"
        require = { files = "partial", network = "none" }
        read = ["/srv"]
        hide = ["/ws/private"]
        [profiles.b]
        extends = "a"
        require = { network = "full", resources = "full" }
        write = ["~/out", "/opt/tool"]
    "#,
    );
    let jail = settings.jail(&Wish::default()).unwrap();
    assert_eq!((jail.writable, jail.network), (false, Network::Open));
    assert_eq!(jail.network_rule.unwrap().to_string(), "user.toml:8");
    let require = Layer::ALL.map(|layer| jail.require.least(layer));
    assert_eq!(require, [Level::Partial, Level::Full, Level::Full, Level::Full, Level::Full]);
    let expected = [
        view("/opt/data", Mode::ReadOnly),
        view("/srv", Mode::ReadOnly),
        view("/home/me/out", Mode::ReadWrite),
        view("/opt/tool", Mode::ReadWrite),
        view("/ws/private", Mode::Hidden),
    ];
    assert_eq!(jail.views, expected);
}

#[test]
fn the_command_line_says_what_the_user_may_say() {
    let settings =
        user("jail.read-only = [\"/opt\"]\nlimits.wall-clock = \"1m\"\njail.profile = \"readonly\"");
    let wish = Wish {
        profile: Some("workspace-write".into()),
        network: Some(Network::Open),
        provider: Some("landlock".into()),
        views: vec![view("/opt", Mode::ReadWrite), view("/srv", Mode::ReadOnly)],
        toolchains: Some(Choose::Only(vec!["go".into()])),
        ports: vec![(Direction::In, "8080:80".into())],
        limits: vec![("wall-clock".into(), "10m".into()), ("processes".into(), "9".into())],
        ..Wish::default()
    };
    let jail = settings.jail(&wish).unwrap();
    assert_eq!((jail.profile.as_str(), jail.writable), ("workspace-write", true));
    assert_eq!((jail.network, jail.provider.as_str()), (Network::Open, "landlock"));
    assert_eq!(jail.views, wish.views);
    assert_eq!(Some(jail.toolchains), wish.toolchains);
    assert_eq!(jail.ports.iter().map(ToString::to_string).collect::<Vec<_>>(), ["in 8080:80"]);
    assert_eq!(jail.limits.wall_clock, Some(Duration::from_secs(600)));
    assert_eq!((jail.limits.processes, jail.limits.tmp), (Some(9), settings.limits().tmp));
}

/// Rows: a file of the administrator or the project, what the command line wants, and whether it may.
#[test]
fn the_command_line_stays_within_what_others_set() {
    use Mode::{Hidden, ReadOnly, ReadWrite};
    let narrow = "jail.profile = \"workspace-write-no-network\"";
    let rows = [
        (narrow, profile("workspace-write-no-network"), true),
        (narrow, profile("readonly"), true),
        (narrow, profile("workspace-write"), false),
        (narrow, network(Network::None), true),
        (narrow, network(Network::Open), false),
        (narrow, views(&[view("/srv", ReadWrite)]), true),
        ("jail.profile = \"workspace-write\"", network(Network::Open), false),
        ("jail.profile = \"readonly\"", views(&[view("/srv", ReadWrite)]), false),
        ("jail.profile = \"readonly\"", views(&[view("/ws/out", ReadWrite)]), false),
        ("jail.profile = \"readonly\"", views(&[view("/srv", ReadOnly)]), true),
        ("jail.read-only = []", views(&[view("/srv", ReadOnly)]), false),
        ("jail.read-only = []", views(&[view("/srv", ReadWrite)]), false),
        ("jail.read-only = []", views(&[view("/ws/vendor", ReadOnly)]), true),
        ("jail.read-only = []", views(&[view("/srv", Hidden)]), true),
        ("jail.shared = []", views(&[view("/srv", ReadWrite)]), false),
        ("jail.shared = []", views(&[view("/srv", ReadOnly)]), true),
        ("jail.toolchains = \"none\"", toolchains(&[]), true),
        ("jail.toolchains = \"none\"", toolchains(&["go"]), false),
        ("jail.toolchains = [\"go\", \"node\"]", toolchains(&["go"]), true),
        ("jail.toolchains = [\"go\", \"node\"]", toolchains(&["go", "rust"]), false),
        ("jail.toolchains = [\"go\"]", Wish { toolchains: Some(Choose::Auto), ..Wish::default() }, false),
        ("jail.ports-in = []", port(Direction::Out, "3000"), true),
        ("jail.ports-in = []", port(Direction::In, "3000"), false),
        ("jail.ports-out = []", port(Direction::Out, "3000"), false),
        ("limits.processes = 10", limit("processes", "10"), true),
        ("limits.processes = 10", limit("processes", "11"), false),
        ("limits.wall-clock = \"1m\"", limit("wall-clock", "61s"), false),
    ];
    for (text, wish, allowed) in rows {
        for scope in [Scope::Managed, Scope::Project] {
            let result = load(&[(scope, text)]).unwrap().jail(&wish);
            assert_eq!(result.is_ok(), allowed, "{text} in the {} file, {wish:?}", scope.word());
            let refused = result.err().map(|problems| problems.0[0].clone());
            assert!(
                refused.is_none_or(|problem| problem.code == Code::LayerWidens && !problem.hints.is_empty())
            );
        }
    }
}

#[test]
fn what_the_user_narrows_does_not_open_what_the_administrator_closed() {
    let layers = [
        (Scope::Managed, "jail.profile = \"workspace-write-no-network\"\njail.read-only = [\"/opt\"]"),
        (Scope::User, "jail.profile = \"readonly\"\njail.read-only = [\"/opt/a\"]"),
    ];
    let settings = load(&layers).unwrap();
    assert!(settings.jail(&profile("workspace-write-no-network")).is_ok());
    assert!(settings.jail(&profile("workspace-write")).is_err());
    assert!(settings.jail(&network(Network::Open)).is_err());
    assert!(settings.jail(&views(&[view("/opt/b", Mode::ReadOnly)])).is_ok());
    assert!(settings.jail(&views(&[view("/srv", Mode::ReadOnly)])).is_err());
    let settings = load(&[(Scope::Managed, "jail.provider = \"native\"")]).unwrap();
    assert!(settings.jail(&Wish { provider: Some("landlock".into()), ..Wish::default() }).is_err());
    assert!(settings.jail(&Wish { provider: Some("native".into()), ..Wish::default() }).is_ok());
}

#[test]
fn choosing_the_projects_profile_is_no_consent_to_what_it_says() {
    let rows = [
        ("extends = \"workspace-write\"", true),
        ("extends = \"readonly\"\nhide = [\"/ws/private\"]", true),
        ("extends = \"workspace-write\"\nnetwork = \"open\"", false),
        ("extends = \"readonly\"\nread = [\"/home/me/.ssh\"]", false),
        ("extends = \"readonly\"\nwrite = [\"/home/me\"]", false),
        ("extends = \"readonly\"\nrequire = { files = \"none\" }", false),
    ];
    for (text, allowed) in rows {
        let text = format!("[profiles.x]\n{text}");
        let settings = load(&[(Scope::Project, &text)]).unwrap();
        assert_eq!(settings.jail(&profile("x")).is_ok(), allowed, "{text}");
        assert!(user(&text).jail(&profile("x")).is_ok(), "the user's own: {text}");
    }
}

#[test]
fn what_others_write_into_a_profile_bounds_the_command_line_too() {
    let closed = "[profiles.x]\nextends = \"workspace-write\"\nnetwork = \"none\"";
    let settings = load(&[(Scope::Managed, closed)]).unwrap();
    let wish = |network| Wish { profile: Some("x".into()), network: Some(network), ..Wish::default() };
    assert!(settings.jail(&wish(Network::Open)).is_err());
    assert!(settings.jail(&wish(Network::None)).is_ok());
    assert!(user(closed).jail(&wish(Network::Open)).is_ok(), "the user's own");
    // A project that hides something in the user's profile has not made the profile its own.
    let open = "[profiles.x]\nextends = \"workspace-write\"\nnetwork = \"open\"";
    let hides = "[profiles.x]\nextends = \"workspace-write\"\nhide = [\"/ws/private\"]";
    let jail = load(&[(Scope::User, open), (Scope::Project, hides)]).unwrap().jail(&profile("x")).unwrap();
    assert_eq!((jail.network, jail.views), (Network::Open, vec![view("/ws/private", Mode::Hidden)]));
}

#[test]
fn only_the_user_runs_without_a_jail() {
    for text in ["jail.enabled = \"never\"", "jail.on-unavailable = \"run-unjailed\""] {
        assert!(load(&[(Scope::Managed, text)]).is_err(), "{text}");
        assert!(load(&[(Scope::Project, text)]).is_err(), "{text}");
    }
    let jailing = |text| user(text).jail(&Wish::default()).unwrap().jailing;
    assert!(matches!(jailing("jail.enabled = \"never\""), Jailing::Never(rule) if rule.line.get() == 2));
    assert!(matches!(jailing("jail.on-unavailable = \"run-unjailed\""), Jailing::WhereAvailable(_)));
    let layers = [(Scope::User, "jail.enabled = \"never\""), (Scope::Project, "jail.enabled = \"always\"")];
    assert_eq!(load(&layers).unwrap().jail(&Wish::default()).unwrap().jailing, Jailing::Always);
}

#[test]
fn a_wish_that_means_nothing_is_refused() {
    let rows = [
        (profile("reviw"), Code::UnknownName),
        (limit("processes", "many"), Code::WrongType),
        (limit("wall-clock", "10"), Code::WrongType),
        (limit("wall-clok", "10m"), Code::UnknownKey),
        (limit("tokens.hour", "1"), Code::BadValue),
        (limit("memory", "1GiB\"\nx = \"1"), Code::BadValue),
        (limit("", "1"), Code::BadValue),
    ];
    let settings = user("[profiles.review]\nextends = \"readonly\"");
    for (wish, code) in rows {
        let problems = settings.jail(&wish).unwrap_err();
        assert_eq!(problems.0[0].code, code, "{problems}");
    }
}

#[test]
fn protected_names_are_left_out_by_the_user_and_within_bounds() {
    use policy::{Act, Ground, Verdict};

    type Layers<'a> = &'a [(Scope, &'a str)];
    let rows: &[(Layers<'_>, &[&str], Result<&str, Code>)] = &[
        (&[], &[], Ok("")),
        (&[], &[".npmrc"], Ok(".npmrc")),
        (&[], &[".vscode/", ".idea"], Ok(".vscode .idea")),
        (&[(Scope::User, "jail.unprotected = [\".envrc\"]")], &[".npmrc"], Ok(".envrc .npmrc")),
        (&[(Scope::Managed, "jail.unprotected = [\".npmrc\"]")], &[".npmrc"], Ok(".npmrc")),
        (&[(Scope::Managed, "jail.unprotected = [\".npmrc\"]")], &[".envrc"], Err(Code::LayerWidens)),
        (&[(Scope::Managed, "jail.unprotected = []")], &[".npmrc"], Err(Code::LayerWidens)),
        (&[(Scope::Project, "jail.unprotected = []")], &[".npmrc"], Err(Code::LayerWidens)),
        (
            &[
                (Scope::User, "jail.unprotected = [\".envrc\", \".idea\"]"),
                (Scope::Project, "jail.unprotected = [\".idea\"]"),
            ],
            &[],
            Ok(".idea"),
        ),
        (&[], &["Makefile"], Err(Code::BadValue)),
    ];
    for (layers, unprotected, expected) in rows {
        let wish =
            Wish { unprotected: unprotected.iter().map(ToString::to_string).collect(), ..Wish::default() };
        let said = load(layers).unwrap().jail(&wish);
        let said = said.map(|jail| {
            let names = [".vscode", ".idea", ".envrc", ".npmrc"];
            let judged = |name: &str| jail.protected.judge(Ground::Tree, Path::new(name), Act::File);
            names.into_iter().filter(|name| judged(name) == Verdict::Free).collect::<Vec<_>>().join(" ")
        });
        let said = said.map_err(|problems| problems.0[0].code);
        assert_eq!(said.as_deref().map_err(|code| *code), *expected, "{layers:?} {unprotected:?}");
    }
}

#[test]
fn names_that_instruct_are_protected_where_the_profile_says_so() {
    use policy::{Act, Ground, Verdict};

    let all = "[profiles.all]\nextends = \"workspace-write\"\nprotect = \"all\"\n";
    let less = "[profiles.less]\nextends = \"all\"\nprotect = \"acts\"\n";
    let own = user(&[all, less, "[profiles.same]\nextends = \"all\"\n"].concat());
    let bound = |name: &str| load(&[(Scope::Managed, &format!("jail.profile = \"{name}\"\n{all}"))]).unwrap();
    let rows = [
        (&own, None, Ok("CLAUDE.md .github/workflows/ci.yml")),
        (&own, Some("all"), Ok("")),
        (&own, Some("same"), Ok("")),
        (&own, Some("less"), Ok("CLAUDE.md .github/workflows/ci.yml")),
        (&bound("all"), None, Ok("")),
        (&bound("all"), Some("workspace-write"), Err(Code::LayerWidens)),
    ];
    for (settings, profile, expected) in rows {
        let said = settings.jail(&Wish { profile: profile.map(str::to_owned), ..Wish::default() });
        let said = said.map(|jail| {
            let names = ["CLAUDE.md", ".github/workflows/ci.yml", ".envrc", ".vscode/tasks.json"];
            let judged = |name: &str| jail.protected.judge(Ground::Tree, Path::new(name), Act::File);
            names.into_iter().filter(|name| judged(name) == Verdict::Free).collect::<Vec<_>>().join(" ")
        });
        let said = said.map_err(|problems| problems.0[0].code);
        assert_eq!(said.as_deref().map_err(|code| *code), expected, "{profile:?}");
    }
}

#[test]
fn a_view_that_nobody_wished_for_is_within_bounds_as_well() {
    let git = view("/srv/repo/.git", Mode::ReadWrite);
    let rows = [
        ("", true),
        ("jail.shared = []", false),
        ("jail.shared = [\"/srv\"]", true),
        ("jail.profile = \"readonly\"", false),
    ];
    for (text, expected) in rows {
        assert_eq!(load(&[(Scope::Managed, text)]).unwrap().admits(&git), expected, "{text}");
    }
}

/// Gaps are accepted where only the person's own file or a built-in profile has a say.
#[test]
fn the_command_line_accepts_gaps_unless_others_require_more() {
    let accept = |layers: &[Layer]| Wish { accepted: layers.to_vec(), ..Wish::default() };
    let mine = "[profiles.x]\nextends = \"workspace-write\"\nrequire = { files = \"full\" }";
    let lax = "[profiles.x]\nextends = \"workspace-write\"\nrequire = { files = \"partial\" }";
    let chosen = |text: &str| format!("jail.profile = \"x\"\n{text}");
    let rows: [(Vec<(Scope, String)>, bool); 7] = [
        (vec![], true),
        (vec![(Scope::User, chosen(mine))], true),
        (vec![(Scope::Managed, chosen(mine))], false),
        (vec![(Scope::Managed, "jail.profile = \"workspace-write\"".to_owned())], false),
        (vec![(Scope::Project, "jail.profile = \"readonly\"".to_owned())], false),
        (vec![(Scope::Managed, chosen(lax))], true),
        (vec![(Scope::Managed, mine.to_owned()), (Scope::User, "jail.profile = \"x\"".to_owned())], false),
    ];
    for (layers, fine) in rows {
        let sources: Vec<_> = layers.iter().map(|(scope, text)| (*scope, text.as_str())).collect();
        let settings = load(&sources).unwrap();
        assert_eq!(settings.jail(&accept(&[Layer::Files])).is_ok(), fine, "{layers:?}");
        assert!(settings.jail(&accept(&[])).is_ok(), "{layers:?}");
    }
    let require = user("").jail(&accept(&[Layer::Files, Layer::Resources])).unwrap().require;
    let least = Layer::ALL.map(|layer| require.least(layer));
    assert_eq!(least, [Level::Partial, Level::Full, Level::Full, Level::Full, Level::Partial]);
    let none =
        user("jail.profile = \"x\"\n[profiles.x]\nextends = \"readonly\"\nrequire = { files = \"none\" }");
    assert_eq!(none.jail(&accept(&[Layer::Files])).unwrap().require.least(Layer::Files), Level::None);
}
