//! The key map in force: the shipped table, changed by the user's file. Help and footer are printed from it.
//!
//! The file says for each place what a key is to do there: `{ "Screen": { "F5": "Freeze", "x": "None" } }`. Keys go by their
//! printed names, actions by those of [`Action`]; a key that is given another action loses the one it had. What would leave no
//! way out of a place, or take Ctrl-C or Ctrl-Z away, is refused.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::keys::{Action, KEYS, Place};
use super::press::Press;
use crate::view::format;
use crate::vocab::ronfile;

/// What a key is bound to when it is to do nothing.
const NOTHING: &str = "None";

/// Everything that a place can be asked for in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) place: Place,
    pub(super) action: Action,
    pub(super) presses: Vec<Press>,
    /// The keys as printed, the first one being that of the footer.
    pub(super) name: String,
    /// What it does, for the help.
    pub(super) does: &'static str,
    /// The same in a word or two, for the footer; empty for keys that are not named there.
    pub(super) brief: &'static str,
}

/// The keys of every place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    bound: Vec<Bound>,
}

impl Default for Keys {
    /// The shipped map.
    fn default() -> Self {
        let bound = KEYS.iter().map(|key| Bound {
            place: key.place,
            action: key.action,
            presses: key.codes.iter().map(|code| Press { code: *code, control: key.control }).collect(),
            name: key.name.to_owned(),
            does: key.does,
            brief: key.brief,
        });
        Self { bound: bound.collect() }
    }
}

impl Keys {
    /// The shipped map changed by a file's text; `name` stands at the head of messages.
    ///
    /// # Errors
    /// `name:line:column: what is wrong, what was expected`.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        ronfile::parse(name, text)
    }

    /// The map as a table: place by place the keys, the action's name and what it does.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::new();
        for place in Place::ALL {
            text.push_str(&format!("{place:?}\n"));
            for bound in self.bound.iter().filter(|b| b.place == place && !b.presses.is_empty()) {
                let (keys, action) = (format::left(&bound.name, 16), format!("{:?}", bound.action));
                text.push_str(&format!("  {keys}  {action:<12}  {}\n", bound.does));
            }
        }
        text
    }

    /// What a key means in a place.
    pub(super) fn action(&self, place: Place, press: Option<Press>) -> Option<Action> {
        let press = press?;
        self.own(place, press).or_else(|| self.own(Place::Any, press).filter(|_| place.is_screen()))
    }

    /// What a key is bound to in a place itself.
    fn own(&self, place: Place, press: Press) -> Option<Action> {
        self.bound.iter().find(|b| b.place == place && b.presses.contains(&press)).map(|b| b.action)
    }

    /// What has a key in a place, with what counts on any screen.
    pub(super) fn of(&self, place: Place) -> impl Iterator<Item = &Bound> {
        // A key that the place itself has taken does nothing else there.
        let taken = move |b: &Bound| b.presses.first().is_some_and(|press| self.own(place, *press).is_some());
        let counts = move |b: &&Bound| b.place == place || (b.place == Place::Any && place.is_screen() && !taken(b));
        self.bound.iter().filter(counts).filter(|b| !b.presses.is_empty())
    }

    /// The keys of a place in the words of the footer.
    pub(super) fn brief(&self, place: Place) -> impl Iterator<Item = (&str, &Bound)> {
        self.of(place).filter(|b| !b.brief.is_empty()).map(|b| (b.first(), b))
    }

    /// The key, as printed, that does something in a place.
    pub(super) fn name(&self, place: Place, action: Action) -> &str {
        self.of(place).find(|b| b.action == action).map_or("", Bound::first)
    }

    /// Gives a key another action in a place.
    fn bind(&mut self, place: Place, press: Press, action: Option<Action>) {
        if self.own(place, press) == action {
            return;
        }
        for bound in self.bound.iter_mut().filter(|b| b.place == place && b.presses.contains(&press)) {
            bound.presses.retain(|p| *p != press);
            bound.rename();
        }
        if let Some(bound) = self.bound.iter_mut().find(|b| b.place == place && Some(b.action) == action) {
            bound.presses.push(press);
            bound.rename();
        }
    }

    /// What can be done in a place and what its name is, whether or not a key is left for it.
    fn actions(&self, place: Place) -> impl Iterator<Item = (String, Action)> {
        self.bound.iter().filter(move |b| b.place == place).map(|b| (format!("{:?}", b.action), b.action))
    }

    /// Whether a place can still be left by an action that the shipped map has for that.
    fn can_be_left(&self, place: Place) -> bool {
        place == Place::Any || self.of(place).any(|b| b.action.leaves())
    }

    fn checked(&self, place: Place, press: Press, action: &str) -> Result<Option<Action>, String> {
        if let Some(fixed) = self.action(place, Some(press)).filter(|a| a.is_fixed()) {
            return Err(format!("`{press}` stays {fixed:?}, expected another key"));
        }
        if action == NOTHING {
            let elsewhere = self.own(place, press).is_none() && self.action(place, Some(press)).is_some();
            let why = || format!("`{press}` counts on any screen, expected it to be changed in {:?}", Place::Any);
            return if elsewhere { Err(why()) } else { Ok(None) };
        }
        let Some((_, known)) = self.actions(place).find(|(name, _)| name == action) else {
            let mut names: Vec<String> = self.actions(place).map(|(name, _)| name).collect();
            names.dedup();
            return Err(format!(
                "`{action}` is no action of {place:?}, expected one of {}, {NOTHING}",
                names.join(", ")
            ));
        };
        if place.takes_text() && press.writes() {
            return Err(format!("`{press}` is typed in {place:?}, expected a key that writes nothing"));
        }
        if known == Action::Numbered && !press.is_digit() {
            return Err(format!("`{press}` is no number, expected 1 to 9 for {action}"));
        }
        Ok(Some(known))
    }
}

