//! Spans typed as text (`"5 s"`), read through [`Quantity`].

use serde::{Deserialize, Deserializer, Serializer, de::Error};

use super::moment::Span;
use super::unit::{Quantity, Unit};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn serialize<S: Serializer>(span: &Span, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&text(*span))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
    read(Quantity::deserialize(from)?).map_err(D::Error::custom)
}

fn text(span: Span) -> String {
    Quantity::new(span.as_seconds(), Unit::Seconds).to_string()
}

fn read(quantity: Quantity) -> Result<Span, String> {
    let scale = match quantity.unit {
        Unit::Seconds => 1e6,
        Unit::Milliseconds => 1e3,
        Unit::Microseconds => 1.0,
        Unit::Nanoseconds => 1e-3,
        _ => return Err(format!("`{quantity}` is no time; expected one such as 5 s")),
    };
    let us = quantity.value * scale;
    if (0.0..4e15).contains(&us) {
        Ok(Span(us.round() as u64))
    } else {
        Err(format!("`{quantity}` is not between 0 and 126 years"))
    }
}

pub(super) mod option {
    use super::{Deserialize, Deserializer, Error, Quantity, Serializer, Span, read, text};

    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub(in crate::vocab) fn serialize<S: Serializer>(span: &Option<Span>, to: S) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => to.serialize_some(&text(*span)),
            None => to.serialize_none(),
        }
    }

    pub(in crate::vocab) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Span>, D::Error> {
        Option::<Quantity>::deserialize(from)?.map(read).transpose().map_err(D::Error::custom)
    }
}
