//! Identifiers of rewritten modules, for `VK_EXT_shader_module_identifier`.
//!
//! An identifier "must only depend on `shaderIdentifierAlgorithmUUID` and information provided in the
//! `VkShaderModuleCreateInfo`" (`vkGetShaderModuleCreateInfoIdentifierEXT`). The driver's identifier of rewritten words
//! also depends on the address of the device's arena: on another device it would select code that writes to the memory of the
//! first. So the application gets the module's hash, which each device translates to the driver's identifier. The
//! driver does not know the hash itself; a pipeline of an identifier that the device cannot translate fails with
//! `VK_PIPELINE_COMPILE_REQUIRED`, which the application expects.

use crate::locks::lock;
use ash::vk;
use std::collections::HashMap;
use std::sync::Mutex;
use vkabort_record::site::{CodeHash, ModuleHash};

/// The first bytes of the layer's identifiers. The hash follows.
const PREFIX: &[u8; 8] = b"vkabort ";

/// The code that the driver has for each module, and the driver's identifiers of it.
#[derive(Default)]
pub struct Identifiers(Mutex<HashMap<ModuleHash, (CodeHash, Vec<u8>)>>);

/// The bytes of an identifier.
pub fn bytes<'a>(identifier: &'a vk::ShaderModuleIdentifierEXT<'_>) -> &'a [u8] {
    let size = identifier.identifier_size as usize;
    identifier.identifier.get(..size).unwrap_or_default()
}

/// The module that one of the layer's identifiers belongs to.
pub fn module_of(identifier: &[u8]) -> Option<ModuleHash> {
    let hash = identifier.strip_prefix(PREFIX)?;
    Some(ModuleHash(u64::from_le_bytes(hash.try_into().ok()?)))
}

impl Identifiers {
    /// Replaces the driver's identifier of a module's code by the layer's, which does not depend on how the module is rewritten.
    pub fn replace(&self, module: ModuleHash, code: CodeHash, identifier: &mut vk::ShaderModuleIdentifierEXT<'_>) {
        lock(&self.0).insert(module, (code, bytes(identifier).to_vec()));
        let own = PREFIX.iter().copied().chain(module.0.to_le_bytes());
        identifier.identifier_size = (PREFIX.len() + size_of::<u64>()) as u32;
        identifier
            .identifier
            .iter_mut()
            .zip(own)
            .for_each(|(to, from)| *to = from);
    }

    /// The last code of a module, and the driver's identifier of it.
    pub fn of_driver(&self, module: ModuleHash) -> Option<(CodeHash, Vec<u8>)> {
        lock(&self.0).get(&module).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_has_the_module_hash_and_is_translated_back() {
        let identifiers = Identifiers::default();
        let mut identifier = vk::ShaderModuleIdentifierEXT {
            identifier_size: 32,
            identifier: [7; 32],
            ..Default::default()
        };
        let hash = ModuleHash(0x0102_0304_0506_0708);
        identifiers.replace(hash, hash.into(), &mut identifier);
        assert_eq!(bytes(&identifier), b"vkabort \x08\x07\x06\x05\x04\x03\x02\x01");
        assert_eq!(module_of(bytes(&identifier)), Some(hash));
        assert_eq!(identifiers.of_driver(hash), Some((hash.into(), vec![7; 32])));
        assert_eq!(identifiers.of_driver(ModuleHash(1)), None);
        for other in [
            &b""[..],
            b"vkabort ",
            b"vkabort 1234567",
            b"vkabort 123456789",
            b"another 12345678",
        ] {
            assert_eq!(module_of(other), None, "{other:?}");
        }
    }
}
