//! Skills and tools pinned by hash.
