use super::*;
use std::ffi::c_void;
use std::ptr;

mod unknown_structure;

fn device(version: u32, extensions: &[&CStr]) -> PhysicalDevice {
    PhysicalDevice {
        name: "GPU".to_owned(),
        extensions: extensions
            .iter()
            .map(|name| {
                let mut entry = vk::ExtensionProperties::default();
                for (to, from) in entry.extension_name.iter_mut().zip(name.to_bytes()) {
                    *to = *from as c_char;
                }
                entry
            })
            .collect(),
        api_version: version,
        discrete: true,
        device_coherent: true,
        emulated: Extensions::ALL,
        stores: Stores::ALL,
        capture_replay: true,
        device_scope: true,
        ..PhysicalDevice::default()
    }
}

/// The create-info of an application: names and a chain of its feature structs.
struct App {
    names: Vec<*const c_char>,
    abort: ShaderAbortFeatures,
    fault: FaultFeatures,
    data: ShaderConstantDataFeatures,
}

impl App {
    fn new(more: &[&CStr]) -> Self {
        let mut names: Vec<*const c_char> = Extensions::ALL.names().map(CStr::as_ptr).collect();
        names.extend(more.iter().map(|n| n.as_ptr()));
        Self {
            names,
            abort: ShaderAbortFeatures::new(true),
            fault: FaultFeatures::new(true),
            data: ShaderConstantDataFeatures::new(true),
        }
    }

    /// abort -> fault -> data -> `tail`.
    fn info(&mut self, tail: *const c_void) -> vk::DeviceCreateInfo<'static> {
        self.data.p_next = tail.cast_mut();
        self.fault.p_next = ptr::from_mut(&mut self.data).cast();
        self.abort.p_next = ptr::from_mut(&mut self.fault).cast();
        vk::DeviceCreateInfo {
            p_next: ptr::from_ref(&self.abort).cast(),
            enabled_extension_count: self.names.len() as u32,
            pp_enabled_extension_names: self.names.as_ptr(),
            ..Default::default()
        }
    }
}

fn edit(info: &vk::DeviceCreateInfo<'_>, device: &PhysicalDevice) -> Result<EditedCreateInfo, Refusal> {
    // SAFETY: the tests build valid create-infos.
    unsafe { EditedCreateInfo::new(info, device, Extensions::ALL, Wanted::default()) }
}

fn enabled_names(edited: &EditedCreateInfo, info: &vk::DeviceCreateInfo<'_>) -> Vec<String> {
    // SAFETY: the create-info is valid.
    unsafe { names(&edited.create_info(info)) }
        .iter()
        .map(|n| n.to_string_lossy().into_owned())
        .collect()
}

fn types(head: *const c_void) -> Vec<StructureType> {
    // SAFETY: the create-info is valid.
    unsafe { chain::nodes(head) }.map(|n| n.s_type).collect()
}

#[test]
fn robust_accesses_are_features_of_the_application() {
    let is_robust = |tail: *const c_void, own: Option<&vk::PhysicalDeviceFeatures>| {
        let mut app = App::new(&[]);
        let mut info = app.info(tail);
        info.p_enabled_features = own.map_or(ptr::null(), ptr::from_ref);
        let edited = edit(&info, &device(vk::API_VERSION_1_3, &[])).expect("the device can be created");
        edited.robust_buffers
    };
    let none = vk::PhysicalDeviceFeatures::default();
    assert!(!is_robust(ptr::null(), None) && !is_robust(ptr::null(), Some(&none)));
    let robust = none.robust_buffer_access(true);
    assert!(is_robust(ptr::null(), Some(&robust)));
    let all = vk::PhysicalDeviceFeatures2::default().features(robust);
    assert!(is_robust(ptr::from_ref(&all).cast(), None));
    for enabled in [false, true] {
        let pipelines = vk::PhysicalDevicePipelineRobustnessFeaturesEXT::default().pipeline_robustness(enabled);
        assert_eq!(is_robust(ptr::from_ref(&pipelines).cast(), None), enabled);
    }
}

