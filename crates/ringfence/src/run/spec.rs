//! Builds a jail spec from the settings of a policy. Pure: the machine is not looked at.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use config::JailSettings;
use jail::{Mode, Spec, View, mode_at};
use policy::{Code, Shown};

use super::error::RunError;

/// Real paths that a spec shows or hides besides those of the policy.
pub(crate) struct VisiblePaths<'a> {
    /// Directory the agent works in.
    pub workspace: &'a Path,
    /// Home directory.
    pub home: &'a Path,
    /// Settings files of git that can be shown.
    pub git: &'a [PathBuf],
    /// Repository of the workspace, if it lies elsewhere and may be seen.
    pub repository: Option<&'a Path>,
    /// Policy file of the project, if there is one.
    pub project: Option<&'a Path>,
    /// Files and directories of Ringfence that exist.
    pub own: &'a [PathBuf],
    /// Complete environment of the command.
    pub environment: Vec<(OsString, OsString)>,
}

/// Builds a jail spec.
pub(crate) fn build_spec(settings: &JailSettings, visible: VisiblePaths<'_>) -> Result<Spec, RunError> {
    not_home(visible.workspace, visible.home)?;
    by_profile(settings, visible.workspace)?;
    let mut spec = Spec::for_workspace(visible.workspace, visible.home, settings.limits.clone());
    spec.views = views(settings, &visible);
    let changed =
        |path: &&Path| spec.views.contains(&View { path: (*path).to_owned(), mode: Mode::ReadWrite });
    spec.repositories = visible.repository.filter(changed).map(Path::to_owned).into_iter().collect();
    out_of_reach(&spec.views, visible.own)?;
    spec.protected = settings.protected.clone();
    spec.network = settings.network;
    spec.require = settings.require;
    spec.environment = visible.environment;
    Ok(spec)
}

/// Refuses the home directory as a workspace: it holds the keys of everything else.
fn not_home(workspace: &Path, home: &Path) -> Result<(), RunError> {
    if !home.starts_with(workspace) {
        return Ok(());
    }
    let what = if workspace == home { "is" } else { "contains" };
    let message = format!("the workspace {} {what} the home directory", Shown::path(workspace));
    let hint = "change to the directory of one project, or name it with --workspace";
    Err(RunError::coded(Code::JailConflict, message).hint(hint))
}

/// Refuses a view of the workspace that contradicts the profile.
fn by_profile(settings: &JailSettings, workspace: &Path) -> Result<(), RunError> {
    let named = settings.views.iter().find(|view| view.path == workspace);
    if named.is_none_or(|view| view.mode == workspace_mode(settings)) {
        return Ok(());
    }
    let message = format!("{} is the workspace, and the profile says how it is seen", Shown::path(workspace));
    let hint = "choose a profile: `-p readonly` or `-p workspace-write`";
    Err(RunError::coded(Code::JailConflict, message).hint(hint))
}

fn workspace_mode(settings: &JailSettings) -> Mode {
    if settings.writable { Mode::ReadWrite } else { Mode::ReadOnly }
}

fn views(settings: &JailSettings, visible: &VisiblePaths<'_>) -> Vec<View> {
    let view = |path: &Path, mode| View { path: path.to_owned(), mode };
    let mut views = settings.views.clone();
    if views.iter().all(|view| view.path != visible.workspace) {
        views.insert(0, view(visible.workspace, workspace_mode(settings)));
    }
    // A view that names the repository takes precedence.
    if let Some(repository) = visible.repository.filter(|path| mode_at(&views, path).is_none()) {
        views.push(view(repository, workspace_mode(settings)));
    }
    let covered = |views: &[View], path: &Path| views.iter().any(|view| path.starts_with(&view.path));
    let git: Vec<_> = visible.git.iter().filter(|path| !covered(&views, path)).collect();
    views.extend(git.into_iter().map(|path| view(path, Mode::ReadOnly)));
    if let Some(project) = visible.project.filter(|path| mode_at(&views, path) == Some(Mode::ReadWrite)) {
        views.push(view(project, Mode::ReadOnly));
    }
    let shown = |path: &&PathBuf| mode_at(&views, path) == Some(Mode::ReadOnly);
    // A directory above the workspace is not hidden: the workspace would be hidden with it.
    let own: Vec<_> =
        visible.own.iter().filter(shown).filter(|path| !visible.workspace.starts_with(path)).collect();
    views.extend(own.into_iter().map(|path| view(path, Mode::Hidden)));
    views
}

