package io.railhead.benchmarks.channel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.protocol.message.SessionKey;
import java.net.URI;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/** A request without a body, signed once: its bytes may be sent while its date is valid. */
record SignedRequest(SdkHttpRequest request) {
    static final String ACCESS_KEY = "AKIDEXAMPLE";
    static final String SECRET_KEY = "benchmark";

    static SignedRequest of(SdkHttpMethod method, URI uri) {
        SdkHttpRequest unsigned = SdkHttpRequest.builder().method(method).uri(uri).build();
        return new SignedRequest(AwsV4HttpSigner.create()
                .sign(request -> request.request(unsigned)
                        .identity(AwsCredentialsIdentity.create(ACCESS_KEY, SECRET_KEY))
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4FamilyHttpSigner.NORMALIZE_PATH, false))
                .request());
    }

    byte[] bytes() {
        URI uri = request.getUri();
        String target = uri.getRawQuery() == null
                ? uri.getRawPath()
                : uri.getRawPath() + "?" + uri.getRawQuery();
        StringBuilder head = new StringBuilder(request.method() + " " + target + " HTTP/1.1\r\n");
        request.forEachHeader((name, values) -> values
                .forEach(value -> head.append(name).append(": ").append(value).append("\r\n")));
        if (request.method() == SdkHttpMethod.POST) {
            head.append("content-length: 0\r\n");
        }
        return head.append("\r\n").toString().getBytes(ISO_8859_1);
    }

    /** Returns the key of the session that it opened. */
    byte[] sessionKey(String session) {
        return SessionKey.ofOpen(SECRET_KEY,
                request.firstMatchingHeader("Authorization").orElseThrow(), session);
    }
}
