//! The words of Ringfence, and the pure decision.
//!
//! A [`Request`] is put before a [`Chain`] of policies, and a [`Decision`] with its [`Reason`] comes out.
//!
//! **Invariant.** Nothing here opens a file, reads a clock or sees the environment: everything is passed in.
//! **Invariant.** A request that no link answers is denied. There is no implicit allow at the end of any chain.
//! **Invariant.** A decision takes time linear in the request, independent of the rules.
//!
//! ```
//! use std::path::Path;
//! use ringfence_policy::{Answers, Chain, Decision, Location, Request, ToolName, Want};
//!
//! let chain = Chain::new(vec![]);
//! let location = Location::new(Path::new("/ws"), Path::new("/ws/src/lib.rs"))?;
//! let tool = ToolName::parse("read")?;
//! let request = Request { tool: &tool, want: Want::Read(&location) };
//! assert!(matches!(chain.decide(&request, &Answers::none()), Decision::Deny(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod agent;
mod answers;
mod automaton;
mod chain;
mod characters;
mod code;
mod command;
mod command_rules;
mod containment;
mod credentials;
mod decision;
mod exceptions;
mod files_default;
pub mod finding;
mod findings;
pub mod floor;
mod git_settings;
mod glob;
mod host;
mod host_pattern;
mod host_set;
mod invocation;
mod known_hosts;
mod limit;
mod location;
mod operand;
mod options;
mod path_index;
mod pattern;
mod programs;
mod protected;
mod reading;
mod request;
mod route;
mod rule;
mod rules;
mod shown;
mod spelling;
mod tables;
mod tokens;
mod tool;
mod word_pattern;

pub use address::{is_metadata, not_public};
pub use agent::{AgentRecipe, SecretPreset, agent_for, agents, secret_preset, secret_presets};
pub use answers::{Answers, Cover, Remembered, RequestKey};
pub use chain::{Chain, Floor, Link, NameTaken, Phase, Policy, Position, Said, Trace};
pub use characters::{CharacterClass, character_name, has_look_alikes, looks_like};
pub use code::Code;
pub use command::CommandPattern;
pub use command_rules::{CommandRules, CommandRulesError, approve_commands, deny_commands};
pub use credentials::{
    CredentialFile, CredentialRoot, FloorScope, SecretClass, SecretStore, credential_files,
    forbidden_patterns, public_key_names, template_patterns,
};
pub use decision::{Decision, Effect, Reason, RuleRef};
pub use files_default::FilesDefault;
pub use findings::{Destructive, Findings, is_finding, least_effect};
pub use git_settings::{GitSetting, GitSettingsError, git_settings};
pub use glob::{Glob, GlobError, escape};
pub use host::{Endpoint, HostError, HostName};
pub use host_pattern::{HostIndex, HostPattern, HostPatternError};
pub use host_set::{HostSet, SetHost, host_set, host_sets, sets_containing};
pub use invocation::{
    Argv, Assignment, Certainty, Direction, Finding, Invocation, Program, Redirect, Span, Word,
};
pub use known_hosts::{KnownHost, known_hosts};
pub use limit::{Breaker, BreakerLimit, Exhausted, Limits, Meter, Windows};
pub use location::{Location, LocationError, Siblings, lexical};
pub use path_index::{Case, PathIndex, PathPattern, Reach};
pub use pattern::{MAX_PATTERN, MAX_REGEX, Pattern, PatternError};
pub use programs::{KnownProgram, ProgramClass};
pub use protected::{
    Act, Beside, Ground, Protected, ProtectedName, ProtectedNames, Ruling, Standing, Surroundings, Tier,
    UNFINISHED, UNFINISHED_DEPTH, Verdict, is_repository,
};
pub use request::{Arguments, Execution, Kind, Request, Want};
pub use route::{
    HostAddress, Inject, PathGlob, PathGlobError, ProxyAddress, ProxyAddressError, ProxyScheme, RequestRule,
    RequestScope, Route, Scheme, SecretSource, SecretSourceError, permits_request,
};
pub use rule::{Kinds, Rule, Subject};
pub use rules::{CommandFiles, RuleSet, unprovable};
pub use shown::{Shown, misleads};
pub use tokens::{TOKENS, TokenAlphabet, TokenFormat, TokenInText};
pub use tool::{
    Excluded, ToolEntry, ToolError, ToolName, ToolProfile, ToolSet, group_names, group_tools,
    own_tool_pattern, tool_names, tool_pattern,
};
