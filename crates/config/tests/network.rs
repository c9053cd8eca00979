//! Sets of hosts, rules on requests, routes of secrets, and what a company needs.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use policy::{
    Decision, Endpoint, Inject, ProxyScheme, Scheme, SecretSource, ToolName, Want, permits_request,
};
use ringfence_config::{Places, Scope, Settings, Source, from_sources, lint};

fn places() -> Places {
    Places { workspace: "/ws".into(), home: Some("/home/me".into()), state: None, run: None }
}

fn layers(layers: &[(Scope, &str)]) -> Result<Settings, String> {
    let file = |scope: Scope| format!("{}.toml", scope.word());
    let source = |(scope, text): &(Scope, &str)| {
        let text = format!("version = 1\naudit.path = \"/l\"\n{text}");
        let text = if *scope == Scope::User { text } else { text.replace("audit.path = \"/l\"\n", "") };
        Source::new(*scope, file(*scope).as_ref(), text)
    };
    from_sources(layers.iter().map(source).collect(), &places()).map_err(|problems| {
        let all = problems.0.iter();
        all.map(|problem| {
            let label = problem.place.as_ref().map_or("", |place| &place.label);
            format!("{problem}: {label}")
        })
        .collect::<Vec<_>>()
        .join("\n")
    })
}

fn user(text: &str) -> Result<Settings, String> {
    layers(&[(Scope::User, text)])
}

fn decide(settings: &Settings, host: &str) -> Decision {
    let endpoint = Endpoint::parse(host, 443).unwrap();
    let tool = ToolName::parse("exec").unwrap();
    settings.decide(&policy::Request { tool: &tool, want: Want::Connect(&endpoint) })
}

