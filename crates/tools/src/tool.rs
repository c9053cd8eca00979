//! What a tool is.

use std::sync::Arc;

use ringfence::Session;
use ringfence::audit::Impact;
use ringfence::guard::{Abort, Guard};
use ringfence::policy::Policy;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::ToolError;

/// What a tool is called with, apart from its arguments.
pub struct Call<'a> {
    /// The session of the agent.
    pub session: &'a Session,
    /// The guard of the tool.
    pub guard: &'a Guard,
    /// Says when nobody waits for the result any more.
    pub abort: &'a Abort,
}

/// What a tool returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// What the model reads. It is capped by whoever called the tool.
    pub text: String,
    /// The same for programs.
    pub data: Value,
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

    /// Policies that narrow its own requests: see [`Tool::policies`].
    fn policies(&self) -> Vec<Arc<dyn Policy>> {
        Vec::new()
    }

    /// Does it.
    fn run(&self, call: &Call<'_>, parameters: Self::Parameters) -> Result<Output, ToolError>;
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
    /// Policies that narrow everything the tool asks for, its own calls too. What they allow counts for nothing. They are asked for
    /// once, when the tool is put into a toolbox.
    fn policies(&self) -> Vec<Arc<dyn Policy>> {
        Vec::new()
    }
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

    fn policies(&self) -> Vec<Arc<dyn Policy>> {
        Typed::policies(self)
    }

    fn call(&self, call: &Call<'_>, arguments: Value) -> Result<Output, ToolError> {
        let parameters = serde_json::from_value(arguments).map_err(|error| ToolError::arguments(&error))?;
        self.run(call, parameters)
    }
}
