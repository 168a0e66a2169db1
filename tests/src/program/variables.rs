//! The variables that the aborts of a program send.

use anyhow::{Context, Result, ensure};
use vkabort_record::decode::decode;
use vkabort_record::site::Site;
use vkabort_record::value::Value;

/// The variables in a message of a site whose text names each as `NAME=%u`, in parts: `v1.x`, `v2[3]`.
///
/// # Errors
///
/// The site has no text, or the message another number of values.
pub fn sent_variables(site: &Site, message: &[u8]) -> Result<Vec<(String, u32)>> {
    let text = site.text.as_deref().context("no text")?;
    let names = text.split(' ').filter_map(|part| part.strip_suffix("=%u"));
    let names: Vec<String> = names.map(str::to_owned).collect();
    let values = numbers(&decode(&site.message, message, true).value);
    ensure!(
        names.len() == values.len(),
        "{} names, {} values in {text}",
        names.len(),
        values.len()
    );
    Ok(names.into_iter().zip(values).collect())
}

/// The numbers in a value, in order.
pub fn numbers(value: &Value) -> Vec<u32> {
    let mut found = Vec::new();
    add(value, &mut found);
    found
}

fn add(value: &Value, found: &mut Vec<u32>) {
    match value {
        Value::Scalar(scalar) => found.push(scalar.to_string().parse().unwrap_or(u32::MAX)),
        Value::Vector(parts) => found.extend(parts.iter().map(|part| part.to_string().parse().unwrap_or(u32::MAX))),
        Value::Array(parts) => parts.iter().for_each(|part| add(part, found)),
        Value::Struct { members, .. } => members.iter().for_each(|member| add(&member.value, found)),
        _ => {}
    }
}
