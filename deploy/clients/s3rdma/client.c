/*
 * A client of libs3rdma that calls what minio-cpp calls, in its order (its rdma.h, rdma_client.h and client.cc): open
 * once; register, mint, ask over HTTP with the token, free the token, deregister; over HTTP where RDMA is declined.
 * Beside that: parts of one registered object, ranges, an empty window, an object shorter than the window.
 */
#include <curl/curl.h>
#include <s3rdma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PART_BYTES = 5 << 20, DECLINED = -2, FAILED = -1 };

static S3RdmaClientHandle rdma;

static void expect(bool condition, const char *what) {
    if (!condition) {
        char why[256] = "";
        s3rdma_last_error(why, sizeof why);
        fprintf(stderr, "wrong: %s (libs3rdma last said: %s)\n", what, why);
        exit(1);
    }
}

static const char *env(const char *name) {
    const char *value = getenv(name);
    expect(value, name);
    return value;
}

/* ---- one HTTP request ---- */

struct exchange {
    /* the request */
    const char *method, *key, *query, *token, *range;
    const void *body;
    size_t body_bytes;
    /* the answer */
    long status;
    char etag[128], reply[16], moved[32], declined[64];
    char *text;
    size_t text_bytes;
};

static size_t take_header(char *line, size_t size, size_t count, void *to) {
    struct exchange *x = to;
    struct {
        const char *name;
        char *out;
        size_t room;
    } wanted[] = {{"etag", x->etag, sizeof x->etag},
                  {"x-amz-rdma-reply", x->reply, sizeof x->reply},
                  {"x-amz-rdma-bytes-transferred", x->moved, sizeof x->moved},
                  {"x-railhead-rdma-declined", x->declined, sizeof x->declined}};
    size_t length = size * count;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        size_t name = strlen(wanted[i].name);
        if (length > name + 2 && strncasecmp(line, wanted[i].name, name) == 0 && line[name] == ':') {
            size_t from = name + 1 + strspn(line + name + 1, " ");
            snprintf(wanted[i].out, wanted[i].room, "%.*s", (int)strcspn(line + from, "\r\n"), line + from);
        }
    }
    return length;
}

static size_t take_body(char *data, size_t size, size_t count, void *to) {
    struct exchange *x = to;
    x->text = realloc(x->text, x->text_bytes + size * count + 1);
    memcpy(x->text + x->text_bytes, data, size * count);
    x->text_bytes += size * count;
    x->text[x->text_bytes] = 0;
    return size * count;
}

struct reader {
    const char *at;
    size_t left;
};

static size_t give_body(char *to, size_t size, size_t count, void *from) {
    struct reader *reader = from;
    size_t bytes = size * count < reader->left ? size * count : reader->left;
    if (bytes) {
        memcpy(to, reader->at, bytes);
        reader->at += bytes;
        reader->left -= bytes;
    }
    return bytes;
}

static struct curl_slist *header(struct curl_slist *headers, const char *name, const char *value) {
    char line[512];
    snprintf(line, sizeof line, "%s: %s", name, value);
    return curl_slist_append(headers, line);
}

/* The address of the token's GID, which the request is to come from. */
static void bind_to_token(CURL *curl, const char *token) {
    unsigned a, b, c, d;
    const char *gid = token + strlen(token) - 32;
    if (strncmp(gid, "00000000000000000000ffff", 24) == 0
        && sscanf(gid + 24, "%2x%2x%2x%2x", &a, &b, &c, &d) == 4) {
        char address[32];
        snprintf(address, sizeof address, "%u.%u.%u.%u", a, b, c, d);
        curl_easy_setopt(curl, CURLOPT_INTERFACE, address);
    }
}

