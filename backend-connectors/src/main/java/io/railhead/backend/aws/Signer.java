package io.railhead.backend.aws;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.backend.Caller;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignRequest;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/** SigV4 for S3 by headers: the path is signed as it is, under a given payload hash. */
final class Signer {
    private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();
    private final String region;
    private final Clock clock;

    Signer(String region, Clock clock) {
        this.region = region;
        this.clock = clock;
    }

    /** @param payloadHash the value of {@code x-amz-content-sha256} */
    SdkHttpRequest sign(SdkHttpRequest request, String payloadHash, Caller.Credential caller) {
        Map<String, List<String>> beyondAscii = new HashMap<>();
        request.forEachHeader((name, values) -> {
            if (!values.stream().allMatch(Signer::isAscii)) {
                beyondAscii.put(name, List.copyOf(values));
            }
        });
        if (beyondAscii.isEmpty()) {
            return signed(request, payloadHash, caller);
        }
        SdkHttpRequest.Builder read = request.toBuilder();
        beyondAscii.forEach((name, values) -> read.putHeader(name,
                values.stream().map(Signer::asUtf8).toList()));
        SdkHttpRequest.Builder signed = signed(read.build(), payloadHash, caller).toBuilder();
        beyondAscii.forEach(signed::putHeader);
        return signed.build();
    }

    private static boolean isAscii(String value) {
        return value.chars().allMatch(c -> c < 0x80);
    }

    /**
     * Converts a header's value for the signer, which signs UTF-8. A char here is one received
     * byte: bytes that are UTF-8, as S3 requires, become the same bytes; others cannot be signed.
     */
    private static String asUtf8(String value) {
        try {
            return UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(value.getBytes(ISO_8859_1)))
                    .toString();
        } catch (CharacterCodingException e) {
            return value;
        }
    }

    private SdkHttpRequest signed(SdkHttpRequest request, String payloadHash,
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
