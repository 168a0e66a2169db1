//! An arena whose records are one word each: the number of the abort.

pub mod readback;

use crate::sync::{Arc, AtomicU32, Ordering};
use std::array;

/// Aborts for which an arena has room.
const CAPACITY: usize = 4;

/// An arena, which the layer and the GPU share.
#[derive(Clone)]
pub struct Arena(Arc<Words>);

/// Stands for how addresses of buffers are got.
#[derive(Default)]
pub struct AddressApi;

struct Words {
    cursor: AtomicU32,
    records: [AtomicU32; CAPACITY],
}

impl Default for Arena {
    fn default() -> Self {
        Self(Arc::new(Words {
            cursor: AtomicU32::new(0),
            records: array::from_fn(|_| AtomicU32::new(0)),
        }))
    }
}

impl Arena {
    /// An abort of an invocation: reserves a record and writes it. The host knows of it by CURSOR, maybe before the record is
    /// complete.
    pub fn abort(&self, number: u32) {
        let unit = self.0.cursor.fetch_add(1, Ordering::AcqRel);
        if let Some(record) = self.0.records.get(unit as usize) {
            record.store(number, Ordering::Release);
        }
    }

    /// Whether some invocation has aborted.
    pub fn aborted(&self) -> bool {
        self.0.cursor.load(Ordering::Acquire) != 0
    }

    /// No model sets `trap = hang`.
    pub fn end_hang(&self) {
        unreachable!("trap = return");
    }
}
