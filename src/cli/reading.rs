//! From the options of `detect` to the way a file is read.

use super::typed::DetectOptions;
use crate::log::fio::{Direction, Log};
use crate::log::table::{Asked, TimeUnit};
use crate::vocab::unit::{Quantity, Unit};

/// What the values of a series are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// Their unit.
    pub unit: Unit,
    /// What a number in the file is multiplied by to be in that unit.
    pub factor: f64,
    /// Whether less is better.
    pub lower_is_better: bool,
    /// What they are held against, in the unit.
    pub reference: Option<f64>,
    /// Below this a collapse is a FAIL, in the unit.
    pub floor: Option<f64>,
}

/// The columns of a table, and what its values are.
///
/// # Errors
/// One line that names the option and what is wrong with it.
pub fn of_table(options: &DetectOptions) -> Result<(Asked, Values), String> {
    if options.direction.is_some() {
        return Err("--direction goes with the logs of fio; say --fio if this is one".to_owned());
    }
    let counter = |text: &String| {
        let (name, column) = text.rsplit_once('=').ok_or_else(|| format!("--counter {text}: expected NAME=COL"))?;
        Ok((name.trim().to_owned(), column.trim().to_owned()))
    };
    let asked = Asked {
        time: options.time.clone(),
        value: options.value.clone(),
        in_flight: options.in_flight.clone(),
        counters: options.counter.iter().map(counter).collect::<Result<_, String>>()?,
        time_unit: options.time_unit.as_deref().map(time_unit).transpose()?,
    };
    let given = options.unit.as_deref();
    let (unit, factor) = given.map(unit).transpose()?.unwrap_or((Unit::Count, 1.0));
    Ok((asked, values(options, unit, factor, given.is_some())?))
}

/// What a log of fio of this name holds, which rows of it are meant, and what its values are.
///
/// # Errors
/// One line that names the option and what is wrong with it.
pub fn of_fio(options: &DetectOptions, file: &str) -> Result<(Log, Option<Direction>, Values), String> {
    if let Some(option) = of_tables_only(options) {
        return Err(format!("{option} does not go with a log of fio; its columns and units are known"));
    }
    let log = match options.fio.as_deref() {
        Some("bw") => Log::Bandwidth,
        Some("iops") => Log::Iops,
        Some("lat") => Log::Latency,
        Some("lat-us") => Log::LatencyMicroseconds,
        None | Some("name") => Log::by_name(file).ok_or_else(|| {
            format!("{file}: this looks like a log of fio, and its name does not tell which; say --fio=bw, --fio=iops or --fio=lat")
        })?,
        Some(other) => return Err(format!("--fio={other}: expected bw, iops, lat or lat-us")),
    };
    let direction = match options.direction.as_deref() {
        None => None,
        Some("read") => Some(Direction::Read),
        Some("write") => Some(Direction::Write),
        Some("trim") => Some(Direction::Trim),
        Some(other) => return Err(format!("--direction {other}: expected read, write or trim")),
    };
    let (unit, factor) = log.unit();
    // The log's own reader gives values in this unit; a bare number of an option is one of the file.
    Ok((log, direction, Values { factor: 1.0, ..values(options, unit, factor, true)? }))
}

/// An option that only a table has a use for.
fn of_tables_only(options: &DetectOptions) -> Option<&'static str> {
    let given = [
        ("--time", options.time.is_some()),
        ("--value", options.value.is_some()),
        ("--time-unit", options.time_unit.is_some()),
        ("--unit", options.unit.is_some()),
        ("--in-flight", options.in_flight.is_some()),
        ("--counter", !options.counter.is_empty()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
}

/// An option that says how a series is read; a session needs none.
#[must_use]
pub fn of_series_only(options: &DetectOptions) -> Option<&'static str> {
    let given = [
        ("--reference", options.reference.is_some()),
        ("--floor", options.floor.is_some()),
        ("--fio", options.fio.is_some()),
        ("--direction", options.direction.is_some()),
        ("--lower-is-better", options.lower_is_better),
        ("--segments", options.segments),
    ];
    of_tables_only(options).or_else(|| given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option))
}

