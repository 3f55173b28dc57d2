//! Columns of numbers by name, and the particles that they describe.

use std::collections::BTreeMap;

use crate::shapes::point_cloud::PointCloud;

/// Name of the column of temperatures in °C.
pub(super) const TEMPERATURE: &str = "temperature";

/// Names of the components of a vector, in the order in which they are looked for. Names are compared in
/// lower case, and components counted from 0 (`Points:0` of ParaView) are x, y and z.
const POSITION: &[[&str; 3]] = &[
    ["position_x", "position_y", "position_z"],
    ["x", "y", "z"],
    ["points_x", "points_y", "points_z"],
    ["pos_x", "pos_y", "pos_z"],
];
const VELOCITY: &[[&str; 3]] = &[
    ["velocity_x", "velocity_y", "velocity_z"],
    ["vx", "vy", "vz"],
    ["v_x", "v_y", "v_z"],
    ["vel_x", "vel_y", "vel_z"],
];
const AXES: [&str; 3] = ["x", "y", "z"];

/// Maximum numbers of names that a message lists, and of the characters of each.
const MAX_NAMES: usize = 30;
const MAX_NAME: usize = 40;

/// Columns of numbers by name.
#[derive(Default)]
pub(super) struct Columns {
    numbers: BTreeMap<String, Vec<f64>>,
    /// Names as the file has them, for messages.
    found: Vec<String>,
}

/// Returns the name by which a column is known: in lower case, with components as `_x`, `_y` and `_z`.
pub(super) fn known_name(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let component = |separator: char| {
        let (stem, component) = name.rsplit_once(separator)?;
        let axis = match component {
            "0" | "x" => "x",
            "1" | "y" => "y",
            "2" | "z" => "z",
            _ => return None,
        };
        Some(format!("{}_{axis}", stem.trim_end()))
    };
    [':', '_', '.'].into_iter().find_map(component).unwrap_or(name)
}

/// Returns true if the column of this known name holds positions, velocities or temperatures.
pub(super) fn is_used(name: &str) -> bool {
    name == TEMPERATURE || POSITION.iter().chain(VELOCITY).flatten().any(|known| *known == name)
}

/// Returns the known name of an array of vectors or of numbers, if it holds velocities or temperatures.
pub(super) fn used_array(name: &str) -> Option<String> {
    let name = name.trim().to_lowercase();
    (name == TEMPERATURE || is_used(&format!("{name}_x"))).then_some(name)
}

/// Names a particle: by its line, if lines are known.
pub(super) fn row(i: usize, first_row: Option<usize>) -> String {
    first_row.map_or_else(|| format!("particle {i}"), |first| format!("line {}", first + i))
}

impl Columns {
    /// Adds a column; the first of two of the same known name counts.
    pub(super) fn insert(&mut self, name: &str, numbers: Vec<f64>) {
        self.name(name);
        self.numbers.entry(known_name(name)).or_insert(numbers);
    }

    /// Adds the name of a column that is not used, for messages.
    pub(super) fn name(&mut self, name: &str) {
        self.found.push(name.to_owned());
    }

    /// Appends an array with one or three numbers per particle; others are ignored.
    pub(super) fn append(&mut self, name: &str, n_components: usize, numbers: &[f64]) {
        let mut append = |name: String, first: usize| {
            if !self.found.contains(&name) {
                self.found.push(name.clone());
            }
            let column = self.numbers.entry(name).or_default();
            column.extend(numbers.iter().skip(first).step_by(n_components));
        };
        match n_components {
            1 => append(name.to_owned(), 0),
            3 => AXES.iter().enumerate().for_each(|(k, axis)| append(format!("{name}_{axis}"), k)),
            _ => {}
        }
    }

    /// Returns the particles. Messages name the line of a particle if the first one's is given.
    pub(super) fn cloud(mut self, first_row: Option<usize>) -> Result<PointCloud, String> {
        let Some(positions) = self.vectors(POSITION, first_row)? else {
            return Err(format!(
                "no columns position_x, position_y and position_z, or x, y and z; found {}",
                self.names()
            ));
        };
        if positions.is_empty() {
            return Err("no particles".to_owned());
        }
        let velocities_m_s = self.vectors(VELOCITY, first_row)?;
        let temperatures_c = self.numbers.remove(TEMPERATURE);
        if let Some(values) = &temperatures_c {
            check_finite(TEMPERATURE, values, first_row)?;
        }
        Ok(PointCloud { positions, velocities_m_s, temperatures_c })
    }

    /// Lists the names of the file.
    fn names(&self) -> String {
        let shown = |name: &String| match name.char_indices().nth(MAX_NAME) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name.clone(),
        };
        let mut names: Vec<String> = self.found.iter().take(MAX_NAMES).map(shown).collect();
        match self.found.len() {
            0 => return "others".to_owned(),
            n if n > MAX_NAMES => names.push(format!("{} more", n - MAX_NAMES)),
            _ => {}
        }
        names.join(", ")
    }

    /// Returns the vectors of the first of the names that are there; it is an error if a component is
    /// missing.
    fn vectors(
        &mut self,
        names: &[[&str; 3]],
        first_row: Option<usize>,
    ) -> Result<Option<Vec<[f64; 3]>>, String> {
        for components in names {
            let found = components.map(|name| self.numbers.remove(name));
            let missing = components.iter().zip(&found).find(|(_, column)| column.is_none());
            match (found.iter().flatten().count(), missing) {
                (0, _) => {}
                (_, Some((name, _))) => return Err(format!("no column {name}; found {}", self.names())),
                _ => {
                    let [x, y, z] = found.map(Option::unwrap_or_default);
                    for (name, column) in components.iter().zip([&x, &y, &z]) {
                        check_finite(name, column, first_row)?;
                    }
                    return Ok(Some((0..x.len()).map(|i| [x[i], y[i], z[i]]).collect()));
                }
            }
        }
        Ok(None)
    }
}

fn check_finite(name: &str, numbers: &[f64], first_row: Option<usize>) -> Result<(), String> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(format!(
            "{}, column {name}: found {}, expected a finite number",
            row(i, first_row),
            numbers[i]
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_are_known() {
        for (name, known) in [
            ("X", "x"),
            (" Points:0 ", "points_x"),
            ("Points_2", "points_z"),
            ("velocity:1", "velocity_y"),
            ("Velocity.Y", "velocity_y"),
            ("Points_Magnitude", "points_magnitude"),
            ("Temperature", "temperature"),
        ] {
            assert_eq!(known_name(name), known);
        }
        assert!(is_used("points_x") && !is_used("points_magnitude"));
    }
}
