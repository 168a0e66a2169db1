/* Mesa's amdgpu shim, with the kernel version that Mesa 26 needs, and RDNA4: a Navi 31 with another family and other IDs. The
 * compiler reads no more than the family, so code and registers are those of RDNA4; heaps are Navi 31's. */
#define drm_shim_driver_init init_of_mesa
#include "amd/drm-shim/amdgpu_noop_drm_shim.c"
#undef drm_shim_driver_init

static const struct {
   const char *name;
   int family, device, revision;
} rdna4[] = {
   {"gfx1200", CHIP_GFX1200, 0x7590, 0x41},
   {"gfx1201", CHIP_GFX1201, 0x7550, 0x51},
};

void drm_shim_driver_init(void)
{
   static struct amdgpu_device device;
   const char *id = getenv("AMDGPU_GPU_ID");
   int index = -1;
   for (int i = 0; id && i < 2; i++)
      if (!strcmp(id, rdna4[i].name))
         index = i;
   if (index < 0) {
      init_of_mesa();
      shim_device.version_minor = 54;
      return;
   }
   setenv("AMDGPU_GPU_ID", "navi31", 1);
   init_of_mesa();
   setenv("AMDGPU_GPU_ID", rdna4[index].name, 1);
   device = *amdgpu_dev;
   device.name = rdna4[index].name;
   device.radeon_family = rdna4[index].family;
   device.hw_ip_gfx.hw_ip_version_major = device.hw_ip_compute.hw_ip_version_major = 12;
   device.hw_ip_gfx.ip_discovery_version = device.hw_ip_compute.ip_discovery_version = 0xc0000 + index;
   device.dev.device_id = rdna4[index].device;
   device.dev.external_rev = rdna4[index].revision;
   device.dev.family = AMDGPU_FAMILY_GC_12_0_0;
   amdgpu_dev = &device;
   shim_device.version_minor = 54;
}
