//! Random numbers that a seed repeats.

use shakedown::vocab::random::{split_mix, uniform};

/// `SplitMix64` (Steele, Lea and Flood 2014), and what is drawn from it.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
    spare: Option<f64>,
}

impl Random {
    /// The numbers of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, spare: None }
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        split_mix(&mut self.state)
    }

    /// At least 0 and below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        uniform(&mut self.state)
    }

    /// Between `low` and `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// True in this share of cases.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// Standard normal, by Marsaglia's polar method.
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// Student's t with three degrees of freedom, scaled to a standard deviation of 1.
    pub(crate) fn heavy(&mut self) -> f64 {
        let square: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / square.max(1e-12).sqrt()
    }
}
