//! What files say. HostFacts explain why a measurement came out as it did; none of them decides.

/// What files say about one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// The kernel's release, such as `6.8.0-45-generic`.
    pub release: Option<String>,
    /// The processor's name.
    pub machine: String,
    /// The distribution's full name.
    pub distribution: Option<String>,
    /// The distribution's short names, its own first, then those it derives from.
    pub family: Vec<String>,
    /// The active security modules.
    pub modules: Option<Vec<String>>,
    /// `AppArmor`, where present.
    pub apparmor: AppArmor,
    /// `SELinux`, where present.
    pub selinux: Option<Selinux>,
    /// Who may trace whom, after Yama.
    pub ptrace_scope: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, known to Debian and its children.
    pub userns_clone: Option<u64>,
    /// `user.max_user_namespaces`.
    pub max_user_namespaces: Option<u64>,
    /// What already confines this process.
    pub confined: Confined,
    /// What this machine lives in.
    pub containers: Vec<DetectedContainer>,
}

/// What `AppArmor` says about itself and us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppArmor {
    /// `kernel.apparmor_restrict_unprivileged_userns`: other than 0 takes the capabilities of a user namespace away.
    pub restricts_userns: Option<u64>,
    /// The profile this process runs under.
    pub profile: Option<String>,
    /// Whether a profile for Ringfence lies among the others.
    pub installed: bool,
}

/// Whether `SELinux` refuses or only reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selinux {
    /// It refuses.
    Enforcing,
    /// It reports.
    Permissive,
}

/// What already confines this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confined {
    /// The seccomp mode: 0 none, 2 filters.
    pub seccomp: Option<u64>,
    /// How many filters.
    pub filters: Option<u64>,
    /// Whether privileges can no longer be gained.
    pub no_new_privs: Option<u64>,
}

/// Something this machine lives in, and the sign by which it was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedContainer {
    /// What it is.
    pub kind: ContainerKind,
    /// The file that says so.
    pub sign: &'static str,
}

/// A kind of surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContainerKind {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// A pod of Kubernetes.
    Kubernetes,
    /// LXC or LXD.
    Lxc,
    /// Another container, by its own name.
    Container(String),
    /// The first Windows Subsystem for Linux: Windows behind Linux calls.
    Wsl1,
    /// The second one: a Linux kernel in a virtual machine.
    Wsl2,
    /// Windows programs can be started from here.
    WindowsInterop,
    /// gVisor: a kernel of its own behind Linux calls.
    Gvisor,
}
