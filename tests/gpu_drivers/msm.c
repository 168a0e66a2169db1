/* Mesa's msm shim, with the parameters that Turnip reads. Their numbers are those of the kernel's msm_drm.h; the shim's Mesa
 * is older than some of them. */
#define drm_shim_driver_init init_of_mesa
#include "freedreno/drm-shim/freedreno_noop.c"
#undef drm_shim_driver_init

enum {
   HIGHEST_BANK_BIT = 0x10,
   RAYTRACING = 0x11,
   UBWC_SWIZZLE = 0x12,
   MACROTILE_MODE = 0x13,
   UCHE_TRAP_BASE = 0x14,
   EN_VM_BIND = 0x15,
};

static int get_parameter(int fd, unsigned long request, void *argument)
{
   struct drm_msm_param *parameter = argument;
   switch (parameter->param) {
   case MSM_PARAM_VA_SIZE: /* 48 bits, from 4 GiB */
      parameter->value = (1ULL << 48) - (1ULL << 32);
      return 0;
   case HIGHEST_BANK_BIT:
      parameter->value = 15;
      return 0;
   case RAYTRACING:
      parameter->value = 1;
      return 0;
   case UBWC_SWIZZLE:
      parameter->value = 6;
      return 0;
   case MACROTILE_MODE:
      parameter->value = 0;
      return 0;
   case UCHE_TRAP_BASE:
      parameter->value = 0x1fffffffff000ULL;
      return 0;
   default:
      return msm_ioctl_get_param(fd, request, argument);
   }
}

/* Page tables of the driver's own need more of a kernel. */
static int set_parameter(int fd, unsigned long request, void *argument)
{
   const struct drm_msm_param *parameter = argument;
   return parameter->param >= EN_VM_BIND ? -1 : 0;
}

void drm_shim_driver_init(void)
{
   init_of_mesa();
   driver_ioctls[DRM_MSM_GET_PARAM] = get_parameter;
   driver_ioctls[DRM_MSM_SET_PARAM] = set_parameter;
}
