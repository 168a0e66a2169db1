# Draws some frames of the scene and prints a digest of the last one. Fails unless Vulkan draws it.
extends Node


func _ready() -> void:
	if RenderingServer.get_current_rendering_driver_name() != "vulkan":
		get_tree().quit(1)
		return
	for _frame in 10:
		await RenderingServer.frame_post_draw
	var picture := get_viewport().get_texture().get_image()
	var colours := {}
	for x in picture.get_width():
		for y in picture.get_height():
			colours[picture.get_pixel(x, y)] = true
	var digest := HashingContext.new()
	digest.start(HashingContext.HASH_SHA256)
	digest.update(picture.get_data())
	print(picture.get_size(), " ", digest.finish().hex_encode(), " ", colours.size() > 100)
	get_tree().quit()
