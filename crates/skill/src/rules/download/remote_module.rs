//! Programs that run code straight from an address.

use crate::code::command::Step;
use crate::code::destination::{Destination, Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DOWNLOAD_REMOTE_MODULE",
    category: Category::Download,
    severity: Severity::Critical,
    title: "code is run straight from an address",
    why: "The program fetches what stands at the address and runs it, with the rights of whoever starts it.",
    fix: "name a package of a registry with its version, or keep the code in the skill",
    places: ANYWHERE,
    anchors: words![
        "deno run",
        "deno install",
        "\\bnpx ",
        "\\bbunx ",
        "pip install",
        "pip3 install",
        "\\buvx ",
        "\\bpipx ",
        "\\bnpm i",
        "\\bgo run ",
        "osascript",
        "uv tool",
        "npm exec",
        "pnpm dlx",
        "python -c",
        "python3 -c",
        "node -e",
        "perl -e",
        "perl -m",
        "ruby -r",
        "ruby -e",
        "php -r",
        "gem install",
        "cargo install",
        "brew install",
    ],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if !unit.text().contains("://") && !unit.text().contains("data:") {
        return Vec::new();
    }
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let name = if runs_pip(step) { String::from("pip") } else { step.name() };
    let severity = match name.as_str() {
        "npx" | "bunx" | "uvx" | "pnpx" => weight(&worst(step)?, false)?,
        "deno" | "go" if step.has("run") || step.has("install") => weight(&worst(step)?, false)?,
        "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pipx" | "uv" | "gem" | "cargo" | "brew"
            if installs(step) =>
        {
            weight(&worst(step)?, !lets_everything_in(step))?
        }
        "python" | "node" | "perl" | "ruby" | "php" | "osascript" => fetching_code(step)?,
        _ => return None,
    };
    Some(Hit { severity: Some(severity), ..Hit::at(step.range()) })
}

/// Returns true for `python -m pip`.
fn runs_pip(step: Step<'_>) -> bool {
    step.name() == "python" && step.value(&["-m"]).is_some_and(|module| module.text == "pip")
}

/// Options that no ordinary package needs: its scripts run as the administrator, its host need not prove its identity.
fn lets_everything_in(step: Step<'_>) -> bool {
    const OPTIONS: &[&str] = &[
        "--unsafe-perm",
        "--foreground-scripts",
        "--ignore-scripts=false",
        "--trusted-host",
        "--strict-ssl=false",
    ];
    let is_option = |word: &str| {
        OPTIONS.iter().any(|option| {
            word == *option || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
        })
    };
    step.words().iter().any(|word| is_option(&word.text))
}

fn installs(step: Step<'_>) -> bool {
    ["install", "i", "add", "exec", "dlx", "run"].iter().any(|word| step.has(word))
}

/// Returns the worst address among its words, except those of registries and proxies.
fn worst(step: Step<'_>) -> Option<Destination> {
    let mut is_other = false;
    let mut found: Option<Destination> = None;
    for word in step.words() {
        let text = word.text.as_str();
        let skip = std::mem::replace(
            &mut is_other,
            matches!(
                text,
                "--registry"
                    | "--index-url"
                    | "-i"
                    | "--extra-index-url"
                    | "--proxy"
                    | "-f"
                    | "--find-links"
                    | "--trusted-host"
            ),
        );
        if text.starts_with("data:") {
            // The code is in the address itself, where a reader does not expect it.
            return Some(Destination { kind: Kind::Unknown, ..classify("data.invalid") });
        }
        if skip || text.starts_with("--") || !text.contains("://") {
            continue;
        }
        let address = text.rsplit_once(" @ ").map_or(text, |(_, address)| address);
        let here = classify(address.trim_start_matches("git+").trim_start_matches("npm:"));
        if found.as_ref().is_none_or(|found| weight(&here, false) > weight(found, false)) {
            found = Some(here);
        }
    }
    found
}

/// Packages from a user's repository are ordinary; packages from an unknown source are not.
fn weight(from: &Destination, installs: bool) -> Option<Severity> {
    match from.kind {
        Kind::Vendor if from.encrypted => None,
        Kind::UserContent if from.encrypted => Some(Severity::Note),
        Kind::Private => Some(Severity::Note),
        Kind::Placeholder | Kind::Unknown if from.encrypted && installs => Some(Severity::Warning),
        _ => Some(Severity::Critical),
    }
}

/// Finds code in a word that fetches and evaluates.
fn fetching_code(step: Step<'_>) -> Option<Severity> {
    let lower = code_of(step)?.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let fetches = has(&[
        "urlopen",
        "requests.get",
        "urlretrieve",
        "fetch(",
        "https.get",
        "http.get",
        "net::http",
        "lwp",
        "open-uri",
        "file_get_contents('http",
        "file_get_contents(\"http",
        "curl ",
        "wget ",
        "httpx.get",
        ").get('http",
        ").get(\"http",
        ").get(`http",
        "http.client",
        "get(\"http",
        "get('http",
        "get \"http",
        "get 'http",
        "uri.open",
        "io.socket",
        "net.webclient",
    ]);
    let runs = has(&[
        "exec(",
        "eval(",
        "eval)",
        "eval ",
        "compile(",
        "| sh",
        "|sh",
        "| bash",
        "|bash",
        "os.system",
        "subprocess",
        "child_process",
        "function(",
        "vm.run",
        "do shell script",
    ]);
    (fetches && runs).then(|| {
        let url =
            lower.split(['"', '\'', ' ', ')', '`']).find(|word| word.contains("://")).unwrap_or_default();
        classify(url).weight_of_running()
    })
}

/// Returns the code in its words; `osascript` takes it in several.
fn code_of(step: Step<'_>) -> Option<String> {
    const OPTIONS: &[&str] = &["-c", "-e", "-r", "--eval", "-le", "-p", "--print", "-MLWP::Simple"];
    let pairs = step.words().windows(2).filter(|pair| OPTIONS.contains(&pair[0].text.as_str()));
    let texts = pairs
        .map(|pair| if pair[1].text.is_empty() { step.spelled(&pair[1]) } else { pair[1].text.as_str() });
    let code: Vec<&str> = texts.take(32).collect();
    (!code.is_empty()).then(|| code.join("\n"))
}
