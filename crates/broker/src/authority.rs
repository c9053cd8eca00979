//! The certificate authority of one run. Its key is made in memory and dies with the run.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use policy::HostName;
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints, PKCS_ECDSA_P256_SHA256, SanType,
};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Certificates begin this long ago, for clocks that are late.
const BACKDATE: Duration = Duration::from_secs(60 * 60);
/// Time for which certificates are valid.
const VALID: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Most leaf certificates that are kept.
const MAX_LEAVES: usize = 256;
/// Columns of PEM.
const COLUMNS: usize = 64;
/// Protocols that are offered to clients and to servers.
pub(crate) const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The certificate authority of one run: ECDSA P-256, valid for days, limited to the hosts that are intercepted.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
    /// One key for all leaves: they belong to the same process and die with it.
    leaf_key: KeyPair,
    provider: Arc<CryptoProvider>,
    leaves: Mutex<Leaves>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Authority(…)")
    }
}

/// Leaf certificates by host, the oldest first out.
#[derive(Default)]
struct Leaves {
    by_host: HashMap<HostName, Arc<ServerConfig>>,
    order: VecDeque<HostName>,
}

/// Explains why certificates cannot be made or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// A key or certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// TLS could not be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// Certificates that were named cannot be read.
    #[error("cannot read certificates: {0}")]
    Pem(rustls::pki_types::pem::Error),
    /// The machine has no certificate authorities.
    #[error(
        "this machine has no certificate authorities that a server could be verified with; install ca-certificates"
    )]
    NoRoots,
}

impl Authority {
    /// Makes a key and its certificate. With hosts, the certificate is good for these and names below them only.
    pub fn generate(hosts: Option<&[HostName]>) -> Result<Self, AuthorityError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = params("Ringfence, one run");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.name_constraints = hosts.map(constraints);
        let certificate = params.self_signed(&key)?.der().clone();
        Ok(Self {
            pem: pem(&certificate),
            certificate,
            issuer: Issuer::new(params, key),
            leaf_key: KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?,
            provider: Arc::new(rustls::crypto::ring::default_provider()),
            leaves: Mutex::default(),
        })
    }

    /// The certificate in PEM.
    #[must_use]
    pub fn certificate_pem(&self) -> &str {
        &self.pem
    }

    /// Returns the server side of TLS for a host.
    pub(crate) fn server(&self, host: &HostName) -> Result<Arc<ServerConfig>, AuthorityError> {
        // A thread that failed left the cache whole: entries are added in one step.
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = leaves.by_host.get(host) {
            return Ok(known.clone());
        }
        let made = Arc::new(self.make(host)?);
        if leaves.order.len() >= MAX_LEAVES {
            let oldest = leaves.order.pop_front();
            oldest.and_then(|oldest| leaves.by_host.remove(&oldest));
        }
        leaves.order.push_back(host.clone());
        leaves.by_host.insert(host.clone(), made.clone());
        Ok(made)
    }

    fn make(&self, host: &HostName) -> Result<ServerConfig, AuthorityError> {
        let mut params = params("Ringfence");
        params.subject_alt_names = vec![match host {
            HostName::Name(name) => SanType::DnsName((**name).try_into()?),
            HostName::Address(address) => SanType::IpAddress(*address),
        }];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let leaf = params.signed_by(&self.leaf_key, &self.issuer)?;
        let chain = vec![leaf.der().clone(), self.certificate.clone()];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.leaf_key.serialize_der()));
        let mut server = ServerConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        server.alpn_protocols = ALPN.iter().map(|name| name.to_vec()).collect();
        Ok(server)
    }
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    let now = SystemTime::now();
    params.not_before = (now - BACKDATE).into();
    params.not_after = (now + VALID).into();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// Permits these hosts and excludes every address that is not among them.
fn constraints(hosts: &[HostName]) -> NameConstraints {
    let permit = |host: &HostName| match host {
        HostName::Name(name) => GeneralSubtree::DnsName(name.to_string()),
        HostName::Address(address) => GeneralSubtree::IpAddress(single(*address)),
    };
    let mut permitted: Vec<_> = hosts.iter().map(permit).collect();
    if !hosts.iter().any(|host| host.name().is_some()) {
        permitted.push(GeneralSubtree::DnsName("invalid".into()));
    }
    let addresses = hosts.iter().any(|host| host.address().is_some());
    let all = [CidrSubnet::from_v4_prefix([0; 4], 0), CidrSubnet::from_v6_prefix([0; 16], 0)];
    let excluded = if addresses { Vec::new() } else { all.map(GeneralSubtree::IpAddress).into() };
    NameConstraints { permitted_subtrees: permitted, excluded_subtrees: excluded }
}

fn single(address: IpAddr) -> CidrSubnet {
    CidrSubnet::from_addr_prefix(address, if address.is_ipv4() { 32 } else { 128 })
}

