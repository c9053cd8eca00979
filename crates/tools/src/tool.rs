//! What a tool is.

use ringfence::Session;
use ringfence::audit::Impact;
use ringfence::guard::{Abort, Guard};
use ringfence::source;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::ToolError;
use crate::reply::Reply;

/// What a tool is called with, apart from its arguments.
pub struct Call<'a> {
    /// The session of the agent.
    pub session: &'a Session,
    /// The guard of the tool.
    pub guard: &'a Guard,
    /// Says when nobody waits for the result any more.
    pub abort: &'a Abort,
}

/// What a tool returns: visible, and no longer than the profile of the tool permits.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// What the model reads.
    pub text: String,
    /// The same for programs.
    pub data: Value,
    /// How much there was.
    pub extent: Extent,
}

/// How much of a result is shown, and how much is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Characters of the text.
    pub returned_chars: u64,
    /// Characters that are left out of it.
    pub left_out: u64,
    /// Whether anything is missing, in the text or in the data.
    pub cut: bool,
}

impl Extent {
    /// How many characters there were in all.
    #[must_use]
    pub const fn whole_chars(&self) -> u64 {
        self.returned_chars.saturating_add(self.left_out)
    }
}

/// A tool as it is written: with parameters of its own type.
pub trait Typed: Send + Sync {
    /// What it takes. The schema is made from this type, whose sentences are what a model reads.
    type Parameters: DeserializeOwned + JsonSchema;
    /// Its name.
    const NAME: &'static str;
    /// What it does, for a model.
    const DESCRIPTION: &'static str;
    /// What it does to the world.
    const IMPACT: Impact;

    /// Does it.
    fn run(&self, call: &Call<'_>, parameters: Self::Parameters) -> Result<Reply, ToolError>;
}

/// A tool as it is called: with JSON.
pub trait Tool: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// What it does, for a model.
    fn description(&self) -> &'static str;
    /// What it does to the world.
    fn impact(&self) -> Impact;
    /// The JSON Schema of its parameters.
    fn schema(&self) -> Schema;
    /// Reads the arguments and does it.
    fn call(&self, call: &Call<'_>, arguments: Value) -> Result<Output, ToolError>;
}

impl<T: Typed> Tool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self) -> &'static str {
        T::DESCRIPTION
    }

    fn impact(&self) -> Impact {
        T::IMPACT
    }

    fn schema(&self) -> Schema {
        schemars::schema_for!(T::Parameters)
    }

    fn call(&self, call: &Call<'_>, arguments: Value) -> Result<Output, ToolError> {
        let parameters = serde_json::from_value(arguments).map_err(|error| ToolError::arguments(&error))?;
        let reply = self.run(call, parameters).map_err(ToolError::visible)?;
        Ok(reply.finish(&source::profile(T::NAME)))
    }
}
