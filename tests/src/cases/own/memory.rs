//! Which memory messages go to: "host-visible, coherent; cached where offered, never memory that a reset can lose if there
//! is a choice".

use crate::case::{Case, Context};
use crate::vk::{Device, Gpu, own};
use anyhow::{Result, ensure};

macro_rules! choices {
    ($($name:literal $driver:literal => $index:literal;)*) => {
        &[$(
            Case::new(concat!("own_memory::", $name), |context| chosen(context, $index)).on_driver(concat!("memory=", $driver)).validated(),
        )*]
    };
}

pub(super) const CASES: &[Case] = choices! {
    "cached_host_memory_is_best" "vram+bar+host+cached" => 3;
    "host_memory_is_better_than_the_gpus_own" "vram+bar+host" => 2;
    "the_gpus_own_is_better_than_nothing" "vram+bar" => 1;
    "incoherent_memory_will_not_do" "incoherent+host" => 1;
    "memory_that_needs_a_feature_is_left_alone" "amd+host" => 1;
    "the_first_of_equal_ones" "host+cached+cached" => 1;
};

fn chosen(context: &Context, expected: u32) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let found = own::seen(&device)?.memory_type;
    ensure!(found == expected, "messages went to memory type {found}");
    Ok(())
}
