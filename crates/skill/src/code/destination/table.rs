//! Table: hosts, and what is known about them, out of `hosts.txt`.

use super::Kind;

/// A host, its kind, and the reason.
pub(super) struct Row {
    pub(super) host: &'static str,
    pub(super) kind: Kind,
    pub(super) reason: &'static str,
}

/// The rows as text: they are read when a scan first meets a host.
const HOSTS: &str = include_str!("hosts.txt");

/// Reads all rows.
pub(super) fn rows() -> Vec<Row> {
    let (mut rows, mut kind) = (Vec::new(), Kind::Unknown);
    for line in HOSTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((hosts, reason)) = line.split_once(" = ") {
            rows.extend(hosts.split(' ').map(|host| Row { host, kind, reason }));
        } else {
            kind = kind_in(line);
        }
    }
    rows
}

/// Returns the kind that a line in brackets begins.
fn kind_in(line: &str) -> Kind {
    match line {
        "[private]" => Kind::Private,
        "[metadata]" => Kind::Metadata,
        "[paste]" => Kind::Paste,
        "[shortener]" => Kind::Shortener,
        "[collector]" => Kind::Collector,
        "[chat]" => Kind::Chat,
        "[dynamic-dns]" => Kind::DynamicDns,
        "[onion]" => Kind::Onion,
        "[file-drop]" => Kind::FileDrop,
        "[free-hosting]" => Kind::FreeHosting,
        "[user-content]" => Kind::UserContent,
        "[vendor]" => Kind::Vendor,
        "[placeholder]" => Kind::Placeholder,
        _ => Kind::Unknown,
    }
}

/// Names that others pretend to be: the name without its ending, and the endings that are real.
pub(super) const BRANDS: &[(&str, &[&str])] = &[
    ("github", &["com", "io", "dev", "blog", "community"]),
    ("githubusercontent", &["com"]),
    ("gitlab", &["com", "io", "org"]),
    ("google", &["com", "dev", "cloud"]),
    ("googleapis", &["com"]),
    ("microsoft", &["com"]),
    ("anthropic", &["com"]),
    ("openai", &["com", "org"]),
    ("claude", &["ai", "com"]),
    ("cloudflare", &["com", "net", "dev"]),
    ("amazonaws", &["com"]),
    ("docker", &["com", "io"]),
    ("npmjs", &["com", "org"]),
    ("pypi", &["org", "python"]),
    ("rustup", &["rs"]),
    ("homebrew", &["sh"]),
    ("nodejs", &["org"]),
    ("python", &["org"]),
    ("telegram", &["org", "me"]),
    ("discord", &["com", "gg"]),
    ("paypal", &["com"]),
    ("coinbase", &["com"]),
    ("binance", &["com"]),
    ("metamask", &["io"]),
    ("polymarket", &["com"]),
    ("huggingface", &["co"]),
    ("kubernetes", &["io"]),
    ("hashicorp", &["com"]),
    ("atlassian", &["com", "net"]),
    ("vercel", &["com", "app", "dev"]),
    ("ollama", &["com", "ai"]),
    ("openclaw", &["ai", "bot", "org"]),
    ("clawhub", &["ai", "com"]),
    ("astral", &["sh"]),
    ("tailscale", &["com"]),
    ("stripe", &["com", "dev"]),
    ("apple", &["com"]),
];
