//! Skeleton: threads pinned to CPUs.
