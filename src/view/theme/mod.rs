//! Themes: what a thing on the screen means (its role) is turned into how it looks, in one place.
//!
//! A theme is a RON file. It may inherit another, names its colours in a palette, and gives each role a colour and modifiers:
//! `"fail": "rust bold"`. A role with a dot falls back to the one before the dot (`frame.focus`, `frame`). Nothing here knows a
//! terminal, so that a report can wear the same theme.

mod colour;
mod terminal;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use colour::Colour;
pub use terminal::{Depth, Glyphs, choose, has_mouse};

use crate::shelf::{Shelf, ShelfError};
use crate::vocab::ronfile;

/// A theme that is compiled in: its name and its text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("default", include_str!("../../../themes/default.ron")),
    ("light", include_str!("../../../themes/light.ron")),
    ("high-contrast", include_str!("../../../themes/high-contrast.ron")),
    ("colour-blind", include_str!("../../../themes/colour-blind.ron")),
    ("nord", include_str!("../../../themes/nord.ron")),
    ("gruvbox", include_str!("../../../themes/gruvbox.ron")),
    ("ansi16", include_str!("../../../themes/ansi16.ron")),
    ("mono", include_str!("../../../themes/mono.ron")),
];

/// What a theme looks like as a whole, for messages.
const SHAPE: &str = "( name: \"…\", inherits: \"…\", palette: {…}, roles: {…} )";

/// Themes that inherit each other deeper than this go in a circle.
const DEEPEST: usize = 8;

/// What a thing on the screen means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Plain text.
    Text,
    /// Text that is there when looked for.
    Dim,
    /// Text that is looked for first.
    Strong,
    /// Names of panes.
    Title,
    /// Frames, axes.
    Frame,
    /// The frame of a dialog.
    FrameFocus,
    /// Done, held.
    Ok,
    /// Needs a look.
    Warn,
    /// Has failed.
    Fail,
    /// Neither shown to hold nor shown not to.
    Unproven,
    /// Under way.
    Active,
    /// The live rate.
    Series,
    /// The official figures of the iterations.
    Figure,
    /// The host's counters.
    Host,
    /// What a figure is held against.
    Limit,
    /// The time cursor.
    Cursor,
    /// Keys.
    Key,
    /// Behind everything.
    Ground,
    /// Behind the header and the footer.
    GroundBar,
    /// Behind the chosen run.
    GroundSelect,
    /// Behind the span of a finding.
    GroundShade,
    /// Below the live rate.
    GroundFill,
}

/// Every role by the name a theme gives it.
pub const ROLES: [(Role, &str); 22] = [
    (Role::Text, "text"),
    (Role::Dim, "text.dim"),
    (Role::Strong, "text.strong"),
    (Role::Title, "title"),
    (Role::Frame, "frame"),
    (Role::FrameFocus, "frame.focus"),
    (Role::Ok, "ok"),
    (Role::Warn, "warn"),
    (Role::Fail, "fail"),
    (Role::Unproven, "unproven"),
    (Role::Active, "active"),
    (Role::Series, "series"),
    (Role::Figure, "series.figure"),
    (Role::Host, "series.host"),
    (Role::Limit, "limit"),
    (Role::Cursor, "cursor"),
    (Role::Key, "key"),
    (Role::Ground, "ground"),
    (Role::GroundBar, "ground.bar"),
    (Role::GroundSelect, "ground.select"),
    (Role::GroundShade, "ground.shade"),
    (Role::GroundFill, "ground.fill"),
];

/// How a role looks: a colour (of the text, or for the grounds of what is behind it) and modifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is there or not, whatever the others are")]
pub struct Paint {
    /// The colour.
    pub colour: Colour,
    /// Heavier.
    pub bold: bool,
    /// Weaker.
    pub dim: bool,
    /// Text and ground exchanged.
    pub reverse: bool,
    /// A line below.
    pub underline: bool,
}

/// Why there is no such theme.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// No such theme, or a file that cannot be read.
    #[error(transparent)]
    Missing(#[from] ShelfError),
    /// A text that is no theme, as `file:line:col: what is wrong, what was expected`.
    #[error("{0}")]
    Wrong(String),
}

/// The themes there are, those in `directory` included.
#[must_use]
pub fn shelf(directory: Option<&Path>) -> Shelf<'_> {
    Shelf { kind: "theme", shipped: SHIPPED, directory }
}

/// Every theme that can be loaded, in the order of their names.
#[must_use]
pub fn all(directory: Option<&Path>) -> Vec<Theme> {
    shelf(directory).names().iter().filter_map(|name| Theme::load(name, directory).ok()).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    inherits: Option<String>,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    #[serde(default)]
    roles: BTreeMap<String, String>,
}

/// A text that was read, and where from; the heir comes before the one it inherits.
struct Layer {
    file: String,
    text: String,
    written: Written,
}

/// A theme with every role resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// The file it was read from; none when it is compiled in.
    pub file: Option<PathBuf>,
    paints: [Paint; ROLES.len()],
}

