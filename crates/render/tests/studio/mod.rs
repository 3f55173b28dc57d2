//! A device with validation on, and a renderer on it.
#![allow(dead_code, reason = "each test file uses some of it")]

use frazil_render::glam::Vec3;
use frazil_render::{Frame, Renderer};
use frazil_testkit::own_device;
use frazil_vk::{BarrierPlan, Device, ReadbackRing, Recorder, RecorderOptions, find_hazards};

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

/// Asserts that no barrier is missing where passes are recorded twice in a row, and that each is needed.
/// Nothing is submitted.
pub fn assert_each_barrier_is_needed(device: &Device, mut record: impl FnMut(&mut Recorder)) {
    let mut hazards = |barriers| {
        let options = RecorderOptions { trace: true, barriers, ..Default::default() };
        let mut recorder = device.recorder_with(options).unwrap();
        record(&mut recorder);
        record(&mut recorder);
        assert!(recorder.mistake().is_none(), "{:?}", recorder.mistake());
        (recorder.barrier_count(), find_hazards(recorder.events()))
    };
    let (barriers, missing) = hazards(BarrierPlan::All);
    assert_eq!(missing, []);
    device.check_validation().unwrap();
    for omitted in 0..barriers {
        let (_, hazards) = hazards(BarrierPlan::Omit(omitted));
        assert!(!hazards.is_empty(), "barrier {omitted} of {barriers} could be left out");
    }
    // Messages of the synchronization layer about the planted mistakes; it does not track dynamic rendering.
    let n_messages = device.validation().take().len();
    println!("{barriers} barriers, {n_messages} messages of the layer");
    assert!(barriers > 0 && n_messages > 0);
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
