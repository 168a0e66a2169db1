//! The Debian packages: the layer with the command, the C library, its files for development, and debug information.

use super::build::{Built, Program};
use super::contents::{self, DOC, VERSION};
use super::deb::{self, Control, MAINTAINER};
use super::platform::Platform;
use super::tree::Tree;
use anyhow::Result;
use std::fs;
use std::path::Path;
use std::process::Command;
use vkabort_test_kit::decoder::{self, Layout};
use vkabort_test_kit::process;

const LIBRARY: &str = "libvkabort-decode1";
const DEVELOPMENT: &str = "libvkabort-decode-dev";
/// The layer for 32-bit programs. Its architecture in Debian is i386; the package `vkabort` has the layer for others.
const LAYER_32: &str = "vkabort-layer";

/// The packages of one build, which are written into `out`, in folders of `stage`.
struct Packages<'a> {
    platform: &'a Platform,
    built: &'a Built,
    epoch: u64,
    stage: &'a Path,
    out: &'a Path,
}

/// Builds the packages into `out`. `files` has the layer, the command and their documentation. Returns their names, first those
/// that are installed together.
///
/// # Errors
///
/// A file cannot be written, or dpkg-deb fails.
pub fn build(
    platform: &Platform,
    built: &Built,
    files: &Tree,
    epoch: u64,
    stage: &Path,
    out: &Path,
) -> Result<Vec<String>> {
    let packages = Packages {
        platform,
        built,
        epoch,
        stage,
        out,
    };
    packages.main(files)?;
    packages.decoder(files)?;
    let layer_32 = packages.layer_32(files)?;
    let names = [
        "vkabort",
        LIBRARY,
        DEVELOPMENT,
        "vkabort-dbgsym",
        "libvkabort-decode1-dbgsym",
    ];
    let names = names.map(|name| deb::file(name, platform.debian));
    Ok(names.into_iter().chain(layer_32).collect())
}

