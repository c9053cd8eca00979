//! The steps of the setup are on an untrusted page.

use crate::code::destination::Kind;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::{Link, links};
use crate::text::phrase::{Phrases, is_described, is_forbidden};
use crate::text::unit::{PROSE, Unit};
use crate::words::{Words, words};

pub(super) const RULE: Rule = Rule {
    id: "LURE_STEPS_ELSEWHERE",
    category: Category::Lure,
    severity: Severity::Critical,
    title: "the setup stands on a page that nobody answers for",
    why: "A page of pastes or a shortened link shows a scanner nothing, and shows every visitor something else.",
    fix: "write the steps into the skill",
    places: PROSE,
    anchors: ANCHORS,
    check: Check::Phrases(&[&PHRASES], hits),
};

/// Hosts of the kinds that count, and prefixes of addresses without a host name.
const ANCHORS: Words = words![
    "://1",
    "://2",
    "://3",
    "://4",
    "://5",
    "://6",
    "://7",
    "://8",
    "://9",
    "://0x",
    "://[",
    "xn--",
    "visit",
    "navigate to",
    "go to",
    "head to",
    "hxxp",
    ".i2p",
    ".onion",
    "0x0.st",
    "anonfiles.com",
    "anonymfile.com",
    "bashupload.com",
    "beeceptor.com",
    "bl.ink",
    "bore.pub",
    "bpa.st",
    "buff.ly",
    "burpcollaborator.net",
    "canarytokens.com",
    "catbox.moe",
    "cdn.discordapp.com",
    "ceye.io",
    "codepad.org",
    "controlc.com",
    "ddns.net",
    "dnslog.cn",
    "dpaste.com",
    "dpaste.org",
    "duckdns.org",
    "dyndns.org",
    "dynu.net",
    "file.io",
    "filebin.net",
    "freedns.afraid.org",
    "ghostbin.com",
    "gist.github.com",
    "git.io",
    "glot.io",
    "goo.gl",
    "gotdns.ch",
    "hastebin.com",
    "hookbin.com",
    "hopto.org",
    "interact.sh",
    "interactsh.com",
    "is.gd",
    "ix.io",
    "jsonbin.io",
    "jsonkeeper.com",
    "justpaste.it",
    "keep.sh",
    "lhr.life",
    "loca.lt",
    "localhost.run",
    "localtunnel.me",
    "media.discordapp.net",
    "mediafire.com",
    "mega.nz",
    "mockbin.org",
    "mooo.com",
    "myftp.org",
    "ngrok-free.app",
    "ngrok-free.dev",
    "ngrok.app",
    "ngrok.dev",
    "ngrok.io",
    "nip.io",
    "no-ip.com",
    "no-ip.org",
    "npoint.io",
    "oast.fun",
    "oast.live",
    "oast.me",
    "oast.online",
    "oast.pro",
    "oast.site",
    "oastify.com",
    "oshi.at",
    "ow.ly",
    "paste.debian.net",
    "paste.ee",
    "paste.mozilla.org",
    "paste.rs",
    "pastebin.com",
    "pastie.org",
    "pinggy.link",
    "pipedream.net",
    "pixeldrain.com",
    "postb.in",
    "privatebin.net",
    "ptsv2.com",
    "ptsv3.com",
    "rb.gy",
    "rebrand.ly",
    "rentry.co",
    "rentry.org",
    "requestbin.com",
    "requestbin.net",
    "requestcatcher.com",
    "s.id",
    "sendspace.com",
    "servebeer.com",
    "serveo.net",
    "shorturl.at",
    "soo.gd",
    "sprunge.us",
    "sslip.io",
    "sytes.net",
    "t.co",
    "t.ly",
    "telegra.ph",
    "temp.sh",
    "termbin.com",
    "textbin.net",
    "tiny.cc",
    "tinyurl.com",
    "tmpfiles.org",
    "transfer.sh",
    "trycloudflare.com",
    "typedwebhook.tools",
    "uguu.se",
    "v.gd",
    "we.tl",
    "webhook.cool",
    "webhook.site",
    "wetransfer.com",
    "xss.ht",
    "zapto.org",
    "zippyshare.com",
];

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:visit|go to|open|navigate to|follow|click|head to|see|use|check)\b[^\n]*?\b(?:copy|paste|run|execute|follow|install|download|terminal|commands?|scripts?|steps|instructions|setup)\b",
    r"\b(?:download|install|fetch|get|grab|obtain|setup|set up|run|execute|copy)\b[^\n]*?(?:http|rentry|glot\.io|paste|bit\.ly|tinyurl|t\.me|telegra)",
]);

/// Words that make it a part of the setup.
static NEEDED: Phrases = Phrases::new(words![
    r"\b(?:prerequisites?|required?|requires|requirements?|must|before|first|setup|set up|install\w*|download\w*|necessary|need|needs|activate|activation|dependenc(?:y|ies)|terminal|script)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let headings = || unit.headings().last().is_some_and(|heading| NEEDED.is_in(heading));
    let found = links(text);
    let strange = found.iter().any(is_strange);
    if !strange || !(NEEDED.is_in(text) || headings()) {
        return Vec::new();
    }
    PHRASES
        .ranges(text)
        .into_iter()
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .map(Hit::at)
        .take(1)
        .collect()
}

/// Notes of a user with an account are not quite without an owner.
fn is_strange(link: &Link<'_>) -> bool {
    link.is_anybodys() && !link.to.host.starts_with("gist.") && link.to.kind != Kind::FreeHosting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_that_nobody_answers_for_is_an_anchor() {
        let hosts = crate::code::destination::throwaway_hosts();
        let missing: Vec<&str> =
            hosts.filter(|host| !ANCHORS.iter().any(|anchor| host.contains(anchor))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
