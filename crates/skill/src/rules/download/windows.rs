//! Downloads that Windows runs.

use crate::code::destination::classify;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DOWNLOAD_WINDOWS",
    category: Category::Download,
    severity: Severity::Critical,
    title: "a download is run on Windows",
    why: "What another machine sends is run, often by a program of Windows that nobody suspects.",
    fix: "download into a file, check it against a known hash, and run the file",
    places: ANYWHERE,
    anchors: words![
        "\\biex",
        "invoke-expression",
        "downloadstring",
        "downloadfile",
        "mshta",
        "certutil",
        "bitsadmin",
        "regsvr32",
        "rundll32",
        "msiexec",
        "start-bitstransfer",
        "net use",
        "@ssl",
        "@443",
        "@80\\",
        "installutil",
        "wmic",
        "cmstp",
        "hh.exe",
        "-outfile",
        ".exe",
        "invoke-restmethod",
        "invoke-webrequest",
        "\\birm ",
        "\\biwr ",
    ],
    check: Check::Unit(hits),
};

patterns! {
    FOUND = concat!(
        r"\b(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|nslookup|DownloadString)\b[^\n]{0,300}?[|;]\s*(?:iex|invoke-expression)\b[^\n]{0,40}",
        r"|\b(?:iex|invoke-expression)\b[^\n]{0,40}?[\s(&{]{1,4}(?:\(?new-object\s|iwr\b|irm\b|curl\b|wget\b|invoke-webrequest\b|invoke-restmethod\b|\[[^\]\n]{1,40}webclient)[^\n]{0,300}",
        r"|&\s*(?:\$\w+|\([^)\n]{1,160}\))\s+[\s$(&{]{0,4}(?:\(?new-object\s|iwr\b|irm\b|invoke-webrequest\b|invoke-restmethod\b)[^\n]{0,300}",
        r"|\.Download(?:String|File|Data)\s*\(\s*['\x22][^\n]{1,300}",
        r"|\bmshta(?:\.exe)?\s+['\x22]?(?:https?:|vbscript:|javascript:|\\\\)[^\n]{0,200}",
        r"|\bcertutil(?:\.exe)?\s[^\n]{0,60}?-(?:urlcache|verifyctl|decode\s[^\n]{1,60}&&)[^\n]{0,200}",
        r"|\bbitsadmin(?:\.exe)?\s[^\n]{0,60}?/transfer[^\n]{0,200}",
        r"|\bstart-bitstransfer\b[^\n]{0,200}?;[^\n]{0,80}(?:start-process|&|\./|\.\\)[^\n]{0,80}",
        r"|\bregsvr32(?:\.exe)?\s[^\n]{0,60}?/i:\s*(?:https?|\\\\)[^\n]{0,200}",
        r"|\brundll32(?:\.exe)?\s[^\n]{0,40}?(?:https?:|javascript:|vbscript:|\\\\[^\s\\]+[@\\])[^\n]{0,200}",
        r"|\bmsiexec(?:\.exe)?\s[^\n]{0,40}?(?:/i|/package)\s*['\x22]?https?:[^\n]{0,200}",
        r"|\\\\[\w.-]+@(?:ssl(?:@[0-9]+)?|[0-9]{2,5})\\[^\n]{0,120}",
        r"|\bwmic(?:\.exe)?\s[^\n]{0,80}?/format:\s*['\x22]?https?:[^\n]{0,120}"
    );
    ADDRESS = r#"(?:h..ps?://|\b)[a-z0-9][a-z0-9.-]*\.[a-z]{2,}(?::[0-9]+)?(?:/[^\s"'`)|;]*)?"#;
    SAVED = r"(?:\bcurl(?:\.exe)?\s[^\n|;]{0,200}?(?:-o|--output)\s+|-OutFile\s+|-Destination\s+|\.DownloadFile\([^,\n]{1,200},\s*)(?:\$env:\w+\s*\+\s*)?['\x22]?([^\s'\x22;)]{3,200})";
    STARTS = r"(?:\b(?:start-process|invoke-item|saps|msiexec|powershell|pwsh|start|cmd|rundll32|regsvr32)\b[^\n;]{0,100}|&\s*['\x22]?[^\n;'\x22]{0,80}|^\s*\.?[\\/]?[^\n;'\x22\s]{0,60}|;\s*['\x22]?\.?[\\/]?[^\n;'\x22\s]{0,60})$";
    SCHEME = r#"h..ps?://[^\s"'`)|;]+"#;
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let found = FOUND.find_iter(text).take(20);
    let at_once =
        found.map(|found| Hit { severity: Some(severity(found.as_bytes())), ..Hit::at(found.range()) });
    at_once
        .chain(SAVED.captures_iter(text).take(20).filter_map(|saved| started(text, &saved.get(1)?)))
        .collect()
}

/// Finds a program that is saved in one line and started in another.
fn started(text: &[u8], saved: &regex::bytes::Match<'_>) -> Option<Hit> {
    let path = saved.as_bytes();
    let from = memchr::memrchr2(b'/', b'\\', path).map_or(0, |at| at + 1);
    let name = &path[from..];
    let lower = name.to_ascii_lowercase();
    let is_program = [&b".exe"[..], b".msi", b".ps1", b".bat", b".cmd", b".vbs", b".scr", b".dll", b".js"];
    let is_variable = name.first() == Some(&b'$');
    if name.len() < 4 || !is_variable && !is_program.iter().any(|end| lower.ends_with(end)) {
        return None;
    }
    let rest = &text[saved.end()..];
    let start = memchr::memmem::find_iter(rest, name).take(8).find(|at| {
        let line = memchr::memrchr(b'\n', &rest[..*at]).map_or(0, |line| line + 1);
        STARTS.is_match(&rest[line.max(at.saturating_sub(160))..*at])
    })?;
    let line = memchr::memrchr(b'\n', &text[..saved.start()]).map_or(0, |line| line + 1);
    let address = SCHEME.find(&text[line..]).or_else(|| SCHEME.find(text))?;
    let severity = classify(&String::from_utf8_lossy(address.as_bytes())).weight_of_running();
    Some(Hit { severity: Some(severity), ..Hit::at(line..saved.end() + start + name.len()) })
}

fn severity(command: &[u8]) -> Severity {
    let address = SCHEME.find(command).or_else(|| ADDRESS.find(command));
    let address = address.map(|found| String::from_utf8_lossy(found.as_bytes()).into_owned());
    address.map_or(Severity::Critical, |address| classify(&address).weight_of_running())
}
