//! Table: variables that lead programs to the broker, and those that make them trust its certificates.

/// Variables with the address of a proxy. Programs read them in either case.
pub(super) const PROXY: &[&str] =
    &["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Variables with hosts that are reached without a proxy.
pub(super) const NO_PROXY: &[&str] = &["NO_PROXY", "no_proxy"];

/// Hosts that are reached without a proxy: servers inside.
pub(super) const INSIDE: &str = "localhost,.localhost,127.0.0.1,::1,[::1]";

/// Variables that keep programs from looking for updates of themselves: the user has not asked for that.
pub(super) const NO_UPDATES: &[(&str, &str)] =
    &[("npm_config_update_notifier", "false"), ("PIP_DISABLE_PIP_VERSION_CHECK", "1")];

/// Variables with the path of a file of trusted certificates, and the programs that read each.
pub(super) const CERTIFICATES: &[(&str, &str)] = &[
    ("AWS_CA_BUNDLE", "AWS command line and SDKs"),
    ("BUNDLE_SSL_CA_CERT", "Bundler"),
    ("CARGO_HTTP_CAINFO", "Cargo"),
    ("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "Google Cloud command line"),
    ("COMPOSER_CAFILE", "Composer"),
    ("CURL_CA_BUNDLE", "curl"),
    ("DENO_CERT", "Deno"),
    ("GIT_SSL_CAINFO", "git"),
    ("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "gRPC"),
    ("HEX_CACERTS_PATH", "Hex"),
    ("HTTPLIB2_CA_CERTS", "httplib2"),
    ("JULIA_SSL_CA_ROOTS_PATH", "Julia"),
    ("NIX_SSL_CERT_FILE", "Nix"),
    ("NODE_EXTRA_CA_CERTS", "Node.js"),
    ("PERL_LWP_SSL_CA_FILE", "Perl LWP"),
    ("PIP_CERT", "pip"),
    ("REQUESTS_CA_BUNDLE", "Python requests"),
    ("SSL_CERT_FILE", "OpenSSL, Go, Python, Ruby, rustls"),
    ("YARN_HTTPS_CA_FILE_PATH", "Yarn"),
    ("npm_config_cafile", "npm"),
];

/// Files of trusted certificates at the places where distributions keep them. The first that the host has is the base of the bundle.
pub(super) const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/tls/cacert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Key store of Java at the place where distributions keep it.
pub(super) const JAVA_KEY_STORE: &str = "/etc/ssl/certs/java/cacerts";
