//! What kind of place a host is, told offline.
