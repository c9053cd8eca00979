//! Ways out of a container.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_CONTAINER",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "a container gets the whole machine",
    why: "Whoever is in such a container can do everything on the machine around it.",
    fix: "mount only the directories that are needed, and give no more rights",
    places: ANYWHERE,
    anchors: words![
        "docker.sock",
        "--privileged",
        "nsenter",
        "-v /:",
        "--volume /:",
        "--volume=/:",
        "source=/,",
        "src=/,",
        "--pid=host",
        "--pid host",
        "hostpid",
        "containerd.sock",
        "release_agent",
    ],
    check: Check::Unit(hits),
};

patterns! {
    AGENT = r">\s*\S*/release_agent\b";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let agent = AGENT.find_iter(unit.text().as_bytes()).take(3).map(|found| Hit::at(found.range()));
    agent.chain(unit.commands().steps().filter_map(hit).take(20)).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let name = step.name();
    if name == "nsenter" {
        let first = step
            .words()
            .windows(2)
            .any(|pair| matches!(pair[0].text.as_str(), "-t" | "--target") && pair[1].text == "1")
            || step.has("-t1")
            || step.has("--target=1");
        return first.then(|| Hit::at(step.range()));
    }
    if !matches!(name.as_str(), "docker" | "podman" | "nerdctl" | "ctr") {
        return None;
    }
    let any = |test: &dyn Fn(&str) -> bool| step.words().iter().any(|word| test(&word.text));
    let root = any(&|word| {
        word.starts_with("/:/")
            || word.starts_with("-v/:/")
            || word.contains("=/:/")
            || word.contains("source=/,")
            || word.contains("src=/,")
    });
    let privileged = any(&|word| {
        word == "--privileged"
            || word == "--privileged=true"
            || word.contains("cap-add=ALL")
            || word.contains("SYS_ADMIN")
    });
    let pid =
        any(&|word| word == "--pid=host") || step.value(&["--pid"]).is_some_and(|word| word.text == "host");
    let socket = any(&|word| word.contains("docker.sock") || word.contains("containerd.sock"));
    let stays = (step.has("-d") || step.has("--detach"))
        && !any(&|word| word.ends_with(":ro"))
        && !any(&is_known_image);
    let severity = if root || privileged && (pid || socket) || socket && stays {
        None
    } else if socket {
        Some(Severity::Warning)
    } else if privileged || pid {
        Some(Severity::Note)
    } else {
        return None;
    };
    Some(Hit { severity, ..Hit::at(step.range()) })
}

/// Returns true for images of programs that are known to need the socket, by program or publisher.
fn is_known_image(word: &str) -> bool {
    [
        "portainer",
        "traefik",
        "aquasec",
        "watchtower",
        "gitlab-runner",
        "jenkins",
        "datadog",
        "grafana",
        "prom",
        "dive",
        "localstack",
        "anchore",
        "nginx-proxy",
        "act",
        "testcontainers",
        "dozzle",
        "docker:",
    ]
    .iter()
    .any(|image| word.contains(image))
}
