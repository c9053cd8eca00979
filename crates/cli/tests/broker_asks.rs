//! Questions about hosts at the terminal, and agents that bring a recipe.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;
mod upstream;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use base64::Engine as _;
use stage::person::Person;
use stage::{ended, skipped};
use upstream::{Answer, KEY, Network, Seen};

fn hello(_: &Seen) -> Answer {
    (200, "text/plain", b"hello from outside\n".to_vec())
}

/// A person types a command in a shell: only then is there somebody to ask.
fn typed(network: &Network, script: &str) -> Option<Person> {
    network.ready();
    fs::write(network.stage.path("ws/go.sh"), script).unwrap();
    let mut person = Person::sits_down()?;
    person.opens_a_shell(&network.stage);
    person.types("$RF run -- sh go.sh; echo \"over\" now\r");
    Some(person)
}

/// A person needs a moment to read; an answer before that is none.
fn read_it() {
    std::thread::sleep(std::time::Duration::from_millis(1500));
}

/// Runs a script, answers one question and returns everything that was shown.
fn answered(network: &Network, script: &str, answer: &str) -> Option<String> {
    let mut person = typed(network, script)?;
    let question = person.sees("allow it? [o/s/always/N] ");
    read_it();
    person.types(answer);
    Some(question + &person.sees("over now"))
}

#[test]
fn a_host_is_asked_about_while_the_command_runs() {
    let Some(mut network) = Network::new() else { return };
    let upstream = network.serve_unnamed("registry.npmjs.org", hello);
    let rows = [("n\r", false), ("\r", false), ("o\r", true), ("s\r", true)];
    for (answer, allowed) in rows {
        let before = upstream.seen().len();
        let script = "echo begun; curl -sS https://registry.npmjs.org/x; echo ended";
        let Some(shown) = answered(&network, script, answer) else { return };
        assert!(shown.contains("connect to registry.npmjs.org:443?") && shown.contains("/curl\""), "{shown}");
        assert_eq!(shown.contains("hello from outside"), allowed, "{answer:?}: {shown}");
        assert!(shown.contains("ended"), "the command goes on: {shown}");
        assert_eq!(upstream.seen().len() - before, usize::from(allowed));
    }
}

#[test]
fn a_no_holds_for_the_run() {
    let Some(mut network) = Network::new() else { return };
    let upstream = network.serve_unnamed("registry.npmjs.org", hello);
    let script = "for n in 1 2 3; do curl -sS https://registry.npmjs.org/$n; done; echo ended";
    let Some(shown) = answered(&network, script, "n\r") else { return };
    assert_eq!((shown.matches("allow it?").count(), upstream.seen().len()), (1, 0), "{shown}");
}

