use super::*;
use crate::device::AbortState;
use crate::device::state::Extensions;
use crate::report::fault_info::fault_info;
use std::ptr;
use vk_ext::fault_flags;

fn abort_state(vendor_binary: bool) -> AbortState {
    AbortState {
        emulated: Extensions::ALL,
        ext_fault: vendor_binary,
        vendor_binary,
        enabled: Extensions::ALL,
        ..AbortState::default()
    }
}

fn blank() -> FaultInfo {
    FaultInfo {
        p_next: ptr::without_provenance_mut(8),
        ..fault_info(77, 77, "untouched")
    }
}

#[test]
fn reports_are_counted_then_handed_out_once_and_the_rest_of_the_array_is_left_alone() {
    let state = abort_state(false);
    let mut count = 5;
    // SAFETY: the arrays are as long as the counts say.
    unsafe {
        assert_eq!(take_reports(&state, &mut count, ptr::null_mut()), vk::Result::TIMEOUT);
        assert_eq!(count, 0);
        state
            .faults
            .push([fault_info(1, 0, "a"), fault_info(1, fault_flags::DEVICE_LOST, "b")]);
        assert_eq!(take_reports(&state, &mut count, ptr::null_mut()), vk::Result::SUCCESS);
        assert_eq!(count, 2);
        let mut room = [blank(); 3];
        count = 0;
        assert_eq!(
            take_reports(&state, &mut count, room.as_mut_ptr()),
            vk::Result::INCOMPLETE
        );
        count = 1;
        assert_eq!(
            take_reports(&state, &mut count, room.as_mut_ptr()),
            vk::Result::INCOMPLETE
        );
        assert_eq!((count, room[0].group_id, room[0].flags), (1, 1, 0));
        assert_eq!(
            room[0].p_next,
            ptr::without_provenance_mut(8),
            "the chain is the application's"
        );
        assert_eq!(room[1].group_id, 77);
        count = 3;
        assert_eq!(take_reports(&state, &mut count, room.as_mut_ptr()), vk::Result::SUCCESS);
        assert_eq!(
            (count, room[0].flags, room[1].group_id),
            (1, fault_flags::DEVICE_LOST, 77)
        );
        count = 3;
        assert_eq!(take_reports(&state, &mut count, room.as_mut_ptr()), vk::Result::TIMEOUT);
        assert_eq!(count, 0);
    }
}

fn query(
    state: &AbortState,
    loss: &LossData,
    messages: Option<&mut [u8]>,
    binary: Option<&mut [u8]>,
) -> (vk::Result, u64, u32) {
    let (data, size) = messages.map_or((ptr::null_mut(), 0), |m| (m.as_mut_ptr(), m.len()));
    let mut node = ShaderAbortMessageInfo {
        message_data_size: size as u64,
        p_message_data: data.cast(),
        ..Default::default()
    };
    let (data, size) = binary.map_or((ptr::null_mut(), 0), |b| (b.as_mut_ptr(), b.len()));
    let mut info = FaultDebugInfo {
        p_next: ptr::from_mut(&mut node).cast(),
        vendor_binary_size: size as u32,
        p_vendor_binary_data: data.cast(),
        ..Default::default()
    };
    // SAFETY: structures and arrays of ours, as long as their sizes say.
    let result = unsafe { fill_debug_info(state, loss, &mut info) };
    (result, node.message_data_size, info.vendor_binary_size)
}

#[test]
fn messages_are_sized_filled_and_cut_without_overrun() {
    let state = abort_state(false);
    let loss = LossData {
        message_data: Vec::from_iter(0..20).into(),
        vendor_binary: vec![9; 8],
        ..LossData::default()
    };
    assert_eq!(query(&state, &loss, None, None), (vk::Result::SUCCESS, 20, 0));
    let mut room = [0xEE; 24];
    assert_eq!(
        query(&state, &loss, Some(&mut room[..20]), None),
        (vk::Result::SUCCESS, 20, 0)
    );
    assert_eq!(room[19], 19);
    assert_eq!(room[20], 0xEE);
    let mut short = [0xEE; 24];
    assert_eq!(
        query(&state, &loss, Some(&mut short[..9]), None),
        (vk::Result::INCOMPLETE, 9, 0)
    );
    assert_eq!((short[8], short[9]), (8, 0xEE));
    let mut large = [0xEE; 24];
    assert_eq!(
        query(&state, &loss, Some(&mut large), None),
        (vk::Result::SUCCESS, 20, 0)
    );
    assert_eq!(large[20], 0xEE);
}

#[test]
fn a_healthy_device_has_no_messages() {
    assert_eq!(
        query(&abort_state(false), &LossData::default(), None, None),
        (vk::Result::SUCCESS, 0, 0)
    );
}

#[test]
fn a_crash_dump_is_whole_or_not_there() {
    let loss = LossData {
        vendor_binary: vec![9; 8],
        ..LossData::default()
    };
    let with = abort_state(true);
    assert_eq!(query(&with, &loss, None, None), (vk::Result::SUCCESS, 0, 8));
    let mut short = [0; 7];
    assert_eq!(
        query(&with, &loss, None, Some(&mut short)),
        (ERROR_NOT_ENOUGH_SPACE, 0, 0)
    );
    assert_eq!(short, [0; 7]);
    let mut room = [0; 8];
    assert_eq!(query(&with, &loss, None, Some(&mut room)), (vk::Result::SUCCESS, 0, 8));
    assert_eq!(room, [9; 8]);
    let mut unwanted = [0; 8];
    assert_eq!(
        query(&abort_state(false), &loss, None, Some(&mut unwanted)),
        (vk::Result::SUCCESS, 0, 0)
    );
    assert_eq!(unwanted, [0; 8]);
}
