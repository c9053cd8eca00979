//! Facts that files state about a machine. They explain a measurement; none of them decides.

/// Facts that files state about one machine.
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
    /// Yama's `kernel.yama.ptrace_scope`.
    pub ptrace_scope: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, known to Debian and its children.
    pub userns_clone: Option<u64>,
    /// `user.max_user_namespaces`.
    pub max_user_namespaces: Option<u64>,
    /// Confinement that this process already has.
    pub confined: Confined,
    /// Containers and virtual machines around this one.
    pub containers: Vec<DetectedContainer>,
}

/// State of `AppArmor`, and the profile of this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppArmor {
    /// `kernel.apparmor_restrict_unprivileged_userns`: other than 0 takes the capabilities of a user namespace away.
    pub restricts_userns: Option<u64>,
    /// The profile this process runs under.
    pub profile: Option<String>,
    /// True if a profile for Ringfence is installed.
    pub installed: bool,
}

/// Mode of `SELinux`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selinux {
    /// It refuses.
    Enforcing,
    /// It reports.
    Permissive,
}

/// Confinement that this process already has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confined {
    /// The seccomp mode: 0 none, 2 filters.
    pub seccomp: Option<u64>,
    /// Number of seccomp filters.
    pub filters: Option<u64>,
    /// `NoNewPrivs` of this process.
    pub no_new_privs: Option<u64>,
}

/// A container or virtual machine around this one, and the file by which it was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedContainer {
    /// Its kind.
    pub kind: ContainerKind,
    /// The file that says so.
    pub sign: &'static str,
}

/// Kind of a container or virtual machine.
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
