//! Archives: what is in them, without unpacking anything to a disk.
