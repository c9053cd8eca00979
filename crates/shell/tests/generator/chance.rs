//! Numbers that look random and are the same for the same seed.

/// A generator of numbers (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The numbers of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound, which is not zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    /// Returns true if one of so many cases is met.
    pub(crate) fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    /// One of several.
    pub(crate) fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}
