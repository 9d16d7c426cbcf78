//! Parameters of methods: declared once, read by the command line, the docs and the methods themselves.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::error::{Error, Result};

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number between two bounds, both allowed.
    Integer(usize, usize),
    /// A number between two bounds, both allowed.
    Number(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text (a worker's id, say); empty means "not given".
    Text,
}

/// One parameter of a method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Name, as in the text `name=value`.
    pub name: &'static str,
    /// One line: what it does.
    pub about: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Value if none is given.
    pub default: &'static str,
}

impl Parameter {
    /// The allowed values in words.
    pub fn range(&self) -> String {
        match self.kind {
            Kind::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Number(low, high) => format!("a number from {low} to {high}"),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Text => "text".to_owned(),
        }
    }

    pub(crate) fn check(&self, value: &str) -> Result<()> {
        let fits = match self.kind {
            Kind::Integer(low, high) => is_within(value, low..=high),
            Kind::Number(low, high) => is_within(value, low..=high),
            Kind::Choice(words) => words.contains(&value),
            Kind::Text => true,
        };
        if fits {
            return Ok(());
        }
        let (expected, default) = (self.range(), self.default);
        let problem = format!("found {value:?}, expected {expected} (default {default})");
        Err(Error::parameter(self.name, problem))
    }
}

fn is_within<T: FromStr + PartialOrd>(value: &str, range: RangeInclusive<T>) -> bool {
    value.parse::<T>().is_ok_and(|number| range.contains(&number))
}

/// A value for every parameter of one method.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Values(Vec<(&'static str, String)>);

impl Values {
    /// The defaults.
    pub fn defaults(parameters: &[Parameter]) -> Self {
        let default = |parameter: &Parameter| (parameter.name, parameter.default.to_owned());
        Self(parameters.iter().map(default).collect())
    }

    /// The defaults with some values replaced, each checked.
    pub fn with(parameters: &[Parameter], given: &[(String, String)]) -> Result<Self> {
        let mut values = Self::defaults(parameters);
        for (name, value) in given {
            let Some(position) = parameters.iter().position(|parameter| parameter.name == name) else {
                let known: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
                let problem = match &known[..] {
                    [] => "this method has no parameters".to_owned(),
                    known => format!("unknown; this method has {}", known.join(", ")),
                };
                return Err(Error::parameter(name, problem));
            };
            parameters[position].check(value)?;
            values.0[position].1.clone_from(value);
        }
        Ok(values)
    }

    /// The defaults with some values replaced, unchecked: what a struct with fields out of range would say.
    #[doc(hidden)]
    pub fn unchecked(parameters: &[Parameter], given: &[(String, String)]) -> Self {
        let mut values = Self::defaults(parameters);
        for (known, value) in &mut values.0 {
            if let Some((_, other)) = given.iter().find(|(name, _)| name == known) {
                value.clone_from(other);
            }
        }
        values
    }

    /// All names and values, in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The value of the parameter that this field declares.
    #[doc(hidden)]
    pub fn get<T: FromStr>(&self, field: &str) -> T {
        let name = field.replace('_', "-");
        let value = self.iter().find(|(known, _)| *known == name);
        let value = value.and_then(|(_, value)| value.parse().ok());
        value.unwrap_or_else(|| panic!("{field} is not declared with these values"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter {
            name: "max-iter",
            about: "",
            kind: Kind::Integer(1, 10),
            default: "5",
        },
        Parameter {
            name: "tol",
            about: "",
            kind: Kind::Number(0.0, 1.0),
            default: "1e-6",
        },
        Parameter {
            name: "init",
            about: "",
            kind: Kind::Choice(&["votes", "random"]),
            default: "votes",
        },
    ];

    fn with(name: &str, value: &str) -> Result<Values> {
        Values::with(PARAMETERS, &[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn values_are_checked_and_defaults_stand() {
        let values = with("tol", "0.5").unwrap();
        assert_eq!(
            (
                values.get::<usize>("max_iter"),
                values.get::<f64>("tol"),
                values.get::<String>("init")
            ),
            (5, 0.5, "votes".to_owned())
        );
        for (name, value) in [
            ("max-iter", "0"),
            ("max-iter", "1.5"),
            ("tol", "nan"),
            ("init", "x"),
            ("nope", "1"),
        ] {
            assert!(with(name, value).is_err(), "{name}={value}");
        }
        assert_eq!(
            with("tol", "2").unwrap_err().to_string(),
            r#"parameter "tol": found "2", expected a number from 0 to 1 (default 1e-6)"#
        );
    }
}