static void ask(const char *bucket, struct exchange *x) {
    CURL *curl = curl_easy_init();
    char url[1024], user[256], region[128];
    struct reader reader = {x->body, x->body_bytes};
    struct curl_slist *headers = header(NULL, "x-amz-content-sha256", "UNSIGNED-PAYLOAD");
    snprintf(url, sizeof url, "%s/%s%s%s%s%s", env("ENDPOINT"), bucket, x->key ? "/" : "", x->key ? x->key : "",
             x->query ? "?" : "", x->query ? x->query : "");
    snprintf(user, sizeof user, "%s:%s", env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"));
    snprintf(region, sizeof region, "aws:amz:%s:s3", env("AWS_REGION"));
    if (x->token) {
        headers = header(headers, "x-amz-rdma-token", x->token);
        bind_to_token(curl, x->token);
    }
    if (x->range) {
        headers = header(headers, "Range", x->range);
    }
    headers = curl_slist_append(headers, "Content-Type: application/octet-stream");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, region);
    curl_easy_setopt(curl, CURLOPT_USERPWD, user);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 10L);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, x);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, x);
    if (strcmp(x->method, "GET") != 0) {
        curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(curl, CURLOPT_READDATA, &reader);
        curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)x->body_bytes);
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, x->method);
    }
    CURLcode code = curl_easy_perform(curl);
    expect(code == CURLE_OK, curl_easy_strerror(code));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &x->status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
}

/* ---- what minio-cpp does ---- */

/* Bytes, DECLINED or FAILED, as its rdmaPut and rdmaGet judge an answer. */
static long judge(const struct exchange *x, bool is_put, size_t bytes) {
    if (is_put && x->status == 200 && *x->etag) {
        return (long)bytes;
    }
    if (!*x->reply || strcmp(x->reply, "501") == 0) {
        return DECLINED;
    }
    if (atoi(x->reply) != 200 && atoi(x->reply) != (is_put ? 204 : 206)) {
        return FAILED;
    }
    return *x->moved ? atol(x->moved) : (long)bytes;
}

static long transfer(const char *bucket, struct exchange *x, void *buffer, size_t bytes) {
    bool is_put = strcmp(x->method, "PUT") == 0;
    long result = FAILED;
    for (int attempt = 0; attempt < 2 && result == FAILED; attempt++) {
        char *token = NULL;
        expect(s3rdma_client_get_token(rdma, buffer, bytes, 0, &token) == 0 && token, "a token");
        expect(strlen(token) == 81, token);
        struct exchange tried = *x;
        tried.token = token;
        ask(bucket, &tried);
        result = judge(&tried, is_put, bytes);
        if (result == FAILED) {
            s3rdma_client_report_token_failure(rdma, token);
        }
        s3rdma_client_free_token(token);
        free(x->text);
        *x = tried;
        x->token = NULL;
    }
    return result;
}

static long put(const char *bucket, const char *key, void *data, size_t bytes) {
    expect(s3rdma_client_register(rdma, data, bytes) == 0, "registration");
    struct exchange x = {.method = "PUT", .key = key};
    long result = transfer(bucket, &x, data, bytes);
    if (result == DECLINED) {
        expect(strcmp(x.declined, "rule") == 0, x.text ? x.text : x.declined);
        struct exchange over_http = {.method = "PUT", .key = key, .body = data, .body_bytes = bytes};
        ask(bucket, &over_http);
        expect(over_http.status == 200, "PUT over HTTP");
        free(over_http.text);
    }
    free(x.text);
    expect(s3rdma_client_deregister(rdma, data) == 0, "deregistration");
    return result;
}

static long get(const char *bucket, const char *key, const char *range, void *buffer, size_t bytes) {
    expect(s3rdma_client_register(rdma, buffer, bytes) == 0, "registration");
    struct exchange x = {.method = "GET", .key = key, .range = range};
    long result = transfer(bucket, &x, buffer, bytes);
    free(x.text);
    expect(s3rdma_client_deregister(rdma, buffer) == 0, "deregistration");
    return result;
}

