/* Credentials that end, and the session that does not. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fake_gateway.h"
#include "railhead/railhead.h"
#include "session.h"

enum { PATIENCE_MILLIS = 20000 };
static struct rh_error error;

/* The resolver of this process, libcurl's too: sts.test is this host, and takes as long to find as the test says. */
static atomic_bool holds;
static atomic_int held, resolved;
static sem_t release;

__attribute__((visibility("default"))) int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                                                       struct addrinfo **found) {
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&real, &symbol, sizeof real);
    if (node && strcmp(node, "sts.test") == 0) {
        if (holds) {
            held++;
            sem_wait(&release);
        }
        resolved++;
        node = "127.0.0.1";
    }
    return real(node, service, hints, found);
}

/* The environment of this process, for libcurl too. A look by another thread than the test's is a race with the program. */
static pthread_t main_thread;
static _Atomic(const char *) read_elsewhere;

__attribute__((visibility("default"))) char *getenv(const char *name) {
    size_t length = strlen(name);
    if (main_thread && !pthread_equal(pthread_self(), main_thread)) {
        read_elsewhere = name;
    }
    for (char **at = environ; at && *at; at++) {
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') {
            return *at + length + 1;
        }
    }
    return NULL;
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", name);
}

static void await(atomic_int *count, int wanted) {
    for (int i = 0; i < PATIENCE_MILLIS && *count < wanted; i++) {
        usleep(1000);
    }
    CHECK(*count >= wanted, "%d of %d", *count, wanted);
}

/* The environment of a pod whose gateway this is. */
static void start(struct fake_gateway *gateway) {
    fake_gateway_start(gateway, "renewal_test.sock");
    fake_gateway_start_http(gateway);
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    unsetenv("AWS_ENDPOINT_URL_STS");
    unsetenv("AWS_CA_BUNDLE");
    setenv("RAILHEAD_ENDPOINT", gateway->endpoint, 1);
    setenv("AWS_REGION", FAKE_REGION, 1);
    setenv("AWS_ROLE_ARN", "arn:aws:iam::0:role/pods", 1);
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "renewal_test.token", 1);
    write_file("renewal_test.token", "a.b-c_d\n");
}

static railhead_session *connect_to(void) {
    railhead_options options;
    railhead_session *session;
    railhead_options_init(&options, sizeof options);
    CHECK(railhead_connect(&options, &session) == RAILHEAD_OK, "%s", railhead_last_error());
    return session;
}

static void a_token_is_exchanged_and_the_session_renewed_before_its_credentials_end(void) {
    struct fake_gateway gateway = {.session_seconds = 3};
    start(&gateway);
    railhead_session *session = connect_to();
    CHECK(gateway.exchanges >= 1 && gateway.grants == 1, "%d exchanges", gateway.exchanges);
    await(&gateway.renewals, 2);
    CHECK(gateway.renewed_with >= 3, "the newest credentials: %d", gateway.renewed_with);
    CHECK(gateway.grants == 1 && gateway.connections == 1 && railhead_is_open(session), "%d sessions", gateway.grants);
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
    fake_gateway_stop(&gateway);
}

static void a_renewal_that_is_refused_is_tried_again_and_the_session_stays(void) {
    struct fake_gateway gateway = {.session_seconds = 3, .fault = REFUSE_RENEWAL};
    start(&gateway);
    railhead_session *session = connect_to();
    await(&gateway.refused_renewals, 1);
    CHECK(railhead_is_open(session), "it has ended");
    gateway.fault = NO_FAULT;
    await(&gateway.renewals, 1);
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
    fake_gateway_stop(&gateway);
}

/* A program may change its environment while the library's thread runs. */
static void a_renewal_reads_no_variables(void) {
    struct fake_gateway gateway = {.session_seconds = 3};
    start(&gateway);
    railhead_session *session = connect_to();
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "renewal_test.none", 1);
    setenv("AWS_ROLE_ARN", "arn:aws:iam::0:role/none", 1);
    setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1", 1);
    setenv("AWS_ACCESS_KEY_ID", "OTHER", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "other", 1);
    await(&gateway.renewals, 2);
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
    const char *name = read_elsewhere;
    CHECK(!name, "%s is read by a thread of the library's", name);
    fake_gateway_stop(&gateway);
}

