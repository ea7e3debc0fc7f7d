//! What a cause has to do with a finding.

/// How a cause bears on a finding.
pub(super) enum Bearing {
    /// Not at all, or something speaks against it.
    None,
    /// It may be.
    Possible,
    /// The reading that speaks for it.
    Proven(String),
}

impl Bearing {
    /// Proven by this reading if there is one.
    pub(super) fn proven(reading: Option<String>) -> Self {
        reading.map_or(Self::None, Self::Proven)
    }
}
