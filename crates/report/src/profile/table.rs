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

/// Width of tables on a terminal, in columns of characters.
const MAX_WIDTH: usize = 100;

/// Formats a table like [`table`]; unless `wide`, without as many of the columns `optional`, named by their
/// headers and the first one first, as it takes to fit 100 columns, and with a last line that names them.
pub fn fitted_table<L: AsRef<[String]>>(
    header: &[&str],
    lines: &[L],
    optional: &[&str],
    wide: bool,
    style: TableStyle,
) -> String {
    let width = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let mut left_out: Vec<&str> = Vec::new();
    let mut candidates = optional.iter().filter(|name| header.contains(name));
    loop {
        let is_kept = |c: usize| !left_out.contains(&header[c]);
        let kept: Vec<usize> = (0..header.len()).filter(|&c| is_kept(c)).collect();
        let of = |line: &L| -> Vec<String> {
            kept.iter().filter_map(|&c| line.as_ref().get(c).cloned()).collect()
        };
        let headers: Vec<&str> = kept.iter().map(|&c| header[c]).collect();
        let text = table(&headers, &lines.iter().map(of).collect::<Vec<_>>(), style);
        let next = if wide || width(&text) <= MAX_WIDTH { None } else { candidates.next() };
        match next {
            Some(name) => left_out.push(name),
            None if left_out.is_empty() => return text,
            None => return format!("{text}with --wide also: {}\n", left_out.join(", ")),
        }
    }
}

/// Formats a time in nanoseconds with three digits and a unit.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (1e-3 * ns, "µs"),
        ns if ns < 1e9 => (1e-6 * ns, "ms"),
        _ => (1e-9 * ns, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_left_out_until_the_table_fits() {
        let name = "n".repeat(60);
        let lines = [vec![name, "1".repeat(20), "2".repeat(20), "3".to_owned()]];
        let header = ["name", "a", "b", "c"];
        let fitted =
            |optional: &[&str], wide| fitted_table(&header, &lines, optional, wide, TableStyle::Plain);
        assert_eq!(fitted(&["b", "a"], true), table(&header, &lines, TableStyle::Plain));
        let text = fitted(&["nosuch", "b", "a"], false);
        assert!(
            text.ends_with("with --wide also: b\n") && !text.contains('2') && text.contains("111"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        // Columns that may not be left out stay.
        assert!(fitted(&["c"], false).contains(&"2".repeat(20)));
    }

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (ns, text) in [
            (0.0, "0.00 ns"),
            (999.0, "999 ns"),
            (1234.0, "1.23 µs"),
            (56_780.0, "56.8 µs"),
            (2.5e9, "2.50 s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }
}