static int32_t connect_with(const char *ca_bundle, uint32_t timeout_millis) {
    railhead_options options;
    railhead_session *session;
    railhead_options_init(&options, sizeof options);
    options.ca_bundle = ca_bundle;
    options.timeout_millis = timeout_millis;
    return railhead_connect(&options, &session);
}

static void an_exchange_that_fails_says_why_in_the_result(void) {
    struct fake_gateway gateway = {.session_seconds = 3600};
    start(&gateway);
    write_file("renewal_test.token", "another");
    CHECK(connect_with(NULL, 0) == RAILHEAD_REFUSED, "%s", railhead_last_error());
    unlink("renewal_test.token");
    CHECK(connect_with(NULL, 0) == RAILHEAD_ARGUMENT, "%s", railhead_last_error());
    write_file("renewal_test.token", "a.b-c_d");
    setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1", 1);
    CHECK(connect_with(NULL, 0) == RAILHEAD_UNAVAILABLE, "%s", railhead_last_error());
    fake_gateway_stop(&gateway);
}

static void an_exchange_takes_the_program_s_authorities(void) {
    struct fake_gateway gateway = {.session_seconds = 3600};
    struct rh_settings settings;
    const struct rh_named named = {.ca_bundle = "/named.pem", .timeout_millis = 77};
    start(&gateway);
    CHECK(rh_settings_complete(&settings, &named, &error) == 0 && settings.timeout_millis == 77, "%s", error.text);
    snprintf(settings.source.service, sizeof settings.source.service, "https://127.0.0.1:1");
    CHECK(rh_keys_find(&settings, &error) != 0 && strstr(error.text, "/named.pem"), "%s", error.text);
    setenv("AWS_ENDPOINT_URL_STS", "https://127.0.0.1:1", 1);
    setenv("AWS_CA_BUNDLE", "/variable.pem", 1);
    CHECK(connect_with("/named.pem", 0) == RAILHEAD_UNAVAILABLE && strstr(railhead_last_error(), "/named.pem"), "%s",
          railhead_last_error());
    fake_gateway_stop(&gateway);
}

/* The service takes the connection and says nothing; the library's own timeout is 10 seconds. */
static void an_exchange_takes_the_program_s_timeout(void) {
    struct fake_gateway gateway = {.session_seconds = 3600};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    char silent[64];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0
              && getsockname(listener, (struct sockaddr *)&address, &length) == 0, "no listener");
    start(&gateway);
    snprintf(silent, sizeof silent, "http://127.0.0.1:%d", ntohs(address.sin_port));
    setenv("AWS_ENDPOINT_URL_STS", silent, 1);
    CHECK(connect_with(NULL, 200) == RAILHEAD_TIMED_OUT, "%s", railhead_last_error());
    const char *after = strstr(railhead_last_error(), "timed out after ");
    CHECK(after && atoi(after + strlen("timed out after ")) < 10000, "%s", railhead_last_error());
    close(listener);
    fake_gateway_stop(&gateway);
}

/* The resolver is let go only when the session is closed. */
static void a_close_does_not_wait_for_the_resolver(void) {
    struct fake_gateway gateway = {.session_seconds = 3};
    char service[64];
    start(&gateway);
    snprintf(service, sizeof service, "http://sts.test%s", strrchr(gateway.endpoint, ':'));
    setenv("AWS_ENDPOINT_URL_STS", service, 1);
    sem_init(&release, 0, 0);
    railhead_session *session = connect_to();
    CHECK(resolved == 1, "libcurl has another resolver: %d", resolved);
    holds = true;
    await(&held, 1);
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(resolved == 1, "%d", resolved);
    holds = false;
    sem_post(&release);
    await(&resolved, 2);
    fake_gateway_stop(&gateway);
}

