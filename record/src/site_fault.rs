//! Operations that the message of a site names by a number: the sources of faults that travel beside values to their effect.
//!
//! An effect of values that few operations compute has an abort for each of them. Where there are more, it has one abort, whose message
//! ends with the number of the fault, and the table knows the rest.

use crate::message_type::{Length, Member, Type};
use crate::scalar_type::ScalarType;
use crate::site::{Frame, Location, Site, SiteFault, SiteTable};

/// The site of a fault with its message, as if the effect had an abort for each operation.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedFault {
    /// The site.
    pub site: Site,
    /// Its message.
    pub message: Vec<u8>,
}

impl SiteTable {
    /// The fault that a message of a site names. `None` if the site is not of faults, or the message ends early.
    pub fn fault_of(&self, site: &Site, message: &[u8]) -> Option<&SiteFault> {
        self.numbered_fault(site, message).map(|(fault, _)| fault)
    }

    /// The fault that a message of a site names, as a site and message of their own.
    pub fn resolve_fault(&self, site: &Site, message: &[u8]) -> Option<ResolvedFault> {
        let (fault, part) = self.numbered_fault(site, message)?;
        // Terminated, in words.
        let words = fault.text.len() as u32 / 4 + 1;
        let mut bytes = fault.text.clone().into_bytes();
        bytes.resize(words as usize * 4, 0);
        let mut members = vec![member(0, text_type(words))];
        if let Some(number) = fault.numbers.get(part as usize) {
            bytes.extend(number.to_le_bytes());
            members.push(member(words * 4, Type::Scalar(ScalarType::U32)));
        }
        let is_elsewhere =
            |used_in: &Frame| used_in.function != fault.function || !is_one_line(&used_in.location, &fault.location);
        let site = Site {
            word_offset: fault.word_offset,
            function: fault.function.clone(),
            callers: fault.callers.clone(),
            location: fault.location.clone(),
            snippet: fault.snippet.clone(),
            message: Type::Struct { name: None, members },
            text: Some(fault.text.clone()),
            check: Some(fault.check.clone()),
            used_in: site.used_in.clone().filter(|used_in| is_elsewhere(used_in)),
            ..site.clone()
        };
        Some(ResolvedFault { site, message: bytes })
    }

    /// The fault, and the position of its part.
    fn numbered_fault(&self, site: &Site, message: &[u8]) -> Option<(&SiteFault, u32)> {
        if !site.is_of_faults {
            return None;
        }
        let (_, number) = message.split_last_chunk()?;
        let number = u32::from_le_bytes(*number);
        let behind = self.faults.partition_point(|fault| fault.first <= number);
        let fault = self.faults.get(behind.checked_sub(1)?)?;
        let part = number - fault.first;
        (part < fault.parts).then_some((fault, part))
    }
}

fn member(offset: u32, ty: Type) -> Member {
    Member { name: None, offset, ty }
}

fn text_type(words: u32) -> Type {
    Type::Array {
        length: Length::Constant(words),
        stride: 4,
        element: Box::new(Type::Scalar(ScalarType::U32)),
        utf: false,
    }
}

fn is_one_line(one: &Option<Location>, other: &Option<Location>) -> bool {
    let line = |location: &Option<Location>| location.as_ref().map(|at| (at.file.clone(), at.line));
    line(one) == line(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_an_operation_and_its_part() {
        let fault = |first, parts, numbers: &[u32]| SiteFault {
            first,
            parts,
            check: "divide".to_owned(),
            text: "division by zero, in component %u".to_owned(),
            numbers: numbers.to_vec(),
            function: "main".to_owned(),
            ..SiteFault::default()
        };
        let table = SiteTable {
            faults: vec![fault(1, 1, &[]), fault(5, 2, &[1, 3])],
            ..SiteTable::default()
        };
        let site = Site {
            is_of_faults: true,
            function: "main".to_owned(),
            used_in: Some(Box::new(Frame {
                function: "main".to_owned(),
                location: None,
            })),
            ..Site::default()
        };
        let message = |number: u32| [&b"a fault\0"[..], &number.to_le_bytes()].concat();
        for number in [0, 2, 4, 7] {
            assert_eq!(table.resolve_fault(&site, &message(number)), None, "{number}");
        }
        assert_eq!(table.resolve_fault(&site, b"abc"), None);
        assert_eq!(table.resolve_fault(&Site::default(), &message(1)), None);
        let found = table.resolve_fault(&site, &message(6)).expect("a fault");
        assert_eq!(
            found.message.split_last_chunk::<4>().expect("a number").1,
            &[3, 0, 0, 0]
        );
        assert_eq!(found.message.len() as u32, found.site.message.size());
        assert_eq!(
            (found.site.check.as_deref(), found.site.used_in),
            (Some("divide"), None)
        );
        assert_eq!(table.fault_of(&site, &message(1)).map(|fault| fault.first), Some(1));
    }
}
