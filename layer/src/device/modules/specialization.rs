//! Reads and edits the specialization of stages.

use crate::device::state::{EditStorage, Module};
use crate::loader::ffi::elements;
use ash::vk;
use std::collections::BTreeMap;
use std::slice;
use vkabort_record::scalar::{Number, Scalar};
use vkabort_record::specialization::{SpecConstant, Specialization};
use xxhash_rust::xxh3::Xxh3Default;

/// The specialization data of a pipeline stage or shader by `SpecId`.
///
/// # Safety
/// `info` must be null or valid.
pub unsafe fn specialization(info: *const vk::SpecializationInfo<'_>) -> BTreeMap<u32, Vec<u8>> {
    // SAFETY: null or valid (the caller's contract).
    let (entries, data) = unsafe { arrays(info) }.unwrap_or_default();
    let value = |entry: &vk::SpecializationMapEntry| {
        let begin = entry.offset as usize;
        let bytes = data.get(begin..begin.checked_add(entry.size)?)?;
        Some((entry.constant_id, bytes.to_vec()))
    };
    entries.iter().filter_map(value).collect()
}

/// The entries and the data of a specialization. None if it has none.
///
/// # Safety
/// `info` must be null or valid, and outlive the result.
unsafe fn arrays<'a>(info: *const vk::SpecializationInfo<'_>) -> Option<(&'a [vk::SpecializationMapEntry], &'a [u8])> {
    // SAFETY: null or valid, with arrays of the sizes that it says (the caller's contract).
    unsafe {
        let info = info.as_ref().filter(|info| !info.p_data.is_null())?;
        let entries = elements(info.p_map_entries, info.map_entry_count);
        Some((entries, slice::from_raw_parts(info.p_data.cast(), info.data_size)))
    }
}

/// The values that specialization data gives the constants of a module. The key does not change from run to run, so that
/// pipeline caches stay valid.
pub fn values(constants: &[SpecConstant], data: &BTreeMap<u32, Vec<u8>>) -> Specialization {
    let values: Vec<Scalar> = constants
        .iter()
        .map(|constant| match data.get(&constant.id) {
            Some(bytes) => Scalar::from_bytes(constant.default.ty(), bytes),
            None => constant.default,
        })
        .collect();
    let mut hasher = Xxh3Default::new();
    let mut is_default = true;
    for (constant, value) in constants.iter().zip(&values).filter(|(c, value)| c.default != **value) {
        is_default = false;
        hasher.update(&constant.id.to_le_bytes());
        let bits = match value.number() {
            Number::Float(value) => value.to_bits(),
            _ => value.pattern().unwrap_or(0),
        };
        hasher.update(&bits.to_le_bytes());
    }
    match is_default {
        true => Specialization::default(),
        false => Specialization {
            key: (hasher.digest() as u32).max(1),
            values,
        },
    }
}

