//! Constant data that is left once messages have copied their bytes.

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::{Specialization, literal_words};
use vkabort_spirv::words::MAX_INST_WORDS;
use vkabort_spirv::{Code, Id, Inst, Words, op};

/// Name of the pass in errors.
pub(super) const PASS: &str = "constant_data";
/// Most constituents of an `OpConstantComposite`: its words less opcode, type and result.
const MAX_CONSTITUENTS: usize = MAX_INST_WORDS - 3;
/// Words above which data is read from memory where that is possible.
const MAX_CONSTANT_WORDS: usize = 32;

/// An `OpConstantDataKHR` or `OpSpecConstantDataKHR`.
pub(super) struct ConstantData<'w> {
    pub(super) inst: Inst<'w>,
    /// Its element type.
    pub(super) element: Inst<'w>,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(super) bytes: usize,
    /// Number of elements.
    pub(super) count: usize,
}

impl<'w> ConstantData<'w> {
    /// Reads constant data. Its length is no longer specialised.
    ///
    /// # Errors
    ///
    /// Data that does not match its array type, or an element type that is not handled.
    pub(super) fn read(index: &Index<'w>, inst: &Inst<'w>) -> Result<Self> {
        let fail = |kind, message: String| Err(Error::new(kind, PASS, inst.offset as u32, message));
        let array = index.def(inst.result_type()).filter(|t| t.opcode() == op::TypeArray);
        let element = array
            .and_then(|a| index.def(a.element_type()))
            .filter(|t| t.opcode() == op::TypeInt);
        let (Some(array), Some(element)) = (array, element) else {
            return fail(ErrorKind::Invalid, "constant data is not an array of integers".into());
        };
        let bytes = match element.width() {
            bits @ (8 | 16 | 32 | 64) => bits as usize / 8,
            bits => return fail(ErrorKind::Unsupported, format!("constant data of {bits}-bit integers")),
        };
        // `specialize` has made the specialised lengths the defaults.
        let length = index.length(array.array_length(), &Specialization::new());
        let Some(count) = length.map(|l| l.value() as usize) else {
            return fail(ErrorKind::Invalid, "constant data has an unknown length".into());
        };
        let words = inst.from(3).len();
        if words != count.saturating_mul(bytes).div_ceil(4) {
            let message = format!("constant data has {words} words, not {count} elements of {bytes} bytes");
            return fail(ErrorKind::Invalid, message);
        }
        Ok(Self {
            inst: *inst,
            element,
            bytes,
            count,
        })
    }

    /// Its words.
    pub(super) fn words(&self) -> &'w [u32] {
        self.inst.from(3)
    }

    /// Whether one constant can hold it.
    pub(super) fn fits_constant(&self) -> bool {
        self.count <= MAX_CONSTITUENTS
    }

    /// Whether it is better read from memory than held in a constant.
    pub(super) fn prefers_memory(&self) -> bool {
        self.words().len() > MAX_CONSTANT_WORDS
    }

    /// Element `number`, zero-extended; 0 beyond the end.
    pub(super) fn value(&self, number: usize) -> u64 {
        let words = self.words();
        let byte = |at: usize| {
            words
                .get(at / 4)
                .map_or(0, |word| u64::from(word.to_le_bytes()[at % 4]))
        };
        let start = number * self.bytes;
        (0..self.bytes).fold(0, |value, i| value | byte(start + i) << (8 * i))
    }

    /// A constant with the value of element `number`.
    pub(super) fn constant(&self, out: &mut Emitter, number: usize) -> Id {
        let words = literal_words(&self.element, self.value(number));
        out.value(op::Constant, self.element.result(), Words(&words))
    }

    /// The same data as an `OpConstantComposite`, with a constant for each value.
    pub(super) fn composite(&self, out: &mut Emitter) -> Code {
        let mut constants: HashMap<u64, Id> = HashMap::default();
        let mut parts = Vec::with_capacity(self.count);
        for number in 0..self.count {
            let value = self.value(number);
            let id = *constants.entry(value).or_insert_with(|| {
                let id = out.fresh();
                let words = literal_words(&self.element, value);
                out.op(op::Constant, (self.element.result(), id, Words(&words)));
                id
            });
            parts.push(id);
        }
        let head = (self.inst.result_type(), self.inst.result(), parts.as_slice());
        out.op(op::ConstantComposite, head);
        out.take_code()
    }
}
