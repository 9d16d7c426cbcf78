//! The members of a JSON object in their order, values as they are written: for rewriting one and leaving the
//! rest alone.

use std::borrow::Cow;
use std::io::Write;

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

use crate::error::Result;
use crate::formats::jsonl::EachMember;

/// Keys and values.
pub(crate) struct Members<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }

    /// Writes the object with other values, given as JSON, for some keys; keys that it lacks come last.
    pub(crate) fn write_with(&self, output: &mut dyn Write, changed: &[(&str, String)]) -> Result<()> {
        let mut separator = '{';
        let mut member = |name: &str, value: &str| -> Result<()> {
            let key = serde_json::Value::from(name);
            write!(output, "{separator}{key}:{value}")?;
            separator = ',';
            Ok(())
        };
        for (name, value) in &self.0 {
            let new = changed.iter().find(|(changed, _)| changed == name);
            member(name, new.map_or(value.get(), |(_, value)| value))?;
        }
        for (name, value) in changed {
            if self.get(name).is_none() {
                member(name, value)?;
            }
        }
        Ok(output.write_all(if separator == '{' { b"{}" } else { b"}" })?)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(parser: D) -> std::result::Result<Self, D::Error> {
        let mut members = Vec::new();
        parser.deserialize_map(EachMember(|key, value| members.push((key, value))))?;
        Ok(Self(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_changes_and_the_rest_stays_as_it_is_written() {
        let text = "{\"b\": [1.50,  \"x\"], \"a\":null}";
        let members: Members<'_> = serde_json::from_str(text).unwrap();
        let mut output = Vec::new();
        let changed = [("a", "7".to_owned()), ("c", "[]".to_owned())];
        members.write_with(&mut output, &changed).unwrap();
        assert_eq!(output, b"{\"b\":[1.50,  \"x\"],\"a\":7,\"c\":[]}");
        let empty: Members<'_> = serde_json::from_str("{}").unwrap();
        output.clear();
        empty.write_with(&mut output, &[]).unwrap();
        assert_eq!(output, b"{}");
    }
}
