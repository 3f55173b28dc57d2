//! Panel over the picture: display settings, timings and controls.

use super::action::{Action, End};
use super::keys;
use super::live::KernelTime;
use super::parameters::Parameters;
use super::parameters_panel;
use egui::{Align2, Color32, ComboBox, FontId, Frame, Grid, Rect, RichText, Sense, Slider, Ui, Window, vec2};
use frazil_scene::RenderScheme;

/// Data shown by the panel.
pub struct Status<'a> {
    pub title: &'a str,
    pub device: &'a str,
    pub playing: bool,
    pub step: u64,
    pub time_s: f64,
    pub n_particles: usize,
    pub pictures_per_s: f64,
    pub colour_by: &'a str,
    /// Names of the properties by which particles can be coloured.
    pub properties: &'a [String],
    pub scheme: RenderScheme,
    pub schemes: &'a [RenderScheme],
    /// True if the help is shown.
    pub help: bool,
    pub source: SourceStatus<'a>,
}

/// Data specific to a simulation or to a recording.
pub enum SourceStatus<'a> {
    Live {
        steps_per_s: f64,
        steps_per_picture: u64,
        /// Labels and values of the last metrics.
        highlights: &'a [(String, String)],
        kernels: &'a [KernelTime],
        /// Parameters, unless they are hidden.
        parameters: Option<&'a Parameters>,
    },
    Recording {
        frame: usize,
        n_frames: usize,
        speed: f64,
        is_growing: bool,
    },
}

/// Maximum number of steps between two pictures.
const MAX_STEPS_PER_PICTURE: u64 = 64;
/// Maximum number of recorded frames per picture, and the minimum that the slider distinguishes from 0.
pub const MAX_SPEED: f64 = 256.0;
const MIN_SPEED: f64 = 0.01;
const WIDTH: f32 = 270.0;

/// Shows the panel and returns the requested actions.
pub fn show(ctx: &egui::Context, status: &Status<'_>) -> Vec<Action> {
    let mut actions = Vec::new();
    let fill = Color32::from_rgba_unmultiplied(18, 20, 25, 225);
    let frame = Frame::window(&ctx.global_style()).fill(fill).inner_margin(12.0);
    Window::new(status.title)
        .anchor(Align2::LEFT_TOP, [14.0, 14.0])
        .resizable(false)
        .frame(frame)
        .default_width(WIDTH)
        .show(ctx, |ui| {
            ui.set_width(WIDTH);
            controls(ui, status, &mut actions);
            ui.separator();
            numbers(ui, status);
            ui.separator();
            colours(ui, status, &mut actions);
            if let SourceStatus::Live { kernels, parameters, .. } = status.source {
                if let Some(parameters) = parameters {
                    ui.separator();
                    parameters_panel::show(ui, parameters, &mut actions);
                }
                ui.separator();
                kernel_times(ui, kernels, parameters.is_none());
            }
            ui.add_space(4.0);
            ui.label(RichText::new(status.device).weak().small());
        });
    if status.help {
        help(ctx, frame);
    }
    actions
}

/// Lists the keys.
fn help(ctx: &egui::Context, frame: Frame) {
    Window::new("Keys").anchor(Align2::CENTER_CENTER, [0.0, 0.0]).resizable(false).frame(frame).show(
        ctx,
        |ui| {
            Grid::new("keys").num_columns(2).spacing([18.0, 3.0]).show(ui, |ui| {
                for (label, about) in keys::help() {
                    ui.label(RichText::new(label).monospace());
                    ui.label(about);
                    ui.end_row();
                }
            });
        },
    );
}

