//! The check of addresses: accesses outside of live buffers are reported and not executed, and those inside are left alone.

use super::checked_body::{compile, words_after};
use super::support::{expect_success, incremented, marked, same_words};
use crate::case::{Case, Skip, cases};
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;

const ADDRESSES: &[(&str, &str)] = &[("sanitize", "addresses")];
const ALL_CHECKS: &[(&str, &str)] = &[("sanitize", "all")];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_addresses::a_store_beyond_a_buffer" => fault(gpu, "particles.values[word == 7u ? 1028u : i] = 1u;"), set(ADDRESSES),
        logs(&["a store of 4 bytes at address 0x", " is outside of its buffer: `particles.values[",
            "address: 16 bytes beyond `particles` (4096 bytes)"]);
    "sanitize_addresses::a_load_right_behind_a_buffer" => fault(gpu, "result = particles.values[word == 7u ? 1024u : i];"),
        set(ADDRESSES), logs(&["a load of 4 bytes at address 0x", "address: right behind `particles` (4096 bytes)"]);
    "sanitize_addresses::a_load_before_a_buffer" => fault(gpu, BEFORE), set(ADDRESSES),
        logs(&["a load of 4 bytes", "address: 8 bytes before `particles` (4096 bytes)"]);
    "sanitize_addresses::a_vector_at_the_end_of_a_buffer" => fault(gpu, VECTOR), set(ADDRESSES),
        logs(&["a load of 16 bytes", "address: the last 8 of the 16 bytes are beyond `particles` (4096 bytes)"]);
    "sanitize_addresses::null" => fault(gpu, "Particles p = Particles(word == 7u ? uvec2(0) : addresses[0]); result = p.values[16];"),
        set(ADDRESSES), logs(&["address 0x0000000000000040 is outside of its buffer: `p.values[16]`", "address: null + 64"]);
    "sanitize_addresses::a_buffer_that_was_destroyed" =>
        fault(gpu, "Particles p = Particles(addresses[word == 7u ? 1 : 0]); p.values[4] = 1u;"), set(ADDRESSES),
        logs(&["a store of 4 bytes", "address: 16 bytes into `mesh 12` (1024 bytes), which was destroyed"]);
    "sanitize_addresses::an_atomic_operation" =>
        fault(gpu, "result = atomicAdd(particles.values[word == 7u ? 1028u : i], 1u);"), set(ADDRESSES),
        logs(&["an atomic operation of 4 bytes", "address: 16 bytes beyond `particles` (4096 bytes)"]);
    "sanitize_addresses::a_copy_of_a_structure" => fault(gpu, STRUCTURE), set(ADDRESSES),
        logs(&["a load of 64 bytes", "`s.all[..]`", "address: right behind `particles` (4096 bytes)"]);
    "sanitize_addresses::a_misaligned_address" => fault(gpu, MISALIGNED), set(ADDRESSES),
        logs(&["address 0x", " of a load is not a multiple of 16: `v.vector`"]);
    "sanitize_addresses::a_misaligned_atomic_operation" => fault(gpu, MISALIGNED_ATOMIC), set(ADDRESSES),
        logs(&["address 0x", " of an atomic operation is not a multiple of 4: `p.values[4]`"]);
    "sanitize_addresses::an_element_in_a_loop" => fault(gpu, LOOP), set(ADDRESSES),
        logs(&["a load of 4 bytes", "`particles.values[", "address: right behind `particles` (4096 bytes)"]);
    "sanitize_addresses::an_element_before_the_first_in_a_loop" => fault(gpu, NEGATIVE), set(ADDRESSES),
        logs(&["a store of 4 bytes", "`t.all[", "].c`", "address: 4 bytes before `particles` (4096 bytes)"]);
    "sanitize_addresses::a_misaligned_array_in_a_loop" => fault(gpu, MISALIGNED_LOOP), set(ADDRESSES),
        logs(&["address 0x", " of a load is not a multiple of 4: `p.values["]);
    "sanitize_addresses::a_member_in_a_loop" => fault(gpu, MEMBER), set(ADDRESSES),
        logs(&["a load of 4 bytes", "`t.all[2].b`", "address: right behind `particles` (4096 bytes)"]);
    "sanitize_addresses::what_loops_access" => silent_if(gpu, LOOPS), set(ALL_CHECKS), silent();
    "sanitize_addresses::what_negative_indices_access" => negative(gpu), set(ALL_CHECKS), silent();
    "sanitize_addresses::in_a_callee" => fault(gpu, "result = take(particles, word == 7u ? 5000u : i);"), set(ADDRESSES),
        logs(&["a load of 4 bytes", "`taken.values[at]`", "`take`"]);
    "sanitize_addresses::in_a_continue_construct" => fault(gpu, CONTINUE), set(ADDRESSES),
        logs(&["a load of 4 bytes", "beyond `particles` (4096 bytes)"]);
    "sanitize_addresses::what_is_in_a_buffer" => silent_if(gpu, INSIDE), set(ALL_CHECKS), silent();
    "sanitize_addresses::buffers_of_one_memory" => aliases(gpu), set(ALL_CHECKS), silent();
    "sanitize_addresses::buffers_that_come_and_go_with_frames_in_flight" => frames(gpu), set(ALL_CHECKS), silent();
    "sanitize_addresses::very_many_buffers" => many(gpu), set(ADDRESSES), alone(),
        logs(&["a load of 4 bytes", "address: 4 bytes before a buffer of 16 bytes without a name"]);
};