/// Refuses writable views around files of Ringfence: hiding a file does not protect it where a directory above it can be renamed.
fn out_of_reach(views: &[View], own: &[PathBuf]) -> Result<(), RunError> {
    let writable = || views.iter().filter(|view| view.mode == Mode::ReadWrite);
    let within = own.iter().find_map(|own| Some((own, writable().find(|view| own.starts_with(&view.path))?)));
    let Some((own, view)) = within else { return Ok(()) };
    let message = format!(
        "{} belongs to Ringfence and lies in {}, which the command may change",
        Shown::path(own),
        Shown::path(&view.path)
    );
    Err(RunError::coded(Code::JailConflict, message)
        .hint("choose a smaller directory, or show it with --read"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Places, Scope, Source, Wish, from_sources};
    use jail::Network;

    fn settings(text: &str, wish: &Wish) -> JailSettings {
        let places = Places {
            workspace: "/home/me/ws".into(),
            home: Some("/home/me".into()),
            state: Some("/home/me/.local/state".into()),
            run: None,
        };
        let source = Source::new(Scope::User, Path::new("policy.toml"), format!("version = 1\n{text}\n"));
        from_sources(vec![source], &places).unwrap().jail(wish).unwrap()
    }

    fn visible<'a>(workspace: &'a Path, git: &'a [PathBuf], own: &'a [PathBuf]) -> VisiblePaths<'a> {
        let project = Some(Path::new("/home/me/ws/ringfence.toml"));
        VisiblePaths {
            workspace,
            home: Path::new("/home/me"),
            git,
            repository: None,
            project,
            own,
            environment: vec![],
        }
    }

    fn own() -> Vec<PathBuf> {
        ["/etc/ringfence", "/home/me/.config/ringfence", "/home/me/.local/state/ringfence"]
            .map(PathBuf::from)
            .to_vec()
    }

    /// One line per view, and the network.
    fn drawn(text: &str, wish: &Wish) -> String {
        let git = ["/home/me/.gitconfig", "/home/me/.config/git/config"].map(PathBuf::from);
        let own = own();
        match build_spec(&settings(text, wish), visible(Path::new("/home/me/ws"), &git, &own)) {
            Err(error) => {
                error.code.map(|code| format!("[{code}] ")).unwrap_or_default() + &error.to_string()
            }
            Ok(spec) => {
                let line = |view: &View| format!("{:?} {}\n", view.mode, view.path.display());
                spec.views.iter().map(line).collect::<String>() + &format!("network {:?}", spec.network)
            }
        }
    }

    fn wish(views: &[(&str, Mode)]) -> Wish {
        let views = views.iter().map(|(path, mode)| View { path: path.into(), mode: *mode }).collect();
        Wish { views, ..Wish::default() }
    }

    #[test]
    fn a_jail_shows_the_workspace_and_what_was_asked_for() {
        insta::assert_snapshot!(drawn("", &Wish::default()), @r"
        ReadWrite /home/me/ws
        ReadOnly /home/me/.gitconfig
        ReadOnly /home/me/.config/git/config
        ReadOnly /home/me/ws/ringfence.toml
        network Broker
        ");
        let wish = wish(&[
            ("/opt", Mode::ReadOnly),
            ("/opt/out", Mode::ReadWrite),
            ("/home/me/ws/.env", Mode::Hidden),
        ]);
        insta::assert_snapshot!(drawn("jail.profile = \"readonly\"", &wish), @r"
        ReadOnly /home/me/ws
        ReadOnly /opt
        ReadWrite /opt/out
        Hidden /home/me/ws/.env
        ReadOnly /home/me/.gitconfig
        ReadOnly /home/me/.config/git/config
        network None
        ");
    }

    #[test]
    fn a_repository_elsewhere_is_seen_as_the_workspace_is() {
        let repository = Path::new("/srv/repo/.git");
        let rows = [
            ("workspace-write", None, Some(Mode::ReadWrite)),
            ("readonly", None, Some(Mode::ReadOnly)),
            ("workspace-write", Some(("/srv/repo/.git", Mode::ReadOnly)), Some(Mode::ReadOnly)),
            ("workspace-write", Some(("/srv", Mode::Hidden)), Some(Mode::Hidden)),
            ("readonly", Some(("/srv/repo/.git", Mode::ReadWrite)), Some(Mode::ReadWrite)),
        ];
        for (profile, asked, expected) in rows {
            let settings = settings(&format!("jail.profile = \"{profile}\""), &wish(asked.as_slice()));
            let visible =
                VisiblePaths { repository: Some(repository), ..visible(Path::new("/home/me/ws"), &[], &[]) };
            let spec = build_spec(&settings, visible).unwrap();
            assert_eq!(spec.mode_at(repository), expected, "{profile} {asked:?}");
            assert_eq!(!spec.repositories.is_empty(), expected == Some(Mode::ReadWrite), "{profile}");
        }
    }

    #[test]
    fn what_belongs_to_ringfence_is_hidden_or_out_of_reach() {
        insta::assert_snapshot!(drawn("", &wish(&[("/home/me/.config", Mode::ReadOnly), ("/etc", Mode::ReadOnly)])), @r"
        ReadWrite /home/me/ws
        ReadOnly /home/me/.config
        ReadOnly /etc
        ReadOnly /home/me/.gitconfig
        ReadOnly /home/me/ws/ringfence.toml
        Hidden /etc/ringfence
        Hidden /home/me/.config/ringfence
        network Broker
        ");
        for path in ["/home/me/.local", "/home/me/.local/state/ringfence", "/home/me/.config"] {
            let refused = drawn("", &wish(&[(path, Mode::ReadWrite)]));
            assert!(refused.starts_with("[RF-J001] /home/me/."), "{path}: {refused}");
        }
        let inside = drawn("", &wish(&[("/home/me/.local/state/ringfence/runs/1", Mode::ReadWrite)]));
        assert!(inside.contains("ReadWrite /home/me/.local/state/ringfence/runs/1"), "{inside}");
    }

    #[test]
    fn the_network_is_the_one_that_was_asked_for() {
        let broker = "jail.profile = \"x\"\n[profiles.x]\nextends = \"readonly\"\nnetwork = \"broker\"";
        assert!(drawn(broker, &Wish::default()).ends_with("network Broker"));
        for network in [Network::None, Network::Broker, Network::Open] {
            let wish = Wish { network: Some(network), ..Wish::default() };
            assert!(drawn(broker, &wish).ends_with(&format!("network {network:?}")));
        }
    }

    #[test]
    fn the_workspace_is_seen_as_the_profile_says() {
        let rows = [
            ("readonly", Mode::ReadOnly, true),
            ("readonly", Mode::ReadWrite, false),
            ("workspace-write", Mode::ReadWrite, true),
            ("workspace-write", Mode::ReadOnly, false),
            ("workspace-write", Mode::Hidden, false),
        ];
        for (profile, mode, fine) in rows {
            let drawn = drawn(&format!("jail.profile = \"{profile}\""), &wish(&[("/home/me/ws", mode)]));
            assert_eq!(drawn.contains(&format!("{mode:?} /home/me/ws\n")), fine, "{drawn}");
        }
    }

    #[test]
    fn home_is_never_the_workspace() {
        for path in ["/home/me", "/home", "/"] {
            let result = build_spec(&settings("", &Wish::default()), visible(Path::new(path), &[], &[]));
            assert!(result.unwrap_err().to_string().contains("the home directory"), "{path}");
        }
    }
}
