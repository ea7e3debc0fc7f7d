//! What a sampler remembers of the devices behind names, and when it looks again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Full readings after which a device is looked at anew, and after which one that is away is forgotten.
const LOOK_EVERY: u32 = 8;

struct Remembered<T> {
    what: T,
    sign: u64,
    sum: f64,
    seen: u32,
    looked: u32,
}

/// What is known of devices by their names.
pub(super) struct Known<T> {
    devices: HashMap<String, Remembered<T>>,
    reading: u32,
}

impl<T> Known<T> {
    pub(super) fn new() -> Self {
        Self { devices: HashMap::new(), reading: 0 }
    }

    /// A reading of all devices begins.
    pub(super) fn begin(&mut self) {
        self.reading += 1;
        if self.reading.is_multiple_of(LOOK_EVERY) {
            let old = self.reading - LOOK_EVERY;
            self.devices.retain(|_, known| known.seen >= old);
        }
    }

    /// What is known of a device. It is looked at when it is new or was away, when its sign is another or the sum of its counters
    /// fell, and now and then: a name may stand for another device at any time, and sysfs is too dear to ask every second.
    pub(super) fn of(&mut self, name: &str, (sign, sum): (u64, f64), look: impl FnOnce() -> T) -> Option<&T> {
        let now = self.reading;
        let fresh = |known: &Remembered<T>| {
            known.sign == sign && known.sum <= sum && known.seen + 1 >= now && known.looked + LOOK_EVERY > now
        };
        if !self.devices.get(name).is_some_and(fresh) {
            // Spread, so that not every device is looked at in the same reading.
            let spread = if self.devices.contains_key(name) { 0 } else { self.devices.len() as u32 % LOOK_EVERY };
            let known = Remembered { what: look(), sign, sum, seen: now, looked: now.saturating_sub(spread) };
            self.devices.insert(name.to_owned(), known);
        }
        let known = self.devices.get_mut(name)?;
        (known.sum, known.seen) = (sum, now);
        Some(&known.what)
    }
}

/// A number for what tells one device from another.
pub(super) fn identity(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_looked_at_again_when_it_may_be_another() {
        let mut known = Known::new();
        let mut looks = 0;
        let mut of = |known: &mut Known<()>, sign, sum| {
            let before = looks;
            known.of("sda", (sign, sum), || looks += 1);
            looks > before
        };
        known.begin();
        assert!(of(&mut known, 1, 10.0), "new");
        assert!(!of(&mut known, 1, 10.0));
        known.begin();
        assert!(!of(&mut known, 1, 11.0));
        assert!(of(&mut known, 2, 11.0), "another number");
        assert!(of(&mut known, 2, 3.0), "counters fell");
        known.begin();
        known.begin();
        assert!(of(&mut known, 2, 3.0), "away for a reading");
        for _ in 0..LOOK_EVERY - 1 {
            known.begin();
            assert!(!of(&mut known, 2, 3.0));
        }
        known.begin();
        assert!(of(&mut known, 2, 3.0), "now and then");
    }

    #[test]
    fn devices_that_are_away_are_forgotten() {
        let mut known = Known::new();
        for n in 0..100 {
            known.begin();
            known.of(&format!("veth{n}"), (0, 0.0), || ());
        }
        assert!(known.devices.len() <= 2 * LOOK_EVERY as usize);
    }
}
