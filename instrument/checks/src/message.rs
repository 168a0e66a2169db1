//! The messages of planted aborts, in the form in which Slang writes them: a text in words, with the conversions of `printf`, then
//! the values that it shows, at their scalar alignment.
//!
//! ```text
//! %text = TypeArray %uint %n            with ArrayStride 4
//! %type = TypeStruct %text %a %b ..     with Offsets
//! %message = CompositeConstruct %type %words %value ..
//! ```
//!
//! It needs neither `Int8` nor constant data, and decodes by the convention of Slang where its type is unknown.

use super::scalars::{Scalar, with_arithmetic};
use rustc_hash::FxHashMap as HashMap;
use vkabort_record::escape::one_line;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::decoration;
use vkabort_spirv::{Id, literal, op};

/// A text and the values of its conversions.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    text: String,
    values: Vec<Value>,
}

/// A scalar or vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) ty: Id,
    pub(super) id: Id,
    pub(super) is_constant: bool,
}

impl Message {
    /// A text in which `%` begins the conversion of a value.
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            values: Vec::new(),
        }
    }

    /// A text that is shown as it is.
    pub(super) fn literal(text: &str) -> Self {
        let mut message = Self::default();
        message.push_literal(text);
        message
    }

    /// Adds an expression of the source, quoted, if there is one.
    pub(super) fn with_expression(mut self, expression: Option<String>) -> Self {
        if let Some(expression) = expression {
            self.push_literal(&format!(": {expression}"));
        }
        self
    }

    /// Adds text that is shown as it is, with control characters escaped: decoders find the end of a text by its characters.
    pub(super) fn push_literal(&mut self, text: &str) {
        let text = one_line(text);
        // Most texts are longer than the few bytes that a string begins with.
        self.text.reserve(text.len().max(64));
        for (number, part) in text.split('%').enumerate() {
            if number > 0 {
                self.text.push_str("%%");
            }
            self.text.push_str(part);
        }
    }

    /// Adds text in which `%` begins the conversion of a value.
    pub(super) fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds the value of the next conversion, of a scalar or vector type.
    pub(super) fn with(mut self, ty: Id, id: Id) -> Self {
        let is_constant = false;
        self.values.push(Value { ty, id, is_constant });
        self
    }

    /// Adds a constant as the value of the next conversion.
    pub(super) fn with_constant(mut self, ty: Id, id: Id) -> Self {
        let is_constant = true;
        self.values.push(Value { ty, id, is_constant });
        self
    }

    /// The text, with conversions.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The values that are not constants.
    pub(super) fn variable_values(&mut self) -> impl Iterator<Item = &mut Value> {
        self.values.iter_mut().filter(|value| !value.is_constant)
    }
}

/// Writes messages; shares their types.
#[derive(Debug, Default)]
pub(super) struct MessageWriter {
    /// Types of texts by their length in words.
    texts: HashMap<u32, Id>,
    /// Types of messages by the types of their members.
    structures: HashMap<Vec<Id>, Id>,
}

/// A member of a message.
struct Member {
    ty: Id,
    id: Id,
    scalar_bytes: u32,
    count: u32,
}

impl MessageWriter {
    /// Writes the instructions that form a message. Returns its type and its id, which no instruction of the application has.
    pub(super) fn write(&mut self, index: &Index<'_>, out: &mut Emitter, message: &Message) -> (Id, Id) {
        let words: Vec<u32> = literal::words(&message.text).collect();
        let count = words.len() as u32;
        let text_type = self.text_type(out, count);
        let words: Vec<Id> = words.into_iter().map(|word| out.constant(word)).collect();
        let text = Member {
            ty: text_type,
            id: out.value(op::ConstantComposite, text_type, words.as_slice()),
            scalar_bytes: 4,
            count,
        };
        let values = message.values.iter().map(|value| member(index, out, *value));
        let members: Vec<Member> = std::iter::once(text).chain(values).collect();
        let ty = self.structure(out, &members);
        let parts: Vec<Id> = members.iter().map(|member| member.id).collect();
        let is_constant = message.values.iter().all(|value| value.is_constant);
        let id = match is_constant {
            true => out.value(op::ConstantComposite, ty, parts.as_slice()),
            false => out.emit(op::CompositeConstruct, ty, parts.as_slice()),
        };
        (ty, id)
    }

    fn text_type(&mut self, out: &mut Emitter, words: u32) -> Id {
        *self.texts.entry(words).or_insert_with(|| {
            let (uint, length) = (out.uint(), out.constant(words));
            let ty = out.array(uint, length);
            out.decorate(ty, decoration::ArrayStride, &[4]);
            ty
        })
    }

    fn structure(&mut self, out: &mut Emitter, members: &[Member]) -> Id {
        let types: Vec<Id> = members.iter().map(|member| member.ty).collect();
        *self.structures.entry(types).or_insert_with_key(|types| {
            let ty = out.structure(types);
            let mut end: u32 = 0;
            for (number, member) in (0..).zip(members) {
                let offset = end.next_multiple_of(member.scalar_bytes);
                out.decorate_member(ty, number, decoration::Offset, &[offset]);
                end = offset + member.scalar_bytes * member.count;
            }
            ty
        })
    }
}

/// A value with its layout. Booleans, which have none, become `uint`s.
fn member(index: &Index<'_>, out: &mut Emitter, value: Value) -> Member {
    let Scalar { mut ty, mut id } = match value.is_constant {
        true => Scalar {
            ty: value.ty,
            id: value.id,
        },
        false => with_arithmetic(out, index, value.ty, value.id),
    };
    let vector = index.def(value.ty).filter(|inst| inst.opcode() == op::TypeVector);
    let count = vector.map_or(1, |inst| inst.component_count());
    let component = vector.map_or(value.ty, |inst| inst.element_type());
    let scalar_bytes = match ty == value.ty {
        true => index.scalar_type(component).map_or(4, |scalar| scalar.bytes()),
        false => 4,
    };
    if index.opcode(component) == op::TypeBool {
        let (one, zero) = (out.constant(1), out.constant(0));
        let (mut yes, mut no) = (one, zero);
        ty = out.uint();
        if vector.is_some() {
            ty = out.vector(ty, count);
            let repeat = |id| vec![id; count as usize];
            yes = out.value(op::ConstantComposite, ty, repeat(one).as_slice());
            no = out.value(op::ConstantComposite, ty, repeat(zero).as_slice());
        }
        id = out.emit(op::Select, ty, (id, yes, no));
    }
    Member {
        ty,
        id,
        scalar_bytes,
        count,
    }
}
