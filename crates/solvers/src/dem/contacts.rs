//! Stored contacts of grains with their histories, one row each, in the order of the grains' ids.

use super::grains::Grains;
use super::parameters::DemParameters;
use super::touching::for_each_neighbour;
use crate::{Pair, Partner, Saved, SolverError};
use frazil_particles::{ColumnKind, ParticleTable, Uses};
use frazil_shaders::dem::fault::MAX_CONTACTS;
use frazil_shaders::dem::partners::{FIRST_BODY, FIRST_PIECE, FIRST_WALL};
use frazil_shaders::dem::tidy_contacts;
use frazil_vk::{Buffer, Device, DeviceCount, DoubleBuffer, Kernel, Recorder, Threads};

/// Words of a contact's tangential spring and of the time for which it has been slow.
const SHEAR_WORDS: u32 = 4;

/// Number of words that identify the partner of a contact and hold its rolling spring, as in
/// `dem/contact_rows.glsl`.
fn contact_words(has_rolling: bool) -> u32 {
    if has_rolling { 4 } else { 1 }
}
/// Factor on the number of initial contacts that sets the capacity, if that exceeds what the scene asks for.
const MARGIN: f64 = 1.125;

/// Contacts of grains before a step: the rows of the grain with id i are those from `first_row[i]` up to
/// `first_row[i + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Index of the first row of each grain, and the end of the last; one more than there are grains.
    pub first_row: Vec<u32>,
    /// One word per row: the partner's id and the bond state, or the number of a surface. With rolling
    /// resistance three more: the rolling spring.
    pub contact: Vec<u32>,
    /// Four words per row: the tangential spring in m, and the slow time in s.
    pub shear: Vec<u32>,
}

impl Rows {
    /// Returns the rows of grains without contacts.
    pub fn none(n: usize) -> Self {
        Self { first_row: vec![0; n + 1], contact: Vec::new(), shear: Vec::new() }
    }

    /// Reads the columns that [`Contacts::register_rows`] registered; `order` lists the grains by id.
    ///
    /// # Errors
    /// A column is missing, or its length does not match the rows of all grains.
    pub fn of(saved: &Saved<'_>, order: &[usize], has_rolling: bool) -> Result<Self, SolverError> {
        let n = saved.ids.len();
        // Behind those of all grains, emitters have room for more.
        let first_row = saved.any("contact_first_row")?;
        if first_row.len() <= n {
            saved.whole("contact_first_row", n + 1)?;
        }
        let wrong = |problem| Err(SolverError::State { column: "contact_first_row".into(), problem });
        if let Some(i) = (0..n).find(|&i| first_row[i + 1].wrapping_sub(first_row[i]) > MAX_CONTACTS) {
            let [from, to] = [first_row[i], first_row[i + 1]];
            return wrong(format!("has rows {from} to {to} for one grain, expected {MAX_CONTACTS} at most"));
        }
        if first_row[0] != 0 {
            return wrong(format!("begins with {}, expected 0", first_row[0]));
        }
        let shear = saved.any("contact_shear")?;
        let n_rows = shear.len() / SHEAR_WORDS as usize;
        if n_rows < first_row[n] as usize {
            let problem = format!("has {n_rows} rows, expected {} at least", first_row[n]);
            return Err(SolverError::State { column: "contact_shear".into(), problem });
        }
        let contact = saved.whole("contact", contact_words(has_rolling) as usize * n_rows)?;
        let words = contact_words(has_rolling) as usize;
        let mut rows = Self { first_row: vec![0], contact: Vec::new(), shear: Vec::new() };
        for &i in order {
            // In the order of partners, without contacts that have ended.
            let mut own: Vec<usize> = (first_row[i] as usize..first_row[i + 1] as usize).collect();
            own.retain(|row| contact[words * row] != u32::MAX);
            own.sort_by_key(|row| partner_of(contact[words * row]));
            for row in own {
                rows.contact.extend(&contact[words * row..][..words]);
                rows.shear.extend(&shear[SHEAR_WORDS as usize * row..][..SHEAR_WORDS as usize]);
            }
            rows.first_row.push(rows.len() as u32);
        }
        Ok(rows)
    }

    /// Returns the capacity of a saved state, in rows.
    pub fn capacity_of(saved: &Saved<'_>) -> Result<usize, SolverError> {
        Ok(saved.any("contact_shear")?.len() / SHEAR_WORDS as usize)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.shear.len() / SHEAR_WORDS as usize
    }
}

