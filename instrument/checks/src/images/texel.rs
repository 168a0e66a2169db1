//! The place of a texel in an image, and its test.

use crate::message::Message;
use crate::scalars::{Scalar, conversion, literal};
use smallvec::{SmallVec, smallvec};
use vkabort_analysis::expressions::Expressions;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{image_dim, image_operands};
use vkabort_spirv::{Id, Inst, Literal, op};

/// Faces of a cube.
const FACES: u32 = 6;

/// An access to a texel.
#[derive(Clone, Debug)]
pub(super) struct Texel<'w> {
    pub(super) inst: Inst<'w>,
    /// The image, or a pointer to it.
    image: Id,
    /// The type of the image.
    ty: Inst<'w>,
    coordinate: Id,
    offset: Option<Id>,
    level: Option<Id>,
    sample: Option<Id>,
}

impl<'w> Texel<'w> {
    /// The texel that an instruction accesses. `None` if it accesses none, or if the image has no size.
    pub(super) fn of(index: &Index<'w>, inst: &Inst<'w>) -> Option<Self> {
        let (image, coordinate, operands) = match inst.opcode() {
            op::ImageFetch | op::ImageRead => (3, 4, 5),
            op::ImageWrite => (1, 2, 4),
            op::ImageTexelPointer => (3, 4, usize::MAX),
            _ => return None,
        };
        let (image, coordinate) = (inst.id(image), inst.id(coordinate));
        let mut ty = index.def(index.type_of(image))?;
        if ty.opcode() == op::TypePointer {
            ty = index.def(ty.pointee())?;
        }
        let has_size = ty.opcode() == op::TypeImage && ty.image_dim() != image_dim::SUBPASS_DATA;
        let is_32_bit = scalar_type(index, coordinate).is_some_and(|ty| ty.opcode() == op::TypeInt && ty.width() == 32);
        let mask = inst.words.get(operands).copied().unwrap_or(0);
        if !has_size || !is_32_bit || mask & !image_operands::ALL != 0 {
            return None;
        }
        // Each operand takes a word, in the order of the bits.
        let mut next = operands.saturating_add(1);
        let mut take = |bit: u32| {
            let is_there = mask & bit != 0;
            let id = is_there.then(|| inst.id(next));
            next = next.saturating_add(usize::from(is_there));
            id
        };
        let level = take(image_operands::LOD);
        let offset = take(image_operands::CONST_OFFSET).or(take(image_operands::OFFSET));
        let sample = match inst.opcode() {
            op::ImageTexelPointer => Some(inst.id(5)).filter(|_| is_multisampled(&ty)),
            _ => take(image_operands::SAMPLE),
        };
        let texel = Self {
            inst: *inst,
            image,
            ty,
            coordinate,
            offset,
            level,
            sample,
        };
        // Levels are queried of images that are sampled.
        (texel.level.is_none() || texel.has_levels()).then_some(texel)
    }

    pub(super) fn is_of_buffer(&self) -> bool {
        self.ty.image_dim() == image_dim::BUFFER
    }

    /// The values that decide whether it is outside.
    pub(super) fn operands(&self) -> SmallVec<[Id; 2]> {
        let others = [self.offset, self.level, self.sample].into_iter().flatten();
        [self.image, self.coordinate].into_iter().chain(others).collect()
    }

    /// The name of the image, for people.
    pub(super) fn name(&self, names: &Expressions<'_, '_>) -> String {
        let name = match self.inst.opcode() {
            op::ImageTexelPointer => names.memory(self.image, 0),
            _ => names.value(self.image).map(|image| image.text),
        };
        name.map_or_else(|| "its image".to_owned(), |name| format!("`{name}`"))
    }

