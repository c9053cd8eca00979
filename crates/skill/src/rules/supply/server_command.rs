//! A server that is not a program but a line of code in its settings.

use policy::{KnownProgram, ProgramClass};

use super::deed::deed;
use super::{SETTINGS, as_shown};
use crate::code::embedded::inline_code;
use crate::manifest::{arguments, server_nodes};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::json::{Node, in_unit};
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "SERVER_COMMAND",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a server whose command is an attack",
    why: "The command runs with the rights of whoever starts the agent, before any tool is called. A server is a program; one line that fetches, decodes, listens or reads secrets is none.",
    fix: "remove the server from the settings",
    places: SETTINGS,
    anchors: words!["\"mcpservers\"", "\"mcp_servers\"", "\"servers\"", "\"context_servers\""],
    check: Check::Unit(hits),
};

/// Returns true for programs that are no servers with any arguments.
fn is_no_server(name: &str) -> bool {
    let classes = [
        ProgramClass::Fetches,
        ProgramClass::Socket,
        ProgramClass::LooksUp,
        ProgramClass::Decodes,
        ProgramClass::Schedules,
    ];
    KnownProgram::called(name).is_some_and(|program| {
        program.effect == "rights" || name == "scp" || classes.iter().any(|class| program.is(*class))
    })
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(document) = in_unit(unit) else { return Vec::new() };
    let servers = server_nodes(&document.root);
    servers.into_iter().filter_map(|(_, server)| hit(server, unit)).collect()
}

fn hit(server: &Node<'_>, unit: &Unit<'_>) -> Option<Hit> {
    let command = server.all("command").find(|node| node.text().is_some())?;
    let program = command.text()?;
    let args: Vec<&str> = arguments(server).collect();
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let code = if let Some(inline) = inline_code(program, &args) {
        (*args.get(inline.argument)?).to_owned()
    } else if is_no_server(name) || (args.is_empty() && program.contains(char::is_whitespace)) {
        std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
    } else {
        return None;
    };
    let note = deed(&code)?.to_owned();
    Some(Hit { range: command.inside(), note: Some(note), severity: as_shown(unit) })
}
