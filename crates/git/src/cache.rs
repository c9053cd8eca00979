//! Objects of packs that others may be deltas to.

use std::collections::HashMap;
use std::sync::Arc;

use super::object::{Object, ObjectKind};

/// A pack of the store, and an offset in it.
pub(super) type PackSpot = (u64, u64);

/// The objects that were used last, up to a number of bytes. They have not been checked by their names.
#[derive(Default)]
pub(super) struct BaseCache {
    young: HashMap<PackSpot, Object>,
    /// Forgotten when there are enough young ones.
    old: HashMap<PackSpot, Object>,
    young_bytes: usize,
}

const GENERATION: usize = 16 << 20;
/// Memory that an entry costs beside its bytes.
const ENTRY: usize = 128;

impl BaseCache {
    pub(super) fn get(&mut self, spot: PackSpot) -> Option<Object> {
        if let Some(object) = self.young.get(&spot) {
            return Some(object.clone());
        }
        let object = self.old.remove(&spot)?;
        self.insert(spot, object.clone());
        Some(object)
    }

    /// Keeps a tree. Commits are hardly ever deltas.
    pub(super) fn insert(&mut self, spot: PackSpot, object: Object) {
        let bytes = object.content.len() + ENTRY;
        if object.kind != ObjectKind::Tree || bytes > GENERATION / 4 {
            return;
        }
        if self.young_bytes + bytes > GENERATION {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        self.young.insert(spot, object);
    }
}

impl Object {
    pub(super) fn new(kind: ObjectKind, content: Vec<u8>) -> Self {
        Self { kind, content: Arc::new(content) }
    }
}