/// Stored contacts on the device, as in a checkpoint. Between two builds of the contact lists these are where
/// the contacts are; [`ContactLists::store`](super::lists::ContactLists::store) updates them.
pub struct Contacts {
    /// Index of the first row of each grain by id, and the end of the last.
    pub first_row: Buffer<u32>,
    /// Partner of each contact, and its rolling spring if there is rolling resistance.
    pub contact: Buffer<u32>,
    /// Tangential spring in m, and the slow time in s.
    pub shear: Buffer<[f32; 4]>,
    /// Number of contacts of each grain.
    contact_count: Buffer<u32>,
    /// Number of freeze bonds of each grain; one element if none can form.
    bond_count: Buffer<u32>,
    contact_words: u32,
    tidy: Kernel<tidy_contacts::Interface>,
}

impl Contacts {
    /// Makes buffers for `capacity` rows, some of them in use, of the grains of a table. Set-up only: waits
    /// for the device.
    ///
    /// # Errors
    /// Out of memory, or more than the device can bind.
    pub fn new(
        device: &Device,
        parameters: &DemParameters,
        rows: &Rows,
        capacity: usize,
        workgroup_size: u32,
        table: &mut ParticleTable,
    ) -> Result<Self, SolverError> {
        let n = table.count().capacity as usize;
        let has_rolling = parameters.has_rolling();
        let capacity = capacity.max(1);
        let has_bonds = parameters.terms.has_bonds != 0;
        let tidy = tidy_contacts::Specialization {
            workgroup_size,
            has_rolling: has_rolling.into(),
            has_bonds: has_bonds.into(),
        };
        // Valid after `tidy`.
        let mut count = |name| table.computed(name, "1", Uses::OUTPUT, &[]).map(|own| own.front().clone());
        let contacts = Self {
            first_row: device.buffer("contact_first_row", n + 1)?,
            contact: device.buffer("contact", contact_words(has_rolling) as usize * capacity)?,
            shear: device.buffer("contact_shear", capacity)?,
            contact_count: count("contact_count")?,
            bond_count: if has_bonds { count("bond_count")? } else { device.buffer("no bond_count", 1)? },
            contact_words: contact_words(has_rolling),
            tidy: Kernel::specialized(device, &tidy)?,
        };
        device.upload(&contacts.first_row, &rows.first_row)?;
        for (buffer, words) in [(&contacts.contact, &rows.contact), (&contacts.shear.cast(), &rows.shear)] {
            if !words.is_empty() {
                device.upload(buffer, words)?;
            }
        }
        contacts.register_rows(table);
        Ok(contacts)
    }

    /// Returns the capacity in rows.
    pub fn n_rows(&self) -> u32 {
        self.shear.len() as u32
    }

    /// Returns columns of `capacity` rows, at least as many as now, with the present contents. It waits for
    /// the device.
    ///
    /// # Errors
    /// Out of memory, or more than the device can bind.
    pub fn grown(
        &self,
        device: &Device,
        capacity: u32,
    ) -> frazil_vk::Result<(Buffer<u32>, Buffer<[f32; 4]>)> {
        let n_rows = capacity as usize;
        let contact = device.buffer("contact", self.contact_words as usize * n_rows)?;
        let shear = device.buffer("contact_shear", n_rows)?;
        let mut recorder = device.recorder()?;
        recorder.copy(&self.contact, &contact, self.contact.len());
        recorder.copy(&self.shear, &shear, self.shear.len());
        device.submit(recorder)?.wait()?;
        Ok((contact, shear))
    }

    /// Records the count of each grain's contacts, and clears unused words, so that equal states have equal
    /// bits.
    pub fn tidy(&self, recorder: &mut Recorder, count: &DeviceCount) {
        let bindings = tidy_contacts::Bindings {
            count,
            first_row: &self.first_row,
            contact: &self.contact,
            shear: &self.shear,
            contact_count: &self.contact_count,
            bond_count: &self.bond_count,
        };
        let threads = self.shear.len().max(count.capacity as usize);
        recorder.dispatch(&self.tidy, Threads::Fixed(threads), bindings, ());
    }

