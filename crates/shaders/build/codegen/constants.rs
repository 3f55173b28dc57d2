//! Top-level `const uint NAME = …;` of shaders and includes, exported to Rust so that no number is written
//! twice.

use super::expression::Expression;

/// A constant with its value and the comment beside or above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    pub name: String,
    pub value: u32,
    pub doc: String,
}

/// Returns the definitions in a shader's own text: name, expression, and comment.
pub fn definitions(text: &str) -> Vec<(String, Expression, String)> {
    let mut found = Vec::new();
    let mut above = String::new();
    for line in text.lines() {
        let definition = line
            .strip_prefix("const uint ")
            .and_then(|rest| rest.split_once(';'))
            .and_then(|(definition, comment)| Some((definition.split_once('=')?, comment)));
        if let Some(((name, value), comment)) = definition
            && let Some(expression) = Expression::parse(value)
        {
            let beside = comment.trim().trim_start_matches('/').trim();
            let doc = if beside.is_empty() { above.clone() } else { beside.to_owned() };
            found.push((name.trim().to_owned(), expression, doc));
        } else if let Some(comment) = line.strip_prefix("//") {
            if !above.is_empty() {
                above.push(' ');
            }
            above.push_str(comment.trim());
        } else {
            above.clear();
        }
    }
    found
}

/// Returns the constants of a shader's own text whose values are fixed: neither those that depend on
/// specialization constants nor private ones, whose names end in an underscore.
pub fn constants(text: &str) -> Vec<Constant> {
    let mut found: Vec<Constant> = Vec::new();
    for (name, expression, doc) in definitions(text) {
        let known = |name: &str| found.iter().find(|c| c.name == name).map(|c| u64::from(c.value));
        if !name.ends_with('_')
            && let Some(value) = expression.evaluate(&known).and_then(|value| u32::try_from(value).ok())
        {
            found.push(Constant { name, value, doc });
        }
    }
    found
}