#[test]
fn our_names_and_structs_go_and_what_we_need_comes() {
    let mut app = App::new(&[c"VK_KHR_swapchain"]);
    let info = app.info(ptr::null());
    let device = device(vk::API_VERSION_1_3, &[]);
    let edited = edit(&info, &device).expect("the device can be created");
    assert_eq!(enabled_names(&edited, &info), ["VK_KHR_swapchain"]);
    let info_below = edited.create_info(&info);
    assert_eq!(types(info_below.p_next), [ADDRESS]);
    // SAFETY: `edited` owns both.
    unsafe {
        let address = chain::find::<vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>>(info_below.p_next);
        assert!(address.is_some_and(|a| a.buffer_device_address == 1 && a.buffer_device_address_capture_replay == 1));
        let features = info_below.p_enabled_features.as_ref();
        assert!(
            features.is_some_and(|f| f.vertex_pipeline_stores_and_atomics == 1 && f.fragment_stores_and_atomics == 1)
        );
    }
    assert!(edited.capture_replay);
    assert_eq!(types(info.p_next).len(), 3, "the application's chain is as it was");
}

#[test]
fn features_go_where_the_application_keeps_them() {
    let core = vk::PhysicalDeviceVulkan12Features::default().vulkan_memory_model(true);
    let mut all = vk::PhysicalDeviceFeatures2::default();
    all.features.shader_int64 = 1;
    all.p_next = ptr::from_ref(&core).cast_mut().cast();
    let mut app = App::new(&[]);
    let info = app.info(ptr::from_ref(&all).cast());
    let edited = edit(&info, &device(vk::API_VERSION_1_3, &[])).expect("the device can be created");
    let info_below = edited.create_info(&info);
    assert_eq!(types(info_below.p_next), [FEATURES_2, VULKAN_1_2]);
    assert!(info_below.p_enabled_features.is_null(), "never both");
    // SAFETY: `edited` owns the nodes.
    unsafe {
        let features = chain::find::<vk::PhysicalDeviceFeatures2<'_>>(info_below.p_next);
        assert!(features.is_some_and(|f| f.features.fragment_stores_and_atomics == 1 && f.features.shader_int64 == 1));
        let features = chain::find::<vk::PhysicalDeviceVulkan12Features<'_>>(info_below.p_next);
        assert!(features.is_some_and(|f| f.buffer_device_address == 1 && f.vulkan_memory_model_device_scope == 1));
    }
    assert_eq!(
        (core.buffer_device_address, all.features.fragment_stores_and_atomics),
        (0, 0)
    );
}

#[test]
fn a_vulkan_1_1_device_gets_the_address_extension() {
    let mut app = App::new(&[]);
    let info = app.info(ptr::null());
    let device = device(vk::API_VERSION_1_1, &[vk::KHR_BUFFER_DEVICE_ADDRESS_NAME]);
    let edited = edit(&info, &device).expect("the device can be created");
    assert_eq!(enabled_names(&edited, &info), ["VK_KHR_buffer_device_address"]);
}

#[test]
fn the_older_address_extension_is_used_where_the_application_has_it() {
    let mut app = App::new(&[vk::EXT_BUFFER_DEVICE_ADDRESS_NAME]);
    let info = app.info(ptr::null());
    let device = device(vk::API_VERSION_1_1, &[vk::EXT_BUFFER_DEVICE_ADDRESS_NAME]);
    let edited = edit(&info, &device).expect("the device can be created");
    assert_eq!(edited.api, AddressApi::Ext);
    assert_eq!(types(edited.create_info(&info).p_next), [ADDRESS_EXT]);
}

