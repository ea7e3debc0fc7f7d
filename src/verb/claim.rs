//! Which device's data may be destroyed: said by `--destroy-data`, and shown to be meant by its serial number.

use std::io::{BufRead, Write};
use std::path::Path;

use crate::agent::raw;
use crate::cli::typed::{RunOptions, Targets};

/// The options with the serial number that was given for a device that is to be destroyed: by `--yes`, or typed now where there is a
/// terminal. A plan that is only told needs none.
pub(super) fn confirm(options: &RunOptions, terminal: bool) -> Result<RunOptions, String> {
    let Some(named) = &options.place.destroy_data else { return Ok(options.clone()) };
    let path = std::path::absolute(named).map_err(|why| format!("--destroy-data {}: {why}", named.display()))?;
    let root = options.root.as_deref().unwrap_or(Path::new("/"));
    let refused = |why: String| format!("--destroy-data {}: {why}", path.display());
    let device = raw::find(&path, root).map_err(refused)?;
    device.is_free().map_err(refused)?;
    let given = match &options.place.yes {
        Some(given) => given.clone(),
        None if options.plan => device.proof(),
        None if terminal => ask(&device)?,
        None => {
            return Err(format!(
                "--destroy-data: {}; say that it is meant with --yes SERIAL, its serial number, or its path where it has none",
                device.line()
            ));
        }
    };
    device.is_meant(&given).map_err(refused)?;
    let place = Targets { yes: Some(given), ..options.place.clone() };
    Ok(RunOptions { place, ..options.clone() })
}

/// On standard error, since standard output may be kept.
fn ask(device: &raw::Device) -> Result<String, String> {
    let what = if device.serial.is_some() { "serial number" } else { "path" };
    let mut err = std::io::stderr();
    let text = format!("ALL DATA WILL BE DESTROYED on {}\nType its {what} to go on: ", device.line());
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|why| format!("standard input: {why}"))?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}
