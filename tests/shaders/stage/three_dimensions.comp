#version 460
#extension GL_EXT_abort : require
layout(local_size_x = 4, local_size_y = 3, local_size_z = 2) in;
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };

void main() {
    if (gl_WorkGroupID.x == 1 && gl_LocalInvocationIndex == words[0]) {
        abortEXT("local index %u", gl_LocalInvocationIndex);
    }
}
