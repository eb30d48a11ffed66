package io.railhead.backend.aws;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.Caller;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Target;
import java.net.URI;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/** Encodes a {@link BackendRequest} for one endpoint: address, framing, signature. */
final class RequestEncoder {
    /** Headers that the gateway sets, whatever the request has. */
    private static final Set<String> OURS = Set.of("host", "content-length", "transfer-encoding",
            "connection", "expect", "authorization", "x-amz-date", "x-amz-content-sha256",
            "x-amz-security-token", "x-amz-trailer", "x-amz-decoded-content-length");
    /** Headers of one hop, which are set for every signer. */
    private static final Set<String> FRAMING = Set.of("host", "content-length",
            "transfer-encoding", "connection", "expect");
    private static final Set<String> METHODS = Set.of("GET", "HEAD", "PUT", "POST", "DELETE",
            "OPTIONS", "PATCH");
    private static final String UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    private static final String NO_BYTES_SHA256 = sha256(ByteBuffer.allocate(0));
    /**
     * The size from which an early refusal is worth waiting for; so is every body of unknown
     * length.
     */
    private static final long EXPECT_BYTES = 1024 * 1024;

    private final BackendConfig config;
    private final Signer signer;
    private final Counters counters;

    RequestEncoder(BackendConfig config, Signer signer, Counters counters) {
        this.config = config;
        this.signer = signer;
        this.counters = counters;
    }

    /**
     * @param body null for none
     * @param stream the streamed body, whose progress is watched; null for a fixed body
     */
    record Message(HttpRequest request, @Nullable Publisher<ByteBuffer> body,
            @Nullable StreamBody stream) {

        /** Returns whether the body is sent only after the store has asked for it. */
        boolean waitsToBeAskedFor() {
            return request.headers().contains(HttpHeaderNames.EXPECT);
        }
    }

    /**
     * @param trailers whether this store accepts aws-chunked trailers
     * @throws IllegalArgumentException if the request is not valid in HTTP
     */
    Message write(BackendRequest request, URI endpoint, TrailerUse trailers) {
        HttpRequest out = address(request, endpoint);
        copyHeaders(out.headers(), request.headers(),
                request.caller() instanceof Caller.ClientSigned ? FRAMING : OURS);
        return switch (request.payload()) {
            case Payload.Empty() -> {
                if (request.method().equals("PUT") || request.method().equals("POST")) {
                    out.headers().set("Content-Length", "0");
                }
                sign(out, NO_BYTES_SHA256, request.caller());
                yield new Message(out, null, null);
            }
            case Payload.Bytes(ByteBuffer content) -> {
                out.headers().set("Content-Length", Integer.toString(content.remaining()));
                sign(out, sha256(content.duplicate()), request.caller());
                yield new Message(out, new FixedBody(content.duplicate()), null);
            }
            case Payload.Stream stream -> stream(out, stream, request, trailers);
        };
    }

    /** The use of trailers for a store. */
    enum TrailerUse {
        SEND,
        DROP
    }

    private Message stream(HttpRequest out, Payload.Stream stream, BackendRequest request,
            TrailerUse use) {
        boolean chunked = use == TrailerUse.SEND && !stream.trailers().isEmpty()
                && ChecksumTrailers.areAllKnown(stream.trailers());
        String hash = chunked ? UNSIGNED_TRAILER : stream.contentSha256();
        BodyFraming bodyFraming = chunked
                ? new BodyFraming.AwsChunked(stream.lengthBytes(), stream.trailers())
                : new BodyFraming.Plain(stream.lengthBytes());
        HttpHeaders headers = out.headers();
        if (chunked) {
            announceTrailers(headers, stream);
        } else if (!stream.trailers().isEmpty()) {
            headers.remove("x-amz-sdk-checksum-algorithm");
        }
        if (stream.hasLength()) {
            headers.set("Content-Length", Long.toString(bodyFraming.encodedBytes()));
        } else {
            headers.set("Transfer-Encoding", "chunked");
        }
        if (asksFirst(request, stream)) {
            headers.set("Expect", "100-continue");
        }
        StreamBody body = new StreamBody(stream, bodyFraming, counters);
        sign(out, hash, request.caller());
        return new Message(out, body, body);
    }

