//! Facts put together: what is read here is sent there, what is fetched is run.
