//! Trusted certificates in the format that Java reads (JKS).

use sha1_checked::{Digest as _, Sha1};

const MAGIC: u32 = 0xFEED_FEED;
const VERSION: u32 = 2;
/// Tag of an entry that holds a certificate without a key.
const TRUSTED: u32 = 2;
/// Words that the format mixes into its checksum.
const WHITENER: &[u8] = b"Mighty Aphrodite";
/// Password of the store that comes with Java. It protects nothing: the certificates are public.
const PASSWORD: &str = "changeit";

/// Builds a key store of certificates in DER form.
#[must_use]
pub fn java_key_store(certificates: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut store = Vec::new();
    store.extend(MAGIC.to_be_bytes());
    store.extend(VERSION.to_be_bytes());
    store.extend(count(certificates.len()).to_be_bytes());
    for (number, certificate) in certificates.iter().enumerate() {
        store.extend(TRUSTED.to_be_bytes());
        text(&mut store, &format!("certificate-{number}"));
        // Time of creation, which Java only shows.
        store.extend(0_u64.to_be_bytes());
        text(&mut store, "X.509");
        store.extend(count(certificate.as_ref().len()).to_be_bytes());
        store.extend(certificate.as_ref());
    }
    let password: Vec<u8> = PASSWORD.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let digest = Sha1::new().chain_update(password).chain_update(WHITENER).chain_update(&store).finalize();
    store.extend(digest);
    store
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Appends a short ASCII text in the form that Java calls modified UTF-8.
fn text(store: &mut Vec<u8>, text: &str) {
    store.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
    store.extend(text.as_bytes());
}

#[cfg(test)]
mod tests;
