//! What the rigs share.

pub(crate) mod device;
pub(crate) mod group;
pub(crate) mod net;
pub(crate) mod play;
pub(crate) mod slow;
pub(crate) mod undo;
