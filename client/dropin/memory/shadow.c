#include "shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum { KEY_BYTES = 16, TAG_BYTES = 16 };

/* One window under way. Its text is what the program holds. */
struct token {
    struct rh_shadow *shadow;
    struct token *next;
    uint64_t offset;
    uint64_t bytes;
    bool watched; /* what changed is to be copied back */
    uint8_t tag[TAG_BYTES];
    char text[RH_TOKEN_CHARACTERS + 1];
};

/*
 * `lock` guards `tokens` and `attached`, and is held over copies back, so that detaching waits for them. A child of fork
 * never takes it, since it may be locked for ever there, and copies nothing.
 */
struct rh_shadow {
    pid_t owner;
    atomic_int holds;
    pthread_mutex_t lock;
    struct token *tokens;
    bool attached;
    uint8_t *origin;
    uint8_t *bytes;
    uint64_t length;
    int descriptor;
    uint8_t key[KEY_BYTES];
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

struct rh_shadow *rh_shadow_new(void *origin, uint64_t bytes, struct rh_error *error) {
    struct rh_shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow) {
        fail(error, "no memory");
        return NULL;
    }
    *shadow = (struct rh_shadow){.owner = getpid(), .attached = true, .origin = origin, .length = bytes, .descriptor = -1};
    atomic_init(&shadow->holds, 1);
    pthread_mutex_init(&shadow->lock, NULL);
    if (getrandom(shadow->key, KEY_BYTES, 0) != KEY_BYTES) {
        fail(error, "no random numbers");
    } else if (map(shadow, error) == 0) {
        return shadow;
    }
    rh_shadow_drop(shadow);
    return NULL;
}

int rh_shadow_descriptor(const struct rh_shadow *shadow) {
    return shadow->descriptor;
}

struct rh_shadow *rh_shadow_hold(struct rh_shadow *shadow) {
    atomic_fetch_add(&shadow->holds, 1);
    return shadow;
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
    pthread_mutex_destroy(&shadow->lock);
    free(shadow);
}

/*
 * GMAC under a key that nobody else knows: two contents have the same tag with a probability of 2^-100 or so, chosen by
 * an enemy or not. One key and nonce for all is safe here, since no tag is ever shown.
 */
static bool tag_of(const struct rh_shadow *shadow, const struct token *token, uint8_t tag[TAG_BYTES]) {
    static const char cipher[] = "AES-128-GCM";
    uint8_t nonce[12] = {0};
    const OSSL_PARAM parameters[] = {
        {.key = "cipher", .data_type = OSSL_PARAM_UTF8_STRING, .data = (void *)cipher, .data_size = sizeof cipher - 1},
        {.key = "iv", .data_type = OSSL_PARAM_OCTET_STRING, .data = nonce, .data_size = sizeof nonce},
        {0}};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "GMAC", NULL);
    EVP_MAC_CTX *context = mac ? EVP_MAC_CTX_new(mac) : NULL;
    size_t written = 0;
    bool made = context && EVP_MAC_init(context, shadow->key, KEY_BYTES, parameters)
                && EVP_MAC_update(context, shadow->bytes + token->offset, token->bytes)
                && EVP_MAC_final(context, tag, &written, TAG_BYTES) && written == TAG_BYTES;
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
    return made;
}

char *rh_shadow_begin(struct rh_shadow *shadow, uint64_t offset, uint64_t bytes, enum rh_direction direction,
                      struct rh_error *error) {
    struct token *token = calloc(1, sizeof *token);
    if (!token) {
        fail(error, "no memory");
        return NULL;
    }
    *token = (struct token){.shadow = shadow, .offset = offset, .bytes = bytes, .watched = direction != RH_PUT};
    if (!shadow) {
        return token->text;
    }
    memcpy(shadow->bytes + offset, shadow->origin + offset, bytes);
    if (token->watched && !tag_of(shadow, token, token->tag)) {
        snprintf(error->text, sizeof error->text, "libcrypto has no GMAC");
        free(token);
        return NULL;
    }
    rh_shadow_hold(shadow);
    pthread_mutex_lock(&shadow->lock);
    token->next = shadow->tokens;
    shadow->tokens = token;
    pthread_mutex_unlock(&shadow->lock);
    return token->text;
}

/* Under the lock. */
static void copy_back(struct rh_shadow *shadow, struct token *token) {
    uint8_t now[TAG_BYTES];
    if (shadow->attached && token->watched
        && (!tag_of(shadow, token, now) || memcmp(now, token->tag, TAG_BYTES) != 0)) {
        memcpy(shadow->origin + token->offset, shadow->bytes + token->offset, token->bytes);
    }
}

static void unlink_token(struct rh_shadow *shadow, struct token *token) {
    struct token **at = &shadow->tokens;
    while (*at && *at != token) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = token->next;
    }
}

void rh_shadow_end(char *text) {
    struct token *token = (struct token *)(void *)(text - offsetof(struct token, text));
    struct rh_shadow *shadow = token->shadow;
    if (!shadow) {
        free(token);
        return;
    }
    if (shadow->owner == getpid()) {
        pthread_mutex_lock(&shadow->lock);
        unlink_token(shadow, token);
        copy_back(shadow, token);
        pthread_mutex_unlock(&shadow->lock);
    }
    rh_shadow_drop(shadow);
    free(token);
}

void rh_shadow_settle(struct rh_shadow *shadow) {
    pthread_mutex_lock(&shadow->lock);
    for (struct token *token = shadow->tokens; token; token = token->next) {
        copy_back(shadow, token);
    }
    shadow->attached = false;
    pthread_mutex_unlock(&shadow->lock);
}
