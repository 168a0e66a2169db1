//! Types of faults: a word for each scalar of a type, in the same composites.
//!
//! ```text
//! float, bool, pointer, image     uint
//! vec3                            uvec3
//! mat2                            array of 2 uvec2
//! struct { float a; vec2 b[3]; }  struct { uint, array of 3 uvec2 }
//! ```
//!
//! So the instructions that take composites apart and make them apply to their faults as they are.

use rustc_hash::FxHashMap as HashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use vkabort_analysis::view::path::{Path, part_count, part_type};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Literal, Words, op};

/// Most words of the faults of a type, and those of a value that an effect tests.
const MOST_WORDS: u64 = 1024;
const MOST_TESTED: usize = 64;

/// Form of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Form {
    Word,
    Vector(u32),
    Array(Shape, u32),
    Structure(Vec<Shape>),
}

/// The number of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape(u32);

/// The forms of the types of a module.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    of_types: HashMap<Id, Option<Shape>>,
    /// Each form with its type and the number of its words.
    forms: Vec<(Form, Id, u64)>,
    numbers: HashMap<Form, Shape>,
    /// Types whose faults are too many.
    too_large: usize,
    /// Whether an effect tests a part of the faults of a value only.
    has_untested: bool,
}

impl Shapes {
    /// Faults that are not followed, for the log.
    pub(super) fn given_up(&self) -> impl Iterator<Item = String> + use<> {
        let count = self.too_large;
        let too_large = format!("types with more than {MOST_WORDS} scalars, whose values carry no faults: {count}");
        let untested = format!("faults of parts beyond the first {MOST_TESTED} of a value");
        [(count > 0).then_some(too_large), self.has_untested.then_some(untested)]
            .into_iter()
            .flatten()
    }

    /// The form of a type. `None` if its size is not fixed, or too large. O(declared parts), once for each type.
    pub(super) fn of(&mut self, index: &Index<'_>, out: &mut Emitter, ty: Id) -> Option<Shape> {
        // Types before those that are made of them: a type is finished when all of its parts are.
        let mut stack = vec![ty];
        while let Some(ty) = stack.last().copied() {
            if self.of_types.contains_key(&ty) {
                stack.pop();
                continue;
            }
            let parts = parts(index, ty);
            let missing: Vec<Id> = parts
                .iter()
                .flatten()
                .copied()
                .filter(|part| !self.of_types.contains_key(part))
                .collect();
            if missing.is_empty() {
                let shape = parts.and_then(|parts| self.make(index, out, ty, &parts));
                self.too_large += usize::from(shape.is_none());
                self.of_types.insert(ty, shape);
                stack.pop();
            } else {
                stack.extend(missing);
            }
        }
        self.of_types.get(&ty).copied().flatten()
    }

    fn make(&mut self, index: &Index<'_>, out: &mut Emitter, ty: Id, parts: &[Id]) -> Option<Shape> {
        let shapes: Option<Vec<Shape>> = parts
            .iter()
            .map(|part| self.of_types.get(part).copied().flatten())
            .collect();
        let shapes = shapes?;
        let count = part_count(index, ty).unwrap_or(0);
        let form = match index.opcode(ty) {
            op::TypeVector => Form::Vector(count as u32),
            op::TypeMatrix | op::TypeArray => Form::Array(*shapes.first()?, u32::try_from(count).ok()?),
            op::TypeStruct => Form::Structure(shapes),
            _ => Form::Word,
        };
        self.intern(out, form)
    }

