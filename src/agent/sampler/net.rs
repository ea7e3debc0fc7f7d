//! Skeleton.
use super::Sink;
use std::{io, path::Path};
pub(super) struct Sampler;
impl Sampler {
    pub(super) fn new(_: &Path) -> Self {
        Self
    }
}
impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "net"
    }
    fn sample(&mut self, _: &mut Sink) -> io::Result<()> {
        Ok(())
    }
}
