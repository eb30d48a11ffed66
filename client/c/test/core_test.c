#include <string.h>
#include <unistd.h>

#include "check.h"
#include "crypto.h"
#include "http.h"
#include "json.h"
#include "sigv4.h"
#include "wire.h"

static struct rh_error error;

/* The example of docs/native-channel.md, section 1. */
static void keys_and_proofs_are_those_of_the_specification(void) {
    uint8_t signing_key[32], signature[32], id[16], client[32], server[32], key[32], proof[32];
    char hex[65];
    memset(signing_key, 1, sizeof signing_key);
    memset(signature, 2, sizeof signature);
    memset(server, 3, sizeof server);
    for (uint8_t i = 0; i < 32; i++) {
        id[i % 16] = i % 16;
        client[i] = (uint8_t)(0x20 + i);
    }
    rh_session_key(key, signing_key, signature, id);
    rh_hex(hex, key, 32);
    CHECK(strcmp(hex, "562db2bf9743e5650feb7f44373ec18819219acf4526582fcdca169ae7941e06") == 0, "%s", hex);
    rh_session_proof(proof, key, RH_CLIENT_PROOF, id, client, server);
    rh_hex(hex, proof, 32);
    CHECK(strcmp(hex, "a455b794126b09a90c05ccd3416c892e439344a8e82720da6835491803bd6881") == 0, "%s", hex);
    rh_session_proof(proof, key, RH_SERVER_PROOF, id, client, server);
    rh_hex(hex, proof, 32);
    CHECK(strcmp(hex, "e515c12b225bc7cc444a4b9b8b6a245a8cb66335aa0bf7a24aa989bc6207ead2") == 0, "%s", hex);
}

static void tokens_have_81_characters(void) {
    char token[RH_TOKEN_CHARACTERS + 1];
    CHECK(rh_token_format(token, 0x73967e5ff000, 0x400000, 0xf1f2e973, 0x7a03, &error) == 0, "%s", error.text);
    CHECK(strcmp(token, "000073967e5ff000:00400000:f1f2e973:0000:007a03:1:00000000000000000000ffff7f000001") == 0,
          "%s", token);
    CHECK(rh_token_format(token, 0, 0, 1, 1, &error) != 0, "an empty window");
    CHECK(rh_token_format(token, 0, 1ull << 32, 1, 1, &error) != 0, "more than 32 bits");
    CHECK(rh_token_format(token, UINT64_MAX, 2, 1, 1, &error) != 0, "a window that wraps");
    CHECK(rh_token_format(token, 0, 1, 1, 1 << 24, &error) != 0, "more than 24 bits");
}

