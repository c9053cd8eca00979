//! A tool whose name, description and parameters say that it attacks.

use super::score::{ATTACK, DOUBTFUL, Score};
use super::{ANCHORS, MANIFESTS, document};
use crate::manifest::tool_nodes;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file};
use crate::text::json::Node;
use crate::text::unit::Unit;

pub(super) const RULE: Rule = Rule {
    id: "TOOL_ATTACKS",
    category: Category::AttackTool,
    severity: Severity::Critical,
    title: "a tool that says that it attacks",
    why: "Its name, description or parameters are those of an attack: a model that has the tool will use it when a text tells it to.",
    fix: "do not connect the server; an agent that tests systems belongs in a jail of its own, with the hosts it may reach",
    places: MANIFESTS,
    anchors: ANCHORS,
    check: Check::Unit(hits),
    hits: &[
        file(
            "t.json",
            r#"{"tools":[{"name":"sendout_files","description":"Exfiltrate documents through DNS queries.","inputSchema":{"type":"object","properties":{"path":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"[{"name":"ssh_try_logins","description":"Brute force a login.","inputSchema":{"properties":{"target_host":{},"wordlist":{}}}}]"#,
        ),
        file(
            "t.json",
            r#"{"result":{"tools":[{"name":"privescLinuxCheck","description":"Look around.","inputSchema":{}}]}}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"vault_open","description":"Decrypt saved passwords from the browser profile.","inputSchema":{}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"lib_loader","description":"Inject a DLL into a running process.","inputSchema":{"properties":{"target_pid":{},"dll_path":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"drop_page","description":"Uploads a web shell to the server.","inputSchema":{"properties":{"target_url":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"smb_exploit","description":"Exploit a vulnerable file server.","inputSchema":{}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"leave","description":"Escape the container through a mounted socket.","inputSchema":{}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"type":"function","function":{"name":"recon_hosts","description":"Enumerate hosts of a network.","parameters":{"properties":{"cidr":{}}}}}]}"#,
        ),
        file(
            "SKILL.md",
            "# Tools\n```json\n{\"tools\":[{\"name\":\"keylogger_start\",\"description\":\"Log keystrokes.\",\"inputSchema\":{}}]}\n```\n",
        ),
    ],
    misses: &[
        file(
            "t.json",
            r#"{"tools":[{"name":"azure_get_key_vault_secret","description":"Get a secret from a key vault.","inputSchema":{"properties":{"vault_name":{},"secret_name":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"azure_get_storage_account_keys","description":"Get the access keys of a storage account.","inputSchema":{"properties":{"account":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"semgrep_scan","description":"Scans code for vulnerabilities such as SQL injection, SSRF, path traversal and command injection.","inputSchema":{"properties":{"code_files":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"list_secret_scanning_alerts","description":"List secret scanning alerts in a repository.","inputSchema":{"properties":{"owner":{},"repo":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"pods_exec","description":"Execute a command in a Kubernetes pod.","inputSchema":{"properties":{"command":{},"namespace":{}}}},{"name":"port_forward","description":"Forward a local port to a port of a pod.","inputSchema":{}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"browser_evaluate","description":"Evaluate JavaScript expression on page or element","inputSchema":{}},{"name":"browser_network_requests","description":"Returns all network requests since loading the page","inputSchema":{}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"query","description":"Run a read-only SQL query","inputSchema":{"properties":{"sql":{}}}},{"name":"pg_dump","description":"Dump a database for backup","inputSchema":{}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"get_attack_technique","description":"Get a technique of the ATT&CK knowledge base, such as privilege escalation.","inputSchema":{"properties":{"id":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"dns_lookup","description":"Resolve the A and MX records of a domain.","inputSchema":{"properties":{"domain":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"github_delete_webhook","description":"Delete a webhook of a repository.","inputSchema":{"properties":{"hook_id":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"harvest_list_entries","description":"List time entries in Harvest.","inputSchema":{}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"analyze_file","description":"Check whether a file is malware with several scanners, and report ransomware families.","inputSchema":{"properties":{"hash":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"trivy_scan_image","description":"Scan a container image for known vulnerabilities and misconfigurations.","inputSchema":{"properties":{"image":{},"target_type":{}}}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"extract_text","description":"Extract text and tables from a PDF document.","inputSchema":{}}]}"#,
        ),
        file(
            "t.json",
            r#"{"tools":[{"name":"search_issues","description":"Search issues; supports search by tag, release, and whether unhandled.","inputSchema":{"properties":{"payload":{},"query":{}}}}]}"#,
        ),
    ],
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(document) = document(unit) else { return Vec::new() };
    tool_nodes(&document.root).into_iter().filter_map(hit).collect()
}

fn hit(tool: &Node<'_>) -> Option<Hit> {
    let score = Score::of(tool);
    let severity = match score.sum {
        ATTACK.. => None,
        DOUBTFUL.. => Some(Severity::Warning),
        _ => return None,
    };
    let name = tool.all("name").next().unwrap_or(tool);
    let note = format!("it speaks of {}", score.words.join(", "));
    Some(Hit { range: name.inside(), note: Some(note), severity })
}
