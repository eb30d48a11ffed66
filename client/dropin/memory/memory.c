#include "memory.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shadow.h"

/*
 * What the program registered at one address: with the session of that number, by its shadow or itself, if at all. The count
 * is 0 after a longer one took its place, as long as it has tokens.
 */
struct range {
    struct range *next;
    uint8_t *origin;
    uint64_t length;
    int count;
    bool registered;
    struct rh_shadow *shadow; /* NULL where it is not registered */
    uint64_t session;
    uint32_t key;
};

/* `lock` guards everything, and is held while the gateway is asked: the session's thread, which copies, never takes it. */
struct rh_memory {
    struct rh_memory *next;
    bool attaches;
    pthread_mutex_t lock;
    bool orphaned; /* by a fork: what is here is still the parent's */
    struct rh_session *session;
    struct rh_renewal *renewal; /* of the session's credentials; NULL: there is none */
    uint64_t sessions; /* opened so far: the number of this one */
    struct range *ranges;
};

/*
 * All that are open. A child of fork has none of its parent's other threads, so each memory's lock is made anew there, and is
 * not waited for before: who holds it may be asking the gateway. Hence nothing that is freed is ever left where a child
 * finds it.
 */
static struct {
    pthread_mutex_t lock;
    struct rh_memory *first;
} opened = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void) {
    pthread_mutex_lock(&opened.lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&opened.lock);
}

static void in_child_of_fork(void) {
    for (struct rh_memory *memory = opened.first; memory; memory = memory->next) {
        pthread_mutex_init(&memory->lock, NULL);
        memory->orphaned = true;
    }
    after_fork();
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(before_fork, after_fork, in_child_of_fork);
}

static void add_opened(struct rh_memory *memory) {
    pthread_mutex_lock(&opened.lock);
    memory->next = opened.first;
    opened.first = memory;
    pthread_mutex_unlock(&opened.lock);
}

static void remove_opened(struct rh_memory *memory) {
    pthread_mutex_lock(&opened.lock);
    struct rh_memory **at = &opened.first;
    while (*at && *at != memory) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = memory->next;
    }
    pthread_mutex_unlock(&opened.lock);
}

static void lose_session(struct rh_memory *memory) {
    struct rh_session *session = memory->session;
    memory->session = NULL;
    rh_renewal_stop(memory->renewal);
    memory->renewal = NULL;
    if (session) {
        rh_session_close(session);
    }
}

static struct rh_shadow *take_shadow(struct range *range) {
    struct rh_shadow *shadow = range->shadow;
    range->shadow = NULL;
    return shadow;
}

/* Gives a child of fork everything but its parent's session. */
static void adopt(struct rh_memory *memory) {
    memory->orphaned = false;
    lose_session(memory);
    for (struct range *range = memory->ranges; range; range = range->next) {
        struct rh_shadow *shadow = take_shadow(range);
        range->registered = false;
        if (shadow) {
            rh_shadow_drop(shadow);
        }
    }
}

static void enter(struct rh_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    if (memory->orphaned) {
        adopt(memory);
    }
}

static void leave(struct rh_memory *memory) {
    pthread_mutex_unlock(&memory->lock);
}

static int require_session(struct rh_memory *memory, struct rh_error *error) {
    if (memory->session && rh_session_is_open(memory->session)) {
        return 0;
    }
    lose_session(memory);
    struct rh_settings *settings = malloc(sizeof *settings);
    struct rh_grant grant;
    int result = -1;
    memset(&grant, 0, sizeof grant);
    if (!settings) {
        snprintf(error->text, sizeof error->text, "no memory");
    } else if (rh_settings_read(settings, error) == 0 && rh_grant_request(settings, &grant, error) == 0) {
        result = rh_session_connect(&grant, settings->timeout_millis, &memory->session, error);
        memory->sessions += result == 0;
        memory->renewal = result == 0 ? rh_renewal_start(memory->session, settings) : NULL;
    }
    if (settings) {
        explicit_bzero(settings, sizeof *settings);
        explicit_bzero(&grant, sizeof grant);
    }
    free(settings);
    return result;
}

