//! Tests of [`super`].

use super::*;

#[test]
fn strings_end_with_a_nul() {
    assert_eq!(string("abc"), [0x0063_6261]);
    assert_eq!(string("abcd"), [0x6463_6261, 0]);
    assert_eq!(words(b"abcde", 2), [0x6463_6261, 0x65]);
}

#[test]
fn sections_are_in_order() {
    let mut builder = Builder::new(3);
    let void = builder.void();
    assert_eq!(builder.void(), void);
    builder.capability(capability::Shader);
    push(&mut builder.functions, op::FunctionEnd, &[]);
    let module = builder.finish();
    assert_eq!(&module[..7], [MAGIC, 0x0001_0300, 0, 2, 0, 2 << 16 | 17, 1]);
    assert_eq!(module[7], 3 << 16 | 14);
    assert_eq!(module.last(), Some(&(1 << 16 | 56)));
}