impl Theme {
    /// Loads a theme by name, a file `NAME.ron` in `directory` before a shipped one, or by the path of a file.
    pub fn load(name: &str, directory: Option<&Path>) -> Result<Self, ThemeError> {
        let mut layers = Vec::new();
        let (file, mut next) = find(name, directory, &mut layers)?;
        while let Some(parent) = next {
            if layers.len() > DEEPEST {
                return Err(layers[0].wrong(
                    "inherits",
                    &parent,
                    "inherits itself in the end, expected a chain of themes",
                ));
            }
            // A file that inherits its own name means the shipped theme that it stands in for.
            let own =
                layers.last().is_some_and(|l: &Layer| Path::new(&l.file).file_stem().is_some_and(|s| *s == *parent));
            let found = find(&parent, directory.filter(|_| !own), &mut layers);
            next = found
                .map_err(|e| match (e, layers.last()) {
                    (e @ ThemeError::Missing(_), Some(heir)) => heir.wrong("inherits", &parent, &e.to_string()),
                    (e, _) => e,
                })?
                .1;
        }
        let paints = resolve(&layers)?;
        Ok(Self { name: layers.first().map_or_else(String::new, |l| l.written.name.clone()), file, paints })
    }

    /// Whether it is the same theme, however its colours are fitted.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        (&self.name, &self.file) == (&other.name, &other.file)
    }

    /// How a role looks.
    #[must_use]
    pub fn paint(&self, role: Role) -> Paint {
        self.paints[role as usize]
    }

    /// The theme as a terminal of this depth shows it. Without colours that is the mono theme; with sixteen the default theme is
    /// the one made for sixteen, and any other takes its nearest colours.
    pub fn fit(self, depth: Depth) -> Result<Self, ThemeError> {
        let shipped_default = self.file.is_none() && self.name == "default";
        match depth {
            Depth::True => Ok(self),
            Depth::None => Self::load("mono", None),
            Depth::Sixteen if shipped_default => Self::load("ansi16", None),
            _ => {
                let paints = self.paints.map(|p| Paint { colour: p.colour.at(depth), ..p });
                Ok(Self { paints, ..self })
            }
        }
    }
}

/// Reads one layer; gives its file and what it inherits.
fn find(
    name: &str,
    directory: Option<&Path>,
    layers: &mut Vec<Layer>,
) -> Result<(Option<PathBuf>, Option<String>), ThemeError> {
    let book = shelf(directory).find(name)?;
    let (file, at, text) = (book.from(), book.path, book.text);
    let layer = Layer::read(file, text)?;
    let next = layer.written.inherits.clone();
    layers.push(layer);
    Ok((at, next))
}

impl Layer {
    fn read(file: String, text: String) -> Result<Self, ThemeError> {
        let written: Written =
            ronfile::parse(&file, &text).map_err(|e| ThemeError::Wrong(format!("{e}, expected {SHAPE}")))?;
        Ok(Self { file, text, written })
    }

    /// An error at the place where `word` stands in quotes behind `after`.
    fn wrong(&self, after: &str, word: &str, what: &str) -> ThemeError {
        let start = self.text.find(after).unwrap_or(0);
        let at = start + self.text[start..].find(&format!("\"{word}\"")).unwrap_or(0);
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let col = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        ThemeError::Wrong(format!("{}:{line}:{col}: {what}", self.file))
    }
}

fn resolve(layers: &[Layer]) -> Result<[Paint; ROLES.len()], ThemeError> {
    let mut palette = BTreeMap::new();
    for layer in layers.iter().rev() {
        for (name, colour) in &layer.written.palette {
            let read = Colour::read(colour).ok_or_else(|| {
                let what = format!(
                    "`{colour}` is no colour, expected #rrggbb, one of the 16 names such as bright-red, or none"
                );
                layer.wrong(&format!("\"{name}\""), colour, &what)
            })?;
            palette.insert(name.as_str(), read);
        }
        if let Some(role) = layer.written.roles.keys().find(|r| ROLES.iter().all(|(_, name)| name != r)) {
            let names: Vec<&str> = ROLES.iter().map(|(_, name)| *name).collect();
            let what = format!("`{role}` is no role, expected one of {}", names.join(", "));
            return Err(layer.wrong("roles", role, &what));
        }
    }
    let mut paints = [Paint::default(); ROLES.len()];
    for (role, name) in ROLES {
        let root = name.split('.').next().unwrap_or(name);
        let written = |name: &str| layers.iter().find_map(|l| Some((l, l.written.roles.get_key_value(name)?)));
        let Some((layer, (key, value))) = written(name).or_else(|| written(root)) else {
            let heir = &layers[0];
            let what = format!("role `{root}` has no colour, expected it here or in a theme that is inherited");
            return Err(heir.wrong("roles", &heir.written.name, &what));
        };
        paints[role as usize] =
            paint(value, &palette).map_err(|what| layer.wrong(&format!("\"{key}\""), value, &what))?;
    }
    Ok(paints)
}

fn paint(value: &str, palette: &BTreeMap<&str, Colour>) -> Result<Paint, String> {
    let mut paint = Paint::default();
    for word in value.split_whitespace() {
        match word {
            "bold" => paint.bold = true,
            "dim" => paint.dim = true,
            "reverse" => paint.reverse = true,
            "underline" => paint.underline = true,
            _ => {
                paint.colour = palette.get(word).copied().or_else(|| Colour::read(word)).ok_or_else(|| {
                    format!("`{word}` is neither in the palette nor a colour, expected a colour and bold, dim, reverse or underline")
                })?;
            }
        }
    }
    Ok(paint)
}

#[cfg(test)]
mod audit;
#[cfg(test)]
mod tests;
