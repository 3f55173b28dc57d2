//! Connected parts of a surface of triangles, and the side that their triangles face.

use crate::Vec3;
use crate::check::vector;

/// Union-find over triangles that also knows which of two triangles of a set face opposite sides.
struct Sets {
    parent: Vec<u32>,
    /// True if a triangle faces the side opposite to its parent's.
    is_opposite: Vec<bool>,
}

impl Sets {
    fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect(), is_opposite: vec![false; n] }
    }

    /// Returns the root of a triangle's set, and whether the triangle faces the side opposite to the root's.
    fn find(&mut self, triangle: u32) -> (u32, bool) {
        let mut path = Vec::new();
        let mut at = triangle;
        while self.parent[at as usize] != at {
            path.push(at);
            at = self.parent[at as usize];
        }
        // From the root down, so that each parity is relative to the root.
        let mut is_opposite = false;
        for &below in path.iter().rev() {
            is_opposite ^= self.is_opposite[below as usize];
            self.parent[below as usize] = at;
            self.is_opposite[below as usize] = is_opposite;
        }
        (at, is_opposite)
    }

    /// Joins the sets of two triangles; returns false if they are in one set already, in which they face
    /// otherwise.
    fn join(&mut self, a: u32, b: u32, face_opposite: bool) -> bool {
        let ((a, a_opposite), (b, b_opposite)) = (self.find(a), self.find(b));
        let relative = face_opposite ^ a_opposite ^ b_opposite;
        if a == b {
            return !relative;
        }
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high as usize] = low;
        self.is_opposite[high as usize] = relative;
        true
    }
}

/// Use of an edge by a triangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    /// Ends of the edge, the lower first.
    edge: [u32; 2],
    triangle: u32,
    /// True if the triangle runs from the lower to the higher end.
    is_ahead: bool,
}

/// Beginning of the error of a surface that is not closed.
pub(super) const OPEN_EDGE: &str = "an open edge";

/// Connected parts of a closed surface.
pub(super) struct Parts {
    /// Part of each triangle, numbered from 0 in the order of their first triangles. Within a part, all
    /// triangles face the same side of it.
    pub of: Vec<u32>,
    /// True if more than two triangles share an edge, as where bodies touch.
    pub touch: bool,
}

/// Finds the connected parts of a closed surface.
///
/// Triangles are connected at edges that two of them share. Where more share one, as at bodies that touch,
/// surfaces that are closed without each other are parts of their own. `number` gives the number of a
/// triangle in its file, for the error, which describes the problem.
pub(super) fn parts(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    number: impl Fn(usize) -> String,
) -> Result<Parts, String> {
    let mut uses: Vec<Use> = Vec::with_capacity(3 * triangles.len());
    for (idx, triangle) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            uses.push(Use { edge: [a.min(b), a.max(b)], triangle: idx as u32, is_ahead: a < b });
        }
    }
    uses.sort_unstable();
    let runs = || uses.chunk_by(|a, b| a.edge == b.edge);
    let named = |triangle: u32| {
        let corners = triangles[triangle as usize].map(|v| vector(vertices[v as usize]));
        format!("{}, of corners {}, {} and {}", number(triangle as usize), corners[0], corners[1], corners[2])
    };
    // The first in the order of triangles.
    if let Some(open) = runs().filter(|run| run.len() % 2 == 1).map(|run| run[0]).min_by_key(|a| a.triangle) {
        let [low, high] = open.edge.map(|v| vector(vertices[v as usize]));
        let [from, to] = if open.is_ahead { [low, high] } else { [high, low] };
        return Err(format!("{OPEN_EDGE} from {from} to {to}, of {}", number(open.triangle as usize)));
    }
    let mut sets = Sets::new(triangles.len());
    for run in runs().filter(|run| run.len() == 2) {
        let face_opposite = run[0].is_ahead == run[1].is_ahead;
        if !sets.join(run[0].triangle, run[1].triangle, face_opposite) {
            return Err(format!(
                "a surface with one side only, as of a Klein bottle, which encloses nothing, at {}",
                named(run[1].triangle)
            ));
        }
    }
    refuse_mixed(&mut sets, triangles.len(), named)?;
    let mut joined = Sets::new(triangles.len());
    (0..triangles.len() as u32).for_each(|idx| {
        joined.join(sets.find(idx).0, idx, false);
    });
    for run in runs().filter(|run| run.len() > 2) {
        let balance = |uses: &mut dyn Iterator<Item = &Use>| {
            uses.map(|edge| if edge.is_ahead { 1 } else { -1 }).sum::<i32>()
        };
        if balance(&mut run.iter()) != 0 {
            let [from, to] = run[0].edge.map(|v| vector(vertices[v as usize]));
            return Err(format!(
                "triangles that face opposite sides at the edge from {from} to {to}, among them {}; turn \
                 those that face inward",
                named(run[0].triangle)
            ));
        }
        // Pieces of surface that are not closed at this edge by themselves close each other.
        let mut unclosed: Option<u32> = None;
        for edge in run {
            let own = sets.find(edge.triangle).0;
            let mut same = run.iter().filter(|other| sets.find(other.triangle).0 == own);
            if balance(&mut same) != 0 {
                joined.join(*unclosed.get_or_insert(edge.triangle), edge.triangle, false);
            }
        }
    }
    let mut part_of_root = vec![u32::MAX; triangles.len()];
    let mut n = 0;
    let part = |idx: usize| {
        let root = joined.find(idx as u32).0 as usize;
        if part_of_root[root] == u32::MAX {
            part_of_root[root] = n;
            n += 1;
        }
        part_of_root[root]
    };
    let touch = runs().any(|run| run.len() > 2);
    Ok(Parts { of: (0..triangles.len()).map(part).collect(), touch })
}