#[test]
fn an_extension_for_markers_is_enabled_where_it_is_wanted() {
    let (amd, nv) = (vk::AMD_BUFFER_MARKER_NAME, vk::NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_NAME);
    let found = |wanted, listed: &[&CStr], flags| {
        let mut app = App::new(&[]);
        let queues = [vk::DeviceQueueCreateInfo::default().flags(flags)];
        let info = app.info(ptr::null()).queue_create_infos(&queues);
        let wanted = Wanted {
            markers: wanted,
            ..Wanted::default()
        };
        let device = device(vk::API_VERSION_1_3, listed);
        // SAFETY: the create-info is valid.
        let edited = unsafe { EditedCreateInfo::new(&info, &device, Extensions::ALL, wanted) }
            .expect("the device can be created");
        (edited.markers, enabled_names(&edited, &info))
    };
    let none = vk::DeviceQueueCreateFlags::empty();
    let with = |extension, name: &CStr| (Some(extension), vec![name.to_string_lossy().into_owned()]);
    assert_eq!(found(true, &[nv, amd], none), with(MarkerExtension::BufferMarker, amd));
    // A checkpoint is a pointer, and a marker has 64 bits.
    let checkpoints = match size_of::<usize>() {
        8 => with(MarkerExtension::Checkpoints, nv),
        _ => (None, Vec::new()),
    };
    assert_eq!(found(true, &[nv], none), checkpoints);
    assert_eq!(found(true, &[], none), (None, Vec::new()));
    assert_eq!(found(false, &[nv, amd], none), (None, Vec::new()));
    let protected = vk::DeviceQueueCreateFlags::PROTECTED;
    assert_eq!(found(true, &[amd], protected), (None, Vec::new()));
}

#[test]
fn memory_that_the_device_does_not_cache_is_turned_on_where_it_is_wanted() {
    let device = device(vk::API_VERSION_1_3, &[vk::AMD_DEVICE_COHERENT_MEMORY_NAME]);
    let off = vk::PhysicalDeviceCoherentMemoryFeaturesAMD::default();
    for (wanted, tail) in [
        (false, ptr::null()),
        (true, ptr::null()),
        (true, ptr::from_ref(&off).cast()),
    ] {
        let mut app = App::new(&[]);
        let info = app.info(tail);
        let wanted = Wanted {
            device_coherent: wanted,
            ..Wanted::default()
        };
        // SAFETY: the create-info is valid.
        let edited = unsafe { EditedCreateInfo::new(&info, &device, Extensions::ALL, wanted) }
            .expect("the device can be created");
        let names = enabled_names(&edited, &info);
        assert_eq!(
            names.contains(&"VK_AMD_device_coherent_memory".to_owned()),
            wanted.device_coherent
        );
        // SAFETY: `edited` owns the node.
        let found =
            unsafe { chain::find::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>(edited.create_info(&info).p_next) };
        assert_eq!(
            found.is_some_and(|f| f.device_coherent_memory == 1),
            wanted.device_coherent
        );
        assert_eq!(edited.device_coherent, wanted.device_coherent);
        assert_eq!(
            off.device_coherent_memory, 0,
            "the application's structure is as it was"
        );
    }
}

#[test]
fn a_cpu_driver_imports_and_a_driver_that_knows_faults_is_asked() {
    let mut app = App::new(&[]);
    let info = app.info(ptr::null());
    let mut device = device(
        vk::API_VERSION_1_3,
        &[vk::EXT_EXTERNAL_MEMORY_HOST_NAME, vk::EXT_DEVICE_FAULT_NAME],
    );
    device.cpu = true;
    device.imports = true;
    device.ext_fault = true;
    let edited = edit(&info, &device).expect("the device can be created");
    assert!(edited.import && edited.ext_fault && !edited.capture_replay);
    assert_eq!(
        enabled_names(&edited, &info),
        ["VK_EXT_external_memory_host", "VK_EXT_device_fault"]
    );
    assert_eq!(types(edited.create_info(&info).p_next), [FAULT_EXT, ADDRESS]);
}

