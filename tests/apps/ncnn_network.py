"""A small network on ncnn's Vulkan layers, with generated weights. Prints a digest of each result."""

import hashlib
from pathlib import Path

import ncnn
import numpy as np

# Each layer: type, name, numbers of its inputs and outputs, their names, parameters; then the sizes of its weights and biases.
LAYERS = [
    ("Input image 0 1 image 0=40 1=24 2=3", []),
    ("Convolution c1 1 1 image wide 0=16 1=3 4=1 5=1 6=432 9=1", [432, 16]),
    ("Convolution c2 1 1 wide same 0=16 1=3 4=1 5=1 6=2304 9=4", [2304, 16]),
    ("Split s1 1 3 same left right far", []),
    ("ConvolutionDepthWise c3 1 1 left depth 0=16 1=3 4=1 5=1 6=144 7=16", [144, 16]),
    ("Convolution c4 1 1 depth point 0=16 1=1 5=1 6=256", [256, 16]),
    ("BinaryOp b1 2 1 point right sum 0=0", []),
    ("Pooling p1 1 1 sum half 0=0 1=2 2=2", []),
    ("Interp i1 1 1 half up 0=2 1=2.0 2=2.0", []),
    ("Concat j1 2 1 up far both 0=0", []),
    ("HardSwish h1 1 1 both swish 0=0.16667 1=0.5", []),
    ("Convolution c5 1 1 swish few 0=12 1=1 5=1 6=384", [384, 12]),
    ("PixelShuffle x1 1 1 few large 0=2", []),
    ("Pooling p2 1 1 large mean 0=1 1=4 2=4", []),
    ("InnerProduct f1 1 1 mean scores 0=10 1=1 2=7200", [7200, 10]),
    ("Softmax m1 1 1 scores chances 0=0 1=1", []),
]
BLOBS = 18
RESULTS = ["same", "large", "chances"]


def numbers(count, scale):
    return (((np.arange(count) * 37 % 61) / 61 - 0.5) * scale).astype(np.float32)


lines = ["7767517", f"{len(LAYERS)} {BLOBS}"] + [layer for layer, _ in LAYERS]
weights = b""
for _, sizes in LAYERS:
    for index, count in enumerate(sizes):
        # A word in front of weights, but not of biases, says that they are float32.
        weights += b"\0\0\0\0"[: 4 - 4 * index] + numbers(count, 0.5).tobytes()
Path("network.param").write_text("\n".join(lines) + "\n")
Path("network.bin").write_bytes(weights)

# Without a path it loads the driver itself, without layers.
assert ncnn.create_gpu_instance("libvulkan.so.1") == 0
image = numbers(3 * 24 * 40, 2.0).reshape(3, 24, 40)


def run(arithmetic_of_halves):
    net = ncnn.Net()
    net.opt.use_vulkan_compute = True
    net.opt.use_fp16_arithmetic = arithmetic_of_halves
    assert net.load_param("network.param") == 0 and net.load_model("network.bin") == 0
    results = {}
    for name in RESULTS:
        extractor = net.create_extractor()
        extractor.input("image", ncnn.Mat(image))
        code, result = extractor.extract(name)
        assert code == 0
        results[name] = np.ascontiguousarray(np.array(result))
    return results


floats, halves = run(False), run(True)
for name, data in floats.items():
    # LLVM keeps some results of 16 bits as floats up to the next operation, and which ones depends on the code around them.
    is_near = np.abs(data - halves[name]).max() < 0.005
    print(name, data.shape, hashlib.sha256(data.tobytes()).hexdigest(), data.max(), is_near)
