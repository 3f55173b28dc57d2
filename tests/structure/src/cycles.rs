//! Strongly connected components of a small graph.

/// Returns the components of more than one node, each sorted, of a graph of `n` nodes.
pub fn cycles(n: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut reaches = vec![vec![false; n]; n];
    for &(from, to) in edges {
        reaches[from][to] = true;
    }
    for via in 0..n {
        let onward = reaches[via].clone();
        for row in reaches.iter_mut().filter(|row| row[via]) {
            row.iter_mut().zip(&onward).for_each(|(there, &also)| *there |= also);
        }
    }
    let mut found = Vec::new();
    let mut done = vec![false; n];
    for node in 0..n {
        if !done[node] {
            let component: Vec<usize> =
                (0..n).filter(|&k| k == node || reaches[node][k] && reaches[k][node]).collect();
            component.iter().for_each(|&k| done[k] = true);
            if component.len() > 1 {
                found.push(component);
            }
        }
    }
    found
}