const BEFORE: &str = "
    Particles p = Particles(word == 7u ? addresses[0] - uvec2(16u, 0u) : addresses[0]);
    result = p.values[2];";
const VECTOR: &str = "
    Unaligned v = Unaligned(addresses[0] + uvec2(word == 7u ? 4088u : 0u, 0u));
    uvec4 whole = v.vector;
    result = whole.x + whole.w;";
const STRUCTURE: &str = "
    Structures s = Structures(addresses[0]);
    Structure copied = s.all[word == 7u ? 64u : 3u];
    result = copied.a + copied.b[2];";
const MISALIGNED: &str = "
    Vectors v = Vectors(addresses[0] + uvec2(word == 7u ? 4u : 16u, 0u));
    uvec4 whole = v.vector;
    result = whole.x + whole.w;";
const MISALIGNED_ATOMIC: &str = "
    Particles p = Particles(addresses[0] + uvec2(word == 7u ? 2u : 0u, 0u));
    result = atomicAdd(p.values[4], 1u);";
const LOOP: &str = "
    for (uint at = 0u; at < 3u; at++) { result += particles.values[word == 7u ? 1023u + at : at]; }";
const NEGATIVE: &str = "
    Triples t = Triples(addresses[0]);
    for (int at = 2; at >= (word == 7u ? -1 : 0); at--) { t.all[at].c = 1u; }";
const MISALIGNED_LOOP: &str = "
    Particles p = Particles(addresses[0] + uvec2(word == 7u ? 2u : 0u, 0u));
    for (uint at = 1u; at < 3u; at++) { result += p.values[at]; }";
const MEMBER: &str = "
    Triples t = Triples(addresses[0] + uvec2(word == 7u ? 4068u : 0u, 0u));
    for (uint at = 0u; at < 3u; at++) { result += t.all[2].b; }";
const LOOPS: &str = "
    Triples t = Triples(addresses[0]);
    Triples middle = Triples(addresses[0] + uvec2(2048u, 0u));
    Particles last = Particles(addresses[0] + uvec2(4096u, 0u));
    uint borrow;
    uint low = usubBorrow(addresses[0].x, 64u, borrow);
    Particles first = Particles(uvec2(low, addresses[0].y - borrow));
    for (uint at = 0u; at < 3u; at++) {
        result += t.all[340u - at].c + middle.all[int(at) - 170].a + last.values[-1 - int(at)] + first.values[16u + at];
        t.all[at].b = 2u;
        result += t.all[2].b;
    }";
/// Indices are signed. An invocation that reads something else ends early.
const FROM_THE_MIDDLE: &str = "
    Particles middle = Particles(addresses[0] + uvec2(2048u, 0u));
    Triples last = Triples(addresses[0] + uvec2(4092u, 0u));
    int back = word == 7u ? -170 : -171;
    if (middle.values[back] != 5u || last.all[back].b != 5u) { return; }
    for (int at = back; at < -168; at++) { if (middle.values[at] + last.all[at].b != 10u) { return; } }
    middle.values[back + 10] = 6u;
    last.all[back + 10].c = 7u;
    if (particles.values[522 + back] != 6u || particles.values[1055 + 3 * back] != 7u) { return; }";
const CONTINUE: &str = "
    for (uint at = 0u; at < 3u; result += particles.values[word == 7u ? 1025u : at]) { at++; }";
const INSIDE: &str = "
    result = particles.values[0] + particles.values[1023] + take(particles, i);
    atomicAdd(particles.values[1023], 1u);
    Unaligned v = Unaligned(addresses[0] + uvec2(4080u, 0u));
    uvec4 last = v.vector;
    result += last.w;
    Structures s = Structures(addresses[0]);
    s.all[63] = s.all[i];
    if (word == 7u) { Particles never = Particles(uvec2(0)); if (result == 1234567u) { result = never.values[0]; } }
    for (uint at = 0u; at < 3u; result += particles.values[at]) { at++; }";

