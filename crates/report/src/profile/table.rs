//! Text tables.

/// Style of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableStyle {
    /// Columns aligned by blanks, for a terminal.
    Plain,
    /// A Markdown table, also aligned.
    Markdown,
}

/// Formats a header and lines with as many cells each, the first column aligned left and the others right;
/// each line ends with a line break.
pub fn table<L: AsRef<[String]>>(header: &[&str], lines: &[L], style: TableStyle) -> String {
    let header: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    let all: Vec<&[String]> = std::iter::once(header.as_slice()).chain(lines.iter().map(L::as_ref)).collect();
    let width = |c: usize| all.iter().filter_map(|line| line.get(c)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..header.len()).map(|c| width(c).unwrap_or(0)).collect();
    let aligned = |line: &[String]| -> Vec<String> {
        let pad = |(c, (cell, width)): (usize, (&String, &usize))| {
            if c == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        line.iter().zip(&widths).enumerate().map(pad).collect()
    };
    let mut text = String::new();
    for (i, line) in all.iter().enumerate() {
        match style {
            TableStyle::Plain => text.push_str(aligned(line).join("  ").trim_end()),
            TableStyle::Markdown => text.push_str(&format!("| {} |", aligned(line).join(" | "))),
        }
        text.push('\n');
        if i == 0 && style == TableStyle::Markdown {
            let rule = |(c, width): (usize, &usize)| {
                if c == 0 { "-".repeat(*width) } else { format!("{}:", "-".repeat(width.saturating_sub(1))) }
            };
            let rules: Vec<_> = widths.iter().enumerate().map(rule).collect();
            text.push_str(&format!("| {} |\n", rules.join(" | ")));
        }
    }
    text
}
