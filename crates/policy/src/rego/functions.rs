//! Functions of Rego that make much out of little, with limits.

use anyhow::{Result, bail};
use regorus::{Engine, Rc, Value};

/// How many numbers a range may have.
const LONGEST_RANGE: i64 = 100_000;
/// How long a text may become in one step.
const LONGEST_TEXT: usize = 16 * 1024 * 1024;

/// Puts limited functions in the place of those that could take all memory in one step, where no clock is looked at.
pub(super) fn limit(engine: &mut Engine) -> Result<()> {
    let mut add = |name: &str, arguments: u8, function: fn(&[Value]) -> Result<Value>| {
        let extension = move |values: Vec<Value>| function(&values);
        engine.add_extension(name.to_owned(), arguments, Box::new(extension))
    };
    add("numbers.range", 2, |values| range(values, 1))?;
    add("numbers.range_step", 3, |values| range(values, values[2].as_i64()?))?;
    add("bits.lsh", 2, shift)?;
    add("concat", 2, concat)?;
    add("replace", 3, |values| {
        let [text, old, new] = values else { bail!("replace needs three texts") };
        replace(text.as_string()?, &[(old.as_string()?, new.as_string()?)])
    })?;
    add("strings.replace_n", 2, |values| {
        let [patterns, text] = values else { bail!("replace_n needs two values") };
        let patterns = patterns.as_object()?.iter_sorted();
        let patterns = patterns.map(|(old, new)| Ok((old.as_string()?, new.as_string()?)));
        replace(text.as_string()?, &patterns.collect::<Result<Vec<_>>>()?)
    })
}

/// The numbers from one to another, both included where the step leads there.
fn range(values: &[Value], step: i64) -> Result<Value> {
    let (first, last) = (values[0].as_i64()?, values[1].as_i64()?);
    if step <= 0 {
        bail!("the step of a range is a positive number");
    }
    let distance = i128::from(last) - i128::from(first);
    if distance.abs() / i128::from(step) >= i128::from(LONGEST_RANGE) {
        bail!("a range has at most {LONGEST_RANGE} numbers");
    }
    let step = if distance < 0 { -step } else { step };
    let numbers = std::iter::successors(Some(first), |number| number.checked_add(step))
        .take_while(|number| if step > 0 { *number <= last } else { *number >= last });
    Ok(Value::from(numbers.map(Value::from).collect::<Vec<_>>()))
}

/// A number with its bits moved to the left, as far as it stays a plain one.
fn shift(values: &[Value]) -> Result<Value> {
    let (number, bits) = (values[0].as_i64()?, values[1].as_u32()?);
    let moved = (bits < 64).then(|| i128::from(number) << bits);
    match moved.and_then(|moved| i64::try_from(moved).ok()) {
        Some(moved) => Ok(Value::from(moved)),
        None => bail!("bits are moved within 64"),
    }
}

fn concat(values: &[Value]) -> Result<Value> {
    let between = values[0].as_string()?;
    let texts: Vec<&Value> = match &values[1] {
        Value::Array(texts) => texts.iter().collect(),
        Value::Set(texts) => texts.iter().collect(),
        _ => bail!("concat needs texts"),
    };
    let texts =
        texts.into_iter().map(|text| Ok(text.as_string()?.as_ref())).collect::<Result<Vec<_>>>()?;
    let length: usize = texts.iter().map(|text| text.len()).sum();
    check_length(length.saturating_add(between.len().saturating_mul(texts.len())))?;
    Ok(Value::from(texts.join(between)))
}

/// Replaces each pattern in turn.
fn replace(text: &str, patterns: &[(&Rc<str>, &Rc<str>)]) -> Result<Value> {
    let mut text = text.to_owned();
    for (old, new) in patterns {
        let found = text.matches(old.as_ref()).count();
        check_length(text.len().saturating_add(found.saturating_mul(new.len())))?;
        text = text.replace(old.as_ref(), new);
    }
    Ok(Value::from(text))
}

fn check_length(length: usize) -> Result<()> {
    if length > LONGEST_TEXT {
        bail!("a text has at most {LONGEST_TEXT} bytes");
    }
    Ok(())
}