/// A specialization that fits a rewritten module, kept in `storage`: without the constants that only the original has, and
/// with the key of the values. None if it can be passed as it is. Not every driver accepts a constant that the module lacks
/// if its data has an unusual size.
///
/// # Safety
/// `info` must be null or valid, and outlive the result.
pub unsafe fn for_rewritten(
    info: *const vk::SpecializationInfo<'_>,
    module: &Module,
    key: u32,
    storage: &mut EditStorage,
) -> Option<*const vk::SpecializationInfo<'static>> {
    // SAFETY: null or valid (the caller's contract).
    let (mut copy, (entries, data)) = unsafe {
        let copy = *info.cast::<vk::SpecializationInfo<'static>>().as_ref()?;
        (copy, arrays(info)?)
    };
    let is_removed = |id: u32| module.data_spec_ids.contains(&id) || module.key_spec_id == Some(id);
    let mut kept: Vec<_> = entries
        .iter()
        .filter(|entry| !is_removed(entry.constant_id))
        .copied()
        .collect();
    if let (Some(id), 1..) = (module.key_spec_id, key) {
        let mut with_key = data.to_vec();
        with_key.resize(data.len().next_multiple_of(size_of_val(&key)), 0);
        let entry = vk::SpecializationMapEntry::default().constant_id(id);
        kept.push(
            entry
                .offset(u32::try_from(with_key.len()).ok()?)
                .size(size_of_val(&key)),
        );
        with_key.extend(key.to_ne_bytes());
        copy.data_size = with_key.len();
        copy.p_data = storage.keep(with_key).cast();
    } else if kept.len() == entries.len() {
        return None;
    }
    copy.map_entry_count = u32::try_from(kept.len()).unwrap_or(u32::MAX);
    copy.p_map_entries = storage.keep(kept);
    Some(storage.keep(vec![copy]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::state::testing::module;
    use std::sync::Arc;
    use vkabort_record::scalar_type::ScalarType;

    fn with_ids(data: &[u32], key: Option<u32>) -> Module {
        let mut module = Arc::into_inner(module(1)).expect("the only reference");
        module.data_spec_ids = data.to_vec();
        module.key_spec_id = key;
        module
    }

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
            assert!(for_rewritten(&info, &with_ids(&[3], None), 0, &mut storage).is_none());
            assert!(for_rewritten(std::ptr::null(), &with_ids(&[1], Some(7)), 5, &mut storage).is_none());
            let kept = for_rewritten(&info, &with_ids(&[1], Some(7)), 0, &mut storage).expect("entries are removed");
            // Values stay where they are when the storage moves.
            let storage = Box::new(storage);
            assert_eq!(((*kept).map_entry_count, (*kept).data_size), (1, 24));
            assert_eq!((*(*kept).p_map_entries).constant_id, 2);
            assert_eq!((*kept).p_data, info.p_data);
            drop(storage);
        }
    }

    #[test]
    fn the_key_replaces_an_entry_of_its_id() {
        let entry = |id, offset| {
            vk::SpecializationMapEntry::default()
                .constant_id(id)
                .offset(offset)
                .size(1)
        };
        let entries = [entry(0, 2), entry(1, 0)];
        let data = [1u8, 2, 3];
        let info = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut storage = EditStorage::default();
        // SAFETY: the structure is valid and outlives the results.
        unsafe {
            let edited = for_rewritten(&info, &with_ids(&[], Some(1)), 0xabcd, &mut storage).expect("the key is added");
            let edited = specialization(edited);
            let expected = [(0, vec![3]), (1, 0xabcd_u32.to_ne_bytes().to_vec())];
            assert_eq!(edited, BTreeMap::from(expected));
        }
    }

    #[test]
    fn keys_differ_by_the_values_of_declared_constants() {
        let constant = |id, ty, default| SpecConstant {
            id,
            name: None,
            default: Scalar::from_bits(ty, default),
        };
        let constants = [constant(2, ScalarType::U32, 64), constant(5, ScalarType::F64, 0)];
        let key = |data: &[(u32, &[u8])]| {
            let data = data.iter().map(|(id, bytes)| (*id, bytes.to_vec())).collect();
            values(&constants, &data).key
        };
        let (small, half) = (32u32.to_le_bytes(), 0.5f64.to_le_bytes());
        assert_eq!(key(&[]), 0);
        assert_eq!(key(&[(2, &64u32.to_le_bytes()), (9, &small)]), 0, "the defaults");
        assert_ne!(key(&[(2, &small)]), 0);
        assert_eq!(key(&[(2, &small)]), key(&[(2, &small), (5, &[0; 8])]));
        assert_ne!(key(&[(2, &small)]), key(&[(2, &small), (5, &half)]));
        let data = BTreeMap::from([(5, half.to_vec())]);
        let values: Vec<String> = values(&constants, &data).values.iter().map(Scalar::to_string).collect();
        assert_eq!(values, ["64", "0.5"]);
    }
}
