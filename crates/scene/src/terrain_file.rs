//! Heights from an ESRI ASCII grid.

/// The rows of heights in `text`, northernmost first; or what is wrong. Where the grid lies and how far its points are apart, the
/// scene says.
pub(crate) fn read_heights(text: &str) -> Result<Vec<Vec<f64>>, String> {
    let mut words = text.split_whitespace().peekable();
    let (mut n_columns, mut n_rows, mut no_data) = (None, None, None);
    while let Some(name) = words.next_if(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())) {
        let name = name.to_ascii_lowercase();
        let value = words.next().ok_or(format!("{name} without a value"))?;
        let whole = || value.parse::<usize>().map_err(|_| format!("{name} of {value:?}"));
        match name.as_str() {
            "ncols" => n_columns = Some(whole()?),
            "nrows" => n_rows = Some(whole()?),
            "nodata_value" => no_data = value.parse::<f64>().ok(),
            "xllcorner" | "xllcenter" | "yllcorner" | "yllcenter" | "cellsize" => {}
            _ => return Err(format!("{name:?} in the head of what should be an ESRI ASCII grid")),
        }
    }
    let (Some(n_columns), Some(n_rows)) = (n_columns, n_rows) else {
        return Err("no ncols and nrows, as an ESRI ASCII grid has".to_owned());
    };
    let heights = words
        .map(|word| match word.parse::<f64>() {
            Ok(height) if no_data == Some(height) => Err("points without data".to_owned()),
            Ok(height) => Ok(height),
            Err(_) => Err(format!("{word:?} among the heights")),
        })
        .collect::<Result<Vec<f64>, _>>()?;
    if n_columns == 0 || n_columns.checked_mul(n_rows) != Some(heights.len()) {
        return Err(format!("{} heights for {n_rows} rows of {n_columns}", heights.len()));
    }
    Ok(heights.chunks(n_columns).map(<[f64]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::read_heights;

    #[test]
    fn reads_rows_from_north_to_south() {
        let text =
            "ncols 3\nnrows 2\nxllcorner 0.0\nyllcorner 0\ncellsize 50\nNODATA_value -9999\n1 2 3\n4 5 6.5\n";
        assert_eq!(read_heights(text).unwrap(), [vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.5]]);
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, message) in [
            ("1 2 3", "no ncols and nrows, as an ESRI ASCII grid has"),
            ("ncols 2 nrows 2 1 2 3", "3 heights for 2 rows of 2"),
            ("ncols 2 nrows 1 nodata_value -1 1 -1", "points without data"),
            ("ncols 2 nrows 1 1 x", "\"x\" among the heights"),
            ("ncols two nrows 1 1 x", "ncols of \"two\""),
            ("columns 2", "\"columns\" in the head of what should be an ESRI ASCII grid"),
        ] {
            assert_eq!(read_heights(text).unwrap_err(), message);
        }
    }
}
