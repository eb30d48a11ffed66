package io.railhead.backend.aws;

import io.railhead.backend.Caller;
import java.time.Clock;
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
