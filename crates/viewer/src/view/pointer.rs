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
}

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
                false
            }
            WindowEvent::MouseInput { state: ElementState::Released, button, .. } => {
                self.held = self.held.filter(|held| held != button);
                false
            }
            WindowEvent::CursorMoved { position, .. } => {
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
