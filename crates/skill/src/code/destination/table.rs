//! Hosts of `tables/hosts.toml` by the kind that a skill reaches, and names that others pretend to be.

use super::Kind;

/// A host, its kind, and the reason.
pub(super) struct Row {
    pub(super) host: &'static str,
    pub(super) kind: Kind,
    pub(super) reason: &'static str,
}

/// Reads all rows.
pub(super) fn rows() -> Vec<Row> {
    let row =
        |host: policy::KnownHost| Some(Row { host: host.name, kind: kind(host.kind)?, reason: host.reason });
    policy::known_hosts().filter_map(row).collect()
}

fn kind(word: &str) -> Option<Kind> {
    Some(match word {
        "private" => Kind::Private,
        "paste" => Kind::Paste,
        "shortener" => Kind::Shortener,
        "collector" => Kind::Collector,
        "chat" => Kind::Chat,
        "dynamic-dns" => Kind::DynamicDns,
        "onion" => Kind::Onion,
        "file-drop" => Kind::FileDrop,
        "free-hosting" => Kind::FreeHosting,
        "user-content" => Kind::UserContent,
        "vendor" => Kind::Vendor,
        "placeholder" => Kind::Placeholder,
        _ => return None,
    })
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
