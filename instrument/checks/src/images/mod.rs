//! Texels outside of their image, its levels, layers and samples.
//!
//! "If the coordinates are outside the image, the memory location that is accessed is undefined" (SPIR-V specification, OpImageFetch,
//! OpImageRead, OpImageTexelPointer). A texel that is read there is an undefined value, so it is checked where it has an effect: programs read
//! neighbours beyond the edge and drop them. A store or an atomic is checked whatever happens. Vulkan drops such a store ("the write has no
//! effect", Texel Output Validation), and programs rely on it: the check is on request.
//!
//! ```text
//! ImageWrite %image %at %texel     becomes   %size = ImageQuerySize %image, %failed = %at >= %size in some component
//!                                            the abort: "texel (64, 3) is stored outside of `target` (64 x 64)"
//! ```
//!
//! Not planted where the device makes such accesses robust (`robustImageAccess`, `robustImageAccess2`; for texel buffers `robustBufferAccess`;
//! pipeline robustness), nor for images of subpasses. Not checked: reads with a level of storage images (`SPV_AMD_shader_image_load_store_lod`).

mod texel;

use super::message::Message;
use super::operand_checks::{ValueCheck, ValueFacts, plant_value};
use super::place::Place;
use super::planter::Planter;
use super::rule::CheckRule;
use super::scalars::{Scalar, find, quote};
use smallvec::SmallVec;
use texel::Texel;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::capability;
use vkabort_spirv::{Id, Inst, op};

/// A read of a texel.
struct TexelRead<'w>(Texel<'w>);

/// The check `images`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        let index = planter.index;
        let sanitize = &planter.options().sanitize;
        let is_robust = |texel: &Texel<'_>| match texel.is_of_buffer() {
            true => sanitize.robust_buffers,
            false => sanitize.robust_images,
        };
        let found = find(index, planter.function, |inst| Texel::of(index, inst));
        for (block, texel) in found.into_iter().filter(|(_, texel)| !is_robust(texel)) {
            if let op::ImageFetch | op::ImageRead = texel.inst.opcode() {
                plant_value(planter, facts, block, TexelRead(texel));
                continue;
            }
            if planter.module.is_collecting || !facts.function.graph.is_reachable(block) {
                continue;
            }
            let Some(position) = planter.selected_position(block, &texel.inst) else {
                continue;
            };
            let place = Place::new(block, texel.inst.offset, (texel.inst, position));
            let mut text = texel.text(planter.expressions());
            if !position.has_line() {
                text.push_literal(&format!(" ({})", quote(&texel.inst)));
            }
            let write_failed = |out: &mut Emitter| (texel.write_is_outside(out, index), ());
            planter.plant_with(Check::Images, &place, write_failed, |out, ()| {
                let values = texel.write_values(out, index).into_iter();
                values.fold(text, |message, value| message.with(value.ty, value.id))
            });
        }
    }

    fn finish(&self, module: &mut super::module::ModulePlanter<'_, '_>) {
        let is_planted = module
            .planted
            .aborts
            .values()
            .any(|abort| abort.check == Check::Images.name());
        if is_planted && !module.index.has_capability(capability::ImageQuery) {
            module.out.capability(capability::ImageQuery);
        }
    }

    fn travels(&self) -> bool {
        true
    }
}

impl<'w> ValueCheck<'w> for TexelRead<'w> {
    fn check(&self) -> Check {
        Check::Images
    }

    fn inst(&self) -> Inst<'w> {
        self.0.inst
    }

    fn is_of_whole(&self) -> bool {
        true
    }

    fn operands(&self) -> SmallVec<[Id; 2]> {
        SmallVec::new()
    }

    fn tested_operands(&self) -> SmallVec<[Id; 2]> {
        self.0.operands()
    }

    fn can_fail<'v, 'a>(&self, _: &mut Ranges<'v, 'a, 'w>, _: &RangePoint<'v, 'a, 'w>, _: Option<u32>) -> bool {
        true
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>, _: &[Scalar]) -> Id {
        self.0.write_is_outside(out, index)
    }

    fn write_values(&self, out: &mut Emitter, index: &Index<'_>) -> SmallVec<[Scalar; 4]> {
        self.0.write_values(out, index)
    }

    fn text(&self, names: &Expressions<'_, '_>, _: Option<u32>) -> Message {
        self.0.text(names)
    }

    fn text_without_values(&self, names: &Expressions<'_, '_>, _: Option<u32>) -> Message {
        let image = self.0.name(names);
        Message::literal(&format!("a texel is read outside of {image}"))
    }
}
