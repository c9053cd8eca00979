//! Table: paths that matter to the machine or to a person.
//!
//! A row is a path without its first slash. `*` stands for letters of one name; `**` at the end for the directory itself
//! and all below.

/// A path with the reason why it matters. The reason goes on after "`path` is ".
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) path: &'static str,
    pub(crate) why: &'static str,
}

const fn row(path: &'static str, why: &'static str) -> Row {
    Row { path, why }
}

/// Directories whose loss takes the machine with it. The root itself goes without a row.
pub(crate) const ROOTS: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "media",
    "mnt",
    "nix",
    "nix/store",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "sys/firmware/efi/efivars",
    "usr",
    "usr/bin",
    "usr/include",
    "usr/lib",
    "usr/lib32",
    "usr/lib64",
    "usr/libexec",
    "usr/local",
    "usr/local/bin",
    "usr/local/lib",
    "usr/sbin",
    "usr/share",
    "var",
    "var/db",
    "var/lib",
    "var/log",
    "var/mail",
    "var/spool",
    "Applications",
    "Library",
    "Network",
    "System",
    "Users",
    "Volumes",
    "cores",
    "private",
];

/// Home directories of all users.
pub(crate) const HOMES: &[&str] = &["home/*", "Users/*", "var/root"];

/// Disks, and other devices that a write can ruin the machine with.
pub(crate) const DEVICES: &[Row] = &[
    row("dev/sd*", "a disk"),
    row("dev/vd*", "a disk of a virtual machine"),
    row("dev/hd*", "a disk"),
    row("dev/xvd*", "a disk of a virtual machine"),
    row("dev/nvme*", "a disk"),
    row("dev/mmcblk*", "a memory card"),
    row("dev/dm-*", "a mapped disk"),
    row("dev/mapper/*", "a mapped disk"),
    row("dev/md*", "an array of disks"),
    row("dev/loop*", "a loop device"),
    row("dev/disk/**", "a disk"),
    row("dev/disk*", "a disk"),
    row("dev/rdisk*", "a disk"),
    row("dev/block/**", "a disk"),
    row("dev/zd*", "a volume of ZFS"),
    row("dev/zvol/**", "a volume of ZFS"),
    row("dev/nbd*", "a disk on the network"),
    row("dev/rbd*", "a disk on the network"),
    row("dev/bcache*", "a cached disk"),
    row("dev/pmem*", "persistent memory"),
    row("dev/dasd*", "a disk"),
    row("dev/mtd*", "flash memory"),
    row("dev/ram*", "a disk in memory"),
    row("dev/mem", "the memory of the machine"),
    row("dev/kmem", "the memory of the kernel"),
    row("dev/port", "the I/O ports of the machine"),
];

/// Switches of the running kernel.
pub(crate) const KERNEL: &[Row] = &[
    row("proc/sysrq-trigger", "a switch that resets or powers off the machine"),
    row("proc/sys/**", "a setting of the running kernel"),
];

/// World-writable devices.
pub(crate) const FREE_DEVICES: &[&str] = &[
    "dev/null",
    "dev/zero",
    "dev/full",
    "dev/random",
    "dev/urandom",
    "dev/stdin",
    "dev/stdout",
    "dev/stderr",
    "dev/tty",
    "dev/ptmx",
    "dev/fd/**",
    "dev/shm/**",
    "dev/pts/**",
    "proc/self/fd/**",
];

/// Directories that exist to be written into: only changing them as a whole matters.
pub(crate) const SHARED: &[&str] = &["tmp", "var/tmp"];

/// Paths of the system.
pub(crate) const SYSTEM: &[Row] = &[
    row("etc/**", "part of the configuration of the system"),
    row("boot/**", "what the machine starts from"),
    row("proc/**", "part of the running kernel"),
    row("sys/**", "part of the running kernel"),
    row("dev/**", "a device"),
    row("bin/**", "among the programs of the system"),
    row("sbin/**", "among the programs of the system"),
    row("lib/**", "among the libraries of the system"),
    row("lib32/**", "among the libraries of the system"),
    row("lib64/**", "among the libraries of the system"),
    row("usr/bin/**", "among the programs of the system"),
    row("usr/sbin/**", "among the programs of the system"),
    row("usr/lib/**", "among the libraries of the system"),
    row("usr/lib64/**", "among the libraries of the system"),
    row("usr/libexec/**", "among the programs of the system"),
    row("usr/local/**", "among the programs of this machine"),
    row("usr/share/**", "among the files of the system"),
    row("usr/include/**", "among the files of the system"),
    row("var/log/**", "a log of the system"),
    row("var/spool/cron/**", "a table of commands that run by the clock"),
    row("var/lib/dpkg/**", "the record of installed packages"),
    row("var/lib/rpm/**", "the record of installed packages"),
    row("System/**", "part of the system"),
    row("Library/**", "part of the system"),
];

