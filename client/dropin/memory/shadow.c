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

/* Offsets in a shadow. */
struct span {
    uint64_t from;
    uint64_t to;
};

/* One window under way. Its text is what the program holds. */
struct token {
    struct rh_shadow *shadow;
    struct token *next;
    struct span window;
    bool watched; /* what changed is to be copied back */
    char text[RH_TOKEN_CHARACTERS + 1];
    uint8_t tags[][TAG_BYTES]; /* of each block of a watched window: what it held without any transfer since */
};

/*
 * `lock` guards `tokens`, `attached`, `mac` and `scratch`, and is held over copies, so that detaching waits for them, and
 * no two tokens' copies mix. A child of fork never takes it, since it may be locked for ever there, and copies nothing.
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
    EVP_MAC_CTX *mac;
    uint8_t key[KEY_BYTES];
    uint8_t scratch[RH_BLOCK_BYTES];
};

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static uint64_t most(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

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

/*
 * GMAC under a key that nobody else knows: two contents have the same tag with a probability of 2^-100 or so, chosen by
 * an enemy or not. One key and nonce for all is safe here, since no tag is ever shown.
 */
static bool tag_of(struct rh_shadow *shadow, const uint8_t *at, uint64_t bytes, uint8_t tag[TAG_BYTES]) {
    static const char cipher[] = "AES-128-GCM";
    uint8_t nonce[12] = {0};
    const OSSL_PARAM parameters[] = {
        {.key = "cipher", .data_type = OSSL_PARAM_UTF8_STRING, .data = (void *)cipher, .data_size = sizeof cipher - 1},
        {.key = "iv", .data_type = OSSL_PARAM_OCTET_STRING, .data = nonce, .data_size = sizeof nonce},
        {0}};
    size_t written = 0;
    return EVP_MAC_init(shadow->mac, shadow->key, KEY_BYTES, parameters) && EVP_MAC_update(shadow->mac, at, bytes)
           && EVP_MAC_final(shadow->mac, tag, &written, TAG_BYTES) && written == TAG_BYTES;
}

static bool has_tag(struct rh_shadow *shadow, const uint8_t *at, uint64_t bytes, const uint8_t tag[TAG_BYTES]) {
    uint8_t now[TAG_BYTES];
    return tag_of(shadow, at, bytes, now) && memcmp(now, tag, TAG_BYTES) == 0;
}

static bool prepare_tags(struct rh_shadow *shadow) {
    uint8_t tag[TAG_BYTES];
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "GMAC", NULL);
    shadow->mac = mac ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac);
    return shadow->mac && tag_of(shadow, shadow->key, KEY_BYTES, tag);
}

struct rh_shadow *rh_shadow_none(struct rh_error *error) {
    struct rh_shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow) {
        fail(error, "no memory");
        return NULL;
    }
    shadow->owner = getpid();
    shadow->descriptor = -1;
    atomic_init(&shadow->holds, 1);
    pthread_mutex_init(&shadow->lock, NULL);
    return shadow;
}

struct rh_shadow *rh_shadow_new(void *origin, uint64_t bytes, struct rh_error *error) {
    struct rh_shadow *shadow = rh_shadow_none(error);
    if (!shadow) {
        return NULL;
    }
    shadow->attached = true;
    shadow->origin = origin;
    shadow->length = bytes;
    if (getrandom(shadow->key, KEY_BYTES, 0) != KEY_BYTES) {
        fail(error, "no random numbers");
    } else if (!prepare_tags(shadow)) {
        snprintf(error->text, sizeof error->text, "libcrypto has no GMAC");
    } else if (map(shadow, error) == 0) {
        return shadow;
    }
    rh_shadow_drop(shadow);
    return NULL;
}

int rh_shadow_descriptor(const struct rh_shadow *shadow) {
    return shadow->descriptor;
}

bool rh_shadow_is_shared(struct rh_shadow *shadow) {
    return atomic_load(&shadow->holds) > 1;
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
    EVP_MAC_CTX_free(shadow->mac);
    pthread_mutex_destroy(&shadow->lock);
    free(shadow);
}

/* What is done under the lock with a block of a watched window, and its tag, because of a window that meets it. */
typedef void block_action(struct rh_shadow *shadow, struct span block, uint8_t tag[TAG_BYTES], struct span window);

