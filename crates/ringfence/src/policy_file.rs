//! The policy of a sandbox from a policy file: the chain that `ringfence check` asks, and the jail that `ringfence run` makes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{Files, JailSettings, Places, Problem, Problems, Scope, Settings, Wish, project_file};
use jail::Choice;
use policy::{Code, Shown};

use crate::builder::{BuildError, CompiledPolicy, Surroundings};
use crate::egress::PolicyEgress;
use crate::run::{Host, HostSpec};

/// A policy, and what it says about single agents.
type WithAgents = (CompiledPolicy, Vec<(String, CompiledPolicy)>);

/// Compiles a policy file, with the administrator's below it and the project's on top.
pub(crate) fn compile(
    path: &Path,
    managed: &Path,
    around: &Surroundings<'_>,
) -> Result<WithAgents, BuildError> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // A file that was named and does not exist is a mistake, not an empty policy.
    if config::read(Scope::User, &path, around.workspace).map_err(Problems::from)?.is_none() {
        let message = format!("{} does not exist", Shown::path(&path));
        return Err(Problems::from(Problem::new(Code::UnreadableFile, message)).into());
    }
    let host = host(path, managed, around);
    let everyone = host.load()?;
    let agents = agent_names(&everyone).into_iter().map(|name| {
        let own = Host { agent: Some(name.clone()), ..host.clone() };
        Ok((name, compile_for(own.load()?, &own)?))
    });
    let agents = agents.collect::<Result<_, BuildError>>()?;
    Ok((compile_for(everyone, &host)?, agents))
}

fn host(path: PathBuf, managed: &Path, around: &Surroundings<'_>) -> Host {
    let variable = |name: &str| around.environment.iter().find(|(known, _)| known == name);
    let home = variable("HOME").map(|(_, home)| PathBuf::from(home)).filter(|home| home.is_absolute());
    Host {
        cwd: around.workspace.to_owned(),
        places: Places {
            workspace: around.workspace.to_owned(),
            home,
            state: Some(around.state.to_owned()),
            run: None,
        },
        files: Files {
            managed: Some(managed.to_owned()),
            user: Some(path),
            project: Some(project_file(around.workspace)),
        },
        runtime: None,
        agent: None,
        environment: around.environment.to_vec(),
    }
}

/// The agents that have a section of their own.
fn agent_names(settings: &Settings) -> Vec<String> {
    let agents = settings.get("agents").and_then(config::Node::table);
    agents.into_iter().flat_map(config::Table::keys).map(ToString::to_string).collect()
}

fn compile_for(policy: Settings, host: &Host) -> Result<CompiledPolicy, BuildError> {
    // The profile itself holds for every tool without a profile of its own.
    let settings = policy.jail_of_others(&Wish::default())?;
    let built = HostSpec::build(&policy, &settings, host, &[], None)?;
    let own = policy.tools_with_profiles().into_iter();
    let own = own.map(|tool| Ok((policy.jail_of(&tool, &Wish::default())?, tool)));
    let own = own.collect::<Result<Vec<_>, BuildError>>()?;
    // One chain judges the commands of all tools, in the strictest mode of their profiles.
    let mode = own.iter().map(|(own, _)| own.commands).fold(settings.commands, Ord::max);
    let specs = own
        .iter()
        .map(|(own, tool)| Ok((tool.clone(), HostSpec::build(&policy, own, host, &[], None)?.spec)));
    let tool_specs = specs.collect::<Result<_, BuildError>>()?;
    let provider = provider(&settings)?;
    let policy = policy.in_mode(mode)?;
    let is_optional =
        settings.network_rule.is_none() && own.iter().all(|(own, _)| own.network_rule.is_none());
    let (chain, tools) = (policy.chain.clone(), policy.tools.clone());
    let egress = PolicyEgress { policy: Arc::new(policy), host: host.clone(), is_optional };
    Ok(CompiledPolicy {
        chain,
        tools,
        spec: built.spec,
        tool_specs,
        provider,
        ledger: built.ledger,
        egress: Some(Arc::new(egress)),
    })
}

fn provider(settings: &JailSettings) -> Result<Choice, BuildError> {
    let word = settings.provider.as_str();
    Choice::parse(word).ok_or_else(|| BuildError::Provider(word.to_owned()))
}
