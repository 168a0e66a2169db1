//! Random types, payloads, formats and logs: decoding terminates, does not panic, keeps every byte and stays within a
//! bound.

use vkabort_record::format::apply;
use vkabort_record::framing::split;
use vkabort_record::message_type::{Length, Member, Type};
use vkabort_record::scalar::Scalar;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::snapshot::Snapshot;
use vkabort_record::value::{Field, Value};
use vkabort_report::Message;
use vkabort_report::{ModuleInfo, Report, ReportOptions};

/// Bytes of formats and strings.
const TEXT: &[u8] = b"%%%uidfsx v234l.0-+# \0\0ab\xc3\xa9\xff";

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }

    /// Mostly small, sometimes the maximum.
    fn number(&mut self) -> u32 {
        match self.below(8) {
            0 => u32::MAX,
            1 => self.next() as u32,
            _ => self.below(20) as u32,
        }
    }

    fn scalar(&mut self) -> ScalarType {
        ScalarType::ALL[self.below(ScalarType::ALL.len() as u64) as usize]
    }

    fn ty(&mut self, depth: u32) -> Type {
        match self.below(if depth == 0 { 3 } else { 7 }) {
            0 => self.scalar().into(),
            1 => Type::Vector {
                count: self.number(),
                component: self.scalar(),
            },
            2 => Type::Matrix {
                columns: self.number(),
                rows: self.number(),
                component: self.scalar(),
                stride: self.number(),
                row_major: self.below(2) == 0,
            },
            3 | 4 => {
                let element = match self.below(3) {
                    0 => ScalarType::I8.into(),
                    _ => self.ty(depth - 1),
                };
                Type::Array {
                    length: match self.below(3) {
                        0 => Length::Specialised {
                            spec_id: Some(self.below(3) as u32).filter(|id| *id < 2),
                            default: self.number(),
                        },
                        _ => Length::Constant(self.number()),
                    },
                    stride: [0, 1, 4, self.number()][self.below(4) as usize],
                    element: Box::new(element),
                    utf: self.below(2) == 0,
                }
            }
            _ => Type::Struct {
                name: None,
                members: (0..self.below(5))
                    .map(|i| Member {
                        name: (i == 1).then(|| "m".to_owned()),
                        offset: self.number(),
                        ty: self.ty(depth - 1),
                    })
                    .collect(),
            },
        }
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let length = self.below(most + 1);
        let texts = self.below(2) == 0;
        (0..length)
            .map(|_| match texts {
                true => TEXT[self.below(TEXT.len() as u64) as usize],
                false => self.next() as u8,
            })
            .collect()
    }
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Vector(components) => components.len(),
        Value::Matrix(columns) => columns.iter().map(Vec::len).sum(),
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Struct { members, .. } => members.iter().map(|m| size(&m.value)).sum(),
        _ => 0,
    }
}

#[test]
fn every_payload_decodes_by_every_type() {
    let mut random = Random(0x0123_4567_89AB_CDEF);
    let mut long = 0;
    for _ in 0..6_000 {
        let ty = random.ty(4);
        let bytes = random.bytes(200);
        let message = Message::of_type(&ty, &bytes);
        assert_eq!(message.bytes, bytes);
        assert!(bytes.ends_with(&message.rest));
        assert!(size(&message.value) <= 3 * (2 * bytes.len() + 512), "{ty:?}");
        long += usize::from(size(&message.value) > 10);
        let json = serde_json::to_string(&message).expect("serialises");
        let read: Message = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"));
        assert_eq!(read, message);
    }
    assert!(long > 300, "only {long} values of more than 10 parts");
}

#[test]
fn every_payload_decodes_without_a_type() {
    let mut random = Random(0x0FED_CBA9_8765_4321);
    for _ in 0..50_000 {
        let bytes = random.bytes(80);
        let message = Message::untyped(&bytes);
        assert_eq!(message.bytes, bytes);
        assert!(message.text.len() < 40_000);
    }
}

#[test]
fn every_format_shows_all_arguments() {
    let mut random = Random(0x1357_9BDF_0246_8ACE);
    for _ in 0..20_000 {
        let format = String::from_utf8_lossy(&random.bytes(40)).into_owned();
        let count = random.below(6);
        let fields: Vec<Field> = (0..count)
            .map(|i| {
                // Numbers that cannot occur in the format.
                let scalar = Scalar::from_bits(ScalarType::U64, 7_000_000_000 + i);
                Field::unnamed(0, Value::Scalar(scalar))
            })
            .collect();
        let formatted = apply(&format, &fields);
        if format.contains(['x', 's', 'o', 'c', '.', '#']) {
            continue;
        }
        for i in 0..count {
            let number = (7_000_000_000 + i).to_string();
            assert!(
                formatted.text.contains(&number),
                "{format:?} lost {number}: {:?}",
                formatted.text
            );
        }
    }
}

#[test]
fn random_bytes_as_message_data_arenas_and_logs() {
    let mut random = Random(0x2468_ACE0_1357_9BDF);
    for _ in 0..5_000 {
        let bytes = random.bytes(600);
        let found = split(&bytes);
        assert!(found.payloads.iter().map(|p| p.len() + 8).sum::<usize>() <= bytes.len());
        let report = Report::from_payloads(found.payloads, &[], &ReportOptions::default());
        assert!(!report.text(false).contains('\x1b'));
        let records = Snapshot::from_bytes(&bytes).records(u32::MAX);
        let report = Report::build(&records, &|_| ModuleInfo::default(), &ReportOptions::default());
        assert_eq!(Report::read_json_lines(&report.json_lines()).expect("reads"), [report]);
        // A report or not, it must not panic.
        let _ = Report::read_json_lines(&String::from_utf8_lossy(&bytes));
        let _ = Report::read_json_lines(&format!("{{{}", String::from_utf8_lossy(&bytes)));
    }
}