#[test]
fn a_set_allows_its_hosts_and_says_so() {
    let settings = user("network.allow = [\"@npm\"]").unwrap();
    let decision = decide(&settings, "registry.npmjs.org");
    assert!(matches!(decision, Decision::Allow(_)), "{decision:?}");
    insta::assert_snapshot!(decision.reason().text, @"the host is allowed by `@npm` (packages of JavaScript)");
    for host in ["registry.npmjs.org:80", "npmjs.org", "x.registry.npmjs.org", "pypi.org"] {
        assert!(matches!(decide(&settings, host), Decision::Ask(_)), "{host}");
    }
    let denied = user("network = { allow = [\"@npm\"], deny = [\"@yarn\"] }").unwrap();
    assert!(matches!(decide(&denied, "registry.npmjs.org"), Decision::Deny(_)));
    // A host that no rule names is told by its set.
    let reason = decide(&settings, "pypi.org").reason().clone();
    insta::assert_snapshot!(reason.remedy.unwrap(), @r#"add "@pypi" to `network.allow` (packages of Python; uploads go to another host)"#);
}

#[test]
fn an_unknown_set_lists_the_known_ones() {
    let error = user("network.allow = [\"@nmp\"]").err().unwrap();
    assert!(
        error.contains("there is no host set `@nmp`; did you mean `@npm`? (known: @alpine, @anthropic, "),
        "{error}"
    );
    assert!(user("network.deny = [\"@x\"]").is_err() && user("network.allow = [\"@\"]").is_err());
    assert!(user("network.allow = [{ host = \"@npm\" }]").is_err());
}

#[test]
fn a_narrower_layer_stays_within_hosts_methods_and_paths() {
    let npm = r#"network.allow = ["registry.npmjs.org", "nodejs.org:443", "x.example.org"]"#;
    let get = r#"network.allow = [{ host = "api.x.org", methods = ["GET", "HEAD"], paths = ["/repos/*"] }]"#;
    let rows = [
        (npm, r#"network.allow = ["@npm"]"#, true),
        (r#"network.allow = ["registry.npmjs.org"]"#, r#"network.allow = ["@npm"]"#, false),
        (r#"network.allow = ["@npm"]"#, r#"network.allow = ["registry.npmjs.org:443"]"#, true),
        (r#"network.allow = ["@npm"]"#, r#"network.allow = ["registry.npmjs.org"]"#, false),
        (r#"network.allow = ["@npm"]"#, r#"network.allow = ["@npm"]"#, true),
        (r#"network.allow = ["@npm"]"#, r#"network.allow = ["@pypi"]"#, false),
        (r#"network.allow = ["@debian"]"#, r#"network.allow = ["deb.debian.org:80"]"#, false),
        (r#"network.allow = ["api.x.org"]"#, get, true),
        (get, get, true),
        (get, r#"network.allow = ["api.x.org"]"#, false),
        (get, r#"network.allow = [{ host = "api.x.org", methods = ["GET"], paths = ["/repos/a"] }]"#, true),
        (get, r#"network.allow = [{ host = "api.x.org", methods = ["GET"] }]"#, false),
        (get, r#"network.allow = [{ host = "api.x.org", methods = ["POST"], paths = ["/repos/a"] }]"#, false),
        (get, r#"network.allow = [{ host = "*.x.org", methods = ["GET"], paths = ["/repos/a"] }]"#, false),
        ("", r#"network.deny = ["@npm"]"#, true),
        ("", r#"network.hosts = { "a.corp" = "10.0.0.1" }"#, false),
        ("", r#"network.proxy = "http://proxy.corp:3128""#, false),
        ("", r#"network.ca = ["/etc/ca.pem"]"#, false),
        ("", "[[secrets]]\npreset = \"openai\"", false),
    ];
    for (wide, narrow, expected) in rows {
        let merged = layers(&[(Scope::User, wide), (Scope::Project, narrow)]);
        assert_eq!(merged.is_ok(), expected, "{narrow} on top of {wide}: {:?}", merged.err());
        if !expected {
            let error = layers(&[(Scope::User, wide), (Scope::Project, narrow)]).err().unwrap();
            assert!(error.contains("RF-C010"), "{error}");
        }
    }
}

#[test]
fn rules_on_requests() {
    let text =
        r#"network.allow = [{ host = "api.x.org", methods = ["GET"], paths = ["/repos/*"] }, "@debian"]"#;
    let settings = user(text).unwrap();
    assert!(matches!(decide(&settings, "api.x.org"), Decision::Allow(_)));
    let rows = [
        ("api.x.org:443", "GET", "/repos/a", true),
        ("api.x.org:443", "POST", "/repos/a", false),
        ("api.x.org:443", "GET", "/user", false),
        ("deb.debian.org:80", "GET", "/x", true),
        ("deb.debian.org:80", "PUT", "/x", false),
        ("deb.debian.org:443", "PUT", "/x", true),
    ];
    for (host, method, path, expected) in rows {
        let endpoint = Endpoint::parse(host, 443).unwrap();
        assert_eq!(
            permits_request(settings.request_rules(), &endpoint, method, path),
            expected,
            "{method} {host}{path}"
        );
    }
    // Entries add up.
    let open = user(r#"network.allow = [{ host = "api.x.org", methods = ["GET"] }, "*.x.org"]"#).unwrap();
    assert!(open.request_rules().is_empty());
    let shown = format!("{:?}", settings.request_rules()[0].rule.as_ref().map(ToString::to_string));
    assert_eq!(shown, "Some(\"user.toml:3\")");
}

#[test]
fn routes_of_secrets() {
    let text = r#"
        [[secrets]]
        preset = "anthropic"
        [[secrets]]
        preset = "github"
        from = "env:GH_TOKEN"
        paths = ["/repos/*"]
        [[secrets]]
        name = "corp"
        host = "registry.corp:8443"
        methods = ["GET"]
        from = "file:~/.corp.json#/token"
        inject = { basic = "me" }
        [[secrets]]
        name = "metrics"
        host = "10.0.0.9"
        scheme = "http"
        from = "cmd:pass show metrics"
        inject = { replace = true }
        placeholder = "METRICS_TOKEN"
    "#;
    let settings = user(text).unwrap();
    let [anthropic, github, corp, metrics] = settings.routes() else { panic!("{:?}", settings.routes()) };
    assert_eq!(
        (&*anthropic.secret, anthropic.endpoint.to_string()),
        ("anthropic", "api.anthropic.com:443".to_owned())
    );
    assert_eq!(
        (&anthropic.source, &anthropic.inject),
        (&SecretSource::Store, &Inject::Header("x-api-key".into()))
    );
    assert_eq!(anthropic.placeholder.as_deref(), Some("ANTHROPIC_API_KEY"));
    assert_eq!(anthropic.rule.as_ref().unwrap().to_string(), "user.toml:4");
    assert_eq!(
        (&github.source, &github.inject),
        (&SecretSource::Environment("GH_TOKEN".into()), &Inject::Bearer)
    );
    assert!(github.requests.contains("GET", "/repos/a") && !github.requests.contains("GET", "/user"));
    assert_eq!(
        (corp.endpoint.port, corp.scheme, &corp.inject),
        (8443, Scheme::Https, &Inject::Basic("me".into()))
    );
    assert!(corp.requests.contains("GET", "/") && !corp.requests.contains("PUT", "/"));
    assert_eq!((metrics.endpoint.to_string(), metrics.scheme), ("10.0.0.9:80".to_owned(), Scheme::Http));
}

#[test]
fn secrets_that_cannot_be_used() {
    let secret = |rest: &str| {
        format!("[[secrets]]\nname = \"a\"\nhost = \"a.org\"\ninject = {{ bearer = true }}\n{rest}")
    };
    let rows = [
        ("[[secrets]]\npreset = \"anthropc\"".to_owned(), "did you mean `anthropic`?"),
        ("[[secrets]]\nname = \"a\"".to_owned(), "`secrets.host` is missing"),
        ("[[secrets]]\nname = \"a\"\nhost = \"a.org\"".to_owned(), "`secrets.inject` is missing"),
        (secret("").replace("bearer = true", "bearer = true, query = \"q\""), "exactly one way"),
        (secret("").replace("true", "false"), "exactly one way"),
        (secret("").replace("bearer", "replace"), "needs a `placeholder`"),
        (secret("").replace("a.org", "a.org:80"), "usually speaks HTTP without TLS"),
        (secret("").replace("\"a\"", "\"A\""), "lower-case letters"),
        (secret("from = \"X\""), "a source is `env:NAME`"),
        (secret("methods = [\"get\"]"), "upper case"),
        (secret("paths = [\"/a/../b\"]"), "no path of a request matches this"),
        (secret(&secret("").replace("\"a\"", "\"b\"")), "both go to a.org:443"),
        (secret(&secret("from = \"env:X\"").replace("a.org", "b.org")), "exists already"),
        ("network.proxy-secret = \"x\"".to_owned(), "is for a proxy, and there is none"),
        ("network.proxy = \"http://u:p@x:1\"".to_owned(), "network.proxy-secret"),
        ("network.hosts = { \"a.corp\" = \"169.254.169.254\" }".to_owned(), "credentials of the machine"),
        ("network.hosts = { \"10.0.0.1\" = \"10.0.0.2\" }".to_owned(), "not the name of a host"),
        ("network.hosts = { \"a.corp\" = \"b.corp\" }".to_owned(), "an address is written"),
        ("network.ca = [\"/ws/ca.pem\"]".to_owned(), "cannot lie in the workspace"),
    ];
    for (text, message) in rows {
        let error = user(&text).err().unwrap_or_else(|| panic!("{text}"));
        assert!(error.contains(message), "{text}\n{error}");
    }
    // Paths that exclude each other keep two secrets of one host apart, and one secret may go to two hosts.
    let two = secret("paths = [\"/a/*\"]\n") + &secret("paths = [\"/b/*\"]").replace("\"a\"", "\"b\"");
    assert!(user(&two).is_ok());
    assert!(user("[[secrets]]\npreset = \"github\"\n[[secrets]]\npreset = \"github-git\"").is_ok());
}

#[test]
fn company_networks() {
    let text = r#"
        [network]
        hosts = { "registry.corp" = "10.0.0.7:8443", "v6.corp" = "fd00::7" }
        proxy = "socks5h://proxy.corp:1080"
        proxy-secret = "proxy"
        ca = ["~/corp.pem", "/etc/corp.pem"]
    "#;
    let settings = user(text).unwrap();
    let [registry, v6] = settings.host_addresses() else { panic!() };
    assert_eq!(registry.socket(443).to_string(), "10.0.0.7:8443");
    assert_eq!(v6.socket(443).to_string(), "[fd00::7]:443");
    let proxy = settings.upstream_proxy().unwrap();
    assert_eq!(
        (proxy.scheme, proxy.endpoint.to_string()),
        (ProxyScheme::Socks5h, "proxy.corp:1080".to_owned())
    );
    assert_eq!(proxy.secret.as_deref(), Some("proxy"));
    let roots: Vec<_> = settings.extra_roots().iter().map(|path| path.display().to_string()).collect();
    assert_eq!(roots, ["/home/me/corp.pem", "/etc/corp.pem"]);
}

#[test]
fn the_command_line_allows_within_the_files_of_others() {
    let wish = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let settings =
        user("network.allow = [\"a.org\"]").unwrap().allowing(&wish(&["@npm", "b.org:8443"])).unwrap();
    for host in ["a.org", "registry.npmjs.org", "b.org:8443"] {
        assert!(matches!(decide(&settings, host), Decision::Allow(_)), "{host}");
    }
    let rule = decide(&settings, "b.org:8443").reason().rule.clone().unwrap();
    assert_eq!(rule.to_string(), "the command line:4");
    let rows = [
        (Scope::Managed, "network.allow = [\"*.a.org\"]", "x.a.org", true),
        (Scope::Managed, "network.allow = [\"*.a.org\"]", "b.org", false),
        (Scope::Managed, "network.allow = [\"registry.npmjs.org\"]", "@npm", false),
        (Scope::Project, "network.allow = []", "b.org", false),
        (Scope::Project, "network.deny = [\"c.org\"]", "b.org", true),
    ];
    for (scope, text, wished, expected) in rows {
        let result = layers(&[(scope, text)]).unwrap().allowing(&wish(&[wished]));
        assert_eq!(result.is_ok(), expected, "{wished} within {text}");
    }
    for bad in ["@nope", "*", "a b", "x\"]\n[jail]\nenabled = \"never\"#"] {
        assert!(user("").unwrap().allowing(&wish(&[bad])).is_err(), "{bad}");
    }
}

#[test]
fn remarks_on_secrets_and_hosts() {
    let remarks = |text: &str| {
        let all = lint(&user(text).unwrap());
        all.iter().map(|remark| format!("{} {}", remark.code, remark.message)).collect::<Vec<_>>().join("\n")
    };
    let http = "network.allow = [\"a.org\"]\n[[secrets]]\nname = \"a\"\nhost = \"a.org\"\nscheme = \"http\"\ninject = { bearer = true }";
    insta::assert_snapshot!(remarks(http), @"RF-L003 the secret `a` goes to a.org:80 without TLS: every network on the way can read it");
    let denied = "network.unknown = \"deny\"\n[[secrets]]\npreset = \"openai\"";
    insta::assert_snapshot!(remarks(denied), @"RF-L001 the secret `openai` is never sent: api.openai.com:443 is denied, no rule names this host, and `network.unknown` is deny");
    let address = "network.unknown = \"deny\"\nnetwork.hosts = { \"r.corp\" = \"10.0.0.1\" }";
    insta::assert_snapshot!(remarks(address), @"RF-L001 the address of `r.corp` is never used: r.corp:443 is denied, the host is not on the public network: a name that stays on this machine or site");
    assert_eq!(remarks("[[secrets]]\npreset = \"openai\""), "", "a person can be asked");
}
