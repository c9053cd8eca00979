//! The recipe of a known agent: its settings without the login, its hosts, its key through the broker.

use std::ffi::OsStr;
use std::path::Path;

use broker::{SecretError, SecretName, SecretStore};
use config::Settings;
use jail::environment::Wanted;
use jail::{Mode, Network, Spec, View};
use policy::{AgentRecipe, Code, Endpoint, Route, SecretPreset, SecretSource, agent_for, secret_preset};

use super::error::RunError;
use super::host::Host;

/// The place that a command is started in.
pub(super) struct Place<'a> {
    /// Directory that the command starts in.
    pub(super) cwd: &'a Path,
    /// The workspace, which commands write.
    pub(super) workspace: &'a Path,
    /// Home directory inside, if it is kept for the next run.
    pub(super) kept: Option<&'a Path>,
}

/// Returns the recipe for a command that runs with the broker's network, if an earlier command cannot have written its program.
pub(super) fn find(command: &OsStr, spec: &Spec, place: &Place<'_>) -> Option<&'static AgentRecipe> {
    let program = Path::new(command).file_name()?.to_str()?;
    let recipe = agent_for(program).filter(|_| spec.network == Network::Broker)?;
    is_installed(command, spec, place).then_some(recipe)
}

/// Returns true if a program exists, and each file that the name can stand for lies outside of everything that commands write. The
/// jail may not show the first one on the search path, so one of them is not enough.
fn is_installed(command: &OsStr, spec: &Spec, place: &Place<'_>) -> bool {
    let path = spec.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let found: Vec<_> = if command.as_encoded_bytes().contains(&b'/') {
        vec![place.cwd.join(command)]
    } else {
        let directories = std::env::split_paths(path.unwrap_or_default());
        directories.map(|directory| place.cwd.join(directory).join(command)).collect()
    };
    // The files of a kept home are not at their place outside.
    if place.kept.is_some_and(|kept| found.iter().any(|path| path.starts_with(kept))) {
        return false;
    }
    let found: Vec<_> = found.into_iter().filter(|path| path.symlink_metadata().is_ok()).collect();
    let views = spec.views.iter().chain(&spec.toolchains.views).filter(|view| view.mode == Mode::ReadWrite);
    let writable: Vec<_> = views.map(|view| view.path.as_path()).chain([place.workspace]).collect();
    let is_outside = |path: &Path| writable.iter().all(|directory| !path.starts_with(directory));
    let is_safe = |path: &Path| path.canonicalize().is_ok_and(|real| is_outside(path) && is_outside(&real));
    !found.is_empty() && found.iter().all(|path| is_safe(path))
}

/// Returns the hosts of a recipe, or a note if the policy does not accept them.
pub(super) fn hosts(recipe: &AgentRecipe, policy: &Settings) -> Result<Vec<String>, String> {
    let hosts: Vec<String> = recipe.allow.iter().map(|entry| (*entry).to_owned()).collect();
    if policy.accepts_hosts(&hosts).is_err() {
        let hosts = hosts.join(", ");
        return Err(format!("the policy does not allow the hosts that {} needs: {hosts}", recipe.name));
    }
    Ok(hosts)
}

/// Shows the settings of the agent and hides its login. Changes of its settings stay in the jail. Variables that the user has `typed`
/// are left as they are.
pub(super) fn show(recipe: &AgentRecipe, home: &Path, typed: &[Wanted], spec: &mut Spec) {
    let views = |paths: &[&str], mode: Mode| {
        let of_kind = move |path: &Path| if path.is_dir() { mode } else { Mode::ReadOnly };
        // A jail shows places, not links.
        let paths = paths.iter().map(|path| home.join(path)).filter(|path| is_real(path, home));
        paths.map(|path| View { mode: of_kind(&path), path }).collect::<Vec<_>>()
    };
    let mut added = views(recipe.read, Mode::ReadOnly);
    added.extend(views(recipe.layered, Mode::Layered));
    // A view that the user asked for takes precedence.
    let known: Vec<_> = spec.views.iter().map(|view| view.path.clone()).collect();
    spec.views.extend(added.into_iter().filter(|view| !known.contains(&view.path)));
    // In private space there is nothing to hide, and the agent may write there.
    let shown: Vec<_> = spec.views.iter().chain(&spec.toolchains.views).cloned().collect();
    let is_shown = |path: &Path| jail::mode_at(&shown, path).is_some_and(Mode::shows_host);
    let hidden = recipe.hidden.iter().map(|path| home.join(path));
    let hidden = hidden.filter(|path| path.exists() && is_shown(path) && !known.contains(path));
    spec.views.extend(hidden.map(|path| View { path, mode: Mode::Hidden }));
    for (name, value) in recipe.variables {
        if typed.iter().any(|wanted| wanted.name == *name) {
            continue;
        }
        spec.environment.retain(|(known, _)| known != name);
        spec.environment.push(((*name).into(), (*value).into()));
    }
}

/// Returns true if a path below home exists and no link leads away from it.
fn is_real(path: &Path, home: &Path) -> bool {
    let below = path.strip_prefix(home).ok().zip(home.canonicalize().ok());
    below.is_some_and(|(below, home)| path.canonicalize().is_ok_and(|real| real == home.join(below)))
}

/// Returns the routes of the keys that can be found, one for each host, except where the policy has a route already.
pub(super) fn routes(recipe: &AgentRecipe, policy: &Settings, host: &Host) -> Result<Vec<Route>, RunError> {
    let store = host.secrets();
    let mut routes: Vec<Route> = Vec::new();
    for preset in recipe.secrets.iter().filter_map(|name| secret_preset(name)) {
        let taken = |endpoint: &Endpoint| {
            policy.routes().iter().chain(&routes).any(|route| route.endpoint == *endpoint)
        };
        if taken(&preset.endpoint) {
            continue;
        }
        routes.extend(found(preset, &*store)?.map(|source| preset.route(source)));
    }
    Ok(routes)
}

/// Returns the first source that has a value. A command is not run to find out: it is the last resort. A store that cannot be read is an
/// error: it may hold the value.
fn found(preset: &SecretPreset, store: &dyn SecretStore) -> Result<Option<SecretSource>, RunError> {
    let broken = |error: &SecretError| {
        let message = format!("cannot read the secret {} of the store", preset.secret);
        RunError::coded(Code::SecretUnavailable, message).because(error)
    };
    let name = SecretName::parse(preset.secret).map_err(|error| broken(&error))?;
    match store.load(&name, &SecretSource::Store) {
        Ok(_) => return Ok(Some(SecretSource::Store)),
        Err(SecretError::NotSet(_) | SecretError::NoDirectory) => {}
        Err(error) => return Err(broken(&error)),
    }
    let is_command = |source: &SecretSource| matches!(source, SecretSource::Command(_));
    let has = |source: &&SecretSource| is_command(source) || store.load(&name, source).is_ok();
    Ok(preset.sources.iter().find(has).cloned())
}

/// Returns the advice for an agent whose key was not found.
pub(super) fn missing_key(recipe: &AgentRecipe) -> Option<String> {
    let preset = secret_preset(recipe.secrets.first()?)?;
    let variable = preset.placeholder.map(|name| format!(", or set {name}")).unwrap_or_default();
    let (name, secret) = (recipe.name, preset.secret);
    Some(format!("no key for {name} was found: keep one with `ringfence secret set {secret}`{variable}"))
}

#[cfg(test)]
mod tests {
    use policy::Limits;

    use super::*;

    /// Files that hold a login or keys.
    const LOGINS: &[(&str, &str)] = &[
        ("claude", ".claude.json"),
        ("claude", ".claude/.credentials.json"),
        ("codex", ".codex/.env"),
        ("codex", ".codex/auth.json"),
        ("copilot", ".copilot/config.json"),
        ("gemini", ".gemini/.env"),
        ("gemini", ".gemini/google_accounts.json"),
        ("gemini", ".gemini/mcp-oauth-tokens.json"),
        ("gemini", ".gemini/oauth_creds.json"),
        ("goose", ".config/goose/secrets.yaml"),
        ("opencode", ".local/share/opencode/auth.json"),
        ("qwen", ".qwen/.env"),
        ("qwen", ".qwen/oauth_creds.json"),
    ];

    #[test]
    fn logins_are_not_shown_not_even_in_a_directory_that_is() {
        let top = tempfile::tempdir().unwrap();
        let home = top.path().canonicalize().unwrap().join("home");
        let all = LOGINS.iter().copied().chain([("claude", ".claude/settings.json")]);
        for path in all.map(|(_, path)| home.join(path)) {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink(home.join(".claude.json"), home.join(".claude/CLAUDE.md")).unwrap();
        let workspace = top.path().join("ws");
        for (agent, login) in LOGINS {
            let (recipe, login) = (agent_for(agent).unwrap(), home.join(login));
            let mut spec = Spec::for_workspace(&workspace, &home, Limits::none());
            show(recipe, &home, &[], &mut spec);
            assert!(!spec.mode_at(&login).is_some_and(Mode::shows_host), "{agent}: {login:?}");
            let is_link = |view: &View| view.path.ends_with("CLAUDE.md");
            assert!(!spec.views.iter().any(is_link), "a link is not followed");
            let mut spec = Spec::for_workspace(&workspace, &home, Limits::none());
            spec.views.push(View { path: login.parent().unwrap().to_owned(), mode: Mode::ReadOnly });
            show(recipe, &home, &[], &mut spec);
            assert_eq!(spec.mode_at(&login), Some(Mode::Hidden), "{agent}: {login:?}");
        }
        let mut spec = Spec::for_workspace(&workspace, &home, Limits::none());
        show(agent_for("claude").unwrap(), &home, &[], &mut spec);
        assert_eq!(spec.mode_at(&home.join(".claude/settings.json")), Some(Mode::ReadOnly));
    }
}
