//! Toolchains and ports of a jail.

use jail::bridge::{Direction, Port};
use jail::toolchain::{Choose, NAMES};
use policy::{Code, Shown};

use super::{Bounds, Wish, widens};
use crate::cover::covered;
use crate::problem::{Problem, nearest};
use crate::schema::Text;
use crate::settings::Settings;
use crate::tree::{Node, find};

/// As many as a jail can have, each way.
const MOST_PORTS: usize = 16;

impl Settings {
    pub(super) fn toolchains(&self, wish: &Wish, bounds: &Bounds) -> Result<Choose, Problem> {
        let by_files = || self.get("jail.toolchains").map_or(Choose::NONE, choose);
        let Some(wanted) = &wish.toolchains else { return Ok(by_files()) };
        known(wanted)?;
        let mut bounding = bounds.iter().filter_map(|bound| find(bound, "jail.toolchains"));
        match bounding.find(|node| !no_more(wanted, &choose(node))) {
            Some(node) => Err(widens("jail.toolchains", &words(wanted), Some(node))),
            None => Ok(wanted.clone()),
        }
    }

    /// Ports of the command line come on top of those of the files.
    pub(super) fn ports(&self, wish: &Wish, bounds: &Bounds) -> Result<Vec<Port>, Problem> {
        let mut ports = Vec::new();
        for way in [Direction::In, Direction::Out] {
            let (key, meaning) = key(way);
            let by_files = self.get(key).into_iter().flat_map(Node::texts).map(|(text, _)| text);
            let wished =
                wish.ports.iter().filter(|(wished, _)| *wished == way).map(|(_, text)| text.as_str());
            for text in wished.clone() {
                let mut bounding = bounds.iter().filter_map(|bound| find(bound, key));
                if let Some(node) = bounding.find(|node| !covered(meaning, text, &texts(node))) {
                    return Err(widens(key, text, Some(node)));
                }
            }
            let mut each =
                by_files.chain(wished).map(|text| port(way, text)).collect::<Result<Vec<_>, _>>()?;
            each.sort_unstable();
            each.dedup();
            if each.len() > MOST_PORTS {
                return Err(Problem::new(
                    Code::BadValue,
                    format!("`{key}` has more than {MOST_PORTS} ports"),
                ));
            }
            ports.extend(each);
        }
        Ok(ports)
    }
}

fn texts(node: &Node) -> Vec<&str> {
    node.texts().map(|(text, _)| text).collect()
}

const fn key(way: Direction) -> (&'static str, Text) {
    match way {
        Direction::In => ("jail.ports-in", Text::PortIn),
        Direction::Out => ("jail.ports-out", Text::PortOut),
    }
}

fn port(way: Direction, text: &str) -> Result<Port, Problem> {
    Port::parse(way, text).map_err(|error| {
        Problem::new(Code::BadValue, format!("`{}` is not a port: {error}", Shown::text(text)))
    })
}

fn choose(node: &Node) -> Choose {
    match node.text() {
        Some("auto") => Choose::Auto,
        _ => Choose::Only(node.texts().map(|(text, _)| text.to_owned()).collect()),
    }
}

fn no_more(wanted: &Choose, wider: &Choose) -> bool {
    match (wanted, wider) {
        (_, Choose::Auto) => true,
        (Choose::Auto, Choose::Only(_)) => false,
        (Choose::Only(wanted), Choose::Only(wider)) => wanted.iter().all(|name| wider.contains(name)),
    }
}

fn known(wanted: &Choose) -> Result<(), Problem> {
    let Choose::Only(names) = wanted else { return Ok(()) };
    let Some(unknown) = names.iter().find(|name| !NAMES.contains(&name.as_str())) else { return Ok(()) };
    let problem =
        Problem::new(Code::UnknownName, format!("there is no toolchain `{}`", Shown::text(unknown)));
    Err(match nearest(unknown, NAMES.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("known: auto, none, {}", NAMES.join(", "))),
    })
}

fn words(choose: &Choose) -> String {
    match choose {
        Choose::Auto => "auto".to_owned(),
        Choose::Only(names) if names.is_empty() => "none".to_owned(),
        Choose::Only(names) => names.join(", "),
    }
}