    fn intern(&mut self, out: &mut Emitter, form: Form) -> Option<Shape> {
        if let Some(shape) = self.numbers.get(&form) {
            return Some(*shape);
        }
        let uint = out.uint();
        let words = match &form {
            Form::Word => 1,
            Form::Vector(count) => u64::from(*count),
            Form::Array(element, count) => self.words(*element).saturating_mul((*count).into()),
            Form::Structure(members) => members.iter().map(|member| self.words(*member)).sum(),
        };
        if words > MOST_WORDS || words == 0 {
            return None;
        }
        let ty = match &form {
            Form::Word => uint,
            Form::Vector(count) => out.vector(uint, *count),
            Form::Array(element, count) => {
                let (element, length) = (self.ty(*element), out.constant(*count));
                out.array(element, length)
            }
            Form::Structure(members) => {
                let members: Vec<Id> = members.iter().map(|member| self.ty(*member)).collect();
                out.structure(&members)
            }
        };
        let shape = Shape(self.forms.len() as u32);
        self.forms.push((form.clone(), ty, words));
        self.numbers.insert(form, shape);
        Some(shape)
    }

    fn form(&self, shape: Shape) -> Option<&(Form, Id, u64)> {
        self.forms.get(shape.0 as usize)
    }

    fn words(&self, shape: Shape) -> u64 {
        self.form(shape).map_or(0, |(_, _, words)| *words)
    }

    /// The type of faults.
    pub(super) fn ty(&self, shape: Shape) -> Id {
        self.form(shape).map_or(Id::NONE, |(_, ty, _)| *ty)
    }

    /// Components of the faults of a scalar or vector. `None` for other composites.
    pub(super) fn components(&self, shape: Shape) -> Option<u32> {
        match self.form(shape)?.0 {
            Form::Word => Some(1),
            Form::Vector(count) => Some(count),
            Form::Array(..) | Form::Structure(_) => None,
        }
    }

    /// The paths to the words, at most [`MOST_TESTED`].
    pub(super) fn words_of(&mut self, shape: Shape) -> Vec<Path> {
        self.has_untested |= self.words(shape) > MOST_TESTED as u64;
        let (mut found, mut stack) = (Vec::new(), vec![(Path::new(), shape)]);
        while let Some((path, shape)) = stack.pop() {
            let below = |part: u32| path.iter().copied().chain([part]).collect::<Path>();
            match self.form(shape).map(|(form, ..)| form) {
                Some(Form::Vector(count)) => found.extend((0..*count).map(below)),
                Some(Form::Array(element, count)) => {
                    let count = (*count).min(MOST_TESTED as u32);
                    stack.extend((0..count).rev().map(|part| (below(part), *element)));
                }
                Some(Form::Structure(members)) => {
                    let count = members.len().min(MOST_TESTED) as u32;
                    let members = (0..count).zip(members).rev();
                    stack.extend(members.map(|(part, member)| (below(part), *member)));
                }
                Some(Form::Word) | None => found.push(path),
            }
            if found.len() >= MOST_TESTED {
                break;
            }
        }
        found.truncate(MOST_TESTED);
        found
    }

    /// The larger of two faults, word by word.
    pub(super) fn larger(&self, out: &mut Emitter, shape: Shape, (one, other): (Id, Id)) -> Id {
        if one == other {
            return one;
        }
        let Some(count) = self.components(shape) else {
            return one;
        };
        let bool = bools(out, count);
        let is_larger = out.emit(op::UGreaterThan, bool, (one, other));
        out.emit(op::Select, self.ty(shape), (is_larger, one, other))
    }

    /// The largest word of these parts of faults.
    pub(super) fn largest(&self, out: &mut Emitter, faults: Id, shape: Shape, paths: &[Path]) -> Option<Id> {
        let uint = out.uint();
        let mut largest = None;
        for path in paths {
            let word = match path.as_slice() {
                [] => faults,
                path => out.emit(op::CompositeExtract, uint, (faults, Words(path))),
            };
            if path.is_empty() && self.components(shape) != Some(1) {
                continue;
            }
            largest = Some(match largest {
                None => word,
                Some(other) => larger_word(out, other, word),
            });
        }
        largest
    }

    /// The form of a part.
    fn part(&self, shape: Shape, path: &[u32]) -> Option<Shape> {
        path.iter().try_fold(shape, |shape, part| match &self.form(shape)?.0 {
            Form::Array(element, _) => Some(*element),
            Form::Structure(members) => members.get(*part as usize).copied(),
            Form::Vector(_) => self.numbers.get(&Form::Word).copied(),
            Form::Word => None,
        })
    }

