//! Manifests of MCP servers, and how they are started: lists of tools and settings, with hashes to pin them.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::text::json::{self, JsonError, Kind, Node};

/// A list of tools, settings of servers, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The tools, in the order of the document.
    pub tools: Vec<Tool>,
    /// Text that the server gives to the model before any call.
    pub instructions: Option<String>,
    /// The servers that are to be started or reached.
    pub servers: Vec<Server>,
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its own description.
    pub description: Option<String>,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// SHA-256 over name, description, input schema (by each of its names) and annotations in one fixed form: the same for ever
    /// while these say the same.
    pub hash: [u8; 32],
    /// Range in the bytes of the document.
    pub span: Range<usize>,
}

/// Command or address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Name in the settings.
    pub name: String,
    /// The program that is started.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// The variables that it gets.
    pub env: Vec<(String, String)>,
    /// Address, if it is not started.
    pub url: Option<String>,
    /// Range in the bytes of the document.
    pub span: Range<usize>,
}

/// Reason why a document cannot be read as a manifest. Numbers are places in its bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The size limit is exceeded.
    #[error("the manifest is larger than 4 MiB")]
    TooLarge,
    /// Bytes that are no text.
    #[error("byte {0}: not UTF-8")]
    NotText(usize),
    /// Objects and lists lie in each other without end.
    #[error("byte {0}: nested too deeply")]
    TooDeep(usize),
    /// The limit on the number of values is exceeded.
    #[error("byte {0}: too many values")]
    TooMany(usize),
    /// No JSON.
    #[error("byte {0}: not JSON")]
    Syntax(usize),
    /// A name twice in one object: readers disagree on which of them counts.
    #[error("byte {0}: a name stands twice in one object")]
    Twice(usize),
    /// A tool without a name, or with something else in its place.
    #[error("byte {0}: a tool without a name")]
    NoName(usize),
}

impl Manifest {
    /// Reads a list of tools (alone, in an object, or in an answer to `tools/list`) or the settings of servers. `None` if it is JSON, and
    /// neither.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, ManifestError> {
        let text = std::str::from_utf8(bytes).map_err(|error| ManifestError::NotText(error.valid_up_to()))?;
        let document = json::read(text)?;
        if let Some(twice) = document.twice.first() {
            return Err(ManifestError::Twice(twice.start));
        }
        let (tools, servers) = (tool_nodes(&document.root), server_nodes(&document.root));
        let instructions = holders(&document.root).find_map(|holder| holder.text_of("instructions"));
        if tools.is_empty()
            && servers.is_empty()
            && !holders(&document.root).any(|holder| holder.get("tools").is_some())
        {
            return Ok(None);
        }
        Ok(Some(Self {
            tools: tools.into_iter().map(Tool::of).collect::<Result<_, _>>()?,
            instructions: instructions.map(str::to_owned),
            servers: servers.into_iter().map(|(name, node)| Server::of(name, node)).collect(),
        }))
    }
}

impl From<JsonError> for ManifestError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::TooLarge => Self::TooLarge,
            JsonError::TooDeep(at) => Self::TooDeep(at),
            JsonError::TooMany(at) => Self::TooMany(at),
            JsonError::Syntax(at) => Self::Syntax(at),
        }
    }
}

impl Tool {
    fn of(node: &Node<'_>) -> Result<Self, ManifestError> {
        let name = node.text_of("name").ok_or(ManifestError::NoName(node.span.start))?;
        Ok(Self {
            name: name.to_owned(),
            description: node.text_of("description").map(str::to_owned),
            parameters: parameters(node).map(str::to_owned).collect(),
            hash: hash(node),
            span: node.span.clone(),
        })
    }
}

impl Server {
    fn of(name: &str, node: &Node<'_>) -> Self {
        let env = node.get("env").map(Node::object).unwrap_or_default();
        Self {
            name: name.to_owned(),
            command: node.text_of("command").map(str::to_owned),
            args: arguments(node).map(str::to_owned).collect(),
            env: env
                .iter()
                .map(|(name, value)| (name.text.to_string(), value.text().unwrap_or_default().to_owned()))
                .collect(),
            url: node.text_of("url").or_else(|| node.text_of("serverUrl")).map(str::to_owned),
            span: node.span.clone(),
        }
    }
}