#[test]
fn an_answer_for_the_run_is_asked_for_once_and_one_for_ever_is_written() {
    let Some(mut network) = Network::new() else { return };
    let upstream = network.serve_unnamed("registry.npmjs.org", hello);
    let script = "for n in 1 2 3; do curl -sS https://registry.npmjs.org/$n; done; echo ended";
    let Some(shown) = answered(&network, script, "s\r") else { return };
    assert_eq!(shown.matches("allow it?").count(), 1, "{shown}");
    assert_eq!(upstream.seen().len(), 3);
    answered(&network, script, "always\r").unwrap();
    let policy = fs::read_to_string(network.stage.path("home/.config/ringfence/policy.toml")).unwrap();
    assert!(policy.contains("\"@npm\""), "{policy}");
    // Nothing is asked any more, with or without a person.
    let ran = ended(&mut network.stage.script("", "curl -sS https://registry.npmjs.org/again"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello from outside\n"), "{ran:?}");
}

#[test]
fn keys_from_before_a_question_are_no_answer_and_a_program_does_not_see_the_answer() {
    let Some(mut network) = Network::new() else { return };
    let _upstream = network.serve_unnamed("registry.npmjs.org", hello);
    let script =
        "echo begun; sleep 1; curl -sS https://registry.npmjs.org/x; read line; echo \"got <$line>\"";
    let Some(mut person) = typed(&network, script) else { return };
    person.sees("begun");
    person.sees("allow it? [o/s/always/N] ");
    // The rest of a line for the command, which is no answer.
    person.types("o\r");
    person.sees("that was typed before the question could be read");
    person.sees("allow it? [o/s/always/N] ");
    read_it();
    person.types("n\r");
    person.gives_up_the_terminal();
    person.types("typed later\r");
    person.sees("got <typed later>");
    person.sees("over now");
}

#[test]
fn npm_installs_from_its_registry() {
    let Some(mut network) = Network::new() else { return };
    if network.run("", "npm --version").code != Some(0) {
        return skipped("npm", "it does not run in a jail here");
    }
    let made = network.stage.path("beside");
    let script = "mkdir package && echo '{\"name\":\"demo\",\"version\":\"1.0.0\"}' > package/package.json && \
                  tar czf demo.tgz package";
    assert!(Command::new("sh").args(["-c", script]).current_dir(&made).status().unwrap().success());
    let archive = fs::read(made.join("demo.tgz")).unwrap();
    let upstream = network.serve_unnamed("registry.npmjs.org", move |seen| match seen.target.as_str() {
        "/demo" => {
            let text = "{\"name\":\"demo\",\"dist-tags\":{\"latest\":\"1.0.0\"},\"versions\":{\"1.0.0\":{\"name\":\"demo\",\
                        \"version\":\"1.0.0\",\"dist\":{\"tarball\":\"https://registry.npmjs.org/demo/-/demo-1.0.0.tgz\"}}}}";
            (200, "application/json", text.as_bytes().to_vec())
        }
        "/demo/-/demo-1.0.0.tgz" => (200, "application/octet-stream", archive.clone()),
        _ => (404, "application/json", b"{}".to_vec()),
    });
    let script = "npm install --no-audit --no-fund demo && ls node_modules/demo";
    let refused = network.run("", script);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(refused.err.contains("--allow @npm"), "{refused:?}");
    let ran = network.run("--allow @npm", script);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.ends_with("package.json\n"), "{ran:?}");
    assert!(upstream.seen().iter().any(|seen| seen.target == "/demo"));
}

#[test]
fn pip_installs_from_its_index() {
    let Some(mut network) = Network::new() else { return };
    if network.run("", "python3 -m pip --version").code != Some(0) {
        return skipped("pip", "it does not run in a jail here");
    }
    let made = network.stage.path("beside");
    let script = "import zipfile; z = zipfile.ZipFile('demo-1.0-py3-none-any.whl', 'w'); z.writestr('demo.py', 'x = 7\\n'); \
                  d = 'demo-1.0.dist-info/'; z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n'); \
                  z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'); \
                  z.writestr(d + 'RECORD', ''); z.close()";
    assert!(Command::new("python3").args(["-c", script]).current_dir(&made).status().unwrap().success());
    let wheel = fs::read(made.join("demo-1.0-py3-none-any.whl")).unwrap();
    let _index = network.serve_unnamed("pypi.org", |seen| match seen.target.as_str() {
        "/simple/demo/" => {
            let page = "<a href=\"https://files.pythonhosted.org/demo-1.0-py3-none-any.whl\">demo-1.0-py3-none-any.whl</a>";
            (200, "text/html", page.as_bytes().to_vec())
        }
        _ => (404, "text/plain", Vec::new()),
    });
    let _files =
        network.serve_unnamed("files.pythonhosted.org", move |_| (200, "application/zip", wheel.clone()));
    let script = "python3 -m pip install -q --disable-pip-version-check --no-deps --index-url https://pypi.org/simple --target t demo \
                  && cat t/demo.py";
    let ran = network.run("--allow @pypi", script);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "x = 7\n"), "{ran:?}");
}

/// A stand-in for an agent: it shows its key and its settings, and calls the API of its model.
const AGENT: &str = "#!/bin/sh\necho \"key $ANTHROPIC_API_KEY\"\nls -A \"$HOME/.claude\"\ncat \"$HOME/.claude/.credentials.json\" \
                     2>/dev/null\ncurl -sS -H \"x-api-key: $ANTHROPIC_API_KEY\" https://api.anthropic.com/v1/messages\n";

