//! Numbers as they stand in text files: six decimals, and six digits of what is below a thousandth, without
//! the zeros at the end. A small probability stays one: its logarithm counts.

use std::fmt::Write as _;

/// A number as it stands in text files: six decimals, six digits if it is below a thousandth, without the
/// zeros at the end.
pub fn decimal(value: f64) -> String {
    let mut text = String::new();
    push_decimal(&mut text, value);
    text
}

/// Appends the number.
pub(crate) fn push_decimal(text: &mut String, value: f64) {
    if value > 0.0 && value < SMALL {
        return push_small(text, value);
    }
    match millionths(value) {
        Some(number) => push_millionths(text, number),
        None => push_by_formatter(text, value),
    }
}

/// Numbers below this have six digits instead of six decimals.
const SMALL: f64 = 1e-3;

/// Six digits: as a decimal number down to a millionth, with an exponent below.
fn push_small(text: &mut String, value: f64) {
    let start = text.len();
    // Writing into a string does not fail.
    let _ = write!(text, "{value:.5e}");
    let written = &text[start..];
    let (digits, exponent) = written.split_once('e').expect("this form has an exponent");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let short = match exponent.parse::<i32>() {
        Ok(places @ -6..=-1) => {
            let zeros = "0".repeat((-places - 1) as usize);
            format!("0.{zeros}{}", digits.replace('.', ""))
        }
        _ => format!("{digits}e{exponent}"),
    };
    text.replace_range(start.., &short);
}

/// The number in millionths, rounded, where multiplying tells for sure which whole number is nearest:
/// probabilities, nearly all of them. The formatter of the standard library works with the exact digits and
/// takes many times as long.
fn millionths(value: f64) -> Option<u64> {
    if !(0.0..1e6).contains(&value) {
        return None;
    }
    // Off by no more than 2^-13, half a unit in the last place of numbers below 2^40.
    let scaled = value * 1e6;
    let below = scaled as u64;
    let rest = scaled - below as f64;
    ((rest - 0.5).abs() > 1e-3).then(|| below + u64::from(rest > 0.5))
}

fn push_millionths(text: &mut String, number: u64) {
    const DECIMALS: usize = 6;
    // Longer than any number of 64 bits with a point in it.
    let mut digits = [b'0'; 24];
    let point = digits.len() - DECIMALS - 1;
    let (mut rest, mut first) = (number, digits.len());
    while rest > 0 || first >= point {
        first -= 1;
        if first == point {
            digits[point] = b'.';
            continue;
        }
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let written = std::str::from_utf8(&digits[first..]).expect("digits and a point are text");
    text.push_str(written.trim_end_matches('0').trim_end_matches('.'));
}

fn push_by_formatter(text: &mut String, value: f64) {
    let start = text.len();
    // Writing into a string does not fail.
    let _ = write!(text, "{value:.6}");
    let kept = text[start..].trim_end_matches('0').trim_end_matches('.').len();
    text.truncate(start + kept);
    if &text[start..] == "-0" {
        text.replace_range(start.., "0");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_short_and_plain() {
        let cases = [
            (1.0, "1"),
            (0.0, "0"),
            (-0.0, "0"),
            (0.5, "0.5"),
            (2.0 / 3.0, "0.666667"),
            (0.999_999_9, "1"),
            (-1e-9, "0"),
            (10.0, "10"),
            (1e-6, "0.000001"),
            (0.001_234_567, "0.001235"),
            (0.000_154_321_9, "0.000154322"),
            (0.000_999_999_9, "0.001"),
            (1.5e-6, "0.0000015"),
            (1.234_567_8e-7, "1.23457e-7"),
            (1e20, "100000000000000000000"),
        ];
        for (value, text) in cases {
            assert_eq!(decimal(value), text);
        }
    }

    proptest! {
        #[test]
        fn the_short_way_writes_what_the_formatter_writes(
            value in prop_oneof![0.0..1.0, 0.0..2e6, (0u64..2_000_000).prop_map(|half| half as f64 * 5e-7), any::<f64>()],
        ) {
            prop_assume!(value <= 0.0 || value >= SMALL);
            let mut expected = String::new();
            push_by_formatter(&mut expected, value);
            prop_assert_eq!(decimal(value), expected);
        }

        #[test]
        fn small_numbers_keep_six_digits(exponent in -320.0..-3.0f64) {
            let value = 10f64.powf(exponent);
            let read: f64 = decimal(value).parse().unwrap();
            prop_assert!((read - value).abs() <= 5.1e-6 * value, "{value} as {}", decimal(value));
        }
    }
}
