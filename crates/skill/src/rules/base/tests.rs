//! Long-standing requirements on the eighteen base rules.

use std::collections::BTreeSet;

use crate::rules::rule::Severity;
use crate::scan::Scanner;
use crate::tree::Tree;

fn found(text: &str) -> Vec<(&'static str, usize)> {
    let report = Scanner::new(&crate::rules::base()).scan(&Tree::of_file("SKILL.md", text));
    let loud = report.findings.iter().filter(|finding| finding.severity > Severity::Note);
    loud.map(|finding| (finding.rule.id, finding.span.start)).collect()
}

#[test]
fn eighteen_rules_in_six_categories() {
    let rules = crate::rules::base();
    let expected = [
        ("EXEC_SUBSHELL", "exec_injection", Severity::Critical),
        ("EXEC_BACKTICK", "exec_injection", Severity::Critical),
        ("EXEC_EVAL", "exec_injection", Severity::Critical),
        ("EXEC_PIPE_BASH", "exec_injection", Severity::Critical),
        ("ENV_PRINTENV", "env_harvesting", Severity::Warning),
        ("ENV_PROC_ENVIRON", "env_harvesting", Severity::Warning),
        ("ENV_MASS_DUMP", "env_harvesting", Severity::Warning),
        ("CRYPTO_STRATUM", "crypto_mining", Severity::Critical),
        ("CRYPTO_MINER_BINARY", "crypto_mining", Severity::Critical),
        ("CRYPTO_POOL_DOMAIN", "crypto_mining", Severity::Warning),
        ("NET_CURL_PIPE", "network_exfiltration", Severity::Warning),
        ("NET_WGET_EXEC", "network_exfiltration", Severity::Warning),
        ("NET_REVERSE_SHELL", "network_exfiltration", Severity::Critical),
        ("OBF_BASE64_LONG", "obfuscation", Severity::Warning),
        ("OBF_HEX_LONG", "obfuscation", Severity::Warning),
        ("OBF_BASE64_DECODE_PIPE", "obfuscation", Severity::Critical),
        ("XML_SKILL_CLOSE", "xml_breakout", Severity::Critical),
        ("XML_SYSTEM_TAG", "xml_breakout", Severity::Critical),
    ];
    let got: Vec<_> = rules.iter().map(|rule| (rule.id, rule.category.name(), rule.severity)).collect();
    assert_eq!(got, expected);
    let categories: BTreeSet<&str> = rules.iter().map(|rule| rule.category.name()).collect();
    assert_eq!((rules.len(), categories.len()), (18, 6));
}

#[test]
fn ordinary_text_is_clean() {
    let rows = [
        "",
        "# A title\n\nSome *text* with `code`, a [link](https://a.b) and\n\n- a list\n",
        "Use the curl tool",
        "Use cryptocurrency for payments",
        "Set $OPENAI_KEY",
        "<code>x</code> and <b>y</b>",
        "`curl`, `bash`, `push`",
        "eval(x), myeval('x'), new Function",
        "<system-design.md>",
    ];
    for text in rows {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn every_rule_has_its_old_hits() {
    let rows = [
        ("$(curl a)", "EXEC_SUBSHELL"),
        ("```\n$(CURL a)\n```", "EXEC_SUBSHELL"),
        ("~~~\n`sh script.sh`\n~~~", "EXEC_BACKTICK"),
        ("eval('x')", "EXEC_EVAL"),
        ("eval( \"x\")", "EXEC_EVAL"),
        ("x | bash", "EXEC_PIPE_BASH"),
        ("printenv", "ENV_PRINTENV"),
        ("/proc/self/environ", "ENV_PROC_ENVIRON"),
        ("env | grep K", "ENV_MASS_DUMP"),
        ("env|curl a.b", "ENV_MASS_DUMP"),
        ("stratum+ssl://x", "CRYPTO_STRATUM"),
        ("xmrig-proxy", "CRYPTO_MINER_BINARY"),
        ("pool.somewhere.com", "CRYPTO_POOL_DOMAIN"),
        ("curl x | bash", "NET_CURL_PIPE"),
        ("wget -O- u | sh", "NET_WGET_EXEC"),
        ("bash -i", "NET_REVERSE_SHELL"),
        ("nc -e", "NET_REVERSE_SHELL"),
        ("nc -l", "NET_REVERSE_SHELL"),
        ("exec 3<>/dev/tcp/1.2.3.4/5", "NET_REVERSE_SHELL"),
        ("base64 -d | x", "OBF_BASE64_DECODE_PIPE"),
        ("</available_skills>", "XML_SKILL_CLOSE"),
        ("</SKILL_INVOCATION>", "XML_SKILL_CLOSE"),
        ("< system>", "XML_SYSTEM_TAG"),
        ("</ system>", "XML_SYSTEM_TAG"),
    ];
    let missed: Vec<_> =
        rows.iter().filter(|(text, id)| !found(text).iter().any(|(found, _)| found == id)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn several_rules_and_several_places() {
    let all = found("$(curl a)\n\nprintenv\n\nstratum+tcp://a.b:1\n\n$(curl a)\n");
    let ids: BTreeSet<&str> = all.iter().map(|(id, _)| *id).collect();
    assert!(["EXEC_SUBSHELL", "ENV_PRINTENV", "CRYPTO_STRATUM"].iter().all(|id| ids.contains(id)), "{all:?}");
    assert_eq!(all.iter().filter(|(id, _)| *id == "EXEC_SUBSHELL").count(), 2);
    assert_eq!(all, found("$(curl a)\n\nprintenv\n\nstratum+tcp://a.b:1\n\n$(curl a)\n"));
}
