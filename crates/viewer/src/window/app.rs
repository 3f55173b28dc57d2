//! Window: event handling and display of pictures.

use super::action::{Action, End};
use super::capture::Capture;
use super::colours_panel::ColoursStatus;
use super::drag_tool::DragTool;
use super::histogram::Histogram;
use super::keys::{self, KeyEffect};
use super::panel::{self, MAX_SPEED, SourceStatus, Status};
use super::picked::{self, Picked};
use super::plan::Plan;
use super::pointer::Pointer;
use super::shaders::Shaders;
use super::source::{Requested, Source};
use crate::say;
use egui::ViewportId;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_engine::picture::{self, Painter};
use frazil_render::{Clip, OrbitCamera};
use frazil_scene::RenderScheme;
use frazil_vk::{Device, Overlay, OverlayFrame, ReadbackRing, Swapchain};
use glam::Vec2;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::window::{Window, WindowId};

/// Interval of the pictures of a simulation; longer intervals do not look like motion.
const REDRAWS_A_SECOND: f64 = 60.0;
/// Interval at which a recording in progress is checked for new frames.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Interval at which the panel's values of particles are looked up.
const LOOK_UP_EVERY: Duration = Duration::from_millis(200);
/// Interval at which a window at rest checks for compiled shaders.
const SHADERS_EVERY: Duration = Duration::from_millis(250);

/// Application state: pending until the window system permits windows, then an open window.
pub struct App {
    requested: Option<Requested>,
    plan: Plan,
    device: Option<String>,
    validation: bool,
    view: Option<View>,
    failure: Option<Failure>,
}

impl App {
    pub fn new(requested: Requested, plan: Plan, device: Option<String>, validation: bool) -> Self {
        Self { requested: Some(requested), plan, device, validation, view: None, failure: None }
    }

    /// Returns the error of the window, once the event loop has ended.
    pub fn end(self) -> Result<(), Failure> {
        self.failure.map_or(Ok(()), Err)
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<(), Failure> {
        let Some(requested) = self.requested.take() else { return Ok(()) };
        let render = &requested.scene().render;
        let attributes = Window::default_attributes()
            .with_title(format!("frazil: {}", requested.scene().name))
            .with_inner_size(PhysicalSize::new(render.width_px, render.height_px));
        let window = event_loop
            .create_window(attributes)
            .map_err(|error| Failure::device(format!("cannot open a window: {error}")))?;
        let extensions = frazil_vk::surface_extensions(event_loop)?;
        let device = device::open(self.device.as_deref(), self.validation, extensions)?;
        say::note(format_args!("device {}: {}", device.info().index, device::describe(device.info())));
        if device.is_software() {
            say::note(format_args!("warning: {}", device::SOFTWARE_WARNING));
        }
        self.view = Some(View::new(&device, Arc::new(window), requested, self.plan.clone())?);
        Ok(())
    }

    fn attempt(
        &mut self,
        event_loop: &ActiveEventLoop,
        work: impl FnOnce(&mut Self) -> Result<bool, Failure>,
    ) {
        let goes_on = work(self).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            false
        });
        if !goes_on {
            // Dropped before the event loop closes the connection to the window system.
            self.view = None;
            event_loop.exit();
        }
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        self.attempt(event_loop, |app| app.open(event_loop).map(|()| true));
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        self.attempt(event_loop, |app| app.view.as_mut().map_or(Ok(true), |view| view.event(&event)));
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        if let Some(view) = &self.view {
            event_loop.set_control_flow(view.schedule());
        }
    }
}

