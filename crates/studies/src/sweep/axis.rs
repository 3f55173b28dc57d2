//! Axis of a sweep: keys of a scene that change together, and their values.

use std::str::FromStr;

/// One axis of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaryAxis {
    /// Paths of the keys.
    pub keys: Vec<String>,
    /// One entry for each point, of one value for each key, as `--set` takes it.
    pub points: Vec<Vec<String>>,
}

impl FromStr for VaryAxis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (keys, values) = text.split_once('=').ok_or_else(|| {
            format!("found no '=' in \"{text}\", expected a key and values, such as time.dt_s=0.001,0.002")
        })?;
        let keys: Vec<String> = keys.split(',').map(|key| key.trim().to_owned()).collect();
        for (i, key) in keys.iter().enumerate() {
            if key.is_empty() {
                return Err(format!("found an empty key in \"{text}\", expected table.key"));
            }
            if keys[..i].contains(key) {
                return Err(format!("{key} is given twice"));
            }
        }
        let mut points: Vec<Vec<String>> = Vec::new();
        for point in split(values, ',')? {
            let point = values_of(point, &keys)?;
            if points.contains(&point) {
                return Err(format!("{}: {} is given twice", keys.join(","), point.join(":")));
            }
            points.push(point);
        }
        Ok(Self { keys, points })
    }
}

/// Parses the values of one point, one for each key; a single value applies to all keys.
fn values_of(point: &str, keys: &[String]) -> Result<Vec<String>, String> {
    // The value of a single key may contain colons.
    let parts = if keys.len() == 1 { vec![point] } else { split(point, ':')? };
    let values: Vec<String> = parts.iter().map(|part| part.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err(format!("{}: found an empty value, expected one such as 0.5", keys.join(",")));
    }
    match values.len() {
        n if n == keys.len() => Ok(values),
        1 => Ok(vec![values[0].clone(); keys.len()]),
        n => Err(format!(
            "{}: found \"{point}\" of {n} values, expected one for each of {} keys, joined by ':', or one \
             for all",
            keys.join(","),
            keys.len()
        )),
    }
}

/// Splits at separators outside quotes and brackets.
fn split(text: &str, separator: char) -> Result<Vec<&str>, String> {
    let (mut parts, mut begin) = (Vec::new(), 0);
    let (mut quote, mut is_escaped, mut depth) = (None, false, 0_u32);
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some('"') if c == '\\' => is_escaped = true,
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' => quote = Some(c),
                '[' | '{' => depth += 1,
                ']' | '}' => {
                    depth = depth.checked_sub(1).ok_or_else(|| {
                        format!("found '{c}' in \"{text}\", expected a bracket opened before it")
                    })?;
                }
                _ if c == separator && depth == 0 => {
                    parts.push(&text[begin..at]);
                    begin = at + c.len_utf8();
                }
                _ => {}
            },
        }
    }
    if quote.is_some() || depth > 0 {
        let what = if quote.is_some() { "quote" } else { "bracket" };
        return Err(format!("found a {what} in \"{text}\" that is not closed"));
    }
    parts.push(&text[begin..]);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> Vec<Vec<String>> {
        text.parse::<VaryAxis>().unwrap().points
    }

    #[test]
    fn a_key_takes_each_of_its_values() {
        let axis: VaryAxis = "time.dt_s=0.001, 2e-3".parse().unwrap();
        assert_eq!(axis.keys, ["time.dt_s"]);
        assert_eq!(axis.points, [["0.001"], ["2e-3"]]);
    }

    #[test]
    fn tied_keys_change_together_or_take_the_same_value() {
        let axis: VaryAxis = "a.e,a.xi=1.4e5:10,3e5:20".parse().unwrap();
        assert_eq!(axis.keys, ["a.e", "a.xi"]);
        assert_eq!(axis.points, [["1.4e5", "10"], ["3e5", "20"]]);
        assert_eq!(points("a.mu,b.mu,c.mu=0.1,0.2:0.3:0.4"), [["0.1"; 3], ["0.2", "0.3", "0.4"]]);
    }

    #[test]
    fn quoted_and_bracketed_separators_are_ignored() {
        assert_eq!(points("g=[0, -1, 0],[0, -9.81, 0]"), [["[0, -1, 0]"], ["[0, -9.81, 0]"]]);
        assert_eq!(points("a=\"x,y\",'p,\"q',z"), [["\"x,y\""], ["'p,\"q'"], ["z"]]);
        assert_eq!(points(r#"a="x\",y",{ p = 1, q = [2, 3] }"#), [[r#""x\",y""#], ["{ p = 1, q = [2, 3] }"]]);
        assert_eq!(points("a,b=\"x:y\":[1, 2],'p':0"), [["\"x:y\"", "[1, 2]"], ["'p'", "0"]]);
        assert_eq!(points("a=x:y,z"), [["x:y"], ["z"]]);
    }

    #[test]
    fn invalid_values_are_refused_with_the_value_found() {
        for (text, said) in [
            ("time.dt_s", "found no '=' in \"time.dt_s\""),
            ("a,,b=1", "found an empty key"),
            ("a,a=1", "a is given twice"),
            ("a=1,,2", "a: found an empty value"),
            ("a=", "a: found an empty value"),
            ("a=1,2,1", "a: 1 is given twice"),
            ("a,b=1:2:3", "a,b: found \"1:2:3\" of 3 values, expected one for each of 2 keys"),
            ("a=[1,2", "a bracket in \"[1,2\" that is not closed"),
            ("a=\"x,y", "a quote"),
            ("a=1],2", "found ']'"),
        ] {
            let error = text.parse::<VaryAxis>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
