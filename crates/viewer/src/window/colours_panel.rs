//! Part of the panel with the colours of particles and the layer of space that is shown.

use super::action::Action;
use super::histogram::Histogram;
use egui::{Color32, ComboBox, DragValue, Rect, Sense, Ui, pos2, vec2};
use frazil_render::{Clip, ColorMap, Legend};
use frazil_scene::RenderScheme;

/// Colours of the picture.
pub struct ColoursStatus<'a> {
    pub colour_by: &'a str,
    /// Names of the properties by which particles can be coloured.
    pub properties: &'a [String],
    pub scheme: RenderScheme,
    pub schemes: &'a [RenderScheme],
    /// Legend of the property, unless particles are not coloured by a number.
    pub legend: Option<&'a Legend>,
    /// Values of the property, if their histogram is shown.
    pub histogram: Option<&'a Histogram>,
    pub clip: Option<Clip>,
    /// Corners of the domain in m.
    pub domain_m: [[f64; 3]; 2],
    /// Number of axes of the domain.
    pub n_dimensions: usize,
}

const HISTOGRAM_HEIGHT: f32 = 44.0;
const AXES: [&str; 3] = ["x", "y", "z"];

/// Shows the controls; what the user requests is appended to `actions`.
pub fn show(ui: &mut Ui, status: &ColoursStatus<'_>, actions: &mut Vec<Action>) {
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
    if let Some(legend) = status.legend {
        range(ui, legend, status.histogram, actions);
    }
    clip(ui, status, actions);
}

/// Shows colour map and range, with the histogram if there is one.
fn range(ui: &mut Ui, legend: &Legend, histogram: Option<&Histogram>, actions: &mut Vec<Action>) {
    let (mut map, mut range) = (legend.map, legend.range);
    let [lo, hi] = range;
    let speed = (0.005 * (f64::from(hi) - f64::from(lo)).abs()).max(1e-6);
    ui.horizontal(|ui| {
        ComboBox::from_id_salt("colour map").width(80.0).selected_text(map.name()).show_ui(ui, |ui| {
            for other in ColorMap::ALL {
                ui.selectable_value(&mut map, other, other.name());
            }
        });
        ui.add(DragValue::new(&mut range[0]).speed(speed).range(f32::MIN..=hi));
        ui.label("to");
        ui.add(
            DragValue::new(&mut range[1])
                .speed(speed)
                .range(lo..=f32::MAX)
                .suffix(format!(" {}", legend.unit)),
        );
    });
    ui.horizontal(|ui| {
        if let Some(histogram) = histogram
            && ui.small_button("fit").on_hover_text("range of 99 % of the values").clicked()
        {
            range = histogram.fitted;
        }
        if ui.small_button("⟲").on_hover_text("colour map and range of the scene").clicked() {
            actions.push(Action::ResetLegend);
        }
        if ui.selectable_label(histogram.is_some(), "histogram").on_hover_text("C").clicked() {
            actions.push(Action::ToggleHistogram);
        }
    });
    if (map, range) != (legend.map, legend.range) {
        actions.push(Action::Legend { map, range });
    }
    if let Some(histogram) = histogram {
        bars(ui, legend, histogram);
    }
}

/// Draws the bars of a histogram in the colours of their values; the highest one has the whole height.
fn bars(ui: &mut Ui, legend: &Legend, histogram: &Histogram) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HISTOGRAM_HEIGHT), Sense::hover());
    let painter = ui.painter();
    painter.rect_filled(rect, 2.0, Color32::from_rgb(30, 33, 40));
    let max_count = histogram.bins.iter().copied().max().unwrap_or(0).max(1) as f32;
    let width = rect.width() / histogram.bins.len() as f32;
    let [lo, hi] = histogram.range;
    let [from, to] = legend.range;
    for (place, n) in histogram.bins.iter().enumerate() {
        let value = lo + (place as f32 + 0.5) / histogram.bins.len() as f32 * (hi - lo);
        let part = if to > from { (value - from) / (to - from) } else { 0.5 };
        let rgb = legend.map.at(part).map(|component| (255.0 * component) as u8);
        let left = rect.left() + place as f32 * width;
        // A single value is visible beside many.
        let height = if *n == 0 { 0.0 } else { (*n as f32 / max_count * rect.height()).max(1.0) };
        let bar = Rect::from_min_max(pos2(left, rect.bottom() - height), pos2(left + width, rect.bottom()));
        painter.rect_filled(bar, 0.0, Color32::from_rgb(rgb[0], rgb[1], rgb[2]));
    }
    let unit = &legend.unit;
    response.on_hover_text(format!("{} values from {lo:.4} to {hi:.4} {unit}", histogram.n_values));
}

/// Shows the choice of the layer in which particles are drawn.
fn clip(ui: &mut Ui, status: &ColoursStatus<'_>, actions: &mut Vec<Action>) {
    let whole = |axis: usize| {
        let [lo, hi] = status.domain_m;
        Clip { axis: axis as u32, range_m: [lo[axis] as f32, hi[axis] as f32] }
    };
    ui.horizontal(|ui| {
        ui.label("slice");
        if ui.selectable_label(status.clip.is_none(), "off").clicked() {
            actions.push(Action::Clip(None));
        }
        for (axis, name) in AXES.iter().enumerate().take(status.n_dimensions) {
            let is_chosen = status.clip.is_some_and(|clip| clip.axis as usize == axis);
            if ui.selectable_label(is_chosen, *name).clicked() && !is_chosen {
                // Half of the domain is cut away, so that its inside is seen at once.
                let Clip { range_m: [lo, hi], .. } = whole(axis);
                actions.push(Action::Clip(Some(Clip { axis: axis as u32, range_m: [lo, 0.5 * (lo + hi)] })));
            }
        }
    });
    let Some(Clip { axis, mut range_m }) = status.clip else { return };
    let [lo, hi] = whole(axis as usize).range_m;
    let before = range_m;
    ui.horizontal(|ui| {
        let speed = 0.004 * f64::from(hi - lo);
        ui.add(DragValue::new(&mut range_m[0]).speed(speed).range(lo..=before[1]).suffix(" m"));
        ui.label("to");
        ui.add(DragValue::new(&mut range_m[1]).speed(speed).range(before[0]..=hi).suffix(" m"));
    });
    if range_m != before {
        actions.push(Action::Clip(Some(Clip { axis, range_m })));
    }
}
