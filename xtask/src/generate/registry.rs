//! The Vulkan registry, `vk.xml`. Its version is pinned, so that generated files change only on purpose.

use crate::pypi;
use anyhow::{Context, Result};
use roxmltree::{Document, Node};
use std::fs;
use vkabort_test_kit::store;

/// The version of the registry.
pub const VERSION: &str = "1.4.360";

/// The text of `vk.xml`, which the PyPI package vulkan-object contains. Downloaded on first use.
///
/// # Errors
/// The package cannot be downloaded.
pub fn text() -> Result<String> {
    let folder = store().join(format!("vulkan-registry-{VERSION}"));
    let path = folder.join("vulkan_object/vk.xml");
    if !path.is_file() {
        // Renamed when it is complete, so that an interrupted download is repeated.
        let partial = folder.with_extension("new");
        pypi::unpack(
            &format!("vulkan-object=={VERSION}"),
            &partial,
            "downloading the Vulkan registry",
        )?;
        fs::rename(&partial, &folder)?;
    }
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// The parsed registry.
pub struct Registry<'a>(Document<'a>);

impl<'a> Registry<'a> {
    /// Parses `vk.xml`.
    ///
    /// # Errors
    /// The text is not well-formed XML.
    pub fn parse(text: &'a str) -> Result<Self> {
        Ok(Self(Document::parse(text).context("cannot parse vk.xml")?))
    }

    /// All elements of a name that Vulkan, as opposed to Vulkan SC, has. In the registry's order.
    pub fn elements<'b>(&'b self, name: &'b str) -> impl Iterator<Item = Node<'b, 'a>> {
        let all = self.0.descendants();
        all.filter(move |node| node.has_tag_name(name) && is_vulkan(*node))
    }

    /// The elements `name` of the registry's section `section`.
    pub fn section<'b>(&'b self, section: &'b str, name: &'b str) -> impl Iterator<Item = Node<'b, 'a>> {
        self.elements(name).filter(move |node| {
            let parent = node.parent();
            parent.is_some_and(|parent| parent.has_tag_name(section))
        })
    }
}

/// Whether an element belongs to Vulkan.
pub fn is_vulkan(node: Node<'_, '_>) -> bool {
    node.attribute("api")
        .is_none_or(|apis| apis.split(',').any(|api| api == "vulkan"))
}

/// The text of the child element `name`.
pub fn child_text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.children().find(|child| child.has_tag_name(name))?.text()
}
