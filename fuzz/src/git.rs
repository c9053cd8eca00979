//! Files of git that a jailed command can write.

/// Parsing objects produces no more than its limit.
pub fn git_objects(bytes: &[u8]) {
    ::git::read_as_git_objects(bytes);
}

/// An index is read or refused, for both lengths of object names.
pub fn git_index(bytes: &[u8]) {
    jail::read_as_git_index(bytes);
}

/// An error in settings names a line that is there.
pub fn git_settings(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    match policy::git_settings(bytes) {
        Ok(settings) => assert!(settings.len() <= bytes.len()),
        Err(error) => assert!((1..=lines).contains(&error.line)),
    }
}
