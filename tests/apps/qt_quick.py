"""Qt Quick draws gradients, text, a picture, a curve and effects in a window. Prints a digest of it. Fails unless Vulkan draws it."""

import hashlib
import os
import sys

# The order of glyphs in their texture is that of a hash table, and their pixels vary with their place.
os.environ["QT_HASH_SEED"] = "0"
os.environ["QT_QPA_PLATFORM"] = "xcb"
os.environ["QSG_RHI_BACKEND"] = "vulkan"

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtQml import QQmlComponent, QQmlEngine
from PySide6.QtQuick import QQuickImageProvider, QSGRendererInterface

FRAMES = 8
# The curve has no stroke: for straight pieces, the stroke's vertex shader divides 0 by 0.
SCENE = b"""
import QtQuick
import QtQuick.Effects
import QtQuick.Shapes

Window {
    width: 192; height: 128; visible: true; color: "#203040"
    Rectangle {
        id: panel
        x: 8; y: 8; width: 72; height: 48; radius: 9; border.width: 2; border.color: "white"
        gradient: Gradient { GradientStop { position: 0; color: "orange" } GradientStop { position: 1; color: "navy" } }
    }
    Text { x: 90; y: 8; text: "Qt Quick"; color: "white"; font.pixelSize: 18; style: Text.Outline; styleColor: "red" }
    Text { x: 90; y: 34; text: "curves"; color: "white"; font.pixelSize: 24; rotation: 12; renderType: Text.CurveRendering }
    Image { x: 8; y: 68; width: 60; height: 48; smooth: true; mipmap: true; source: "image://pictures/squares" }
    MultiEffect {
        x: 80; y: 60; width: 72; height: 48; source: panel; rotation: 8
        blurEnabled: true; blur: 0.4; blurMax: 16; saturation: -0.3; brightness: 0.1; contrast: 0.2
        colorization: 0.3; colorizationColor: "green"; shadowEnabled: true; shadowBlur: 0.5
    }
    Shape {
        x: 150; y: 60; width: 40; height: 40; preferredRendererType: Shape.CurveRenderer
        ShapePath {
            strokeColor: "transparent"
            fillGradient: RadialGradient {
                centerX: 20; centerY: 20; centerRadius: 20; focalX: 14; focalY: 14
                GradientStop { position: 0; color: "white" }
                GradientStop { position: 1; color: "purple" }
            }
            startX: 20; startY: 2
            PathCubic { x: 20; y: 38; control1X: 50; control1Y: 2; control2X: 38; control2Y: 38 }
            PathQuad { x: 20; y: 2; controlX: -10; controlY: 20 }
        }
    }
}
"""


class Pictures(QQuickImageProvider):
    """The picture of the scene: squares of several colours."""

    def __init__(self):
        super().__init__(QQuickImageProvider.Image)

    def requestImage(self, name, size, requested):
        picture = QImage(40, 32, QImage.Format_RGB888)
        for x in range(40):
            for y in range(32):
                picture.setPixel(x, y, x // 8 * 0x301000 + y // 8 * 0x1038)
        return picture


app = QGuiApplication(sys.argv)
engine = QQmlEngine()
engine.addImageProvider("pictures", Pictures())
component = QQmlComponent(engine)
component.setData(SCENE, QUrl("scene.qml"))
window = component.create()
if window is None:
    sys.exit(component.errorString())
drawn = 0


def count_frame():
    global drawn
    drawn += 1
    if drawn < FRAMES:
        window.requestUpdate()
        return
    if window.rendererInterface().graphicsApi() != QSGRendererInterface.Vulkan:
        app.exit(1)
        return
    picture = window.grabWindow().convertToFormat(QImage.Format_RGB888)
    pixels = bytes(picture.constBits())
    colours = {pixels[at : at + 3] for at in range(0, len(pixels), 3)}
    print(picture.width(), picture.height(), hashlib.sha256(pixels).hexdigest(), len(colours) > 100)
    app.quit()


window.frameSwapped.connect(count_frame, Qt.QueuedConnection)
sys.exit(app.exec())
