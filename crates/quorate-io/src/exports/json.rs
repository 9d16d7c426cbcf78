//! JSON of exports: values of any simple type as text, objects one by one, and words for what is wrong with
//! them.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::answers::join_choices;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::json_texts::{JsonTexts, Shape};
use crate::formats::jsonl::{NO_OBJECTS, problem_of};

/// An id or a label: text, a number, true, false, or null, which is empty. Borrowed from the file where it
/// can be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Scalar<'a>(pub Cow<'a, str>);

impl AsRef<str> for Scalar<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(parser: D) -> std::result::Result<Self, D::Error> {
        parser.deserialize_any(ScalarVisitor)
    }
}

/// Visits null, text and other simple values as a [`Scalar`] in something.
macro_rules! visit_values {
    ($make:expr; $($name:ident: $kind:ty),+) => {
        fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
            Ok($make(Scalar::default()))
        }

        fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
            Ok($make(Scalar(text.into())))
        }

        $(fn $name<E>(self, value: $kind) -> std::result::Result<Self::Value, E> {
            Ok($make(Scalar(value.to_string().into())))
        })+
    };
}
pub(crate) use visit_values;

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, true, false or null")
    }

    visit_values!(|value| value; visit_str: &str, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_bool: bool);
}

/// An answer in JSON: one value, several, or something that is no choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer<'a> {
    /// One value; null is empty.
    One(Scalar<'a>),
    /// A list of values.
    Several(Vec<Scalar<'a>>),
    /// A list or an object with more than that in it.
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Answer<'a> {
    fn deserialize<D: Deserializer<'de>>(parser: D) -> std::result::Result<Self, D::Error> {
        parser.deserialize_any(AnswerVisitor)
    }
}

struct AnswerVisitor;

impl<'de> Visitor<'de> for AnswerVisitor {
    type Value = Answer<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or a list of values")
    }

    visit_values!(Answer::One; visit_str: &str, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_bool: bool);

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        let mut other = false;
        while let Some(answer) = list.next_element::<Answer<'de>>()? {
            match answer {
                Answer::One(value) => values.push(value),
                // A path of a taxonomy, say.
                Answer::Several(path) if !path.is_empty() => {
                    let parts: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
                    values.push(Scalar(parts.join("/").into()));
                }
                Answer::Several(_) | Answer::Other => other = true,
            }
        }
        Ok(if other {
            Answer::Other
        } else {
            Answer::Several(values)
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        while map
            .next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?
            .is_some()
        {}
        Ok(Answer::Other)
    }
}

impl Answer<'_> {
    /// As one class: a combination where there are several choices, empty where there is none.
    pub(crate) fn label(&self) -> Cow<'_, str> {
        match self {
            Self::One(value) => Cow::Borrowed(value.as_ref()),
            Self::Several(values) => join_choices(values).into(),
            Self::Other => Cow::Borrowed(""),
        }
    }

    /// The same, owning its text.
    pub(crate) fn of_value(value: &Value) -> Answer<'static> {
        match value {
            Value::Array(list) => {
                let values: Option<Vec<Scalar<'static>>> = list
                    .iter()
                    .map(|value| scalar_of(value).map(|text| Scalar(text.into())))
                    .collect();
                values.map_or(Answer::Other, Answer::Several)
            }
            value => scalar_of(value).map_or(Answer::Other, |text| Answer::One(Scalar(text.into()))),
        }
    }
}

/// A simple value as text; none for lists and objects.
pub(crate) fn scalar_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => String::new(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => float.to_string(),
            _ => number.to_string(),
        },
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

/// A simple value that has to be there, as text.
pub(crate) fn required(object: &Value, key: &str) -> Result<String> {
    word(object, key).ok_or_else(|| missing_key(object, key))
}

/// A simple value of an object as text, if it is there and not empty.
pub(crate) fn word(object: &Value, key: &str) -> Option<String> {
    object
        .get(key)
        .and_then(scalar_of)
        .filter(|text| !text.is_empty())
}

/// The elements of the list at a place of a value; none if there is no list.
pub(crate) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// The error where an object lacks a value.
pub(crate) fn missing_key(object: &Value, key: &str) -> Error {
    let keys = object
        .as_object()
        .into_iter()
        .flat_map(|object| object.keys().cloned());
    ErrorKind::Missing {
        keys: true,
        names: vec![key.to_owned()],
        found: keys.collect(),
        hint: "every object needs this key, with a value; is this the right format?".into(),
        remedy: Some(quorate::Remedy::NameFormat),
    }
    .into()
}

/// Goes through the values of a file; errors get their place.
pub(crate) fn each(
    input: impl Read,
    shape: Option<Shape>,
    mut take: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut texts = JsonTexts::of_shape(input, shape)?;
    let mut any = false;
    while texts.advance()? {
        any = true;
        take(texts.text()?).map_err(|error| error.at(texts.position()))?;
    }
    if any {
        Ok(())
    } else {
        Err(Error::empty(NO_OBJECTS))
    }
}

/// A text as a value; `expected` is what a file of this kind holds.
pub(crate) fn parse<'de, T: Deserialize<'de>>(text: &'de str, expected: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let place = match error.line() {
            0 | 1 => format!("character {}", error.column()),
            line => format!("line {line}, character {} of it", error.column()),
        };
        Error::export(format!("{} at {place}", problem_of(&error)), expected)
    })
}
