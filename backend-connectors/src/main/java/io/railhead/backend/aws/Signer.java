package io.railhead.backend.aws;

import io.railhead.backend.Caller;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignRequest;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/** SigV4 for S3, over headers: the path as it is, under a payload hash that we were given. */
final class Signer {
    private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();
    private final String region;
    private final Clock clock;

    Signer(String region, Clock clock) {
        this.region = region;
        this.clock = clock;
    }

    /**
     * @param payloadHash what goes into {@code x-amz-content-sha256}
     */
    SdkHttpRequest sign(SdkHttpRequest request, String payloadHash, Caller.Credential caller) {
        Map<String, List<String>> bytes = notAscii(request);
        if (bytes.isEmpty()) {
            return signText(request, payloadHash, caller);
        }
        SdkHttpRequest.Builder text = request.toBuilder();
        bytes.forEach((name, values) -> text.putHeader(name,
                values.stream().map(Signer::text).toList()));
        SdkHttpRequest.Builder signed = signText(text.build(), payloadHash, caller).toBuilder();
        bytes.forEach(signed::putHeader);
        return signed.build();
    }

    /** On the wire each char of a header is one byte; the SDK signs the UTF-8 of its chars. */
    private static Map<String, List<String>> notAscii(SdkHttpRequest request) {
        Map<String, List<String>> found = new LinkedHashMap<>();
        request.forEachHeader((name, values) -> {
            if (values.stream().anyMatch(value -> value.chars().anyMatch(c -> c > 0x7F))) {
                found.put(name, values);
            }
        });
        return found;
    }

    private static String text(String bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a header must be UTF-8", e);
        }
    }

    private SdkHttpRequest signText(SdkHttpRequest request, String payloadHash,
            Caller.Credential caller) {
        SignRequest<AwsCredentialsIdentity> order = SignRequest
                .<AwsCredentialsIdentity>builder(identity(caller))
                .request(new PinnedHashRequest(request, payloadHash))
                .putProperty(AwsV4HttpSigner.REGION_NAME, region)
                .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false)
                .putProperty(AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, false)
                .putProperty(HttpSigner.SIGNING_CLOCK, clock)
                .build();
        return signer.sign(order).request();
    }

    private static AwsCredentialsIdentity identity(Caller.Credential caller) {
        String token = caller.sessionToken();
        return token == null
                ? AwsBasicCredentials.create(caller.accessKey(), caller.secretKey())
                : AwsSessionCredentials.create(caller.accessKey(), caller.secretKey(), token);
    }
}