static void put_in_parts(const char *bucket, const char *key, char *data, size_t bytes) {
    struct exchange begin = {.method = "POST", .key = key, .query = "uploads="};
    ask(bucket, &begin);
    char *at = begin.text ? strstr(begin.text, "<UploadId>") : NULL, id[256], query[320], *list = malloc(8192);
    expect(begin.status == 200 && at, "CreateMultipartUpload");
    snprintf(id, sizeof id, "%.*s", (int)strcspn(at + 10, "<"), at + 10);
    int used = snprintf(list, 8192, "<CompleteMultipartUpload>");
    expect(s3rdma_client_register(rdma, data, bytes) == 0, "registration of the object");
    for (size_t number = 1, from = 0; from < bytes; number++, from += PART_BYTES) {
        size_t part = bytes - from < PART_BYTES ? bytes - from : PART_BYTES;
        snprintf(query, sizeof query, "partNumber=%zu&uploadId=%s", number, id);
        struct exchange x = {.method = "PUT", .key = key, .query = query};
        expect(s3rdma_client_register(rdma, data + from, part) == 0, "registration of a part");
        expect(transfer(bucket, &x, data + from, part) == (long)part, "UploadPart");
        expect(s3rdma_client_deregister(rdma, data + from) == 0, "deregistration of a part");
        used += snprintf(list + used, 8192 - (size_t)used, "<Part><PartNumber>%zu</PartNumber><ETag>%s</ETag></Part>",
                         number, x.etag);
        free(x.text);
    }
    expect(s3rdma_client_deregister(rdma, data) == 0, "deregistration of the object");
    used += snprintf(list + used, 8192 - (size_t)used, "</CompleteMultipartUpload>");
    snprintf(query, sizeof query, "uploadId=%s", id);
    struct exchange end = {.method = "POST", .key = key, .query = query, .body = list, .body_bytes = (size_t)used};
    ask(bucket, &end);
    expect(end.status == 200 && strstr(end.text, "<ETag>"), "CompleteMultipartUpload");
    free(end.text);
    free(begin.text);
    free(list);
}

static char *contents(const char *name, size_t *bytes) {
    FILE *file = fopen(name, "re");
    expect(file, name);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes);
    expect(fread(data, 1, *bytes, file) == *bytes, name);
    fclose(file);
    return data;
}

/* As S3 has it: '/' stays. */
static char *encoded(const char *key) {
    char *escaped = curl_easy_escape(NULL, key, 0), *from = escaped, *to = escaped;
    while (*from) {
        bool slash = strncmp(from, "%2F", 3) == 0;
        *to++ = slash ? '/' : *from;
        from += slash ? 3 : 1;
    }
    *to = 0;
    return escaped;
}

static void expect_read(const char *bucket, const char *key, const char *data, size_t bytes) {
    char *buffer = malloc(bytes);
    memset(buffer, 0x5a, bytes);
    expect(get(bucket, key, NULL, buffer, bytes) == (long)bytes && memcmp(buffer, data, bytes) == 0, key);
    free(buffer);
}

static void try_windows(const char *bucket, const char *large_key, const char *large, const char *small_key,
                        const char *small, size_t small_bytes) {
    size_t from = strtoul(env("FROM"), NULL, 10), bytes = strtoul(env("TO"), NULL, 10) - from;
    char range[64], *buffer = calloc(1, bytes);
    snprintf(range, sizeof range, "bytes=%zu-%zu", from, from + bytes - 1);
    expect(get(bucket, large_key, range, buffer, bytes) == (long)bytes, "bytes of a range");
    expect(memcmp(buffer, large + from, bytes) == 0, "a range");
    expect(get(bucket, large_key, NULL, buffer, 100) == 100 && memcmp(buffer, large, 100) == 0, "a clipped object");
    memset(buffer, 0x5a, small_bytes + 10);
    expect(get(bucket, small_key, NULL, buffer, small_bytes + 10) == (long)small_bytes, "a window that is too long");
    expect(memcmp(buffer, small, small_bytes) == 0 && buffer[small_bytes] == 0x5a, "what lies behind the object");
    free(buffer);
}

static void try_an_empty_object(const char *bucket, char *any) {
    struct exchange empty = {.method = "PUT", .key = "empty"}, gone = {.method = "DELETE", .key = "empty"};
    ask(bucket, &empty);
    expect(empty.status == 200, "an empty object");
    char before = any[0];
    expect(get(bucket, "empty", NULL, any, 10) == 0 && any[0] == before, "nothing of an empty object");
    ask(bucket, &gone);
    expect(gone.status == 204, "DELETE");
}

static void try_a_bucket_without_rdma(const char *bucket, char *data, size_t bytes) {
    struct exchange make = {.method = "PUT"};
    ask(bucket, &make);
    expect(make.status == 200, "a bucket");
    expect(put(bucket, "new", data, bytes) == DECLINED, "a declined PUT");
    char *buffer = calloc(1, bytes);
    expect(get(bucket, "new", NULL, buffer, bytes) == DECLINED, "a declined GET");
    struct exchange over_http = {.method = "GET", .key = "new"};
    ask(bucket, &over_http);
    expect(over_http.text_bytes == bytes && memcmp(over_http.text, data, bytes) == 0, "GET over HTTP");
    free(over_http.text);
    free(buffer);
    free(make.text);
}

