//! Integer expressions of GLSL constants and of the `Elements:` lines of kernel headers.

/// A number, a name, or an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    Number(u64),
    /// A name, or the path of a field: `extent.divisor`.
    Name(String),
    Binary(char, Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Parses `+ - * / <<`, parentheses, numbers and names; returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut tokens = tokens(text)?;
        tokens.reverse();
        let expression = shift(&mut tokens)?;
        tokens.is_empty().then_some(expression)
    }

    /// Evaluates the expression; returns `None` if a name has no value or a result overflows.
    pub fn evaluate(&self, value: &impl Fn(&str) -> Option<u64>) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Name(name) => value(name),
            Self::Binary(operator, a, b) => {
                let (a, b) = (a.evaluate(value)?, b.evaluate(value)?);
                match operator {
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    '/' => a.checked_div(b),
                    _ => a.checked_shl(u32::try_from(b).ok()?),
                }
            }
        }
    }

    /// Returns the Rust text of the expression in `u64`. Division rounds up: elements counted in tiles are
    /// moved in whole tiles.
    ///
    /// The error is the name for which `text` returns `None`.
    pub fn rust(&self, text: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
        Ok(match self {
            Self::Number(number) => format!("{number}_u64"),
            Self::Name(name) => text(name).ok_or_else(|| name.clone())?,
            Self::Binary(operator, a, b) => {
                let (a, b) = (a.rust(text)?, b.rust(text)?);
                match operator {
                    '+' => format!("({a}).saturating_add({b})"),
                    '-' => format!("({a}).saturating_sub({b})"),
                    '*' => format!("({a}).saturating_mul({b})"),
                    '/' => format!("({a}).div_ceil({b})"),
                    _ => format!("({a}).unbounded_shl(({b}) as u32)"),
                }
            }
        })
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Operand(Expression),
    Operator(char),
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let word = &rest[..end.unwrap_or(rest.len())];
            found.push(Token::Operand(if first.is_ascii_digit() {
                let digits = word.trim_end_matches('u');
                Expression::Number(match digits.strip_prefix("0x") {
                    Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
                    None => digits.parse().ok()?,
                })
            } else {
                Expression::Name(word.to_owned())
            }));
            word.len()
        } else if rest.starts_with("<<") {
            found.push(Token::Operator('<'));
            2
        } else if "+-*/()".contains(first) {
            found.push(Token::Operator(first));
            1
        } else {
            return None;
        };
        rest = rest[length..].trim_start();
    }
    Some(found)
}

fn shift(tokens: &mut Vec<Token>) -> Option<Expression> {
    binary(tokens, &['<'], |tokens| {
        binary(tokens, &['+', '-'], |tokens| binary(tokens, &['*', '/'], operand))
    })
}

fn binary(
    tokens: &mut Vec<Token>,
    operators: &[char],
    next: impl Fn(&mut Vec<Token>) -> Option<Expression>,
) -> Option<Expression> {
    let mut left = next(tokens)?;
    while let Some(Token::Operator(operator)) = tokens.last()
        && operators.contains(operator)
    {
        let operator = *operator;
        tokens.pop();
        left = Expression::Binary(operator, Box::new(left), Box::new(next(tokens)?));
    }
    Some(left)
}

fn operand(tokens: &mut Vec<Token>) -> Option<Expression> {
    match tokens.pop()? {
        Token::Operand(operand) => Some(operand),
        Token::Operator('(') => {
            let inner = shift(tokens)?;
            (tokens.pop()? == Token::Operator(')')).then_some(inner)
        }
        Token::Operator(_) => None,
    }
}
