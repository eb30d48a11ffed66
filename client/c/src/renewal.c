/*
 * Renewal of a session's credentials. A thread of its own finds newer ones where the first came from, and has the gateway put
 * them in place of the older: the session, its memory and its requests stay.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"
#include "session.h"

enum {
    LOOK_MILLIS = 30000,        /* between two looks whether a file has other keys */
    BEFORE_END_MILLIS = 120000, /* of a role's credentials, whose end is known */
    LEAST_MILLIS = 1000,
    PAUSE_MILLIS = 5000         /* after an attempt that failed */
};

struct rh_renewal {
    struct rh_session *session;
    pthread_t thread;
    pthread_mutex_t lock;      /* for `changed` alone */
    pthread_cond_t changed;
    atomic_bool is_over;       /* set under the lock */
    struct rh_settings settings; /* the thread's own, with secrets */
};

/* Credentials that live for less than twice the time are renewed in the middle of what is left. */
static int64_t millis_until_due(const struct rh_settings *settings) {
    if (settings->ends_at == 0) {
        return LOOK_MILLIS;
    }
    int64_t left = (settings->ends_at - time(NULL)) * 1000;
    int64_t due = left > 2 * BEFORE_END_MILLIS ? left - BEFORE_END_MILLIS : left / 2;
    return due > LEAST_MILLIS ? due : LEAST_MILLIS;
}

/* Returns whether it is time: false if the renewal is over. */
static bool await_due(struct rh_renewal *renewal, int64_t millis) {
    int64_t due = rh_now_millis() + millis;
    struct timespec at = {.tv_sec = due / 1000, .tv_nsec = due % 1000 * 1000000};
    pthread_mutex_lock(&renewal->lock);
    while (!renewal->is_over && rh_now_millis() < due) {
        pthread_cond_timedwait(&renewal->changed, &renewal->lock, &at);
    }
    pthread_mutex_unlock(&renewal->lock);
    return !renewal->is_over;
}

static bool has_same_keys(const struct rh_settings *one, const struct rh_settings *other) {
    return strcmp(one->access_key, other->access_key) == 0 && strcmp(one->secret_key, other->secret_key) == 0
           && strcmp(one->session_token, other->session_token) == 0;
}

/* 0 where the gateway has the newest there are, which may be those of before. */
static int renew(struct rh_renewal *renewal, struct rh_error *error) {
    struct rh_settings found = renewal->settings;
    int result = rh_keys_find(&found, error);
    if (result == 0 && !has_same_keys(&found, &renewal->settings)) {
        result = rh_grant_renew(&found, renewal->session->id, error);
        if (result == 0) {
            renewal->settings = found;
        }
    }
    explicit_bzero(&found, sizeof found);
    return result;
}

static void *run(void *of) {
    struct rh_renewal *renewal = of;
    int64_t millis = millis_until_due(&renewal->settings);
    while (await_due(renewal, millis) && rh_session_is_open(renewal->session)) {
        struct rh_error error;
        millis = renew(renewal, &error) == 0 ? millis_until_due(&renewal->settings) : PAUSE_MILLIS;
    }
    return NULL;
}

/* The program's signal handlers are not run on a thread that it does not know. */
static int start(struct rh_renewal *renewal) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&renewal->thread, NULL, run, renewal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

static void discard(struct rh_renewal *renewal) {
    explicit_bzero(renewal, sizeof *renewal);
    free(renewal);
}

struct rh_renewal *rh_renewal_start(struct rh_session *session, const struct rh_settings *settings) {
    struct rh_renewal *renewal = settings->may_change ? calloc(1, sizeof *renewal) : NULL;
    if (!renewal) {
        return NULL;
    }
    renewal->session = session;
    renewal->settings = *settings;
    renewal->settings.is_over = &renewal->is_over;
    pthread_mutex_init(&renewal->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&renewal->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (start(renewal) != 0) {
        discard(renewal);
        return NULL;
    }
    return renewal;
}

/* In a child of fork there is no such thread, and its locks may be taken for ever. */
void rh_renewal_stop(struct rh_renewal *renewal) {
    if (renewal && rh_session_is_mine(renewal->session)) {
        pthread_mutex_lock(&renewal->lock);
        renewal->is_over = true;
        pthread_cond_broadcast(&renewal->changed);
        pthread_mutex_unlock(&renewal->lock);
        pthread_join(renewal->thread, NULL);
        pthread_cond_destroy(&renewal->changed);
        pthread_mutex_destroy(&renewal->lock);
    }
    if (renewal) {
        discard(renewal);
    }
}
