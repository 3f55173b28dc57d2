//! A window on an X server started by the test, with validation on: its content is read back from the server
//! and must equal the picture of the same frame without a window, with egui's panel on top of one corner.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use frazil_render::glam::{Vec3, vec3};
use frazil_render::{
    ColorMap, Coloring, Column, Frame, Ground, Legend, OrbitCamera, Particles, Radius, Renderer, Shading,
    WireBox,
};
use frazil_vk::{
    Buffer, Device, DeviceCount, DeviceOptions, Overlay, OverlayFrame, ReadbackRing, Swapchain,
    ValidationLog, surface_extensions,
};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::platform::x11::EventLoopBuilderExtX11;
use winit::window::{Window, WindowId};
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat};

/// Initial size of the window, and its size after resizing.
const FIRST_SIZE: (u32, u32) = (500, 300);
const SIZE: (u32, u32) = (640, 400);
/// Corner covered by egui's panel, which is drawn nowhere else.
const PANEL: (u32, u32) = (150, 80);
const PANEL_COLOR: [u8; 3] = [200, 30, 60];
const PARTICLES: u32 = 1000;

struct XServer(Child);

impl XServer {
    /// Starts a server on a display number that it chooses itself; returns it and the display's name.
    fn start() -> std::io::Result<(Self, String)> {
        let mut child = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut number = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut number)?;
        Ok((Self(child), format!(":{}", number.trim())))
    }
}

impl Drop for XServer {
    fn drop(&mut self) {
        // The server may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The window gets a process of its own, since environment variables belong to a process: this test runs
/// itself again with DISPLAY set.
#[test]
fn a_window_shows_the_headless_picture_with_egui_on_top() {
    let (_server, display) = match XServer::start() {
        Ok(started) => started,
        Err(error) if std::env::var_os("CI").is_none() => {
            return eprintln!("SKIPPED: no X server to open a window on: Xvfb: {error}");
        }
        Err(error) => panic!("Xvfb: {error}"),
    };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "on_the_display", "--ignored", "--nocapture"])
        .env("DISPLAY", &display)
        .env_remove("WAYLAND_DISPLAY")
        // Lavapipe of Mesa 22.3.6 crashes while it compiles a blit for 512-bit vectors, which tests of
        // kernels request.
        .env_remove("LP_NATIVE_VECTOR_WIDTH")
        .output()
        .unwrap();
    let text =
        format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "started by the test above, on a display of its own"]
fn on_the_display() {
    let expected = headless();
    let event_loop = EventLoop::builder().with_any_thread(true).build().unwrap();
    let options = DeviceOptions {
        validation: true,
        surface_extensions: surface_extensions(&event_loop.owned_display_handle()).unwrap(),
        ..Default::default()
    };
    let device = Device::open(&options).unwrap();
    let log = device.validation().clone();
    let mut app = App {
        device,
        expected,
        stage: None,
        frames: 0,
        // Detects a hang, not slowness: pictures take seconds on a slow machine.
        deadline: Instant::now() + Duration::from_secs(300),
        outcome: None,
    };
    event_loop.run_app(&mut app).unwrap();
    let outcome = app.outcome.take();
    drop(app);
    assert_silent(&log);
    outcome.expect("the window was closed before it could be compared").unwrap();
}

fn assert_silent(log: &ValidationLog) {
    let messages = log.messages();
    assert!(messages.is_empty(), "{messages:#?}");
}

/// The particles on a device, and the renderer that draws them.
struct Scene {
    renderer: Renderer,
    positions: Buffer<[f32; 3]>,
    heights: Buffer<f32>,
    count: DeviceCount,
}

impl Scene {
    fn new(device: &Device) -> Self {
        let positions: Vec<[f32; 3]> = (0..PARTICLES)
            .map(|i| [(i % 10) as f32 / 10.0, (i / 100) as f32 / 10.0, (i / 10 % 10) as f32 / 10.0])
            .collect();
        let heights: Vec<f32> = positions.iter().map(|p| p[1]).collect();
        let count = DeviceCount::new(device, "particles", PARTICLES).unwrap();
        device.upload(&count.count, &[PARTICLES]).unwrap();
        Self {
            renderer: Renderer::new(device, SIZE.0, SIZE.1).unwrap(),
            positions: device.buffer_from("positions", &positions).unwrap(),
            heights: device.buffer_from("heights", &heights).unwrap(),
            count,
        }
    }

    fn record(&mut self, recorder: &mut frazil_vk::Recorder) {
        let (lo, hi) = (Vec3::splat(-0.05), vec3(0.95, 0.95, 0.95));
        let mut camera = OrbitCamera::default();
        camera.frame_box(lo, hi, SIZE.0 as f32 / SIZE.1 as f32);
        let (map, range) = (ColorMap::Viridis, [0.0, 0.9]);
        let legend = Legend { title: "height".into(), unit: "m".into(), map, range };
        let particles = [Particles {
            positions: &self.positions,
            count: &self.count,
            max_count: u32::MAX,
            radius: Radius::Uniform(0.05),
            coloring: Coloring::Mapped { column: Column::Scalar(&self.heights), map, range },
            shading: Shading::Lit,
        }];
        let frame = Frame {
            camera,
            background: [0.05, 0.06, 0.08],
            particles: &particles,
            boxes: &[WireBox::between(lo, hi)],
            balls: &[],
            ground: Some(Ground::under(lo, hi, camera.up_axis)),
            occlusion: 1.0,
            legend: Some(&legend),
            swatches: &[],
            caption: "a thousand spheres",
            ..Frame::default()
        };
        self.renderer.record(recorder, &frame).unwrap();
    }
}

