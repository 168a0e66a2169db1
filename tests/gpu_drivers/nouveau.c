/* Mesa's nouveau shim, with the parameters that NVK reads, and the object classes of Ada and Blackwell. */
#define drm_shim_driver_init init_of_mesa
#include "nouveau/drm-shim/nouveau_noop.c"
#undef drm_shim_driver_init

static int get_parameter(int fd, unsigned long request, void *argument)
{
   struct drm_nouveau_getparam *parameter = argument;
   switch (parameter->param) {
   case 17: /* EXEC_PUSH_MAX */
      parameter->value = 510;
      return 0;
   case 18: /* VRAM_BAR_SIZE */
      parameter->value = 3ULL << 30;
      return 0;
   case 19: /* VRAM_USED */
   case 20: /* HAS_VMA_TILEMODE */
      parameter->value = 0;
      return 0;
   default:
      return nouveau_ioctl_get_param(fd, request, argument);
   }
}

static const struct {
   unsigned chipset;
   uint16_t inline_to_memory, copy, graphics, compute;
} newer[] = {
   {0x180, 0xa140, 0xc8b5, 0xcb97, 0xcbc0},
   {0x190, 0xa140, 0xc7b5, 0xc997, 0xc9c0},
   {0x1a0, 0xcd40, 0xc9b5, 0xcd97, 0xcdc0},
   {0x1b0, 0xcd40, 0xcab5, 0xce97, 0xcec0},
};

static int list_classes(int fd, unsigned long request, void *argument)
{
   struct {
      struct nvif_ioctl_v0 ioctl;
      struct nvif_ioctl_sclass_v0 classes;
   } *query = argument;
   int result = nouveau_ioctl_nvif(fd, request, argument);
   if (query->ioctl.type != NVIF_IOCTL_V0_SCLASS)
      return result;
   for (unsigned i = 0; i < sizeof newer / sizeof newer[0]; i++) {
      if (newer[i].chipset != (device_info.chip_id & ~0xf))
         continue;
      const uint16_t classes[] = {newer[i].inline_to_memory, newer[i].copy, 0x902d, newer[i].graphics, newer[i].compute};
      for (int k = 0; k < 5 && k < query->classes.count; k++) {
         query->classes.oclass[k].oclass = classes[k];
         query->classes.oclass[k].minver = query->classes.oclass[k].maxver = -1;
      }
   }
   return result;
}

void drm_shim_driver_init(void)
{
   init_of_mesa();
   driver_ioctls[DRM_NOUVEAU_GETPARAM] = get_parameter;
   driver_ioctls[DRM_NOUVEAU_NVIF] = list_classes;
}