/// The tools in a document: a list alone, `tools` at the top or in a result, or a single one.
pub(crate) fn tool_nodes<'n, 'a>(root: &'n Node<'a>) -> Vec<&'n Node<'a>> {
    let lists = holders(root).flat_map(|holder| holder.all("tools"));
    let listed = lists.flat_map(|list| list.list().iter().chain(list.object().iter().map(|(_, tool)| tool)));
    let alone = root.list().iter().filter(|node| is_tool(node));
    let single = std::iter::once(root).filter(|node| is_tool(node));
    listed.chain(alone).chain(single).map(unwrapped).filter(|node| !node.object().is_empty()).collect()
}

/// The servers in a document with their names.
pub(crate) fn server_nodes<'n, 'a>(root: &'n Node<'a>) -> Vec<(&'n str, &'n Node<'a>)> {
    let in_settings = root.all("mcp").flat_map(|settings| settings.all("servers"));
    let named = ["mcpServers", "mcp_servers", "servers", "context_servers"];
    let maps = named.into_iter().flat_map(|name| root.all(name)).chain(in_settings);
    maps.flat_map(Node::object)
        .filter(|(_, node)| ["command", "url", "serverUrl"].into_iter().any(|name| node.get(name).is_some()))
        .map(|(name, node)| (&*name.text, node))
        .collect()
}

/// The names of the parameters of a tool.
pub(crate) fn parameters<'n>(tool: &'n Node<'_>) -> impl Iterator<Item = &'n str> {
    let schemas = ["inputSchema", "input_schema", "parameters"].into_iter().flat_map(|name| tool.all(name));
    let properties = schemas.flat_map(|schema| schema.all("properties"));
    properties.flat_map(Node::object).map(|(name, _)| &*name.text)
}

/// The arguments that a server is started with.
pub(crate) fn arguments<'n>(server: &'n Node<'_>) -> impl Iterator<Item = &'n str> {
    server
        .all("args")
        .flat_map(|args| args.list().iter().chain(args.text().map(|_| args)))
        .filter_map(Node::text)
}

/// Returns the objects that may hold `tools` and `instructions`: the top, or an answer, or each answer of a list.
fn holders<'n, 'a>(root: &'n Node<'a>) -> impl Iterator<Item = &'n Node<'a>> {
    let answers = root.list().iter();
    std::iter::once(root).chain(answers).flat_map(|node| std::iter::once(node).chain(node.all("result")))
}

/// Returns true if something that is in no list of tools is one all the same.
fn is_tool(node: &Node<'_>) -> bool {
    let node = unwrapped(node);
    let described = node.text_of("description").is_some();
    let schema =
        ["inputSchema", "input_schema", "parameters"].into_iter().any(|name| node.get(name).is_some());
    node.text_of("name").is_some() && (schema || (described && node.get("annotations").is_some()))
}

/// A tool without the object around it that some agents use.
fn unwrapped<'n, 'a>(node: &'n Node<'a>) -> &'n Node<'a> {
    match node.get("function") {
        Some(inner) if !inner.object().is_empty() && node.text_of("name").is_none() => inner,
        _ => node,
    }
}

/// The hash that pins a tool.
fn hash(tool: &Node<'_>) -> [u8; 32] {
    let mut text = String::from("{");
    for name in ["annotations", "description", "inputSchema", "input_schema", "name", "parameters"] {
        if let Some(node) = tool.get(name) {
            if text.len() > 1 {
                text.push(',');
            }
            quoted(name, &mut text);
            text.push(':');
            canonical(node, &mut text);
        }
    }
    text.push('}');
    Sha256::digest(text).into()
}

/// One fixed form for values that mean the same: sorted names, no space, one way to write a text and a number.
fn canonical(node: &Node<'_>, out: &mut String) {
    match &node.kind {
        Kind::Null => out.push_str("null"),
        Kind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Kind::Number(number) => canonical_number(number, out),
        Kind::Text(text) => quoted(text, out),
        Kind::List(list) => {
            out.push('[');
            for (number, node) in list.iter().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                canonical(node, out);
            }
            out.push(']');
        }
        Kind::Object(object) => {
            let mut sorted: Vec<_> = object.iter().collect();
            sorted.sort_by(|a, b| a.0.text.cmp(&b.0.text));
            out.push('{');
            for (number, (name, node)) in sorted.into_iter().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                quoted(&name.text, out);
                out.push(':');
                canonical(node, out);
            }
            out.push('}');
        }
    }
}