fn controls(ui: &mut Ui, status: &Status<'_>, actions: &mut Vec<Action>) {
    let mut button = |ui: &mut Ui, text: &str, key: &str, action: Action| {
        if ui.button(text).on_hover_text(key).clicked() {
            actions.push(action);
        }
    };
    ui.horizontal(|ui| {
        button(ui, if status.playing { "⏸ Pause" } else { "▶ Play" }, "space", Action::TogglePlay);
        match status.source {
            SourceStatus::Live { .. } => button(ui, "⏭ Step", "→", Action::Forward),
            SourceStatus::Recording { .. } => {
                button(ui, "⏪", "J", Action::Play(End::First));
                button(ui, "⏴", "←", Action::Back);
                button(ui, "⏵", "→", Action::Forward);
                button(ui, "⏩", "L", Action::Play(End::Last));
            }
        }
        button(ui, "⟲ Reset", "R", Action::Reset);
    });
    match status.source {
        SourceStatus::Live { steps_per_picture, .. } => {
            let mut steps = steps_per_picture;
            let slider =
                Slider::new(&mut steps, 1..=MAX_STEPS_PER_PICTURE).text("steps per frame").logarithmic(true);
            if ui.add(slider).changed() {
                actions.push(Action::StepsPerPicture(steps));
            }
        }
        SourceStatus::Recording { frame, n_frames, speed, .. } => {
            let mut requested = frame;
            ui.spacing_mut().slider_width = WIDTH - 90.0;
            if ui.add(Slider::new(&mut requested, 0..=n_frames - 1).text("frame")).changed() {
                actions.push(Action::Seek(requested));
            }
            let mut requested = speed;
            let slider = Slider::new(&mut requested, -MAX_SPEED..=MAX_SPEED)
                .logarithmic(true)
                .smallest_positive(MIN_SPEED)
                .max_decimals(2)
                .text("speed");
            if ui.add(slider).on_hover_text("recorded frames per picture; below 0 backwards").changed() {
                actions.push(Action::Speed(requested));
            }
        }
    }
}

fn numbers(ui: &mut Ui, status: &Status<'_>) {
    Grid::new("numbers").num_columns(2).spacing([18.0, 3.0]).show(ui, |ui| {
        let mut row = |name: &str, value: String| {
            ui.label(RichText::new(name).weak());
            ui.label(RichText::new(value).monospace());
            ui.end_row();
        };
        row("time", format!("{:.3} s", status.time_s));
        row("step", status.step.to_string());
        row("particles", status.n_particles.to_string());
        row("frame rate", format!("{:.1} fps", status.pictures_per_s));
        if let SourceStatus::Recording { frame, n_frames, is_growing, .. } = status.source {
            let end = if is_growing { ", open" } else { "" };
            row("frame", format!("{frame} of {n_frames}{end}"));
        }
        if let SourceStatus::Live { steps_per_s, highlights, .. } = status.source {
            row("steps", format!("{steps_per_s:.1} per second"));
            for (label, value) in highlights {
                row(label, value.clone());
            }
        }
    });
}

fn colours(ui: &mut Ui, status: &Status<'_>, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.label("draw");
        ComboBox::from_id_salt("draw").selected_text(status.scheme.name()).show_ui(ui, |ui| {
            for &scheme in status.schemes {
                if ui.selectable_label(scheme == status.scheme, scheme.name()).clicked() {
                    actions.push(Action::Scheme(scheme));
                }
            }
        });
    });
    if status.scheme.has_surface() {
        return;
    }
    ui.horizontal(|ui| {
        ui.label("colour by");
        ComboBox::from_id_salt("colour by").selected_text(status.colour_by).show_ui(ui, |ui| {
            for property in status.properties {
                if ui.selectable_label(property == status.colour_by, property).clicked() {
                    actions.push(Action::ColourBy(property.clone()));
                }
            }
        });
    });
}

/// Draws one bar per kernel, as long as its share of the step; at first closed beside the parameters, which
/// need the height.
fn kernel_times(ui: &mut Ui, kernels: &[KernelTime], is_open: bool) {
    let total_ms: f64 = kernels.iter().map(|kernel| kernel.ms_per_step).sum();
    let heading = format!("kernels: {total_ms:.2} ms a step");
    egui::CollapsingHeader::new(heading).id_salt(("kernels", is_open)).default_open(is_open).show_unindented(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for KernelTime { kernel, ms_per_step } in kernels {
                let share = if total_ms > 0.0 { ms_per_step / total_ms } else { 0.0 };
                bar(ui, share as f32, kernel, &format!("{ms_per_step:.3} ms"));
            }
        },
    );
}

/// Draws a line of text with a bar behind it that fills `share` of the width.
fn bar(ui: &mut Ui, share: f32, left: &str, right: &str) {
    const HEIGHT: f32 = 15.0;
    const MARGIN: f32 = 4.0;
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let filled = Rect::from_min_size(rect.min, vec2(share * rect.width(), HEIGHT));
    let painter = ui.painter();
    painter.rect_filled(rect, 2.0, Color32::from_rgb(30, 33, 40));
    painter.rect_filled(filled, 2.0, Color32::from_rgb(38, 92, 120));
    let (font, ink) = (FontId::proportional(11.0), Color32::from_gray(215));
    let inner = rect.shrink2(vec2(MARGIN, 0.0));
    painter.text(inner.left_center(), Align2::LEFT_CENTER, left, font.clone(), ink);
    painter.text(inner.right_center(), Align2::RIGHT_CENTER, right, font, ink);
}
