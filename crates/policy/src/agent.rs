//! Recipes for agents that Ringfence drives, and presets of secrets.

use std::sync::LazyLock;

use crate::host::Endpoint;
use crate::route::{Inject, PathGlob, RequestScope, Route, SecretSource};
use crate::tables::agents::{AGENTS, PRESETS};

/// A recipe for an agent: what its jail shows, which hosts it reaches, and which keys the broker adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRecipe {
    /// The name of the recipe.
    pub name: &'static str,
    /// Programs that the recipe is for.
    pub programs: &'static [&'static str],
    /// Hosts and sets of its API, as in `network.allow`.
    pub allow: &'static [&'static str],
    /// Paths below home that are shown and not changed.
    pub read: &'static [&'static str],
    /// Paths below home that are shown, with changes kept apart.
    pub layered: &'static [&'static str],
    /// Paths below home that hold a login and are never shown.
    pub hidden: &'static [&'static str],
    /// Presets of its keys, the preferred one first.
    pub secrets: &'static [&'static str],
    /// Variables inside: name and value.
    pub variables: &'static [(&'static str, &'static str)],
    /// Origin of the facts.
    pub because: &'static str,
}

/// A well-known secret: its host and its position in a request.
#[derive(Debug, Clone)]
pub struct SecretPreset {
    /// The word of `preset` in a policy.
    pub name: &'static str,
    /// The name of the secret.
    pub secret: &'static str,
    /// Host and port that it is sent to, over TLS.
    pub endpoint: Endpoint,
    /// Position in a request.
    pub inject: Inject,
    /// Requests that it is sent with.
    pub requests: RequestScope,
    /// Variable that programs inside see.
    pub placeholder: Option<&'static str>,
    /// Places where the value is usually found, besides the store.
    pub sources: Vec<SecretSource>,
    /// Origin of the facts.
    pub because: &'static str,
}

impl SecretPreset {
    /// Creates the route of the preset with a value from a source.
    #[must_use]
    pub fn route(&self, source: SecretSource) -> Route {
        let mut route = Route::new(self.secret, source, self.endpoint.clone(), self.inject.clone());
        route.requests = self.requests.clone();
        route.placeholder = self.placeholder.map(Into::into);
        route
    }
}

/// A preset as the generated table holds it.
#[derive(Debug)]
pub(crate) struct PresetRow {
    pub(crate) name: &'static str,
    pub(crate) secret: &'static str,
    pub(crate) host: &'static str,
    pub(crate) inject: &'static str,
    pub(crate) paths: &'static [&'static str],
    pub(crate) placeholder: Option<&'static str>,
    pub(crate) from: &'static [&'static str],
    pub(crate) because: &'static str,
}

/// Returns every recipe, sorted by name.
///
/// ```
/// let claude = ringfence_policy::agents().iter().find(|agent| agent.name == "claude").unwrap();
/// assert_eq!(claude.allow, ["@anthropic"]);
/// ```
#[must_use]
pub fn agents() -> &'static [AgentRecipe] {
    AGENTS
}

/// Returns the recipe for a program by its file name.
#[must_use]
pub fn agent_for(program: &str) -> Option<&'static AgentRecipe> {
    AGENTS.iter().find(|agent| agent.programs.contains(&program))
}

/// Returns every preset, sorted by name.
#[must_use]
pub fn secret_presets() -> &'static [SecretPreset] {
    static ROWS: LazyLock<Vec<SecretPreset>> = LazyLock::new(|| PRESETS.iter().filter_map(read).collect());
    &ROWS
}

/// Returns a preset by its name.
#[must_use]
pub fn secret_preset(name: &str) -> Option<&'static SecretPreset> {
    secret_presets().iter().find(|preset| preset.name == name)
}

/// A row that cannot be read is no preset; a test sees to it that there is none.
fn read(row: &PresetRow) -> Option<SecretPreset> {
    let paths = row.paths.iter().map(|path| PathGlob::parse(path)).collect::<Result<Vec<_>, _>>().ok()?;
    let sources = row.from.iter().map(|from| SecretSource::parse(from)).collect::<Result<_, _>>().ok()?;
    Some(SecretPreset {
        name: row.name,
        secret: row.secret,
        endpoint: Endpoint::parse(row.host, 443).ok()?,
        inject: Inject::parse(row.inject)?,
        requests: RequestScope { methods: None, paths: (!paths.is_empty()).then_some(paths) },
        placeholder: row.placeholder,
        sources,
        because: row.because,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostPattern, credential_files, host_set};

    #[test]
    fn every_preset_is_read_and_is_in_a_set() {
        assert_eq!(secret_presets().len(), PRESETS.len());
        for preset in secret_presets() {
            assert!(!crate::sets_containing(&preset.endpoint).is_empty(), "{}", preset.name);
        }
        let route = secret_preset("anthropic").unwrap().route(SecretSource::Store);
        assert_eq!((&*route.secret, route.placeholder.as_deref()), ("anthropic", Some("ANTHROPIC_API_KEY")));
    }

    #[test]
    fn recipes_name_what_is_there() {
        for agent in agents() {
            for entry in agent.allow {
                let known = entry
                    .strip_prefix('@')
                    .map_or(HostPattern::parse(entry).is_ok(), |set| host_set(set).is_some());
                assert!(known, "{}: {entry}", agent.name);
            }
            for name in agent.secrets {
                let preset = secret_preset(name).unwrap_or_else(|| panic!("{}: {name}", agent.name));
                let sets = crate::sets_containing(&preset.endpoint);
                let reached = sets.iter().any(|set| agent.allow.contains(&format!("@{}", set.name).as_str()));
                assert!(reached, "{}: {name} goes to a host that is not allowed", agent.name);
            }
            assert!(!agent.secrets.is_empty() && agent_for(agent.programs[0]) == Some(agent));
        }
        assert!(agent_for("bash").is_none());
    }

    #[test]
    fn logins_of_agents_are_hidden() {
        let is_login = |file: &crate::CredentialFile| {
            file.store == Some(crate::SecretStore::Credential) && file.root == crate::CredentialRoot::Home
        };
        for agent in agents() {
            let shown = |path: &str| {
                agent
                    .read
                    .iter()
                    .chain(agent.layered)
                    .any(|dir| path.starts_with(&format!("{dir}/")) || path == *dir)
            };
            for login in credential_files().filter(is_login).filter(|file| shown(file.path())) {
                assert!(agent.hidden.contains(&login.path()), "{} shows {}", agent.name, login.path());
            }
            // Settings that can hold keys are hidden besides logins; none of them is shown by name.
            for hidden in agent.hidden {
                assert!(!agent.read.contains(hidden), "{} shows and hides {hidden}", agent.name);
            }
        }
    }
}
