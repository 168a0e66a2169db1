use super::interval::Range;
pub(super) fn computed(_: u16, _: Option<u32>, _: &[(Range, u32)], _: u32) -> Option<Range> {
    None
}
