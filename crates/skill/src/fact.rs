//! What code and prose do, in one vocabulary: read, send, fetch, run, save.
