//! The check of texels: each way to access one outside of its image is reported, and reads that are dropped are not.

use super::checked_body::compile;
use super::support::{expect_success, incremented, marked, same_words, without_abort};
use crate::case::{Case, cases};
use crate::vk::{Buffer, Device, DeviceOptions, ExtraDeviceInfo, Gpu, Kernel, Texels, TexelsSize};
use anyhow::{Context as _, Result};
use ash::vk::{self, DescriptorType, ImageViewType as View};

const IMAGES: &[(&str, &str)] = &[("sanitize", "images")];
const WARNING: &[(&str, &str)] = &[("sanitize", "images"), ("log_level", "warning")];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_images::a_store" => fault(gpu, FLAT, "imageStore(target, ivec2(bad ? 16 : 3, 5), uvec4(1u));"), set(IMAGES),
        logs(&["texel (16, 5) is stored outside of `target` (16 x 8)"]);
    "sanitize_images::a_read" => fault(gpu, FLAT, "result = imageLoad(target, ivec2(3, bad ? -1 : 5)).x;"), set(IMAGES),
        logs(&["texel (3, -1) is read outside of `target` (16 x 8)"]);
    "sanitize_images::an_atomic" => fault(gpu, FLAT, "result = imageAtomicAdd(target, ivec2(bad ? 16 : 3, 0), 1u);"), set(IMAGES),
        logs(&["texel (16, 0) is changed by an atomic outside of `target` (16 x 8)"]);
    "sanitize_images::a_fetch_of_a_level" => fault(gpu, FLAT, "result = texelFetch(source, ivec2(8, 0), bad ? 1 : 0).x;"), set(IMAGES),
        logs(&["texel (8, 0) of level 1 is read outside of `source` (8 x 4, 2 levels)"]);
    "sanitize_images::a_fetch_of_no_level" => fault(gpu, FLAT, "result = texelFetch(source, ivec2(0), bad ? 2 : 1).x;"), set(IMAGES),
        logs(&["texel (0, 0) of level 2 is read outside of `source` (16 x 8, 2 levels)"]);
    "sanitize_images::a_fetch_with_an_offset" => fault(gpu, FLAT, "result = texelFetchOffset(source, ivec2(bad ? 15 : 3, 0), 0, ivec2(1, 0)).x;"),
        set(IMAGES), logs(&["texel (16, 0) of level 0 is read outside of `source` (16 x 8, 2 levels)"]);
    "sanitize_images::a_layer" => fault(gpu, LAYERS, "imageStore(target, ivec3(0, 0, bad ? 4 : 3), uvec4(1u));"), set(IMAGES),
        logs(&["texel (0, 0, 4) is stored outside of `target` (16 x 8, 4 layers)"]);
    "sanitize_images::a_face" => fault(gpu, CUBE, "imageStore(target, ivec3(7, 7, bad ? 6 : 5), uvec4(1u));"), set(IMAGES),
        logs(&["texel (7, 7, 6) is stored outside of `target` (8 x 8, 6 faces)"]);
    "sanitize_images::a_depth" => fault(gpu, DEEP, "imageStore(target, ivec3(0, 1, bad ? 2 : 1), uvec4(1u));"), set(IMAGES),
        logs(&["texel (0, 1, 2) is stored outside of `target` (4 x 4 x 2)"]);
    "sanitize_images::a_column" => fault(gpu, LINE, "imageStore(target, bad ? 4 : 3, uvec4(1u));"), set(IMAGES),
        logs(&["texel (4) is stored outside of `target` (4)"]);
    "sanitize_images::a_read_in_front_of_a_branch" => fault(gpu, FLAT, "uint texel = imageLoad(target, ivec2(bad ? 16 : 3, 5)).x; if (i < 64u) { result = texel; }"),
        set(IMAGES), logs(&["a texel is read outside of `target`"]);
    "sanitize_images::of_a_callee" => fault(gpu, FLAT, "put(ivec2(bad ? 16 : 3, 5));"), set(IMAGES),
        logs(&["texel (16, 5) is stored outside of `target` (16 x 8)"]);
    "sanitize_images::texels_inside" => silent_if(gpu, FLAT, INSIDE), set(IMAGES), silent();
    "sanitize_images::reads_that_are_dropped" => silent_if(gpu, FLAT, DROPPED), set(IMAGES), silent();
    "sanitize_images::of_a_robust_device" => robust(gpu), alone(), set(WARNING), logs(&["no check of images: the program enables robustImageAccess"]);
};

