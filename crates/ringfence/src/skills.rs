//! The skills of a session: looked at before a model reads them, and tools and programs taken away while they are in use.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use audit::{AuditError, Digest, Event, FilePath, Name, Names, Text};
use policy::{Code, Effect, Link, Reason, Request, ToolSet, Want};
use skill::{Judged, Loaded, Profile, Refused, Scanner, Settings, Severity, Tree, Verdict};

use crate::session::Session;

/// Tools and programs that the skills in use leave.
pub(crate) struct Skills {
    left: RwLock<Left>,
}

struct Left {
    tools: ToolSet,
    /// Number of skills in use.
    count: u64,
    /// Whose programs alone may be started. A skill without code says nothing about programs, and has none here.
    profiles: Vec<Profile>,
}

impl Left {
    fn new(tools: ToolSet) -> Self {
        Self { tools, count: 0, profiles: Vec::new() }
    }

    fn refuse(&self, request: &Request<'_>) -> Option<Reason> {
        if self.count > 0 && self.tools.judge(request.tool).is_err() {
            return Some(Reason::new(Code::ToolNarrowed, "the skill in use does not ask for this tool"));
        }
        let Want::Exec(execution) = request.want else { return None };
        self.profiles.iter().find_map(|profile| profile.refuse(execution.invocation))
    }
}

/// Why a skill is not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillRefused {
    /// Something about the skill.
    #[error(transparent)]
    Skill(#[from] Refused),
    /// It cannot be recorded, so it does not happen.
    #[error("this cannot be recorded, so it does not happen: {0}")]
    Unrecorded(#[from] AuditError),
}

impl Skills {
    pub(crate) fn new(tools: ToolSet) -> Arc<Self> {
        Arc::new(Self { left: RwLock::new(Left::new(tools)) })
    }

    pub(crate) fn tools(&self) -> ToolSet {
        self.left.read().unwrap_or_else(PoisonError::into_inner).tools.clone()
    }

    /// Returns a link that denies what no skill in use wants, for every caller and kind of request.
    pub(crate) fn link(
        self: &Arc<Self>,
    ) -> Link<impl Fn(&Request<'_>) -> Option<(Effect, Reason)> + Send + Sync + 'static> {
        let skills = Arc::clone(self);
        Link::new("skills", move |request: &Request<'_>| {
            let left = skills.left.read().unwrap_or_else(PoisonError::into_inner);
            left.refuse(request).map(|reason| (Effect::Deny, reason))
        })
    }

    fn narrow(&self, loaded: &Loaded, profile: Profile) {
        let mut left = self.left.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(wanted) = &loaded.tools {
            left.tools = left.tools.narrow(wanted);
        }
        left.profiles.extend(profile.has_programs().then_some(profile));
        left.count += 1;
    }

    fn count(&self) -> u64 {
        self.left.read().unwrap_or_else(PoisonError::into_inner).count
    }

    fn clear(&self, tools: &ToolSet) {
        *self.left.write().unwrap_or_else(PoisonError::into_inner) = Left::new(tools.clone());
    }
}

impl Session {
    /// Loads a skill that lies at a place: cleaned, bounded, scanned, recorded. From then on the session has only those tools that the skill
    /// wants, and a skill with code starts only the programs of its scripts and shell fences; a skill never adds one. [`Loaded::framed`] is what the model sees.
    pub fn load_skill(
        &self,
        (place, tree): (&Path, &Tree),
        scanner: &Scanner,
        settings: &Settings,
    ) -> Result<Loaded, SkillRefused> {
        let loaded = match skill::load(tree, scanner, settings) {
            Ok(loaded) => loaded,
            Err(refused) => {
                self.record_refused(place, tree, &refused)?;
                return Err(refused.into());
            }
        };
        self.record_loaded(place, tree, &loaded)?;
        self.skills
            .narrow(&loaded, Profile::new(&loaded.name, &skill::capabilities(tree), tree, Some(place)));
        Ok(loaded)
    }

    /// Forgets all skills: the session has its tools again.
    pub fn clear_skills(&self) -> Result<(), AuditError> {
        let count = self.skills.count();
        self.record(&Event::SkillCleared { by: self.by(), count })?;
        self.skills.clear(&self.parts().tools);
        Ok(())
    }

    fn record_refused(&self, place: &Path, tree: &Tree, refused: &Refused) -> Result<(), AuditError> {
        let none = Judged::default();
        let judged = if let Refused::Blocked(judged) = refused { judged } else { &none };
        self.record(&Event::SkillBlocked {
            by: self.by(),
            skill: Name(&tree.name),
            path: FilePath(place),
            sha256: Some(Digest::of(&tree.listing())),
            critical: judged.count(Severity::Critical) as u64,
            warnings: judged.count(Severity::Warning) as u64,
            codes: Names(&judged.rules()),
            reason: Text(&refused.to_string()),
        })
    }

    fn record_loaded(&self, place: &Path, tree: &Tree, loaded: &Loaded) -> Result<(), AuditError> {
        let (judged, sha256) = (&loaded.judged, Digest::of(&tree.listing()));
        let (skill, path) = (Name(&loaded.name), FilePath(place));
        let warnings = judged.count(Severity::Warning) as u64;
        if loaded.verdict == Verdict::Flagged {
            let critical = judged.count(Severity::Critical) as u64;
            let rules = judged.rules();
            let (by, codes) = (self.by(), Names(&rules));
            self.record(&Event::SkillFlagged { by, skill, path, sha256, critical, warnings, codes })?;
        }
        let tools = self.skills.tools();
        let tools = loaded.tools.as_ref().map_or_else(|| tools.clone(), |wanted| tools.narrow(wanted));
        self.record(&Event::SkillLoaded {
            by: self.by(),
            skill: Name(&loaded.name),
            path: FilePath(place),
            sha256,
            critical: judged.excused() as u64,
            warnings,
            tools: Names(&tools.tools().collect::<Vec<_>>()),
        })
    }
}