fn shader(body: &str) -> Result<Vec<u32>> {
    let declarations = "
        #extension GL_EXT_buffer_reference : require
        #extension GL_EXT_buffer_reference_uvec2 : require
        layout(std430, set = 0, binding = 1) buffer Addresses { uvec2 addresses[]; };
        struct Structure { uint a; uint b[15]; };
        layout(buffer_reference, std430, buffer_reference_align = 4) buffer Particles { uint values[]; };
        layout(buffer_reference, std430, buffer_reference_align = 4) buffer Unaligned { uvec4 vector; };
        layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vectors { uvec4 vector; };
        struct Triple { uint a; uint b; uint c; };
        layout(buffer_reference, std430, buffer_reference_align = 4) buffer Triples { Triple all[]; };
        layout(buffer_reference, std430, buffer_reference_align = 4) buffer Structures { Structure all[]; };
        uint take(Particles taken, uint at) { return taken.values[at]; }";
    compile(declarations, "Particles particles = Particles(addresses[0]);", body)
}

fn addressed(gpu: &Gpu) -> Result<Device<'_>> {
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::ADDRESSES
    };
    Device::with(gpu, options)
}

fn buffer<'device>(device: &'device Device<'_>, words: usize) -> Result<Buffer<'device>> {
    Buffer::addressed(device, &vec![5; words], vk::BufferUsageFlags::STORAGE_BUFFER)
}

fn words_of(addresses: impl IntoIterator<Item = u64>) -> Vec<u32> {
    let words = addresses.into_iter();
    words
        .flat_map(|address| [address as u32, (address >> 32) as u32])
        .collect()
}

/// An invocation with a mark has a fault and ends before its access.
fn fault(gpu: &Gpu, body: &str) -> Result<()> {
    expect(gpu, body, &[3], false).context(body.to_owned())
}

/// Invocations with a mark do not differ.
fn silent_if(gpu: &Gpu, body: &str) -> Result<()> {
    expect(gpu, body, &[3, 40], true).context(body.to_owned())
}

fn expect(gpu: &Gpu, body: &str, at: &[usize], is_silent: bool) -> Result<()> {
    let device = addressed(gpu)?;
    let particles = buffer(&device, 1024)?;
    device.name(particles.raw, c"particles")?;
    let mesh = buffer(&device, 256)?;
    device.name(mesh.raw, c"mesh 12")?;
    let table = Buffer::storage(&device, &words_of([particles.address(), mesh.address()]))?;
    drop(mesh);
    let before = marked(at);
    let words = Buffer::storage(&device, &before)?;
    let kernel = Kernel::new(&device, &shader(body)?, &[&words, &table])?;
    expect_success(kernel.run_to_end(2)?)?;
    same_words(&words.read(), &words_after(&before, is_silent))
}

/// NVIDIA's 580 adds 2^32 to such addresses outside of loops, so that they are in no buffer, which the check reports.
fn negative(gpu: &Gpu) -> Result<()> {
    /// The PCI identifier of NVIDIA.
    const NVIDIA: u32 = 0x10DE;
    match silent_if(gpu, FROM_THE_MIDDLE) {
        Err(error) if gpu.properties.vendor_id == NVIDIA => {
            Err(Skip(format!("this driver takes a negative index for a large one: {error:#}")).into())
        }
        result => result,
    }
}

/// Two buffers have the same memory, one all of it and one its middle; what crosses the end of the smaller one is in the other.
fn aliases(gpu: &Gpu) -> Result<()> {
    let device = addressed(gpu)?;
    let raw = &device.raw;
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let info = |size| vk::BufferCreateInfo::default().size(size).usage(usage);
    // SAFETY: the handles belong to the device, the structures are valid, and the work is complete when they are destroyed.
    unsafe {
        let buffers = [
            raw.create_buffer(&info(4096), None)?,
            raw.create_buffer(&info(1024), None)?,
        ];
        let needs = buffers.map(|buffer| raw.get_buffer_memory_requirements(buffer));
        let offset = 1024u64.next_multiple_of(needs[1].alignment);
        let types = needs[0].memory_type_bits & needs[1].memory_type_bits;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let allocation = vk::MemoryAllocateInfo::default()
            .allocation_size(needs[0].size.max(offset + needs[1].size))
            .memory_type_index(device.host_memory(types, vk::MemoryPropertyFlags::empty())?)
            .push_next(&mut flags);
        let memory = raw.allocate_memory(&allocation, None)?;
        let bind = |buffer: usize, offset| {
            vk::BindBufferMemoryInfo::default()
                .buffer(buffers[buffer])
                .memory(memory)
                .memory_offset(offset)
        };
        raw.bind_buffer_memory2(&[bind(0, 0), bind(1, offset)])?;
        let address = |buffer| raw.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer));
        let [whole, middle] = buffers.map(address);
        ensure!(whole != 0 && middle != 0);
        let table = Buffer::storage(&device, &words_of([whole, middle]))?;
        let words = Buffer::storage(&device, &marked(&[]))?;
        let body = "
            Particles p = Particles(addresses[1]);
            p.values[255] = 1u;
            particles.values[1023] = particles.values[i + 256u];
            Unaligned v = Unaligned(addresses[0] + uvec2(2040u, 0u));
            uvec4 whole = v.vector;
            result = whole.x;";
        let kernel = Kernel::new(&device, &shader(body)?, &[&words, &table])?;
        expect_success(kernel.run_to_end(2)?)?;
        same_words(&words.read(), &incremented(&marked(&[])))?;
        for buffer in buffers {
            raw.destroy_buffer(buffer, None);
        }
        raw.free_memory(memory, None);
    }
    Ok(())
}

