//! Trait and types of a tool.

use std::path::Path;
use std::sync::Arc;

use ringfence::Session;
use ringfence::audit::Impact;
use ringfence::guard::{Abort, Guard};
use ringfence::policy::{Arguments, Policy};
use ringfence::source;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::canonical;
use crate::content::{self, Content};
use crate::error::{ErrorKind, ToolError};
use crate::reply::Reply;
use crate::schema::{self, SchemaForm};

/// Call of a tool, apart from its arguments.
pub struct Call<'a> {
    /// The session of the agent.
    pub session: &'a Session,
    /// The guard of the tool.
    pub guard: &'a Guard,
    /// Tells when the call is cancelled.
    pub abort: &'a Abort,
}

impl Call<'_> {
    /// Reads a text file through the guard of the tool: decided, recorded and bounded.
    pub fn read_text(&self, path: &Path) -> Result<String, ToolError> {
        let opened = self.guard.read(path, self.abort)?;
        let Content { bytes, .. } = Content::read(&opened, content::LONGEST)?;
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            ToolError::new(ErrorKind::Binary, format!("{} is not valid UTF-8 (byte {at})", opened.location()))
        })
    }

    /// Puts a file in place through the guard of the tool: decided and recorded, all of it or nothing.
    pub fn write_file(&self, path: &Path, content: &[u8]) -> Result<(), ToolError> {
        let place = self.guard.write(path, self.abort)?;
        let name = place.location().to_string();
        place.replace(content).map(drop).map_err(|trouble| ToolError::trouble(&name, trouble))
    }
}

/// Result of a tool: visible, and no longer than the profile of the tool permits.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// Text for the model.
    pub text: String,
    /// The same for programs.
    pub data: Value,
    /// Size of the result.
    pub extent: Extent,
}

/// Size of a result, and of its omitted part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extent {
    /// Characters of the text.
    pub returned_chars: u64,
    /// Characters that are left out of it.
    pub left_out: u64,
    /// True if anything is missing, in the text or in the data.
    pub cut: bool,
}

impl Extent {
    /// Returns the number of characters in all.
    #[must_use]
    pub const fn whole_chars(&self) -> u64 {
        self.returned_chars.saturating_add(self.left_out)
    }
}

/// A tool: parameters, a name, and the function that does it.
///
/// The schema, reading the arguments, the request to the policy, the records and the cap of the result are derived. A tool reaches
/// files through [`Call`], so that the policy holds for them.
///
/// ```
/// use std::path::PathBuf;
/// use ringfence::audit::Impact;
/// use ringfence_tools::{Call, Reply, Tool, ToolError, Toolbox};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use serde_json::json;
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct CountParameters {
///     /// The file, from the workspace.
///     path: PathBuf,
/// }
///
/// struct CountLines;
///
/// impl Tool for CountLines {
///     type Parameters = CountParameters;
///     const NAME: &'static str = "count_lines";
///     const DESCRIPTION: &'static str = "Counts the lines of a text file.";
///     const IMPACT: Impact = Impact::Read;
///     const PATHS: &'static [&'static str] = &["path"];
///
///     fn run(&self, call: &Call<'_>, parameters: CountParameters) -> Result<Reply, ToolError> {
///         let lines = call.read_text(&parameters.path)?.lines().count();
///         Ok(Reply::new(format!("{lines} lines"), json!({ "lines": lines })))
///     }
/// }
///
/// let toolbox = Toolbox::new().add(CountLines);
/// ```
pub trait Tool: Send + Sync {
    /// Parameters. The schema is made from this type, whose sentences are what a model reads. Serialized it is the canonical form of
    /// a call: one name for each parameter, defaults filled in, and what is left out is absent.
    type Parameters: DeserializeOwned + Serialize + JsonSchema + 'static;
    /// Its name.
    const NAME: &'static str;
    /// Description for a model.
    const DESCRIPTION: &'static str;
    /// Impact.
    const IMPACT: Impact;
    /// The parameters that are paths from the workspace.
    const PATHS: &'static [&'static str] = &[];
    /// The parameters that change nothing about what happens.
    const REMARKS: &'static [&'static str] = &[];
    /// Other names that parameters are read by, each with the name that it stands for. Rules may use them, too.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    /// Policies that narrow its own requests: see [`AnyTool::policies`].
    fn policies(&self) -> Vec<Arc<dyn Policy>> {
        Vec::new()
    }

    /// Does it.
    fn run(&self, call: &Call<'_>, parameters: Self::Parameters) -> Result<Reply, ToolError>;

    /// Requests the call. A tool whose call is a request of another kind makes that one instead, so that one call is one question.
    fn admit<'t>(
        &'t self,
        call: &Call<'_>,
        parameters: Self::Parameters,
        arguments: &Arguments,
    ) -> Result<AdmittedCall<'t>, ToolError> {
        let permit = call.guard.call(arguments, call.abort)?;
        Ok(AdmittedCall::of::<Self>(permit.id().to_owned(), move |call| self.run(call, parameters)))
    }
}