fn values(options: &DetectOptions, unit: Unit, factor: f64, has_unit: bool) -> Result<Values, String> {
    let quantity = |option: &str, text: &Option<String>| {
        let read =
            |text: &String| in_unit(text, unit, factor, has_unit).map_err(|why| format!("{option} {text}: {why}"));
        text.as_ref().map(read).transpose()
    };
    Ok(Values {
        unit,
        factor,
        lower_is_better: options.lower_is_better || unit.lower_is_better(),
        reference: quantity("--reference", &options.reference)?,
        floor: quantity("--floor", &options.floor)?,
    })
}

/// A quantity in the unit of the values; a bare number is one as it would stand in the file.
fn in_unit(text: &str, unit: Unit, factor: f64, has_unit: bool) -> Result<f64, String> {
    let quantity: Quantity = text.parse()?;
    match quantity.unit {
        Unit::Count => Ok(quantity.value * factor),
        other if other == unit => Ok(quantity.value),
        _ if !has_unit => Err("the values have no unit; give it with --unit".to_owned()),
        _ => Err(format!("the values are in {}", unit.symbol())),
    }
}

fn unit(text: &str) -> Result<(Unit, f64), String> {
    let quantity: Result<Quantity, String> = format!("1 {text}").parse();
    match quantity {
        Ok(quantity) if quantity.unit != Unit::Count => Ok((quantity.unit, quantity.value)),
        _ => Err(format!(
            "--unit {text}: no such unit; expected one of MB/s, MiB/s, KiB/s, GFLOPS, IOPS, op/s, events/s, s, ms, us, %"
        )),
    }
}

fn time_unit(text: &str) -> Result<TimeUnit, String> {
    match text {
        "s" => Ok(TimeUnit::Seconds),
        "ms" => Ok(TimeUnit::Milliseconds),
        "us" => Ok(TimeUnit::Microseconds),
        _ => Err(format!("--time-unit {text}: expected s, ms or us")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_brings_its_factor_and_a_bare_number_is_one_of_the_file() {
        let options = DetectOptions {
            unit: Some("KiB/s".to_owned()),
            reference: Some("1000".to_owned()),
            floor: Some("0.5 MB/s".to_owned()),
            counter: vec!["disk/vda util=u".to_owned()],
            ..DetectOptions::default()
        };
        let (asked, values) = of_table(&options).unwrap();
        assert_eq!((values.unit, values.factor), (Unit::MegabytesPerSecond, 0.001_024));
        assert_eq!((values.reference, values.floor), (Some(1.024), Some(0.5)));
        assert_eq!(asked.counters, [("disk/vda util".to_owned(), "u".to_owned())]);
        let latency = DetectOptions { unit: Some("ms".to_owned()), ..DetectOptions::default() };
        assert!(of_table(&latency).unwrap().1.lower_is_better);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let base = DetectOptions::default;
        let text = |text: &str| Some(text.to_owned());
        let fault = |options: DetectOptions| of_table(&options).unwrap_err();
        assert!(fault(DetectOptions { unit: text("furlongs"), ..base() }).starts_with("--unit furlongs: no such unit"));
        let no_unit = fault(DetectOptions { floor: text("5 MB/s"), ..base() });
        assert_eq!(no_unit, "--floor 5 MB/s: the values have no unit; give it with --unit");
        let other = fault(DetectOptions { floor: text("5 MB/s"), unit: text("IOPS"), ..base() });
        assert_eq!(other, "--floor 5 MB/s: the values are in IOPS");
        assert_eq!(fault(DetectOptions { counter: vec!["x".to_owned()], ..base() }), "--counter x: expected NAME=COL");
        assert_eq!(fault(DetectOptions { time_unit: text("h"), ..base() }), "--time-unit h: expected s, ms or us");
        let fio = of_fio(&DetectOptions { unit: text("MB/s"), ..base() }, "x_bw.log").unwrap_err();
        assert_eq!(fio, "--unit does not go with a log of fio; its columns and units are known");
        assert!(of_fio(&base(), "x.log").unwrap_err().ends_with("say --fio=bw, --fio=iops or --fio=lat"));
        let bare = DetectOptions { floor: text("1000"), ..base() };
        let (_, _, values) = of_fio(&bare, "x_bw.log").unwrap();
        assert_eq!((values.factor, values.floor), (1.0, Some(1.024)), "KiB/s of the file, and its reader's MB/s");
    }
}
