//! Trusted certificates inside: one bundle at the usual places, and the variables that lead to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use broker::{Credentials, Roots, java_key_store};
use jail::{Content, Spec};

use super::variables::{BUNDLES, CERTIFICATES, JAVA_KEY_STORE};
use crate::run::RunError;

/// Path of the bundle on machines that keep none of their own.
const OWN: &str = "/run/ringfence/ca-certificates.crt";

/// Adds the certificate of the run and those of the policy to what programs inside trust, and returns the variables that lead to them.
/// Without either, nothing is changed.
pub(super) fn add(
    spec: &mut Spec,
    credentials: &Credentials,
    roots: &Roots,
) -> Result<Vec<(String, String)>, RunError> {
    let failed = |error: &dyn std::error::Error| RunError::new("cannot prepare certificates").because(error);
    let bundle = credentials.bundle().map_err(|error| failed(&error))?;
    let bundle = match bundle {
        None if roots.extra.is_empty() => return Ok(Vec::new()),
        None => roots.bundle(None).map_err(|error| failed(&error))?,
        Some(bundle) => bundle,
    };
    let known: Vec<PathBuf> = BUNDLES.iter().map(PathBuf::from).filter(|path| path.exists()).collect();
    let known = if known.is_empty() { vec![PathBuf::from(OWN)] } else { known };
    let first = known[0].to_string_lossy();
    let variables =
        CERTIFICATES.iter().map(|(name, _)| ((*name).to_owned(), first.clone().into_owned())).collect();
    if Path::new(JAVA_KEY_STORE).exists() {
        let certificates = broker::certificates_in(&bundle).map_err(|error| failed(&error))?;
        put(spec, Path::new(JAVA_KEY_STORE), java_key_store(&certificates).into());
    }
    let bundle: Arc<[u8]> = bundle.into_bytes().into();
    for path in &known {
        put(spec, path, Arc::clone(&bundle));
    }
    Ok(variables)
}

fn put(spec: &mut Spec, path: &Path, bytes: Arc<[u8]>) {
    // On some distributions one of these is a link to another; the jail shows a file in its place.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    spec.contents.retain(|content| content.path != path);
    spec.contents.push(Content { path, bytes });
}
