//! Operations that the message of a site names by a number: the sources of faults that travel beside values to their effect.
//!
//! An effect of values that few operations compute has an abort for each of them. Where there are more, it has one abort, whose message
//! ends with the number of the fault, and the table knows the rest.

use crate::message_type::{Length, Member, Type};
use crate::scalar_type::ScalarType;
use crate::site::{Frame, Location, Site, SiteFault, SiteTable};

impl SiteTable {
    /// The fault that a message of a site names. `None` if the site is not of faults, or the message ends early.
    pub fn fault_of(&self, site: &Site, message: &[u8]) -> Option<&SiteFault> {
        self.numbered_fault(site, message).map(|(fault, _)| fault)
    }

    /// The site of the fault that a message of a site names, as if its operation had an abort of its own. Its messages are those of
    /// [`Self::fault_message`].
    pub fn fault_site(&self, site: &Site, message: &[u8]) -> Option<Site> {
        let fault = self.fault_of(site, message)?;
        let words = text_words(&fault.text);
        let mut members = vec![member(0, text_type(words))];
        if !fault.numbers.is_empty() {
            members.push(member(words * 4, Type::Scalar(ScalarType::U32)));
        }
        let is_elsewhere =
            |used_in: &Frame| used_in.function != fault.function || !is_one_line(&used_in.location, &fault.location);
        Some(Site {
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
        })
    }

    /// The message of the fault that a message of a site names.
    pub fn fault_message(&self, site: &Site, message: &[u8]) -> Option<Vec<u8>> {
        let (fault, part) = self.numbered_fault(site, message)?;
        let mut bytes = fault.text.clone().into_bytes();
        bytes.resize(text_words(&fault.text) as usize * 4, 0);
        if !fault.numbers.is_empty() {
            let number = fault.numbers.get(part as usize).copied().unwrap_or_default();
            bytes.extend(number.to_le_bytes());
        }
        Some(bytes)
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

/// The words of a text with its terminator.
fn text_words(text: &str) -> u32 {
    text.len() as u32 / 4 + 1
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
            assert_eq!(table.fault_site(&site, &message(number)), None, "{number}");
        }
        assert_eq!(table.fault_message(&site, b"abc"), None);
        assert_eq!(table.fault_message(&Site::default(), &message(1)), None);
        let found = table.fault_message(&site, &message(6)).expect("a fault");
        assert_eq!(found.split_last_chunk::<4>().expect("a number").1, &[3, 0, 0, 0]);
        let own = table.fault_site(&site, &message(6)).expect("a fault");
        assert_eq!(found.len() as u32, own.message.size());
        assert_eq!((own.check.as_deref(), own.used_in), (Some("divide"), None));
        assert_eq!(table.fault_of(&site, &message(1)).map(|fault| fault.first), Some(1));
    }
}