/// Each frame has a buffer of its own, which is created while the frames before are in flight and destroyed when it is complete.
fn frames(gpu: &Gpu) -> Result<()> {
    let device = addressed(gpu)?;
    let spirv = shader("for (uint at = 0u; at < 1024u; at++) { particles.values[at] += i; }")?;
    let words = Buffer::storage(&device, &marked(&[]))?;
    let mut tables = Vec::new();
    for _ in 0..12 {
        tables.push(Buffer::storage(&device, &[0; 2])?);
    }
    let kernels = tables
        .iter()
        .map(|table| Kernel::new(&device, &spirv, &[&words, table]));
    let kernels: Vec<Kernel<'_>> = kernels.collect::<Result<_>>()?;
    let mut pending = std::collections::VecDeque::new();
    for (kernel, table) in kernels.iter().zip(&tables) {
        let own = buffer(&device, 1024)?;
        table.write(&words_of([own.address()]));
        let submission = kernel.record(2)?;
        expect_success(submission.submit())?;
        pending.push_back((submission, own));
        if pending.len() > 3
            && let Some((submission, own)) = pending.pop_front()
        {
            expect_success(submission.wait())?;
            drop(own);
        }
    }
    for (submission, _own) in pending {
        expect_success(submission.wait())?;
    }
    Ok(())
}

/// One of very many buffers is missed by 4 bytes.
fn many(gpu: &Gpu) -> Result<()> {
    const COUNT: usize = 100_000;
    const STRIDE: u64 = 256;
    let device = addressed(gpu)?;
    let raw = &device.raw;
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let info = vk::BufferCreateInfo::default().size(16).usage(usage);
    // SAFETY: as for the aliases.
    unsafe {
        let first = raw.create_buffer(&info, None)?;
        let needs = raw.get_buffer_memory_requirements(first);
        ensure!(needs.alignment <= STRIDE && needs.size <= STRIDE);
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let allocation = vk::MemoryAllocateInfo::default()
            .allocation_size(STRIDE * COUNT as u64)
            .memory_type_index(device.host_memory(needs.memory_type_bits, vk::MemoryPropertyFlags::empty())?)
            .push_next(&mut flags);
        let memory = raw.allocate_memory(&allocation, None)?;
        let mut buffers = vec![first];
        for _ in 1..COUNT {
            buffers.push(raw.create_buffer(&info, None)?);
        }
        for (buffer, offset) in buffers.iter().zip((0..).step_by(STRIDE as usize)) {
            raw.bind_buffer_memory(*buffer, memory, offset)?;
        }
        let address = raw.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(first));
        let table = Buffer::storage(&device, &words_of([address]))?;
        let before = marked(&[3]);
        let words = Buffer::storage(&device, &before)?;
        // A word of every buffer, and one in front of a buffer.
        let body = "
            for (uint at = i; at < 100000u; at += 64u) {
                uint carry, low = uaddCarry(addresses[0].x, at * 256u, carry);
                Particles p = Particles(uvec2(low, addresses[0].y + carry));
                p.values[3] = i;
            }
            uint carry, low = uaddCarry(addresses[0].x, 256u * 777u - 4u, carry);
            Particles p = Particles(uvec2(low, addresses[0].y + carry));
            if (word == 7u) { result = p.values[0]; }";
        let kernel = Kernel::new(&device, &shader(body)?, &[&words, &table])?;
        expect_success(kernel.run_to_end(2)?)?;
        same_words(&words.read(), &incremented(&before))?;
        for buffer in buffers {
            raw.destroy_buffer(buffer, None);
        }
        raw.free_memory(memory, None);
    }
    Ok(())
}
