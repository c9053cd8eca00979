//! Answers that people gave for the rest of a session.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use crate::Code;
use crate::decision::{Decision, Reason};
use crate::request::{Execution, Kind, Request, Want};

/// Answers that hold for a session. An answer covers exactly the request it was given to.
#[derive(Debug, Clone, Default)]
pub struct Answers(HashMap<RequestKey, Remembered>);

/// An answer that is kept. One that holds once is not kept, so there is no word for it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remembered {
    /// Yes, until the session ends.
    Allow,
    /// No, until the session ends.
    Deny,
}

/// Whose requests an answer covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// Those of the tool that asked.
    Tool,
    /// Those of every tool of the session.
    Session,
}

/// Identity of a request: kind, tool and a digest of everything that changes what happens.
///
/// A file is the same by its real path. A call is the same if all of its arguments are. A command is the same if its line is, byte for
/// byte, and its input, variables, directory and programs are (see [`crate::Arguments::bind`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestKey {
    kind: Kind,
    /// `None` for every tool.
    tool: Option<Box<str>>,
    object: [u8; 32],
}

impl Answers {
    /// Creates a memory without answers.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Keeps an answer. A later answer to the same request replaces it. Returns false if the same answer was kept before.
    pub fn remember(&mut self, request: &Request<'_>, answer: Remembered, cover: Cover) -> bool {
        let mut key = RequestKey::of(request);
        if cover == Cover::Session {
            // An answer for one tool does not outlive a later answer for all tools.
            self.0.remove(&key);
            key = key.of_every_tool();
        }
        self.0.insert(key, answer) != Some(answer)
    }

    /// Returns the number of answers that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if no answer is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        // Making a key costs more than most decisions; an empty memory needs none.
        if self.0.is_empty() {
            return None;
        }
        let reason = |text: &str| Reason::new(Code::SessionAnswer, text);
        let mut key = RequestKey::of(request);
        let for_tool = self.0.get(&key);
        key = key.of_every_tool();
        // A no counts for every tool.
        let answers = [for_tool, self.0.get(&key)];
        let answer = answers.into_iter().flatten().max_by_key(|answer| **answer == Remembered::Deny);
        match answer? {
            Remembered::Allow => Some(Decision::Allow(reason("allowed by a person for this session"))),
            Remembered::Deny => Some(Decision::Deny(reason("denied by a person for this session"))),
        }
    }
}

impl RequestKey {
    /// The key of a request.
    #[must_use]
    pub fn of(request: &Request<'_>) -> Self {
        let mut object = Sha256::new();
        match request.want {
            Want::Read(location) | Want::Write(location) | Want::Load(location) => {
                object.update(location.path().as_os_str().as_encoded_bytes());
            }
            Want::Exec(Execution { invocation, arguments }) => {
                arguments.digest(&mut object);
                // Callers that have words instead of a line say by the invocation which words they are.
                object.update(format!("{invocation:?}"));
            }
            Want::Connect(endpoint) => object.update(endpoint.to_string()),
            Want::Call(arguments) => arguments.digest(&mut object),
        }
        let tool = Some(request.tool.as_str().into());
        Self { kind: request.want.kind(), tool, object: object.finalize().into() }
    }

    /// Returns the same key for every tool.
    #[must_use]
    pub fn of_every_tool(self) -> Self {
        Self { tool: None, ..self }
    }
}