    /// Returns the contacts of the grain with this id, valid after [`Self::tidy`]. It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError> {
        let id = id as usize;
        if id + 1 >= self.first_row.len() {
            return Ok(Vec::new());
        }
        let first_row = device.download(&self.first_row, id + 2)?;
        let (from, to, words) =
            (first_row[id] as usize, first_row[id + 1] as usize, self.contact_words as usize);
        let contact = device.download(&self.contact, words * to)?;
        let own = contact.chunks_exact(words).skip(from).map(|row| row[0]);
        let pair = |word: u32| Pair {
            kind: if word >> 30 == 1 { "freeze bond" } else { "contact" },
            partner: match partner_of(word) {
                other if other < FIRST_WALL => Partner::Particle(other),
                wall if wall < FIRST_BODY => Partner::Wall(wall - FIRST_WALL),
                body if body < FIRST_PIECE => Partner::Body(body - FIRST_BODY),
                piece => Partner::Piece(piece - FIRST_PIECE),
            },
            rest_length_m: None,
        };
        // A contact that has ended has this word.
        Ok(own.filter(|word| *word != u32::MAX).map(pair).collect())
    }

    /// Registers the rows for checkpoints, in place of smaller ones; canonical only after [`Self::tidy`].
    pub fn register_rows(&self, table: &mut ParticleTable) {
        let words = DoubleBuffer::single;
        table.array_of_owner("contact_first_row", "1", ColumnKind::U32, words(self.first_row.clone()));
        let kind = ColumnKind::Matrix(self.contact_words);
        table.array_of_owner("contact", "1", kind, words(self.contact.clone()));
        let kind = ColumnKind::Matrix(SHEAR_WORDS);
        table.array_of_owner("contact_shear", "m", kind, words(self.shear.cast()));
    }
}

/// Rows of contact lists on the device.
pub struct ListRows {
    /// First row of each grain in cell order, and the end of the last.
    pub first_row: Buffer<u32>,
    /// First word of each row, see `dem/lists.glsl`.
    pub near: Buffer<u32>,
    /// Tangential spring in m, and the slow time in s.
    pub shear: Buffer<[f32; 4]>,
    /// Rolling spring in rad; one element without rolling resistance.
    pub rolling: Buffer<[f32; 3]>,
}

impl ListRows {
    /// Makes rows.
    ///
    /// # Errors
    /// Out of memory, or more than the device can bind.
    pub fn new(device: &Device, n: usize, capacity: usize, has_rolling: bool) -> frazil_vk::Result<Self> {
        Ok(Self {
            first_row: device.buffer("list first row", n + 1)?,
            near: device.buffer("near", capacity)?,
            shear: device.buffer("list shear", capacity)?,
            rolling: device.buffer("list rolling", if has_rolling { capacity } else { 1 })?,
        })
    }
}

/// Returns the capacity in rows that a scene asks for, or more if its grains are initially closer than it
/// says. Contacts with walls and bodies are covered by the margin.
pub fn capacity_for(parameters: &DemParameters, grains: &Grains) -> usize {
    let t = &parameters.terms;
    let bond_gap_m = if t.has_bonds != 0 { t.bond_strength_n / t.normal_stiffness_n_m } else { 0.0 };
    let gap_m = t.cohesion_range_m.max(bond_gap_m);
    let mut n_near = 0_u64;
    for_each_neighbour(grains, |r, other| r + other + gap_m, |_, _| n_near += 1);
    parameters
        .n_rows(parameters.capacity(grains.positions_m.len()))
        .max((MARGIN * n_near as f64).ceil() as usize)
}

/// Returns rows with bonds between grains that touch.
///
/// # Errors
/// A grain touches more than `MAX_CONTACTS` others.
pub fn bonded_rows(grains: &Grains, has_rolling: bool) -> Result<Rows, SolverError> {
    let n = grains.positions_m.len();
    let mut rows = Rows::none(n);
    let touches = |r: f32, other: f32| r + other + TOUCHING_RADII * r.min(other);
    let mut pairs = Vec::new();
    for_each_neighbour(grains, touches, |i, j| pairs.push((i, j)));
    // In the order of stored contacts.
    pairs.sort_unstable();
    for (i, j) in pairs {
        rows.first_row[i + 1] += 1;
        rows.contact.extend([BONDED | j as u32, 0, 0, 0].iter().take(contact_words(has_rolling) as usize));
        rows.shear.extend([0; SHEAR_WORDS as usize]);
    }
    if rows.first_row.iter().any(|&n| n > MAX_CONTACTS) {
        let problem = format!("has a grain that touches more than {MAX_CONTACTS} others at the start");
        return Err(SolverError::State { column: "position".into(), problem });
    }
    for i in 0..n {
        rows.first_row[i + 1] += rows.first_row[i];
    }
    Ok(rows)
}

/// Bit of a partner's word that marks a contact as a bond, as in `dem/contact_rows.glsl`.
const BONDED: u32 = 1 << 30;
/// Returns the partner in a word of a row, as in `dem/contact_rows.glsl`.
fn partner_of(word: u32) -> u32 {
    if word >> 30 == 1 { word & !BONDED } else { word }
}

/// Largest gap that counts as touching, as a share of a radius.
const TOUCHING_RADII: f32 = 0.01;
