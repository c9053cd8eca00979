//! Private data is handed over under a pretext.

use std::ops::Range;

use crate::code::destination::Kind;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::{Link, links};
use crate::text::phrase::signs::{
    COVERT, NO_CONSENT, OWN, PRETEXT, PRIVATE, QUIET, SOMETHING, STANDING, THAT, UNABRIDGED, outside,
};
use crate::text::phrase::{Phrases, ceil, is_described, is_forbidden, sentence_after, sentence_before};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_TOLD_HANDED",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "private things are handed to somebody, under some pretext",
    why: "Support, quality and diagnostics are honest reasons when the user sees what is sent and says yes. What is sent every time, unabridged or to a place of nobody is not for them.",
    fix: "show the user what would be sent where, and leave it to them",
    places: PROSE,
    anchors: words![
        r"\bprompt",
        r"\beingabe",
        "l'utilisateur",
        r"\barchivos",
        r"\badjuntos",
        r"\bprintenv",
        r"\bconversation",
        r"\btranscript",
        r"\bdialogue",
        r"\bchat",
        r"\bmessage history",
        r"\bfull exchange",
        r"\bwhole exchange",
        r"\bentire exchange",
        r"\bexchange so far",
        r"\bsession",
        r"\bwhole thread",
        r"\bentire thread",
        r"\bfull thread",
        r"\bfull context",
        r"\bwhole context",
        r"\bentire context",
        r"\bsystem text",
        r"\bsystem prompt",
        r"\bsystem message",
        r"\bclipboard",
        r"\bkeystroke",
        r"\bbrowsing history",
        r"\bbrowser",
        r"\bverlauf",
        r"\bgespr",
        r"\brepositor",
        r"\bcodebase",
        r"\bcode base",
        r"\bsource code",
        r"\bsource tree",
        r"\bworking tree",
        r"\bworking directory",
        r"\bworking copy",
        r"\bworkspace",
        r"\bproject tree",
        r"\bproject folder",
        r"\bproject directory",
        r"\bproject files",
        r"\bbranches",
        r"\bhome folder",
        r"\bhome directory",
        r"\bmailbox",
        r"\binbox",
        r"\baddressbook",
        r"\baddress book",
        r"\bcontacts",
        r"\bcalendar",
        r"\bdesktop",
        r"\buser's",
        r"\btheir files",
        r"\btheir documents",
        r"\btheir photos",
        r"\btheir notes",
        r"\bgit bundle",
        r"\bdossier personnel",
        r"\bcarpeta del",
        r"\bprojektordner",
        r"\bheimatverzeichnis",
        r"\bsecret",
        r"\bcredential",
        r"\bpassword",
        r"\blogin",
        r"\bprivate key",
        r"\bssh key",
        r"\bapi key",
        r"\baccess token",
        r"\btokens",
        r"\bcookies",
        r"\bwallet",
        r"\bseed phrase",
        r"\brecovery phrase",
        r"\benvironment",
        r"\bshell history",
        r"\bcommand history",
        r"\bzugangsdaten",
        r"\bpassw",
        r"\bcontrase",
        r"\bmots de passe",
        r"\bcustomer",
        r"\bclient's",
        r"\bclients'",
        r"\bpatient",
        r"\bemployee",
        r"\bpersonnel",
        r"\bpayroll",
        r"\bsalar",
        r"\bpassport",
        r"\bdocuments",
        r"\battachments",
        r"\brecords",
        r"\bdrafts",
        r"\binvoices",
        r"\bcontracts",
        r"\brecordings",
        r"\brows",
        r"\bmails",
        r"\bemails",
        r"\bscreenshots",
        r"\bpersonal ",
        r"\boriginal text",
        r"\boriginal file",
        r"\bsource text",
        r"\bpasted text",
        r"\bbcc",
        r"\bblind copy",
        r"\bforwarding",
        r"\bredirect",
        "~/",
        "$home",
        "%userprofile%",
        ".env",
        ".ssh",
        ".aws",
        ".netrc",
        ".npmrc",
        ".kube",
        ".gnupg",
        ".pem",
        ".kdbx",
        "id_rsa",
        "_history",
        "对话",
        "聊天",
        "密钥",
        "密码",
        "文件",
        "环境变量",
        "源代码",
        "ереписк",
        "арол",
        "тветы",
        "файл",
        "ключ",
        "histor",
    ],
    check: Check::Requiring(&[&ADDRESS, &SOMETHING], hits),
};