/* FIPS 180-4's examples, and of RFC 4231 the one whose key is longer than a block. */
static void hashes_are_those_of_the_standards(void) {
    static const struct {
        const char *text;
        size_t times;
        const char *hash;
    } cases[] = {
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    uint8_t hash[RH_HASH_BYTES], long_key[131];
    char hex[65];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t bytes = strlen(cases[i].text);
        char *text = malloc(bytes * cases[i].times + 1);
        for (size_t j = 0; j < cases[i].times; j++) {
            memcpy(text + j * bytes, cases[i].text, bytes);
        }
        rh_sha256(hash, text, bytes * cases[i].times);
        rh_hex(hex, hash, sizeof hash);
        CHECK(strcmp(hex, cases[i].hash) == 0, "case %zu: %s", i, hex);
        free(text);
    }
    const struct rh_bytes part = {"Test Using Larger Than Block-Size Key - Hash Key First", 54};
    memset(long_key, 0xaa, sizeof long_key);
    rh_hmac(hash, long_key, sizeof long_key, &part, 1);
    rh_hex(hex, hash, sizeof hash);
    CHECK(strcmp(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54") == 0, "%s", hex);
}

/* A signature that botocore made of the same request. */
static void signatures_are_those_of_other_signers(void) {
    struct rh_settings settings = {.region = "us-east-1", .access_key = "AKIDEXAMPLE",
                                   .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
    struct rh_signed made;
    CHECK(rh_sign(&settings, "POST", "127.0.0.1:9000", "/.railhead/sessions", "fabric=loopback", 1440938160, &made,
                  &error) == 0,
          "%s", error.text);
    CHECK(strcmp(made.date, "20150830T123600Z") == 0, "%s", made.date);
    CHECK(strcmp(made.authorization, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
                                     " Signature=165f5894905a4f6613020f80615498531873aa2b72ef6d50eda8159dc3ee74f8") == 0, "%s", made.authorization);
    snprintf(settings.session_token, sizeof settings.session_token, "a/session+token==");
    rh_sign(&settings, "POST", "127.0.0.1:9000", "/.railhead/sessions", "fabric=loopback", 1440938160, &made, &error);
    CHECK(strcmp(made.authorization, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"
                                     " Signature=8dcc492478c9993d7120009ef6a9021799506ca4003610597d0b7830036c0027") == 0, "%s", made.authorization);
}

static void json_is_read(void) {
    static const struct {
        const char *json;
        int result;
        const char *value;
    } cases[] = {
        {"{\"a\": \"b\"}", 0, "b"},
        {" { \"x\" : [1, {\"a\":\"no\"}, \"]\"] , \"a\":\"b\\/c\\u00fc\\\"\" } ", 0, "b/c\xc3\xbc\""},
        {"{\"a-much-longer-name-than-any-that-is-looked-for-in-the-answers-here\":true,\"a\":\"\"}", 0, ""},
        {"{}", 1, NULL},
        {"{\"b\":1e9}", 1, NULL},
        {"{\"a\":1}", -1, NULL},
        {"{\"a\":\"unended", -1, NULL},
        {"{\"a\":\"\\u0000\"}", -1, NULL},
        {"{\"a\":\"\\ud83d\\ude00\"}", -1, NULL},
        {"{\"a\":\"longer than there is room for\"}", -1, NULL},
        {"{\"b\":}", -1, NULL},
        {"[\"a\"]", -1, NULL},
        {"", -1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[16];
        int result = rh_json_string(cases[i].json, "a", out, sizeof out);
        CHECK(result == cases[i].result, "%s: %d", cases[i].json, result);
        CHECK(result != 0 || strcmp(out, cases[i].value) == 0, "%s: %s", cases[i].json, out);
    }
}

static void numbers_and_lists_are_read(void) {
    static const char json[] = "{\"p\":7471,\"big\":4294967296,\"f\":1.5,\"a\":[\"x\", \"yz\"],\"e\":[],\"b\":[1]}";
    char out[2][4];
    uint32_t number = 0;
    CHECK(rh_json_number(json, "p", &number) == 0 && number == 7471, "%u", number);
    CHECK(rh_json_number(json, "big", &number) == -1 && rh_json_number(json, "f", &number) == -1, "%u", number);
    CHECK(rh_json_number(json, "a", &number) == -1 && rh_json_number(json, "none", &number) == 1, "%u", number);
    CHECK(rh_json_strings(json, "a", out[0], sizeof out[0], 2, &number) == 0 && number == 2, "%u", number);
    CHECK(strcmp(out[0], "x") == 0 && strcmp(out[1], "yz") == 0, "%s %s", out[0], out[1]);
    CHECK(rh_json_strings(json, "a", out[0], sizeof out[0], 1, &number) == 0 && number == 1, "%u", number);
    CHECK(rh_json_strings(json, "e", out[0], sizeof out[0], 2, &number) == 0 && number == 0, "%u", number);
    CHECK(rh_json_strings(json, "b", out[0], sizeof out[0], 2, &number) == -1, "no strings");
    CHECK(rh_json_strings(json, "p", out[0], sizeof out[0], 2, &number) == -1, "no list");
}

static void broken_json_is_refused_without_harm(void) {
    static const char whole[] = "{\"x\":[[{\"y\":\"\\u12ab\"}],-1.5e3,true],\"a\":\"b\\n\",\"z\":{}}";
    srandom(6);
    for (int round = 0; round < 20000; round++) {
        char *text = malloc(sizeof whole), out[8];
        memcpy(text, whole, sizeof whole);
        for (long n = random() % 4; n >= 0; n--) {
            text[random() % (long)(sizeof whole - 1)] = (char)(random() % 3 ? "\"\\{}[],:u0"[random() % 10] : random());
        }
        text[sizeof whole - 1] = 0;
        rh_json_string(text, "a", out, sizeof out);
        free(text);
    }
    char deep[5000];
    memset(deep, '[', sizeof deep);
    memcpy(deep, "{\"x\":", 5);
    deep[sizeof deep - 1] = 0;
    CHECK(rh_json_string(deep, "a", (char[8]){0}, 8) == -1, "nested too deep");
}

static void messages_are_read(void) {
    uint8_t bytes[RH_HEADER_BYTES + 4] = {'R', 'H', 'L', 'B', 1, RH_REGISTERED, 4, 0, 1, 2, 3, 4};
    struct rh_message message;
    CHECK(rh_message_parse(bytes, sizeof bytes, &message) == 12, "a whole message");
    CHECK(message.type == RH_REGISTERED && rh_get32(message.payload) == 0x04030201, "%x", message.type);
    for (size_t held = 0; held < sizeof bytes; held++) {
        CHECK(rh_message_parse(bytes, held, &message) == 0, "%zu bytes", held);
    }
    bytes[7] = 0x10;
    CHECK(rh_message_parse(bytes, sizeof bytes, &message) == -1, "too long");
    bytes[7] = 0;
    bytes[4] = 2;
    CHECK(rh_message_parse(bytes, sizeof bytes, &message) == -1, "another version");
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", name);
}

static void settings_come_from_variables_then_files(void) {
    static const char *const names[] = {
        "RAILHEAD_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CA_BUNDLE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsetenv(names[i]);
    }
    write_file("credentials", "[default]\naws_access_key_id = ONE\n[other]\n# no\nAWS_ACCESS_KEY_ID=TWO \n"
                              "aws_secret_access_key = s=2\naws_session_token = t\n");
    write_file("config", "[profile other]\nregion = eu-west-1\ns3 =\n  region = nested\nendpoint_url = http://h:1/\n");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "credentials", 1);
    setenv("AWS_CONFIG_FILE", "config", 1);
    struct rh_settings settings;
    CHECK(rh_settings_read(&settings, &error) != 0 && strstr(error.text, "RAILHEAD_ENDPOINT"), "%s", error.text);
    setenv("AWS_ENDPOINT_URL", "https://far:2", 1);
    CHECK(rh_settings_read(&settings, &error) != 0 && strstr(error.text, "credentials"), "%s", error.text);
    unsetenv("AWS_ENDPOINT_URL");
    setenv("AWS_PROFILE", "other", 1);
    CHECK(rh_settings_read(&settings, &error) == 0, "%s", error.text);
    CHECK(strcmp(settings.endpoint, "http://h:1") == 0, "%s", settings.endpoint);
    CHECK(strcmp(settings.access_key, "TWO") == 0 && strcmp(settings.secret_key, "s=2") == 0, "%s",
          settings.access_key);
    CHECK(strcmp(settings.session_token, "t") == 0 && strcmp(settings.region, "eu-west-1") == 0, "%s",
          settings.region);
    setenv("AWS_ACCESS_KEY_ID", "THREE", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "s3", 1);
    setenv("AWS_REGION", "us-west-2", 1);
    setenv("AWS_ENDPOINT_URL", "https://far:2", 1);
    setenv("RAILHEAD_ENDPOINT", "http://near:3", 1);
    CHECK(rh_settings_read(&settings, &error) == 0, "%s", error.text);
    CHECK(strcmp(settings.endpoint, "http://near:3") == 0 && strcmp(settings.access_key, "THREE") == 0, "%s",
          settings.endpoint);
    CHECK(settings.session_token[0] == 0 && strcmp(settings.region, "us-west-2") == 0, "%s", settings.region);
    static const char *const bad[] = {"near:3", "ftp://near", "http://", "http://near/path", "http://user@near"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv("RAILHEAD_ENDPOINT", bad[i], 1);
        CHECK(rh_settings_read(&settings, &error) != 0 && strstr(error.text, bad[i]), "%s", bad[i]);
    }
    unlink("credentials");
    unlink("config");
}

static void endpoints_of_the_services_section_go_before_the_profile_s(void) {
    struct rh_settings settings;
    setenv("AWS_PROFILE", "served", 1);
    setenv("AWS_CONFIG_FILE", "config", 1);
    unsetenv("RAILHEAD_ENDPOINT");
    unsetenv("AWS_ENDPOINT_URL");
    write_file("config", "[profile served]\nservices = rack\nendpoint_url = http://own:1\nca_bundle = /own.pem\n"
                         "aws_access_key_id = a\naws_secret_access_key = s\n[services other]\ns3 =\n"
                         "  endpoint_url = http://other:1\n[services rack]\nendpoint_url = http://none:1\ndynamodb =\n"
                         "  endpoint_url = http://tables:1\ns3 =\n  endpoint_url = http://rack:1\n");
    CHECK(rh_settings_read(&settings, &error) == 0, "%s", error.text);
    CHECK(strcmp(settings.endpoint, "http://rack:1") == 0, "%s", settings.endpoint);
    CHECK(strcmp(settings.ca_bundle, "/own.pem") == 0, "%s", settings.ca_bundle);
    setenv("AWS_ENDPOINT_URL", "near:3", 1);
    CHECK(rh_settings_read(&settings, &error) != 0 && strstr(error.text, "AWS_ENDPOINT_URL has no scheme: near:3"), "%s",
          error.text);
    unsetenv("AWS_ENDPOINT_URL");
    unlink("config");
}

static void keys_are_found_anew_where_they_came_from(void) {
    struct rh_settings settings;
    unsetenv("AWS_ACCESS_KEY_ID");
    setenv("RAILHEAD_ENDPOINT", "http://near:3", 1);
    setenv("AWS_PROFILE", "first", 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "renewed", 1);
    write_file("renewed", "[first]\naws_access_key_id = A\naws_secret_access_key = s\naws_session_token = t\n");
    CHECK(rh_settings_read(&settings, &error) == 0 && settings.may_change, "%s", error.text);
    setenv("AWS_PROFILE", "other", 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "none", 1);
    setenv("AWS_ACCESS_KEY_ID", "THREE", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "s3", 1);
    write_file("renewed", "[first]\naws_access_key_id = B\naws_secret_access_key = s\n");
    CHECK(rh_keys_find(&settings, &error) == 0, "%s", error.text);
    CHECK(strcmp(settings.access_key, "B") == 0 && *settings.session_token == 0, "%s", settings.access_key);
    unlink("renewed");
    CHECK(rh_keys_find(&settings, &error) != 0 && *settings.access_key == 0, "%s", settings.access_key);
    CHECK(error.code == RAILHEAD_ARGUMENT && strstr(error.text, "no credentials"), "%s", error.text);
}

/* Authorities that cannot be read are named; variables that name a proxy, where none listens, count for nothing. */
static void a_request_names_its_file_and_takes_no_proxy(void) {
    struct rh_http http = {.ca_bundle = "/nope.pem", .error = &error};
    const char *headers[] = {NULL};
    railhead_http exchange = {.method = "POST", .url = "https://127.0.0.1:1/", .headers = headers, .timeout_millis = 2000};
    CHECK(rh_http_send(&http, &exchange) != 0 && strstr(error.text, "/nope.pem"), "%s", error.text);
    setenv("http_proxy", "http://127.0.0.1:2", 1);
    setenv("all_proxy", "http://127.0.0.1:2", 1);
    exchange.url = "http://127.0.0.1:1/";
    http.ca_bundle = "";
    CHECK(rh_http_send(&http, &exchange) != 0 && !strstr(error.text, "port 2"), "%s", error.text);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
}

static void a_value_that_is_too_long_is_named_with_its_file(void) {
    static const char *const names[] = {"RAILHEAD_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_REGION"};
    static const struct {
        const char *key;
        int most;
    } cases[] = {{"aws_session_token", 4095}, {"aws_access_key_id", 159}, {"aws_secret_access_key", 255}, {"region", 63},
                 {"endpoint_url", 511}};
    struct rh_settings settings;
    char text[5000];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsetenv(names[i]);
    }
    setenv("AWS_PROFILE", "long", 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "long-values", 1);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const char *key = cases[i / 2].key;
        bool fits = i % 2 == 0;
        snprintf(text, sizeof text, "[long]\n%s = http://%0*d\naws_access_key_id = a\naws_secret_access_key = s\n"
                 "endpoint_url = http://h\n", key, cases[i / 2].most - 7 + !fits, 0);
        write_file("long-values", text);
        CHECK((rh_settings_read(&settings, &error) == 0) == fits, "%s: %s", key, error.text);
        CHECK(fits || (strstr(error.text, key) && strstr(error.text, "long-values")), "%s", error.text);
    }
    unlink("long-values");
}

int main(void) {
    hashes_are_those_of_the_standards();
    keys_and_proofs_are_those_of_the_specification();
    tokens_have_81_characters();
    signatures_are_those_of_other_signers();
    json_is_read();
    numbers_and_lists_are_read();
    broken_json_is_refused_without_harm();
    messages_are_read();
    settings_come_from_variables_then_files();
    endpoints_of_the_services_section_go_before_the_profile_s();
    keys_are_found_anew_where_they_came_from();
    a_request_names_its_file_and_takes_no_proxy();
    a_value_that_is_too_long_is_named_with_its_file();
    return 0;
}
