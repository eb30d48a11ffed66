package io.railhead.gateway.s3.sigv4;

import static io.railhead.gateway.s3.sigv4.SdkRequests.NOW;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.TestCredentials;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;

class SignatureMemoryTest {
    private static final Query NO_QUERY = Query.require(null);

    private final Authenticator authenticator = new Authenticator(TestCredentials.store());

    private static RequestHead get(String path, int second) {
        return SdkRequests.sign(SdkHttpMethod.GET, path, Map.of("Range", "bytes=0-9"), new byte[0],
                options -> options.putProperty(HttpSigner.SIGNING_CLOCK,
                        Clock.fixed(NOW.plusSeconds(second), ZoneOffset.UTC)))
                .head();
    }

    private static List<RequestHead> heads() {
        List<RequestHead> heads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            heads.add(get("/b/k" + i, i % 2));
        }
        heads.add(SdkRequests.signWithToken(SdkHttpMethod.GET, "/b/k").head());
        heads.add(SdkRequests.sign(SdkHttpMethod.GET, "/b/k", Map.of("x-amz-meta-a", "b"),
                new byte[0], options -> options.putProperty(AwsV4HttpSigner.REGION_NAME, "r"))
                .head());
        heads.add(SdkRequests.sign(SdkHttpMethod.GET, "/b/k", Map.of(), new byte[0],
                SdkRequests::presigned).head());
        return heads;
    }

    private static RequestHead signedBy(RequestHead head, String authorization) {
        return new RequestHead(head.method(), head.rawPath(), head.rawQuery(),
                head.headers().toBuilder().set("Authorization", authorization).build());
    }

    private static String authorization(RequestHead head) {
        return requireNonNull(head.headers().get("Authorization"));
    }

    /** Alters one char of a field, which may be any part of the signature's. */
    private static RequestHead altered(RequestHead head, Random random) {
        int[] left = {random.nextInt(8)};
        Headers.Builder headers = Headers.builder();
        head.headers().forEach((name, value) -> {
            StringBuilder text = new StringBuilder(value);
            if (left[0]-- == 0 && !text.isEmpty()) {
                text.setCharAt(random.nextInt(text.length()),
                        "0aZ,;=/ \u0139".charAt(random.nextInt(9)));
            }
            headers.add(name, text.toString());
        });
        return new RequestHead(head.method(), head.rawPath(), head.rawQuery(), headers.build());
    }

    private String verdict(RequestHead head, SignatureMemory memory) {
        try {
            Authentication.Signed signed = (Authentication.Signed) authenticator
                    .authenticate(head, Query.require(head.rawQuery()), NOW, memory);
            return signed.principal().name() + signed.key().id() + signed.scope()
                    + signed.signature() + signed.signedHeaders() + signed.presigned()
                    + signed.signedAt() + signed.payload();
        } catch (S3Refusal e) {
            return e.error() + " " + e.detail();
        }
    }

    /** Compares with a memory that is always empty. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aMemoryChangesNoVerdict(long seed) {
        Random random = new Random(seed);
        List<RequestHead> heads = heads();
        SignatureMemory memory = new SignatureMemory();
        int held = 0;
        for (int i = 0; i < 1000; i++) {
            RequestHead head = heads.get(random.nextInt(heads.size()));
            RequestHead sent = random.nextInt(3) == 0 ? altered(head, random) : head;
            String expected = verdict(sent, new SignatureMemory());
            assertThat(verdict(sent, memory)).as("seed %s, step %s", seed, i).isEqualTo(expected);
            held += expected.startsWith("alice") ? 1 : 0;
        }
        assertThat(held).isBetween(500, 950);
    }

    /** The low byte of U+0162 is a b: a signature of that must not hold for the wider char. */
    @Test
    void aFieldThatBeginsWithTheKnownTokenIsStillChecked() {
        RequestHead head = SdkRequests.signWithToken(SdkHttpMethod.GET, "/b/k",
                Map.of("x-amz-meta-a", TestCredentials.TOKEN + ",b")).head();
        SignatureMemory memory = new SignatureMemory();
        assertThat(verdict(repeated(head, "b"), memory)).startsWith("alice");
        assertThat(verdict(repeated(head, "\u0162"), memory))
                .startsWith(S3Error.SIGNATURE_DOES_NOT_MATCH.toString());
    }

    /** Sends the field as two, of which the first has the token. */
    private static RequestHead repeated(RequestHead head, String second) {
        return new RequestHead(head.method(), head.rawPath(), head.rawQuery(),
                head.headers()
                        .toBuilder()
                        .set("x-amz-meta-a", TestCredentials.TOKEN)
                        .add("x-amz-meta-a", second)
                        .build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Signature=x", ", Signature=x", ", Other=x", ",", " ", "=", "A"})
    void theRestOfAKnownHeaderIsASignatureOrParsedAnew(String start) {
        RequestHead head = get("/b/k", 0);
        String known = authorization(head);
        String rest = start + "0".repeat(64 - start.length());
        RequestHead sent = signedBy(head, known.substring(0, known.length() - 64) + rest);
        SignatureMemory memory = new SignatureMemory();
        verdict(head, memory);
        assertThat(memory.find(authorization(sent))).isNotNull();
        assertThat(verdict(sent, memory)).isEqualTo(verdict(sent, new SignatureMemory()))
                .startsWith(S3Error.AUTHORIZATION_HEADER_MALFORMED.toString());
    }

    /** A scope is checked when it is parsed, and each service has an authenticator of its own. */
    @Test
    void aHeaderKnownToOneServiceIsParsedAnewByAnother() {
        RequestHead head = get("/b/k", 0);
        SignatureMemory memory = new SignatureMemory();
        assertThat(verdict(head, memory)).startsWith("alice");
        Authenticator sts = Authenticator.ofSts(TestCredentials.store());
        assertThatThrownBy(() -> sts.authenticate(head, NO_QUERY, NOW, memory))
                .isInstanceOfSatisfying(S3Refusal.class, e -> assertThat(e.error())
                        .isEqualTo(S3Error.AUTHORIZATION_HEADER_MALFORMED));
    }

    /** Another order of the parts, or blanks behind the last one. */
    @Test
    void onlyAHeaderThatEndsWithItsSignatureIsRemembered() {
        RequestHead head = get("/b/k", 0);
        String[] parts = authorization(head).substring("AWS4-HMAC-SHA256 ".length())
                .split(", ", -1);
        for (String other : new String[]{parts[2] + ", " + parts[0] + ", " + parts[1],
                parts[0] + "," + parts[1] + "," + parts[2] + " "}) {
            SignatureMemory memory = new SignatureMemory();
            RequestHead sent = signedBy(head, "AWS4-HMAC-SHA256 " + other);
            for (int i = 0; i < 2; i++) {
                assertThat(verdict(sent, memory)).startsWith("alice");
                assertThat(memory.find(authorization(sent))).isNull();
            }
        }
    }

    @Test
    void aLongHeaderIsNotRemembered() {
        RequestHead head = get("/b/k", 0);
        String known = authorization(head);
        RequestHead longer = signedBy(head,
                known.replace("SignedHeaders=", "SignedHeaders=" + "x".repeat(1024) + ";"));
        SignatureMemory memory = new SignatureMemory();
        verdict(longer, memory);
        assertThat(memory.find(authorization(longer))).isNull();
        verdict(head, memory);
        assertThat(memory.find(known)).isNotNull();
    }

    @Test
    void aChangedOrRemovedKeyHoldsNoLonger(@TempDir Path folder) throws Exception {
        String file = """
                principals:
                  - {name: alice, keys: [{access_key: %s, secret_key: "%s"}]}
                """;
        Path path = folder.resolve("credentials.yaml");
        Files.writeString(path,
                file.formatted(TestCredentials.ACCESS_KEY, TestCredentials.SECRET_KEY));
        try (CredentialStore credentials = CredentialStore.load(path)) {
            Authenticator changing = new Authenticator(credentials);
            SignatureMemory memory = new SignatureMemory();
            RequestHead head = get("/b/k", 0);
            assertThat(changing.authenticate(head, NO_QUERY, NOW, memory).principalName())
                    .isEqualTo("alice");

            Files.writeString(path, file.formatted(TestCredentials.ACCESS_KEY, "another"));
            credentials.reload();
            assertThatThrownBy(() -> changing.authenticate(head, NO_QUERY, NOW, memory))
                    .isInstanceOfSatisfying(S3Refusal.class, e -> assertThat(e.error())
                            .isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH));

            Files.writeString(path, file.formatted("AKIAOTHER", TestCredentials.SECRET_KEY));
            credentials.reload();
            assertThatThrownBy(() -> changing.authenticate(head, NO_QUERY, NOW, memory))
                    .isInstanceOfSatisfying(S3Refusal.class, e -> assertThat(e.error())
                            .isEqualTo(S3Error.INVALID_ACCESS_KEY_ID));
        }
    }
}