/* Lets the range go. The gateway has done so before, or is asked to, or is gone. */
static void unregister(struct rh_memory *memory, struct range *range) {
    struct rh_error ignored; /* a session that fails here is found lost by whoever needs it next */
    if (range->registered && memory->session && range->session == memory->sessions) {
        (void)rh_session_deregister(memory->session, range->key, &ignored);
    }
    range->registered = false;
    struct rh_shadow *shadow = take_shadow(range);
    if (shadow) {
        rh_shadow_drop(shadow);
    }
}

static int register_shadow(struct rh_memory *memory, struct range *range, struct rh_error *error) {
    struct rh_shadow *shadow = memory->attaches ? rh_shadow_none(error) : rh_shadow_new(range->length, error);
    if (!shadow) {
        return -1;
    }
    int result = memory->attaches
                     ? rh_session_attach(memory->session, range->origin, range->length, &range->key, error)
                     : rh_session_bounce(memory->session, rh_shadow_descriptor(shadow), rh_shadow_bytes(shadow),
                                         range->origin, range->length, &range->key, error);
    if (result != 0) {
        rh_shadow_drop(shadow);
        return -1;
    }
    range->shadow = shadow;
    return 0;
}

/* A shadow of an older session is replaced, since nothing tells whether that gateway still writes into it. */
static int require_registered(struct rh_memory *memory, struct range *range, struct rh_error *error) {
    if (require_session(memory, error) != 0) {
        return -1;
    }
    if (range->registered && range->session == memory->sessions) {
        return 0;
    }
    unregister(memory, range);
    int result = register_shadow(memory, range, error);
    range->registered = result == 0;
    range->session = memory->sessions;
    return result;
}

/* The range that starts at the address, else one that it lies in. */
static struct range *find(struct rh_memory *memory, const uint8_t *address) {
    struct range *around = NULL;
    for (struct range *range = memory->ranges; range; range = range->next) {
        if (range->count == 0) {
            continue;
        }
        if (range->origin == address) {
            return range;
        }
        if (address > range->origin && (uint64_t)(address - range->origin) < range->length) {
            around = range;
        }
    }
    return around;
}

struct rh_memory *rh_memory_open(struct rh_error *error) {
    struct rh_memory *memory = calloc(1, sizeof *memory);
    if (!memory) {
        snprintf(error->text, sizeof error->text, "no memory");
        return NULL;
    }
    const char *how = getenv("RAILHEAD_DROPIN_MEMORY");
    memory->attaches = how && strcmp(how, "attach") == 0;
    pthread_mutex_init(&memory->lock, NULL);
    if (how && !memory->attaches && strcmp(how, "bounce") != 0) {
        snprintf(error->text, sizeof error->text, "RAILHEAD_DROPIN_MEMORY must be bounce or attach: %.50s", how);
        rh_memory_close(memory);
        return NULL;
    }
    if (require_session(memory, error) != 0) {
        rh_memory_close(memory);
        return NULL;
    }
    add_opened(memory);
    return memory;
}

