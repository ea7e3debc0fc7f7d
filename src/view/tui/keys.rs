//! The table of keys: one line a key. What is pressed, what it does, where it counts, and the words of the help and the footer.

use ratatui::crossterm::event::KeyCode;

use super::sight::Home as Screen;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Help,
    Leave,
    Interrupt,
    StopRun,
    Freeze,
    Note,
    Next,
    Previous,
    Numbered,
    Current,
    ZoomIn,
    ZoomOut,
    Fit,
    Earlier,
    Later,
    Cursor,
    NextFinding,
    PreviousFinding,
    Slower,
    Faster,
    /// Another screen, and from it back.
    Show(Screen),
    /// The picture of the screen into a file.
    Keep,
    /// The network in bits or bytes.
    Bits,
    First,
    Last,
    /// So many pages down.
    Page(i8),
    /// The chosen entry over the whole screen.
    Expand,
    Filter,
    /// To the time of the chosen entry.
    Go,
    /// The next part of the host screen.
    Section,
    /// So many lines down.
    Scroll(i8),
    Redraw,
    /// The next theme.
    NextTheme,
    /// The theme before.
    PreviousTheme,
    /// Back to the shell, which can bring the screen to the foreground again.
    Suspend,
    Close,
    GoOn,
    StopSession,
    Yes,
    Send,
    Erase,
    Start,
}

impl Action {
    /// Whether it is a way out of the place where it counts.
    pub(super) fn leaves(self) -> bool {
        matches!(self, Self::Leave | Self::Close | Self::GoOn)
    }

    /// Whether its keys are the same everywhere and for everybody.
    pub(super) fn is_fixed(self) -> bool {
        matches!(self, Self::Interrupt | Self::Suspend)
    }
}

/// Where a key counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing is open.
    Screen,
    /// The host screen.
    Host,
    /// Any other screen: a list or a text.
    Page,
    /// Every screen, where it has no other meaning.
    Any,
    /// The words that lines have to have.
    Filter,
    /// The help.
    Help,
    /// The question of how to leave.
    Leave,
    /// A question of yes or no.
    Ask,
    /// The line of a remark.
    Note,
    /// The list of presets.
    List,
}

impl Place {
    /// Every place.
    pub(super) const ALL: [Self; 10] = [
        Self::Screen,
        Self::Host,
        Self::Page,
        Self::Any,
        Self::Filter,
        Self::Help,
        Self::Leave,
        Self::Ask,
        Self::Note,
        Self::List,
    ];

    /// Whether nothing is open above a screen.
    pub(super) fn is_screen(self) -> bool {
        matches!(self, Self::Screen | Self::Host | Self::Page)
    }

    /// Whether characters are typed there.
    pub(super) fn takes_text(self) -> bool {
        matches!(self, Self::Note | Self::Filter)
    }
}

/// One line of the table.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) place: Place,
    pub(super) codes: &'static [KeyCode],
    pub(super) control: bool,
    pub(super) action: Action,
    /// The key as printed.
    pub(super) name: &'static str,
    /// What it does, for the help.
    pub(super) does: &'static str,
    /// The same in a word or two, for the footer; empty for keys that are not named there.
    pub(super) brief: &'static str,
}

const fn key(place: Place, codes: &'static [KeyCode], action: Action, name: &'static str, does: &'static str) -> Key {
    Key { place, codes, control: false, action, name, does, brief: "" }
}

const fn control(
    place: Place,
    codes: &'static [KeyCode],
    action: Action,
    name: &'static str,
    does: &'static str,
) -> Key {
    Key { control: true, ..key(place, codes, action, name, does) }
}

impl Key {
    const fn brief(self, brief: &'static str) -> Self {
        Self { brief, ..self }
    }
}

use KeyCode::{BackTab, Backspace, Char, Down, End, Enter, Esc, F, Home, Left, PageDown, PageUp, Right, Tab, Up};

