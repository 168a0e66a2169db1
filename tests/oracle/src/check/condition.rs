//! Evaluates the condition of a report.
//!
//! ```text
//! or       = and ("||" and)*
//! and      = not ("&&" not)*
//! not      = "!" not | "(" or ")" | ("any" | "all" | "isnan" | "isinf") "(" or ")" | operand [relation]
//! relation = ("==" | "!=" | "<" | "<=" | ">" | ">=") operand | "is one of" list | "is none of" list
//! operand  = ".." | name | function "(..)" | number | "true" | "false" | "(" number ("," number)* ")"
//! ```

/// A number as a report shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
    /// The interpreter does not define it.
    Undefined,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// The report does not tell.
    Unknown,
    Bool(bool),
    Bools(Vec<Option<bool>>),
    Numbers(Vec<Number>),
}

/// A condition that is being read. `names`: the operands that have names, longest name first.
struct Reader<'a> {
    rest: &'a str,
    names: &'a [(String, Vec<Number>)],
}

/// The value of a condition in which `names` have these values; `None` if the text does not determine it. Booleans are 0 and 1.
pub(super) fn evaluate(text: &str, mut names: Vec<(String, Vec<Number>)>) -> Result<Option<bool>, String> {
    names.sort_by_key(|(name, _)| usize::MAX - name.len());
    let mut reader = Reader {
        rest: text,
        names: &names,
    };
    let value = reader.or();
    match (reader.rest.trim(), truth(&value)) {
        ("", held) => Ok(held),
        (rest, _) => Err(format!("`{rest}` of the condition `{text}` is not expected")),
    }
}

/// A value as a Boolean.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Numbers(numbers) => match numbers.as_slice() {
            [Number::Int(value)] => Some(*value != 0),
            _ => None,
        },
        Value::Bools(_) | Value::Unknown => None,
    }
}

fn boolean(value: Option<bool>) -> Value {
    value.map_or(Value::Unknown, Value::Bool)
}

impl Reader<'_> {
    fn takes(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn or(&mut self) -> Value {
        let mut value = self.and();
        while self.takes("||") {
            let (left, right) = (truth(&value), truth(&self.and()));
            value = boolean(match (left, right) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            });
        }
        value
    }

    fn and(&mut self) -> Value {
        let mut value = self.not();
        while self.takes("&&") {
            let (left, right) = (truth(&value), truth(&self.not()));
            value = boolean(match (left, right) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            });
        }
        value
    }

    fn not(&mut self) -> Value {
        if self.takes("!") {
            return boolean(truth(&self.not()).map(|value| !value));
        }
        for function in ["any(", "all(", "isnan(", "isinf("] {
            if self.takes(function) {
                let argument = self.or();
                self.takes(")");
                return call(function, argument);
            }
        }
        let operand = self.operand();
        self.relation(operand)
    }

    fn relation(&mut self, left: Value) -> Value {
        for (words, is_one) in [("is one of", true), ("is none of", false)] {
            if self.takes(words) {
                let list = self.list();
                // Long lists are counted.
                if self.takes("cases") {
                    return Value::Unknown;
                }
                let (Value::Numbers(left), true) = (&left, self.rest.is_empty()) else {
                    return Value::Unknown;
                };
                let is_in = left.first().is_some_and(|value| list.contains(value));
                return Value::Bool(is_in == is_one);
            }
        }
        for symbol in ["==", "!=", "<=", ">=", "<", ">"] {
            if self.takes(symbol) {
                let right = self.operand();
                return compare(symbol, left, right);
            }
        }
        left
    }

    fn operand(&mut self) -> Value {
        if self.takes("..") {
            return Value::Unknown;
        }
        let rest = self.rest.trim_start();
        // A name in which other names and operators occur comes first.
        let named = self.names.iter().find(|(name, _)| rest.starts_with(name.as_str()));
        if let Some((name, numbers)) = named {
            self.rest = &rest[name.len()..];
            return Value::Numbers(numbers.clone());
        }
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if let Some(rest) = word
            .and_then(|end| rest.get(end..))
            .and_then(|rest| rest.strip_prefix("(..)"))
        {
            self.rest = rest;
            return Value::Unknown;
        }
        if self.takes("true") {
            return Value::Bool(true);
        }
        if self.takes("false") {
            return Value::Bool(false);
        }
        if let Some(inside) = rest.strip_prefix('(') {
            let mut vector = Reader { rest: inside, ..*self };
            let list = vector.list();
            if list.len() > 1 && vector.takes(")") {
                self.rest = vector.rest;
                return Value::Numbers(list);
            }
            self.rest = inside;
            let value = self.or();
            self.takes(")");
            return value;
        }
        self.number()
            .map_or(Value::Unknown, |number| Value::Numbers(vec![number]))
    }

    fn list(&mut self) -> Vec<Number> {
        let mut list = Vec::new();
        while let Some(number) = self.number() {
            list.push(number);
            if !self.takes(",") {
                break;
            }
        }
        list
    }

    fn number(&mut self) -> Option<Number> {
        for (word, bool) in [("true", 1), ("false", 0)] {
            if self.takes(word) {
                return Some(Number::Int(bool));
            }
        }
        let rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let text = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let number = match text.parse() {
            Ok(int) => Number::Int(int),
            Err(_) => Number::Float(text.parse().ok()?),
        };
        self.rest = &rest[text.len()..];
        Some(number)
    }
}

