package io.railhead.gateway.object.form;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.MinioProcess;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.protocol.message.SigningKey;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Uploads by HTML forms: whose policy is verified, and what of them the store hears. */
class FormUploadIT {
    private static final String BOUNDARY = "----formBoundary7MA4";
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": "*", "Action": "s3:*",
               "Resource": ["arn:aws:s3:::b", "arn:aws:s3:::b/*"]},
              {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject",
               "Resource": "arn:aws:s3:::b/secret/*"}]}
            """;

    private final ScriptedStore store = new ScriptedStore(Script.answer(
            "HTTP/1.1 204 No Content\r\nETag: \"e\"\r\nLocation: http://s/b/key", new byte[0]));
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway: {policy: policy.json, sigv2: on}
            backends: {store: {region: us-east-1}}
            """).file("policy.json", POLICY).principals(principals("STORE", "store-secret"));

    private static String principals(String key, String secret) {
        return """
                principals:
                  - name: own
                    keys: [{access_key: OWN, secret_key: own-secret}]
                  - name: mapped
                    keys: [{access_key: MAPPED, secret_key: mapped-secret}]
                    backend_credential: {access_key: %s, secret_key: %s}
                """.formatted(key, secret);
    }

    private static byte[] hmac(String algorithm, byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance(algorithm);
            mac.init(new SecretKeySpec(key, algorithm));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static String signature(String secret, String scope, String policy) {
        String[] parts = scope.split("/", -1);
        return HexFormat.of()
                .formatHex(SigningKey.derive(secret, parts[0], parts[1], parts[2]).sign(policy));
    }

    /** What a site's page would hold for a browser to send. */
    private static Map<String, String> fields(String accessKey, String secret, String bucket) {
        String date = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'")
                .withZone(ZoneOffset.UTC)
                .format(Instant.now());
        String scope = date.substring(0, 8) + "/us-east-1/s3/aws4_request";
        JsonArray conditions = new JsonArray().add(new JsonObject().put("bucket", bucket))
                .add(new JsonArray().add("starts-with").add("$key").add(""))
                .add(new JsonArray().add("content-length-range").add(1).add(9_000_000))
                .add(new JsonArray().add("starts-with").add("$x-amz-meta-who").add("ü"))
                .add(new JsonObject().put("x-amz-algorithm", "AWS4-HMAC-SHA256"))
                .add(new JsonObject().put("x-amz-credential", accessKey + "/" + scope))
                .add(new JsonArray().add("eq").add("$x-amz-date").add(date));
        String policy = Base64.getEncoder()
                .encodeToString(new JsonObject()
                        .put("expiration", Instant.now().plusSeconds(600).toString())
                        .put("conditions", conditions)
                        .encode()
                        .getBytes(StandardCharsets.UTF_8));
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("key", "up/${filename}");
        fields.put("x-amz-meta-who", "ü one");
        fields.put("X-Amz-Algorithm", "AWS4-HMAC-SHA256");
        fields.put("X-Amz-Credential", accessKey + "/" + scope);
        fields.put("X-Amz-Date", date);
        fields.put("Policy", policy);
        fields.put("X-Amz-Signature", signature(secret, scope, policy));
        return fields;
    }

    private static byte[] form(Map<String, String> fields, byte[] file) {
        StringBuilder head = new StringBuilder();
        fields.forEach((name, value) -> head.append("--" + BOUNDARY
                + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value
                + "\r\n"));
        head.append("--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"file\";"
                + " filename=\"f.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n");
        byte[] before = head.toString().getBytes(StandardCharsets.UTF_8);
        byte[] after = ("\r\n--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII);
        byte[] form = new byte[before.length + file.length + after.length];
        System.arraycopy(before, 0, form, 0, before.length);
        System.arraycopy(file, 0, form, before.length, file.length);
        System.arraycopy(after, 0, form, before.length + file.length, after.length);
        return form;
    }

    private RawConnection.Answer post(String bucket, byte[] form) {
        return post(gateway, bucket, form);
    }

    private static RawConnection.Answer post(TestGateway gateway, String bucket, byte[] form) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("POST /" + bucket
                    + " HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data;"
                    + " boundary=" + BOUNDARY + "\r\nContent-Length: " + form.length + "\r\n\r\n");
            return raw.sendWhilePossible(form).receive();
        }
    }

    private List<Received> heard() {
        return store.received()
                .stream()
                .filter(request -> request.line().startsWith("POST"))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100_000, 5_000_000})
    void aFormOfAKeyThatTheStoreKnowsArrivesAsItWasSent(int size) {
        byte[] form = form(fields("OWN", "own-secret", "b"), random(size));
        RawConnection.Answer answer = post("b", form);
        assertThat(answer.status()).as(answer.body()).isEqualTo(204);
        assertThat(answer.headers().get("location")).endsWith("/b/key");
        assertThat(heard()).singleElement().satisfies(request -> {
            assertThat(request.body()).isEqualTo(form);
            assertThat(request.line()).isEqualTo("POST /b HTTP/1.1");
            assertThat(request.header("Authorization")).isNull();
            assertThat(request.header("Content-Type")).endsWith(BOUNDARY);
        });
    }

    /** The socket sends each of them by itself. */
    @Test
    void oneThatComesByteByByteIsTheSame() {
        byte[] form = form(fields("OWN", "own-secret", "b"), random(50));
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data;"
                    + " boundary=" + BOUNDARY + "\r\nContent-Length: " + form.length + "\r\n\r\n");
            for (byte one : form) {
                raw.send(new byte[]{one});
            }
            assertThat(raw.receive().status()).isEqualTo(204);
        }
        assertThat(heard()).singleElement()
                .satisfies(request -> assertThat(request.body()).isEqualTo(form));
    }

    /** The second piece is the end too, before the head's length has doubled. */
    @ParameterizedTest
    @ValueSource(ints = {60, 80, 95})
    void oneThatComesInTwoPiecesIsTheSame(int percent) {
        byte[] form = form(fields("OWN", "own-secret", "b"), random(10));
        int first = form.length * percent / 100;
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data;"
                    + " boundary=" + BOUNDARY + "\r\nContent-Length: " + form.length + "\r\n\r\n");
            raw.send(Arrays.copyOf(form, first));
            TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 1);
            raw.send(Arrays.copyOfRange(form, first, form.length));
            assertThat(raw.receive().status()).isEqualTo(204);
        }
        assertThat(heard()).singleElement()
                .satisfies(request -> assertThat(request.body()).isEqualTo(form));
    }

    private static Map<String, String> read(String form) {
        Map<String, String> fields = new LinkedHashMap<>();
        Matcher matcher = Pattern.compile("name=\"([^\"]+)\"\r\n\r\n(.*?)\r\n--", Pattern.DOTALL)
                .matcher(form);
        while (matcher.find()) {
            fields.put(matcher.group(1), matcher.group(2));
        }
        return fields;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3_000_000})
    void aFormOfAnotherKeyIsSignedAnewAndMeansTheSame(int size) {
        byte[] file = random(size);
        RawConnection.Answer answer = post("b", form(fields("MAPPED", "mapped-secret", "b"),
                file));
        assertThat(answer.status()).as(answer.body()).isEqualTo(204);
        Received request = heard().getFirst();
        Map<String, String> sent = read(new String(request.body(), StandardCharsets.UTF_8));
        assertThat(sent).containsOnlyKeys("key", "x-amz-meta-who", "x-amz-algorithm",
                "x-amz-credential", "x-amz-date", "policy", "x-amz-signature")
                .containsEntry("x-amz-meta-who", "ü one");
        String credential = String.valueOf(sent.get("x-amz-credential"));
        assertThat(credential).startsWith("STORE/");
        assertThat(sent.get("x-amz-signature")).isEqualTo(signature("store-secret",
                credential.substring(6), String.valueOf(sent.get("policy"))));
        JsonArray conditions = new JsonObject(new String(Base64.getDecoder()
                .decode(sent.get("policy")), StandardCharsets.UTF_8)).getJsonArray("conditions");
        assertThat(conditions).hasSize(7)
                .contains(new JsonArray().add("starts-with").add("$x-amz-meta-who").add("ü"),
                        new JsonObject().put("x-amz-credential", credential));
        assertThat(request.body()).endsWith(form(Map.of(), file));
    }

    @Test
    void anOlderSignatureIsVerifiedToo() {
        Map<String, String> fields = fields("OWN", "own-secret", "b");
        Map<String, String> older = new LinkedHashMap<>();
        older.put("key", "k");
        older.put("AWSAccessKeyId", "MAPPED");
        older.put("policy", fields.get("Policy"));
        older.put("signature", Base64.getEncoder()
                .encodeToString(hmac("HmacSHA1", "mapped-secret".getBytes(),
                        String.valueOf(fields.get("Policy")))));
        assertThat(post("b", form(older, random(9))).status()).isEqualTo(204);
        assertThat(read(new String(heard().getFirst().body(), StandardCharsets.ISO_8859_1)))
                .containsKey("x-amz-signature")
                .doesNotContainKeys("AWSAccessKeyId", "signature");
        older.put("signature", "AAAA");
        assertThat(post("b", form(older, random(9))).body()).contains("SignatureDoesNotMatch");
        assertThat(heard()).hasSize(1);
    }

    private void assertRefused(Map<String, String> fields, String code) {
        assertThat(post("b", form(fields, random(200_000))).body())
                .contains("<Code>" + code + "</Code>");
        assertThat(heard()).isEmpty();
    }

    @Test
    void whatDoesNotHoldReachesNoStore() {
        assertRefused(fields("OWN", "another-secret", "b"), "SignatureDoesNotMatch");
        assertRefused(fields("NOBODY", "own-secret", "b"), "InvalidAccessKeyId");
        Map<String, String> changed = fields("MAPPED", "mapped-secret", "b");
        changed.put("Policy", changed.get("Policy") + "AAAA");
        assertRefused(changed, "SignatureDoesNotMatch");
        Map<String, String> denied = fields("OWN", "own-secret", "b");
        denied.put("key", "secret/${filename}");
        assertRefused(denied, "AccessDenied");
        assertRefused(Map.of("key", "secret/x"), "AccessDenied");
        Map<String, String> twice = fields("OWN", "own-secret", "b");
        twice.put("KEY", "secret/x");
        assertRefused(twice, "InvalidArgument");
        assertRefused(Map.of("key", "k", "long", "x".repeat(100_000)),
                "MaxPostPreDataLengthExceededError");
    }

    /** A field and an empty file. */
    private static String part(String disposition, String value) {
        return "--" + BOUNDARY + "\r\nContent-Disposition: form-data; " + disposition
                + "\r\n\r\n" + value + "\r\n"
                + new String(form(Map.of(), new byte[0]), StandardCharsets.US_ASCII);
    }

    @Test
    void whatIsNoFormIsRefused() {
        for (String body : List.of("", "nothing", "--" + BOUNDARY + "--\r\n", "--" + BOUNDARY
                + "\r\n\r\n\r\nx\r\n--" + BOUNDARY + "--", part("name=\"key\"; name=\"acl\"", "x"),
                part("name=\"a\"; filename=\"; name=\\\"key\\\"\"", "x"),
                part("name=\"a\"\r\nContent-Disposition: form-data; name=\"key\"", "x"),
                part("name=\"a\"\r\n folded", "x"), part("name*=UTF-8''key", "x"),
                part("name=\"k%65y\"", "x"),
                part("name=\"a\"", "x\n--" + BOUNDARY + "\nContent-Disposition: form-data;"
                        + " name=\"key\"\n\nsecret/x"))) {
            assertThat(post("b", body.getBytes()).status()).as(body).isEqualTo(400);
        }
        assertThat(post("b", part("name=\"key\"", "\u00ff").getBytes(StandardCharsets.ISO_8859_1))
                .status()).as("what is not UTF-8").isEqualTo(400);
        assertThat(heard()).isEmpty();
    }

    /** Python's requests gives each field a file's name: the store hears of the fields alone. */
    @Test
    void fieldsWithAFilesNameAreFields() {
        byte[] plain = form(Map.of("key", "k"), random(10));
        String named = new String(plain, StandardCharsets.ISO_8859_1)
                .replace("name=\"key\"\r\n", "name=\"key\"; filename=\"key\"\r\n");
        assertThat(post("b", named.getBytes(StandardCharsets.ISO_8859_1)).status()).isEqualTo(204);
        assertThat(heard().getFirst().body()).isEqualTo(plain);
    }

    /**
     * A browser sends its button behind the file. To S3 nothing stands there; a store that reads on
     * must not hear of another key.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10, 100_000})
    void whatComesBehindTheFileIsNobodys(int size) {
        byte[] plain = form(Map.of("key", "k"), random(size));
        byte[] form = Arrays.copyOf(plain, plain.length + 200);
        byte[] more = ("\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nsecret/x\r\n--"
                + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(more, 0, form, plain.length - 4, more.length);
        assertThat(post("b", form).status()).isEqualTo(204);
        byte[] heard = heard().getFirst().body();
        assertThat(heard).hasSize(form.length).startsWith(Arrays.copyOf(plain, plain.length - 2));
        assertThat(new String(heard, plain.length, 200, StandardCharsets.ISO_8859_1)).isBlank();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\n--" + BOUNDARY + "--\r\n", "\r\n--" + BOUNDARY,
            "\r\n--" + BOUNDARY + "-", "\r\n--" + BOUNDARY + " \r\n", "\r\n--" + BOUNDARY + "\n--"})
    void aFormThatDoesNotSayWhereItsFileEndsCommitsNothing(String end) {
        byte[] plain = form(Map.of("key", "k"), random(100_000));
        byte[] last = end.getBytes(StandardCharsets.US_ASCII);
        int file = plain.length - ("\r\n--" + BOUNDARY + "--\r\n").length();
        byte[] form = Arrays.copyOf(plain, file + last.length);
        System.arraycopy(last, 0, form, file, last.length);
        assertThat(post("b", form).body()).contains("<Code>MalformedPOSTRequest</Code>");
        assertThat(heard()).allSatisfy(cut -> assertThat(cut.body()).hasSizeLessThan(form.length));
    }

    @Test
    void aFormWithoutAPolicyIsTheStoresToJudge() {
        byte[] form = form(Map.of("key", "k"), random(10));
        assertThat(post("b", form).status()).isEqualTo(204);
        assertThat(heard().getFirst().body()).isEqualTo(form);
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "MINIO_BIN", matches = ".+")
    void minioTakesAFormThatWasSignedAnew() {
        try (MinioProcess real = new MinioProcess(Path.of(System.getenv("MINIO_BIN")));
                TestGateway before = TestGateway.over(real.endpoint())
                        .config("backends: {store: {region: us-east-1}}")
                        .principals(principals(real.credential().accessKey(),
                                real.credential().secretKey()))
                        .start()) {
            TestClient client = before.client("MAPPED", "mapped-secret");
            assertThat(client.put("/forms", new byte[0]).statusCode()).isEqualTo(200);
            byte[] file = random(300_000);
            RawConnection.Answer answer = post(before, "forms",
                    form(fields("MAPPED", "mapped-secret", "forms"), file));
            assertThat(answer.status()).as(answer.body()).isEqualTo(204);
            assertThat(client.get("/forms/up/f.bin").body()).isEqualTo(file);
            Map<String, String> outside = fields("MAPPED", "mapped-secret", "others");
            assertThat(post(before, "forms", form(outside, file)).status()).isEqualTo(403);
        }
    }
}