/// Phrases one of which occurs in every text that the rule matches.
static ADDRESS: Phrases = Phrases::new(words!["://|@"]);

/// Phrases that direct data to an address.
static GOES: Phrases = Phrases::new(words![
    r"\b(?:send|sends|sent|sending|upload\w*|post|posts|posted|transmit\w*|forward\w*|submit\w*|push|pushes|pushed|relay\w*|deliver\w*|e-?mail|e-?mails|mail|mails|cc|bcc|mirror\w*|replicat\w+|ship|ships|share|shares|deposit\w*|enclose\w*|attach\w*|hand|hands|handed|pass|passes|copy|copies|copied|pipe|pipes|put|puts|store|stores|stored|stash|place|dump|dumps|sync\w*|append|appends|archive|export\w*|curl|rsync|scp|back up|backed up|lands?|goes|go)\b...\b(?:to|at|into|in|with|via|on|under|through|for|from|using|by|copy|put|post|remote add|mirror|push)(?: <any>){0,5}[ (`<:=]*(?:https?://|[\w.+-]+@[a-z0-9-]+\.)",
    r"\b(?:to|at|into|via|with) (?:<any> ){0,6}[(`<:]+[^\n\]]*?https?://",
    r"\bbcc\b|\bblind copy\b|\b(?:forwarding|redirect\w*) (?:rule|filter)",
    r"(?:https?://|@[a-z0-9-]+\.)...(?:bermitt(?:eln|elt)|senden|sendet|gesendet|schick\w*|geschickt|hochladen|hochgeladen|weiter(?:ge)?leite[nt])",
    r"(?:bermittle|bertrage|\b(?:sende|envoie[sr]?|envoye[rz]|transmett\w+|transmet[sz]?|copie[rz]|t\S{1,2}l\S{1,2}verse[rz]?|env\S{1,2}[ae]|enviar\w*|sube|subir\w*|invia\w*|inoltra\w*)\b|发送|發送|上传|上傳|转发|轉發|送信|тправ(?:ь|и|я)|ерешли|ересыла)...(?:https?://|@[a-z0-9-]+\.)",
]);

/// Phrases that hand data to a recipient.
static GIVEN: Phrases = Phrases::new(words![
    r"\b(?:send|sends|sent|sending|upload\w*|post|posts|posted|transmit\w*|forward\w*|submit\w*|push|pushes|pushed|relay\w*|deliver\w*|e-?mail|e-?mails|mail|mails|cc|bcc|mirror\w*|replicat\w+|ship|ships|share|shares|deposit\w*|enclose\w*|attach\w*|hand|hands|handed|pass|passes|copy|copies|copied|pipe|pipes|put|puts|store|stores|stored|stash|place|dump|dumps|sync\w*|append|appends|archive|export\w*|curl|rsync|scp|back up|backed up|lands?|goes|go)\b",
]);

