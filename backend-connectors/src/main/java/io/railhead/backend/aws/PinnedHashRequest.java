package io.railhead.backend.aws;

import java.util.List;
import java.util.Map;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;

/**
 * A request whose {@code x-amz-content-sha256} stays as set. The SDK's signer cannot take a known
 * hash, such as a client's, or one of a body that is not read yet. With payload signing off it
 * writes UNSIGNED-PAYLOAD, and this class ignores that one write.
 */
final class PinnedHashRequest implements SdkHttpRequest {
    private static final String HASH_HEADER = "x-amz-content-sha256";

    private final SdkHttpRequest request;
    private final String payloadHash;

    PinnedHashRequest(SdkHttpRequest request, String payloadHash) {
        this.request = request;
        this.payloadHash = payloadHash;
    }

    @Override
    public SdkHttpRequest.Builder toBuilder() {
        SdkHttpRequest.Builder builder = request.toBuilder();
        builder.putHeader(HASH_HEADER, payloadHash);
        return new Pinning(builder);
    }

    @Override
    public String protocol() {
        return request.protocol();
    }

    @Override
    public String host() {
        return request.host();
    }

    @Override
    public int port() {
        return request.port();
    }

    @Override
    public String encodedPath() {
        return request.encodedPath();
    }

    @Override
    public Map<String, List<String>> rawQueryParameters() {
        return request.rawQueryParameters();
    }

    @Override
    public SdkHttpMethod method() {
        return request.method();
    }

    @Override
    public Map<String, List<String>> headers() {
        return request.headers();
    }

    /** Passes on every change except a new value for this header. */
    private record Pinning(SdkHttpRequest.Builder builder) implements SdkHttpRequest.Builder {

        @Override
        public SdkHttpRequest.Builder putHeader(String name, List<String> values) {
            if (!name.equalsIgnoreCase(HASH_HEADER)) {
                builder.putHeader(name, values);
            }
            return this;
        }

        @Override
        public String protocol() {
            return builder.protocol();
        }

        @Override
        public SdkHttpRequest.Builder protocol(String protocol) {
            builder.protocol(protocol);
            return this;
        }

        @Override
        public String host() {
            return builder.host();
        }

        @Override
        public SdkHttpRequest.Builder host(String host) {
            builder.host(host);
            return this;
        }

        @Override
        public Integer port() {
            return builder.port();
        }

        @Override
        public SdkHttpRequest.Builder port(Integer port) {
            builder.port(port);
            return this;
        }

        @Override
        public String encodedPath() {
            return builder.encodedPath();
        }

        @Override
        public SdkHttpRequest.Builder encodedPath(String path) {
            builder.encodedPath(path);
            return this;
        }

        @Override
        public Map<String, List<String>> rawQueryParameters() {
            return builder.rawQueryParameters();
        }

        @Override
        public SdkHttpRequest.Builder appendRawQueryParameter(String name, String value) {
            builder.appendRawQueryParameter(name, value);
            return this;
        }

        @Override
        public SdkHttpRequest.Builder putRawQueryParameter(String name, List<String> values) {
            builder.putRawQueryParameter(name, values);
            return this;
        }

        @Override
        public SdkHttpRequest.Builder rawQueryParameters(Map<String, List<String>> parameters) {
            builder.rawQueryParameters(parameters);
            return this;
        }

        @Override
        public SdkHttpRequest.Builder removeQueryParameter(String name) {
            builder.removeQueryParameter(name);
            return this;
        }

        @Override
        public SdkHttpRequest.Builder clearQueryParameters() {
            builder.clearQueryParameters();
            return this;
        }

        @Override
        public SdkHttpMethod method() {
            return builder.method();
        }

        @Override
        public SdkHttpRequest.Builder method(SdkHttpMethod method) {
            builder.method(method);
            return this;
        }

        @Override
        public Map<String, List<String>> headers() {
            return builder.headers();
        }

        @Override
        public SdkHttpRequest.Builder appendHeader(String name, String value) {
            builder.appendHeader(name, value);
            return this;
        }

        @Override
        public SdkHttpRequest.Builder headers(Map<String, List<String>> headers) {
            builder.headers(headers);
            return this;
        }

        @Override
        public SdkHttpRequest.Builder removeHeader(String name) {
            builder.removeHeader(name);
            return this;
        }

        @Override
        public SdkHttpRequest.Builder clearHeaders() {
            builder.clearHeaders();
            return this;
        }

        @Override
        public SdkHttpRequest.Builder copy() {
            return new Pinning(builder.copy());
        }

        @Override
        public SdkHttpRequest build() {
            return builder.build();
        }
    }
}
