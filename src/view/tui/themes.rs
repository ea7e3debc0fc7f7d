//! The themes that can be put on while the screen is up, as this terminal shows them.

use crate::view::theme::{Depth, Theme, ThemeError};

/// Themes in a ring, one of them on.
#[derive(Clone, Debug)]
pub(super) struct Themes {
    all: Vec<Theme>,
    on: usize,
}

impl Themes {
    /// The themes fitted to a depth, with the first one on. Those that are the same there, as all are without colours, stand once.
    pub(super) fn new(first: &Theme, others: &[Theme], depth: Depth) -> Result<Self, ThemeError> {
        let mut all: Vec<Theme> = Vec::new();
        for theme in others.iter().chain([first]) {
            let fitted = theme.clone().fit(depth)?;
            if !all.iter().any(|known| known.same(&fitted)) {
                all.push(fitted);
            }
        }
        let first = first.clone().fit(depth)?;
        let on = all.iter().position(|theme| theme.same(&first)).unwrap_or(0);
        Ok(Self { all, on })
    }

    /// The one that is on.
    pub(super) fn on(&self) -> Theme {
        self.all[self.on].clone()
    }

    /// Puts the next one on, or the one before; gives what is to be said of that.
    pub(super) fn step(&mut self, forward: bool) -> String {
        let count = self.all.len();
        self.on = (self.on + if forward { 1 } else { count - 1 }) % count;
        format!("theme {}", self.all[self.on].name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme;

    #[test]
    fn themes_go_round_and_none_stands_twice() {
        let all = theme::all(None);
        let first = Theme::load("light", None).unwrap();
        let mut themes = Themes::new(&first, &all, Depth::True).unwrap();
        assert_eq!((themes.on().name.as_str(), themes.all.len()), ("light", theme::SHIPPED.len()));
        let names: Vec<String> = (0..all.len()).map(|_| themes.step(true)).collect();
        assert_eq!(names.last().unwrap(), "theme light");
        assert!(all.iter().all(|t| names.contains(&format!("theme {}", t.name))), "{names:?}");
        assert_eq!((themes.step(true), themes.step(false)), (names[0].clone(), "theme light".to_owned()));
        let mut plain = Themes::new(&first, &all, Depth::None).unwrap();
        assert_eq!(plain.step(true), "theme mono");
    }
}