const DIGITS: &[KeyCode] =
    &[Char('1'), Char('2'), Char('3'), Char('4'), Char('5'), Char('6'), Char('7'), Char('8'), Char('9')];

/// Every key there is.
#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key(Place::Page, &[Esc], Action::Close, "Esc", "close the entry, the filter, the screen").brief("back"),
    key(Place::Page, &[Enter, Char('e')], Action::Expand, "Enter e", "the chosen entry over the whole screen").brief("open"),
    key(Place::Page, &[Char('/')], Action::Filter, "/", "list only lines with these words").brief("filter"),
    key(Place::Page, &[Char('t')], Action::Go, "t", "go to its time on the live screen").brief("time"),
    key(Place::Page, &[Down, Char('j')], Action::Scroll(1), "Down j", "the next line"),
    key(Place::Page, &[Up, Char('k')], Action::Scroll(-1), "Up k", "the line before"),
    key(Place::Page, &[PageDown], Action::Page(1), "PgDn", "a page down"),
    key(Place::Page, &[PageUp], Action::Page(-1), "PgUp", "a page up"),
    key(Place::Page, &[Char('g'), Home], Action::First, "g Home", "to the first line"),
    key(Place::Page, &[Char('G'), End], Action::Last, "G End", "to the last line, and stay there"),
    key(Place::Page, &[Char('?'), F(1)], Action::Help, "? F1", "this help").brief("help"),
    key(Place::Page, &[Char('q')], Action::Leave, "q", "leave; asks whether the session goes on").brief("leave"),
    key(Place::Page, &[Char(' ')], Action::Freeze, "Space", "freeze the view; the load goes on"),
    key(Place::Page, &[Char('n')], Action::Note, "n", "a remark into the record"),
    control(Place::Page, &[Char('l')], Action::Redraw, "Ctrl-L", "draw everything anew"),
    control(Place::Page, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back"),
    control(Place::Page, &[Char('c')], Action::Interrupt, "Ctrl-C", "stop the session; a second one at once"),
    key(Place::Host, &[Esc, Char('H')], Action::Close, "Esc H", "back to the run").brief("back"),
    key(Place::Host, &[Tab], Action::Section, "Tab", "give the room to the CPUs, the disks, the NICs, or share it").brief("section"),
    key(Place::Any, &[Char('f')], Action::Show(Screen::Findings), "f", "findings and their causes").brief("findings"),
    key(Place::Any, &[Char('v')], Action::Show(Screen::Verdict), "v", "the verdict, by checks").brief("verdict"),
    key(Place::Any, &[Char('H')], Action::Show(Screen::Host), "H", "every CPU, disk and NIC").brief("host"),
    key(Place::Any, &[Char('L')], Action::Show(Screen::Log), "L", "all that was said").brief("log"),
    key(Place::Screen, &[Char('?'), F(1)], Action::Help, "? F1", "this help").brief("help"),
    key(Place::Screen, &[Char('q')], Action::Leave, "q", "leave the screen; asks whether the session goes on").brief("leave"),
    key(Place::Screen, &[Char(' ')], Action::Freeze, "Space", "freeze the view, never the load; in a replay, play and pause").brief("freeze"),
    key(Place::Screen, &[Tab, Down, Char('j')], Action::Next, "Tab Down j", "choose the next run").brief("run"),
    key(Place::Screen, &[BackTab, Up, Char('k')], Action::Previous, "S-Tab Up k", "choose the run before"),
    key(Place::Screen, DIGITS, Action::Numbered, "1-9", "choose a run by its place"),
    key(Place::Screen, &[Char('+'), Char('=')], Action::ZoomIn, "+", "show less time").brief("zoom"),
    key(Place::Screen, &[Char('-')], Action::ZoomOut, "-", "show more time, up to the whole session"),
    key(Place::Screen, &[Char('0')], Action::Fit, "0", "show the run from its beginning"),
    key(Place::Screen, &[Left, Char('h')], Action::Earlier, "Left h", "back in time; with the cursor on, move it"),
    key(Place::Screen, &[Right, Char('l')], Action::Later, "Right l", "forward in time; with the cursor on, move it"),
    key(Place::Screen, &[End, Esc], Action::Current, "End Esc", "back to now, and to the run under way"),
    key(Place::Screen, &[Char('c')], Action::Cursor, "c", "cursor on and off: the values at one instant").brief("cursor"),
    key(Place::Screen, &[Char(']')], Action::NextFinding, "]", "the next finding: its run, and the cursor on its beginning"),
    key(Place::Screen, &[Char('[')], Action::PreviousFinding, "[", "the finding before"),
    key(Place::Screen, &[Char('>'), Char('.')], Action::Faster, "> .", "replay twice as fast"),
    key(Place::Screen, &[Char('<'), Char(',')], Action::Slower, "< ,", "replay half as fast"),
    key(Place::Screen, &[Char('n')], Action::Note, "n", "put a remark on the time axis and into the record"),
    key(Place::Screen, &[Char('x')], Action::StopRun, "x", "stop the run under way and go on with the next").brief("stop run"),
    control(Place::Screen, &[Char('l')], Action::Redraw, "Ctrl-L", "draw everything anew"),
    control(Place::Screen, &[Char('c')], Action::Interrupt, "Ctrl-C", "stop the session cleanly; a second one stops at once"),
    control(Place::Screen, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back, the session goes on"),
    key(Place::Host, &[Char('?'), F(1)], Action::Help, "? F1", "this help").brief("help"),
    key(Place::Host, &[Char('q')], Action::Leave, "q", "leave the screen; asks whether the session goes on").brief("leave"),
    key(Place::Host, &[Down, Char('j')], Action::Scroll(1), "Down j", "scroll the section that has the room").brief("scroll"),
    key(Place::Host, &[Up, Char('k')], Action::Scroll(-1), "Up k", "scroll it back"),
    key(Place::Host, &[PageDown], Action::Scroll(10), "PgDn", "scroll it by ten lines"),
    key(Place::Host, &[PageUp], Action::Scroll(-10), "PgUp", "scroll it back by ten lines"),
    key(Place::Host, &[Char('g'), Home], Action::First, "g Home", "to its first line"),
    key(Place::Host, &[Char('G'), End], Action::Last, "G End", "to its last line"),
    key(Place::Host, &[Char('/')], Action::Filter, "/", "list only devices with these words").brief("filter"),
    key(Place::Filter, &[Enter], Action::Send, "Enter", "list only those lines").brief("keep"),
    key(Place::Filter, &[Esc], Action::Close, "Esc", "list all again").brief("all"),
    key(Place::Filter, &[Backspace], Action::Erase, "Backspace", "erase the last character"),
    control(Place::Filter, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back"),
    control(Place::Filter, &[Char('c')], Action::Interrupt, "Ctrl-C", "stop the session"),
    key(Place::Host, &[Char(' ')], Action::Freeze, "Space", "freeze the view and let it go; the load and record go on").brief("freeze"),
    control(Place::Host, &[Char('l')], Action::Redraw, "Ctrl-L", "draw everything anew"),
    control(Place::Host, &[Char('c')], Action::Interrupt, "Ctrl-C", "stop the session cleanly; a second one stops at once"),
    control(Place::Host, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back, the session goes on"),
    key(Place::Help, &[Esc, Char('q'), Char('?'), F(1), Enter, Char(' ')], Action::Close, "Esc", "close").brief("close"),
    key(Place::Help, &[Down, Char('j')], Action::Scroll(1), "Down j", "scroll").brief("scroll"),
    key(Place::Help, &[Up, Char('k')], Action::Scroll(-1), "Up k", "scroll back"),
    key(Place::Help, &[PageDown], Action::Scroll(10), "PgDn", "scroll by ten lines"),
    key(Place::Help, &[PageUp], Action::Scroll(-10), "PgUp", "scroll back by ten lines"),
    control(Place::Help, &[Char('c')], Action::Interrupt, "Ctrl-C", "stop the session"),
    control(Place::Help, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back, the session goes on"),
    key(Place::Leave, &[Char('l'), Char('q')], Action::GoOn, "l", "leave the screen, the session goes on").brief("leave"),
    key(Place::Leave, &[Char('s')], Action::StopSession, "s", "stop the session and wait for its verdict").brief("stop"),
    key(Place::Leave, &[Esc, Char('c'), Char('n')], Action::Close, "Esc", "cancel").brief("cancel"),
    control(Place::Leave, &[Char('c')], Action::Interrupt, "Ctrl-C", "stop the session"),
    control(Place::Leave, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back, the session goes on"),
    key(Place::Ask, &[Char('y')], Action::Yes, "y", "yes").brief("yes"),
    key(Place::Ask, &[Char('n'), Esc, Char('q')], Action::Close, "n", "no").brief("no"),
    control(Place::Ask, &[Char('c')], Action::Interrupt, "Ctrl-C", "no; on the live screen, stop the session"),
    control(Place::Ask, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back, the session goes on"),
    key(Place::Note, &[Enter], Action::Send, "Enter", "record the remark").brief("record"),
    key(Place::Note, &[Esc], Action::Close, "Esc", "discard it").brief("discard"),
    key(Place::Note, &[Backspace], Action::Erase, "Backspace", "erase the last character"),
    control(Place::Note, &[Char('c')], Action::Interrupt, "Ctrl-C", "stop the session"),
    control(Place::Note, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back, the session goes on"),
    key(Place::List, &[Down, Char('j'), Tab], Action::Next, "Down j", "the next preset").brief("next"),
    key(Place::List, &[Up, Char('k'), BackTab], Action::Previous, "Up k", "the preset before").brief("before"),
    key(Place::List, &[Enter], Action::Start, "Enter", "start it").brief("start"),
    key(Place::List, &[Char('q'), Esc], Action::Close, "q Esc", "leave; nothing has been loaded").brief("leave"),
    control(Place::List, &[Char('c')], Action::Interrupt, "Ctrl-C", "leave"),
    control(Place::List, &[Char('z')], Action::Suspend, "Ctrl-Z", "to the shell; `fg` comes back"),
    control(Place::List, &[Char('l')], Action::Redraw, "Ctrl-L", "draw everything anew"),
    key(Place::Any, &[Char('i')], Action::Show(Screen::Inventory), "i", "what the node is made of").brief("inventory"),
    key(Place::Any, &[Char('C')], Action::Show(Screen::Compare), "C", "beside the references").brief("compare"),
    key(Place::Any, &[Char('b')], Action::Bits, "b", "network in bits or bytes"),
    key(Place::Any, &[Char('p')], Action::NextTheme, "p", "the next theme"),
    key(Place::Any, &[Char('P')], Action::PreviousTheme, "P", "the theme before"),
    key(Place::Any, &[Char('s')], Action::Keep, "s", "keep this picture in a file").brief("picture"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        let mut seen = Vec::new();
        for key in KEYS {
            for code in key.codes {
                let one = (key.place as u8, key.control, *code);
                assert!(!seen.contains(&one), "{one:?} twice");
                seen.push(one);
            }
        }
    }

    #[test]
    fn what_counts_everywhere_means_nothing_else_on_a_screen() {
        let everywhere: Vec<&Key> = KEYS.iter().filter(|k| k.place == Place::Any).collect();
        assert!(!everywhere.is_empty());
        for key in KEYS.iter().filter(|k| k.place.is_screen() && k.action != Action::Close) {
            let same =
                |other: &&&Key| other.control == key.control && other.codes.iter().any(|c| key.codes.contains(c));
            assert_eq!(everywhere.iter().find(same).map(|k| k.name), None, "{:?} {}", key.place, key.name);
        }
    }

    #[test]
    fn every_key_is_documented() {
        assert!(KEYS.iter().all(|k| !k.name.is_empty() && !k.does.is_empty() && !k.codes.is_empty()));
    }
}
