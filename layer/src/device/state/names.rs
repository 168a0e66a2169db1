//! Debug-utils names of objects, for reports.

use ash::vk;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Names by object type and handle.
#[derive(Default)]
pub struct Names(RwLock<HashMap<(vk::ObjectType, u64), String>>);

impl Names {
    /// Sets the name of an object. An empty name removes it.
    pub fn set(&self, kind: vk::ObjectType, handle: u64, name: String) {
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if name.is_empty() {
            names.remove(&(kind, handle));
        } else {
            names.insert((kind, handle), name);
        }
    }

    /// The name of an object.
    pub fn get(&self, kind: vk::ObjectType, handle: u64) -> Option<String> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&(kind, handle))
            .cloned()
    }
}
