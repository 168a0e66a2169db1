"""datoviz draws points off screen. Prints a digest of the picture."""

import hashlib
import tempfile

import datoviz as dvz
import numpy as np
from PIL import Image

COUNT = 200
app = dvz.App(offscreen=True, background="white")
figure = app.figure(160, 120)
panel = figure.panel()
t = np.linspace(0, 6, COUNT)
position = np.c_[np.cos(t * 3) * t / 7, np.sin(t * 3) * t / 7, np.zeros(COUNT)].astype(np.float32)
colour = dvz.cmap("hsv", t, 0, 6)
panel.add(app.point(position=position, color=colour, size=np.full(COUNT, 6, np.float32)))
with tempfile.NamedTemporaryFile(suffix=".png") as file:
    app.screenshot(figure, file.name)
    picture = Image.open(file.name).convert("RGB")
print(picture.size, hashlib.sha256(picture.tobytes()).hexdigest(), len(picture.getcolors(160 * 120)) > 100)
app.destroy()
