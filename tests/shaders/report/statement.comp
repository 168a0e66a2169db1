#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    // An abort over several lines, with a bracket in its text and one in a comment.
    if (words[i] == 7) {
        abortEXT(
            "word %u (of %u is %f)",  // the first one :)
            i,
            words.length(),
            float(words[i]) / 10.0);
    }
    words[i] = 9;
}