    /// The text of the message, with conversions for [`Self::write_values`].
    pub(super) fn text(&self, names: &Expressions<'_, '_>) -> Message {
        let mut message = Message::default();
        if self.sample.is_some() {
            message.push_text("sample %u of ");
        }
        let coordinates = vec![conversion(names.index, self.coordinate); self.dimensions() as usize];
        message.push_text(&format!("texel ({})", coordinates.join(", ")));
        if self.level.is_some() {
            message.push_text(" of level %d");
        }
        message.push_literal(match self.inst.opcode() {
            op::ImageFetch | op::ImageRead => " is read outside of ",
            op::ImageWrite => " is stored outside of ",
            _ => " is changed by an atomic outside of ",
        });
        message.push_literal(&self.name(names));
        message.push_text(&format!(" ({}", vec!["%u"; self.spatial() as usize].join(" x ")));
        match (self.is_cube(), self.is_arrayed()) {
            (false, true) => message.push_text(", %u layers"),
            (true, _) => message.push_text(", %u faces"),
            (false, false) => {}
        }
        if self.level.is_some() {
            message.push_text(", %u levels");
        }
        if self.sample.is_some() {
            message.push_text(", %u samples");
        }
        message.push_literal(")");
        message
    }

    /// Writes whether it is outside.
    pub(super) fn write_is_outside(&self, out: &mut Emitter, index: &Index<'_>) -> Id {
        let (bool, image) = (out.bool(), self.write_image(out, index));
        let mut tests: SmallVec<[Id; 6]> = SmallVec::new();
        if let Some(level) = self.level.filter(|level| literal(index, *level) != Some(0)) {
            let levels = out.calculate(op::ImageQueryLevels, image);
            tests.push(out.emit(op::UGreaterThanEqual, bool, (level, levels)));
        }
        if let Some(sample) = self.sample {
            let samples = out.calculate(op::ImageQuerySamples, image);
            tests.push(out.emit(op::UGreaterThanEqual, bool, (sample, samples)));
        }
        let sizes = self.write_sizes(out, index, image);
        for (coordinate, size) in self.write_coordinates(out, index).into_iter().zip(sizes) {
            tests.push(out.emit(op::UGreaterThanEqual, bool, (coordinate.id, size)));
        }
        let any = tests
            .into_iter()
            .reduce(|any, test| out.emit(op::LogicalOr, bool, (any, test)));
        any.unwrap_or_default()
    }

    /// Writes the values of the message.
    pub(super) fn write_values(&self, out: &mut Emitter, index: &Index<'_>) -> SmallVec<[Scalar; 4]> {
        let (uint, image) = (out.uint(), self.write_image(out, index));
        let own = |id: Id| Scalar {
            ty: index.type_of(id),
            id,
        };
        let mut values: SmallVec<[Scalar; 4]> = self.sample.map(own).into_iter().collect();
        values.extend(self.write_coordinates(out, index));
        values.extend(self.level.map(own));
        values.extend(
            self.write_sizes(out, index, image)
                .into_iter()
                .map(|id| Scalar { ty: uint, id }),
        );
        for (operand, query) in [(self.level, op::ImageQueryLevels), (self.sample, op::ImageQuerySamples)] {
            if operand.is_some() {
                let id = out.calculate(query, image);
                values.push(Scalar { ty: uint, id });
            }
        }
        values
    }

    fn write_image(&self, out: &mut Emitter, index: &Index<'_>) -> Id {
        if self.inst.opcode() != op::ImageTexelPointer {
            return self.image;
        }
        let image = out.emit(op::Load, self.ty.result(), self.image);
        out.inherit_non_uniform(index, self.image, &[image]);
        image
    }

    /// The coordinates, with the offset.
    fn write_coordinates(&self, out: &mut Emitter, index: &Index<'_>) -> SmallVec<[Scalar; 4]> {
        let coordinates = (0..self.dimensions()).map(|component| {
            let coordinate = part(out, index, self.coordinate, component);
            // It has no component for layers.
            let offset = self.offset.filter(|_| component < self.spatial());
            let Some(offset) = offset.map(|offset| part(out, index, offset, component)) else {
                return coordinate;
            };
            Scalar {
                ty: coordinate.ty,
                id: out.emit(op::IAdd, coordinate.ty, (coordinate.id, offset.id)),
            }
        });
        coordinates.collect()
    }

