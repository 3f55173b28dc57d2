//! Camera control by the pointer: left drag orbits, right or middle drag pans, the wheel zooms.

use frazil_render::OrbitCamera;
use glam::Vec2;
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};

/// Rotation in degrees for a drag across the whole height of the window.
const DEGREES_A_HEIGHT: f32 = 180.0;
/// Factor on the distance per notch of the wheel.
const ZOOM_A_NOTCH: f32 = 0.9;
/// Pixels of smooth scrolling that equal one notch.
const PIXELS_A_NOTCH: f64 = 40.0;

/// Position of the pointer, and the button that drags the camera.
#[derive(Default)]
pub struct Pointer {
    at: Option<PhysicalPosition<f64>>,
    held: Option<MouseButton>,
    /// Position at which the left button was pressed, as long as it has hardly moved since.
    pressed_at: Option<PhysicalPosition<f64>>,
    clicked: Option<PhysicalPosition<f64>>,
}

/// Distance in pixels by which the pointer may move during a click.
const CLICK_PX: f64 = 4.0;

impl Pointer {
    /// Processes an event and returns true if the camera has moved. Events `over_panel` do not move it, but
    /// button releases are processed. Nothing drags the camera while bodies or
    /// particles are pulled.
    pub fn event(
        &mut self,
        event: &WindowEvent,
        over_panel: bool,
        is_pulling: bool,
        height_px: u32,
        camera: &mut OrbitCamera,
    ) -> bool {
        match event {
            WindowEvent::MouseInput { state: ElementState::Pressed, button, .. } if !over_panel => {
                self.held = Some(*button);
                self.pressed_at = self.at.filter(|_| *button == MouseButton::Left && !is_pulling);
                false
            }
            WindowEvent::MouseInput { state: ElementState::Released, button, .. } => {
                self.held = self.held.filter(|held| held != button);
                if *button == MouseButton::Left {
                    self.clicked = self.pressed_at.take().or(self.clicked);
                }
                false
            }
            WindowEvent::CursorMoved { position, .. } => {
                let is_near =
                    |at: &PhysicalPosition<f64>| (at.x - position.x).hypot(at.y - position.y) <= CLICK_PX;
                self.pressed_at = self.pressed_at.filter(is_near);
                let before = self.at.replace(*position);
                !is_pulling && before.is_some_and(|before| self.drag(before, *position, height_px, camera))
            }
            WindowEvent::MouseWheel { delta, .. } if !over_panel => {
                let notches = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => *lines,
                    MouseScrollDelta::PixelDelta(pixels) => (pixels.y / PIXELS_A_NOTCH) as f32,
                };
                camera.zoom(ZOOM_A_NOTCH.powf(notches));
                true
            }
            _ => false,
        }
    }

    /// Returns the position in pixels of a click with the left button since the last call.
    pub fn take_click(&mut self) -> Option<Vec2> {
        self.clicked.take().map(|at| Vec2::new(at.x as f32, at.y as f32))
    }

    /// Returns the position in pixels while the left button drags.
    pub fn dragged_px(&self) -> Option<Vec2> {
        let at = self.at.filter(|_| self.held == Some(MouseButton::Left))?;
        Some(Vec2::new(at.x as f32, at.y as f32))
    }

    fn drag(
        &self,
        from: PhysicalPosition<f64>,
        to: PhysicalPosition<f64>,
        height_px: u32,
        camera: &mut OrbitCamera,
    ) -> bool {
        let part = |pixels: f64| (pixels / f64::from(height_px.max(1))) as f32;
        let (right, down) = (part(to.x - from.x), part(to.y - from.y));
        match self.held {
            // The picture follows the pointer, so the camera moves in the opposite direction.
            Some(MouseButton::Left) => camera.orbit(-DEGREES_A_HEIGHT * right, DEGREES_A_HEIGHT * down),
            Some(MouseButton::Right | MouseButton::Middle) => camera.pan(right, down),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use winit::event::{DeviceId, TouchPhase};

    fn moved(x: f64, y: f64) -> WindowEvent {
        WindowEvent::CursorMoved { device_id: DeviceId::dummy(), position: PhysicalPosition::new(x, y) }
    }

    fn button(button: MouseButton, state: ElementState) -> WindowEvent {
        WindowEvent::MouseInput { device_id: DeviceId::dummy(), state, button }
    }

    #[test]
    fn left_drag_orbits_right_drag_pans_and_release_stops() {
        let (mut pointer, start) = (Pointer::default(), OrbitCamera::default());
        let mut camera = start;
        let mut feed =
            |event: WindowEvent, camera: &mut OrbitCamera| pointer.event(&event, false, false, 200, camera);
        feed(moved(0.0, 0.0), &mut camera);
        assert!(!feed(moved(10.0, 10.0), &mut camera) && camera == start, "nothing is held");

        feed(button(MouseButton::Left, ElementState::Pressed), &mut camera);
        assert!(feed(moved(30.0, 20.0), &mut camera));
        assert!((camera.azimuth_deg - (start.azimuth_deg - 18.0)).abs() < 1e-4, "{camera:?}");
        assert!((camera.elevation_deg - (start.elevation_deg + 9.0)).abs() < 1e-4, "{camera:?}");
        feed(button(MouseButton::Left, ElementState::Released), &mut camera);
        let orbited = camera;
        assert!(!feed(moved(0.0, 0.0), &mut camera) && camera == orbited);

        feed(button(MouseButton::Right, ElementState::Pressed), &mut camera);
        assert!(feed(moved(20.0, 0.0), &mut camera));
        assert!(camera.target != orbited.target && camera.azimuth_deg == orbited.azimuth_deg);
    }

    #[test]
    fn a_press_and_a_release_at_one_place_are_a_click_and_a_drag_is_none() {
        let (mut pointer, mut camera) = (Pointer::default(), OrbitCamera::default());
        let mut feed = |pointer: &mut Pointer, events: &[WindowEvent], over_panel, is_pulling| {
            for event in events {
                pointer.event(event, over_panel, is_pulling, 200, &mut camera);
            }
            pointer.take_click()
        };
        let (press, release) = (ElementState::Pressed, ElementState::Released);
        let left = |state| button(MouseButton::Left, state);
        let click = [moved(10.0, 20.0), left(press), moved(12.0, 20.0), left(release)];
        assert_eq!(feed(&mut pointer, &click, false, false), Some(Vec2::new(10.0, 20.0)));
        assert_eq!(pointer.take_click(), None, "a click is taken once");
        assert_eq!(feed(&mut pointer, &click, true, false), None, "over the panel");
        assert_eq!(feed(&mut pointer, &click, false, true), None, "a pull");
        let drag = [moved(10.0, 20.0), left(press), moved(30.0, 20.0), moved(10.0, 20.0), left(release)];
        assert_eq!(feed(&mut pointer, &drag, false, false), None);
        let other =
            [moved(10.0, 20.0), button(MouseButton::Right, press), button(MouseButton::Right, release)];
        assert_eq!(feed(&mut pointer, &other, false, false), None);
    }

    #[test]
    fn the_wheel_zooms_but_not_over_the_panel() {
        let (mut pointer, mut camera) = (Pointer::default(), OrbitCamera::default());
        let before_m = camera.distance_m;
        let delta = MouseScrollDelta::LineDelta(0.0, 2.0);
        let wheel = WindowEvent::MouseWheel { device_id: DeviceId::dummy(), delta, phase: TouchPhase::Moved };
        assert!(!pointer.event(&wheel, true, false, 100, &mut camera) && camera.distance_m == before_m);
        assert!(pointer.event(&wheel, false, false, 100, &mut camera));
        assert!((camera.distance_m / before_m - 0.81).abs() < 1e-5);
    }
}
