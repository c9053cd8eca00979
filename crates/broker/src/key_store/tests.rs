#[path = "../../../../tests/skip.rs"]
mod skip;

use std::process::Command;

use super::*;

#[test]
fn an_empty_store_has_a_header_and_a_checksum() {
    let store = java_key_store(&[] as &[&[u8]]);
    assert_eq!(&store[..12], [0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2, 0, 0, 0, 0]);
    assert_eq!(store.len(), 12 + 20);
}

#[test]
fn java_reads_it() {
    let Ok(found) = Command::new("keytool").arg("-help").output() else {
        return skip::skipped("a key store, read by Java", "no keytool on this machine");
    };
    assert!(found.status.success());
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate =
        rcgen::CertificateParams::new(vec!["a.example".to_owned()]).unwrap().self_signed(&key).unwrap();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    std::fs::write(&path, java_key_store(&[certificate.der()])).unwrap();
    let arguments = ["-list", "-storepass", PASSWORD, "-keystore"];
    let output = Command::new("keytool").args(arguments).arg(&path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("certificate-0") && text.contains("trustedCertEntry"), "{text}");
}
