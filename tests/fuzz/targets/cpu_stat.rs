//! `/sys/fs/cgroup/cpu.stat` through the sampler of `cgroup`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("sys/fs/cgroup/cpu.stat", "cgroup", data));