impl Bound {
    /// The key that is named in the footer.
    pub(super) fn first(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    /// Whether it is done with Ctrl alone.
    pub(super) fn is_control(&self) -> bool {
        self.presses.iter().all(|p| p.control)
    }

    fn rename(&mut self) {
        self.name = self.presses.iter().map(Press::to_string).collect::<Vec<_>>().join(" ");
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Places)
    }
}

/// The file as a whole.
struct Places;

impl<'de> Visitor<'de> for Places {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ \"Screen\": { \"F5\": \"Freeze\", … }, … }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        let mut keys = Keys::default();
        let mut seen = Vec::new();
        while let Some(place) = map.next_key_seed(Named(|text: &str| place(text, &seen)))? {
            seen.push(place);
            map.next_value_seed(Block { place, keys: &mut keys })?;
        }
        Ok(keys)
    }
}

fn place(text: &str, seen: &[Place]) -> Result<Place, String> {
    let known = Place::ALL.into_iter().find(|p| format!("{p:?}") == text);
    match known {
        Some(place) if seen.contains(&place) => Err(format!("`{text}` stands twice, expected every place once")),
        Some(place) => Ok(place),
        None => {
            let names: Vec<String> = Place::ALL.iter().map(|p| format!("{p:?}")).collect();
            Err(format!("`{text}` is no place, expected one of {}", names.join(", ")))
        }
    }
}

/// A text, and what is made of it where it stands, so that an error has its place.
struct Named<F>(F);

impl<'de, T, F: FnOnce(&str) -> Result<T, String>> DeserializeSeed<'de> for Named<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        from.deserialize_str(self)
    }
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Named<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name in quotes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// What a file says of one place.
struct Block<'a> {
    place: Place,
    keys: &'a mut Keys,
}

