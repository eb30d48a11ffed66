package io.railhead.gateway.s3.sigv4;

import static io.railhead.gateway.s3.sigv4.SdkRequests.NOW;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.TestCredentials;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;

class AuthenticatorTest {
    private static final RequestHead GET = get("/bucket/key");

    private final Authenticator authenticator = new Authenticator(TestCredentials.store());

    private static RequestHead get(String pathAndQuery) {
        return SdkRequests.sign(SdkHttpMethod.GET, pathAndQuery,
                Map.of("Range", "bytes=0-9", "x-amz-meta-a", "  two   words ", "Accept", "*/*"),
                new byte[0], options -> {}).head();
    }

    /** As the SDK's presigner asks for it. */
    private static RequestHead presigned(String pathAndQuery) {
        return SdkRequests.sign(SdkHttpMethod.GET, pathAndQuery, Map.of(), new byte[0],
                SdkRequests::presigned).head();
    }

    private S3Refusal refusal(RequestHead head, Instant now) {
        S3Refusal e = catchThrowableOfType(S3Refusal.class,
                () -> authenticator.authenticate(head, now));
        assertThat(e).as("%s", head).isNotNull();
        return e;
    }

    private S3Error error(RequestHead head) {
        return refusal(head, NOW).error();
    }

    private static RequestHead with(RequestHead head, Headers headers) {
        return new RequestHead(head.method(), head.rawPath(), head.rawQuery(), headers);
    }

    private static RequestHead withQuery(RequestHead head, String query) {
        return new RequestHead(head.method(), head.rawPath(), query, head.headers());
    }

    private static RequestHead adding(RequestHead head, String name, String value) {
        return with(head, head.headers().toBuilder().add(name, value).build());
    }

    private static RequestHead setting(RequestHead head, String name, String value) {
        return with(head, head.headers().toBuilder().set(name, value).build());
    }

    private static RequestHead without(RequestHead head, String name) {
        return with(head, head.headers().toBuilder().remove(name).build());
    }

    private static RequestHead editing(RequestHead head, String from, String to) {
        String authorization = requireNonNull(head.headers().get("Authorization"));
        assertThat(authorization).containsPattern(from);
        return setting(head, "Authorization", authorization.replaceFirst(from, to));
    }

    @Test
    void noMoreHeadersThanARequestNeedsAreSignedOrSent() {
        String many = IntStream.range(0, 1000)
                .mapToObj(i -> "h" + i)
                .collect(Collectors.joining(";"));
        assertThat(error(editing(GET, "SignedHeaders=", "SignedHeaders=" + many + ";")))
                .isEqualTo(S3Error.AUTHORIZATION_HEADER_MALFORMED);
        Headers.Builder fields = GET.headers().toBuilder();
        IntStream.range(0, 1000).forEach(i -> fields.add("h" + i, ""));
        assertThat(error(with(GET, fields.build())))
                .isEqualTo(S3Error.REQUEST_HEADER_SECTION_TOO_LARGE);
        assertThat(error(adding(GET, "h", "x".repeat(64 << 10))))
                .isEqualTo(S3Error.REQUEST_HEADER_SECTION_TOO_LARGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/bucket", "/bucket/key", "/b/a%20b%2Fc", "/b/%C3%A4/%E2%82%AC",
            "/b//x/./../y", "/b/~tilde-_.", "/b/k?versionId=a/b+c&partNumber=1",
            "/b?prefix=&list-type=2&delimiter=/&a=b%\u00E4", "/b/%2B%3D%26%3F%23%25", "/b/%00%7F",
            "/b/%7Ea%2bb", "/b/a:b+c"})
    void whatTheSdkSignsHolds(String pathAndQuery) {
        for (RequestHead head : new RequestHead[]{get(pathAndQuery), presigned(pathAndQuery)}) {
            var signed = (Authentication.Signed) authenticator.authenticate(head, NOW);
            assertThat(signed.principal().name()).isEqualTo("alice");
            assertThat(signed.scope().region()).isEqualTo("eu-north-1");
            assertThat(signed.signedAt()).isEqualTo(NOW);
        }
    }

    /** As boto3 signs with {@code region_name=""}, which stores without a region take. */
    @Test
    void aScopeMayNameNoRegionAndIsBoundToThat() {
        RequestHead head = SdkRequests.sign(SdkHttpMethod.GET, "/b/k", Map.of(), new byte[0],
                options -> options.putProperty(AwsV4HttpSigner.REGION_NAME, "")).head();
        var signed = (Authentication.Signed) authenticator.authenticate(head, NOW);
        assertThat(signed.scope().region()).isEmpty();
        assertThat(error(editing(head, "//s3/", "/eu-north-1/s3/")))
                .isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }

    @Test
    void otherSpellingsOfTheSameKeyHold() {
        RequestHead head = get("/b/a%2Bb%3Ac~d?x=~y z");
        for (String path : new String[]{"/b/a+b:c~d", "/b/a%2bb%3ac%7ed"}) {
            for (String query : new String[]{"x=~y%20z", "x=%7ey+z"}) {
                authenticator.authenticate(
                        new RequestHead("GET", path, query, head.headers()), NOW);
            }
        }
    }

    /** As MinIO and RGW compute it: of the decoded path. */
    @Test
    void aSlashMayBeSentEncodedAndSignedAsItIs() {
        RequestHead head = get("/b/a/b/c~%20d");
        for (String path : new String[]{"/b/a%2Fb/c~%20d", "/b/a%2fb%2Fc%7e%20d"}) {
            authenticator.authenticate(new RequestHead("GET", path, null, head.headers()), NOW);
        }
    }

    @Test
    void otherKeysDoNot() {
        RequestHead head = get("/b/a/b/./c");
        for (String path : new String[]{"/b/a%252Fb/./c", "/b/a/b/c", "/b/a%2F%2Fb/./c",
                "/b/a//b/./c", "/b/a/b/./c/"}) {
            assertThat(error(new RequestHead("GET", path, null, head.headers())))
                    .isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
    }

    @Test
    void aSessionTokenMustBeTheKeysOwn() {
        RequestHead head = SdkRequests.signWithToken(SdkHttpMethod.GET, "/b/k").head();
        var signed = (Authentication.Signed) authenticator.authenticate(head, NOW);
        assertThat(signed.key().id()).isEqualTo(TestCredentials.TEMPORARY_KEY);

        assertThat(error(setting(head, "X-Amz-Security-Token", "other")))
                .isEqualTo(S3Error.INVALID_TOKEN);
        assertThat(error(without(head, "X-Amz-Security-Token")))
                .isEqualTo(S3Error.INVALID_TOKEN);
        assertThat(error(adding(GET, "X-Amz-Security-Token", "any")))
                .isEqualTo(S3Error.INVALID_TOKEN);
    }

    @Test
    void aRequestThatClaimsNothingIsAnonymous() {
        assertThat(authenticator.authenticate(new RequestHead("GET", "/b/k", "versionId=1",
                Headers.builder().add("Host", "h").build()), NOW))
                .isEqualTo(new Authentication.Anonymous());
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-note", "Proxy-Authorization", "x-forwarded-authorization",
            "user-agent"})
    void aSignatureInAnotherHeaderSignsNothing(String name) {
        String authorization = requireNonNull(GET.headers().get("Authorization"));
        assertThat(authenticator.authenticate(
                adding(without(GET, "Authorization"), name, authorization), NOW))
                .isEqualTo(new Authentication.Anonymous());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void anyFlippedByteIsRefused(long seed) {
        Random random = new Random(seed);
        RequestHead head = get("/bucket/some/key?versionId=abc&tagging=x");
        RequestHead presigned = presigned("/bucket/some/key?versionId=abc&tagging=x");
        for (int i = 0; i < 300; i++) {
            assertRefused(flip(random.nextBoolean() ? head : presigned, random), seed);
        }
    }

    private void assertRefused(RequestHead tampered, long seed) {
        S3Refusal e = catchThrowableOfType(S3Refusal.class,
                () -> authenticator.authenticate(tampered, NOW));
        assertThat(e).as("seed %s: %s %s", seed, tampered, tampered.headers()).isNotNull();
        assertThat(e.error().status()).isBetween(400, 403);
    }

    private static RequestHead flip(RequestHead head, Random random) {
        int where = random.nextInt(4);
        String query = requireNonNull(head.rawQuery());
        return switch (where) {
            case 0 -> new RequestHead(flip(head.method(), random), head.rawPath(), query,
                    head.headers());
            case 1 -> new RequestHead(head.method(), flip(head.rawPath(), random), query,
                    head.headers());
            case 2 -> withQuery(head, flip(query, random));
            default -> with(head, flip(head.headers(), random));
        };
    }

    /** Flips one bit, but not one that only turns hex digits of an escape between cases. */
    private static String flip(String text, Random random) {
        while (true) {
            int at = random.nextInt(text.length());
            char flipped = (char) (text.charAt(at) ^ 1 << random.nextInt(7));
            String tampered = text.substring(0, at) + flipped + text.substring(at + 1);
            if (!tampered.toLowerCase(Locale.ROOT).equals(text.toLowerCase(Locale.ROOT))) {
                return tampered;
            }
        }
    }

    private static Headers flip(Headers headers, Random random) {
        Headers.Builder tampered = Headers.builder();
        headers.forEach((name, value) -> {
            boolean signed = !name.equalsIgnoreCase("Accept")
                    && !name.equalsIgnoreCase("x-amz-meta-a");
            tampered.add(name, signed ? flip(value, random) : value);
        });
        return tampered.build();
    }

    @Test
    void timeIsBoundedBothWays() {
        for (int minutes : new int[]{-15, 15}) {
            authenticator.authenticate(GET, NOW.plus(Duration.ofMinutes(minutes)));
        }
        for (int seconds : new int[]{-901, 901}) {
            assertThat(refusal(GET, NOW.plusSeconds(seconds)).error())
                    .isEqualTo(S3Error.REQUEST_TIME_TOO_SKEWED);
        }
        RequestHead presigned = presigned("/b/k");
        authenticator.authenticate(presigned, NOW.plusSeconds(3600));
        assertThat(refusal(presigned, NOW.plusSeconds(3601)).detail())
                .isEqualTo("Request has expired");
        assertThat(refusal(presigned, NOW.minusSeconds(901)).detail())
                .isEqualTo("Request is not valid yet");
    }

    @Test
    void anUnknownKeyIsNamedAsSuch() {
        assertThat(error(editing(GET, "Credential=[^/]*", "Credential=NOBODY")))
                .isEqualTo(S3Error.INVALID_ACCESS_KEY_ID);
    }

    @ParameterizedTest
    @CsvSource({"Credential=,Credentials=", "'Signature=','Signature=0'", "/s3/,/sqs/",
            "aws4_request,aws4", "/20261120/,/20261119/", "SignedHeaders=,SignedHeaders=;",
            "SignedHeaders=,SignedHeaders=host;", "SignedHeaders=[^;]*,SignedHeaders=HOST",
            "'Credential=[^,]*,',''", "'SignedHeaders=[^,]*,',''", "', Signature=.*',''",
            "'Signature=.*','Signature=zz'", "'$',',Signature=x'", "'$',',Other=x'",
            "'Credential=[^/]*/','Credential=/'",
            "AWS4-HMAC-SHA256,AWS4-HMAC-SHA512"})
    void aMalformedHeaderIsNamedAsSuch(String from, String to) {
        assertThat(error(editing(GET, from, to)))
                .isEqualTo(S3Error.AUTHORIZATION_HEADER_MALFORMED);
    }

    @Test
    void aSecondAuthorizationHeaderIsRefused() {
        assertThat(error(adding(GET, "authorization", "x")))
                .isEqualTo(S3Error.AUTHORIZATION_HEADER_MALFORMED);
    }

    @ParameterizedTest
    @CsvSource({"AWS AKID:abc=,INVALID_REQUEST",
            "AWS4-ECDSA-P256-SHA256 Credential=x,INVALID_REQUEST", "Bearer x,INVALID_ARGUMENT",
            "'',INVALID_ARGUMENT"})
    void otherMechanismsAreNamed(String authorization, S3Error error) {
        assertThat(error(setting(GET, "Authorization", authorization))).isEqualTo(error);
    }

    @ParameterizedTest
    @CsvSource({"X-Amz-Algorithm=[^&]*,X-Amz-Algorithm=AWS4-HMAC-SHA1",
            "X-Amz-Algorithm=[^&]*&,''", "X-Amz-Credential=[^&]*&,''",
            "X-Amz-Credential=[^&]*,X-Amz-Credential=a", "X-Amz-Date=[^&]*&,''",
            "X-Amz-Date=[^&]*,X-Amz-Date=today", "X-Amz-Date=2026,X-Amz-Date=1969",
            "X-Amz-Date=20261120,X-Amz-Date=20261119", "X-Amz-Date=20261120,X-Amz-Date=20261320",
            "X-Amz-Expires=3600,X-Amz-Expires=604801", "X-Amz-Expires=3600,X-Amz-Expires=-1",
            "X-Amz-Expires=3600,X-Amz-Expires=9223372036854775807",
            "X-Amz-Expires=3600,X-Amz-Expires=9223372036854775808",
            "X-Amz-Expires=3600,X-Amz-Expires=1h", "X-Amz-Expires=3600&?,''",
            "X-Amz-SignedHeaders=host,X-Amz-SignedHeaders=", "X-Amz-Signature=[^&]*,''",
            "X-Amz-Signature=[^&]*,X-Amz-Signature=zz", "$,&X-Amz-Expires=3600",
            "$,&X-Amz-Date=20261120T100000Z", "$,&%58-Amz-Expires=3600"})
    void aMalformedPresignedQueryIsNamedAsSuch(String from, String to) {
        RequestHead head = presigned("/b/k");
        String query = requireNonNull(head.rawQuery());
        assertThat(query).containsPattern(from);
        assertThat(error(withQuery(head, query.replaceFirst(from, to))))
                .isEqualTo(S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR);
    }

    @Test
    void otherPresignedMechanismsAreNamed() {
        Headers host = Headers.builder().add("Host", "h").build();
        assertThat(error(new RequestHead("GET", "/b/k",
                "AWSAccessKeyId=a&Signature=b&Expires=1", host)))
                .isEqualTo(S3Error.INVALID_REQUEST);
        RequestHead head = presigned("/b/k");
        assertThat(error(withQuery(head, requireNonNull(head.rawQuery())
                .replace("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"))))
                .isEqualTo(S3Error.INVALID_REQUEST);
    }

    @Test
    void onlyOneMechanismAtATime() {
        assertThat(error(withQuery(GET, requireNonNull(presigned("/bucket/key").rawQuery()))))
                .isEqualTo(S3Error.INVALID_ARGUMENT);
    }

    @Test
    void unsignedAmzHeadersAreRefused() {
        assertThat(refusal(adding(GET, "x-amz-acl", "public-read"), NOW).detail())
                .isEqualTo("There were headers present in the request which were not signed");
        assertThat(error(adding(presigned("/b/k"), "X-Amz-Copy-Source", "/o/k")))
                .isEqualTo(S3Error.ACCESS_DENIED);
        assertThat(error(adding(GET, "x-amz-rdma-token", "t")))
                .isEqualTo(S3Error.RDMA_TOKEN_NOT_SIGNED);
        authenticator.authenticate(adding(GET, "X-Amzn-Trace-Id", "Root=1"), NOW);
        authenticator.authenticate(adding(presigned("/b/k"), "x-amz-content-sha256",
                "UNSIGNED-PAYLOAD"), NOW);
    }

    /** Neither the URL nor the list of signed headers names it, and MinIO and RGW refuse it. */
    @ParameterizedTest
    @ValueSource(strings = {"0000000000000000000000000000000000000000000000000000000000000000",
            "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"})
    void aPresignedUrlHoldsForNoPayloadThatItWasNotSignedFor(String payload) {
        assertThat(error(adding(presigned("/b/k"), "x-amz-content-sha256", payload)))
                .isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
        assertThat(error(adding(presigned("/b/k?X-Amz-Content-Sha256=UNSIGNED-PAYLOAD"),
                "x-amz-content-sha256", payload))).isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }

    @Test
    void moreThanAHundredHeadersMayBeSigned() {
        Map<String, String> headers = IntStream.range(0, 300)
                .boxed()
                .collect(Collectors.toMap(i -> "x-amz-meta-" + i, i -> "v" + i));
        RequestHead head = SdkRequests.sign(SdkHttpMethod.GET, "/b/k", headers, new byte[0],
                options -> {}).head();
        authenticator.authenticate(head, NOW);
        assertThat(error(setting(head, "x-amz-meta-7", "other")))
                .isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
        assertThat(error(adding(head, "x-amz-meta-300", "unsigned")))
                .isEqualTo(S3Error.ACCESS_DENIED);
    }

    /** Both may be signed: the values sorted, or in the order that was sent. */
    @Test
    void aParameterThatComesTwiceIsSignedInEitherOrder() {
        RequestHead head = get("/b?a=2&a=1&b=x");
        authenticator.authenticate(head, NOW);
        authenticator.authenticate(withQuery(head, "b=x&a=1&a=2"), NOW);
        assertThat(CanonicalRequest.queries(Query.parse("b=x&a=2&a=1")))
                .containsExactly("a=1&a=2&b=x", "a=2&a=1&b=x");
        assertThat(CanonicalRequest.queries(Query.parse("b=x&a=1&a=2")))
                .containsExactly("a=1&a=2&b=x");
    }

    @Test
    void anotherHostThatCameBesideTheTargetsMayBeSigned() {
        RequestHead moved = setting(GET, "Host", "authority:1");
        assertThat(error(moved)).isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
        authenticator.authenticate(new RequestHead("GET", moved.rawPath(), null, moved.headers(),
                GET.headers().get("Host")), NOW);
    }

    @Test
    void theHostMustBeSigned() {
        assertThat(error(editing(GET, "host;", ""))).isEqualTo(S3Error.ACCESS_DENIED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Host", "X-Amz-Date", "x-amz-content-sha256"})
    void whatDecidesWhoAsksMustNotAppearTwice(String name) {
        String value = requireNonNull(GET.headers().get(name));
        assertThat(error(adding(GET, name, value))).isEqualTo(S3Error.INVALID_REQUEST);
    }

    @Test
    void aSignedHeaderMustBeThere() {
        assertThat(error(without(GET, "Range"))).isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }

    @Test
    void theDateMustBeThereAndBeOne() {
        assertThat(error(without(GET, "X-Amz-Date"))).isEqualTo(S3Error.ACCESS_DENIED);
        for (String date : new String[]{"", "20261120", "19691231T235959Z", "20261120T256000Z",
                "20261120T1000000"}) {
            assertThat(error(setting(GET, "X-Amz-Date", date))).isEqualTo(S3Error.ACCESS_DENIED);
        }
    }

    @Test
    void thePayloadsHashMustBeThereAndBeOne() {
        assertThat(error(without(GET, "x-amz-content-sha256"))).isEqualTo(S3Error.INVALID_REQUEST);
        assertThat(error(setting(GET, "x-amz-content-sha256", "E3")))
                .isEqualTo(S3Error.INVALID_ARGUMENT);
        assertThat(error(setting(GET, "x-amz-content-sha256",
                "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD"))).isEqualTo(S3Error.INVALID_REQUEST);
    }

    @Test
    void moreHeadersThanARequestNeedsAreRefused() {
        Headers.Builder many = GET.headers().toBuilder();
        for (int i = 0; i < 1000; i++) {
            many.add("h" + i, "v");
        }
        assertThat(error(with(GET, many.build())))
                .isEqualTo(S3Error.REQUEST_HEADER_SECTION_TOO_LARGE);
        assertThat(error(adding(GET, "h", "v".repeat(70_000))))
                .isEqualTo(S3Error.REQUEST_HEADER_SECTION_TOO_LARGE);
        assertThat(error(withQuery(GET, "a&".repeat(1000)))).isEqualTo(S3Error.INVALID_URI);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/b/%", "/b/%4", "/b/%zz", "/b/\u20AC"})
    void aBrokenPathIsNamedAsSuch(String path) {
        assertThat(error(new RequestHead("GET", path, null, GET.headers())))
                .isEqualTo(S3Error.INVALID_URI);
    }

    /** The char's low byte is the signed one, a nine. */
    @Test
    void aCharThatIsNoByteIsNeverCutToOne() {
        assertThat(error(setting(GET, "Range", "bytes=0-\u0139")))
                .isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }

    /** The buffer grows for them, and what follows is verified as ever. */
    @Test
    void longHeadsAreVerifiedToo() {
        for (int length : new int[]{1000, 1024, 5000, 20_000, 60_000}) {
            RequestHead head = SdkRequests.sign(SdkHttpMethod.GET, "/b/" + "k".repeat(500),
                    Map.of("x-amz-meta-a", "v".repeat(length)), new byte[0], options -> {}).head();
            assertThat(authenticator.authenticate(head, NOW).principalName()).isEqualTo("alice");
            assertThat(error(setting(head, "x-amz-meta-a", "v".repeat(length - 1) + "w")))
                    .isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
            authenticator.authenticate(GET, NOW);
        }
    }

    @Test
    void noSecretIsEverPrinted() {
        Authentication.Signed signed = (Authentication.Signed) authenticator.authenticate(GET, NOW);
        assertThat(signed.toString()).doesNotContain(TestCredentials.SECRET_KEY)
                .doesNotContain(signed.signature());
        assertThat(signed.signingKey().toString()).isEqualTo("SigningKey[****]");
    }
}