    /**
     * Returns whether to send Expect. Only uploads do: some stores do not answer it for a form or a
     * document.
     */
    private static boolean asksFirst(BackendRequest request, Payload.Stream stream) {
        boolean asked = "100-continue".equalsIgnoreCase(request.headers().get("expect"));
        return request.method().equals("PUT") && !request.target().rawKey().isEmpty()
                && request.hasBody()
                && (asked || !stream.hasLength() || stream.lengthBytes() >= EXPECT_BYTES);
    }

    private static void announceTrailers(HttpHeaders headers, Payload.Stream stream) {
        headers.set("x-amz-trailer", String.join(",", stream.trailers().keySet()));
        headers.set("x-amz-decoded-content-length", Long.toString(stream.lengthBytes()));
        String encoding = headers.get("Content-Encoding");
        headers.set("Content-Encoding", encoding == null || encoding.isEmpty()
                ? "aws-chunked"
                : "aws-chunked," + encoding);
    }

    /**
     * Signs the request. A preflight is signed with the method of the request to come, which is
     * what Ceph RGW verifies; other stores verify none.
     */
    private void sign(HttpRequest out, String hash, Caller caller) {
        switch (caller) {
            case Caller.Anonymous() -> {
                if (hash.equals(UNSIGNED_TRAILER)) {
                    out.headers().set("x-amz-content-sha256", hash);
                }
            }
            case Caller.ClientSigned _ -> {
            }
            case Caller.DefaultChain _,Caller.AssumedRole _ ->
                throw new IllegalStateException(
                        "the provider is asked before a request is written");
            case Caller.Credential credential -> {
                String later = out.method().equals(HttpMethod.OPTIONS)
                        ? out.headers().get("Access-Control-Request-Method")
                        : null;
                signer.sign(out, later == null ? out.method().name() : later, hash, credential);
            }
        }
    }

    /**
     * Returns the request with its address alone. The connection goes to the configured endpoint
     * even if the bucket is in the host name. The store must know that name; the gateway need not
     * resolve it.
     */
    private HttpRequest address(BackendRequest request, URI endpoint) {
        Target target = request.target();
        String bucket = target.bucket();
        boolean bucketInHost = bucket != null && !config.pathStyle();
        String path = bucket == null || bucketInHost
                ? "/" + target.rawKey()
                : target.rawKey().isEmpty() ? "/" + bucket : "/" + bucket + "/" + target.rawKey();
        String authority = endpoint.getPort() < 0
                ? endpoint.getHost()
                : endpoint.getHost() + ":" + endpoint.getPort();
        String host = bucketInHost ? bucket + "." + authority : authority;
        if (request.caller() instanceof Caller.ClientSigned(String named)) {
            path = RawUri.unchangedPath(path);
            host = named;
        } else {
            path = RawUri.canonicalPath(path);
        }
        HttpRequest out = new DefaultHttpRequest(HttpVersion.HTTP_1_1,
                method(request.method()),
                path + RawUri.canonicalQuery(target.rawQuery()));
        out.headers().set("Host", host);
        return out;
    }

    private static HttpMethod method(String name) {
        if (!METHODS.contains(name)) {
            throw new IllegalArgumentException("no method of S3: " + name);
        }
        return HttpMethod.valueOf(name);
    }

    private static void copyHeaders(HttpHeaders out, Headers headers, Set<String> ours) {
        headers.forEach((name, value) -> {
            if (ours.contains(name.toLowerCase(Locale.ROOT))) {
                return;
            }
            // Refused here: otherwise it would fail on the connection, and look like the store's
            // fault.
            if (HttpHeaderValidationUtil.validateValidHeaderValue(value) >= 0) {
                throw new IllegalArgumentException("no value of a header: " + name);
            }
            out.add(name, value);
        });
    }

    /** Returns the SHA-256 in hex. */
    static String sha256(ByteBuffer content) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(content);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java", e);
        }
    }
}
