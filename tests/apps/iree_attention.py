"""Modules that IREE compiles for Vulkan: attention, a convolution, a gather. Prints a digest of each result."""

import hashlib

import numpy as np
from iree import compiler, runtime

SOURCE = """
module @attention {
  func.func @attend(%query: tensor<32x48xf32>, %key: tensor<48x40xf32>, %value: tensor<40x24xf32>) -> tensor<32x24xf32> {
    %scores = stablehlo.dot %query, %key : (tensor<32x48xf32>, tensor<48x40xf32>) -> tensor<32x40xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %most = stablehlo.reduce(%scores init: %low) applies stablehlo.maximum across dimensions = [1]
        : (tensor<32x40xf32>, tensor<f32>) -> tensor<32xf32>
    %wide = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<32xf32>) -> tensor<32x40xf32>
    %shifted = stablehlo.subtract %scores, %wide : tensor<32x40xf32>
    %powers = stablehlo.exponential %shifted : tensor<32x40xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%powers init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<32x40xf32>, tensor<f32>) -> tensor<32xf32>
    %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<32xf32>) -> tensor<32x40xf32>
    %weights = stablehlo.divide %powers, %sums : tensor<32x40xf32>
    %result = stablehlo.dot %weights, %value : (tensor<32x40xf32>, tensor<40x24xf32>) -> tensor<32x24xf32>
    return %result : tensor<32x24xf32>
  }

  func.func @convolve(%image: tensor<1x20x20x3xf32>, %filter: tensor<3x3x3x8xf32>) -> tensor<1x18x18x8xf32> {
    %result = stablehlo.convolution(%image, %filter)
        dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x20x20x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x18x18x8xf32>
    return %result : tensor<1x18x18x8xf32>
  }

  func.func @pick(%rows: tensor<50x7xi32>, %order: tensor<16x1xi32>) -> tensor<16x7xi32> {
    %picked = "stablehlo.gather"(%rows, %order) {
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 7>
    } : (tensor<50x7xi32>, tensor<16x1xi32>) -> tensor<16x7xi32>
    %seven = stablehlo.constant dense<7> : tensor<16x7xi32>
    %rest = stablehlo.remainder %picked, %seven : tensor<16x7xi32>
    return %rest : tensor<16x7xi32>
  }
}
"""


def numbers(*shape):
    count = int(np.prod(shape))
    return ((np.arange(count) * 37 % 61) / 61 - 0.5).astype(np.float32).reshape(shape)


def on_host(array):
    """What `to_host` returns. That imports NumPy's memory, whose alignment lavapipe refuses (IREE 3.13)."""
    view = array._buffer_view
    allocator = array._device.allocator
    source = view.get_buffer()
    copy = allocator.allocate_buffer(
        memory_type=int(runtime.MemoryType.HOST_LOCAL | runtime.MemoryType.DEVICE_VISIBLE),
        allowed_usage=int(runtime.BufferUsage.TRANSFER_TARGET | runtime.BufferUsage.MAPPING_SCOPED),
        allocation_size=source.byte_length(),
    )
    semaphore = array._device.create_semaphore(0)
    begin, end = (runtime.HalFence.create_at(semaphore, time) for time in (0, 1))
    array._device.queue_copy(source, copy, wait_semaphores=begin, signal_semaphores=end)
    end.wait()
    return copy.map().asarray(view.shape, runtime.HalElementType.map_to_dtype(view.element_type)).copy()


binary = compiler.compile_str(SOURCE, input_type="stablehlo", target_backends=["vulkan-spirv"])
module = runtime.load_vm_flatbuffer(binary, driver="vulkan")
rows = (np.arange(350, dtype=np.int32) * 7919 % 1009).reshape(50, 7)
order = (np.arange(16, dtype=np.int32) * 13 % 50).reshape(16, 1)
for name, result in [
    ("attend", module.attend(numbers(32, 48), numbers(48, 40), numbers(40, 24))),
    ("convolve", module.convolve(numbers(1, 20, 20, 3), numbers(3, 3, 3, 8))),
    ("pick", module.pick(rows, order)),
]:
    # The module lets drivers contract its arithmetic. Checks and prints of a value prevent that, which changes the last bits.
    data = np.round(on_host(result), 3) + 0
    print(name, hashlib.sha256(data.tobytes()).hexdigest())