#[test]
fn a_known_agent_brings_its_recipe() {
    let Some(mut network) = Network::new() else { return };
    let upstream = network.serve_unnamed("api.anthropic.com", hello);
    let (agent, planted) = (network.stage.path("beside/claude"), network.stage.path("ws/claude"));
    for path in [&agent, &planted] {
        fs::write(path, AGENT).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let beside = network.stage.path("beside");
    let run = |options: &[&str], program: &OsStr| {
        let mut command = network.stage.command();
        command.arg("run").args(options).arg("--read").arg(&beside).arg("--").arg(program);
        command
    };
    fs::create_dir_all(network.stage.path("home/.claude")).unwrap();
    fs::write(network.stage.path("home/.claude/settings.json"), "{}").unwrap();
    fs::write(network.stage.path("home/.claude/.credentials.json"), "{\"login\":\"top secret\"}").unwrap();
    network.ready();
    for options in [&[][..], &["--profile", "driven"]] {
        let before = upstream.seen().len();
        let ran = ended(run(options, agent.as_os_str()).env("ANTHROPIC_API_KEY", KEY));
        assert!(ran.out.contains("hello from outside"), "{ran:?}");
        assert!(ran.out.contains("settings.json"), "its settings are there: {ran:?}");
        assert!(!ran.out.contains(KEY) && !ran.out.contains("top secret"), "its login is not: {ran:?}");
        let seen = &upstream.seen()[before..];
        assert_eq!(seen[0].headers.get("x-api-key").map(String::as_str), Some(KEY), "{seen:?}");
    }
    let without = ended(&mut run(&[], agent.as_os_str()));
    assert!(without.err.contains("ringfence secret set anthropic"), "{without:?}");
    // A program that a command could have written is no known agent, by a path, a link or the search path.
    fs::create_dir(network.stage.path("links")).unwrap();
    std::os::unix::fs::symlink(&planted, network.stage.path("links/claude")).unwrap();
    let (link, before) = (network.stage.path("links/claude"), upstream.seen().len());
    for program in [OsStr::new("./claude"), planted.as_os_str(), link.as_os_str(), OsStr::new("claude")] {
        let path = format!("PATH={}:{}:/usr/bin:/bin", network.stage.path("ws").display(), beside.display());
        let ran = ended(run(&["--env", &path], program).env("ANTHROPIC_API_KEY", KEY));
        assert!(!ran.out.contains("settings.json") && !ran.out.contains("hello"), "{program:?}: {ran:?}");
        assert!(!ran.err.contains("ringfence secret set"), "{program:?}: {ran:?}");
    }
    assert_eq!(upstream.seen().len(), before);
}

#[test]
fn a_recipe_leaves_typed_variables_and_a_broken_store_is_told() {
    let Some(network) = Network::new() else { return };
    network.ready();
    let agent = network.stage.path("beside/claude");
    fs::write(&agent, "#!/bin/sh\necho updates $DISABLE_AUTOUPDATER\n").unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |options: &[&str]| {
        let mut command = network.stage.command();
        command
            .arg("run")
            .args(options)
            .arg("--read")
            .arg(network.stage.path("beside"))
            .arg("--")
            .arg(&agent);
        ended(&mut command)
    };
    assert_eq!(run(&[]).out, "updates 1\n");
    assert_eq!(run(&["--env", "DISABLE_AUTOUPDATER=typed"]).out, "updates typed\n");
    let store = network.stage.path("home/.local/state/ringfence/secrets");
    fs::create_dir_all(&store).unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).unwrap();
    let broken = run(&[]);
    assert_eq!((broken.code, broken.out.as_str()), (Some(125), ""), "{broken:?}");
    assert!(
        broken.err.contains("cannot read the secret anthropic") && broken.err.contains("chmod 700"),
        "{broken:?}"
    );
}