static void keys_that_nobody_renews_are_left_alone(void) {
    struct fake_gateway gateway = {.session_seconds = 3};
    struct rh_settings settings;
    start(&gateway);
    setenv("AWS_ACCESS_KEY_ID", FAKE_ACCESS, 1);
    setenv("AWS_SECRET_ACCESS_KEY", FAKE_SECRET, 1);
    CHECK(rh_settings_read(&settings, &error) == 0 && !settings.may_change, "%s", error.text);
    railhead_session *session = connect_to();
    CHECK(gateway.exchanges == 0, "variables go before a token: %d", gateway.exchanges);
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
    fake_gateway_stop(&gateway);
}

static void the_program_may_bring_other_keys(void) {
    struct fake_gateway gateway = {.session_seconds = 3600};
    railhead_options options;
    start(&gateway);
    railhead_session *session = connect_to();
    railhead_options_init(&options, sizeof options);
    options.access_key = FAKE_ACCESS;
    options.secret_key = FAKE_SECRET;
    options.session_token = "token-77";
    CHECK(railhead_renew(session, &options) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(gateway.renewed_with == 77, "%d", gateway.renewed_with);
    gateway.fault = REFUSE_RENEWAL;
    CHECK(railhead_renew(session, &options) == RAILHEAD_REFUSED && strstr(railhead_last_error(), "RDMAUnknownSession"), "%s",
          railhead_last_error());
    CHECK(railhead_is_open(session), "it has ended");
    CHECK(railhead_renew(session, NULL) == RAILHEAD_ARGUMENT, "no options");
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
    fake_gateway_stop(&gateway);
}

static void what_is_wrong_with_a_token_is_named(void) {
    struct fake_gateway gateway = {.session_seconds = 3600};
    struct rh_settings settings;
    start(&gateway);
    write_file("renewal_test.token", "another");
    CHECK(rh_settings_read(&settings, &error) != 0 && strstr(error.text, "HTTP 400: InvalidIdentityToken"), "%s", error.text);
    CHECK(error.code == RAILHEAD_REFUSED, "%d", error.code);
    write_file("renewal_test.token", " \n");
    CHECK(rh_settings_read(&settings, &error) != 0 && strstr(error.text, "renewal_test.token holds no token"), "%s", error.text);
    unlink("renewal_test.token");
    CHECK(rh_settings_read(&settings, &error) != 0 && strstr(error.text, "renewal_test.token: No such file"), "%s", error.text);
    write_file("renewal_test.token", "a.b-c_d");
    setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1", 1);
    CHECK(rh_settings_read(&settings, &error) != 0 && strstr(error.text, "no credentials from http://127.0.0.1:1"), "%s",
          error.text);
    fake_gateway_stop(&gateway);
}

/* A child of fork has no thread that renews, and gives back its part all the same. */
static void a_child_of_fork_renews_nothing(void) {
    struct fake_gateway gateway = {.session_seconds = 3600};
    start(&gateway);
    railhead_session *session = connect_to();
    pid_t child = fork();
    if (child == 0) {
        railhead_options options;
        railhead_options_init(&options, sizeof options);
        int32_t renewed = railhead_renew(session, &options);
        (void)railhead_close(session);
        _exit(renewed == RAILHEAD_ENDED ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
    CHECK(railhead_is_open(session), "it has ended");
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
    fake_gateway_stop(&gateway);
}

int main(void) {
    main_thread = pthread_self();
    setenv("AWS_SHARED_CREDENTIALS_FILE", "renewal_test.none", 1);
    setenv("AWS_CONFIG_FILE", "renewal_test.none", 1);
    a_token_is_exchanged_and_the_session_renewed_before_its_credentials_end();
    a_renewal_that_is_refused_is_tried_again_and_the_session_stays();
    a_renewal_reads_no_variables();
    an_exchange_that_fails_says_why_in_the_result();
    an_exchange_takes_the_program_s_authorities();
    an_exchange_takes_the_program_s_timeout();
    a_close_does_not_wait_for_the_resolver();
    keys_that_nobody_renews_are_left_alone();
    the_program_may_bring_other_keys();
    what_is_wrong_with_a_token_is_named();
    a_child_of_fork_renews_nothing();
    unlink("renewal_test.token");
    return 0;
}