static void each_block(struct rh_shadow *shadow, struct span window, block_action *action) {
    for (struct token *token = shadow->attached ? shadow->tokens : NULL; token; token = token->next) {
        struct span block = {.from = token->window.from};
        for (uint64_t i = 0; token->watched && block.from < token->window.to; i++, block.from = block.to) {
            block.to = least(block.from + RH_BLOCK_BYTES, token->window.to);
            if (block.from < window.to && window.from < block.to) {
                action(shadow, block, token->tags[i], window);
            }
        }
    }
}

/* In this order, so that what is written meanwhile is found to differ the next time. */
static void copy_back(struct rh_shadow *shadow, struct span block, uint8_t tag[TAG_BYTES], struct span window) {
    (void)window;
    uint8_t now[TAG_BYTES] = {0};
    uint64_t bytes = block.to - block.from;
    if (!tag_of(shadow, shadow->bytes + block.from, bytes, now) || memcmp(now, tag, TAG_BYTES) != 0) {
        memcpy(shadow->origin + block.from, shadow->bytes + block.from, bytes);
        memcpy(tag, now, TAG_BYTES);
    }
}

/*
 * Has the block's tag expect the copy of the window. It is that of what the block will hold, and not of what it then does:
 * a transfer that writes into it meanwhile is still seen.
 */
static void expect_copy(struct rh_shadow *shadow, struct span block, uint8_t tag[TAG_BYTES], struct span window) {
    uint64_t bytes = block.to - block.from, from = most(block.from, window.from), to = least(block.to, window.to);
    memcpy(shadow->scratch, shadow->bytes + block.from, bytes);
    if (has_tag(shadow, shadow->scratch, bytes, tag)) {
        memcpy(shadow->scratch + (from - block.from), shadow->origin + from, to - from);
        tag_of(shadow, shadow->scratch, bytes, tag);
    }
}

static void copy_in(struct rh_shadow *shadow, struct token *token) {
    struct span window = token->window;
    each_block(shadow, window, copy_back);
    each_block(shadow, window, expect_copy);
    memcpy(shadow->bytes + window.from, shadow->origin + window.from, window.to - window.from);
    for (uint64_t i = 0, at = window.from; token->watched && at < window.to; i++, at += RH_BLOCK_BYTES) {
        tag_of(shadow, shadow->bytes + at, least(RH_BLOCK_BYTES, window.to - at), token->tags[i]);
    }
}

char *rh_shadow_begin(struct rh_shadow *shadow, uint64_t offset, uint64_t bytes, enum rh_direction direction,
                      struct rh_error *error) {
    bool watched = shadow->bytes && direction != RH_PUT;
    struct token *token = calloc(1, sizeof *token + (watched ? (bytes / RH_BLOCK_BYTES + 1) * TAG_BYTES : 0));
    if (!token) {
        fail(error, "no memory");
        return NULL;
    }
    *token = (struct token){.shadow = shadow, .window = {offset, offset + bytes}, .watched = watched};
    rh_shadow_hold(shadow);
    pthread_mutex_lock(&shadow->lock);
    if (shadow->attached) {
        copy_in(shadow, token);
    }
    token->next = shadow->tokens;
    shadow->tokens = token;
    pthread_mutex_unlock(&shadow->lock);
    return token->text;
}

void rh_shadow_bring(struct rh_shadow *shadow, const uint8_t *address, uint64_t bytes) {
    const uint8_t *end = address + bytes;
    struct span window = {.from = address > shadow->origin ? (uint64_t)(address - shadow->origin) : 0,
                          .to = end > shadow->origin ? (uint64_t)(end - shadow->origin) : 0};
    pthread_mutex_lock(&shadow->lock);
    each_block(shadow, window, copy_back);
    pthread_mutex_unlock(&shadow->lock);
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
    if (shadow->owner == getpid()) {
        pthread_mutex_lock(&shadow->lock);
        each_block(shadow, token->window, copy_back);
        unlink_token(shadow, token);
        pthread_mutex_unlock(&shadow->lock);
    }
    rh_shadow_drop(shadow);
    free(token);
}

void rh_shadow_settle(struct rh_shadow *shadow) {
    pthread_mutex_lock(&shadow->lock);
    each_block(shadow, (struct span){0, shadow->length}, copy_back);
    shadow->attached = false;
    pthread_mutex_unlock(&shadow->lock);
}
