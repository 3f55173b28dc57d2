//! Panel over the picture: display settings, timings and controls.

use super::action::{Action, End};
use super::colours_panel::{self, ColoursStatus};
use super::keys;
use super::live::KernelTime;
use super::parameters::Parameters;
use super::parameters_panel;
use super::picked::{PairsOfKind, Picked};
use super::series::Series;
use egui::{
    Align2, Color32, ComboBox, FontId, Frame, Grid, Rect, RichText, ScrollArea, Sense, Slider, Ui, Window,
    vec2,
};
use egui_plot::{Line, Plot};

/// Data shown by the panel.
pub struct Status<'a> {
    pub title: &'a str,
    pub device: &'a str,
    pub playing: bool,
    pub step: u64,
    pub time_s: f64,
    pub n_particles: usize,
    pub pictures_per_s: f64,
    pub colours: ColoursStatus<'a>,
    /// Values of the chosen particle.
    pub picked: Option<&'a Picked>,
    /// Last message, such as the name of a file.
    pub message: Option<&'a str>,
    /// Errors of shaders that are compiled while the program runs.
    pub shader_errors: &'a [&'a str],
    /// True while a video is written.
    pub is_filming: bool,
    /// True if the help is shown.
    pub help: bool,
    pub source: SourceStatus<'a>,
}