/// A call that was read: its parameters in canonical form, and nothing has happened.
#[non_exhaustive]
pub struct PreparedCall<'t> {
    /// The parameters in canonical form, as they are recorded. What runs was read from them.
    pub parameters: Value,
    /// The same as rules see them.
    pub arguments: Arguments,
    admit: Box<Admit<'t>>,
}

type Admit<'t> = dyn FnOnce(&Call<'_>, &Arguments) -> Result<AdmittedCall<'t>, ToolError> + 't;

impl<'t> PreparedCall<'t> {
    /// Requests the call.
    pub fn admit(self, call: &Call<'_>) -> Result<AdmittedCall<'t>, ToolError> {
        (self.admit)(call, &self.arguments)
    }
}

/// A call that was requested and allowed.
pub struct AdmittedCall<'t> {
    id: String,
    run: Box<Run<'t>>,
}

type Run<'t> = dyn FnOnce(&Call<'_>) -> Result<Output, ToolError> + 't;

impl<'t> AdmittedCall<'t> {
    /// Wraps what a tool does because of what was permitted under this id.
    pub(crate) fn of<T: Tool + ?Sized>(
        id: String,
        run: impl FnOnce(&Call<'_>) -> Result<Reply, ToolError> + 't,
    ) -> Self {
        Self { id, run: Box::new(move |call| finish::<T>(run(call))) }
    }

    /// The same in all records about the request.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Does it.
    pub fn run(self, call: &Call<'_>) -> Result<Output, ToolError> {
        (self.run)(call)
    }
}

/// Converts the reply of a tool: made visible and cut once, by its profile.
fn finish<T: Tool + ?Sized>(said: Result<Reply, ToolError>) -> Result<Output, ToolError> {
    said.map(|reply| reply.finish(&source::profile(T::NAME))).map_err(ToolError::visible)
}

/// A tool of any parameters, as it is called with JSON. Every [`Tool`] is one.
pub trait AnyTool: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Description for a model.
    fn description(&self) -> &'static str;
    /// Impact.
    fn impact(&self) -> Impact;
    /// The JSON Schema of its parameters, in the form that a provider wants.
    fn schema_in(&self, form: SchemaForm) -> Schema;
    /// The JSON Schema of its parameters.
    fn schema(&self) -> Schema {
        self.schema_in(SchemaForm::Standard)
    }
    /// Policies that narrow everything the tool asks for, its own calls too. What they allow counts for nothing. They are asked for
    /// once, when the tool is put into a toolbox.
    fn policies(&self) -> Vec<Arc<dyn Policy>> {
        Vec::new()
    }
    /// Reads the arguments of a call in a workspace.
    fn prepare(&self, arguments: Value, workspace: &Path) -> Result<PreparedCall<'_>, ToolError>;
    /// Reads the arguments and does it. The call itself is not requested: [`crate::Toolbox::call`] does that.
    fn call(&self, call: &Call<'_>, arguments: Value) -> Result<Output, ToolError>;
}

impl<T: Tool> AnyTool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self) -> &'static str {
        T::DESCRIPTION
    }

    fn impact(&self) -> Impact {
        T::IMPACT
    }

    fn schema_in(&self, form: SchemaForm) -> Schema {
        schema::of::<T::Parameters>(form)
    }

    fn prepare(&self, arguments: Value, workspace: &Path) -> Result<PreparedCall<'_>, ToolError> {
        let (parameters, canonical) = canonical::read::<T>(arguments, workspace)?;
        let arguments = canonical::arguments::<T>(&canonical, workspace);
        let admit = move |call: &Call<'_>, arguments: &Arguments| self.admit(call, parameters, arguments);
        Ok(PreparedCall { parameters: Value::Object(canonical), arguments, admit: Box::new(admit) })
    }

    fn policies(&self) -> Vec<Arc<dyn Policy>> {
        Tool::policies(self)
    }

    fn call(&self, call: &Call<'_>, arguments: Value) -> Result<Output, ToolError> {
        let (parameters, _) = canonical::read::<T>(arguments, call.guard.workspace())?;
        finish::<T>(self.run(call, parameters))
    }
}
