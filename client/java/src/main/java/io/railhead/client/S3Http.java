package io.railhead.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.URI;
import java.net.UnknownHostException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;

/**
 * Signs and sends requests. Blocking, any thread; one connection for each call in flight.
 *
 * <p> S3's rules of SigV4: the path is neither normalised nor encoded twice. A body is hashed
 * before it is sent: if a file changes between the two passes, the store refuses it.
 */
final class S3Http implements AutoCloseable {
    private final ClientConfig config;
    private final SdkHttpClient http;
    private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();
    /** True once the endpoint has answered: a connection lost later says nothing of its scheme. */
    private volatile boolean answered;

    S3Http(ClientConfig config) {
        this(config, null);
    }

    /** @param own the certificate that the server may ask for */
    S3Http(ClientConfig config, @Nullable ClientCertificate own) {
        this.config = config;
        http = UrlConnectionHttpClient
                .create(new DirectConnections(config.timeout(), config.ca(), own));
    }

    URI endpoint() {
        return config.endpoint();
    }

    AwsCredentialsProvider credentials() {
        return config.credentials();
    }

    /** A signed request and its credentials. */
    record Signed(SignedRequest request, AwsCredentials credentials) {}

    Signed sign(Call call) throws IOException {
        AwsCredentials credentials;
        try {
            credentials = config.credentials().resolveCredentials();
        } catch (SdkException | UncheckedIOException e) {
            throw CredentialFailure.of(e);
        }
        return new Signed(signer.sign(request -> {
            request.identity(credentials)
                    .request(unsigned(call))
                    .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                    .putProperty(AwsV4HttpSigner.REGION_NAME, config.region())
                    .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                    .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false)
                    .putProperty(AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, !call.isUnsigned());
            if (call.body() != null) {
                request.payload(call.body().stream());
            }
        }), credentials);
    }

    private SdkHttpRequest unsigned(Call call) {
        URI endpoint = config.endpoint();
        SdkHttpRequest.Builder builder = SdkHttpRequest.builder()
                .method(call.method())
                .protocol(endpoint.getScheme())
                .host(endpoint.getHost())
                .encodedPath(call.path());
        if (endpoint.getPort() >= 0) {
            builder.port(endpoint.getPort());
        }
        call.query().forEach(builder::putRawQueryParameter);
        call.headers().forEach(builder::putHeader);
        Call.Body body = call.body();
        if (body != null) {
            builder.putHeader("Content-Length", Long.toString(body.bytes()));
            if (!call.headers().containsKey("Content-Type")) {
                // Otherwise the HTTP client declares a form.
                builder.putHeader("Content-Type", "application/octet-stream");
            }
        }
        return builder.build();
    }

    HttpAnswer send(Signed signed) throws IOException {
        HttpExecuteRequest.Builder execute = HttpExecuteRequest.builder()
                .request(signed.request().request());
        signed.request().payload().ifPresent(execute::contentStreamProvider);
        try {
            HttpAnswer answer = new HttpAnswer(http.prepareRequest(execute.build()).call());
            answered = true;
            return answer;
        } catch (IOException e) {
            String fault = answered ? null : OtherScheme.findFault(config.endpoint(), e);
            throw fault == null
                    ? FutureFailures.named(config.endpoint(), e)
                    : (IOException) new ConnectException(fault).initCause(e);
        }
    }

    /** Sends an object's write that must not be repeated. */
    HttpAnswer sendOnce(Signed signed, ObjectName name) throws IOException {
        try {
            return send(signed);
        } catch (ConnectException | UnknownHostException | NoRouteToHostException
                | SSLHandshakeException | SSLPeerUnverifiedException e) {
            // The request reached no server.
            throw e;
        } catch (IOException e) {
            throw new OutcomeUnknownException(name, e);
        }
    }

    /** Sends a call, and throws the store's refusal; the caller closes the response. */
    HttpAnswer require(Call call) throws IOException {
        return accepted(send(sign(call)));
    }

    /** Sends as {@link #require} does, for an object's write that must not be repeated. */
    HttpAnswer requireOnce(Call call, ObjectName name) throws IOException {
        HttpAnswer answer = sendOnce(sign(call), name);
        try {
            return accepted(answer);
        } catch (S3Exception e) {
            throw e.asOutcome(name);
        }
    }

    private static HttpAnswer accepted(HttpAnswer answer) throws IOException {
        if (answer.status() / 100 == 2) {
            return answer;
        }
        try (answer) {
            throw answer.refusal();
        }
    }

    /** Sends a repeatable call, and returns the response's document. */
    byte[] document(Call call, int limit) throws IOException {
        return Attempts.idempotent(() -> {
            try (HttpAnswer answer = require(call)) {
                return answer.readDocument(limit);
            }
        });
    }

    @Override
    public void close() {
        http.close();
    }
}