/// Phrases that copy or forward the user's mail to another address from now on.
static COPIED: Phrases = Phrases::new(words![
    r"\b(?:add|put|include|set|enter)s? (?:<any> ){0,3}\S+@\S+ (?:<any> ){0,3}(?:in|as|to|on) (?:<any> )?bcc\b... (?:each|every|all|any|from now on)\b",
    r"\b(?:blind copy|bcc)\b... (?:each|every|all|any)(?: <any>){0,3} (?:e-?mails?|messages?|repl(?:y|ies)|letters?)... \S+@\S+",
    r"\b(?:set up|create|add|install|configure) (?:<any> ){0,3}(?:forwarding|redirect\w*) (?:rule|filter)s?\b... (?:mailbox|inbox|e-?mails?|messages|\S+@\S+)",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    if !GOES.is_in(text) || !SOMETHING.is_in(text) {
        return Vec::new();
    }
    let is_said = |at: usize| !is_forbidden(text, at) && !is_described(text, at);
    let signs = [&COVERT, &NO_CONSENT, &QUIET, &UNABRIDGED];
    let kept = || signs.iter().any(|sign| sign.is_in(text));
    let mut found: Vec<Range<usize>> = Vec::new();
    for place in outside(text) {
        if is_handed(unit, &place, kept) && is_said(place.start) {
            found.push(place);
        }
    }
    if COPIED.is_in(text) && text.contains('@') {
        found.extend(GIVEN.ranges(text));
    }
    found.retain(|range| is_said(range.start));
    let hit = |range: Range<usize>| {
        // Quoted text is taken as a description, as far as can be seen here.
        let quoted = is_quoted(text, range.start).then_some(Severity::Warning);
        Hit { severity: quoted, ..Hit::at(range) }
    };
    found.into_iter().map(hit).take(1).collect()
}

fn is_quoted(text: &str, at: usize) -> bool {
    let before = sentence_before(text, at, FAR);
    before.matches('"').count() % 2 == 1
        || before.matches('\u{201c}').count() > before.matches('\u{201d}').count()
}

/// Returns true if an address gets data that it should not: the user's own data always, other data if there is one more sign.
fn is_handed(unit: &Unit<'_>, place: &Range<usize>, kept: impl Fn() -> bool) -> bool {
    let text = unit.text();
    let (said, behind) = (sentence_before(text, place.start, FAR), sentence_after(text, place.end, 80));
    let known = links(&text[place.clone()]).iter().any(|link| link.to.kind == Kind::UserContent);
    if known || text[..place.start].ends_with("](") || USERS.is_in(said) || USERS.is_in(behind) {
        return false;
    }
    let given = GIVEN.is_in(said) && TOWARDS.is_in(said) || ABROAD.is_in(said) || ABROAD.is_in(behind);
    if !given {
        return false;
    }
    // A pronoun refers to something named in the sentences before.
    let earlier = THAT.is_in(said).then(|| {
        let end = place.start - said.len();
        &text[ceil(text, end.saturating_sub(FAR))..end]
    });
    let names = |sign: &Phrases| sign.is_in(said) || earlier.is_some_and(|earlier| sign.is_in(earlier));
    if names(&OWN) {
        return true;
    }
    let again = || STANDING.is_in(said) || STANDING.is_in(behind) || PRETEXT.is_in(text);
    names(&PRIVATE)
        && (kept()
            || again() && is_nobodys(&text[place.clone()])
            || PRETEXT.is_in(text) && STANDING.is_in(text))
}

/// Number of bytes read backwards for a sentence, and for those before it.
const FAR: usize = 300;

fn is_nobodys(address: &str) -> bool {
    links(address).iter().any(Link::is_anybodys)
}

/// Words of direction right before the address.
static TOWARDS: Phrases = Phrases::new(words![
    r"\b(?:to|at|into|in|with|via|on|under|through|for|from|using|by|copy|put|post|remote add|mirror|push)(?: <any>){0,5}[ (`<:=]*$",
    r"\b(?:to|at|into|via|with) (?:<any> ){0,6}[(`<:]+[^\n]*$",
]);

/// Destinations that the user owns or has chosen.
static USERS: Phrases = Phrases::new(words![
    r"\b(?:your own|their own|user<'>s own|self-hosted|(?:configured|chosen|given|provided|specified) by <user>|if <user> (?:asks|wants|agrees|says|confirms|has|have)|(?:after|once|only if|only when|with) <user>(?:<'>s)? (?:<any> ){0,2}(?:agrees|confirms|approves|says yes|consent|confirmation|approval|yes|asks)|after a yes|<user> (?:can|may|might|could|is free to|chooses?)|on request|ask (?:first|before))\b",
]);

/// Verbs of other languages: they come before or after the address.
static ABROAD: Phrases = Phrases::new(words![
    r"bermitt(?:le|eln|elt|lung)\b|bertrag(?:e|en)\b|\b(?:sende|senden|sendet|gesendet|schicke|schicken|schickt|geschickt|hochladen|hochgeladen|weiterleiten|weitergeleitet)\b",
    r"\b(?:envoie[sr]?|envoye[rz]|transmett\w+|transmet[sz]?|copie[rz]|t\S{1,2}l\S{1,2}verse[rz]?|env\S{1,2}[ae]|enviar\w*|sube|subir\w*|invia\w*|inoltra\w*)\b",
    r"(?:发送|發送|上传|上傳|转发|轉發|送信|тправ(?:ь|и|я)\S*|ерешли|ересыла\S*)",
]);
