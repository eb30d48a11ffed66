#include "shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct rh_shadow {
    atomic_int holds;
    int descriptor;
    uint8_t *bytes;
    uint64_t length;
};

/* Its text is what the program holds. */
struct token {
    struct rh_shadow *shadow;
    char text[RH_TOKEN_CHARACTERS + 1];
};

static int fail(struct rh_error *error, const char *what) {
    snprintf(error->text, sizeof error->text, "%s: %s", what, strerror(errno));
    return -1;
}

static int map(struct rh_shadow *shadow, struct rh_error *error) {
    shadow->descriptor = memfd_create("railhead-dropin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (shadow->descriptor < 0) {
        return fail(error, "no shared memory");
    }
    if (ftruncate(shadow->descriptor, (off_t)shadow->length) != 0
        || fcntl(shadow->descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
        return fail(error, "no shared memory of this size");
    }
    void *at = mmap(NULL, shadow->length, PROT_READ | PROT_WRITE, MAP_SHARED, shadow->descriptor, 0);
    if (at == MAP_FAILED) {
        return fail(error, "shared memory cannot be mapped");
    }
    shadow->bytes = at;
    return 0;
}

struct rh_shadow *rh_shadow_none(struct rh_error *error) {
    struct rh_shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow) {
        fail(error, "no memory");
        return NULL;
    }
    shadow->descriptor = -1;
    atomic_init(&shadow->holds, 1);
    return shadow;
}

struct rh_shadow *rh_shadow_new(uint64_t bytes, struct rh_error *error) {
    struct rh_shadow *shadow = rh_shadow_none(error);
    if (!shadow) {
        return NULL;
    }
    shadow->length = bytes;
    if (map(shadow, error) == 0) {
        return shadow;
    }
    rh_shadow_drop(shadow);
    return NULL;
}

int rh_shadow_descriptor(const struct rh_shadow *shadow) {
    return shadow->descriptor;
}

uint8_t *rh_shadow_bytes(const struct rh_shadow *shadow) {
    return shadow->bytes;
}

char *rh_shadow_token(struct rh_shadow *shadow, const char text[RH_TOKEN_CHARACTERS + 1]) {
    struct token *token = calloc(1, sizeof *token);
    if (!token) {
        return NULL;
    }
    token->shadow = shadow;
    memcpy(token->text, text, sizeof token->text);
    atomic_fetch_add(&shadow->holds, 1);
    return token->text;
}

void rh_shadow_free_token(char *text) {
    struct token *token = (struct token *)(void *)(text - offsetof(struct token, text));
    rh_shadow_drop(token->shadow);
    free(token);
}

bool rh_shadow_is_shared(struct rh_shadow *shadow) {
    return atomic_load(&shadow->holds) > 1;
}

void rh_shadow_drop(struct rh_shadow *shadow) {
    if (atomic_fetch_sub(&shadow->holds, 1) > 1) {
        return;
    }
    if (shadow->bytes) {
        munmap(shadow->bytes, shadow->length);
    }
    if (shadow->descriptor >= 0) {
        close(shadow->descriptor);
    }
    free(shadow);
}