/// The window, and everything drawn into it.
struct View {
    window: Arc<Window>,
    plan: Plan,
    device: Device,
    source: Source,
    painter: Painter,
    ring: ReadbackRing,
    camera: OrbitCamera,
    colour_by: String,
    schemes: Vec<RenderScheme>,
    playing: bool,
    steps_per_picture: u64,
    pointer: Pointer,
    drag_tool: DragTool,
    /// State of the modifier keys.
    is_control_held: bool,
    clip: Option<Clip>,
    capture: Capture,
    /// Last message, such as the name of a file.
    message: Option<String>,
    /// Id of the chosen particle, and its values as they were looked up last.
    picked: Option<(u32, Option<Picked>)>,
    /// Values of the property that is shown, and the step and the property they are of.
    histogram: Option<(Histogram, u64, String)>,
    is_histogram_shown: bool,
    is_plot_shown: bool,
    /// Index of the metric in the plot.
    plotted: usize,
    /// Time of the next look-up of values that the panel shows.
    next_look_up: Instant,
    is_help_shown: bool,
    are_parameters_shown: bool,
    rates: Rates,
    /// Time at which the next picture of a recording is due.
    next_picture: Instant,
    /// Time of the next check for new frames.
    next_poll: Instant,
    repaint_at: Option<Instant>,
    /// Shaders of a folder that replace those of the program.
    shaders: Option<Shaders>,
    /// Time of the next check for compiled shaders, at the latest.
    next_shaders: Instant,
    /// Step at which shaders were replaced last.
    replaced_at: Option<u64>,
    egui: egui_winit::State,
    overlay: Overlay,
    // Declared last: the window's images are destroyed after the objects drawn into them.
    swapchain: Swapchain,
}

impl View {
    fn new(device: &Device, window: Arc<Window>, requested: Requested, plan: Plan) -> Result<Self, Failure> {
        let source = requested.start(device)?;
        let scene = source.scene();
        let size = window.inner_size();
        let mut painter = Painter::new(device, scene, source.n_particles())?;
        if size.width > 0 && size.height > 0 {
            painter.resize(size.width, size.height)?;
        }
        let swapchain = Swapchain::new(device, window.clone(), (size.width, size.height))?;
        let overlay = swapchain.overlay()?;
        let max_side = device.capabilities().max_image_size as usize;
        let egui = egui_winit::State::new(
            egui::Context::default(),
            ViewportId::ROOT,
            &window,
            Some(window.scale_factor() as f32),
            Some(winit::window::Theme::Dark),
            Some(max_side),
        );
        let shaders = plan.shaders.as_deref().map(|glsl| Shaders::watch(device, glsl)).transpose()?;
        let real_time = (1.0 / (REDRAWS_A_SECOND * scene.step_s())).round() as u64;
        Ok(Self {
            camera: picture::camera(scene),
            schemes: picture::schemes(scene),
            colour_by: source.property()?,
            playing: plan.pause_at != Some(source.step()),
            steps_per_picture: real_time.clamp(1, u64::from(scene.solver.steps_per_submission)),
            ring: ReadbackRing::new(device),
            device: device.clone(),
            pointer: Pointer::default(),
            drag_tool: DragTool::default(),
            is_control_held: false,
            clip: None,
            capture: Capture::new(PathBuf::from("."), &scene.name),
            message: None,
            picked: None,
            histogram: None,
            is_histogram_shown: false,
            is_plot_shown: false,
            plotted: plotted_first(&source),
            next_look_up: Instant::now(),
            is_help_shown: plan.show_help,
            are_parameters_shown: plan.show_parameters,
            rates: Rates::new(source.step()),
            next_picture: Instant::now() + Duration::from_secs_f64(1.0 / REDRAWS_A_SECOND),
            next_poll: Instant::now(),
            repaint_at: None,
            shaders,
            next_shaders: Instant::now(),
            replaced_at: None,
            window,
            plan,
            source,
            painter,
            egui,
            overlay,
            swapchain,
        })
    }

