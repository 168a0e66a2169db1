//! The condition and the variables at an abort, from the bytes of a record or a message.

use super::data::{ConditionReport, NamedValue};
use vkabort_record::decode::decode;
use vkabort_record::format::show;
use vkabort_record::site_values::{Part, Place, SiteValues, Variable};
use vkabort_record::value::Value;

/// The condition with its values. `bytes`: the payload, with the values behind it if they are known. What is not in them is
/// left out.
pub(crate) fn condition(site: &SiteValues, bytes: &[u8]) -> Option<ConditionReport> {
    let condition = site.condition.as_ref()?;
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Value(place) if is_in(place, bytes) => show(&decode_at(place, bytes)),
        Part::Value(_) => "..".to_owned(),
    };
    Some(ConditionReport {
        text: condition.text.iter().map(part).collect(),
        values: named(&condition.operands, bytes),
    })
}

/// The variables with their values. `bytes`: as for [`condition`].
pub(crate) fn variables(site: &SiteValues, bytes: &[u8]) -> Vec<NamedValue> {
    named(&site.variables, bytes)
}

fn named(variables: &[Variable], bytes: &[u8]) -> Vec<NamedValue> {
    let named = |variable: &Variable| NamedValue {
        name: variable.name.clone(),
        value: variable.place.as_ref().map(|place| decode_at(place, bytes)),
    };
    let is_known = |variable: &&Variable| variable.place.as_ref().is_none_or(|place| is_in(place, bytes));
    variables.iter().filter(is_known).map(named).collect()
}

fn is_in(place: &Place, bytes: &[u8]) -> bool {
    let end = u64::from(place.offset) + u64::from(place.ty.size());
    end <= bytes.len() as u64
}

fn decode_at(place: &Place, bytes: &[u8]) -> Value {
    let start = usize::try_from(place.offset).unwrap_or(usize::MAX).min(bytes.len());
    let end = start.saturating_add(place.ty.size() as usize).min(bytes.len());
    decode(&place.ty, bytes.get(start..end).unwrap_or_default(), false).value
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::scalar_type::ScalarType;
    use vkabort_record::site_values::Condition;

    fn place(offset: u32) -> Place {
        let ty = ScalarType::U32.into();
        Place { offset, ty }
    }

    #[test]
    fn operands_with_names_follow_the_expression_and_others_are_in_it() {
        let values = SiteValues {
            condition: Some(Condition {
                text: vec![Part::Value(place(16)), Part::Text(" >= count".into())],
                operands: vec![Variable {
                    name: "count".into(),
                    place: Some(place(4)),
                }],
            }),
            variables: vec![Variable {
                name: "lost".into(),
                place: None,
            }],
            left_out: 0,
        };
        let bytes: Vec<u8> = [1_u32, 64, 0, 0, 70]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let whole = condition(&values, &bytes).expect("a condition");
        assert_eq!(whole.text, "70 >= count");
        assert_eq!(show(whole.values[0].value.as_ref().expect("a value")), "64");
        assert_eq!(variables(&values, &bytes)[0].value, None);
        let short = condition(&values, &bytes[..8]).expect("a condition");
        assert_eq!(short.text, ".. >= count");
        let shorter = condition(&values, &bytes[..4]).expect("a condition");
        assert_eq!(shorter.values, []);
        let json = serde_json::to_string(&values).expect("JSON");
        assert_eq!(serde_json::from_str::<SiteValues>(&json).expect("reads back"), values);
    }
}