/// Directories of the system that matter as a whole only.
pub(crate) const WHOLE: &[Row] = &[
    row("opt", "a directory of the system"),
    row("root", "the home directory of the administrator"),
    row("usr", "a directory of the system"),
    row("var", "a directory of the system"),
    row("var/lib", "a directory of the system"),
    row("var/spool", "a directory of the system"),
    row("home", "where all home directories are"),
    row("Users", "where all home directories are"),
    row("srv", "a directory of the system"),
    row("run", "a directory of the system"),
    row("tmp", "shared by every program"),
    row("var/tmp", "shared by every program"),
];

/// Files in a home directory that decide what runs later.
pub(crate) const START_UP: &[Row] = &[
    row(".bashrc", "run by every new shell"),
    row(".bash_profile", "run at every login"),
    row(".bash_login", "run at every login"),
    row(".bash_logout", "run at every logout"),
    row(".bash_aliases", "run by every new shell"),
    row(".profile", "run at every login"),
    row(".zshrc", "run by every new shell"),
    row(".zprofile", "run at every login"),
    row(".zshenv", "run by every new shell"),
    row(".zlogin", "run at every login"),
    row(".zlogout", "run at every logout"),
    row(".xprofile", "run at every login"),
    row(".xinitrc", "run at every login"),
    row(".xsession", "run at every login"),
    row(".xsessionrc", "run at every login"),
    row(".pam_environment", "read at every login"),
    row(".ssh/**", "part of who may log in, and as whom"),
    row(".gnupg/**", "part of the key ring"),
    row(".config/autostart/**", "run at every login"),
    row(".config/systemd/**", "run at every login"),
    row(".config/environment.d/**", "read at every login"),
    row(".config/git/**", "read by every git command, and can name programs"),
    row(".config/fish/**", "run by every new shell"),
    row(".config/ringfence/**", "the policy that confines this session"),
    row(".gitconfig", "read by every git command, and can name programs"),
    row(".git-credentials", "where git keeps passwords"),
    row(".netrc", "where passwords are kept"),
    row(".pgpass", "where passwords are kept"),
    row(".npmrc", "read by every npm command, and holds tokens"),
    row(".pypirc", "where tokens are kept"),
    row(".cargo/config", "read by every cargo command, and can name programs"),
    row(".cargo/config.toml", "read by every cargo command, and can name programs"),
    row(".cargo/credentials*", "where tokens are kept"),
    row(".local/share/applications/**", "what the desktop starts"),
    row("Library/LaunchAgents/**", "run at every login"),
];

/// Files of the system that hold credentials.
pub(crate) const SYSTEM_CREDENTIALS: &[Row] = &[
    row("etc/shadow", "where the passwords of all users are kept"),
    row("etc/shadow-", "where the passwords of all users are kept"),
    row("etc/gshadow", "where the passwords of groups are kept"),
    row("etc/gshadow-", "where the passwords of groups are kept"),
    row("etc/master.passwd", "where the passwords of all users are kept"),
    row("etc/sudoers", "the list of who may act as whom"),
    row("etc/sudoers.d/**", "the list of who may act as whom"),
    row("etc/security/opasswd", "where old passwords are kept"),
    row("etc/ssh/ssh_host_*_key", "the private key of this machine"),
    row("etc/ssl/private/**", "where private keys are kept"),
    row("etc/pki/tls/private/**", "where private keys are kept"),
    row("etc/krb5.keytab", "the key of this machine"),
    row("etc/kubernetes/admin.conf", "the key to a cluster"),
    row("etc/rancher/k3s/k3s.yaml", "the key to a cluster"),
    row("run/secrets/**", "where secrets are handed to a container"),
    row("var/run/secrets/**", "where secrets are handed to a container"),
    row("Library/Keychains/**", "a key ring"),
];