    /// Processes an event; returns false to quit.
    fn event(&mut self, event: &WindowEvent) -> Result<bool, Failure> {
        let response = self.egui.on_window_event(&self.window, event);
        let over_panel = self.egui.egui_ctx().egui_wants_pointer_input();
        let height_px = self.window.inner_size().height;
        let moved =
            self.pointer.event(event, over_panel, self.drag_tool.is_ready, height_px, &mut self.camera);
        if moved || response.repaint && !matches!(event, WindowEvent::RedrawRequested) {
            self.window.request_redraw();
        }
        if let Some(at_px) = self.pointer.take_click() {
            self.pick(at_px)?;
        }
        match event {
            WindowEvent::CloseRequested => return Ok(self.close()),
            WindowEvent::Resized(size) => {
                if size.width > 0 && size.height > 0 {
                    self.painter.resize(size.width, size.height)?;
                }
                self.swapchain.resize((size.width, size.height));
                self.window.request_redraw();
            }
            WindowEvent::KeyboardInput { event: KeyEvent { logical_key, state, .. }, .. } => {
                let is_pressed = *state == ElementState::Pressed;
                match keys::effect_of(logical_key, self.is_control_held) {
                    // A release counts in any case.
                    Some(KeyEffect::Pull) => self.drag_tool.is_ready = is_pressed && !response.consumed,
                    Some(_) if !is_pressed || response.consumed => {}
                    Some(KeyEffect::Close) => return Ok(self.close()),
                    Some(KeyEffect::Act(action)) => self.act(action.clone())?,
                    None => {}
                }
            }
            WindowEvent::ModifiersChanged(modifiers) => {
                self.is_control_held = modifiers.state().control_key();
            }
            WindowEvent::Focused(false) => self.drag_tool.is_ready = false,
            WindowEvent::RedrawRequested => return self.redraw(),
            _ => {}
        }
        Ok(true)
    }

    /// Returns the next wake-up time: immediately while something moves, else when the panel or an event
    /// requests it.
    fn schedule(&self) -> ControlFlow {
        let due = match (&self.source, self.playing) {
            (Source::Live(_), true) => Some(Instant::now()),
            (Source::Player(_), true) => Some(self.next_picture),
            (_, false) => self.repaint_at,
        };
        let look = match &self.source {
            Source::Player(player) if player.is_growing() => Some(self.next_poll),
            _ => None,
        };
        let shaders = self.shaders.as_ref().map(|_| self.next_shaders);
        let due = due.into_iter().chain(look).chain(shaders).min();
        match due {
            Some(due) if due <= Instant::now() => {
                self.window.request_redraw();
                ControlFlow::Wait
            }
            Some(due) => ControlFlow::WaitUntil(due),
            None => ControlFlow::Wait,
        }
    }

    fn act(&mut self, action: Action) -> Result<(), Failure> {
        self.perform(action).or_else(|failure| self.go_back(failure))
    }

    fn perform(&mut self, action: Action) -> Result<(), Failure> {
        match (action, &mut self.source) {
            (Action::TogglePlay, _) => {
                self.playing = !self.playing;
                self.next_picture = Instant::now();
            }
            (Action::Pause, _) => self.playing = false,
            (Action::ToggleHelp, _) => self.is_help_shown = !self.is_help_shown,
            (Action::ToggleParameters, _) => self.are_parameters_shown = !self.are_parameters_shown,
            (Action::ToggleMetrics, _) => self.is_plot_shown = !self.is_plot_shown,
            (Action::PlotMetric(metric), _) => self.plotted = metric,
            (Action::ToggleHistogram, _) => self.is_histogram_shown = !self.is_histogram_shown,
            (Action::Legend { map, range }, _) => self.painter.set_legend(&self.colour_by, map, range),
            (Action::ResetLegend, _) => self.painter.reset_legend(&self.colour_by),
            (Action::Clip(clip), _) => {
                self.clip = clip;
                self.painter.set_clip(clip);
            }
            (Action::Pick(id), _) => {
                self.picked = id.map(|id| (id, None));
                self.next_look_up = Instant::now();
            }
            (Action::Screenshot, _) => self.capture.is_requested = true,
            (Action::ToggleVideo, _) => {
                let size = self.window.inner_size();
                let toggled = self.capture.toggle_video((size.width, size.height));
                self.say(toggled.map(Some));
            }
            (Action::SeekStep(step), Source::Live(live)) => {
                self.playing = false;
                live.seek(step)?;
            }
            (Action::Back, Source::Live(live)) => {
                self.playing = false;
                if let Some(step) = live.simulation.step().checked_sub(1) {
                    live.seek(step)?;
                }
            }
            (Action::ToEnd(end), Source::Live(live)) => {
                self.playing = false;
                live.seek(if end == End::First { 0 } else { live.last_step() })?;
            }
            (Action::SeekStep(_), Source::Player(_)) => {}
            (Action::Edit(edit), Source::Live(live)) => live.edit(edit)?,
            (Action::Edit(_), Source::Player(_)) => {}
            (Action::Forward, Source::Live(live)) => {
                self.playing = false;
                live.advance(1)?;
            }
            (Action::Forward, Source::Player(player)) => {
                self.playing = false;
                player.seek(player.frame() + 1)?;
            }
            (Action::Back, Source::Player(player)) => {
                self.playing = false;
                player.seek(player.frame().saturating_sub(1))?;
            }
            (Action::Seek(frame), Source::Player(player)) => {
                self.playing = false;
                player.seek(frame)?;
            }
            (Action::ToEnd(end), Source::Player(player)) => {
                self.playing = false;
                player.seek(if end == End::First { 0 } else { player.len() })?;
            }
            (Action::Play(end), Source::Player(player)) => {
                let sign = if end == End::First { -1.0 } else { 1.0 };
                let speed = &mut player.playback.speed;
                let again = self.playing && sign * *speed > 0.0;
                *speed = sign * (speed.abs() * if again { 2.0 } else { 1.0 }).min(MAX_SPEED);
                (self.playing, self.next_picture) = (true, Instant::now());
            }
            (Action::Speed(speed), Source::Player(player)) => player.playback.speed = speed,
            (Action::Reset, source) => {
                source.reset()?;
                self.rates = Rates::new(source.step());
            }
            (Action::ColourBy(property), _) => self.colour_by = property,
            (Action::Scheme(scheme), _) => self.painter.set_scheme(scheme),
            (Action::StepsPerPicture(steps), _) => self.steps_per_picture = steps,
            (Action::Play(End::Last), Source::Live(_)) => self.playing = true,
            (Action::Seek(_) | Action::Play(_) | Action::Speed(_), Source::Live(_)) => {}
        }
        self.window.request_redraw();
        Ok(())
    }