    fn part_count(&self, shape: Shape) -> u32 {
        match self.form(shape).map(|(form, ..)| form) {
            Some(Form::Vector(count) | Form::Array(_, count)) => *count,
            Some(Form::Structure(members)) => members.len() as u32,
            Some(Form::Word) | None => 0,
        }
    }

    /// Composes faults of these words; the others are none. SwiftShader crashes where it folds the insertion of a constant into a null
    /// array, so nothing is inserted.
    pub(super) fn composed(&mut self, out: &mut Emitter, shape: Shape, words: &[(Path, Id)]) -> Id {
        self.intern(out, Form::Word);
        let mut parts: BTreeMap<Path, Id> = words.iter().cloned().collect();
        let around = words
            .iter()
            .flat_map(|(path, _)| (0..path.len()).filter_map(|end| path.get(..end)));
        let mut around: Vec<Path> = around.map(Path::from).collect();
        around.sort_unstable_by_key(|path| (Reverse(path.len()), path.clone()));
        around.dedup();
        for path in around {
            let Some(of) = self.part(shape, &path) else { continue };
            let members = (0..self.part_count(of)).map(|part| {
                let below: Path = path.iter().copied().chain([part]).collect();
                parts.get(&below).copied().unwrap_or_else(|| {
                    let ty = self.part(of, &[part]).map_or(Id::NONE, |part| self.ty(part));
                    out.null(ty)
                })
            });
            let members: Vec<Id> = members.collect();
            let whole = out.emit(op::CompositeConstruct, self.ty(of), members.as_slice());
            parts.insert(path, whole);
        }
        let ty = self.ty(shape);
        parts.get(&Path::new()).copied().unwrap_or_else(|| out.null(ty))
    }

    /// One word for all components of a scalar or vector.
    pub(super) fn repeated(&self, out: &mut Emitter, shape: Shape, word: Id) -> Option<Id> {
        Some(match self.components(shape)? {
            1 => word,
            count => out.emit(
                op::CompositeConstruct,
                self.ty(shape),
                vec![word; count as usize].as_slice(),
            ),
        })
    }
}

/// The larger of two words.
pub(super) fn larger_word(out: &mut Emitter, one: Id, other: Id) -> Id {
    if one == other {
        return one;
    }
    let (bool, uint) = (out.bool(), out.uint());
    let is_larger = out.emit(op::UGreaterThan, bool, (one, other));
    out.emit(op::Select, uint, (is_larger, one, other))
}

/// The type of as many booleans.
pub(super) fn bools(out: &mut Emitter, count: u32) -> Id {
    let bool = out.bool();
    match count {
        1 => bool,
        _ => out.vector(bool, count),
    }
}

/// The types of the parts of a composite; none for other types. `None` if its size is not fixed.
fn parts(index: &Index<'_>, ty: Id) -> Option<Vec<Id>> {
    match index.opcode(ty) {
        op::TypeVector => part_count(index, ty).filter(|count| *count <= 4).map(|_| Vec::new()),
        op::TypeMatrix | op::TypeArray => {
            part_count(index, ty)?;
            Some(vec![part_type(index, ty, 0)])
        }
        op::TypeStruct => {
            let count = part_count(index, ty).filter(|count| *count <= MOST_WORDS)?;
            Some((0..count as u32).map(|part| part_type(index, ty, part)).collect())
        }
        op::TypeBool | op::TypeInt | op::TypeFloat | op::TypePointer => Some(Vec::new()),
        op::TypeImage | op::TypeSampler | op::TypeSampledImage => Some(Vec::new()),
        _ => None,
    }
}

/// A literal operand of `OpCompositeExtract`.
pub(super) fn component(out: &mut Emitter, faults: Id, number: u32) -> Id {
    let uint = out.uint();
    out.emit(op::CompositeExtract, uint, (faults, Literal(number)))
}
