//! Message data of a lost device: joined when a program first asks for it. Few programs do, and in a storm of aborts it takes
//! longer than reading the records.

use crate::framing::message_data;
use crate::records::Records;
use std::sync::OnceLock;

/// All messages, in the format of `VkDeviceFaultShaderAbortMessageInfoKHR::pMessageData`.
#[derive(Debug, Default)]
pub struct MessageData {
    records: Records,
    bytes: OnceLock<Vec<u8>>,
}

impl MessageData {
    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.bytes
            .get()
            .map_or(self.records.records.is_empty(), |bytes| bytes.is_empty())
    }

    /// The bytes; always the same ones.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get_or_init(|| self.records.message_data())
    }

    /// The records; none of a driver's messages.
    pub fn records(&self) -> &Records {
        &self.records
    }
}

impl From<Records> for MessageData {
    fn from(records: Records) -> Self {
        Self {
            records,
            bytes: OnceLock::new(),
        }
    }
}

impl From<Vec<u8>> for MessageData {
    /// The message data of a driver.
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            records: Records::default(),
            bytes: bytes.into(),
        }
    }
}

impl Records {
    /// Joins their messages to message data. A message that names a fault by its number becomes that of the fault, if the table of its
    /// module is known.
    pub fn message_data(&self) -> Vec<u8> {
        let whole = |record| {
            let message = self.message(record);
            let site = self.site(record);
            let fault = site.and_then(|(table, site)| table.fault_message(site, &message));
            fault.map_or(message, Into::into)
        };
        message_data(self.records.iter().map(whole))
    }
}