/// Files in a home directory that hold credentials. The directories that hold little else count as a whole.
pub(crate) const HOME_CREDENTIALS: &[Row] = &[
    row(".ssh/**", "where private keys are kept"),
    row(".gnupg/**", "where private keys are kept"),
    row(".aws", "where the keys of a cloud account are kept"),
    row(".aws/credentials", "where the keys of a cloud account are kept"),
    row(".aws/sso/**", "where the tokens of a cloud account are kept"),
    row(".aws/cli/cache/**", "where the tokens of a cloud account are kept"),
    row(".azure/accessTokens.json", "where the tokens of a cloud account are kept"),
    row(".azure/msal_token_cache*", "where the tokens of a cloud account are kept"),
    row(".azure/service_principal_entries*", "where the keys of a cloud account are kept"),
    row(".config/gcloud/**", "where the keys of a cloud account are kept"),
    row(".boto", "where the keys of a cloud account are kept"),
    row(".s3cfg", "where the keys of a cloud account are kept"),
    row(".oci/**", "where the keys of a cloud account are kept"),
    row(".config/doctl/config.yaml", "where the token of a cloud account is kept"),
    row(".config/rclone/rclone.conf", "where the keys of storage accounts are kept"),
    row(".netrc", "where passwords are kept"),
    row(".pgpass", "where passwords are kept"),
    row(".my.cnf", "where passwords are kept"),
    row(".git-credentials", "where git keeps passwords"),
    row(".config/git/credentials", "where git keeps passwords"),
    row(".config/gh", "where the token of an account is kept"),
    row(".config/gh/hosts.yml", "where the token of an account is kept"),
    row(".config/glab-cli/config.yml", "where the token of an account is kept"),
    row(".config/hub", "where the token of an account is kept"),
    row(".config/github-copilot/**", "where the token of an account is kept"),
    row(".npmrc", "where the token of a registry is kept"),
    row(".yarnrc.yml", "where the token of a registry is kept"),
    row(".pypirc", "where the token of a registry is kept"),
    row(".cargo/credentials*", "where the token of a registry is kept"),
    row(".gem/credentials", "where the token of a registry is kept"),
    row(".m2/settings-security.xml", "where the password of a registry is kept"),
    row(".composer/auth.json", "where the token of a registry is kept"),
    row(".config/composer/auth.json", "where the token of a registry is kept"),
    row(".docker", "where the tokens of registries are kept"),
    row(".docker/config.json", "where the tokens of registries are kept"),
    row(".config/containers/auth.json", "where the tokens of registries are kept"),
    row(".kube", "where the keys to clusters are kept"),
    row(".kube/config", "where the keys to clusters are kept"),
    row(".terraform.d/credentials.tfrc.json", "where the token of an account is kept"),
    row(".terraformrc", "where the token of an account is kept"),
    row(".vault-token", "where a token is kept"),
    row(".config/op/**", "where a password manager keeps its account"),
    row(".password-store/**", "a store of passwords"),
    row(".local/share/keyrings/**", "a key ring"),
    row(".local/share/kwalletd/**", "a key ring"),
    row(".kde/share/apps/kwallet/**", "a key ring"),
    row("Library/Keychains/**", "a key ring"),
    row(".config/Bitwarden*/**", "a store of passwords"),
    row(".huggingface/token", "where a token is kept"),
    row(".cache/huggingface/token", "where a token is kept"),
    row(".kaggle/kaggle.json", "where a token is kept"),
    row(".databrickscfg", "where a token is kept"),
    row(".mozilla/firefox/**", "a profile of a browser, with its passwords and sessions"),
    row(".thunderbird/**", "a profile of a mail program, with its passwords"),
    row(".config/google-chrome*/**", "a profile of a browser, with its passwords and sessions"),
    row(".config/chromium/**", "a profile of a browser, with its passwords and sessions"),
    row(".config/BraveSoftware/**", "a profile of a browser, with its passwords and sessions"),
    row(".config/microsoft-edge*/**", "a profile of a browser, with its passwords and sessions"),
    row(".config/vivaldi/**", "a profile of a browser, with its passwords and sessions"),
    row(
        "Library/Application Support/Google/Chrome/**",
        "a profile of a browser, with its passwords and sessions",
    ),
    row("Library/Application Support/Firefox/**", "a profile of a browser, with its passwords and sessions"),
    row(
        "Library/Application Support/BraveSoftware/**",
        "a profile of a browser, with its passwords and sessions",
    ),
    row("Library/Cookies/**", "where the sessions of a browser are kept"),
    row("snap/firefox/common/.mozilla/**", "a profile of a browser, with its passwords and sessions"),
    row(".bitcoin/**", "a wallet"),
    row(".electrum/**", "a wallet"),
    row(".ethereum/keystore/**", "a wallet"),
    row(".config/solana/id.json", "a wallet"),
    row(".claude/.credentials.json", "where an agent keeps its own token"),
    row(".codex/auth.json", "where an agent keeps its own token"),
    row(".gemini/oauth_creds.json", "where an agent keeps its own token"),
    row(".qwen/oauth_creds.json", "where an agent keeps its own token"),
    row(".local/share/opencode/auth.json", "where an agent keeps its own token"),
    row(".config/opencode/auth.json", "where an agent keeps its own token"),
    row(".config/goose/secrets.yaml", "where an agent keeps its own token"),
];

/// Names beside private keys that hold no secret: how they begin, and how they end.
pub(crate) const PUBLIC_NAMES: &[&str] = &["known_hosts", "config", "authorized_keys", "allowed_signers"];
/// The other half of a key.
pub(crate) const PUBLIC_END: &str = ".pub";

/// Files that show the variables or the memory of a process.
pub(crate) const PROCESS: &[Row] = &[
    row("proc/*/environ", "the environment of a process"),
    row("proc/*/task/*/environ", "the environment of a process"),
    // The process is a variable without a value.
    row("proc/environ", "the environment of a process"),
    row("proc/*/mem", "the memory of a process"),
    row("proc/*/task/*/mem", "the memory of a process"),
    row("proc/kcore", "the memory of the machine"),
];

/// Redirections that the shell itself turns into connections.
pub(crate) const CONNECTIONS: &[Row] = &[
    row("dev/tcp/**", "a connection to another machine"),
    row("dev/udp/**", "a connection to another machine"),
];