    /// Chooses the particle that a pixel shows, or none.
    fn pick(&mut self, at_px: Vec2) -> Result<(), Failure> {
        let size = self.window.inner_size();
        let size = (size.width.max(1), size.height.max(1));
        let radius_m = self.source.scene().particle_spacing_m() as f32 / 2.0;
        if let Source::Live(live) = &mut self.source {
            live.collect_completed(0)?;
        }
        let id = picked::pick(&self.device, &self.source.shown(), &self.camera, at_px, size, radius_m)?;
        self.act(Action::Pick(id))
    }

    /// Looks up the values that the panel shows, a few times a second: this waits for the device.
    fn look_up(&mut self) -> Result<(), Failure> {
        if !self.is_histogram_shown {
            self.histogram = None;
        }
        if Instant::now() < self.next_look_up {
            return Ok(());
        }
        self.next_look_up = Instant::now() + LOOK_UP_EVERY;
        let shown = self.source.shown();
        if let Some((id, values)) = &mut self.picked {
            let spacing_m = self.source.scene().particle_spacing_m() as f32;
            let pairs = match &self.source {
                Source::Live(live) => live.pairs_of(*id)?,
                Source::Player(_) => Vec::new(),
            };
            *values = picked::look_up(&self.device, &shown, *id, spacing_m, pairs)?;
        }
        let step = self.source.step();
        let is_known = |(_, of, name): &(Histogram, u64, String)| *of == step && *name == self.colour_by;
        if self.is_histogram_shown && !self.histogram.as_ref().is_some_and(is_known) {
            let values = self.painter.values(&shown, &self.colour_by)?;
            self.histogram = Histogram::of(values).map(|histogram| (histogram, step, self.colour_by.clone()));
        }
        Ok(())
    }

    /// Shows a message of the capture of pictures. A file that cannot be written does not close the window.
    fn say(&mut self, result: Result<Option<String>, Failure>) {
        let message = match result {
            Ok(message) => message,
            Err(failure) => Some(failure.to_string()),
        };
        if let Some(message) = message {
            say::note(&message);
            self.message = Some(message);
        }
    }

    /// Completes a video before the window closes; returns false to quit.
    fn close(&mut self) -> bool {
        let finished = self.capture.finish();
        self.say(finished);
        false
    }

