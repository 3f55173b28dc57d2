//! A device with validation on, and a renderer on it.
#![allow(dead_code, reason = "each test file uses some of it")]

use frazil_render::glam::Vec3;
use frazil_render::{Frame, Renderer};
use frazil_testkit::own_device;
use frazil_vk::{Device, ReadbackRing};

pub struct Studio {
    pub device: Device,
    pub renderer: Renderer,
}

pub struct Picture {
    pub width: u32,
    pub pixels: Vec<u32>,
}

impl Studio {
    pub fn new(width: u32, height: u32) -> Self {
        let device = own_device();
        let renderer = Renderer::new(&device, width, height).unwrap();
        Self { device, renderer }
    }

    pub fn draw(&mut self, frame: &Frame<'_>) -> Picture {
        let mut recorder = self.device.recorder().unwrap();
        self.renderer.record(&mut recorder, frame).unwrap();
        let ring = ReadbackRing::new(&self.device);
        let pending = ring.read_image(&mut recorder, self.renderer.image()).unwrap();
        self.device.submit(recorder).unwrap();
        Picture { width: self.renderer.size().0, pixels: pending.wait().unwrap() }
    }

    pub fn check(self) {
        self.device.check_validation().unwrap();
    }
}

impl Picture {
    pub fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let [r, g, b, _] = self.pixels[(y * self.width + x) as usize].to_le_bytes();
        [r, g, b]
    }
}

/// Decodes a display-encoded (sRGB) colour to linear light.
pub fn linear(encoded: Vec3) -> Vec3 {
    encoded.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) })
}

/// Encodes linear light as a display (sRGB) colour.
pub fn display(light: Vec3) -> Vec3 {
    light.map(|c| if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 })
}
