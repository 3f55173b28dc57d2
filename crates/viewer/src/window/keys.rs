//! Keys of the window: one table from which both the handler and the help come.

use super::action::{Action, End};
use super::parameters::Edit;
use winit::keyboard::{Key, NamedKey};

/// A key of the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyName {
    Named(NamedKey),
    /// A letter, in lower case.
    Letter(char),
    /// A letter, in lower case, with the control key.
    Control(char),
}

/// Effect of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyEffect {
    /// When the key is pressed.
    Act(Action),
    /// While it is held: dragging pulls particles.
    Pull,
    /// Closes the window.
    Close,
}

/// A key, its label and effect.
pub struct KeyBinding {
    pub key: KeyName,
    pub label: &'static str,
    pub about: &'static str,
    pub effect: KeyEffect,
}

/// Keys of the window.
pub const KEYS: &[KeyBinding] = &[
    named(NamedKey::Space, "space", "play or pause", Action::TogglePlay),
    named(NamedKey::ArrowRight, "→", "one step or frame", Action::Forward),
    named(NamedKey::ArrowLeft, "←", "one step or frame back", Action::Back),
    named(NamedKey::Home, "Home", "first step or frame", Action::ToEnd(End::First)),
    named(NamedKey::End, "End", "last step taken so far, or last frame", Action::ToEnd(End::Last)),
    letter('j', "J", "play a recording backwards, faster when pressed again", Action::Play(End::First)),
    letter('k', "K", "pause", Action::Pause),
    letter('l', "L", "play forwards, a recording faster when pressed again", Action::Play(End::Last)),
    letter('r', "R", "start again, with the present parameters", Action::Reset),
    letter('p', "P", "show or hide the parameters of a simulation", Action::ToggleParameters),
    letter('m', "M", "show or hide the plot of a simulation's metrics", Action::ToggleMetrics),
    letter('c', "C", "show or hide the histogram of the values that are shown", Action::ToggleHistogram),
    letter('s', "S", "write the picture to a PNG file in the current folder", Action::Screenshot),
    letter('v', "V", "begin or end a video in the current folder", Action::ToggleVideo),
    control('z', "Ctrl+Z", "undo the last change of parameters", Action::Edit(Edit::Undo)),
    control('y', "Ctrl+Y", "redo it", Action::Edit(Edit::Redo)),
    letter('h', "H", "show or hide this help", Action::ToggleHelp),
    KeyBinding {
        key: KeyName::Letter('g'),
        label: "G + left drag",
        about: "pull the body or the particles under the pointer, in a running simulation",
        effect: KeyEffect::Pull,
    },
    KeyBinding {
        key: KeyName::Named(NamedKey::Escape),
        label: "Esc",
        about: "close the window",
        effect: KeyEffect::Close,
    },
];

/// Buttons of the pointer, for the help; see [`super::pointer`].
pub const BUTTONS: &[(&str, &str)] = &[
    ("click", "show a particle's values"),
    ("left drag", "orbit"),
    ("right or middle drag", "pan"),
    ("wheel", "zoom"),
];

const fn named(key: NamedKey, label: &'static str, about: &'static str, action: Action) -> KeyBinding {
    KeyBinding { key: KeyName::Named(key), label, about, effect: KeyEffect::Act(action) }
}

const fn letter(key: char, label: &'static str, about: &'static str, action: Action) -> KeyBinding {
    KeyBinding { key: KeyName::Letter(key), label, about, effect: KeyEffect::Act(action) }
}

const fn control(key: char, label: &'static str, about: &'static str, action: Action) -> KeyBinding {
    KeyBinding { key: KeyName::Control(key), label, about, effect: KeyEffect::Act(action) }
}

/// Returns the effect of a key, with or without the control key, if it has one.
pub fn effect_of(key: &Key, is_control: bool) -> Option<&'static KeyEffect> {
    let is = |binding: &&KeyBinding| match (binding.key, key) {
        (KeyName::Named(own), Key::Named(key)) => own == *key,
        (KeyName::Letter(own), Key::Character(text)) => !is_control && text.to_lowercase().chars().eq([own]),
        (KeyName::Control(own), Key::Character(text)) => is_control && text.to_lowercase().chars().eq([own]),
        _ => false,
    };
    KEYS.iter().find(is).map(|binding| &binding.effect)
}

/// Returns the lines of the help: keys and buttons, and their effects.
pub fn help() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().map(|binding| (binding.label, binding.about)).chain(BUTTONS.iter().copied())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    #[test]
    fn every_key_is_handled_once_and_in_the_help() {
        for (place, binding) in KEYS.iter().enumerate() {
            let upper = |letter: char| Key::Character(letter.to_uppercase().to_string().into());
            let (key, is_control) = match binding.key {
                KeyName::Named(key) => (Key::Named(key), false),
                KeyName::Letter(letter) => (upper(letter), false),
                KeyName::Control(letter) => (upper(letter), true),
            };
            assert_eq!(effect_of(&key, is_control), Some(&binding.effect), "{}", binding.label);
            assert!(KEYS[..place].iter().all(|other| other.key != binding.key), "{} twice", binding.label);
            assert!(help().any(|(label, about)| label == binding.label && about == binding.about));
        }
        for key in [Key::Character("x".into()), Key::Named(NamedKey::Tab)] {
            assert_eq!([false, true].map(|is_control| effect_of(&key, is_control)), [None, None]);
        }
    }
}