/// Returns true if triangles enclose a region: as many of them run along each edge in one direction as in the
/// other.
pub(super) fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let directed = |triangle: &[u32; 3]| {
        let [a, b, c] = *triangle;
        [(a, b), (b, c), (c, a)]
            .map(|(from, to)| ([from.min(to), from.max(to)], if from < to { 1 } else { -1 }))
    };
    let mut edges: Vec<([u32; 2], i32)> = triangles.iter().flat_map(directed).collect();
    edges.sort_unstable();
    edges.chunk_by(|a, b| a.0 == b.0).all(|run| run.iter().map(|(_, sign)| sign).sum::<i32>() == 0)
}

/// Refuses pieces of surface of which some triangles face the other side than most.
fn refuse_mixed(sets: &mut Sets, n: usize, named: impl Fn(u32) -> String) -> Result<(), String> {
    // Numbers of triangles that face the root's side, and the other one.
    let mut sides = vec![[0_u32; 2]; n];
    for idx in 0..n as u32 {
        let (root, is_opposite) = sets.find(idx);
        sides[root as usize][usize::from(is_opposite)] += 1;
    }
    for idx in 0..n as u32 {
        let (root, is_opposite) = sets.find(idx);
        let [own, other] = if is_opposite { [1, 0] } else { [0, 1] }.map(|side| sides[root as usize][side]);
        // Of two halves, that of the first triangle counts as right.
        let is_fewer = own < other || (own == other && is_opposite);
        if own > 0 && other > 0 && is_fewer {
            return Err(format!(
                "{} faces the side opposite to its neighbours', as do {own} of the {} triangles connected \
                 with it; turn these, as by recalculating normals to the outside",
                named(idx),
                own + other
            ));
        }
    }
    Ok(())
}

/// A connected part of a surface.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// Number of triangles, and the first of them.
    pub n: usize,
    pub first: usize,
    /// Signed volume: above 0 if the triangles face outward.
    pub volume: f64,
    /// Volume of its box.
    pub box_volume: f64,
    /// Parts that it lies in.
    pub within: Vec<u32>,
}

impl Part {
    /// Returns true if the triangles face the wrong side: of an outer part inward, or of a cavity outward. A
    /// sheet of two sides has no inside.
    pub(super) fn is_wrong(&self) -> bool {
        let is_cavity = self.within.len() % 2 == 1;
        !self.is_flat() && (self.volume < 0.0) != is_cavity
    }

    /// Returns true if the part encloses next to nothing.
    pub(super) fn is_flat(&self) -> bool {
        self.volume.abs() <= 1e-6 * self.box_volume
    }
}

/// Maximum number of parts that a note lists.
const MAX_LISTED: usize = 3;

/// Returns the note about parts whose triangles faced the wrong side; `None` if there are none.
pub(super) fn turned_note(parts: &[Part]) -> Option<String> {
    let wrong: Vec<(usize, &Part)> = parts.iter().enumerate().filter(|(_, part)| part.is_wrong()).collect();
    if let ([part], [_]) = (parts, wrong.as_slice()) {
        return Some(format!("all {} triangles faced inward, and were turned outward", part.n));
    }
    let mut listed: Vec<String> = wrong
        .iter()
        .take(MAX_LISTED)
        .map(|(idx, part)| {
            let of = format!("part {} ({} triangles from number {})", idx + 1, part.n, part.first + 1);
            match part.within.last() {
                Some(outer) if part.within.len() % 2 == 1 => {
                    format!("{of} inward, as a cavity of part {}", outer + 1)
                }
                _ => format!("{of} outward"),
            }
        })
        .collect();
    if wrong.len() > MAX_LISTED {
        listed.push(format!("and {} more", wrong.len() - MAX_LISTED));
    }
    (!wrong.is_empty()).then(|| {
        format!(
            "{} of its {} parts faced the wrong side, and were turned: {}",
            wrong.len(),
            parts.len(),
            listed.join(", ")
        )
    })
}