    /// Width, height and depth, layers or faces. Of a level that the image does not have, those of the first one.
    ///
    /// Computed from those of the first level: llvmpipe queries the level of one invocation for all.
    fn write_sizes(&self, out: &mut Emitter, index: &Index<'_>, image: Id) -> SmallVec<[Id; 3]> {
        let (bool, uint) = (out.bool(), out.uint());
        let [zero, one, faces] = [0, 1, FACES].map(|value| out.constant(value));
        let count = self.spatial() + u32::from(self.is_arrayed());
        let ty = if count > 1 { out.vector(uint, count) } else { uint };
        let queried = match self.has_levels() {
            true => out.emit(op::ImageQuerySizeLod, ty, (image, zero)),
            false => out.emit(op::ImageQuerySize, ty, image),
        };
        let mut sizes: SmallVec<[Id; 3]> = match count {
            1 => smallvec![queried],
            _ => (0..count)
                .map(|component| out.calculate(op::CompositeExtract, (queried, Literal(component))))
                .collect(),
        };
        if let Some(level) = self.level.filter(|level| literal(index, *level) != Some(0)) {
            let levels = out.calculate(op::ImageQueryLevels, image);
            let has_it = out.emit(op::ULessThan, bool, (level, levels));
            let level = match index.type_of(level) == uint {
                true => level,
                false => out.emit(op::Bitcast, uint, level),
            };
            let level = out.calculate(op::Select, (has_it, level, zero));
            for size in sizes.iter_mut().take(self.spatial() as usize) {
                let halved = out.calculate(op::ShiftRightLogical, (*size, level));
                let is_none = out.emit(op::IEqual, bool, (halved, zero));
                *size = out.calculate(op::Select, (is_none, one, halved));
            }
        }
        if self.is_cube() {
            match sizes.get_mut(2) {
                Some(layers) => *layers = out.calculate(op::IMul, (*layers, faces)),
                None => sizes.push(faces),
            }
        }
        sizes
    }

    /// Components of the coordinate.
    fn dimensions(&self) -> u32 {
        self.spatial() + u32::from(self.is_arrayed() || self.is_cube())
    }

    /// Components of the coordinate and the size, without layers and faces.
    fn spatial(&self) -> u32 {
        match self.ty.image_dim() {
            image_dim::ONE | image_dim::BUFFER => 1,
            image_dim::THREE => 3,
            _ => 2,
        }
    }

    fn is_cube(&self) -> bool {
        self.ty.image_dim() == image_dim::CUBE
    }

    fn is_arrayed(&self) -> bool {
        self.ty.word(5) == 1
    }

    /// Whether its levels can be queried: it is sampled, and neither multisampled nor a buffer.
    fn has_levels(&self) -> bool {
        self.ty.word(7) == 1 && !is_multisampled(&self.ty) && !self.is_of_buffer()
    }
}

/// Whether an image has samples.
fn is_multisampled(ty: &Inst<'_>) -> bool {
    ty.word(6) == 1
}

/// A component of a vector, or a scalar.
fn part(out: &mut Emitter, index: &Index<'_>, id: Id, component: u32) -> Scalar {
    let ty = index.type_of(id);
    if index.opcode(ty) != op::TypeVector {
        return Scalar { ty, id };
    }
    let ty = index.part_type(ty, 0);
    let id = out.emit(op::CompositeExtract, ty, (id, Literal(component)));
    Scalar { ty, id }
}

fn scalar_type<'w>(index: &Index<'w>, id: Id) -> Option<Inst<'w>> {
    let ty = index.def(index.type_of(id))?;
    match ty.opcode() {
        op::TypeVector => index.def(ty.element_type()),
        _ => Some(ty),
    }
}
