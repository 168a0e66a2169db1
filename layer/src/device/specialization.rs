//! Reads and edits the specialization of stages.

use crate::device::state::EditStorage;
use ash::vk;
use std::collections::BTreeMap;
use std::slice;

/// The specialization data of a pipeline stage or shader by `SpecId`.
///
/// # Safety
/// `info` must be null or valid.
pub unsafe fn specialization(info: *const vk::SpecializationInfo<'_>) -> BTreeMap<u32, Vec<u8>> {
    // SAFETY: null or valid, with arrays of the sizes that it says (the caller's contract).
    unsafe {
        let Some(info) = info.as_ref() else {
            return BTreeMap::new();
        };
        if info.p_map_entries.is_null() || info.p_data.is_null() {
            return BTreeMap::new();
        }
        let data = slice::from_raw_parts(info.p_data.cast::<u8>(), info.data_size);
        slice::from_raw_parts(info.p_map_entries, info.map_entry_count as usize)
            .iter()
            .filter_map(|entry| {
                let begin = entry.offset as usize;
                let bytes = data.get(begin..begin.checked_add(entry.size)?)?;
                Some((entry.constant_id, bytes.to_vec()))
            })
            .collect()
    }
}

/// A specialization without the constants `removed`, kept in `storage`. None if it has none of them: it can then be passed
/// as it is. Not every driver accepts a constant that the module lacks if its data has an unusual size.
///
/// # Safety
/// `info` must be null or valid, and outlive the result.
pub unsafe fn without_constants(
    info: *const vk::SpecializationInfo<'_>,
    removed: &[u32],
    storage: &mut EditStorage,
) -> Option<*const vk::SpecializationInfo<'static>> {
    // SAFETY: null or valid, with an array of that many entries (the caller's contract).
    let (mut copy, entries) = unsafe {
        let info = *info.cast::<vk::SpecializationInfo<'static>>().as_ref()?;
        if info.p_map_entries.is_null() {
            return None;
        }
        (
            info,
            slice::from_raw_parts(info.p_map_entries, info.map_entry_count as usize),
        )
    };
    let kept: Vec<_> = entries
        .iter()
        .filter(|entry| !removed.contains(&entry.constant_id))
        .copied()
        .collect();
    if kept.len() == entries.len() {
        return None;
    }
    copy.map_entry_count = u32::try_from(kept.len()).unwrap_or(u32::MAX);
    copy.p_map_entries = storage.keep(kept);
    Some(storage.keep(vec![copy]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_that_the_rewritten_module_lacks_are_removed() {
        let entry = |id, offset, size| {
            vk::SpecializationMapEntry::default()
                .constant_id(id)
                .offset(offset)
                .size(size)
        };
        let entries = [entry(1, 0, 14), entry(2, 16, 4), entry(7, 20, 4)];
        let data = [0u8; 24];
        let info = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut storage = EditStorage::default();
        // SAFETY: the structure is valid and outlives the results.
        unsafe {
            assert!(without_constants(&info, &[3], &mut storage).is_none());
            assert!(without_constants(std::ptr::null(), &[1], &mut storage).is_none());
            let kept = without_constants(&info, &[1, 7], &mut storage).expect("an entry is removed");
            // Values stay where they are when the storage moves.
            let storage = Box::new(storage);
            assert_eq!(((*kept).map_entry_count, (*kept).data_size), (1, 24));
            assert_eq!((*(*kept).p_map_entries).constant_id, 2);
            assert_eq!((*kept).p_data, info.p_data);
            drop(storage);
        }
    }
}
