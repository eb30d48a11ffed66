/*
 * The rule of owners, version 2: rendezvous hashing of the members' names. io.railhead.protocol.placement.Ownership has the same
 * for gateways, and docs/http-api.md the values that both are checked with.
 */
#include "client.h"

static const uint64_t SEED = 0x9E3779B97F4A7C15, PRIME = 0x100000001B3;
enum { REPLACEMENT = 0xFFFD };

/* Mixes all bits: Stafford's thirteenth variant of MurmurHash3's finalizer. */
static uint64_t mix(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
}

/* Takes the next character of UTF-8, which has not ended. One that is none is a single byte long. */
static uint32_t take(const unsigned char **text) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *at = *text;
    int more = *at < 0x80 ? 0 : *at >= 0xF0 && *at < 0xF8 ? 3 : *at >= 0xE0 ? 2 : 1;
    uint32_t character = more ? *at & (0x3Fu >> more) : *at;
    *text = at + 1;
    if (more && (*at < 0xC0 || *at >= 0xF8)) {
        return REPLACEMENT;
    }
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return REPLACEMENT;
        }
        character = character << 6 | (at[i] & 0x3Fu);
    }
    if (character < least[more] || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000)) {
        return REPLACEMENT;
    }
    *text = at + 1 + more;
    return character;
}

/* Adds a text's 16-bit units by FNV-1a; their number separates it from the next text. */
static uint64_t add(uint64_t hash, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    uint64_t units = 0;
    while (*at) {
        uint32_t character = take(&at);
        if (character > 0xFFFF) {
            hash = (hash ^ (0xD7C0 + (character >> 10))) * PRIME;
            character = 0xDC00 + (character & 0x3FF);
            units++;
        }
        hash = (hash ^ character) * PRIME;
        units++;
    }
    return mix(hash + units);
}

RAILHEAD_PUBLIC uint64_t railhead_member(const char *name) {
    return add(SEED, name);
}

RAILHEAD_PUBLIC uint64_t railhead_run(const char *bucket, const char *key, uint64_t index) {
    return mix(add(add(SEED, bucket), key) ^ mix(index + SEED));
}

RAILHEAD_PUBLIC uint64_t railhead_score(uint64_t member, uint64_t run) {
    return mix(member + mix(run ^ (member << 32 | member >> 32)));
}

RAILHEAD_PUBLIC size_t railhead_owner(const uint64_t *members, size_t count, const char *bucket, const char *key,
                                      uint64_t index) {
    uint64_t run = railhead_run(bucket, key, index), highest = 0;
    size_t owner = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t score = railhead_score(members[i], run);
        if (i == 0 || score > highest) {
            highest = score;
            owner = i;
        }
    }
    return owner;
}
