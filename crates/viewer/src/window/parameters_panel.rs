//! Part of the panel with the parameters of a running simulation.

use super::action::Action;
use super::parameters::{Edit, Parameters};
use egui::{Button, Color32, DragValue, Response, RichText, ScrollArea, Slider, Ui};
use frazil_scene::{LiveParameter, LiveValue};

/// Height in points that is left below the parameters, for the rest of the panel.
const HEIGHT_BELOW: f32 = 110.0;
/// Least height in points of the list of parameters, whatever the window's.
const MIN_HEIGHT: f32 = 120.0;
/// Share of a range's end below which a logarithmic slider shows 0.
const SMALLEST_SHARE: f64 = 1e-6;

/// Shows the parameters; what the user requests is appended to `actions`.
pub fn show(ui: &mut Ui, parameters: &Parameters, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.strong("Parameters");
        let mut button = |ui: &mut Ui, is_enabled: bool, text: &str, about: &str, edit: Edit| {
            let button = ui.add_enabled(is_enabled, Button::new(text).small());
            if button.on_hover_text(about).clicked() {
                actions.push(Action::Edit(edit));
            }
        };
        let [can_undo, can_redo] = parameters.can_undo_redo();
        button(ui, can_undo, "undo", "the last change (Ctrl+Z)", Edit::Undo);
        button(ui, can_redo, "redo", "the change that was undone last (Ctrl+Y)", Edit::Redo);
        button(ui, true, "⟲ all", "all values of the scene file", Edit::ResetAll);
        let about = "a scene file with these values, beside the original";
        button(ui, true, "write scene", about, Edit::WriteScene);
    });
    if let Some((message, is_error)) = &parameters.message {
        let ink = if *is_error { Color32::from_rgb(255, 120, 100) } else { Color32::from_gray(200) };
        ui.label(RichText::new(message).color(ink).small());
    }
    // As far down as the window is high.
    let left = ui.ctx().content_rect().bottom() - ui.cursor().top() - HEIGHT_BELOW;
    ScrollArea::vertical().max_height(left.max(MIN_HEIGHT)).show(ui, |ui| {
        for (place, parameter) in parameters.list.iter().enumerate() {
            row(ui, parameter, parameters.is_changed(place), actions);
        }
    });
}

fn row(ui: &mut Ui, parameter: &LiveParameter, is_changed: bool, actions: &mut Vec<Action>) {
    let LiveParameter { key, unit, description, .. } = parameter;
    ui.horizontal(|ui| {
        let name = RichText::new(&parameter.name);
        ui.label(if is_changed { name.strong() } else { name.weak() })
            .on_hover_text(format!("{key}\n{description}"));
        if is_changed && ui.small_button("⟲").on_hover_text("value of the scene file").clicked() {
            actions.push(Action::Edit(Edit::Reset(key.clone())));
        }
    });
    ui.push_id(key, |ui| {
        if let Some((value, response)) = control(ui, parameter) {
            let is_final = !response.dragged();
            if response.changed() || response.drag_stopped() {
                actions.push(Action::Edit(Edit::Set { key: key.clone(), value, is_final }));
            }
            response.on_hover_text(if unit.is_empty() {
                description.clone()
            } else {
                format!("{description} [{unit}]")
            });
        }
    });
}

