//! Lines of CSV by RFC 4180.

/// Formats a line with its end; cells with separators, quotes or line breaks are quoted.
pub fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(quoted).collect();
    cells.join(",") + "\n"
}

fn quoted(cell: String) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn separators_and_quotes_are_quoted() {
        let cells = ["a b", "1,5", "say \"x\"", ""].map(str::to_owned);
        assert_eq!(super::line(cells), "a b,\"1,5\",\"say \"\"x\"\"\",\n");
    }
}