#[test]
fn a_key_of_the_store_is_used_and_never_printed() {
    let Some(mut network) = Network::new() else { return };
    let upstream = network.serve("api.test-host.org", hello);
    network.rest =
        "[[secrets]]\nname = \"kept\"\nhost = \"api.test-host.org\"\ninject = { basic = \"me\" }\n"
            .to_owned();
    network.ready();
    let mut set = network.stage.command();
    let value = network.stage.path("beside/value");
    fs::write(&value, format!("{KEY}\n")).unwrap();
    let set = ended(set.args(["secret", "set", "kept"]).stdin(fs::File::open(&value).unwrap()));
    assert_eq!(set.code, Some(0), "{set:?}");
    let list = ended(network.stage.command().args(["secret", "list", "--format", "json"]));
    assert!(list.out.contains("kept") && !list.out.contains(KEY), "{list:?}");
    let ran = network.run("", "curl -sS https://api.test-host.org/; find / -name kept 2>/dev/null");
    assert_eq!(ran.out, "hello from outside\n", "{ran:?}");
    let expected = base64::engine::general_purpose::STANDARD.encode(format!("me:{KEY}"));
    assert_eq!(upstream.seen()[0].headers["authorization"], format!("Basic {expected}"));
    let gone = ended(network.stage.command().args(["secret", "remove", "kept"]));
    assert_eq!(gone.code, Some(0), "{gone:?}");
    let without = network.run("", "curl -sS https://api.test-host.org/");
    assert!(
        without.err.contains("RF-N013") && without.err.contains("kept"),
        "a secret that is missing is named: {without:?}"
    );
}

#[test]
fn learning_proposes_the_sets_and_hosts_that_were_refused() {
    let Some(network) = Network::new() else { return };
    network.ready();
    let script = "curl -s https://registry.npmjs.org/x; curl -s https://files.test-host.org:8443/x; true";
    let mut command = network.stage.command();
    command.args(["learn", "--env", &format!("SCRIPT={script}"), "--", "sh", "-c", "eval \"$SCRIPT\""]);
    let ran = ended(&mut command);
    let shown = ran.out.clone() + &ran.err;
    assert!(shown.contains("@npm") && shown.contains("files.test-host.org:8443"), "{shown}");
}

#[test]
fn a_company_proxy_is_used_with_its_login() {
    let Some(mut network) = Network::new() else { return };
    let port = upstream::raw(|mut stream| {
        use std::io::{Read as _, Write as _};
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&head).into_owned();
        let login = base64::engine::general_purpose::STANDARD.encode("me:proxy-password");
        let known = text.to_ascii_lowercase().contains("proxy-authorization") && text.contains(&login);
        if text.starts_with("CONNECT db.test-host.org:5432 ") && known {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nthrough the proxy\n")
        } else {
            stream.write_all(b"HTTP/1.1 407 No\r\n\r\n")
        }
    });
    network.allow.push("db.test-host.org:5432".to_owned());
    network.rest = String::new();
    let policy = network.policy().replace(
        "unknown = \"ask\"\n",
        &format!("unknown = \"ask\"\nproxy = \"http://127.0.0.1:{port}\"\nproxy-secret = \"proxy\"\n"),
    );
    fs::write(network.stage.path("home/.config/ringfence/policy.toml"), policy).unwrap();
    let value = network.stage.path("beside/value");
    fs::write(&value, "me:proxy-password").unwrap();
    let mut set = network.stage.command();
    let set = ended(set.args(["secret", "set", "proxy"]).stdin(fs::File::open(&value).unwrap()));
    assert_eq!(set.code, Some(0), "{set:?}");
    let script = "python3 -c 'import socket; s = socket.create_connection((\"db.test-host.org\", 5432)); print(s.recv(100).decode(), end=\"\")'";
    let ran = ended(&mut network.stage.unseen("", script));
    assert_eq!(ran.out, "through the proxy\n", "{ran:?}");
}

#[test]
fn a_provider_without_the_brokers_network_says_so() {
    let Some(network) = Network::new() else { return };
    let landlock = "--provider landlock --accept-partial files --accept-partial processes";
    let ran = network.stage.run(landlock, "true");
    if ran.err.contains("RF-J002") {
        return skipped("--provider landlock", &ran.err);
    }
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let note = "this provider has no broker's network";
    assert!(ran.err.contains(note), "{ran:?}");
    assert!(network.ledger().contains(note), "{}", network.ledger());
    let asked = network.stage.run(&format!("{landlock} --network broker"), "true");
    assert_eq!(asked.code, Some(125), "a network that was asked for is not left out: {asked:?}");
}