const INSIDE: &str = "
    ivec2 at = ivec2(bad ? 15 : 0, bad ? 7 : 0);
    imageStore(target, at, uvec4(1u));
    result = imageAtomicAdd(target, at, 1u) + texelFetch(source, at / 2, bad ? 1 : 0).x + texelFetch(source, at, 0).x;";
const DROPPED: &str = "
    uint beyond = imageLoad(target, ivec2(bad ? 16 : 3, 5)).x, level = texelFetch(source, ivec2(0), bad ? 9 : 0).x;
    result = bad ? 1u : beyond;
    if (!bad) { result += level; }
    uint never = imageLoad(target, ivec2(-1)).x;";

/// An image, and the declaration of `target`.
#[derive(Clone, Copy)]
struct Shape {
    size: TexelsSize,
    declaration: &'static str,
}

const fn shape(extent: [u32; 3], [levels, layers]: [u32; 2], view: View, declaration: &'static str) -> Shape {
    let size = TexelsSize {
        extent,
        levels,
        layers,
        view,
    };
    Shape { size, declaration }
}

const FLAT: Shape = shape(
    [16, 8, 1],
    [2, 1],
    View::TYPE_2D,
    "uimage2D target; layout(set = 0, binding = 2) uniform utexture2D source",
);
const LAYERS: Shape = shape([16, 8, 1], [1, 4], View::TYPE_2D_ARRAY, "uimage2DArray target");
const CUBE: Shape = shape([8, 8, 1], [1, 6], View::CUBE, "uimageCube target");
const DEEP: Shape = shape([4, 4, 2], [1, 1], View::TYPE_3D, "uimage3D target");
const LINE: Shape = shape([4, 1, 1], [1, 1], View::TYPE_1D, "uimage1D target");

fn shader(shape: Shape, body: &str) -> Result<Vec<u32>> {
    let declarations = format!(
        "#extension GL_EXT_samplerless_texture_functions : require
         layout(set = 0, binding = 1, r32ui) uniform {};
         {}",
        shape.declaration,
        match body.contains("put(") {
            true => "void put(ivec2 at) { imageStore(target, at, uvec4(1u)); }",
            false => "",
        }
    );
    compile(&declarations, "bool bad = word == 7u;", body)
}

fn expect(device: &Device<'_>, shape: Shape, body: &str, at: &[usize], is_silent: bool) -> Result<()> {
    let image = Texels::new(device, shape.size)?;
    let before = marked(at);
    let buffer = Buffer::storage(device, &before)?;
    let images = [
        (DescriptorType::STORAGE_IMAGE, image.first_level),
        (DescriptorType::SAMPLED_IMAGE, image.view),
    ];
    let mut kernel = Kernel::bound_with_images(device, &[&buffer], &images)?;
    kernel.create(&shader(shape, body)?, &[], None)?;
    expect_success(kernel.run_to_end(2)?)?;
    let after = match is_silent {
        true => before.iter().map(|word| word + 1000).collect(),
        false => incremented(&before),
    };
    same_words(&buffer.read(), &after).context(body.to_owned())
}

/// An invocation with a mark has a fault and ends.
fn fault(gpu: &Gpu, shape: Shape, body: &str) -> Result<()> {
    expect(&without_abort(gpu)?, shape, body, &[3], false)
}

/// Invocations with a mark do not differ.
fn silent_if(gpu: &Gpu, shape: Shape, body: &str) -> Result<()> {
    expect(&without_abort(gpu)?, shape, body, &[3, 40], true)
}

fn robust(gpu: &Gpu) -> Result<()> {
    let mut images = vk::PhysicalDeviceImageRobustnessFeatures::default();
    gpu.ask(&mut images);
    gpu.require(images.robust_image_access, "robustImageAccess")?;
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    let extra = ExtraDeviceInfo {
        extensions: vec![vk::EXT_IMAGE_ROBUSTNESS_NAME],
        features: vec![&mut images],
    };
    let device = Device::extended(gpu, options, extra)?;
    expect(
        &device,
        FLAT,
        "imageStore(target, ivec2(16, 5), uvec4(1u));",
        &[3],
        true,
    )
}
