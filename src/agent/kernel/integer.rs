//! Skeleton.
#![allow(unused_imports, missing_docs, reason = "skeleton")]
use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::Meter;
use crate::agent::resources::Resources;
use crate::vocab::plan::Integer;
use std::path::Path;
pub(super) struct Kernel;
impl Kernel {
    pub(super) fn new(_: &Integer, _: &Resources) -> Result<Self, KernelError> {
        Err(KernelError::Unavailable("skeleton".to_owned()))
    }
}
impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        Takes::default()
    }
    fn describe(&self) -> Description {
        Description {
            meters: vec![],
            lanes: crate::agent::meter::Lanes { threads: 1, depth: 0, timed: false },
            labels: Default::default(),
            command: String::new(),
        }
    }
    fn prepare(&mut self, _: &Meter, _: &Stop) -> Result<(), KernelError> {
        Ok(())
    }
    fn iterate(&mut self, _: &Meter, _: &Stop) -> Result<Measured, KernelError> {
        Ok(Measured::default())
    }
}