fn call(function: &str, argument: Value) -> Value {
    let all = match (function, argument) {
        ("any(" | "all(", Value::Bools(lanes)) => lanes,
        ("any(" | "all(", Value::Numbers(lanes)) => {
            let lane = |number: &Number| truth(&Value::Numbers(vec![*number]));
            lanes.iter().map(lane).collect()
        }
        (_, Value::Numbers(lanes)) => {
            let [Number::Float(value)] = lanes.as_slice() else {
                return Value::Unknown;
            };
            return Value::Bool(if function == "isnan(" {
                value.is_nan()
            } else {
                value.is_infinite()
            });
        }
        _ => return Value::Unknown,
    };
    let decisive = function == "any(";
    match (all.contains(&Some(decisive)), all.contains(&None)) {
        (true, _) => Value::Bool(decisive),
        (false, false) => Value::Bool(!decisive),
        (false, true) => Value::Unknown,
    }
}

/// Compares two values lane by lane: of vectors, `==` and `!=` compare the whole outside of `any` and `all`, which is the same
/// question here.
fn compare(symbol: &str, left: Value, right: Value) -> Value {
    let numbers = |value: Value| match value {
        Value::Numbers(numbers) => numbers,
        Value::Bool(value) => vec![Number::Int(value.into())],
        Value::Bools(_) | Value::Unknown => Vec::new(),
    };
    let (left, right) = (numbers(left), numbers(right));
    if left.len() != right.len() || left.is_empty() {
        return Value::Unknown;
    }
    let lane = |(left, right): (&Number, &Number)| {
        let order = match (left, right) {
            (Number::Int(left), Number::Int(right)) => Some(left.cmp(right)),
            (Number::Float(left), Number::Float(right)) => left.partial_cmp(right),
            _ => return None,
        };
        Some(match symbol {
            "==" => order.is_some_and(|order| order.is_eq()),
            "!=" => order.is_none_or(|order| order.is_ne()),
            "<" => order.is_some_and(|order| order.is_lt()),
            "<=" => order.is_some_and(|order| order.is_le()),
            ">" => order.is_some_and(|order| order.is_gt()),
            _ => order.is_some_and(|order| order.is_ge()),
        })
    };
    let lanes: Vec<Option<bool>> = left.iter().zip(&right).map(lane).collect();
    match lanes.as_slice() {
        [only] => boolean(*only),
        _ => Value::Bools(lanes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_the_values_of_their_operands() {
        let int = |value| vec![Number::Int(value)];
        let names = || {
            vec![
                ("a".to_owned(), int(3)),
                ("a + b".to_owned(), int(7)),
                ("b".to_owned(), int(4)),
                ("nan".to_owned(), vec![Number::Float(f64::NAN)]),
                ("v".to_owned(), vec![Number::Int(1), Number::Int(2)]),
            ]
        };
        for (text, expected) in [
            ("a < b", Some(true)),
            ("a + b == 7", Some(true)),
            ("!(nan < 1.5)", Some(true)),
            ("nan != 1.5 && a == -3", Some(false)),
            ("a == 4 || (b == 4 && !(a > 3))", Some(true)),
            ("a is one of 1, 2, 3", Some(true)),
            ("a is none of 1, 2, 3", Some(false)),
            ("a is none of 9 cases", None),
            (".. && a == 3", None),
            (".. && a == 4", Some(false)),
            ("any(v == (1, 3))", Some(true)),
            ("all(v == (1, 3))", Some(false)),
            ("isnan(nan)", Some(true)),
            ("a == ..", None),
            ("!due(..) || a == 3", Some(true)),
        ] {
            assert_eq!(evaluate(text, names()), Ok(expected), "{text}");
        }
        assert!(evaluate("a ? b", names()).is_err());
    }
}
