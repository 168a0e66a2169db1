//! Source of the generator's decisions: a seed, or a fuzzer's bytes.

/// A deterministic source of decisions, the same on every machine.
#[derive(Clone, Debug)]
pub struct Choices {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// State of an xorshift64* generator; never 0.
    Seed(u64),
    /// A fuzzer's bytes. After the last one, every choice is the first alternative.
    Bytes { bytes: Vec<u8>, at: usize },
}

impl Choices {
    /// Decisions from a seed.
    pub fn seeded(seed: u64) -> Self {
        // splitmix64's finaliser decorrelates consecutive seeds.
        let mut state = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self {
            source: Source::Seed((state ^ state >> 31).max(1)),
        }
    }

    /// Decisions from bytes: one byte per choice among up to 256 alternatives.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self {
            source: Source::Bytes {
                bytes: bytes.to_vec(),
                at: 0,
            },
        }
    }

    /// An arbitrary word.
    pub fn word(&mut self) -> u32 {
        match &mut self.source {
            Source::Seed(state) => {
                *state ^= *state >> 12;
                *state ^= *state << 25;
                *state ^= *state >> 27;
                (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
            }
            Source::Bytes { bytes, at } => {
                let byte = |i| bytes.get(i).copied().unwrap_or(0);
                let word = u32::from_le_bytes([byte(*at), byte(*at + 1), byte(*at + 2), byte(*at + 3)]);
                *at = (*at + 4).min(bytes.len());
                word
            }
        }
    }

    /// A number below `count`, or 0 if `count` is 0.
    pub fn below(&mut self, count: u32) -> u32 {
        if count <= 1 {
            return 0;
        }
        match &mut self.source {
            Source::Bytes { bytes, at } if count <= 256 => {
                let byte = bytes.get(*at).copied().unwrap_or(0);
                *at = (*at + 1).min(bytes.len());
                u32::from(byte) % count
            }
            _ => ((u64::from(self.word()) * u64::from(count)) >> 32) as u32,
        }
    }

    /// A number from `low` to `high` inclusive.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True with a probability of `percent`. False after a fuzzer's last byte.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) >= 100 - percent.min(100)
    }

    /// One of several values; `None` for an empty slice.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> Option<T> {
        values.get(self.below(values.len() as u32) as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_decisions() {
        let take = |seed| -> Vec<u32> {
            let mut choices = Choices::seeded(seed);
            (0..8).map(|_| choices.below(1000)).collect()
        };
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
    }

    #[test]
    fn after_the_last_byte_choices_are_first_and_false() {
        let mut choices = Choices::from_bytes(&[7, 255]);
        assert_eq!(choices.below(10), 7);
        assert!(choices.chance(90));
        assert_eq!(choices.below(10), 0);
        assert!(!choices.chance(99));
        assert_eq!(choices.word(), 0);
    }
}
