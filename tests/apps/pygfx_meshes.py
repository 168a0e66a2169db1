"""pygfx draws lit meshes of each material off screen. Prints a digest of the picture."""

import hashlib

import numpy as np
import pygfx as gfx
from rendercanvas.offscreen import RenderCanvas

canvas = RenderCanvas(size=(96, 64), pixel_ratio=1)
renderer = gfx.renderers.WgpuRenderer(canvas)
scene = gfx.Scene()
scene.add(gfx.AmbientLight(intensity=0.4))
sun = gfx.DirectionalLight(intensity=2)
sun.local.position = (3, 4, 5)
scene.add(sun)
lamp = gfx.PointLight(intensity=30)
lamp.local.position = (-2, 1, 3)
scene.add(lamp)
materials = [
    gfx.MeshPhongMaterial(color="#c04020", shininess=20),
    gfx.MeshStandardMaterial(color="#40c060", roughness=0.4, metalness=0.3),
    gfx.MeshToonMaterial(color="#4060c0"),
]
for number, material in enumerate(materials):
    mesh = gfx.Mesh(gfx.torus_knot_geometry(0.5, 0.18, 48, 12), material)
    mesh.local.position = (1.6 * (number - 1), 0, 0)
    scene.add(mesh)
camera = gfx.PerspectiveCamera(40, 96 / 64)
camera.local.position = (0, 0, 6)
camera.look_at((0, 0, 0))
canvas.request_draw(lambda: renderer.render(scene, camera))
picture = np.asarray(canvas.draw())
colours = len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0))
print(picture.shape, hashlib.sha256(picture.tobytes()).hexdigest(), colours > 100)