/*
 * One token for several transfers, and what they brought looked at while it lives: only the program's own memory can
 * do that, attached to by the gateway.
 */
static void try_attached_memory(const char *bucket, const char *small_key, const char *small, size_t bytes) {
    char why[512] = "", *buffer = calloc(1, bytes), *token = NULL;
    setenv("RAILHEAD_DROPIN_MEMORY", "attach", 1);
    rdma = s3rdma_client_init(NULL, why, sizeof why);
    expect(rdma, why);
    expect(s3rdma_client_register(rdma, buffer, bytes) == 0, "registration of the program's own memory");
    expect(s3rdma_client_get_token(rdma, buffer, bytes, 0, &token) == 0, "a token");
    /* A token goes with one signature once, so no two requests are the same. */
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "attached-1" : "attached-0";
        memset(buffer, 0, bytes);
        struct exchange get_it = {.method = "GET", .key = small_key, .token = token, .range = i ? "bytes=0-" : NULL};
        ask(bucket, &get_it);
        expect(judge(&get_it, false, bytes) == (long)bytes, get_it.text ? get_it.text : "GET");
        expect(memcmp(buffer, small, bytes) == 0, "what was read, while its token lives");
        buffer[i] ^= 0x5a;
        struct exchange put_it = {.method = "PUT", .key = key, .token = token};
        ask(bucket, &put_it);
        expect(judge(&put_it, true, bytes) == (long)bytes, put_it.text ? put_it.text : "PUT");
        struct exchange check = {.method = "GET", .key = key}, gone = {.method = "DELETE", .key = key};
        ask(bucket, &check);
        expect(check.text_bytes == bytes && memcmp(check.text, buffer, bytes) == 0, "what was written");
        free(check.text);
        ask(bucket, &gone);
        expect(gone.status == 204, "DELETE");
    }
    s3rdma_client_free_token(token);
    expect(s3rdma_client_deregister(rdma, buffer) == 0, "deregistration");
    s3rdma_client_free(rdma);
    free(buffer);
}

int main(void) {
    char why[512] = "", declined[128];
    size_t small_bytes, large_bytes;
    char *small = contents("small", &small_bytes), *large = contents("large", &large_bytes);
    const char *bucket = env("BUCKET");
    char *small_key = encoded(env("SMALL_KEY")), *large_key = encoded(env("LARGE_KEY")),
         *named_key = encoded(env("NAMED_KEY")), *gone_key = encoded(env("GONE_KEY"));
    rdma = s3rdma_client_init(NULL, why, sizeof why);
    expect(rdma && s3rdma_client_ready(rdma), why);
    expect(s3rdma_client_memory_type(small) == S3RDMA_MEM_SYSTEM, "host memory");

    expect(put(bucket, small_key, small, small_bytes) == (long)small_bytes, "PUT");
    expect(put(bucket, named_key, small, small_bytes) == (long)small_bytes, "PUT of a hard name");
    expect(put(bucket, gone_key, small, small_bytes) == (long)small_bytes, "PUT");
    put_in_parts(bucket, large_key, large, large_bytes);
    for (int i = 0; i < 3; i++) {
        expect_read(bucket, small_key, small, small_bytes);
        expect_read(bucket, large_key, large, large_bytes);
    }
    expect_read(bucket, named_key, small, small_bytes);
    try_windows(bucket, large_key, large, small_key, small, small_bytes);
    try_an_empty_object(bucket, small);
    struct exchange gone = {.method = "DELETE", .key = gone_key};
    ask(bucket, &gone);
    expect(gone.status == 204, "DELETE");
    snprintf(declined, sizeof declined, "%s-declined", bucket);
    try_a_bucket_without_rdma(declined, small, small_bytes);

    s3rdma_client_free(rdma);
    expect(!s3rdma_client_ready(rdma), "a handle that was freed");
    s3rdma_client_free(rdma);
    try_attached_memory(bucket, small_key, small, small_bytes);
    curl_free(small_key), curl_free(large_key), curl_free(named_key), curl_free(gone_key);
    free(small), free(large);
    return 0;
}