    /// Replaces the shaders that were compiled meanwhile.
    fn take_in_shaders(&mut self) -> Result<(), Failure> {
        self.next_shaders = Instant::now() + SHADERS_EVERY;
        let replaced = self.shaders.as_mut().map(Shaders::collect_completed).unwrap_or_default();
        if replaced.is_empty() {
            return Ok(());
        }
        if let Source::Live(live) = &mut self.source {
            live.keep_state()?;
        }
        self.replaced_at = Some(self.source.step());
        self.say(Ok(Some(format!("step {}: replaced {}", self.source.step(), replaced.join(", ")))));
        Ok(())
    }

    /// Goes back to the step at which shaders were replaced, so that an error of theirs does not close the
    /// window.
    fn go_back(&mut self, failure: Failure) -> Result<(), Failure> {
        let (Source::Live(live), Some(step)) = (&mut self.source, self.replaced_at) else {
            return Err(failure);
        };
        self.playing = false;
        live.go_back(step)?;
        self.say(Ok(Some(format!("error: {failure}; back at step {step}"))));
        Ok(())
    }

    /// Advances, if playing, and draws. Returns false to quit.
    fn redraw(&mut self) -> Result<bool, Failure> {
        if let Err(failure) = self.take_in_shaders().and_then(|()| self.play()) {
            self.go_back(failure)?;
        }
        self.look_up()?;
        if let Source::Live(live) = &self.source {
            self.painter.set_scene(&live.simulation.scene);
        }
        let overlay = if self.plan.hide_overlay { None } else { Some(self.overlay_frame()?) };

        let mut recorder = self.device.recorder()?;
        let (shown, time_s) = (self.source.shown(), self.source.time_s());
        let image = self.painter.record(&mut recorder, &shown, self.camera, &self.colour_by, time_s)?;
        let is_at_stop = self.plan.pause_at.is_some_and(|step| self.source.step() >= step);
        let size = image.size();
        let picture = match &self.plan.screenshot {
            Some(_) if is_at_stop => Some(self.ring.read_image(&mut recorder, image)?),
            _ => None,
        };
        let captured = match self.capture.wants_picture() {
            true => Some(self.ring.read_image(&mut recorder, image)?),
            false => None,
        };
        let overlay = overlay.map(|frame| (&mut self.overlay, frame));
        let presented = self.swapchain.present(recorder, image, overlay)?;
        self.device.check_validation()?;
        self.rates.pictured(self.source.step());
        if let Some(captured) = captured {
            let taken = self.capture.take(captured, size);
            self.say(taken);
        }

        if is_at_stop && presented.is_shown {
            if let (Some(picture), Some(path)) = (picture, self.plan.screenshot.take()) {
                frazil_render::write_png(&path, size.0, size.1, &picture.wait()?).map_err(Failure::other)?;
            }
            return Ok(!self.plan.exit);
        }
        Ok(true)
    }

    fn play(&mut self) -> Result<(), Failure> {
        match &mut self.source {
            Source::Live(live) if self.playing => {
                let left =
                    self.plan.pause_at.map_or(u64::MAX, |stop| stop.saturating_sub(live.simulation.step()));
                let steps = self.steps_per_picture.min(left);
                let (at, size) = (self.pointer.dragged_px(), self.window.inner_size());
                let size = (size.width.max(1), size.height.max(1));
                let (scene, time_s) = (&live.simulation.scene, live.simulation.time_s());
                let pull = self.drag_tool.pull(&self.camera, at, size, scene, time_s, steps);
                live.pull(pull)?;
                live.advance(steps)?;
            }
            Source::Live(live) => live.collect_completed(0)?,
            Source::Player(player) => {
                let now = Instant::now();
                if player.is_growing() && now >= self.next_poll {
                    player.refresh()?;
                    self.next_poll = now + POLL_INTERVAL;
                }
                if self.playing && now >= self.next_picture {
                    self.playing = player.advance()?;
                    // A slow device shows every picture with a delay.
                    let period = Duration::from_secs_f64(1.0 / player.playback.fps);
                    self.next_picture = now.max(self.next_picture + period);
                    if player.is_growing() && player.frame() + 1 == player.len() {
                        self.next_picture = self.next_picture.max(self.next_poll);
                    }
                }
            }
        }
        if self.plan.pause_at.is_some_and(|stop| self.source.step() >= stop) {
            self.playing = false;
        }
        Ok(())
    }

