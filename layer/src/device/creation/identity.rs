//! An identity of a physical device and its driver, which is the same in every run.

use ash::vk;

/// Vendor, device and driver, in hexadecimal digits. `ids` is zero before Vulkan 1.1.
///
/// The device UUID alone is not enough: some drivers derive it from the PCI slot, which may hold another GPU in the next
/// run. The pipeline cache UUID differs between builds of a driver.
pub fn identity(properties: &vk::PhysicalDeviceProperties, ids: &vk::PhysicalDeviceIDProperties<'_>) -> String {
    let numbers = [properties.vendor_id, properties.device_id].map(u32::to_be_bytes);
    let uuids = [ids.device_uuid, ids.driver_uuid, properties.pipeline_cache_uuid];
    let bytes = numbers.iter().flatten().chain(uuids.iter().flatten());
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_covers_vendor_device_driver() {
        let mut properties = vk::PhysicalDeviceProperties::default();
        let mut ids = vk::PhysicalDeviceIDProperties::default();
        let mut all = vec![identity(&properties, &ids)];
        properties.vendor_id = 0x1002;
        all.push(identity(&properties, &ids));
        properties.device_id = 0x744C;
        all.push(identity(&properties, &ids));
        properties.pipeline_cache_uuid = [1; 16];
        all.push(identity(&properties, &ids));
        ids.device_uuid = [1; 16];
        all.push(identity(&properties, &ids));
        ids.driver_uuid = [1; 16];
        all.push(identity(&properties, &ids));
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{index}");
        }
        assert_eq!(all[2], format!("000010020000744c{}", "00".repeat(48)));
    }
}
