/* Plays the kernel driver of Apple's GPUs for Honeykrisp. Mesa's own shim has an interface that the kernel never had.
 * The variable ASAHI_GPU has the generation and the variant: 13G is an M1, 13C an M1 Max, 14G an M2. */
#include <drm/asahi_drm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drm-shim/drm_shim.h"
#include "util/macros.h"

bool drm_shim_driver_prefers_first_render_node = true;

/* Of an M1. Addresses have 39 bits; pages 16 KiB. */
static struct drm_asahi_params_global parameters = {
   .gpu_generation = 13,
   .gpu_variant = 'G',
   .gpu_revision = 0x10,
   .chip_id = 0x8103,
   .num_dies = 1,
   .num_clusters_total = 1,
   .num_cores_per_cluster = 8,
   .max_frequency_khz = 1278000,
   .core_masks = {0xff},
   .vm_start = 0x4000,
   .vm_end = 1ULL << 39,
   .vm_kernel_min_size = 1ULL << 29,
   .max_commands_per_submission = 64,
   .max_attachments = 16,
   .command_timestamp_frequency_hz = 24000000,
};

static int ignore(int fd, unsigned long request, void *argument)
{
   return 0;
}

static int get_parameters(int fd, unsigned long request, void *argument)
{
   const struct drm_asahi_get_params *get = argument;
   if (get->param_group != 0)
      return -1;
   memcpy((void *)(uintptr_t)get->pointer, &parameters, MIN2(get->size, sizeof(parameters)));
   return 0;
}

static int create_vm(int fd, unsigned long request, void *argument)
{
   struct drm_asahi_vm_create *create = argument;
   create->vm_id = 1;
   return 0;
}

static int create_queue(int fd, unsigned long request, void *argument)
{
   struct drm_asahi_queue_create *create = argument;
   create->queue_id = 1;
   return 0;
}

static int create_object(int fd, unsigned long request, void *argument)
{
   struct drm_asahi_gem_create *create = argument;
   struct shim_bo *object = calloc(1, sizeof(*object));
   if (object == NULL || drm_shim_bo_init(object, create->size) != 0) {
      free(object);
      return -1;
   }
   create->handle = drm_shim_bo_get_handle(drm_shim_fd_lookup(fd), object);
   drm_shim_bo_put(object);
   return 0;
}

static int map_object(int fd, unsigned long request, void *argument)
{
   struct drm_asahi_gem_mmap_offset *map = argument;
   struct shim_fd *shim_fd = drm_shim_fd_lookup(fd);
   struct shim_bo *object = drm_shim_bo_lookup(shim_fd, map->handle);
   if (object == NULL)
      return -1;
   map->offset = drm_shim_bo_get_mmap_offset(shim_fd, object);
   drm_shim_bo_put(object);
   return 0;
}

static int bind_object(int fd, unsigned long request, void *argument)
{
   struct drm_asahi_gem_bind_object *bind = argument;
   bind->object_handle = 1;
   return 0;
}

static ioctl_fn_t ioctls[] = {
   [DRM_ASAHI_GET_PARAMS] = get_parameters,
   [DRM_ASAHI_GET_TIME] = ignore,
   [DRM_ASAHI_VM_CREATE] = create_vm,
   [DRM_ASAHI_VM_DESTROY] = ignore,
   [DRM_ASAHI_VM_BIND] = ignore,
   [DRM_ASAHI_GEM_CREATE] = create_object,
   [DRM_ASAHI_GEM_MMAP_OFFSET] = map_object,
   [DRM_ASAHI_GEM_BIND_OBJECT] = bind_object,
   [DRM_ASAHI_QUEUE_CREATE] = create_queue,
   [DRM_ASAHI_QUEUE_DESTROY] = ignore,
   [DRM_ASAHI_SUBMIT] = ignore,
};

void drm_shim_driver_init(void)
{
   const char *gpu = getenv("ASAHI_GPU");
   unsigned generation;
   char variant;
   if (gpu != NULL && sscanf(gpu, "%u%c", &generation, &variant) == 2) {
      parameters.gpu_generation = generation;
      parameters.gpu_variant = variant;
   }
   shim_device.bus_type = DRM_BUS_PLATFORM;
   shim_device.driver_name = "asahi";
   shim_device.driver_ioctls = ioctls;
   shim_device.driver_ioctl_count = ARRAY_SIZE(ioctls);
   drm_shim_override_file("DRIVER=asahi\n"
                          "OF_FULLNAME=/soc/agx\n"
                          "OF_COMPATIBLE_0=apple,gpu\n"
                          "OF_COMPATIBLE_N=1\n",
                          "/sys/dev/char/%d:%d/device/uevent", DRM_MAJOR, render_node_minor);
}
