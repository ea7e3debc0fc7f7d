//! The room on the node under test: an agent that supervises, a worker that works, samplers that read the host.
//!
//! It speaks events on its standard output and hears orders on its standard input, and knows nothing of sessions, thresholds
//! or screens. `agent` never waits for a worker that will not die; when its input ends it stops its worker and is gone within
//! two seconds. A `worker` runs one kernel, is the first to be killed for memory, and may hang in the kernel for ever.

mod block;
mod cgroup;
pub mod conditions;
mod cpuinfo;
mod disturbance;
pub mod engine;
pub mod hold;
mod host;
pub mod inventory;
mod job;
pub mod kernel;
mod list;
mod mdstat;
pub mod meter;
mod mount;
mod nic;
pub mod raw;
pub mod resources;
mod roof;
pub mod sampler;
mod sizes;
pub mod supervise;
pub mod survey;
pub mod voice;
mod watch;
pub mod worker;