impl Packages<'_> {
    /// The layer and the command.
    fn main(&self, files: &Tree) -> Result<()> {
        let tree = Tree::new(self.stage.join("vkabort"))?;
        process::output(
            Command::new("cp")
                .args(["--recursive", "--no-target-directory"])
                .args([&files.root, &tree.root.join("usr")]),
        )?;
        // Debian's folder for completions of packages; the other one is the administrator's there.
        let zsh = tree.root.join("usr/share/zsh");
        fs::rename(zsh.join("site-functions"), zsh.join("vendor-completions"))?;
        self.changelog(&tree, &format!("usr/{DOC}"))?;
        let control = Control {
            package: "vkabort",
            architecture: self.platform.debian,
            fields: &format!(
                "Section: devel\nPriority: optional\nDepends: libc6 (>= {})\nRecommends: libvulkan1\n",
                self.built.glibc
            ),
            description: "Vulkan layer that makes shader aborts work on every driver\n \
                          Shaders that call abortEXT end with a message: vkabort is a Vulkan layer that\n \
                          adds VK_KHR_shader_abort, VK_KHR_device_fault and VK_KHR_shader_constant_data\n \
                          to drivers that lack them, and reports every abort with its values, source\n \
                          line and invocation.\n .\n \
                          The layer is off until VKABORT_ENABLE=1 is in a program's environment. The\n \
                          command vkabort runs programs under the layer, checks shaders, and decodes\n \
                          messages.",
            others: &[],
        };
        deb::build(&tree, &control, self.epoch, self.out)?;
        self.symbols("vkabort", &[&self.built.library, &self.built.command])
    }

    /// The layer for 32-bit programs, if there is one. Returns the name of its package.
    fn layer_32(&self, files: &Tree) -> Result<Option<String>> {
        const ARCHITECTURE: &str = "i386";
        let Some(library) = &self.built.library_32 else {
            return Ok(None);
        };
        let tree = Tree::new(self.stage.join(LAYER_32))?;
        let usr = Tree::new(tree.root.join("usr"))?;
        contents::write_layer_32(&usr, library)?;
        let documents = format!("share/doc/{LAYER_32}");
        for name in contents::LICENSES {
            usr.copy(&format!("{documents}/{name}"), &files.root.join(DOC).join(name))?;
        }
        self.changelog(&usr, &documents)?;
        let control = Control {
            package: LAYER_32,
            architecture: ARCHITECTURE,
            fields: &format!(
                "Section: devel\nPriority: optional\nDepends: libc6 (>= {})\nRecommends: libvulkan1\nEnhances: vkabort\n",
                self.built.glibc
            ),
            description: "Vulkan layer that makes shader aborts work, for 32-bit programs\n \
                          The layer of the package vkabort for 32-bit programs, many games for example.\n \
                          It is off until VKABORT_ENABLE=1 is in a program's environment.",
            others: &[],
        };
        deb::build(&tree, &control, self.epoch, self.out)?;
        Ok(Some(deb::file(LAYER_32, ARCHITECTURE)))
    }

    /// The C library, and the files that compiling programs with it needs.
    fn decoder(&self, files: &Tree) -> Result<()> {
        let development = Tree::new(self.stage.join(DEVELOPMENT))?;
        let layout = Layout {
            prefix: "/usr",
            libraries: self.platform.libraries,
        };
        let usr = development.root.join("usr");
        decoder::install(&self.built.decoder.path, &self.built.decoder_archive, layout, &usr)?;
        let library = Tree::new(self.stage.join(LIBRARY))?;
        let shared = format!("usr/{}/{}", layout.libraries, decoder::SHARED);
        let from = development.root.join(&shared);
        library.copy(&shared, &from)?;
        fs::remove_file(from)?;
        let documents = format!("usr/share/doc/{LIBRARY}");
        for name in contents::LICENSES {
            library.copy(&format!("{documents}/{name}"), &files.root.join(DOC).join(name))?;
        }
        self.changelog(&library, &documents)?;
        let control = Control {
            package: LIBRARY,
            architecture: self.platform.debian,
            fields: &format!(
                "Section: libs\nPriority: optional\nMulti-Arch: same\nDepends: libc6 (>= {})\n",
                self.built.glibc
            ),
            description: "decoder of the messages of aborted shaders\n \
                          Decodes the messages that shaders leave with abortEXT when their Vulkan device\n \
                          is lost, to text or JSON, for example in a crash handler.",
            others: &[
                ("shlibs", &format!("libvkabort_decode 1 {LIBRARY} (>= {VERSION})\n")),
                ("triggers", "activate-noawait ldconfig\n"),
            ],
        };
        deb::build(&library, &control, self.epoch, self.out)?;
        self.symbols(LIBRARY, &[&self.built.decoder])?;

        let example = format!("usr/share/doc/{DEVELOPMENT}/examples");
        contents::copy_sources(&development, &["examples/crash-handler"], |file| {
            file.replacen("examples/crash-handler", &example, 1)
        })?;
        for name in ["changelog.gz", "copyright"] {
            development.copy(
                &format!("usr/share/doc/{DEVELOPMENT}/{name}"),
                &library.root.join(&documents).join(name),
            )?;
        }
        let control = Control {
            package: DEVELOPMENT,
            architecture: self.platform.debian,
            fields: &format!(
                "Section: libdevel\nPriority: optional\nMulti-Arch: same\nDepends: {LIBRARY} (= {VERSION})\n"
            ),
            description: "decoder of the messages of aborted shaders, development files\n \
                          Header, static library, and files for pkg-config and CMake of a library that\n \
                          decodes the messages that shaders leave with abortEXT when their Vulkan device\n \
                          is lost. An example of a crash handler is included.",
            others: &[],
        };
        deb::build(&development, &control, self.epoch, self.out)
    }

    /// The debug information of the programs of a package.
    fn symbols(&self, package: &str, programs: &[&Program]) -> Result<()> {
        let name = format!("{package}-dbgsym");
        let tree = Tree::new(self.stage.join(&name))?;
        for program in programs {
            tree.copy(&format!("usr/lib/debug/{}", program.debug_name()), &program.debug)?;
        }
        tree.link(&format!("usr/share/doc/{name}"), package)?;
        let ids: Vec<&str> = programs.iter().map(|program| program.build_id.as_str()).collect();
        let control = Control {
            package: &name,
            architecture: self.platform.debian,
            fields: &format!(
                "Section: debug\nPriority: optional\nAuto-Built-Package: debug-symbols\nDepends: {package} (= {VERSION})\n\
                 Build-Ids: {}\n",
                ids.join(" ")
            ),
            description: &format!("debug symbols for {package}"),
            others: &[],
        };
        deb::build(&tree, &control, self.epoch, self.out)
    }

    /// Writes the changelog that Debian's policy requires. It names the version only and refers to the project's changelog.
    fn changelog(&self, tree: &Tree, documents: &str) -> Result<()> {
        let mut date = Command::new("date");
        date.args(["--utc", "--rfc-email", &format!("--date=@{}", self.epoch)])
            .env("LC_ALL", "C");
        let path = format!("{documents}/changelog");
        tree.write(
            &path,
            format!(
                "vkabort ({VERSION}) unstable; urgency=medium\n\n  * See the changelog of vkabort.\n\n -- {MAINTAINER}  {}",
                process::output(&mut date)?
            ),
        )?;
        tree.compress(&path)
    }
}
