//! The values that an integer may have: an unsigned interval and a signed one, each cut by the other.
//!
//! Together they are one interval on each side of the sign boundary, so that operations work on pieces whose sign is known:
//!
//! ```text
//! unsigned   min ...... | ........ max        -1 is the maximum of the type
//!            the piece without sign | the piece with the sign bit
//! signed     0 ... smax | smin ... -1
//! ```

/// A non-empty set of integers of one width of 1 to 64 bits. Values are in the low bits of a `u64`, the others are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    min: u64,
    max: u64,
    smin: i64,
    smax: i64,
    bits: u32,
}

/// Values from `first` to `last`, unsigned, that have the same sign bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Piece {
    fn new(first: u64, last: u64) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    fn meet(self, other: Self) -> Option<Self> {
        Self::new(self.first.max(other.first), self.last.min(other.last))
    }
}

/// The greatest unsigned value of a width.
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// The value of the low `bits` bits as a signed number.
pub(super) fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    ((value << unused) as i64) >> unused
}

impl Range {
    /// All values of a width.
    pub(crate) fn full(bits: u32) -> Self {
        let bits = bits.clamp(1, 64);
        Self {
            min: 0,
            max: mask(bits),
            smin: signed(1 << (bits - 1), bits),
            smax: (mask(bits) >> 1) as i64,
            bits,
        }
    }

    /// The low bits of one value.
    pub(crate) fn only(value: u64, bits: u32) -> Self {
        let value = value & mask(bits);
        Self::unsigned(value, value, bits)
    }

    /// The values from `min` to `max`, all if `min` is greater.
    pub(crate) fn unsigned(min: u64, max: u64, bits: u32) -> Self {
        let half = mask(bits) >> 1;
        let positive = Piece::new(min, max.min(half));
        let negative = Piece::new(min.max(half + 1), max.min(mask(bits)));
        Self::of_pieces(positive, negative, bits).unwrap_or(Self::full(bits))
    }

    /// The signed values from `min` to `max`, all if `min` is greater.
    pub(crate) fn signed(min: i64, max: i64, bits: u32) -> Self {
        let full = Self::full(bits);
        let (min, max) = (min.max(full.smin), max.min(full.smax));
        let positive = (max >= 0).then(|| Piece::new(min.max(0) as u64, max as u64)).flatten();
        let low = |value: i64| value as u64 & mask(bits);
        let negative = (min < 0).then(|| Piece::new(low(min), low(max.min(-1)))).flatten();
        Self::of_pieces(positive, negative, bits).unwrap_or(full)
    }

    /// The low bits of `first` and of the `more` values that follow it.
    pub(super) fn wrapping(first: u64, more: u128, bits: u32) -> Self {
        if more >= u128::from(mask(bits)) {
            return Self::full(bits);
        }
        let first = first & mask(bits);
        let last = first.wrapping_add(more as u64) & mask(bits);
        match first <= last {
            true => Self::unsigned(first, last, bits),
            false => Self::signed(signed(first, bits), signed(last, bits), bits),
        }
    }

    fn of_pieces(positive: Option<Piece>, negative: Option<Piece>, bits: u32) -> Option<Self> {
        let (low, high) = (positive.or(negative)?, negative.or(positive)?);
        Some(Self {
            min: low.first,
            max: high.last,
            smin: signed(high.first, bits),
            smax: signed(low.last, bits),
            bits: bits.clamp(1, 64),
        })
    }

    /// The values without the sign bit, and those with it.
    fn halves(self) -> (Option<Piece>, Option<Piece>) {
        let positive = (self.smax >= 0).then(|| Piece::new(self.min, self.smax as u64));
        let negative = (self.smin < 0).then(|| Piece::new(self.smin as u64 & mask(self.bits), self.max));
        (positive.flatten(), negative.flatten())
    }

    /// The one or two pieces, in unsigned order.
    pub(super) fn pieces(self) -> impl Iterator<Item = Piece> + Clone {
        let (positive, negative) = self.halves();
        positive.into_iter().chain(negative)
    }

    /// The least unsigned value.
    pub fn min(self) -> u64 {
        self.min
    }

    /// The greatest unsigned value.
    pub fn max(self) -> u64 {
        self.max
    }

    /// The least signed value.
    pub fn smin(self) -> i64 {
        self.smin
    }

    /// The greatest signed value.
    pub fn smax(self) -> i64 {
        self.smax
    }

    pub(crate) fn bits(self) -> u32 {
        self.bits
    }

    /// The value, if there is only one.
    pub(crate) fn value(self) -> Option<u64> {
        (self.min == self.max).then_some(self.min)
    }

    #[allow(dead_code)] // Only tests ask so far.
    pub(crate) fn is_full(self) -> bool {
        self == Self::full(self.bits)
    }

    /// Whether the low bits of a value are in both intervals.
    pub fn contains(self, value: u64) -> bool {
        let value = value & mask(self.bits);
        (self.min..=self.max).contains(&value) && (self.smin..=self.smax).contains(&signed(value, self.bits))
    }

    /// The smallest range with the values of both, which have the same width.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            smin: self.smin.min(other.smin),
            smax: self.smax.max(other.smax),
            bits: self.bits,
        }
    }

    /// The values that are in both, which have the same width. `None` if there are none.
    pub(crate) fn meet(self, other: Self) -> Option<Self> {
        let (positive, negative) = self.halves();
        let (other_positive, other_negative) = other.halves();
        let meet = |one: Option<Piece>, other: Option<Piece>| one?.meet(other?);
        Self::of_pieces(
            meet(positive, other_positive),
            meet(negative, other_negative),
            self.bits,
        )
    }

    /// A range with the values of both that a loop reaches in few steps: each bound of `self` that `new` moves goes to the sign
    /// boundary, or beyond it to the limit of the type. From any range, at most 4 steps lead to one that no `new` moves.
    #[allow(dead_code)] // For propagation over loops; `counters` bounds them in another way.
    pub(crate) fn widen(self, new: Self) -> Self {
        let (full, joined) = (Self::full(self.bits), self.join(new));
        let half = full.max >> 1;
        let low = if joined.min > half { half + 1 } else { 0 };
        let high = if joined.max <= half { half } else { full.max };
        let slow = if joined.smin >= 0 { 0 } else { full.smin };
        let shigh = if joined.smax < 0 { -1 } else { full.smax };
        let unsigned = Self::unsigned(
            moved(joined.min, self.min, low),
            moved(joined.max, self.max, high),
            self.bits,
        );
        let signed = Self::signed(
            moved(joined.smin, self.smin, slow),
            moved(joined.smax, self.smax, shigh),
            self.bits,
        );
        unsigned.meet(signed).unwrap_or(full)
    }
}

/// A bound, or a limit if it has moved.
fn moved<T: PartialEq>(bound: T, old: T, limit: T) -> T {
    if bound == old { old } else { limit }
}

/// The range of the results of `compute` for every two pieces. `None` if there is no result.
pub(super) fn by_pieces(left: Range, right: Range, compute: impl Fn(Piece, Piece) -> Option<Range>) -> Option<Range> {
    let pairs = left
        .pieces()
        .flat_map(|one| right.pieces().map(move |other| (one, other)));
    pairs.filter_map(|(one, other)| compute(one, other)).reduce(Range::join)
}
