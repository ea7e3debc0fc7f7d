//! Random numbers that a seed repeats, on every machine the same.

/// The next number of `SplitMix64` (Steele, Lea and Flood 2014).
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number below `end`: the high half of a product, of which some are more likely by `end` / 2⁶⁴.
pub fn below(state: &mut u64, end: u64) -> u64 {
    ((u128::from(split_mix(state)) * u128::from(end)) >> 64) as u64
}

/// In [0, 1), in steps of 2⁻⁵³.
pub fn uniform(state: &mut u64) -> f64 {
    (split_mix(state) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Of mean 0 and deviation 1 (Box and Muller 1958).
pub fn normal(state: &mut u64) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(state)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(state)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_paper_and_within_their_bounds() {
        // The first three of seed 1234567, as the reference implementation prints them.
        let mut state = 1_234_567;
        let first = [(); 3].map(|()| split_mix(&mut state));
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert!((0..1000).all(|_| below(&mut state, 7) < 7 && (0.0..1.0).contains(&uniform(&mut state))));
        assert_eq!((below(&mut state, 1), below(&mut state, 0)), (0, 0));
    }

    #[test]
    fn normal_numbers_have_their_mean_and_deviation() {
        let mut state = 3;
        let values: Vec<f64> = (0..20_000).map(|_| normal(&mut state)).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let variance = values.iter().map(|value| value * value).sum::<f64>() / 20_000.0;
        // Four standard errors.
        assert!(mean.abs() < 0.029 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
    }
}