    /// Lays out the panel with egui, and performs the requested actions.
    fn overlay_frame(&mut self) -> Result<OverlayFrame, Failure> {
        let input = self.egui.take_egui_input(&self.window);
        let context = self.egui.egui_ctx().clone();
        let device = self.device.info().name.clone();
        let mut actions = Vec::new();
        let output = context.run_ui(input, |ui| {
            let properties = self.source.shown().names();
            let scene = self.source.scene();
            let highlights = match &self.source {
                Source::Live(live) => live.highlights(),
                Source::Player(_) => Vec::new(),
            };
            let shader_errors = self.shaders.as_ref().map(Shaders::errors).unwrap_or_default();
            let status = Status {
                title: &self.source.scene().name,
                device: &device,
                playing: self.playing,
                step: self.source.step(),
                time_s: self.source.time_s(),
                n_particles: self.source.n_particles(),
                pictures_per_s: self.rates.pictures_per_s,
                colours: ColoursStatus {
                    colour_by: &self.colour_by,
                    properties: &properties,
                    scheme: self.painter.scheme(),
                    schemes: &self.schemes,
                    legend: self.painter.legend(&self.colour_by),
                    histogram: self.histogram.as_ref().map(|(histogram, ..)| histogram),
                    clip: self.clip,
                    domain_m: [scene.domain.min_m, scene.domain.max_m],
                    n_dimensions: scene.n_dimensions(),
                },
                picked: self.picked.as_ref().and_then(|(_, values)| values.as_ref()),
                message: self.message.as_deref(),
                shader_errors: &shader_errors,
                is_filming: self.capture.is_filming(),
                help: self.is_help_shown,
                source: match &self.source {
                    Source::Live(live) => SourceStatus::Live {
                        steps_per_s: self.rates.steps_per_s,
                        steps_per_picture: self.steps_per_picture,
                        last_step: live.last_step(),
                        plot: self.is_plot_shown.then_some((&live.series, self.plotted)),
                        highlights: &highlights,
                        kernels: &live.kernels,
                        parameters: self.are_parameters_shown.then_some(&live.parameters),
                    },
                    Source::Player(player) => SourceStatus::Recording {
                        frame: player.frame(),
                        n_frames: player.len(),
                        speed: player.playback.speed,
                        is_growing: player.is_growing(),
                    },
                },
            };
            actions.extend(panel::show(ui.ctx(), &status));
        });
        self.egui.handle_platform_output(&self.window, output.platform_output);
        let repaint_in = output.viewport_output.values().map(|viewport| viewport.repaint_delay).min();
        self.repaint_at = repaint_in.and_then(|delay| Instant::now().checked_add(delay));
        for action in actions {
            self.act(action)?;
        }
        Ok(OverlayFrame {
            primitives: context.tessellate(output.shapes, output.pixels_per_point),
            textures: output.textures_delta,
            pixels_per_point: output.pixels_per_point,
        })
    }
}

/// Returns the index of the metric that is plotted first: the kinetic energy, if there is one.
fn plotted_first(source: &Source) -> usize {
    let Source::Live(live) = source else { return 0 };
    live.series.infos().iter().position(|metric| metric.name == "kinetic_energy").unwrap_or(0)
}

/// Frames and steps per second, measured over half seconds for readability.
struct Rates {
    since: Instant,
    pictures: u32,
    from_step: u64,
    pictures_per_s: f64,
    steps_per_s: f64,
}

impl Rates {
    fn new(step: u64) -> Self {
        Self { since: Instant::now(), pictures: 0, from_step: step, pictures_per_s: 0.0, steps_per_s: 0.0 }
    }

    fn pictured(&mut self, step: u64) {
        const WINDOW_S: f64 = 0.5;
        self.pictures += 1;
        let elapsed_s = self.since.elapsed().as_secs_f64();
        if elapsed_s >= WINDOW_S {
            self.pictures_per_s = f64::from(self.pictures) / elapsed_s;
            self.steps_per_s = step.saturating_sub(self.from_step) as f64 / elapsed_s;
            (self.since, self.pictures, self.from_step) = (Instant::now(), 0, step);
        }
    }
}