/// Whole numbers as such, everything else by its shortest digits and a power of ten.
fn canonical_number(number: &str, out: &mut String) {
    let text = match (number.parse::<i64>(), number.parse::<f64>()) {
        (Ok(whole), _) => whole.to_string(),
        (_, Ok(value)) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        (_, Ok(value)) => format!("{value:e}"),
        _ => number.to_owned(),
    };
    out.push_str(&text);
}

/// A text in its quotes.
pub(crate) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => {
                let digits = format!("\\u{:04x}", u32::from(control));
                out.push_str(&digits);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        let manifest = Manifest::read(text.as_bytes()).unwrap()?;
        let servers = manifest.servers.into_iter().map(|server| server.name);
        Some(manifest.tools.into_iter().map(|tool| tool.name).chain(servers).collect())
    }

    #[test]
    fn every_shape_of_a_manifest() {
        let rows = [
            (r#"{"tools":[{"name":"a"},{"name":"b","description":"x"}]}"#, Some(vec!["a", "b"])),
            (r#"[{"name":"a","inputSchema":{}}]"#, Some(vec!["a"])),
            (r#"{"name":"a","description":"x","inputSchema":{}}"#, Some(vec!["a"])),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}"#, Some(vec!["a"])),
            (r#"{"tools":[{"type":"function","function":{"name":"a","parameters":{}}}]}"#, Some(vec!["a"])),
            (r#"{"mcpServers":{"s":{"command":"npx","args":["-y","p"]}}}"#, Some(vec!["s"])),
            (r#"{"mcp":{"servers":{"s":{"url":"http://x"}}}}"#, Some(vec!["s"])),
            (r#"{"tools":[]}"#, Some(vec![])),
            (r#"{"name":"package","version":"1.0.0"}"#, None),
            ("[1, 2]", None),
        ];
        for (text, expected) in rows {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_trusted_is_refused() {
        let rows = [
            (&b"{\"tools\":[{\"name\":\"a\",\"name\":\"b\"}]}"[..], ManifestError::Twice(22)),
            (b"{\"tools\":[{\"description\":\"x\"}]}", ManifestError::NoName(10)),
            (b"{\"tools\":[}", ManifestError::Syntax(10)),
            (b"{\"tools\xff", ManifestError::NotText(7)),
        ];
        for (bytes, expected) in rows {
            assert_eq!(Manifest::read(bytes), Err(expected));
        }
        assert_eq!(Manifest::read(&vec![b' '; 5 << 20]), Err(ManifestError::TooLarge));
    }

    #[test]
    fn a_hash_is_the_same_while_the_tool_says_the_same() {
        let hash = |text: &str| Manifest::read(text.as_bytes()).unwrap().unwrap().tools[0].hash;
        let first =
            hash(r#"{"tools":[{"name":"a","description":"é","inputSchema":{"x":1,"y":[2.50,"\n"]}}]}"#);
        let same = r#"[{ "inputSchema": {"y": [25e-1, "\u000a"], "x": 1.0}, "description": "\u00e9", "name": "a", "title": "T" }]"#;
        assert_eq!(first, hash(same));
        let changed = [
            r#"[{"name":"b","description":"é","inputSchema":{"x":1,"y":[2.5,"\n"]}}]"#,
            r#"[{"name":"a","description":"e","inputSchema":{"x":1,"y":[2.5,"\n"]}}]"#,
            r#"[{"name":"a","description":"é","inputSchema":{"x":1,"y":["\n",2.5]}}]"#,
            r#"[{"name":"a","description":"é","inputSchema":{"x":1,"y":[2.5,"\n"]},"annotations":{"readOnlyHint":true}}]"#,
        ];
        for text in changed {
            assert_ne!(first, hash(text), "{text}");
        }
        for name in ["inputSchema", "input_schema", "parameters"] {
            let of =
                |says: &str| hash(&format!(r#"{{"tools":[{{"function":{{"name":"a","{name}":{says}}}}}]}}"#));
            assert_ne!(of(r#"{"x":1}"#), of(r#"{"x":2}"#), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_never_panics(bytes: Vec<u8>) {
            drop(Manifest::read(&bytes));
        }

        #[test]
        fn reading_something_like_json_never_panics(text in "(\\{|\\}|\\[|\\]|,|:|\"tools\"|\"name\"|\"function\"|\"mcpServers\"|\"command\"|1e999|\"\\\\ud800\"){0,30}") {
            drop(Manifest::read(text.as_bytes()));
        }
    }
}
