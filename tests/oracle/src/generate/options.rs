//! Options of the generator.

/// Options of the generator.
#[derive(Clone, Copy, Debug)]
pub struct GeneratorOptions {
    /// Generates aborts with messages of every kind. Otherwise the module only has the function `due` for planted aborts.
    pub aborts: bool,
    /// Approximate number of statements per function.
    pub size: u32,
    /// Uses scalars of 8, 16 and 64 bits in messages.
    pub widths: bool,
    /// Uses 8-bit floats and bfloat16 in messages, which few drivers support.
    pub encodings: bool,
    /// Uses messages without members. Mesa cannot construct such values.
    pub empty: bool,
    /// Uses constant data outside messages.
    pub tables: bool,
    /// Percentage of loops whose limit is not a constant, and of those that have no limit. Such a module does not end.
    pub endless: u32,
    /// Percentage of divisions and shifts whose second operand may be any number.
    pub faulty: u32,
    /// Workgroup size. Invocations of one workgroup write to the same words.
    pub workgroup: u32,
}

impl Default for GeneratorOptions {
    fn default() -> Self {
        Self {
            aborts: true,
            size: 5,
            widths: true,
            encodings: true,
            empty: true,
            tables: true,
            endless: 0,
            faulty: 0,
            workgroup: 4,
        }
    }
}