/// Data specific to a simulation or to a recording.
pub enum SourceStatus<'a> {
    Live {
        steps_per_s: f64,
        steps_per_picture: u64,
        /// Last step taken so far.
        last_step: u64,
        /// Metrics so far and the index of the one that is plotted, if the plot is shown.
        plot: Option<(&'a Series, usize)>,
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
/// Maximum height of the list of a particle's bonds and contacts.
const PAIRS_HEIGHT: f32 = 240.0;

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
            colours_panel::show(ui, &status.colours, &mut actions);
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
    if let Some(picked) = status.picked {
        particle(ctx, frame, picked, &mut actions);
    }
    if let SourceStatus::Live { plot: Some((series, metric)), .. } = status.source {
        plot(ctx, frame, series, metric, &mut actions);
    }
    if !status.shader_errors.is_empty() {
        shader_errors(ctx, frame, status.shader_errors);
    }
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

/// Shows the errors of shaders; those in use stay as they were.
fn shader_errors(ctx: &egui::Context, frame: Frame, errors: &[&str]) {
    const SIZE: [f32; 2] = [620.0, 300.0];
    Window::new("Shaders with errors: their former code is in use")
        .id("shader errors".into())
        .anchor(Align2::CENTER_BOTTOM, [0.0, -14.0])
        .resizable(false)
        .frame(frame)
        .show(ctx, |ui| {
            ui.set_max_width(SIZE[0]);
            ScrollArea::vertical().max_height(SIZE[1]).show(ui, |ui| {
                for error in errors {
                    ui.label(RichText::new(*error).monospace().color(Color32::from_rgb(255, 150, 130)));
                }
            });
        });
}

/// Shows the values of a particle and its neighbours.
fn particle(ctx: &egui::Context, frame: Frame, picked: &Picked, actions: &mut Vec<Action>) {
    let mut is_open = true;
    Window::new(format!("Particle {} ({})", picked.id, picked.set))
        .id("particle".into())
        .anchor(Align2::RIGHT_TOP, [-14.0, 14.0])
        .resizable(false)
        .frame(frame)
        .open(&mut is_open)
        .show(ctx, |ui| {
            Grid::new("particle").num_columns(2).spacing([18.0, 3.0]).show(ui, |ui| {
                for (name, value) in &picked.columns {
                    ui.label(RichText::new(name).weak());
                    ui.label(RichText::new(value).monospace());
                    ui.end_row();
                }
                ui.label(RichText::new("neighbours").weak());
                ui.label(RichText::new(format!("{} within two spacings", picked.n_neighbours)).monospace());
                ui.end_row();
            });
            for (id, distance_m) in &picked.nearest {
                if ui.small_button(format!("{id}: {:.3} mm", 1e3 * distance_m)).clicked() {
                    actions.push(Action::Pick(Some(*id)));
                }
            }
            ScrollArea::vertical().max_height(PAIRS_HEIGHT).show(ui, |ui| {
                for PairsOfKind { title, partners } in &picked.pairs {
                    ui.label(RichText::new(title).weak());
                    for (text, id) in partners {
                        match id {
                            Some(id) if ui.small_button(text).clicked() => {
                                actions.push(Action::Pick(Some(*id)))
                            }
                            Some(_) => {}
                            None => drop(ui.label(text)),
                        }
                    }
                }
            });
        });
    if !is_open {
        actions.push(Action::Pick(None));
    }
}

/// Shows the plot of a metric over time.
fn plot(ctx: &egui::Context, frame: Frame, series: &Series, metric: usize, actions: &mut Vec<Action>) {
    const SIZE: [f32; 2] = [380.0, 170.0];
    let label = |metric: usize| match series.infos().get(metric) {
        Some(info) if info.unit == "1" => info.name.clone(),
        Some(info) => format!("{} [{}]", info.name, info.unit),
        None => String::new(),
    };
    Window::new("Metrics").anchor(Align2::RIGHT_BOTTOM, [-14.0, -14.0]).resizable(false).frame(frame).show(
        ctx,
        |ui| {
            ComboBox::from_id_salt("metric").selected_text(label(metric)).width(220.0).show_ui(ui, |ui| {
                for other in 0..series.infos().len() {
                    if ui.selectable_label(other == metric, label(other)).clicked() {
                        actions.push(Action::PlotMetric(other));
                    }
                }
            });
            let plot = Plot::new("metric over time").width(SIZE[0]).height(SIZE[1]).x_axis_label("time [s]");
            let plot = plot.allow_scroll(false).allow_drag(false).allow_zoom(false);
            plot.show(ui, |plot| plot.line(Line::new(label(metric), series.points(metric))));
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
            SourceStatus::Live { .. } => {
                button(ui, "⏴", "←", Action::Back);
                button(ui, "⏵ Step", "→", Action::Forward);
            }
            SourceStatus::Recording { .. } => {
                button(ui, "⏪", "J", Action::Play(End::First));
                button(ui, "⏴", "←", Action::Back);
                button(ui, "⏵", "→", Action::Forward);
                button(ui, "⏩", "L", Action::Play(End::Last));
            }
        }
        button(ui, "⟲ Reset", "R", Action::Reset);
    });
    ui.horizontal(|ui| {
        button(ui, "Screenshot", "S", Action::Screenshot);
        button(ui, if status.is_filming { "⏹ Video" } else { "⏺ Video" }, "V", Action::ToggleVideo);
        if matches!(status.source, SourceStatus::Live { .. }) {
            button(ui, "Metrics", "M", Action::ToggleMetrics);
        }
    });
    if let Some(message) = status.message {
        ui.label(RichText::new(message).weak().small());
    }
    match status.source {
        SourceStatus::Live { steps_per_picture, last_step, .. } => {
            let mut steps = steps_per_picture;
            let slider =
                Slider::new(&mut steps, 1..=MAX_STEPS_PER_PICTURE).text("steps per frame").logarithmic(true);
            if ui.add(slider).changed() {
                actions.push(Action::StepsPerPicture(steps));
            }
            let mut step = status.step;
            let slider = Slider::new(&mut step, 0..=last_step.max(1)).text("step");
            if ui.add(slider).on_hover_text("steps so far; earlier ones are computed again").changed() {
                actions.push(Action::SeekStep(step));
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

/// Draws one bar per kernel, as long as its share of the step, the longest first; at first closed beside the
/// parameters, which need the height.
fn kernel_times(ui: &mut Ui, kernels: &[KernelTime], is_open: bool) {
    const MAX_HEIGHT: f32 = 260.0;
    let total_ms: f64 = kernels.iter().map(|kernel| kernel.ms_per_step).sum();
    let mut sorted: Vec<&KernelTime> = kernels.iter().collect();
    sorted.sort_by(|a, b| b.ms_per_step.total_cmp(&a.ms_per_step));
    let heading = format!("kernels: {total_ms:.2} ms per step");
    egui::CollapsingHeader::new(heading).id_salt(("kernels", is_open)).default_open(is_open).show_unindented(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ScrollArea::vertical().max_height(MAX_HEIGHT).show(ui, |ui| {
                for KernelTime { kernel, ms_per_step } in sorted {
                    let share = if total_ms > 0.0 { ms_per_step / total_ms } else { 0.0 };
                    bar(ui, share as f32, kernel, &format!("{ms_per_step:.3} ms"));
                }
            });
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