#[test]
fn only_what_is_emulated_is_taken_out() {
    let mut app = App::new(&[]);
    let info = app.info(ptr::null());
    let abort_only = Extensions {
        abort: true,
        ..Extensions::default()
    };
    // SAFETY: the create-info is valid.
    let edited =
        unsafe { EditedCreateInfo::new(&info, &device(vk::API_VERSION_1_3, &[]), abort_only, Wanted::default()) };
    let edited = edited.expect("the device can be created");
    let mut left = enabled_names(&edited, &info);
    left.sort();
    assert_eq!(left, ["VK_KHR_device_fault", "VK_KHR_shader_constant_data"]);
    let types = types(edited.create_info(&info).p_next);
    assert_eq!(
        types,
        [
            ADDRESS,
            FaultFeatures::STRUCTURE_TYPE,
            ShaderConstantDataFeatures::STRUCTURE_TYPE
        ]
    );
    assert_eq!(edited.enabled, Extensions::ALL);
    assert!(edited.enabled.contains(vk_ext::SHADER_ABORT_NAME));
}

#[test]
fn features_that_are_not_there_are_refused() {
    for (binary, masked, lost) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
        let mut app = App::new(&[]);
        app.fault.device_fault_vendor_binary = binary;
        app.fault.device_fault_report_masked = masked;
        app.fault.device_fault_device_lost_on_masked = lost;
        let info = app.info(ptr::null());
        let refused = edit(&info, &device(vk::API_VERSION_1_3, &[]));
        assert_eq!(
            refused.err().map(|r| r.result),
            Some(vk::Result::ERROR_FEATURE_NOT_PRESENT)
        );
    }
}

#[test]
fn extensions_of_the_driver_are_enabled_with_their_features() {
    let info = vk::DeviceCreateInfo::default();
    let wanted = Wanted {
        native: Extensions::ALL,
        ..Wanted::default()
    };
    let device = device(vk::API_VERSION_1_3, &[]);
    // SAFETY: the create-info is valid.
    let edited = unsafe { EditedCreateInfo::new(&info, &device, Extensions::default(), wanted) };
    let edited = edited.expect("the device can be created");
    assert_eq!(enabled_names(&edited, &info).len(), 3);
    assert_eq!(
        (edited.requested, edited.enabled),
        (Extensions::default(), Extensions::ALL)
    );
    let head = edited.create_info(&info).p_next;
    // SAFETY: `edited` owns the nodes.
    unsafe {
        assert!(chain::find::<ShaderAbortFeatures>(head).is_some_and(|f| f.shader_abort == 1));
        assert!(chain::find::<FaultFeatures>(head).is_some_and(|f| f.device_fault == 1));
        assert!(chain::find::<ShaderConstantDataFeatures>(head).is_some_and(|f| f.shader_constant_data == 1));
    }
    // An application that enables a part keeps its structures unchanged.
    let mut app = App::new(&[]);
    app.abort.shader_abort = 0;
    let info = app.info(ptr::null());
    // SAFETY: the create-info is valid.
    let edited = unsafe { EditedCreateInfo::new(&info, &device, Extensions::default(), wanted) };
    let edited = edited.expect("the device can be created");
    assert_eq!(enabled_names(&edited, &info).len(), 3);
    // SAFETY: `edited` owns the nodes.
    let below = unsafe { chain::find::<ShaderAbortFeatures>(edited.create_info(&info).p_next) };
    assert!(below.is_some_and(|f| f.shader_abort == 1));
    assert_eq!(app.abort.shader_abort, 0);
}

#[test]
fn stores_that_the_driver_lacks_are_not_enabled() {
    let mut app = App::new(&[]);
    let info = app.info(ptr::null());
    let mut device = device(vk::API_VERSION_1_3, &[]);
    device.stores.vertex = false;
    let edited = edit(&info, &device).expect("the device can be created");
    // SAFETY: `edited` owns the features.
    let features = unsafe { edited.create_info(&info).p_enabled_features.as_ref() };
    assert!(features.is_some_and(|f| f.vertex_pipeline_stores_and_atomics == 0 && f.fragment_stores_and_atomics == 1));
}
