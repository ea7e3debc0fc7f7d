//! The screen: put together with the session it shows.

use super::Ended;
use super::run::Prepared;
use crate::cli::typed::{RunOptions, Show};
use crate::session::client::Client;

pub(super) fn choose(_: &RunOptions) -> Ended {
    Err("skeleton".to_owned())
}

pub(super) fn run(_: Prepared, _: &RunOptions) -> Ended {
    Err("skeleton".to_owned())
}

pub(super) async fn watch(_: Client, _: &Show) -> Ended {
    Err("skeleton".to_owned())
}
