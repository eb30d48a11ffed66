package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples of the Amazon S3 API reference, and what differs from them. */
class SigV2Test {
    private static final String DATE = "Tue, 27 Mar 2007 19:36:42 +0000";
    private static final String PRESIGNED = "AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE"
            + "&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires=1175139620";

    @TempDir
    Path folder;
    private CredentialStore credentials;
    private Authenticator authenticator;

    @BeforeEach
    void load() throws Exception {
        credentials = CredentialStore.load(credentials());
        authenticator = new Authenticator(credentials,
                new SigV2(credentials, SigV2Test::bucketInHost));
    }

    private Path credentials() throws IOException {
        return Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: john
                    keys:
                      - access_key: AKIAIOSFODNN7EXAMPLE
                        secret_key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
                """);
    }

    private static @Nullable String bucketInHost(RequestHead head) {
        String host = String.valueOf(head.headers().get("host"));
        return host.endsWith(".s3.amazonaws.com")
                ? host.substring(0, host.length() - ".s3.amazonaws.com".length())
                : null;
    }

    private static RequestHead request(String method, String uri, String... headers) {
        int mark = uri.indexOf('?');
        Headers.Builder builder = Headers.builder();
        for (int i = 0; i < headers.length; i += 2) {
            builder.add(headers[i], headers[i + 1]);
        }
        return new RequestHead(method, mark < 0 ? uri : uri.substring(0, mark),
                mark < 0 ? null : uri.substring(mark + 1), builder.build());
    }

    private static RequestHead signed(String method, String uri, String host, String date,
            String signature, String... more) {
        String[] headers = new String[more.length + 6];
        System.arraycopy(new String[]{"Host", host, "Date", date, "Authorization",
                "AWS AKIAIOSFODNN7EXAMPLE:" + signature}, 0, headers, 0, 6);
        System.arraycopy(more, 0, headers, 6, more.length);
        return request(method, uri, headers);
    }

    private static Instant at(String date) {
        return ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
    }

    private S3Error refusal(RequestHead head, Instant now) {
        S3Refusal e = catchThrowableOfType(S3Refusal.class,
                () -> authenticator.authenticate(head, now));
        assertThat(e).isNotNull();
        return e.error();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "GET | /photos/puppy.jpg | johnsmith.s3.amazonaws.com | Tue, 27 Mar 2007 19:36:42 +0000 | bWq2s1WEIj+Ydj0vQ697zp+IXMU=",
            "GET | /?prefix=photos&max-keys=50&marker=puppy | johnsmith.s3.amazonaws.com | Tue, 27 Mar 2007 19:42:41 +0000 | htDYFYduRNen8P9ZfE/s9SuKy0U=",
            "GET | /?acl | johnsmith.s3.amazonaws.com | Tue, 27 Mar 2007 19:44:46 +0000 | c2WLPFtWHVgbEmeEG93a4cG37dM=",
            "DELETE | /johnsmith/photos/puppy.jpg | s3.amazonaws.com | Tue, 27 Mar 2007 21:20:26 +0000 | lx3byBScXR6KzyMaifNkardMwNk=",
            "GET | / | s3.amazonaws.com | Wed, 28 Mar 2007 01:29:59 +0000 | qGdzdERIC03wnaRNKh6OqZehG9s=",
            "GET | /dictionary/fran%C3%A7ais/pr%c3%a9f%c3%a8re | s3.amazonaws.com | Wed, 28 Mar 2007 01:49:49 +0000 | DNEZGsoieTZ92F3bUfSPQcbGmlM=",
    })
    void theReferencesExamplesHold(String method, String uri, String host, String date,
            String signature) {
        RequestHead head = signed(method, uri, host, date, signature);
        assertThat(authenticator.authenticate(head, at(date)).principalName()).isEqualTo("john");
        assertThat(refusal(signed("HEAD", uri, host, date, signature), at(date)))
                .isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }

    @ParameterizedTest
    @CsvSource({"'Tue, 07 Jul 2010 21:53:04 GMT', REQUEST_TIME_TOO_SKEWED",
            "'Tue, 07 Jul 9999 21:53:04 GMT', REQUEST_TIME_TOO_SKEWED",
            "'Tue, 07 Jul 1950 21:53:04 GMT', ACCESS_DENIED", "Bad Date, ACCESS_DENIED"})
    void aDateIsReadWhateverItsDayOfTheWeek(String date, S3Error error) {
        assertThat(refusal(signed("GET", "/b/k", "s3.amazonaws.com", date, "x"), at(DATE)))
                .isEqualTo(error);
    }

    /** As botocore signs what it does to a bucket, though it sends the path without the slash. */
    @Test
    void aBucketAloneMayBeSignedWithASlashBehindIt() throws Exception {
        Mac mac = Mac.getInstance("HmacSHA1");
        mac.init(new SecretKeySpec("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".getBytes(UTF_8),
                "HmacSHA1"));
        String signature = Base64.getEncoder()
                .encodeToString(mac.doFinal(("PUT\n\n\n" + DATE + "\n/johnsmith/").getBytes(
                        UTF_8)));
        assertThat(authenticator.authenticate(
                signed("PUT", "/johnsmith", "s3.amazonaws.com", DATE, signature), at(DATE))
                .principalName()).isEqualTo("john");
        assertThat(refusal(signed("PUT", "/johnsmit", "s3.amazonaws.com", DATE, signature),
                at(DATE))).isEqualTo(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }

    @Test
    void theReferencesUploadsHold() {
        String date = "Tue, 27 Mar 2007 21:15:45 +0000";
        assertThat(authenticator.authenticate(signed("PUT", "/photos/puppy.jpg",
                "johnsmith.s3.amazonaws.com", date, "MyyxeRY7whkBe+bq8fHCL/2kKUg=",
                "Content-Type", "image/jpeg"), at(date)).principalName()).isEqualTo("john");
        String later = "Tue, 27 Mar 2007 21:06:08 +0000";
        assertThat(
                authenticator.authenticate(signed("PUT", "/static.johnsmith.net/db-backup.dat.gz",
                        "s3.amazonaws.com", later, "ilyl83RwaSoYIEdixDQcA4OnAnc=", "content-type",
                        "application/x-download", "Content-MD5", "4gJE4saaMU4BqNR0kLY+lw==",
                        "X-Amz-Meta-ReviewedBy", "joe@johnsmith.net", "X-Amz-Meta-ReviewedBy",
                        "jane@johnsmith.net", "X-Amz-Meta-FileChecksum", "0x02661779",
                        "X-Amz-Meta-ChecksumAlgorithm", "crc32", "x-amz-acl", "public-read",
                        "Content-Encoding", "gzip"), at(later)).principalName())
                .isEqualTo("john");
    }

    @Test
    void theReferencesPresignedUrlHoldsUntilItExpires() {
        RequestHead head = request("GET", "/photos/puppy.jpg?" + PRESIGNED, "Host",
                "johnsmith.s3.amazonaws.com");
        Instant expiry = Instant.ofEpochSecond(1175139620);
        assertThat(authenticator.authenticate(head, expiry).principalName()).isEqualTo("john");
        assertThat(refusal(head, expiry.plusSeconds(1))).isEqualTo(S3Error.ACCESS_DENIED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"&acl", "&retention", "&x-amz-acl=public-read", "&legal-hold",
            "&versionId=1", "&response-content-type=text/html"})
    void nothingThatMattersCanBeAddedToAPresignedUrl(String more) {
        RequestHead head = request("GET", "/photos/puppy.jpg?" + PRESIGNED + more, "Host",
                "johnsmith.s3.amazonaws.com");
        assertThat(refusal(head, Instant.ofEpochSecond(1175139620)))
                .isIn(S3Error.SIGNATURE_DOES_NOT_MATCH, S3Error.INVALID_REQUEST);
    }

    @Test
    void oldFutureAndUndatedSignaturesUnknownKeysAndTwoMechanismsAreRefused() {
        RequestHead head = signed("GET", "/photos/puppy.jpg", "johnsmith.s3.amazonaws.com", DATE,
                "bWq2s1WEIj+Ydj0vQ697zp+IXMU=");
        assertThat(refusal(head, at(DATE).plusSeconds(901)))
                .isEqualTo(S3Error.REQUEST_TIME_TOO_SKEWED);
        assertThat(refusal(head, at(DATE).minusSeconds(901)))
                .isEqualTo(S3Error.REQUEST_TIME_TOO_SKEWED);
        assertThat(refusal(request("GET", "/", "Authorization", "AWS AKIAIOSFODNN7EXAMPLE:x"),
                at(DATE))).isEqualTo(S3Error.ACCESS_DENIED);
        assertThat(refusal(request("GET", "/", "Authorization", "AWS NOBODY:x"), at(DATE)))
                .isEqualTo(S3Error.INVALID_ACCESS_KEY_ID);
        assertThat(refusal(request("GET", "/", "Authorization", "AWS nothing"), at(DATE)))
                .isEqualTo(S3Error.INVALID_ARGUMENT);
        assertThat(refusal(request("GET", "/?" + PRESIGNED, "Authorization", "AWS A:x"),
                at(DATE))).isEqualTo(S3Error.INVALID_ARGUMENT);
        assertThat(refusal(request("GET", "/?" + PRESIGNED + "&X-Amz-Signature=0"), at(DATE)))
                .isEqualTo(S3Error.INVALID_ARGUMENT);
        assertThat(refusal(request("GET", "/?" + PRESIGNED.replace("1175139620",
                "99999999999999999999")), at(DATE))).isEqualTo(S3Error.ACCESS_DENIED);
    }

    @Test
    void itIsRefusedWhereItIsNotSwitchedOn() {
        Authenticator without = new Authenticator(credentials);
        for (RequestHead head : new RequestHead[]{request("GET", "/k?" + PRESIGNED),
                signed("GET", "/k", "h", DATE, "x")}) {
            S3Refusal e = catchThrowableOfType(S3Refusal.class,
                    () -> without.authenticate(head, at(DATE)));
            assertThat(e.error()).isEqualTo(S3Error.INVALID_REQUEST);
            assertThat(e.detail()).contains("AWS4-HMAC-SHA256");
        }
    }
}