/// Renders the picture on a device without a window.
fn headless() -> Vec<u32> {
    let device = Device::open(&DeviceOptions::default()).unwrap();
    let mut scene = Scene::new(&device);
    let mut recorder = device.recorder().unwrap();
    scene.record(&mut recorder);
    let pending = ReadbackRing::new(&device).read_image(&mut recorder, scene.renderer.image()).unwrap();
    device.submit(recorder).unwrap();
    pending.wait().unwrap()
}

struct App {
    device: Device,
    expected: Vec<u32>,
    stage: Option<Stage>,
    frames: u32,
    deadline: Instant,
    outcome: Option<Result<(), String>>,
}

/// The state that exists once there is a window.
struct Stage {
    overlay: Overlay,
    swapchain: Swapchain,
    scene: Scene,
    egui: egui::Context,
    window: Arc<Window>,
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let attributes = Window::default_attributes()
            .with_title("frazil")
            .with_position(PhysicalPosition::new(0, 0))
            .with_inner_size(PhysicalSize::new(FIRST_SIZE.0, FIRST_SIZE.1));
        let window = Arc::new(event_loop.create_window(attributes).unwrap());
        let headless = Device::open(&DeviceOptions::default()).unwrap();
        let refused = Swapchain::new(&headless, window.clone(), FIRST_SIZE).err().unwrap().to_string();
        assert!(refused.contains("surface_extensions"), "{refused}");
        let swapchain = Swapchain::new(&self.device, window.clone(), FIRST_SIZE).unwrap();
        let overlay = swapchain.overlay().unwrap();
        let scene = Scene::new(&self.device);
        self.stage = Some(Stage { overlay, swapchain, scene, egui: egui::Context::default(), window });
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(stage) = &mut self.stage else { return };
        match event {
            WindowEvent::Resized(size) => stage.swapchain.resize((size.width, size.height)),
            WindowEvent::RedrawRequested => {
                self.frames += 1;
                stage.draw(&self.device, self.frames);
                if self.frames == 3 {
                    // A window manager could answer later; none runs here, but the event arrives anyway.
                    let _ = stage.window.request_inner_size(PhysicalSize::new(SIZE.0, SIZE.1));
                }
                if self.frames >= 6 {
                    let compared = compare(&screenshot(), &self.expected);
                    if compared.is_ok() || Instant::now() > self.deadline {
                        self.outcome = Some(compared);
                        // Dropped in order of dependency, before the event loop ends.
                        self.stage = None;
                        event_loop.exit();
                    }
                }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, _: &ActiveEventLoop) {
        if let Some(stage) = &self.stage {
            stage.window.request_redraw();
        }
    }
}

impl Stage {
    fn draw(&mut self, device: &Device, frame: u32) {
        let size = self.window.inner_size();
        let screen =
            egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(size.width as f32, size.height as f32));
        let input = egui::RawInput { screen_rect: Some(screen), ..Default::default() };
        let mut output = self.egui.run_ui(input, |ui| {
            let panel =
                egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(PANEL.0 as f32, PANEL.1 as f32));
            let [r, g, b] = PANEL_COLOR;
            ui.painter().rect_filled(panel, 0.0, egui::Color32::from_rgb(r, g, b));
            // Glyphs that no earlier frame had: the font's texture changes while the device draws with it.
            let text = format!("frame {frame} {}", char::from_u32('a' as u32 + frame % 26).unwrap());
            ui.painter().text(
                panel.center(),
                egui::Align2::CENTER_CENTER,
                text,
                egui::FontId::proportional(14.0),
                egui::Color32::WHITE,
            );
        });
        let overlay_frame = OverlayFrame::take(&self.egui, &mut output);
        let mut recorder = device.recorder().unwrap();
        self.scene.record(&mut recorder);
        let is_mistaken = frame == 2;
        if is_mistaken {
            recorder.copy(&self.scene.heights, &self.scene.heights, PARTICLES as usize + 1);
        }
        let image = self.scene.renderer.image().clone();
        let presented = self.swapchain.present(recorder, &image, Some((&mut self.overlay, overlay_frame)));
        // A frame that cannot be submitted is an error, and the window can still show the next one.
        assert_eq!(presented.is_err(), is_mistaken, "{presented:?}");
    }
}

/// Returns the screen's upper left corner as bytes blue, green, red, unused.
fn screenshot() -> Vec<u8> {
    let (connection, screen) = x11rb::connect(None).unwrap();
    let root = x11rb::connection::Connection::setup(&connection).roots[screen].root;
    let (width, height) = (SIZE.0 as u16, SIZE.1 as u16);
    let request = connection.get_image(ImageFormat::Z_PIXMAP, root, 0, 0, width, height, u32::MAX).unwrap();
    request.reply().unwrap().data
}

fn compare(screen: &[u8], expected: &[u32]) -> Result<(), String> {
    let mut panel_pixels = 0;
    for (i, (shown, expected)) in screen.chunks_exact(4).zip(expected).enumerate() {
        let (x, y) = (i as u32 % SIZE.0, i as u32 / SIZE.0);
        let shown = [shown[2], shown[1], shown[0]];
        if x < PANEL.0 && y < PANEL.1 {
            panel_pixels += u32::from(shown == PANEL_COLOR);
            continue;
        }
        let expected = [0, 8, 16].map(|shift| (expected >> shift) as u8);
        if shown != expected {
            return Err(format!("pixel {x}, {y}: the window shows {shown:?}, the picture has {expected:?}"));
        }
    }
    // All pixels except those covered by text.
    let share = f64::from(panel_pixels) / f64::from(PANEL.0 * PANEL.1);
    if !(0.8..1.0).contains(&share) {
        return Err(format!("egui's panel has its colour in {share} of its area"));
    }
    Ok(())
}
