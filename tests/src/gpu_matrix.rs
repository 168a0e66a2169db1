//! The GPUs whose compilers the tests and benchmarks use, and the memory that the layer chooses on each.

use vkabort_test_kit::gpu_drivers::{Family, Gpu, Release};

/// A GPU of the matrix.
#[derive(Clone, Copy)]
pub struct Device {
    /// The GPU.
    pub gpu: Gpu,
    /// Whether the shaders of all cases are compiled, not one only.
    pub all_cases: bool,
    /// Properties of the messages' memory.
    pub memory: &'static str,
    /// Their address, where the driver's address space does not depend on the machine.
    pub address: Option<u64>,
    /// Properties of the control block's memory, if it is separate.
    pub control_block: Option<&'static str>,
    /// Whether the driver supports the extensions itself.
    pub native: bool,
}

impl Device {
    const fn all_cases(self) -> Self {
        Self {
            all_cases: true,
            ..self
        }
    }

    /// The same with Debian unstable's driver.
    const fn newest(self) -> Self {
        Self {
            gpu: Gpu {
                release: Release::Newest,
                ..self.gpu
            },
            ..self
        }
    }

    /// Its driver supports the extensions itself.
    const fn native(self) -> Self {
        Self { native: true, ..self }
    }

    const fn at(self, address: u64) -> Self {
        Self {
            address: Some(address),
            ..self
        }
    }

    const fn integrated(self) -> Self {
        Self {
            control_block: None,
            ..self
        }
    }
}

const HOST: &str = "HOST_VISIBLE | HOST_COHERENT | HOST_CACHED";
const UNCACHED: &str = "HOST_VISIBLE | HOST_COHERENT | HOST_CACHED | DEVICE_COHERENT_AMD | DEVICE_UNCACHED_AMD";
const VRAM: &str = "DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT";
const UNCACHED_VRAM: &str = "DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT | DEVICE_COHERENT_AMD | DEVICE_UNCACHED_AMD";
const SHARED: &str = "DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT | HOST_CACHED";

/// The matrix.
pub const DEVICES: &[Device] = &[
    gcn("pitcairn").at(0xf_ffa0_0000),
    gcn("bonaire").at(0x1f_ffa0_0000),
    gcn("stoney").at(0xf_ffa0_0000).integrated(),
    gcn("polaris10").at(0x1f_ffa0_0000),
    amd("vega10").all_cases(),
    amd("raven2").integrated(),
    amd("renoir").integrated(),
    amd("navi10").all_cases(),
    amd("navi21"),
    amd("vangogh").integrated(),
    amd("navi31").all_cases(),
    amd("gfx1150").at(0xffff_ffff_ff80_0000).integrated(),
    amd("gfx1201").all_cases(),
    intel("skl", SHARED).all_cases(),
    intel("icl", SHARED),
    intel("tgl", SHARED),
    intel("adl", SHARED),
    intel("dg2", HOST).all_cases(),
    intel("mtl", VRAM),
    intel("lnl", VRAM),
    intel("bmg", HOST),
    intel("ptl", VRAM),
    device(Family::HasVk, "bdw", SHARED).all_cases(),
    nvidia("124").all_cases(),
    nvidia("134"),
    nvidia("140"),
    nvidia("162"),
    nvidia("172").all_cases(),
    nvidia("192"),
    amd("vega10").newest().native().at(0xffff_ffff_ffa0_0000),
    amd("navi31").newest().native().all_cases(),
    rdna4("gfx1201").newest().native(),
    intel("dg2", HOST).newest().at(0x6_4000_0000),
    device(Family::HasVk, "bdw", SHARED).newest(),
    nvidia("172").newest(),
    qualcomm("618"),
    qualcomm("630"),
    qualcomm("660"),
    qualcomm("730").all_cases(),
    qualcomm("740"),
    qualcomm("750"),
    apple("13G").all_cases(),
    apple("13C"),
    apple("14G"),
];

/// An integrated GPU.
const fn device(family: Family, id: &'static str, memory: &'static str) -> Device {
    Device {
        gpu: Gpu {
            family,
            id,
            release: Release::Stable,
        },
        all_cases: false,
        memory,
        address: None,
        control_block: None,
        native: false,
    }
}

/// AMD before memory that the GPU does not cache.
const fn gcn(id: &'static str) -> Device {
    Device {
        control_block: Some(VRAM),
        ..device(Family::Radv, id, HOST)
    }
}

const fn amd(id: &'static str) -> Device {
    Device {
        control_block: Some(UNCACHED_VRAM),
        ..device(Family::Radv, id, UNCACHED).at(0xffff_ffff_ffa0_0000)
    }
}

/// An integrated GPU, unless the messages are in host memory only.
const fn intel(id: &'static str, memory: &'static str) -> Device {
    let is_discrete = memory.len() == HOST.len();
    Device {
        control_block: if is_discrete { Some(VRAM) } else { None },
        ..device(Family::Anv, id, memory)
    }
}

const fn nvidia(id: &'static str) -> Device {
    Device {
        control_block: Some(VRAM),
        ..device(Family::Nvk, id, HOST).at(0x7f_ffd0_0000)
    }
}

/// AMD without `VK_AMD_device_coherent_memory`.
const fn rdna4(id: &'static str) -> Device {
    gcn(id).at(0xffff_ffff_ffa0_0000)
}

const fn qualcomm(id: &'static str) -> Device {
    device(Family::Turnip, id, SHARED).newest().at(0xffff_ffd0_0000)
}

/// Apple, whose vertex shaders cannot store.
const fn apple(id: &'static str) -> Device {
    device(Family::Honeykrisp, id, SHARED).newest().at(0x2f_ffc9_0000)
}