impl<'de> DeserializeSeed<'de> for Block<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Block<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys and their actions, { \"F5\": \"Freeze\", … }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = Vec::new();
        while let Some(press) = map.next_key_seed(Named(|text: &str| new_press(text, &seen)))? {
            seen.push(press);
            let action = map.next_value_seed(Named(|text: &str| self.keys.checked(self.place, press, text)))?;
            self.keys.bind(self.place, press, action);
        }
        if self.keys.can_be_left(self.place) {
            return Ok(());
        }
        let leaving: Vec<String> =
            self.keys.actions(self.place).filter(|(_, a)| a.leaves()).map(|(name, _)| name).collect();
        let what = format!("no key is left to leave {:?}, expected one for {}", self.place, leaving.join(" or "));
        Err(A::Error::custom(what))
    }
}

fn new_press(text: &str, seen: &[Press]) -> Result<Press, String> {
    let press = Press::read(text)?;
    if seen.contains(&press) { Err(format!("`{press}` stands twice, expected every key once")) } else { Ok(press) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(keys: &Keys, place: Place, name: &str) -> Option<Action> {
        keys.action(place, Press::read(name).ok())
    }

    #[test]
    fn every_place_can_be_left_and_heeds_the_keys_that_are_fixed() {
        let keys = Keys::default();
        for place in Place::ALL.into_iter().filter(|place| *place != Place::Any) {
            assert!(keys.can_be_left(place), "{place:?}");
            assert_eq!(pressed(&keys, place, "Ctrl-C"), Some(Action::Interrupt), "{place:?}");
            assert_eq!(pressed(&keys, place, "Ctrl-Z"), Some(Action::Suspend), "{place:?}");
            assert!(matches!(pressed(&keys, place, "Esc"), Some(Action::Close | Action::Current)), "{place:?}");
        }
        assert_eq!(Keys::read("k", "{}").unwrap(), keys);
    }

    #[test]
    fn every_shipped_key_is_read_by_its_printed_name() {
        for bound in Keys::default().bound {
            for press in &bound.presses {
                assert_eq!(Press::read(&press.to_string()).unwrap(), *press, "{bound:?}");
            }
            // `1-9` stands for nine keys, and `=` is the same key as `+` without Shift.
            let printed = bound.name.split(' ').all(|name| Press::read(name).is_ok_and(|p| bound.presses.contains(&p)));
            assert!(printed || bound.action == Action::Numbered, "{bound:?}");
        }
    }

    #[test]
    fn a_key_gets_another_action_and_loses_the_one_it_had() {
        let text = "{\n  \"Screen\": { \"F5\": \"Freeze\", \" \": \"None\", \"x\": \"None\", \"q\": \"Note\", \"é\": \"Leave\" },\n}";
        let error = Keys::read("k", text).unwrap_err();
        assert!(error.starts_with("k:2:33: ` ` is no key"), "{error}");
        let keys = Keys::read("k", &text.replace("\" \"", "\"Space\"")).unwrap();
        let of = |name: &str| pressed(&keys, Place::Screen, name);
        assert_eq!((of("F5"), of("Space"), of("x")), (Some(Action::Freeze), None, None));
        assert_eq!((of("q"), of("n"), of("é")), (Some(Action::Note), Some(Action::Note), Some(Action::Leave)));
        assert_eq!(pressed(&keys, Place::Host, "Space"), Some(Action::Freeze), "only the place that is named");
        let briefs: Vec<String> = keys.brief(Place::Screen).map(|(name, b)| format!("{name} {}", b.brief)).collect();
        assert!(briefs.contains(&"F5 freeze".to_owned()) && briefs.contains(&"é leave".to_owned()), "{briefs:?}");
        assert!(!briefs.iter().any(|b| b.contains("stop run")), "{briefs:?}");
        assert_eq!(keys.name(Place::Screen, Action::Leave), "é");
        // What counts on any screen is not promised where its key does something else.
        let taken = Keys::read("k", "{ \"Screen\": { \"f\": \"StopRun\" } }").unwrap();
        let findings = Action::Show(crate::view::tui::sight::Home::Findings);
        assert_eq!((taken.name(Place::Screen, findings), taken.name(Place::Host, findings)), ("", "f"));
        let table = keys.table();
        assert!(table.contains("\n  F5                Freeze        freeze the view"), "{table}");
        assert!(table.contains("\n  n q               Note "), "{table}");
    }

    #[test]
    fn actions_with_a_number_are_named_with_it() {
        let keys = Keys::read("k", "{ \"Host\": { \"J\": \"Scroll(10)\", \"PgDn\": \"Scroll(1)\" } }").unwrap();
        assert_eq!(pressed(&keys, Place::Host, "J"), Some(Action::Scroll(10)));
        assert_eq!(pressed(&keys, Place::Host, "PgDn"), Some(Action::Scroll(1)));
    }

    #[test]
    fn mistakes_are_named_with_their_place_and_what_was_expected() {
        let cases = [
            ("", "k:1:1: "),
            ("{\n  \"Scren\": {} }", "k:2:4: `Scren` is no place, expected one of Screen, Host, "),
            ("{ \"Ask\": {},\n  \"Ask\": {} }", "k:2:4: `Ask` stands twice, expected every place once"),
            ("{ \"Screen\": { \"F13\": \"Freeze\" } }", "k:1:16: `F13` is no key, expected a character, "),
            ("{ \"Screen\": { \"Ctrl-I\": \"Freeze\" } }", "k:1:16: a terminal sends `Ctrl-I` as Tab, expected"),
            (
                "{ \"Screen\": { \"F5\": \"Frieze\" } }",
                "k:1:22: `Frieze` is no action of Screen, expected one of Help, ",
            ),
            ("{ \"Screen\": { \"F5\": \"Yes\" } }", "k:1:22: `Yes` is no action of Screen, expected one of "),
            ("{ \"Screen\": { \"F5\": Freeze } }", "k:1:21: "),
            (
                "{ \"Screen\": { \"F5\": \"Help\",\n \"F5\": \"Freeze\" } }",
                "k:2:3: `F5` stands twice, expected every key",
            ),
            ("{ \"Screen\": { \"Ctrl-L\": \"Help\", \"Ctrl-l\": \"Redraw\" } }", "k:1:34: `Ctrl-L` stands twice"),
            ("{ \"Screen\": { \"Ctrl-C\": \"None\" } }", "k:1:26: `Ctrl-C` stays Interrupt, expected another key"),
            ("{ \"Note\": { \"Ctrl-Z\": \"Erase\" } }", "k:1:24: `Ctrl-Z` stays Suspend, expected another key"),
            ("{ \"Note\": { \"x\": \"Erase\" } }", "k:1:19: `x` is typed in Note, expected a key that writes nothing"),
            ("{ \"Screen\": { \"F5\": \"Numbered\" } }", "k:1:22: `F5` is no number, expected 1 to 9 for Numbered"),
            (
                "{\n  \"Screen\": {\n    \"q\": \"Freeze\",\n  } }",
                "k:4:3: no key is left to leave Screen, expected one for Leave",
            ),
            (
                "{ \"Ask\": { \"n\": \"None\", \"Esc\": \"None\", \"q\": \"None\" } }",
                "k:1:52: no key is left to leave Ask",
            ),
            ("{ \"Screen\": 3 }", "k:1:13: "),
            (
                "{ \"Screen\": { \"f\": \"None\" } }",
                "k:1:21: `f` counts on any screen, expected it to be changed in Any",
            ),
            ("{ “Screen”: {} }", "k:1:3: `“` is a full-width or curly character"),
            ("{ \"Screen\": {} } x", "k:1:18: expected the end of the text, found `x`"),
        ];
        let mut wrong = String::new();
        for (text, expected) in cases {
            let message = Keys::read("k", text).unwrap_err();
            if !message.starts_with(expected) || message.contains('\n') {
                wrong += &format!("{message}\nexpected {expected}\n");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }
}