fn pem(certificate: &CertificateDer<'static>) -> String {
    let text = BASE64_STANDARD.encode(certificate);
    let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
    for line in text.as_bytes().chunks(COLUMNS) {
        pem.extend(line.iter().copied().map(char::from));
        pem.push('\n');
    }
    pem + "-----END CERTIFICATE-----\n"
}

/// Certificate authorities that servers are verified with: those of the machine, and further ones.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// Further authorities in PEM.
    pub extra: Vec<u8>,
}

impl Roots {
    /// Reads all of them. Those of the machine that cannot be read are left out.
    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, AuthorityError> {
        let mut all = rustls_native_certs::load_native_certs().certs;
        for further in CertificateDer::pem_slice_iter(&self.extra) {
            all.push(further.map_err(AuthorityError::Pem)?);
        }
        if all.is_empty() { Err(AuthorityError::NoRoots) } else { Ok(all) }
    }

    /// Returns the certificate authorities of the machine, further ones and that of a run as one file in PEM.
    pub fn bundle(&self, authority: Option<&Authority>) -> Result<String, AuthorityError> {
        let all = self.certificates()?;
        let own = authority.map(|authority| authority.certificate_pem().to_owned());
        Ok(all.iter().map(pem).chain(own).collect())
    }

    /// Returns the client side of TLS.
    pub(crate) fn client(&self) -> Result<rustls::ClientConfig, AuthorityError> {
        let mut store = rustls::RootCertStore::empty();
        store.add_parsable_certificates(self.certificates()?);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut client = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(store)
            .with_no_client_auth();
        client.alpn_protocols = ALPN.iter().map(|name| name.to_vec()).collect();
        Ok(client)
    }
}

/// Returns the certificates of a file in PEM, in DER form.
pub fn certificates_in(pem: &str) -> Result<Vec<Vec<u8>>, AuthorityError> {
    let all = CertificateDer::pem_slice_iter(pem.as_bytes());
    all.map(|one| one.map(|one| one.to_vec()).map_err(AuthorityError::Pem)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> HostName {
        HostName::parse(text).unwrap()
    }

    #[test]
    fn leaves_are_kept_up_to_a_bound() {
        let authority = Authority::generate(None).unwrap();
        let first = authority.server(&host("a.example")).unwrap();
        assert!(Arc::ptr_eq(&first, &authority.server(&host("a.example")).unwrap()));
        for number in 0..MAX_LEAVES {
            authority.server(&host(&format!("h{number}.example"))).unwrap();
        }
        assert!(!Arc::ptr_eq(&first, &authority.server(&host("a.example")).unwrap()));
        assert_eq!(authority.leaves.lock().unwrap().by_host.len(), MAX_LEAVES);
    }

    #[test]
    fn the_bundle_ends_with_our_certificate() {
        let authority = Authority::generate(None).unwrap();
        let roots = Roots { extra: authority.certificate_pem().into() };
        let bundle = roots.bundle(Some(&authority)).unwrap();
        assert!(bundle.ends_with(authority.certificate_pem()));
        let read: Vec<_> =
            CertificateDer::pem_slice_iter(bundle.as_bytes()).collect::<Result<_, _>>().unwrap();
        assert!(read.len() >= 2 && read.last() == Some(&authority.certificate));
    }

    /// Verifies a leaf as a client would.
    fn verify(authority: &Authority, name: &str) -> Result<(), rustls::Error> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(authority.certificate.clone()).unwrap();
        let client = rustls::ClientConfig::builder_with_provider(authority.provider.clone())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let server = authority.server(&host(name)).unwrap();
        let name = rustls::pki_types::ServerName::try_from(name.to_owned()).unwrap();
        let mut client = rustls::ClientConnection::new(Arc::new(client), name)?;
        let mut server = rustls::ServerConnection::new(server)?;
        while client.is_handshaking() || server.is_handshaking() {
            let mut wire = Vec::new();
            client.write_tls(&mut wire).unwrap();
            server.read_tls(&mut &wire[..]).unwrap();
            server.process_new_packets()?;
            let mut wire = Vec::new();
            server.write_tls(&mut wire).unwrap();
            client.read_tls(&mut &wire[..]).unwrap();
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn a_certificate_is_good_for_the_hosts_of_the_run_only() {
        let authority = Authority::generate(Some(&[host("api.example"), host("192.0.2.1")])).unwrap();
        let names = Authority::generate(Some(&[host("api.example")])).unwrap();
        let rows = [
            (&authority, "api.example", true),
            (&authority, "192.0.2.1", true),
            (&authority, "other.example", false),
            (&authority, "192.0.2.2", false),
            (&names, "api.example", true),
            (&names, "192.0.2.1", false),
            (&names, "2001:db8::1", false),
        ];
        for (authority, name, good) in rows {
            assert_eq!(verify(authority, name).is_ok(), good, "{name}: {:?}", verify(authority, name));
        }
    }
}
