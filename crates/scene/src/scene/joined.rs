//! Bodies that joints hold together.

use crate::{Body, JointKind, Scene};

impl Scene {
    /// Returns the group of each body: welds hold the bodies of a group together. That of what no load moves
    /// is 0.
    pub fn weld_groups(&self) -> Vec<usize> {
        let of = |name: &str| self.bodies.iter().position(|body| body.name.as_deref() == Some(name));
        let own = |(idx, body): (usize, &Body)| if body.dynamics().is_some() { idx + 1 } else { 0 };
        let mut groups: Vec<usize> = self.bodies.iter().enumerate().map(own).collect();
        for weld in self.joints.iter().filter(|joint| matches!(joint.kind, JointKind::Fixed { .. })) {
            let group = |name: &str| of(name).map_or(0, |idx| groups[idx]);
            let both = [group(&weld.body), weld.to.as_deref().map_or(0, group)];
            let least = both[0].min(both[1]);
            groups.iter_mut().filter(|own| both.contains(own)).for_each(|own| *own = least);
        }
        groups
    }

    /// Returns true if welds, or a joint of them or their groups but a spring, hold two bodies together,
    /// given by their indices: they do not touch.
    pub(crate) fn are_joined(&self) -> impl Fn(usize, usize) -> bool {
        let of = |name: &str| self.bodies.iter().position(|body| body.name.as_deref() == Some(name));
        let groups = self.weld_groups();
        let rigid = self.joints.iter().filter(|joint| !matches!(joint.kind, JointKind::Spring { .. }));
        let ends: Vec<_> = rigid.map(|joint| (of(&joint.body), joint.to.as_deref().and_then(of))).collect();
        move |a, b| {
            let is_end = |end: Option<usize>, body: usize| {
                end.is_some_and(|end| end == body || groups[end] == groups[body] && groups[body] != 0)
            };
            let is_between = |(from, to): &(Option<usize>, Option<usize>)| {
                is_end(*from, a) && is_end(*to, b) || is_end(*from, b) && is_end(*to, a)
            };
            groups[a] == groups[b] || ends.iter().any(is_between)
        }
    }
}