void rh_memory_close(struct rh_memory *memory) {
    remove_opened(memory);
    enter(memory);
    lose_session(memory);
    while (memory->ranges) {
        struct range *range = memory->ranges;
        memory->ranges = range->next;
        unregister(memory, range);
        free(range);
    }
    leave(memory);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

bool rh_memory_ready(struct rh_memory *memory, struct rh_error *error) {
    enter(memory);
    bool ready = require_session(memory, error) == 0;
    leave(memory);
    return ready;
}

static int add_range(struct rh_memory *memory, uint8_t *address, uint64_t bytes, struct rh_error *error) {
    struct range *range = calloc(1, sizeof *range);
    if (!range) {
        snprintf(error->text, sizeof error->text, "no memory");
        return -1;
    }
    *range = (struct range){.next = memory->ranges, .origin = address, .length = bytes, .count = 1};
    if (require_registered(memory, range, error) != 0) {
        free(range);
        return -1;
    }
    memory->ranges = range;
    return 0;
}

/* Whether the gateway may be asked for it by a token. */
static bool is_in_use(const struct rh_memory *memory, const struct range *range) {
    return range->shadow && range->session == memory->sessions && rh_shadow_is_shared(range->shadow);
}

/* Lets go of what a longer registration took the place of: where no token is left, and all of it at `freed`. */
static void sweep(struct rh_memory *memory, const uint8_t *freed) {
    struct range **at = &memory->ranges;
    while (*at) {
        struct range *range = *at;
        if (range->count > 0 || (range->origin != freed && is_in_use(memory, range))) {
            at = &range->next;
            continue;
        }
        *at = range->next;
        unregister(memory, range);
        free(range);
    }
}

static int lengthen(struct rh_memory *memory, struct range *range, uint64_t bytes, struct rh_error *error) {
    if (!is_in_use(memory, range)) {
        unregister(memory, range); /* the gateway need not have room for both */
    }
    if (add_range(memory, range->origin, bytes, error) != 0) {
        return -1;
    }
    memory->ranges->count += range->count;
    range->count = 0;
    sweep(memory, NULL);
    return 0;
}

static int add_registration(struct rh_memory *memory, struct range *range, uint64_t bytes, struct rh_error *error) {
    if (bytes > range->length) {
        return lengthen(memory, range, bytes, error);
    }
    if (require_registered(memory, range, error) != 0) {
        return -1;
    }
    range->count++;
    return 0;
}

int rh_memory_register(struct rh_memory *memory, void *address, uint64_t bytes, struct rh_error *error) {
    if (!address || bytes < 1 || bytes > RH_MAX_REGISTRATION_BYTES) {
        snprintf(error->text, sizeof error->text, "memory of %" PRIu64 " bytes cannot be registered", bytes);
        return -1;
    }
    enter(memory);
    struct range *range = find(memory, address);
    int result = range && range->origin == address ? add_registration(memory, range, bytes, error)
                                                   : add_range(memory, address, bytes, error);
    leave(memory);
    return result;
}

int rh_memory_deregister(struct rh_memory *memory, void *address) {
    enter(memory);
    struct range *range = find(memory, address);
    bool found = range && range->origin == address;
    bool last = found && --range->count == 0;
    sweep(memory, last ? address : NULL);
    leave(memory);
    return found ? 0 : -1;
}

uint64_t rh_memory_registered(struct rh_memory *memory, const void *address) {
    enter(memory);
    const struct range *range = find(memory, address);
    uint64_t bytes = range ? range->length - (uint64_t)((const uint8_t *)address - range->origin) : 0;
    leave(memory);
    return bytes;
}

char *rh_memory_mint(struct rh_memory *memory, void *address, uint64_t offset, uint64_t bytes, struct rh_error *error) {
    char text[RH_TOKEN_CHARACTERS + 1];
    char *token = NULL;
    uint64_t from = 0;
    enter(memory);
    sweep(memory, NULL);
    struct range *range = find(memory, address);
    if (range) {
        from = (uint64_t)((uint8_t *)address - range->origin) + offset;
    }
    if (!range || offset > range->length || from > range->length || bytes > range->length - from) {
        snprintf(error->text, sizeof error->text, "%" PRIu64 " bytes at %p + %" PRIu64 " are not registered", bytes,
                 address, offset);
    } else if (require_registered(memory, range, error) == 0
               && rh_token_format(text, (uintptr_t)range->origin + from, bytes, range->key,
                                  rh_session_number(memory->session), error) == 0) {
        token = rh_shadow_token(range->shadow, text);
        if (!token) {
            snprintf(error->text, sizeof error->text, "no memory");
        }
    }
    leave(memory);
    return token;
}

void rh_memory_release(char *token) {
    rh_shadow_free_token(token);
}