/// Shows the control of a value, and returns the value with the response.
fn control(ui: &mut Ui, parameter: &LiveParameter) -> Option<(LiveValue, Response)> {
    let [min, max] = parameter.range;
    let suffix = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
    match parameter.value {
        LiveValue::Number(mut x) => {
            let slider = Slider::new(&mut x, min..=max)
                .logarithmic(parameter.is_logarithmic)
                .smallest_positive(SMALLEST_SHARE * max)
                .clamping(egui::SliderClamping::Never)
                .suffix(suffix);
            let response = ui.add(slider);
            Some((LiveValue::Number(x), response))
        }
        LiveValue::Whole(mut n) => {
            let slider = Slider::new(&mut n, min as u64..=max as u64)
                .logarithmic(parameter.is_logarithmic)
                .clamping(egui::SliderClamping::Never);
            let response = ui.add(slider);
            Some((LiveValue::Whole(n), response))
        }
        LiveValue::Vector(mut v) => {
            let speed = 0.005 * (max - min);
            let fields = ui.horizontal(|ui| {
                let mut field = |ui: &mut Ui, axis: usize, name: &str| {
                    ui.add(DragValue::new(&mut v[axis]).speed(speed).max_decimals(3).prefix(name))
                };
                let first = field(ui, 0, "x ");
                let second = field(ui, 1, "y ");
                let third = field(ui, 2, "z ");
                ui.label(RichText::new(suffix).weak().small());
                first.union(second).union(third)
            });
            Some((LiveValue::Vector(v), fields.inner))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Event, Key, Modifiers, PointerButton, Pos2, RawInput, vec2};
    use frazil_scene::Scene;

    /// Lays out the panel of a scene and returns the texts in it with their places, and all requested edits.
    fn lay_out(
        parameters: &Parameters,
        events: Vec<Event>,
        ctx: &egui::Context,
    ) -> (Vec<(String, Pos2)>, Vec<Action>) {
        lay_out_in(parameters, events, ctx, 2000.0)
    }

    /// Lays out the panel in a window of this height.
    fn lay_out_in(
        parameters: &Parameters,
        events: Vec<Event>,
        ctx: &egui::Context,
        height: f32,
    ) -> (Vec<(String, Pos2)>, Vec<Action>) {
        let mut actions = Vec::new();
        let screen_rect = Some(egui::Rect::from_min_size(Pos2::ZERO, vec2(800.0, height)));
        let input = RawInput { events, screen_rect, ..Default::default() };
        let mut output = ctx.run_ui(input, |ui| show(ui, parameters, &mut actions));
        // Nothing is drawn.
        output.textures_delta.clear();
        let mut texts = Vec::new();
        for shape in &output.shapes {
            collect(&shape.shape, &mut texts);
        }
        (texts, actions)
    }

    fn collect(shape: &egui::Shape, texts: &mut Vec<(String, Pos2)>) {
        match shape {
            egui::Shape::Text(text) => texts.push((text.galley.text().to_owned(), text.pos)),
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
            _ => {}
        }
    }

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]
    fn a_dragged_slider_asks_for_values_and_at_the_end_for_the_final_one() {
        let scene = Scene::find("dam_break", &[]).unwrap();
        let parameters = Parameters::new(&scene, "dam_break");
        let ctx = egui::Context::default();
        lay_out(&parameters, Vec::new(), &ctx);
        let (texts, _) = lay_out(&parameters, Vec::new(), &ctx);
        let (_, name) = texts.iter().find(|(text, _)| text == "wall friction").unwrap();
        let on_slider = |x: f32| *name + vec2(x, 28.0);
        let button = |x: f32, pressed: bool| Event::PointerButton {
            pos: on_slider(x),
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        let mut sets = Vec::new();
        for event in [
            Event::PointerMoved(on_slider(20.0)),
            button(20.0, true),
            Event::PointerMoved(on_slider(50.0)),
            button(50.0, false),
        ] {
            for action in lay_out(&parameters, vec![event], &ctx).1 {
                match action {
                    Action::Edit(Edit::Set { key, value: LiveValue::Number(x), is_final }) => {
                        assert_eq!(key, "fluid.wall_friction");
                        assert!((0.0..=100.0).contains(&x), "{x}");
                        sets.push(is_final);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(sets.len() >= 2 && sets.pop() == Some(true) && !sets.contains(&true), "{sets:?}");
    }

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]
    fn a_higher_window_shows_more_parameters() {
        let scene = Scene::find("dam_break", &[]).unwrap();
        let parameters = Parameters::new(&scene, "dam_break");
        let n_shown = |height: f32| {
            let ctx = egui::Context::default();
            lay_out_in(&parameters, Vec::new(), &ctx, height);
            let (texts, _) = lay_out_in(&parameters, Vec::new(), &ctx, height);
            let is_name = |text: &&(String, Pos2)| parameters.list.iter().any(|p| p.name == text.0);
            texts.iter().filter(is_name).count()
        };
        let [low, high] = [300.0, 2000.0].map(n_shown);
        assert!(0 < low && low < high, "{low} {high}");
        assert_eq!(high, parameters.list.len());
    }

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]
    fn the_panel_shows_names_units_and_errors_and_asks_for_nothing_untouched() {
        let scene = Scene::find("dam_break", &[]).unwrap();
        let mut parameters = Parameters::new(&scene, "dam_break");
        parameters.message = Some(("found -1.0, expected more".to_owned(), true));
        let ctx = egui::Context::default();
        lay_out(&parameters, Vec::new(), &ctx);
        let (texts, actions) = lay_out(&parameters, Vec::new(), &ctx);
        for text in [
            "gravity",
            "wall friction",
            "dynamic viscosity",
            "write scene",
            "found -1.0, expected more",
            "m/s²",
        ] {
            assert!(texts.iter().any(|(found, _)| found.contains(text)), "{text}: {texts:?}");
        }
        assert_eq!(actions, []);
        let tab = Event::Key {
            key: Key::Tab,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        assert_eq!(lay_out(&parameters, vec![tab], &ctx).1, []);
    }
}
